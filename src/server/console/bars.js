// A task's use of its time, from the events that are shown: a bar for each attempt at a turn, and bars for the time
// without a turn, when the task was queued or waited for people or children.
import { endStates } from "./bits.js";
import { fill, h } from "./dom.js";
import { short } from "./when.js";

/**
 * @typedef {import("./api.js").TaskEvent} TaskEvent
 * @typedef {{lane: string, name: string, tone: string, from: number, to: number, isOpen?: boolean}} Bar
 */

const turns = "Turns";
const lanes = [turns, "Waiting", "Children"];
const most = 60; // of one lane

/** @type {Record<string, [string, string]>} state, how it is named, its colour */
const idle = {
  submitted: ["in the queue", "quiet"],
  "input-required": ["for an answer", "ask"],
  "auth-required": ["for access", "ask"],
};

class Reader {
  constructor() {
    /** @type {Bar[]} */
    this.bars = [];
    /** @type {Bar | null} */
    this.now = null;
    this.turn = 0;
    this.attempt = 0;
    this.isAwaited = false; // an answer, a child's result or a plan's time has come, so the next turn begins
    /** @type {Map<string, Bar>} */
    this.children = new Map();
  }

  /** @param {TaskEvent} event */
  take(event) {
    const at = Date.parse(event.at);
    if (event.type === "status") this.status(event, at);
    else if (event.type === "child") this.child(event, at);
    else if (event.type === "message" || event.type === "executor-state") this.isAwaited = true;
    else if (event.type !== "intervention") this.isAwaited = false;
  }

  /**
   * @param {number} at
   * @param {Bar | null} next
   */
  turnTo(at, next) {
    if (this.now) this.now.to = at;
    this.now = next;
    if (next) this.bars.push(next);
  }

  /**
   * @param {TaskEvent} event
   * @param {number} at
   */
  status(event, at) {
    const { state } = event;
    if (state in idle) {
      const [name, tone] = idle[state];
      if (this.now?.name !== name) this.turnTo(at, { lane: "Waiting", name, tone, from: at, to: at });
    } else if (endStates.includes(state)) {
      if (this.now?.lane === turns) this.now.tone = state === "completed" ? "good" : "bad";
      this.turnTo(at, null);
    } else if (state === "working" && (this.now?.lane !== turns || begins(event))) this.begin(at);
    else {
      this.isAwaited = false;
      if (state !== "working") this.turnTo(at, null);
    }
  }

  // A turn that begins while one runs is another attempt at that turn, which was broken off, unless input came for it.
  /** @param {number} at */
  begin(at) {
    const before = this.now?.lane === turns ? this.now : null;
    const isRetry = before !== null && !this.isAwaited;
    if (isRetry && before) [before.tone, before.name] = ["odd", `${before.name}, interrupted`];
    this.attempt = isRetry ? this.attempt + 1 : 1;
    this.turn += isRetry ? 0 : 1;
    this.isAwaited = false;
    const name = `turn ${this.turn}${isRetry ? `, attempt ${this.attempt}` : ""}`;
    this.turnTo(at, { lane: turns, name, tone: "busy", from: at, to: at });
  }

  /**
   * @param {TaskEvent} event
   * @param {number} at
   */
  child(event, at) {
    if (event.phase === "passed" && this.now?.lane === turns) {
      // The answer was not for this task: its turn keeps waiting.
      Object.assign(this.now, { lane: "Waiting", name: "for a child", tone: "quiet" });
      this.turn -= 1;
    } else if (event.phase === "started") {
      const bar = { lane: "Children", name: event.name, tone: "busy", from: at, to: at, isOpen: true };
      this.children.set(event.id, bar);
      this.bars.push(bar);
    } else if (event.phase === "finished" || event.phase === "failed") {
      const bar = this.children.get(event.id);
      this.isAwaited = true;
      if (bar) [bar.to, bar.isOpen, bar.tone] = [at, false, event.phase === "failed" ? "bad" : "good"];
    }
  }

  /** @param {number} at the end of the bars that are still open */
  end(at) {
    if (this.now) [this.now.to, this.now.isOpen] = [at, true];
    for (const bar of this.bars) if (bar.isOpen) bar.to = at;
    return this.bars;
  }
}

// An agent's own notes also have this state, but they have a text.
/** @param {TaskEvent} event */
function begins({ message, metadata, askedBy }) {
  return message === undefined && metadata === undefined && askedBy === undefined;
}

/**
 * @param {Bar} bar
 * @param {number} start
 * @param {number} whole
 */
function drawn({ name, tone, from, to, isOpen }, start, whole) {
  const text = `${name}: ${short((to - from) / 1000)}${isOpen ? " so far" : ""}`;
  const bar = h("span", { class: `bar ${tone}${isOpen ? " open" : ""}`, title: text }, h("span", null, name));
  bar.style.left = `${((from - start) / whole) * 100}%`;
  bar.style.width = `${((to - from) / whole) * 100}%`;
  return bar;
}

/** @param {Bar[]} bars */
function summary(bars) {
  const sum = bars.reduce((all, { from, to }) => all + to - from, 0);
  return `${short(sum / 1000)}${bars.length > 1 ? ` in ${bars.length}` : ""}`;
}

/**
 * @param {HTMLElement} place
 * @param {TaskEvent[]} events
 * @param {boolean} atEnd whether they are the newest ones
 */
export function showBars(place, events, atEnd) {
  const reader = new Reader();
  for (const event of events) reader.take(event);
  const last = Date.parse(events.at(-1)?.at ?? "");
  const isOver = reader.now === null && ![...reader.children.values()].some(({ isOpen }) => isOpen);
  const end = atEnd && !isOver ? Math.max(last, Date.now()) : last;
  const bars = reader.end(end).filter(({ lane, from, to }) => lane !== "Waiting" || to > from);
  const start = bars[0]?.from ?? end;
  place.hidden = bars.length === 0;
  const whole = Math.max(1, end - start);
  fill(
    place,
    ...lanes.flatMap((lane) => {
      const here = bars.filter((bar) => bar.lane === lane);
      if (here.length === 0) return [];
      return [
        h("span", { class: "bars-name" }, lane),
        h("div", { class: "track" }, ...here.slice(-most).map((bar) => drawn(bar, start, whole))),
        h("span", { class: "bars-sum" }, summary(here)),
      ];
    }),
  );
}
