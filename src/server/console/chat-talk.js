// The open conversation: its tasks one below the other, the newest last.
import { cardOf, isAbort, listTasks, stateName, told } from "./chat-api.js";
import { hasEnded } from "./chat-follow.js";
import { Problem } from "./chat-problem.js";
import { Run } from "./chat-run.js";
import { newId } from "./bits.js";
import { fill, h } from "./dom.js";

/** @typedef {import("./api.js").Part} Part */

const pageSize = 10;
// The most streams that stay open: a browser has six connections to a server.
const followedMost = 2;
const nearEndPx = 80;
const examplesMost = 4;
const exampleMost = 200;

/** Events: `changed` when it becomes busy or idle, or asks a question; `edit` with the parts of a message to write anew. */
export class Talk extends EventTarget {
  constructor() {
    super();
    this.runs = h("div", { class: "runs" });
    this.older = h("button", { type: "button", hidden: true }, "Earlier messages");
    this.problem = new Problem("alert");
    this.welcome = h("div", { class: "welcome" });
    this.toEnd = h("button", { type: "button", class: "to-end", hidden: true }, "↓ Latest");
    this.log = h(
      "div",
      { class: "talk", role: "log", "aria-label": "Conversation", tabIndex: 0 },
      this.older,
      this.problem.element,
      this.welcome,
      this.runs,
    );
    this.element = h("div", { class: "talk-place" }, this.log, this.toEnd);
    /** @type {Run[]} */
    this.all = [];
    /** @type {import("./chat-api.js").Agent | null} */
    this.agent = null;
    this.context = "";
    this.next = "";
    this.ended = new AbortController();
    /** Whether the view follows what comes: until someone scrolls up. */
    this.isAtEnd = true;
    this.top = 0;
    this.log.addEventListener("scroll", () => this.noteScroll(), { passive: true });
    this.log.addEventListener("click", (event) => this.noteClick(event));
    this.toEnd.addEventListener("click", () => {
      this.isAtEnd = true;
      this.follow();
      this.log.focus();
    });
    // Also when a picture has loaded, or the window has changed.
    const watcher = new ResizeObserver(() => this.follow());
    for (const watched of [this.log, this.runs]) watcher.observe(watched);
    this.older.addEventListener("click", () => this.showOlder());
    document.addEventListener("visibilitychange", () => {
      for (const run of this.all) run.see(!document.hidden);
    });
  }

  get isBusy() {
    return this.all.some((run) => run.isBusy);
  }

  /** The id of the newest task; empty until the server has given it one. */
  get newest() {
    return this.all.at(-1)?.follower.task ?? "";
  }

  /** The state of the newest task; empty if there is none. */
  get state() {
    return this.all.at(-1)?.state ?? "";
  }

  get asking() {
    return this.all.findLast((run) => run.isAsking);
  }

  /**
   * Shows a conversation; a new one if `context` is empty.
   * @param {import("./chat-api.js").Agent} agent
   * @param {string} context
   */
  async open(agent, context) {
    this.close();
    this.agent = agent;
    this.context = context;
    this.isAtEnd = true;
    if (!context) this.greet(agent);
    else await this.load();
  }

  close() {
    this.ended.abort();
    this.ended = new AbortController();
    for (const run of this.all) run.stop();
    this.all = [];
    this.next = "";
    this.older.hidden = true;
    this.problem.tell("");
    fill(this.runs);
    fill(this.welcome);
  }

  /** Shows what the agent is, and its card's examples as buttons.
   * @param {import("./chat-api.js").Agent} agent */
  async greet(agent) {
    const place = h("div", { class: "examples" });
    const hint = h("p", { class: "faint", hidden: true }, "You can also drop or paste files here.");
    const icon = h("img", { src: "/chat/icon.svg", alt: "", width: 44, height: 44 });
    const about = h("p", { class: "faint", dir: "auto" }, agent.description);
    fill(this.welcome, icon, h("h2", { dir: "auto" }, agent.title), about, place, hint);
    const { signal } = this.ended;
    const card = await cardOf(agent, signal).catch(() => null);
    if (!card || signal.aborted) return;
    const examples = (card.skills ?? []).flatMap((skill) => skill.examples ?? []).filter((text) => text.length <= exampleMost);
    for (const text of [...new Set(examples)].slice(0, examplesMost)) {
      const button = h("button", { type: "button", class: "example", dir: "auto" }, text);
      button.addEventListener("click", () => this.say([{ text }]));
      place.append(button);
    }
    hint.hidden = !(card.defaultInputModes ?? []).some((mode) => !/^(text\/plain|application\/json)$/.test(mode));
  }

  /**
   * Sends a message here. Rejects if it was the answer to a question and was not accepted.
   * @param {Part[]} parts
   * @param {boolean} [isAnew] it begins a task, also if a question is open
   */
  say(parts, isAnew = false) {
    const { agent, asking } = this;
    if (!agent) return Promise.resolve();
    this.isAtEnd = true;
    return asking && !isAnew ? asking.answer(parts) : this.begin(agent, { parts });
  }

  /** @param {import("./chat-api.js").Agent} agent
   * @param {{parts: Part[], metadata?: Record<string, any>}} what */
  begin(agent, what) {
    this.isAtEnd = true;
    if (!this.context) {
      this.context = newId();
      this.dispatchEvent(new Event("begun"));
    }
    fill(this.welcome);
    const run = this.add(agent);
    this.runs.append(run.element);
    return run.begin(what);
  }

  /** Stops the task under way. */
  async halt() {
    for (const run of this.all.filter((one) => one.isBusy)) {
      await run.halt().catch((error) => this.problem.tell(told(error)));
    }
  }

  /** @param {import("./chat-api.js").Agent} agent
   * @param {number} [at] */
  add(agent, at = this.all.length) {
    const run = new Run(agent, this.context);
    run.addEventListener("changed", () => this.changed());
    run.addEventListener("asks", () => this.showQuestion(run));
    run.addEventListener("answered", () => (this.isAtEnd = true));
    run.addEventListener("again", (event) => this.begin(agent, /** @type {CustomEvent} */ (event).detail));
    run.addEventListener("edit", (event) => {
      this.dispatchEvent(new CustomEvent("edit", { detail: /** @type {CustomEvent} */ (event).detail }));
    });
    this.all.splice(at, 0, run);
    return run;
  }

  changed() {
    this.dispatchEvent(new Event("changed"));
  }

  /** Whether only the beginning of a question is in view if that is shown. @param {HTMLElement | null} [question] */
  isTall(question) {
    return (question?.offsetHeight ?? 0) > this.log.clientHeight - nearEndPx;
  }

  /** Shows a question from its beginning, ready to be answered, unless the user reads or writes something else.
   * @param {Run} run */
  showQuestion(run) {
    if (!this.isAtEnd) return;
    requestAnimationFrame(() => {
      const { question } = run;
      if (!question?.isConnected) return;
      question.scrollIntoView({ block: this.isTall(question) ? "start" : "nearest" });
      const now = document.activeElement;
      const writes = now?.matches("textarea") && /** @type {HTMLTextAreaElement} */ (now).value !== "";
      const renames = now?.matches("input");
      const hasKeys = matchMedia("(pointer: fine)").matches;
      /** @type {HTMLElement | null} */
      const field = question.querySelector("form :is(input, select, textarea)");
      // Not a button: a key that is still down must not decide.
      if (hasKeys && !writes && !renames && run.hasForm) (field ?? question).focus({ preventScroll: true });
    });
  }

  follow() {
    if (this.isAtEnd && !this.isTall(this.asking?.question)) this.log.scrollTop = this.log.scrollHeight;
    this.noteScroll();
  }

  get isNearEnd() {
    const { scrollTop, scrollHeight, clientHeight } = this.log;
    return scrollHeight - scrollTop - clientHeight < nearEndPx;
  }

  /** What has grown does not end the following, only someone who scrolls up. */
  noteScroll() {
    const isUp = this.log.scrollTop < this.top;
    this.top = this.log.scrollTop;
    if (this.isNearEnd) this.isAtEnd = true;
    else if (isUp) this.isAtEnd = false;
    this.toEnd.hidden = this.isAtEnd || this.isNearEnd;
  }

  /** Who opens something looks at it.
   * @param {Event} event */
  noteClick(event) {
    if (!(/** @type {Element} */ (event.target).closest("summary"))) return;
    this.isAtEnd = false;
    requestAnimationFrame(() => this.noteScroll());
  }

  async load() {
    const { agent, context } = this;
    const { signal } = this.ended;
    if (!agent) return;
    const filter = { contextId: context, pageSize, ...(this.next ? { pageToken: this.next } : {}) };
    try {
      const page = await listTasks(agent, filter, signal);
      if (signal.aborted) return;
      this.next = page.nextPageToken ?? "";
      this.older.hidden = this.next === "";
      this.problem.tell("");
      if (this.all.length === 0 && page.tasks.length === 0) {
        return fill(this.welcome, h("p", { class: "faint" }, "The conversation is empty."));
      }
      this.restore(agent, page.tasks, signal);
    } catch (error) {
      if (!isAbort(error) && !signal.aborted) this.problem.tell(told(error), () => this.load());
    }
  }

  async showOlder() {
    const before = this.log.scrollHeight - this.log.scrollTop;
    this.isAtEnd = false;
    this.older.hidden = true;
    await this.load();
    this.log.scrollTop = this.log.scrollHeight - before;
  }

  /**
   * Shows existing tasks, the newest first: running ones at once, the others one after another.
   * @param {import("./chat-api.js").Agent} agent
   * @param {import("./chat-api.js").Task[]} tasks the newest first
   * @param {AbortSignal} signal
   */
  async restore(agent, tasks, signal) {
    const pairs = tasks.map((task) => {
      const run = this.add(agent, 0);
      this.runs.prepend(run.element);
      return { task, run };
    });
    const goesOn = pairs.filter(({ task }) => !hasEnded(stateName(task.status.state)));
    for (const { task, run } of goesOn.slice(0, followedMost)) run.restore(task);
    for (const { task, run } of goesOn.slice(followedMost)) run.look(task);
    const past = pairs.filter((pair) => !goesOn.includes(pair)).values();
    const lane = async () => {
      for (const { task, run } of past) {
        if (signal.aborted) return;
        await run.restore(task);
      }
    };
    await Promise.all([lane(), lane()]);
  }
}
