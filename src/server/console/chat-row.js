// One conversation in the list: its title, which can be changed in place, and a button to delete it.
import { told } from "./chat-api.js";
import { isComposing, state as stateMark } from "./bits.js";
import { h, say } from "./dom.js";
import { when } from "./when.js";

/**
 * @typedef {{id: string, title: string, state: string, at: string, isCurrent: boolean, isRenamed: boolean}} Row
 *   `isRenamed`: its title is being changed
 */

// The server's limit. The server counts whole characters; the field counts UTF-16 units.
const titleMost = 200;
/** The name of a conversation's state; a normal state has no mark.
 * @type {Record<string, string>} */
const stateWords = {
  submitted: "Waiting",
  working: "Running",
  "input-required": "Needs input",
  "auth-required": "Needs access",
  canceled: "Stopped",
  rejected: "Declined",
  failed: "Failed",
};

/**
 * @param {Row} row
 * @param {string} address
 * @param {{rename: () => void, remove: () => void}} acts
 */
export function linkTo({ title, state, at, isCurrent }, address, acts) {
  const name = title || "Conversation";
  const mark = state === "completed" ? null : stateMark(state, stateWords[state]);
  const link = h(
    "a",
    { href: address, "aria-current": isCurrent ? "true" : undefined },
    h("span", { class: "title", dir: "auto" }, name),
    h("span", { class: "about" }, mark, when(at)),
  );
  const rename = h("button", { type: "button", class: "rename", title: "Rename", "aria-label": `Rename “${name}”` }, "✎");
  const remove = h("button", { type: "button", class: "remove", title: "Delete", "aria-label": `Delete “${name}”` }, "✕");
  rename.addEventListener("click", acts.rename);
  remove.addEventListener("click", acts.remove);
  return h("li", null, link, h("div", { class: "acts" }, rename, remove));
}

/**
 * A field in place of the title: Enter saves its text, Escape changes nothing. An empty field restores the default
 * title, the conversation's first words.
 * @param {Row} row
 * @param {{keep: (title: string | null) => Promise<unknown>, leave: () => void}} acts
 */
export function fieldFor({ title }, acts) {
  const field = h("input", { value: title, maxLength: titleMost, "aria-label": "Title", dir: "auto", autocomplete: "off" });
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const form = h("form", { class: "renaming" }, field, problem);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    field.readOnly = true;
    try {
      await acts.keep(field.value.trim() || null);
    } catch (error) {
      field.readOnly = false;
      say(problem, told(error));
      problem.hidden = false;
    }
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || isComposing(event)) return;
    event.stopPropagation();
    acts.leave();
  });
  return h("li", null, form);
}

/**
 * Asks whether to delete the conversation. Resolves to whether it was deleted; a failure is shown, to try again.
 * @param {string} title
 * @param {() => Promise<unknown>} remove
 * @returns {Promise<boolean>}
 */
export function isDeleted(title, remove) {
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const go = h("button", { type: "button", class: "danger" }, "Delete");
  const keep = h("button", { type: "button" }, "Cancel");
  const words = `“${title || "Conversation"}” with all its messages. Running work is stopped.`;
  const dialog = h(
    "dialog",
    { class: "deleting", "aria-label": "Delete this conversation?", "aria-describedby": "what-goes" },
    h("h2", null, "Delete this conversation?"),
    h("p", { id: "what-goes", dir: "auto" }, words),
    problem,
    h("div", { class: "buttons" }, keep, go),
  );
  document.body.append(dialog);
  dialog.showModal();
  keep.focus();
  return new Promise((resolve) => {
    let isGone = false;
    keep.addEventListener("click", () => dialog.close());
    go.addEventListener("click", async () => {
      go.disabled = true;
      try {
        await remove();
        isGone = true;
        dialog.close();
      } catch (error) {
        say(problem, told(error));
        problem.hidden = false;
      }
      go.disabled = false;
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(isGone);
    });
  });
}
