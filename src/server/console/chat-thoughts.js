// An agent's reasoning and actions beside its answer: collapsed, and fetched when the user opens them.
import { asides, isAbort, told } from "./chat-api.js";
import { data } from "./chat-data.js";
import { Markdown } from "./chat-markdown.js";
import { append, fill, h } from "./dom.js";

/** @typedef {{op: string, path: string, value?: unknown}} Operation of RFC 6902; the rarer ones are left out */

/** @param {any} from
 * @param {string} key */
function step(from, key) {
  return typeof from === "object" && from !== null && Object.hasOwn(from, key) ? from[key] : undefined;
}

/**
 * Applies an operation to a document. An operation that does not fit the document changes nothing.
 * @param {any} whole
 * @param {Operation} operation
 */
function patch(whole, { op, path, value }) {
  const keys = String(path)
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  const last = keys.pop();
  if (last === undefined) return op === "remove" ? whole : value;
  const at = keys.reduce(step, whole);
  if (typeof at !== "object" || at === null || last === "__proto__") return whole;
  if (Array.isArray(at)) {
    const index = last === "-" ? at.length : Number(last);
    at.splice(index, op === "add" ? 0 : 1, ...(op === "remove" ? [] : [value]));
  } else if (op === "remove") delete at[last];
  else at[last] = value;
  return whole;
}

export class Thoughts {
  /**
   * @param {import("./chat-api.js").Agent} agent
   * @param {() => {id: string, contextId: string}} taskOf
   */
  constructor(agent, taskOf) {
    this.agent = agent;
    this.taskOf = taskOf;
    this.inside = h("div", { class: "thoughts" });
    this.element = h("details", { class: "thinking" }, h("summary", null, "Thinking and steps"), this.inside);
    this.element.addEventListener("toggle", () => this.toggled());
    /** @type {AbortController | null} */
    this.reading = null;
    /** @type {Markdown | null} */
    this.thought = null;
    /** @type {Map<string, {content: any, place: HTMLElement}>} */
    this.activities = new Map();
    /** @type {Map<string, HTMLElement>} */
    this.steps = new Map();
  }

  stop() {
    this.reading?.abort();
  }

  toggled() {
    if (!this.element.open) return this.stop();
    this.load();
  }

  async load() {
    this.stop();
    const { signal } = (this.reading = new AbortController());
    this.activities.clear();
    this.steps.clear();
    this.thought = null;
    fill(this.inside);
    try {
      await this.read(signal);
      this.endThought();
      if (!this.inside.childElementCount) fill(this.inside, h("p", { class: "faint" }, "The agent tells of none."));
    } catch (error) {
      if (!signal.aborted && !isAbort(error)) append(this.inside, [h("p", { class: "problem", role: "alert" }, told(error))]);
    }
  }

  /** Reads all turns, one after the other: a task that has asked questions has several.
   * @param {AbortSignal} signal */
  async read(signal) {
    const task = this.taskOf();
    let last = `${task.id}:0`;
    for (let isMore = true; isMore && !signal.aborted; ) {
      isMore = false;
      for await (const { id, event } of asides(this.agent, task, last, signal)) {
        if (id && id !== last) isMore = true;
        last = id || last;
        this.take(event);
      }
    }
  }

  /** @param {any} event */
  take(event) {
    switch (event.type) {
      case "REASONING_MESSAGE_CONTENT":
      case "THINKING_TEXT_MESSAGE_CONTENT":
        return this.think(event.delta);
      case "REASONING_MESSAGE_END":
      case "THINKING_TEXT_MESSAGE_END":
        return this.endThought();
      case "STEP_STARTED":
        return this.begin(event.stepName);
      case "STEP_FINISHED":
        return this.finish(event.stepName);
      case "ACTIVITY_SNAPSHOT":
        return this.show(event.messageId, event.activityType, event.content);
      case "ACTIVITY_DELTA":
        return this.change(event.messageId, event.patch);
    }
  }

  endThought() {
    this.thought?.end();
    this.thought = null;
  }

  /** @param {string} delta */
  think(delta) {
    if (!this.thought) {
      this.thought = new Markdown();
      this.inside.append(this.thought.element);
    }
    this.thought.add(delta);
  }

  /** @param {string} name */
  begin(name) {
    const mark = h("span", { class: "mark" }, "begun");
    this.steps.set(name, mark);
    this.inside.append(h("div", { class: "step" }, "Step ", h("b", null, name), " ", mark));
  }

  /** @param {string} name */
  finish(name) {
    const mark = this.steps.get(name);
    if (mark) fill(mark, "done");
  }

  /**
   * @param {string} id
   * @param {string} type
   * @param {unknown} content
   */
  show(id, type, content) {
    const known = this.activities.get(id);
    const place = known?.place ?? h("div", { class: "activity" });
    if (!known) this.inside.append(place);
    this.activities.set(id, { content, place });
    fill(place, h("div", { class: "name" }, String(type).toLowerCase()), data(content, type));
  }

  /**
   * @param {string} id
   * @param {Operation[]} operations
   */
  change(id, operations) {
    const known = this.activities.get(id);
    if (!known) return;
    known.content = operations.reduce(patch, known.content);
    fill(known.place, known.place.firstElementChild, data(known.content));
  }
}
