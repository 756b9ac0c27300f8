// Small pieces that many pages show: states, ids, numbers, empty lists.
import { h, say } from "./dom.js";
import { url } from "./router.js";

/** @type {Record<string, string>} */
const tones = {
  submitted: "quiet",
  working: "busy",
  "input-required": "ask",
  "auth-required": "ask",
  completed: "good",
  failed: "bad",
  rejected: "bad",
  canceled: "quiet",
  waiting: "busy",
  queued: "quiet",
  running: "busy",
  paused: "ask",
  joining: "busy",
  serving: "good",
  draining: "ask",
  silent: "bad",
  "given-up": "bad",
  ok: "good",
  done: "good",
  valid: "good",
  expired: "quiet",
  revoked: "bad",
};

/** The states in which a task may end. */
export const endStates = ["completed", "failed", "rejected", "canceled"];
/** Every state of a task, in the order in which they are shown. */
export const states = ["submitted", "working", "input-required", "auth-required", ...endStates];
/** The list's query for tasks that wait for people, longest first. One that shows its child's question has a turn. */
export const askingQuery = { state: "input-required,auth-required", turn: "none", order: "oldest" };
/** The list's query for stuck tasks. A turn that waits for a time, people or children is not stuck. */
export const stuckQuery = { turn: "queued,running", age_min_s: "600", order: "oldest" };

/** @type {Record<string, string>} a state of a task, how it is named here */
const stateNames = {
  submitted: "Queued",
  working: "Running",
  "input-required": "Needs input",
  "auth-required": "Needs access",
  completed: "Completed",
  failed: "Failed",
  rejected: "Rejected",
  canceled: "Canceled",
};
/** @param {string} name */
export const stateName = (name) => stateNames[name] ?? name;

/**
 * A state with its colour; an unknown state has none. Its internal name is its title.
 * @param {string} name
 * @param {string} [shown] its name here
 */
export function state(name, shown = stateName(name)) {
  const title = shown === name ? undefined : name;
  return h("span", { class: `state ${tones[name] ?? "odd"}`, title }, shown);
}

/**
 * Words without the signs of Markdown, for a line that has no room for its layout.
 * @param {string} text
 */
export function plain(text) {
  return text
    .replace(/^\s*(?:#{1,6}|>|[-*+])\s+/gm, "")
    .replace(/(\*\*|__|~~|`+)/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

/**
 * An id that is copied by a click.
 * @param {string | undefined} id
 * @param {string} [shown]
 */
export function copied(id, shown) {
  if (!id) return "";
  const button = h("button", { class: "id", type: "button", title: `${id} (click to copy)` }, shown ?? id);
  button.addEventListener("click", async (event) => {
    event.preventDefault();
    event.stopPropagation();
    await copy(id);
    button.classList.add("was-copied");
    setTimeout(() => button.classList.remove("was-copied"), 900);
  });
  return button;
}

/**
 * A button that copies a text.
 * @param {string} shown
 * @param {string} name for screen readers
 * @param {() => string} textOf
 */
export function copyButton(shown, name, textOf) {
  const button = h("button", { type: "button", class: "link copy", "aria-label": name }, shown);
  button.addEventListener("click", async () => {
    const said = await copy(textOf()).then(() => "Copied", () => "Not copied");
    say(button, said);
    button.setAttribute("aria-label", said);
    setTimeout(() => {
      say(button, shown);
      button.setAttribute("aria-label", name);
    }, 1500);
  });
  return button;
}

/**
 * Rejects if the browser does not allow copying.
 * @param {string} text
 */
export async function copy(text) {
  // Pages loaded over plain HTTP from another host have no clipboard.
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  const field = h("textarea", { value: text, class: "unseen" });
  // While a dialog is open, nothing outside of it can be selected.
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.focus({ preventScroll: true });
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  focused?.focus({ preventScroll: true });
  if (!isCopied) throw new Error("The browser does not allow copying.");
}

/**
 * Whether an input method that is composing words gets the key, such as the Enter that confirms them. Safari marks such
 * a key by its code alone.
 * @param {KeyboardEvent} event
 */
export const isComposing = (event) => event.isComposing || event.keyCode === 229;

/** @param {number | undefined} value */
export function number(value) {
  return value === undefined || value === null ? "–" : value.toLocaleString("en-US");
}

/** @param {number} value */
export function bytes(value) {
  if (value < 1024) return `${value} B`;
  if (value < 1024 * 1024) return `${(value / 1024).toFixed(1)} KiB`;
  return `${(value / 1024 / 1024).toFixed(1)} MiB`;
}

/** @param {import("./api.js").Count} count */
export function counted(count) {
  return `${count.exact ? "" : "at least "}${number(count.tasks)} ${count.tasks === 1 ? "task" : "tasks"}`;
}

/**
 * @param {string} key
 * @param {import("./dom.js").Child} shown
 */
export function taskLink(key, shown = key) {
  return h("a", { href: url(`tasks/${encodeURIComponent(key)}`), class: "key" }, shown);
}

/**
 * The detail of an action; for a retry, a link to the new task.
 * @param {string | undefined} action
 * @param {string | undefined} detail
 */
export function detailOf(action, detail) {
  return action === "retry" && detail && /^[1-9]\d*$/.test(detail) ? taskLink(detail, `task ${detail}`) : detail;
}

/** @param {string} name */
export function agentLink(name) {
  return h("a", { href: url("tasks", { agent: name }) }, name);
}

/** @param {string} text */
export function nothing(text) {
  return h("p", { class: "nothing" }, text);
}

/**
 * Facts as a list of names and values; those without a value are left out.
 * @param {[string, import("./dom.js").Child][]} pairs
 */
export function facts(pairs) {
  return h(
    "dl",
    { class: "facts" },
    ...pairs.flatMap(([name, value]) =>
      value === undefined || value === "" || value === null ? [] : [h("dt", null, name), h("dd", null, value)],
    ),
  );
}

/** A random id; crypto.randomUUID is missing on a page loaded over plain HTTP. */
export function newId() {
  const bits = crypto.getRandomValues(new Uint8Array(16));
  return [...bits].map((bit) => bit.toString(16).padStart(2, "0")).join("");
}
