import { executor } from "./executor.mjs";
import { graph } from "./graph.mjs";

// What pages show of other libraries.
export const pages = [executor, graph];
