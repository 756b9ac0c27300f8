// A place in the chat page for an error, with a button to try again.
import { fill, h } from "./dom.js";

export class Problem {
  /** @param {string} [role] */
  constructor(role) {
    this.element = h("div", { class: "problem", role, hidden: true });
  }

  /**
   * Shows the error; an empty text removes it.
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
