// The steps of a plan beside its answer: what is done, what runs, how long each takes, and its result on demand.
import { call, getTask, isAbort, told } from "./chat-api.js";
import { partView } from "./chat-parts.js";
import { fill, h, say } from "./dom.js";
import { PlanPicture } from "./plan-picture.js";

/**
 * @typedef {import("./chat-api.js").Agent} Agent
 * @typedef {{
 *   id?: string, agent?: string, kind?: string, label?: string, state: string, attempt?: number, begunAt?: string,
 *   endedAt?: string, error?: string, children?: Node[]
 * }} Node of the tree of a task
 * @typedef {{row: HTMLElement, mark: HTMLElement, name: HTMLElement, about: HTMLElement, time: HTMLElement,
 *   folded: HTMLDetailsElement, inside: HTMLElement, node: Node}} Row
 */

const pauseMs = 400;
const tickMs = 1000;
const ends = ["completed", "failed", "rejected", "canceled"];
/** @type {Record<string, string>} */
const marks = { completed: "✓", failed: "✕", rejected: "✕", canceled: "–", "input-required": "?", "auth-required": "?" };
/** @type {Record<string, string>} */
const words = {
  completed: "Completed",
  failed: "Failed",
  rejected: "Rejected",
  canceled: "Canceled",
  "input-required": "Needs input",
  "auth-required": "Needs access",
};

// The names that steps have if the plan gives them none.
const unnamed = /^(agent|sequence|parallel|route|loop|map|wait|ask)-\d+$/;

/** A step's path in readable form: "sequence-1/tables[1]/sum" is "tables 2 › sum".
 * @param {Node} node */
export function nameOfStep({ label = "", agent, kind }) {
  const parts = label.split("/").map((part) => {
    const [, id, index] = /^(.*?)(?:\[(\d+)\])?$/.exec(part) ?? [];
    return [unnamed.test(id) ? "" : id, index === undefined ? "" : String(Number(index) + 1)].filter((one) => one).join(" ");
  });
  const own = parts.at(-1);
  const around = parts.slice(0, -1).filter((one) => one);
  const last = own && !/^\d+$/.test(own) ? own : [agent ?? (kind === "question" ? "Question" : "Step"), own].filter((one) => one).join(" ");
  return [...around, last].join(" › ");
}

/** @param {number} ms */
function duration(ms) {
  if (ms < 950) return `${Math.max(ms / 1000, 0.1).toFixed(1)} s`;
  const s = ms / 1000;
  if (s < 9.95) return `${s.toFixed(1)} s`;
  return s < 60 ? `${Math.round(s)} s` : `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`;
}

export class Steps {
  /**
   * @param {Agent} agent
   * @param {() => string} taskOf the id of the run's task; empty until the server has given it one
   */
  constructor(agent, taskOf) {
    this.agent = agent;
    this.taskOf = taskOf;
    this.title = h("span");
    this.list = h("ol", { class: "steps" });
    this.picture = new PlanPicture("", () => this.draw());
    const drawn = h("details", { class: "run-picture" }, h("summary", null, "Picture of the run"), this.picture);
    drawn.addEventListener("toggle", () => drawn.open && this.picture.refresh(++this.drawings));
    this.drawn = drawn;
    this.drawings = 0;
    this.element = h("details", { class: "plan-steps", open: true, hidden: true }, h("summary", null, this.title), this.list, drawn);
    /** @type {Map<string, Row>} */
    this.rows = new Map();
    this.timer = 0;
    this.ticking = 0;
    this.isOver = false;
    // How far the server's clock is ahead of this one.
    this.ahead = 0;
    this.reading = new AbortController();
  }

  stop() {
    clearTimeout(this.timer);
    clearTimeout(this.ticking);
    this.timer = this.ticking = 0;
    this.reading.abort();
    this.reading = new AbortController();
  }

  /** Reads the steps soon. `isOver`: the run has ended, and this is the last time.
   * @param {boolean} isOver */
  renew(isOver) {
    this.isOver = isOver;
    this.ticking ||= setInterval(() => this.tick(), tickMs);
    this.timer ||= setTimeout(() => this.read(), this.rows.size === 0 || isOver ? 0 : pauseMs);
  }

  tick() {
    for (const row of this.rows.values()) this.showTime(row);
    this.timer ||= setTimeout(() => this.read(), pauseMs);
  }

  async read() {
    const { signal } = this.reading;
    const task = this.taskOf();
    const wasOver = this.isOver;
    try {
      if (!task) return;
      const { at, root } = await (await call(`${this.agent.path}tasks/${encodeURIComponent(task)}/tree`, { signal })).json();
      if (signal.aborted) return;
      this.ahead = Date.parse(at) - Date.now();
      this.show(root);
      if (this.drawn.open) await this.picture.refresh(++this.drawings);
    } catch (error) {
      if (!isAbort(error)) this.element.hidden = this.rows.size === 0;
    } finally {
      this.timer = 0;
      if (wasOver && !signal.aborted) this.stop();
      else if (this.isOver && !signal.aborted) this.renew(true);
    }
  }

  async draw() {
    const path = `${this.agent.path}tasks/${encodeURIComponent(this.taskOf())}/plan.svg`;
    return (await (await call(path)).blob());
  }

  /** @param {Node} root */
  show(root) {
    const children = root.children ?? [];
    children.forEach((node, index) => this.showStep(node, String(index)));
    this.element.hidden = children.length === 0;
    const done = children.filter(({ state }) => state === "completed").length;
    const running = children.filter(({ state }) => !ends.includes(state));
    const now = running.map(nameOfStep).join(", ");
    const count = (/** @type {number} */ steps) => `${steps} ${steps === 1 ? "step" : "steps"}`;
    say(this.title, this.isOver ? count(children.length) : `${count(done)} done${now ? `, now ${now}` : ""}`);
  }

  /**
   * @param {Node} node
   * @param {string} key
   */
  showStep(node, key) {
    const row = this.rows.get(key) ?? this.addRow(key, node);
    const { state } = row.node;
    row.node = node;
    if (row.folded.open && state !== node.state) this.open(row);
    const isOpen = !ends.includes(node.state) && !marks[node.state];
    row.row.dataset.state = isOpen ? "working" : node.state;
    say(row.mark, marks[node.state] ?? "");
    row.mark.setAttribute("aria-label", words[node.state] ?? "Running");
    say(row.name, nameOfStep(node));
    const tries = (node.attempt ?? 1) > 1 ? `attempt ${node.attempt}` : "";
    say(row.about, [tries, node.error].filter((one) => one).join(" · "));
    this.showTime(row);
  }

  /** @param {Row} row */
  showTime({ node, time }) {
    if (!node.begunAt) return;
    const until = node.endedAt ? Date.parse(node.endedAt) : this.isOver ? NaN : Date.now() + this.ahead;
    say(time, Number.isNaN(until) ? "" : duration(until - Date.parse(node.begunAt)));
  }

  /**
   * @param {string} key
   * @param {Node} node
   */
  addRow(key, node) {
    const mark = h("span", { class: "step-mark", role: "img" });
    const [name, about, time] = [h("span", { class: "step-name", dir: "auto" }), h("span", { class: "step-about", dir: "auto" }), h("span", { class: "step-time" })];
    const inside = h("div", { class: "inside" });
    const head = h("summary", null, mark, name, about, time);
    const folded = h("details", null, head, inside);
    const row = { row: h("li", { class: "plan-step" }, folded), mark, name, about, time, folded, inside, node };
    folded.addEventListener("toggle", () => folded.open && this.open(row));
    this.rows.set(key, row);
    this.list.append(row.row);
    return row;
  }

  /** Shows the result of a step, which is read from its own task.
   * @param {Row} row */
  async open(row) {
    const { node, inside } = row;
    if (!node.id || !node.agent) return fill(inside, h("p", { class: "faint" }, node.error || "This step has no result."));
    const agent = { ...this.agent, name: node.agent, path: this.agent.path.replace(/[^/]+\/$/, `${encodeURIComponent(node.agent)}/`) };
    try {
      const { artifacts = [], status } = await getTask(agent, node.id);
      if (row.node.state !== node.state) return; // It is read again.
      const parts = artifacts.flatMap((artifact) => artifact.parts);
      const said = status.message?.parts ?? [];
      const shown = (parts.length > 0 ? parts : said).map((part) => partView(part, agent));
      fill(inside, ...(shown.length > 0 ? shown : [h("p", { class: "faint" }, "No result yet.")]));
    } catch (error) {
      fill(inside, h("p", { class: "problem", role: "alert" }, told(error)));
    }
  }
}
