// An agent's reasoning and actions beside its answer, collapsed. Shown only if there are some.
import { asides, isAbort, told } from "./chat-api.js";
import { data } from "./chat-data.js";
import { Markdown } from "./chat-markdown.js";
import { append, fill, h, say } from "./dom.js";

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
    this.label = h("summary");
    this.element = h("details", { class: "thinking", hidden: true }, this.label, this.inside);
    this.last = "";
    this.isReading = false;
    this.isWanted = false;
    this.reading = new AbortController();
    /** @type {Markdown | null} */
    this.thought = null;
    /** When the open thought began, and how long the others took, in ms. */
    this.since = 0;
    this.spent = 0;
    /** @type {Map<string, {content: any, place: HTMLElement}>} */
    this.activities = new Map();
    /** @type {Map<string, HTMLElement>} */
    this.steps = new Map();
    this.step = "";
  }

  stop() {
    this.reading.abort();
  }

  /** Call when the task has ended: what has begun ends, too. */
  end() {
    this.step = "";
    this.endThought(Date.now());
  }

  /** Reads what is new, to the end of the turn. Call again for each turn: a task that has asked has several.
   * @param {boolean} [isPast] whether all turns are over, so that they are read one after another */
  async watch(isPast = false) {
    const { signal } = this.reading;
    this.isWanted = true;
    if (this.isReading || signal.aborted) return;
    this.isReading = true;
    try {
      while (this.isWanted && !signal.aborted) {
        this.isWanted = false;
        const isMore = await this.read(signal);
        this.isWanted ||= isMore && isPast;
      }
    } catch (error) {
      if (!signal.aborted && !isAbort(error)) append(this.inside, [h("p", { class: "problem" }, told(error))]);
    }
    this.isReading = false;
  }

  /** Returns whether there was anything new.
   * @param {AbortSignal} signal */
  async read(signal) {
    const task = this.taskOf();
    const before = this.last;
    for await (const { id, event } of asides(this.agent, task, before || `${task.id}:0`, signal)) {
      this.last = id || this.last;
      this.take(event);
    }
    return this.last !== before;
  }

  /** Says in a few words what there is. */
  name() {
    const seconds = Math.max(1, Math.round(this.spent / 1000));
    const count = this.steps.size;
    const done = [this.spent > 0 ? `Thought for ${seconds} s` : "", count > 0 ? `${count} ${count === 1 ? "step" : "steps"}` : ""];
    const now = this.thought ? "Thinking…" : this.step && `${this.step}…`;
    say(this.label, now || done.filter(Boolean).join(" · ") || "Activity");
    this.element.hidden = this.inside.childElementCount === 0;
  }

  /** @param {any} event */
  take(event) {
    switch (event.type) {
      case "REASONING_MESSAGE_CONTENT":
      case "THINKING_TEXT_MESSAGE_CONTENT":
        return this.think(event.delta, event.timestamp ?? Date.now());
      case "REASONING_MESSAGE_END":
      case "THINKING_TEXT_MESSAGE_END":
        return this.endThought(event.timestamp ?? Date.now());
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

  /** @param {number} at */
  endThought(at) {
    if (this.thought) this.spent += Math.max(1, at - this.since);
    this.thought?.end();
    this.thought = null;
    this.name();
  }

  /** @param {string} delta
   * @param {number} at */
  think(delta, at) {
    if (!this.thought) {
      this.since = at;
      this.thought = new Markdown();
      this.inside.append(this.thought.element);
      this.name();
    }
    this.thought.add(delta);
  }

  /** @param {string} name */
  begin(name) {
    const mark = h("span", { class: "mark" }, "running");
    this.steps.set(name, mark);
    this.step = name;
    this.inside.append(h("div", { class: "step" }, "Step ", h("b", null, name), " ", mark));
    this.name();
  }

  /** @param {string} name */
  finish(name) {
    const mark = this.steps.get(name);
    if (mark) fill(mark, "done");
    if (this.step === name) this.step = "";
    this.name();
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
    this.name();
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
