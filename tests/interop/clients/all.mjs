import { v02 } from "./v02.mjs";
import { v03 } from "./v03.mjs";
import { v10 } from "./v10.mjs";

export const clients = [v02, ...v03, ...v10];
