import { clients } from "./clients.mjs";
import { kit } from "./kit.mjs";
import { signIns } from "./sign_in.mjs";

export const hosts = [...clients, ...signIns, kit];
