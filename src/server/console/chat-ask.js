// An agent's question: a form for its schema, buttons for a decision, or the words that the user writes below.
import { told } from "./chat-api.js";
import { link } from "./chat-nodes.js";
import { partView } from "./chat-parts.js";
import { h, say } from "./dom.js";
import { areFew, choicesOf, fieldsOf, simplified, wordIn } from "./form.js";

/**
 * @typedef {import("./api.js").Part} Part
 * @typedef {import("./api.js").Schema} Schema
 * @typedef {(parts: Part[]) => Promise<unknown>} Answer sends the answer; rejects if it was not accepted
 * @typedef {{text: string, kind: string, part: Part}} Choice a button that answers
 */

/** The schema of a question, which has a part of its own (the last one counts), simplified.
 * @param {Part[]} parts
 * @returns {Schema | null} */
export function schemaIn(parts) {
  const found = parts.findLast(({ data }) => isSchema(data));
  return found ? simplified(/** @type {any} */ (found.data).schema) : null;
}

/** @param {any} data */
function isSchema(data) {
  return typeof data?.schema === "object" && data.schema !== null && Object.keys(data).length === 1;
}

/** The parts of a question that people read: all but its schema. The address where access is given is a link.
 * @param {Part[]} parts
 * @param {import("./chat-api.js").Agent} agent */
export const wordsOf = (parts, agent) =>
  parts.filter(({ data }) => !isSchema(data)).map((part) => addressIn(part) ?? partView(part, agent));

/** @param {Part} part */
function addressIn({ data }) {
  if (!isObject(data) || typeof data.url !== "string" || Object.keys(data).length > 1) return null;
  const anchor = link(data.url, data.url);
  return anchor && h("p", null, anchor);
}

/**
 * @typedef {{schema: Schema, told: (value: unknown) => unknown, heard: (data: any) => unknown}} Single a single value that a
 *   question asks for: `told` makes the answer's data of it, and `heard` finds it there (undefined if it is not alone there)
 */

/** The single value that the schema asks for: its only member, or all of the answer.
 * @param {Schema | null} schema
 * @returns {Single | null} */
function singleIn(schema) {
  if (!schema) return null;
  const members = Object.entries(schema.properties ?? {});
  if (members.length === 0 && schema.type !== "object") return { schema, told: (value) => value, heard: (data) => data };
  if (members.length !== 1) return null;
  const [name, inner] = members[0];
  const heard = (/** @type {any} */ data) => (isObject(data) && Object.keys(data).length === 1 ? data[name] : undefined);
  return { schema: inner, told: (value) => ({ [name]: value }), heard };
}

/** @type {(data: unknown) => data is Record<string, unknown>} */
const isObject = (data) => typeof data === "object" && data !== null && !Array.isArray(data);

const decisions = [
  { text: "Approve", value: true },
  { text: "Reject", value: false },
];

/** The answers that the question offers, if they are few: a decision, a short list, or "(yes or no)" in its text.
 * @param {Part[]} parts
 * @param {Schema | null} schema
 * @returns {Choice[]} */
function choicesIn(parts, schema) {
  const single = singleIn(schema);
  if (single?.schema.type === "boolean") {
    return decisions.map(({ text, value }) => ({ text, kind: value ? "primary" : "", part: { data: single.told(value) } }));
  }
  const offered = choicesOf(single?.schema);
  if (single && areFew(offered)) {
    return offered.map(({ value, name }) => ({ text: name, kind: "", part: { data: single.told(value) } }));
  }
  const isYesOrNo = !schema && parts.some(({ text }) => /\(\s*y(es)?\s*(or|\/)\s*n(o)?\s*\)/i.test(text ?? ""));
  if (!isYesOrNo) return [];
  return ["Yes", "No"].map((text) => ({ text, kind: text === "Yes" ? "primary" : "", part: { text: text.toLowerCase() } }));
}

/**
 * @param {Part[]} parts
 * @returns {{element: HTMLElement | null, buttons: HTMLButtonElement[], value: (event: SubmitEvent) => Part} | null}
 */
function inputsFor(parts) {
  const schema = schemaIn(parts);
  const choices = choicesIn(parts, schema);
  if (choices.length > 0) {
    const only = singleIn(schema)?.schema;
    const about = [only?.title, only?.description].filter((text) => text).join(". ");
    const buttons = choices.map(({ text, kind }) => h("button", { type: "submit", class: kind }, text));
    return {
      element: about ? h("small", null, about) : null,
      buttons,
      value: ({ submitter }) => choices[Math.max(0, buttons.indexOf(/** @type {any} */ (submitter)))].part,
    };
  }
  if (!schema) return null;
  const fields = fieldsOf(schema);
  const send = h("button", { type: "submit", class: "primary" }, "Answer");
  return { element: fields.element, buttons: [send], value: () => ({ data: fields.value() }) };
}

/**
 * The form for the answer, or null for a question that is answered in words. Once the answer is accepted, the page
 * shows it in the conversation and removes the form.
 * @param {Part[]} parts
 * @param {Answer} answer
 */
export function questionForm(parts, answer) {
  const inputs = inputsFor(parts);
  if (!inputs) return null;
  const { element, buttons, value } = inputs;
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

/**
 * An answer in the words of the question: members by their titles, without those that were left empty. Null if the
 * part is no answer to this schema.
 * @param {Part} part
 * @param {Schema | null} schema
 */
export function answerView({ data }, schema) {
  if (data === undefined || !schema) return null;
  const single = singleIn(schema);
  const heard = single?.heard(data);
  if (single?.schema.type === "boolean" && typeof heard === "boolean") {
    return h("div", { class: "words" }, decisions.find(({ value }) => value === heard)?.text);
  }
  if (heard !== undefined && !isObject(heard) && (heard === data || areFew(choicesOf(single?.schema)))) {
    return h("div", { class: "words", dir: "auto" }, wordIn(heard, single?.schema));
  }
  if (!isObject(data)) return null;
  if (Object.keys(data).length === 0) return h("div", { class: "faint" }, "Nothing filled in.");
  return facts(data, schema);
}

/**
 * @param {Record<string, unknown>} value
 * @param {Schema | undefined} schema
 * @returns {HTMLElement}
 */
function facts(value, schema) {
  const known = schema?.properties ?? {};
  const rows = Object.entries(value).flatMap(([name, inner]) => [
    h("dt", { dir: "auto" }, known[name]?.title ?? name),
    h("dd", { class: "words", dir: "auto" }, ...inWords(inner, known[name])),
  ]);
  return h("dl", { class: "facts" }, ...rows);
}

/**
 * @param {unknown} value
 * @param {Schema | undefined} schema
 * @returns {import("./dom.js").Child[]}
 */
function inWords(value, schema) {
  if (typeof value === "boolean") return [value ? "Yes" : "No"];
  if (Array.isArray(value) && value.length === 0) return ["None"];
  if (Array.isArray(value)) return [value.map((one) => wordIn(one, schema?.items)).join(", ")];
  if (typeof value === "object" && value !== null) return [facts(/** @type {Record<string, unknown>} */ (value), schema)];
  return [wordIn(value, schema)];
}
