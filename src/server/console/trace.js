// What each turn of a task did: models, tools, other agents and servers, each folded, with times, tokens and bytes.
import { trace } from "./api.js";
import { bytes, number, plain, state, taskLink } from "./bits.js";
import { json, words } from "./content.js";
import { fill, h, keyed } from "./dom.js";
import { exactJson } from "./form.js";
import { exact, short } from "./when.js";

/**
 * @typedef {import("./api.js").TraceTurn} Turn
 * @typedef {import("./api.js").TraceStep} Step
 * @typedef {import("./api.js").TraceWords} Words
 */

/** @type {Record<string, string>} kind, how it is named */
const names = {
  model: "Model",
  reply: "Reply",
  tool: "Tool",
  agent: "Agent",
  remote: "Remote call",
  step: "Step",
  artifact: "Artifact",
  note: "Note",
};
/** @type {Record<string, string>} kind, how its answer is named */
const answerNames = { tool: "Result", reply: "Text", artifact: "Content", note: "Text" };
/** @type {Record<string, string>} role, how it is named */
const roles = { system: "System prompt", user: "User", assistant: "Model", tool: "Tool result" };
/** @type {Record<string, string>} kind, its colour */
const tones = { model: "busy", tool: "odd", agent: "ask", remote: "ask", reply: "good", artifact: "good" };

export class Trace extends HTMLElement {
  constructor(key = "") {
    super();
    this.key = key;
    this.list = h("div", { class: "turns" });
    this.shown = -1;
    this.hidden = true;
  }

  connectedCallback() {
    fill(this, h("h2", null, "Trace"), this.list);
  }

  /**
   * Reads the trace again if the log has grown.
   * @param {number} lastEvent
   * @param {AbortSignal} signal
   */
  async refresh(lastEvent, signal) {
    if (lastEvent === this.shown) return;
    const { turns, isCut } = await trace(this.key, signal);
    this.shown = lastEvent;
    this.hidden = turns.length === 0;
    keyed(
      this.list,
      turns.map((turn, at) => ({ turn, name: turns.length > 1 || isCut ? `Turn ${at + 1}` : "" })).reverse(),
      ({ turn }) => String(turn.event),
      ({ turn, name }) => turnOf(turn, name),
    );
  }
}
customElements.define("baton-trace", Trace);

/**
 * @param {Turn} turn
 * @param {string} name
 */
function turnOf(turn, name) {
  const from = Date.parse(turn.sentAt);
  const last = Math.max(...[turn.endedAt, ...turn.steps.map(({ endedAt }) => endedAt)].map((at) => Date.parse(at ?? "") || 0));
  const to = turn.endedAt ? last : Math.max(last, Date.now());
  const waited = turn.begunAt ? (Date.parse(turn.begunAt) - from) / 1000 : 0;
  return h(
    "section",
    { class: "turn panel" },
    h(
      "header",
      { class: "turn-head" },
      name ? h("h3", null, name) : null,
      state(turn.state),
      h("span", { class: "faint" }, facts([
        short((to - from) / 1000),
        waited >= 0.1 ? `${short(waited)} in the queue` : "",
        turn.tokens ? `${number(turn.tokens)} ${turn.tokens === 1 ? "token" : "tokens"}` : "",
      ])),
    ),
    folded("Request", "quiet", "", turn.request, turn.request ? [said("", turn.request)] : []),
    turn.told ? told(turn.told) : null,
    ...turn.steps.map((step) => stepOf(step, from, to)),
    turn.leftOut ? h("p", { class: "faint" }, `${number(turn.leftOut)} more steps are not shown.`) : null,
  );
}

/** @param {string[]} parts */
function facts(parts) {
  return parts.filter(Boolean).join(" · ");
}

/**
 * A line with its content folded.
 * @param {string} kind
 * @param {string} tone
 * @param {string} figures
 * @param {Words | undefined} glimpse
 * @param {import("./dom.js").Child[]} inside
 * @param {{name?: string, depth?: number, time?: HTMLElement, error?: string}} [more]
 */
function folded(kind, tone, figures, glimpse, inside, { name = "", depth = 0, time, error = "" } = {}) {
  const line = [
    h("span", { class: `t-kind ${tone}` }, kind),
    h("span", { class: "t-name", dir: "auto" }, name ? h("b", null, name, " ") : null, h("span", { class: error ? "bad" : "faint" }, error || firstLine(glimpse?.text ?? ""))),
    h("span", { class: "t-facts" }, figures),
    time ?? h("span"),
  ];
  const kept = inside.filter(Boolean);
  const element =
    kept.length === 0
      ? h("div", { class: "t-line t-flat" }, ...line)
      : h("details", { class: "t-line" }, h("summary", null, ...line), h("div", { class: "t-inside" }, ...kept));
  element.classList.add(`t-depth-${Math.min(depth, 4)}`);
  return element;
}

/** @param {string} text */
function firstLine(text) {
  return plain(text.trim().split("\n", 1)[0]).slice(0, 200);
}

/**
 * @param {string} title
 * @param {Words | undefined} value
 * @param {string} [kind]
 */
function said(title, value, kind = "words") {
  if (!value) return null;
  const shown = new Blob([value.text]).size;
  return h(
    "div",
    { class: "t-said" },
    title ? h("h4", null, title, " ", h("small", null, bytes(value.bytes))) : null,
    kind === "code" ? json(pretty(value.text)) : words(value.text, kind),
    shown < value.bytes ? h("small", null, `${bytes(value.bytes - shown)} more are not shown`) : null,
  );
}

/** @param {string} text */
function pretty(text) {
  try {
    return JSON.stringify(exactJson(text), null, 2);
  } catch {
    return text;
  }
}

/** @param {NonNullable<Turn["told"]>} told */
function told({ messages, tools, leftOut }) {
  const all = messages.reduce((sum, message) => sum + message.bytes, 0);
  const count = messages.length + (leftOut ?? 0);
  return folded(
    "Told",
    "busy",
    bytes(all),
    { text: `${count} ${count === 1 ? "message" : "messages"} to the model`, bytes: 0 },
    [
      h("p", { class: "faint" }, "The model's first messages, from the log and the current card."),
      leftOut ? h("p", { class: "faint" }, `${number(leftOut)} older messages are not shown.`) : null,
      ...messages.map((message) =>
        h(
          "div",
          { class: "t-said" },
          h("h4", null, roles[message.role] ?? message.role, " ", h("small", null, facts([bytes(message.bytes), message.files ? `${message.files} ${message.files === 1 ? "file" : "files"}` : ""]))),
          words(message.text),
          ...(message.calls ?? []).map((call) => h("div", { class: "code" }, call)),
        ),
      ),
      tools ? h("p", { class: "faint" }, `Tools it may call: ${tools.join(", ")}`) : null,
    ],
  );
}

/**
 * @param {Step} step
 * @param {number} from
 * @param {number} to
 */
function stepOf(step, from, to) {
  const begun = Date.parse(step.begunAt);
  const ended = step.endedAt ? Date.parse(step.endedAt) : to;
  const isMoment = step.kind === "note" || step.kind === "artifact";
  // A short note is whole in its line.
  const isWhole = step.kind === "note" && (step.answer?.bytes ?? 0) < 100 && !step.answer?.text.includes("\n");
  const first = step.firstAt ? (Date.parse(step.firstAt) - begun) / 1000 : 0;
  const size = (step.given?.bytes ?? 0) + (step.answer?.bytes ?? 0);
  const inside = [
    step.task ? h("p", null, taskLink(step.task, `Open task ${step.task}`)) : null,
    step.error ? h("div", { class: "bad words" }, step.error) : null,
    said(step.kind === "agent" ? "Asked" : "Arguments", step.given, step.kind === "agent" ? "words" : "code"),
    said("Thought", step.thought, "words thought"),
    isWhole ? null : said(answerNames[step.kind] ?? "Answer", step.answer, step.kind === "tool" ? "code" : "words"),
    step.calls?.length ? h("div", { class: "t-said" }, h("h4", null, "Called"), ...step.calls.map((call) => h("div", { class: "code" }, call))) : null,
    step.usage ? h("div", { class: "t-said" }, h("h4", null, "Usage"), json(step.usage)) : null,
  ];
  const glimpse = step.answer ?? (step.calls?.length ? { text: `calls ${step.calls.map((call) => call.split(" ", 1)[0]).join(", ")}`, bytes: 0 } : step.given);
  return folded(
    names[step.kind] ?? step.kind,
    step.error ? "bad" : (tones[step.kind] ?? "quiet"),
    facts([
      isMoment ? "" : `${short((ended - begun) / 1000)}${step.endedAt ? "" : "…"}`,
      first >= 0.001 && step.kind === "model" ? `first after ${short(first)}` : "",
      step.tokens ? `${number(step.tokens)} ${step.tokens === 1 ? "token" : "tokens"}` : "",
      size && step.kind !== "note" ? bytes(size) : "",
      step.byClient ? "by the client" : "",
    ]),
    glimpse,
    inside,
    { name: step.name, depth: step.depth, time: isMoment ? undefined : bar(begun, ended, from, to, step), error: step.error },
  );
}

/**
 * Where in the turn's time the step lies.
 * @param {number} begun
 * @param {number} ended
 * @param {number} from
 * @param {number} to
 * @param {Step} step
 */
function bar(begun, ended, from, to, step) {
  const whole = Math.max(to - from, 1);
  const track = h("span", { class: "t-bar", title: exact(step.begunAt) });
  const piece = h("span", { class: step.error ? "bad" : (tones[step.kind] ?? "quiet") });
  piece.style.setProperty("left", `${Math.min(99, (100 * (begun - from)) / whole)}%`);
  piece.style.setProperty("width", `${Math.max(1, (100 * (ended - begun)) / whole)}%`);
  track.append(piece);
  return track;
}
