import { executor } from "./executor.mjs";
import { graph } from "./graph.mjs";

// Examples of other libraries on the pages.
export const pages = [executor, graph];
