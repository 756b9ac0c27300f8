// Where a part of the chat page tells what went wrong, with a way to try it again.
import { fill, h } from "./dom.js";

export class Problem {
  /** @param {string} [role] */
  constructor(role) {
    this.element = h("div", { class: "problem", role, hidden: true });
  }

  /**
   * Tells it; an empty text says that all is well again.
   * @param {string} text
   * @param {() => unknown} [retry]
   */
  tell(text, retry) {
    this.element.hidden = text === "";
    const again = retry && h("button", { type: "button" }, "Try again");
    again?.addEventListener("click", () => {
      this.tell("");
      retry?.();
    });
    fill(this.element, h("span", { dir: "auto" }, text), again);
  }
}
