// Asks for the reason and the other input of an action before it is done.
import { h, say } from "./dom.js";
import { told } from "./page.js";

/**
 * @typedef {{
 *   title: string, words?: import("./dom.js").Child, verb: string, danger?: boolean, more?: HTMLElement[],
 *   act: (reason: string) => Promise<unknown>
 * }} Ask
 */

/**
 * Keeps the Esc key from closing the dialog while `holds` says so. Browsers close it all the same when they cannot
 * ask, so what must not be lost cannot rely on this alone.
 * @param {HTMLDialogElement} dialog
 * @param {() => boolean} holds
 */
export function holdOpen(dialog, holds) {
  const hold = (/** @type {Event} */ event) => {
    if (holds()) event.preventDefault();
  };
  dialog.addEventListener("cancel", hold);
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hold(event);
  });
}

/**
 * Shows the dialog. It stays open while the action runs. Resolves to whether the action was done; its failure is shown in the dialog, to try again.
 * @param {Ask} ask
 * @returns {Promise<boolean>}
 */
export function confirmed(ask) {
  const reason = h("input", { name: "reason", required: true, maxLength: 500, autocomplete: "off", id: "reason" });
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const go = h("button", { type: "submit", class: ask.danger ? "danger" : "primary" }, ask.verb);
  const leave = h("button", { type: "button" }, "Back");
  const form = h(
    "form",
    null,
    h("h2", null, ask.title),
    ask.words ? h("p", null, ask.words) : null,
    ...(ask.more ?? []),
    h("label", { for: "reason" }, "Reason (kept in the audit and in the task's log)"),
    reason,
    problem,
    h("div", { class: "buttons" }, leave, go),
  );
  const dialog = h("dialog", { "aria-label": ask.title }, form);
  document.body.append(dialog);
  dialog.showModal();
  reason.focus();
  return new Promise((resolve) => {
    let done = false;
    let busy = false;
    const ends = () => {
      dialog.remove();
      resolve(done);
    };
    holdOpen(dialog, () => busy);
    dialog.addEventListener("close", () => {
      if (!busy) ends();
    });
    leave.addEventListener("click", () => dialog.close());
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      go.disabled = leave.disabled = busy = true;
      try {
        await ask.act(reason.value.trim());
        done = true;
      } catch (error) {
        say(problem, told(error));
        problem.hidden = false;
        if (!dialog.open) toast(told(error));
      }
      go.disabled = leave.disabled = busy = false;
      if (!dialog.open) ends();
      else if (done) dialog.close();
    });
  });
}

/**
 * Shows a finished action in a corner of the page.
 * @param {string} text
 * @param {HTMLElement} [link]
 */
export function toast(text, link) {
  const note = h("div", { class: "toast", role: "status" }, text, link ? " " : null, link);
  document.body.append(note);
  setTimeout(() => note.remove(), 6000);
}
