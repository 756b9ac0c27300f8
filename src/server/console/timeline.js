// A task's log, in windows of 500 events, so that the page never holds more. Live at the log's end.
import { events, follow } from "./api.js";
import { showBars } from "./bars.js";
import { fill, h, say } from "./dom.js";
import { number } from "./bits.js";
import { eventRow, joined } from "./event-row.js";

const size = 500;
const most = 4 * size;

export class Timeline extends HTMLElement {
  /**
   * @param {string} [key]
   * @param {() => void} [changed] called when a status event has arrived
   * @param {(work: () => Promise<unknown>) => void} [attempt] runs a button's action and shows its error
   */
  constructor(key = "", changed = () => {}, attempt = (work) => void work()) {
    super();
    this.key = key;
    this.changed = changed;
    this.attempt = attempt;
    this.bars = h("div", { class: "bars", hidden: true });
    this.list = h("ol", { class: "events", "aria-label": "Events" });
    this.place = h("span", { class: "faint" });
    this.live = h("span", { class: "live", hidden: true }, "live");
    this.jump = h("input", {
      type: "number",
      min: "1",
      class: "short",
      "aria-label": "Event number",
      placeholder: "event",
      "data-find": "",
    });
    this.earlier = h("button", { type: "button" }, "Earlier");
    this.later = h("button", { type: "button" }, "Later");
    /** @type {import("./api.js").TaskEvent[]} */
    this.shown = [];
    this.last = 0;
    this.opened = false;
    this.atEnd = true;
    /** @type {AbortController | null} */
    this.following = null;
    /** @type {import("./api.js").TaskEvent[]} */
    this.arrived = [];
    this.start = NaN;
  }

  connectedCallback() {
    const first = h("button", { type: "button" }, "First");
    const latest = h("button", { type: "button" }, "Latest");
    first.addEventListener("click", () => this.show({ after: 0 }));
    latest.addEventListener("click", () => this.show({ before: this.last + 1 }));
    this.earlier.addEventListener("click", () => this.show({ before: this.oldest }));
    this.later.addEventListener("click", () => this.show({ after: this.newest }));
    const form = h("form", { class: "jump" }, this.jump, h("button", { type: "submit" }, "Go"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.show({ after: Math.max(0, Number(this.jump.value) - 1) });
    });
    fill(
      this,
      this.bars,
      h("h2", null, "Log", this.place, this.live),
      h("div", { class: "window" }, first, this.earlier, this.later, latest, form),
      this.list,
    );
  }

  get oldest() {
    return this.shown[0]?.number ?? 1;
  }

  get newest() {
    return this.shown.at(-1)?.number ?? 0;
  }

  /**
   * Shows the newest window once, and follows the log while the task is not over.
   * @param {number} last
   * @param {boolean} isOver
   */
  async open(last, isOver) {
    this.last = Math.max(this.last, last);
    if (!this.opened) {
      this.opened = true;
      await this.load({ before: last + 1 });
    } else if (isOver && this.atEnd && this.newest < this.last) {
      await this.load({ before: this.last + 1 });
    }
    if (!isOver && !this.following) this.followOn();
    this.describe();
  }

  /** @param {{after?: number, before?: number}} where */
  show(where) {
    this.attempt(() => this.load(where));
  }

  /** @param {{after?: number, before?: number}} where */
  async load(where) {
    const page = await this.window(where);
    this.last = Math.max(this.last, page.last);
    this.shown = page.events;
    this.atEnd = this.newest >= this.last;
    if (Number.isNaN(this.start) && this.oldest === 1) this.start = Date.parse(page.events[0]?.at ?? "");
    this.render();
  }

  // A window also has a limit in bytes. A window that must end before an event is requested with fewer events until it
  // does.
  /**
   * @param {{after?: number, before?: number}} where
   * @returns {Promise<import("./api.js").EventPage>}
   */
  async window(where) {
    for (let limit = size; ; limit = Math.floor(limit / 4)) {
      const page = await events(this.key, { ...where, limit });
      const end = Math.min(where.before ?? 0, page.last + 1) - 1;
      if ((page.events.at(-1)?.number ?? end) >= end || limit < 4) return page;
    }
  }

  async followOn() {
    const mine = (this.following = new AbortController());
    this.live.hidden = false;
    try {
      for await (const event of follow(this.key, this.last, mine.signal)) this.arrive(event);
    } catch {
      // The page's refresh shows the error and follows again.
    }
    if (this.following === mine) this.following = null;
    this.live.hidden = true;
  }

  // Events in quick succession are shown together, once per frame.
  /** @param {import("./api.js").TaskEvent} event */
  arrive(event) {
    if (this.arrived.length === 0) requestAnimationFrame(() => this.flush());
    this.arrived.push(event);
    // A hidden tab draws no frames: drop the events that exceed a window.
    if (this.arrived.length > most) this.arrived.shift();
  }

  flush() {
    const fresh = this.arrived.splice(0);
    const end = this.newest;
    if (this.atEnd) {
      this.shown.push(...fresh.filter((event) => event.number > end));
      if (this.shown.length > most) this.shown.splice(0, this.shown.length - most + size);
    }
    this.last = Math.max(this.last, fresh.at(-1)?.number ?? 0);
    this.render();
    if (fresh.some(({ type }) => type === "status")) this.changed();
  }

  render() {
    const rows = joined(this.shown);
    const known = new Map([...this.list.children].map((row) => [/** @type {HTMLElement} */ (row).dataset.said, row]));
    const nodes = rows.map((row) => known.get(row.said) ?? eventRow(row, this.start));
    const same =
      nodes.length >= this.list.children.length && [...this.list.children].every((node, at) => node === nodes[at]);
    if (same) this.list.append(...nodes.slice(this.list.children.length));
    else this.list.replaceChildren(...nodes);
    this.describe();
  }

  describe() {
    showBars(this.bars, this.shown, this.atEnd);
    const all = `${number(this.last)} events`;
    say(this.place, this.shown.length === 0 ? all : `${number(this.oldest)}–${number(this.newest)} of ${all}`);
    this.earlier.disabled = this.oldest <= 1;
    this.later.disabled = this.newest >= this.last;
  }

  end() {
    this.following?.abort();
  }
}
customElements.define("baton-timeline", Timeline);
