// What a task has done with its time, from the events that are shown: a bar for each attempt at a turn, and bars for
// the time in which none ran, in the queue or because people or children were waited for.
import { endStates } from "./bits.js";
import { fill, h } from "./dom.js";
import { short } from "./when.js";

/**
 * @typedef {import("./api.js").TaskEvent} TaskEvent
 * @typedef {{lane: string, name: string, tone: string, from: number, to: number, isOpen?: boolean}} Bar
 */

const lanes = ["Attempts", "Waiting", "Children"];
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
    this.attempt = 0;
    this.isAwaited = false; // an answer, or a child's result, with which the next turn begins
    /** @type {Map<string, Bar>} */
    this.children = new Map();
  }

  /** @param {TaskEvent} event */
  take(event) {
    const at = Date.parse(event.at);
    if (event.type === "status") this.status(event, at);
    else if (event.type === "child") this.child(event, at);
    else if (event.type === "message") this.isAwaited = true;
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
      if (this.now?.lane === "Attempts") this.now.tone = state === "completed" ? "good" : "bad";
      this.turnTo(at, null);
    } else if (state === "working" && (this.now?.lane !== "Attempts" || begins(event))) this.begin(at);
    else if (!(state in idle) && state !== "working") this.turnTo(at, null);
  }

  // An attempt that begins while another one runs follows one that was broken off, unless something came for it.
  /** @param {number} at */
  begin(at) {
    const before = this.bars.findLast(({ lane }) => lane === "Attempts");
    const isRetry = before !== undefined && this.now === before && !this.isAwaited;
    if (isRetry && before) [before.tone, before.name] = ["odd", `${before.name}, broken off`];
    this.attempt = isRetry ? this.attempt + 1 : 1;
    this.isAwaited = false;
    this.turnTo(at, { lane: "Attempts", name: `attempt ${this.attempt}`, tone: "busy", from: at, to: at });
  }

  /**
   * @param {TaskEvent} event
   * @param {number} at
   */
  child(event, at) {
    if (event.phase === "started") {
      const bar = { lane: "Children", name: event.name, tone: "busy", from: at, to: at, isOpen: true };
      this.children.set(event.id, bar);
      this.bars.push(bar);
    } else if (event.phase === "finished" || event.phase === "failed") {
      const bar = this.children.get(event.id);
      this.isAwaited = true;
      if (bar) [bar.to, bar.isOpen, bar.tone] = [at, false, event.phase === "failed" ? "bad" : "good"];
    }
  }

  /** @param {number} at until when what is not over has lasted */
  end(at) {
    if (this.now) [this.now.to, this.now.isOpen] = [at, true];
    for (const bar of this.bars) if (bar.isOpen) bar.to = at;
    return this.bars;
  }
}

// An agent's own notes are of this state, too; they have words.
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
  const bar = h("span", { class: `bar ${tone}${isOpen ? " open" : ""}`, title: text }, name);
  bar.style.left = `${((from - start) / whole) * 100}%`;
  bar.style.width = `${((to - from) / whole) * 100}%`;
  return bar;
}

/** @param {Bar[]} bars */
function summary(bars) {
  const sum = bars.reduce((all, { from, to }) => all + to - from, 0);
  return `${bars.length > 1 ? `${bars.length} × ` : ""}${short(sum / 1000)}`;
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
  const bars = reader.end(end);
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
