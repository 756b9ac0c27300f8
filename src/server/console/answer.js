// Answering a question: with a form for its schema, or with text.
import { post } from "./api.js";
import { newId } from "./bits.js";
import { toast } from "./dialog.js";
import { h, say } from "./dom.js";
import { fieldsOf } from "./form.js";
import { told } from "./page.js";
import { content } from "./content.js";

/**
 * The question, and for an operator the form to answer it. `done` is called after the answer was accepted.
 * @param {import("./api.js").TaskView} whole
 * @param {boolean} mayAnswer
 * @param {() => void} done
 * @param {string} [shown] words that the page shows already
 */
export function question(whole, mayAnswer, done, shown = "") {
  const asked = whole.question;
  const all = asked?.message?.parts ?? [{ text: asked?.text ?? "" }];
  // The form shows the schema, which the message has as a part of its own.
  const parts = asked?.schema ? all.filter(({ data }) => !isSchemaPart(data)) : all;
  const known = parts.length === 1 && parts[0].text === shown;
  const words = known ? null : content(parts);
  if (!mayAnswer) return h("div", { class: "question" }, words);
  return h("div", { class: "question" }, words, answerForm(whole, done));
}

/** @param {unknown} data */
function isSchemaPart(data) {
  return typeof data === "object" && data !== null && "schema" in data;
}

/**
 * @param {import("./api.js").TaskView} whole
 * @param {() => void} done
 */
function answerForm({ task, question: asked }, done) {
  const fields = asked?.schema ? fieldsOf(asked.schema) : null;
  const words = h("textarea", { rows: 3, required: true, "aria-label": "Answer", placeholder: "Your answer" });
  const reason = h("input", {
    required: true,
    maxLength: 500,
    value: "answered in the console",
    "aria-label": "Reason",
  });
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const send = h("button", { type: "submit", class: "primary" }, "Answer");
  const form = h(
    "form",
    { class: "answer" },
    fields ? fields.element : words,
    problem,
    h("div", { class: "buttons" }, h("label", { class: "why" }, h("span", null, "Reason"), reason), send),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    send.disabled = true;
    try {
      const part = fields ? { data: fields.value() } : { text: words.value };
      const message = { messageId: newId(), role: "ROLE_USER", parts: [part] };
      await post(`/tasks/${task.key}/answer`, { reason: reason.value, ask: asked?.ask, message });
      toast(`Task ${task.key} was answered.`);
      done();
    } catch (error) {
      say(problem, told(error));
      problem.hidden = false;
    }
    send.disabled = false;
  });
  return form;
}
