// The conversations with an agent, the newest first: the tasks of a context are one.
import { isAbort, listTasks, stateName, told } from "./chat-api.js";
import { state as stateMark } from "./bits.js";
import { Problem } from "./chat-problem.js";
import { h, keyed } from "./dom.js";
import { when } from "./when.js";

/**
 * @typedef {{context: string, title: string, state: string, at: string, oldest: string}} Entry `at`: of its newest task,
 *   `oldest`: of its oldest known one, whose first message is the title
 */

const pageSize = 25;
// A long conversation fills pages without a new entry.
const pagesMost = 4;
const entriesWanted = 12;
const titleMost = 90;
/** What a conversation's state is called; one that is well has no mark.
 * @type {Record<string, string>} */
const stateWords = {
  submitted: "waits",
  working: "at work",
  "input-required": "asks you",
  "auth-required": "needs access",
  canceled: "stopped",
  rejected: "declined",
};

/**
 * What a task is called: the first words of its user; empty if they are not known.
 * @param {import("./chat-api.js").Message | undefined} message
 */
export function titleOf(message) {
  const parts = message?.parts ?? [];
  const text = parts.map((part) => part.text ?? "").join(" ").replace(/\s+/g, " ").trim();
  const title = text || parts.find((part) => part.filename)?.filename || "";
  return title.length > titleMost ? `${title.slice(0, titleMost)}…` : title;
}

/** Events: `changed` when there is something new of a conversation. */
export class Conversations extends EventTarget {
  /** @param {(agent: string, context: string) => string} addressOf */
  constructor(addressOf) {
    super();
    this.addressOf = addressOf;
    this.rows = h("ol", { class: "conversations" });
    this.more = h("button", { type: "button", hidden: true }, "Older conversations");
    this.problem = new Problem("alert");
    this.element = h("div", { class: "list" }, this.problem.element, this.rows, this.more);
    /** @type {Map<string, Entry>} */
    this.entries = new Map();
    /** @type {import("./chat-api.js").Agent | null} */
    this.agent = null;
    this.current = "";
    this.next = "";
    this.reading = new AbortController();
    this.more.addEventListener("click", () => this.load(this.next));
  }

  /** @param {import("./chat-api.js").Agent} agent */
  open(agent) {
    if (this.agent === agent) return;
    this.reading.abort();
    this.reading = new AbortController();
    this.agent = agent;
    this.entries.clear();
    this.next = "";
    this.draw();
    this.load("");
  }

  /** What has changed since. What was said is asked for only where a conversation is new here. */
  async renew() {
    const { agent } = this;
    const { signal } = this.reading;
    if (!agent) return;
    try {
      const { tasks } = await listTasks(agent, { pageSize: 10, historyLength: 0 }, signal);
      const fresh = new Set(tasks.map(({ contextId }) => contextId).filter((context) => !this.entries.has(context)));
      for (const contextId of fresh) this.take((await listTasks(agent, { contextId, pageSize: 10 }, signal)).tasks);
      this.take(tasks);
    } catch {
      // The list stays as it was; it is asked for again when something happens.
    }
  }

  /** @param {string} page the token of the page to begin with */
  async load(page) {
    const { agent } = this;
    const { signal } = this.reading;
    if (!agent) return;
    this.more.disabled = true;
    const wanted = this.entries.size + entriesWanted;
    try {
      for (let pages = 0; pages < pagesMost; ++pages) {
        const { tasks, nextPageToken } = await listTasks(agent, { pageSize, ...(page ? { pageToken: page } : {}) }, signal);
        if (signal.aborted) return;
        this.next = page = nextPageToken ?? "";
        this.take(tasks);
        if (!page || this.entries.size >= wanted) break;
      }
      this.problem.tell("");
    } catch (error) {
      if (!isAbort(error) && !signal.aborted) this.problem.tell(told(error), () => this.load(page));
    }
    this.more.disabled = false;
    this.more.hidden = this.next === "";
  }

  /** @param {import("./chat-api.js").Task[]} tasks */
  take(tasks) {
    for (const task of tasks) {
      const first = task.history?.find(({ role }) => role === "ROLE_USER");
      this.note(task.contextId, stateName(task.status.state), task.status.timestamp ?? "", titleOf(first));
    }
    this.draw();
  }

  /**
   * @param {string} context
   * @param {string} state
   * @param {string} at when the task entered the state
   * @param {string} title what it is called, if the task is the oldest known one
   */
  note(context, state, at, title) {
    const entry = this.entries.get(context) ?? { context, title, state, at, oldest: at };
    if (at >= entry.at) Object.assign(entry, { state, at });
    if (title && (at < entry.oldest || !entry.title)) Object.assign(entry, { title, oldest: at });
    this.entries.set(context, entry);
  }

  /** @param {string} context the conversation that is open */
  select(context) {
    this.current = context;
    this.draw();
  }

  /** @param {string} context */
  titleOf(context) {
    return this.entries.get(context)?.title ?? "";
  }

  draw() {
    const { agent } = this;
    const sorted = [...this.entries.values()].sort((one, other) => (one.at < other.at ? 1 : -1));
    const shown = sorted.map((entry) => ({ ...entry, isCurrent: entry.context === this.current }));
    keyed(this.rows, shown, ({ context }) => context, ({ context, title, state, at, isCurrent }) => {
      const mark = state === "completed" ? null : stateMark(state, stateWords[state]);
      const about = h("span", { class: "about" }, mark, when(at));
      const link = h(
        "a",
        { href: this.addressOf(agent?.name ?? "", context), "aria-current": isCurrent ? "true" : undefined },
        h("span", { class: "title", dir: "auto" }, title || "Conversation"),
        about,
      );
      return h("li", null, link);
    });
    this.rows.hidden = shown.length === 0;
    this.dispatchEvent(new Event("changed"));
  }
}
