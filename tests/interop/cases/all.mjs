import * as cards from "./cards.mjs";
import * as errors from "./errors.mjs";
import * as lists from "./lists.mjs";
import * as pushes from "./pushes.mjs";
import * as sends from "./sends.mjs";
import * as streams from "./streams.mjs";

// Grouped by subject.
export const cases = [cards, sends, streams, pushes, lists, errors].flatMap((group) => Object.values(group));
