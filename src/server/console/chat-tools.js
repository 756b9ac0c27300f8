// The tools that an agent uses in a task, with their arguments and results, collapsed.
import { data } from "./chat-data.js";
import { append, h, say } from "./dom.js";

export class Tools {
  /** @param {HTMLElement} into */
  constructor(into) {
    this.into = into;
    /** @type {Map<string, {mark: HTMLElement, place: HTMLElement, isOpen: boolean}>} */
    this.calls = new Map();
  }

  /**
   * Shows a call or its result.
   * @param {any} facts {toolCall} or {toolResult}
   * @returns {boolean} whether `facts` is a call or a result
   */
  take(facts) {
    const { toolCall, toolResult } = facts ?? {};
    if (toolCall?.id) this.begin(toolCall);
    else if (toolResult?.id) this.finish(toolResult);
    return Boolean(toolCall?.id || toolResult?.id);
  }

  /** @param {{id: string, name: string, arguments: unknown}} call */
  begin(call) {
    const mark = h("span", { class: "mark" }, "running");
    const asked = [h("div", { class: "name" }, "Asked"), data(call.arguments, "Asked")];
    const place = h("div", { class: "inside" }, ...asked);
    const head = h("summary", null, "Uses ", h("b", null, call.name), " ", mark);
    this.into.append(h("details", { class: "tool" }, head, place));
    this.calls.set(call.id, { mark, place, isOpen: true });
  }

  /** @param {{id: string, content?: unknown, error?: string}} result */
  finish({ id, content, error }) {
    const known = this.calls.get(id);
    if (!known) return;
    known.isOpen = false;
    say(known.mark, error ? "failed" : "done");
    known.mark.classList.toggle("bad", Boolean(error));
    const name = error ? "Failed" : "Answered";
    append(known.place, [h("div", { class: "name" }, name), data(error || content, name)]);
  }

  /** Call when the task has ended: no result follows. */
  end() {
    for (const call of this.calls.values()) if (call.isOpen) say(call.mark, "ended");
  }
}
