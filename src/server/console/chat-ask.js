// A question of an agent's: a form by its schema, buttons for a yes or no, or words.
import { told } from "./chat-api.js";
import { h, say } from "./dom.js";
import { fieldsOf } from "./form.js";

/**
 * @typedef {import("./api.js").Part} Part
 * @typedef {import("./api.js").Schema} Schema
 * @typedef {(parts: Part[]) => Promise<unknown>} Answer takes the answer; rejects if it could not
 */

/** The schema of what is asked, which has a part of its own.
 * @param {Part[]} parts
 * @returns {Schema | null} */
export function schemaIn(parts) {
  const found = parts.find(({ data }) => isSchema(data));
  return found ? /** @type {any} */ (found.data).schema : null;
}

/** @param {any} data */
function isSchema(data) {
  return typeof data?.schema === "object" && data.schema !== null && Object.keys(data).length === 1;
}

/** What of a question is for people to read: its words and files.
 * @param {Part[]} parts */
export const wordsOf = (parts) => parts.filter(({ data }) => data === undefined);

/** The only member that is asked for, if that is a yes or no.
 * @param {Schema | null} schema
 * @returns {[string, Schema] | null} */
function yesOrNo(schema) {
  const members = Object.entries(schema?.properties ?? {});
  return members.length === 1 && members[0][1].type === "boolean" ? members[0] : null;
}

/** @param {[string, Schema]} member */
function yesNoFields([name, schema]) {
  const give = (/** @type {string} */ text, /** @type {boolean} */ value) =>
    h("button", { type: "submit", class: value ? "primary" : "", value: String(value), name: "answer" }, text);
  const about = schema.title ?? schema.description;
  return {
    element: h("div", { class: "field" }, about ? h("small", null, about) : null),
    buttons: [give("Yes", true), give("No", false)],
    value: (/** @type {SubmitEvent} */ event) => ({
      data: { [name]: /** @type {HTMLButtonElement | null} */ (event.submitter)?.value === "true" },
    }),
  };
}

/**
 * @param {Schema | null} schema
 * @returns {{element: HTMLElement, buttons: HTMLButtonElement[], value: (event: SubmitEvent) => Part}}
 */
function inputsFor(schema) {
  const single = yesOrNo(schema);
  if (single) return yesNoFields(single);
  const buttons = [h("button", { type: "submit", class: "primary" }, "Answer")];
  if (schema) {
    const fields = fieldsOf(schema);
    return { element: fields.element, buttons, value: () => ({ data: fields.value() }) };
  }
  const words = h("textarea", { rows: 2, required: true, "aria-label": "Your answer", placeholder: "Your answer" });
  words.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    words.form?.requestSubmit();
  });
  return { element: words, buttons, value: () => ({ text: words.value }) };
}

/**
 * The form that answers. Once the answer is taken the page shows it as said, and removes the form.
 * @param {Part[]} parts
 * @param {Answer} answer
 */
export function questionForm(parts, answer) {
  const { element, buttons, value } = inputsFor(schemaIn(parts));
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const form = h("form", { class: "answer" }, element, problem, h("div", { class: "buttons" }, ...buttons));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    for (const button of buttons) button.disabled = true;
    try {
      await answer([value(event)]);
    } catch (error) {
      const isWrong = error instanceof SyntaxError;
      say(problem, isWrong ? `This is not JSON: ${error.message}` : told(error));
      problem.hidden = false;
    }
    for (const button of buttons) button.disabled = false;
  });
  return form;
}
