// One entry of a task's log. Types that are not known are shown as their JSON.
import { detailOf, state, taskLink } from "./bits.js";
import { content, json, words } from "./content.js";
import { h } from "./dom.js";
import { exact, short } from "./when.js";

/**
 * @typedef {import("./api.js").TaskEvent} TaskEvent
 * @typedef {{event: TaskEvent, to: number, text: string, said: string}} Row `to`: the last event joined into it
 * @typedef {import("./dom.js").Child} Child
 */

/** @param {TaskEvent} event */
function stream(event) {
  if (event.type === "text") return `text ${event.reply}`;
  return event.type === "reasoning" ? `reasoning ${event.span}` : "";
}

/**
 * The rows for events. Consecutive pieces of one reply or one reasoning text are one row.
 * @param {TaskEvent[]} events
 * @returns {Row[]}
 */
export function joined(events) {
  /** @type {Row[]} */
  const rows = [];
  for (const event of events) {
    const last = rows[rows.length - 1];
    const text = typeof event.text === "string" ? event.text : "";
    if (last && stream(event) !== "" && stream(event) === stream(last.event)) {
      last.to = event.number;
      last.text += text;
    } else rows.push({ event, to: event.number, text, said: "" });
  }
  for (const row of rows) row.said = `${row.event.number}-${row.to}`;
  return rows;
}

/** @type {Record<string, (event: TaskEvent, text: string) => Child[]>} */
const bodies = {
  status: (event) => [
    state(event.state),
    event.message?.parts ? content(event.message.parts) : null,
    event.tokens ? h("span", { class: "mark" }, `${event.tokens} tokens`) : null,
    progress(event),
    rest(event, ["state", "message", "tokens", "children", "ask", ...(progress(event) ? ["metadata"] : [])]),
  ],
  message: ({ message, forChild }) => [
    h("span", { class: "mark" }, `${role(message?.role)}${forChild ? " for a child" : ""}`),
    content(message?.parts ?? []),
  ],
  text: (_, text) => [words(text)],
  reasoning: (_, text) => [words(text, "words thought")],
  artifact: ({ artifact, append }) => [
    h("span", { class: "mark" }, `${artifact?.name ?? artifact?.artifactId ?? ""}${append ? " +" : ""}`),
    content(artifact?.parts ?? []),
  ],
  "tool-call": (event) => [
    h("b", null, event.name),
    event.byClient ? h("span", { class: "mark" }, "by the client") : null,
    event.arguments === undefined ? null : json(event.arguments),
  ],
  "tool-result": (event) => [
    event.error ? h("span", { class: "bad" }, event.error) : null,
    event.content === undefined ? null : json(event.content),
  ],
  step: ({ name, phase }) => [h("b", null, name), " ", h("span", { class: "mark" }, phase)],
  child: (event) => [
    h("b", null, event.name),
    " ",
    h("span", { class: event.phase === "failed" ? "mark bad" : "mark" }, event.phase),
    event.task ? taskLink(event.task, `task ${event.task}`) : null,
    event.error ? h("div", { class: "bad" }, event.error) : null,
  ],
  intervention: ({ actor, action, reason, detail }) => [
    h("b", null, `${actor}: ${action} `),
    detail ? h("span", { class: "mark" }, detailOf(action, detail)) : null,
    words(reason ?? ""),
  ],
};

// The agent's progress, if its metadata have no other members.
/** @param {TaskEvent} event */
function progress({ metadata }) {
  const part = metadata?.progress;
  if (typeof part !== "number" || Object.keys(metadata).length > 1) return null;
  return h("span", { class: "mark" }, `${Math.round(part * 100)} %`);
}

/** @param {string | undefined} name */
function role(name) {
  return (name ?? "").replace(/^ROLE_/, "").toLowerCase();
}

/**
 * The members of the event that the row does not show in another form.
 * @param {TaskEvent} event
 * @param {string[]} known
 */
function rest(event, known) {
  const shown = new Set([...known, "number", "at", "type", "cutBytes"]);
  const left = Object.fromEntries(Object.entries(event).filter(([name]) => !shown.has(name)));
  return Object.keys(left).length === 0 ? null : json(left);
}

/**
 * @param {Row} row
 * @param {number} start when the task began, or NaN
 */
export function eventRow({ event, to, text, said }, start) {
  const body = Object.hasOwn(bodies, event.type) ? bodies[event.type](event, text) : [rest(event, [])];
  const after = (Date.parse(event.at) - start) / 1000;
  const clock = Number.isNaN(after) ? new Date(event.at).toLocaleTimeString() : `+${short(after)}`;
  const place = to === event.number ? String(to) : `${event.number}–${to}`;
  return h(
    "li",
    { class: `event is-${/^[a-z-]+$/.test(event.type) ? event.type : "odd"}`, dataset: { said } },
    h("span", { class: "e-number" }, place),
    h("span", { class: "e-at", title: exact(event.at) }, clock),
    h("span", { class: "e-type" }, event.type),
    h(
      "div",
      { class: "e-body" },
      ...body,
      event.cutBytes ? h("small", null, `${event.cutBytes} bytes are not shown`) : null,
    ),
  );
}
