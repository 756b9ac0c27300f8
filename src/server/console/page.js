// Common parts of all pages: their end, refreshing, errors.
import { ApiError } from "./api.js";
import { h, say } from "./dom.js";
import { route } from "./router.js";

/** @type {{actor: string, role: string, version: string, nodes?: boolean}} */
export const session = { actor: "", role: "", version: "" };

export const mayAct = () => session.role === "operator";

/** A page: lives while its element is in the document. */
export class Page extends HTMLElement {
  constructor() {
    super();
    this.ended = new AbortController();
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.round = 0;
  }

  get signal() {
    return this.ended.signal;
  }

  get route() {
    return route();
  }

  disconnectedCallback() {
    this.ended.abort();
    clearTimeout(this.timer);
  }

  /**
   * A page's head: its title, the elements beside it, and the place for errors.
   * @param {string | HTMLElement} title
   * @param {...import("./dom.js").Child} beside
   */
  heading(title, ...beside) {
    document.title = `${typeof title === "string" ? title : title.textContent} · Baton`;
    return h("header", { class: "head" }, h("h1", null, title), h("div", { class: "beside" }, ...beside));
  }

  /**
   * Runs `work` and shows its error, or removes an earlier error.
   * @param {() => Promise<unknown>} work
   */
  async attempt(work) {
    try {
      await work();
      this.tell("");
    } catch (error) {
      if (this.signal.aborted || /** @type {Error} */ (error).name === "AbortError") return;
      this.tell(told(error));
    }
  }

  /** @param {string} text */
  tell(text) {
    say(this.problem, text);
    this.problem.hidden = text === "";
  }

  /**
   * Runs `work` now, and again after each pause while the page can be seen.
   * @param {number} ms
   * @param {() => Promise<unknown>} work
   */
  every(ms, work) {
    clearTimeout(this.timer);
    const round = ++this.round;
    let isFirst = true;
    const next = async () => {
      if (isFirst || !document.hidden) await this.attempt(work);
      isFirst = false;
      if (!this.signal.aborted && round === this.round) this.timer = setTimeout(next, ms);
    };
    return next();
  }

  /** Ends the refreshing, because the page will not change any more. */
  settle() {
    clearTimeout(this.timer);
    this.round++;
  }
}

/** @param {unknown} error */
export function told(error) {
  if (error instanceof ApiError) {
    if (error.status === 403) return "Not allowed with this token.";
    return error.message;
  }
  return String(error);
}
