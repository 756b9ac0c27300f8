// The conversations with an agent, the newest first, as the server lists them.
import { deleteConversation, isAbort, listConversations, renameConversation, told } from "./chat-api.js";
import { Problem } from "./chat-problem.js";
import { fieldFor, isDeleted, linkTo } from "./chat-row.js";
import { h, keyed } from "./dom.js";

/** @typedef {import("./chat-api.js").Conversation} Conversation */

const pageSize = "25";
// The server reads a limited number of tasks for a page, so a page may be empty if a conversation has very many.
const emptyPagesMost = 10;
const pauseMs = 1000;

/** Events: `changed` when a conversation has news, `gone` when the open one was deleted. */
export class Conversations extends EventTarget {
  /** @param {(agent: string, context: string) => string} addressOf */
  constructor(addressOf) {
    super();
    this.addressOf = addressOf;
    this.rows = h("ol", { class: "conversations" });
    this.more = h("button", { type: "button", hidden: true }, "Older conversations");
    this.problem = new Problem("alert");
    this.element = h("div", { class: "list" }, this.problem.element, this.rows, this.more);
    /** @type {Map<string, Conversation>} */
    this.entries = new Map();
    /** @type {import("./chat-api.js").Agent | null} */
    this.agent = null;
    this.current = "";
    /** The open conversation's state, which this page knows before the list. */
    this.now = "";
    this.renamed = "";
    this.next = "";
    this.asked = 0; // number of requests for changes
    this.timer = 0;
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
    this.next = this.renamed = "";
    this.draw();
    this.load("");
  }

  /** Fetches the changes since the last request. */
  async renew() {
    const { agent } = this;
    const { signal } = this.reading;
    if (!agent) return;
    const asked = ++this.asked;
    try {
      const { conversations, nextPageToken } = await listConversations(agent, { pageSize }, signal);
      // Ignore an answer if a later request was made: its list may be older.
      if (asked !== this.asked) return;
      const there = new Set(conversations.map(({ id }) => id));
      const oldest = nextPageToken ? (conversations.at(-1)?.updatedAt ?? "") : "";
      // A known conversation that is missing in its place on the page was deleted elsewhere.
      const isGone = (/** @type {Conversation} */ { id, updatedAt }) => !there.has(id) && updatedAt > oldest;
      for (const entry of [...this.entries.values()]) if (isGone(entry)) this.entries.delete(entry.id);
      this.take(conversations);
    } catch {
      // Keep the list; it is requested again at the next event.
    }
    this.watch();
  }

  /** Asks again soon while another conversation has work under way, of which this page hears nothing else. */
  watch() {
    clearTimeout(this.timer);
    if (document.hidden) return;
    const listed = this.sorted().slice(0, Number(pageSize));
    if (!listed.some(({ id, state }) => id !== this.current && /^(submitted|working)$/.test(state))) return;
    this.timer = setTimeout(() => this.renew(), pauseMs);
  }

  /** @param {string} page the token of the page to begin with */
  async load(page) {
    const { agent } = this;
    const { signal } = this.reading;
    if (!agent) return;
    this.more.disabled = true;
    try {
      for (let pages = 0; pages < emptyPagesMost; ++pages) {
        const wanted = { pageSize, ...(page ? { pageToken: page } : {}) };
        const { conversations, nextPageToken } = await listConversations(agent, wanted, signal);
        if (signal.aborted) return;
        this.next = page = nextPageToken ?? "";
        this.take(conversations);
        if (!page || conversations.length > 0) break;
      }
      this.problem.tell("");
    } catch (error) {
      if (!isAbort(error) && !signal.aborted) this.problem.tell(told(error), () => this.load(page));
    }
    this.more.disabled = false;
    this.more.hidden = this.next === "";
  }

  /** @param {Conversation[]} conversations */
  take(conversations) {
    for (const one of conversations) this.entries.set(one.id, one);
    this.draw();
  }

  /** @param {string} context the conversation that is open */
  select(context) {
    this.current = context;
    this.now = "";
    this.draw();
  }

  /** @param {string} state of the open conversation */
  note(state) {
    if (this.now === state) return;
    this.now = state;
    this.draw();
  }

  /** @param {string} context */
  titleOf(context) {
    return this.entries.get(context)?.title ?? "";
  }

  /** @param {string} id of the conversation whose title is being changed; empty: none */
  edit(id) {
    const before = this.renamed;
    this.renamed = id;
    this.draw();
    const field = this.rows.querySelector("input");
    field?.select();
    if (!id) this.focus(before, ".rename");
  }

  /**
   * @param {string} id
   * @param {string | null} title
   */
  async rename(id, title) {
    const { agent } = this;
    if (!agent) return;
    const renamed = await renameConversation(agent, id, title);
    if (agent !== this.agent) return;
    this.entries.set(id, renamed);
    this.edit("");
  }

  /** @param {string} id */
  async remove(id) {
    const { agent } = this;
    if (!agent || !(await isDeleted(this.titleOf(id), () => deleteConversation(agent, id)))) return;
    if (agent !== this.agent) return;
    const order = this.sorted().map((one) => one.id);
    const place = order.indexOf(id);
    this.entries.delete(id);
    this.draw();
    this.focus(order[place + 1] ?? order[place - 1] ?? "", "a");
    if (id === this.current) this.dispatchEvent(new Event("gone"));
  }

  /**
   * @param {string} id
   * @param {string} what a selector within its row
   */
  focus(id, what) {
    const place = this.sorted().findIndex((one) => one.id === id);
    /** @type {HTMLElement | null | undefined} */ (this.rows.children[place]?.querySelector(what))?.focus();
  }

  sorted() {
    return [...this.entries.values()].sort((one, other) => (one.updatedAt < other.updatedAt ? 1 : -1));
  }

  draw() {
    const shown = this.sorted().map(({ id, title, state, updatedAt }) => {
      // An open field must not change while the list is redrawn.
      if (id === this.renamed) return { id, title: "", state: "", at: "", isCurrent: false, isRenamed: true };
      const isCurrent = id === this.current;
      return { id, title, state: (isCurrent && this.now) || state, at: updatedAt, isCurrent, isRenamed: false };
    });
    keyed(this.rows, shown, ({ id }) => id, (row) => this.row(row));
    this.rows.hidden = shown.length === 0;
    this.watch();
    this.dispatchEvent(new Event("changed"));
  }

  /** @param {import("./chat-row.js").Row} row */
  row(row) {
    const { id } = row;
    if (row.isRenamed) {
      const acts = {
        keep: (/** @type {string | null} */ title) => this.rename(id, title),
        leave: () => this.edit(""),
      };
      return fieldFor({ ...row, title: this.titleOf(id) }, acts);
    }
    return linkTo(row, this.addressOf(this.agent?.name ?? "", id), {
      rename: () => this.edit(id),
      remove: () => this.remove(id),
    });
  }
}
