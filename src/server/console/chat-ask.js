// An agent's question: a form for its schema, buttons for yes or no, or a text field.
import { told } from "./chat-api.js";
import { h, say } from "./dom.js";
import { fieldsOf } from "./form.js";

/**
 * @typedef {import("./api.js").Part} Part
 * @typedef {import("./api.js").Schema} Schema
 * @typedef {(parts: Part[]) => Promise<unknown>} Answer sends the answer; rejects if it was not accepted
 */

/** The schema of a question, which has a part of its own.
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

/** The parts of a question that people read: its text and files.
 * @param {Part[]} parts */
export const wordsOf = (parts) => parts.filter(({ data }) => data === undefined);

/** The only member of the schema, if it is a yes or no.
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
 * The form for the answer. Once the answer is accepted, the page shows it in the conversation and removes the form.
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
