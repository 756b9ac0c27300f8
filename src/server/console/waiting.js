// Tasks that need input, longest first; they can be answered here.
import { task, tasks } from "./api.js";
import { question } from "./answer.js";
import { agentLink, askingQuery, counted, nothing, state, taskLink } from "./bits.js";
import { fill, h, keyed, say } from "./dom.js";
import { mayAct, Page, told } from "./page.js";
import { when } from "./when.js";

class Waiting extends Page {
  constructor() {
    super();
    this.list = h("ol", { class: "cards", "aria-label": "Questions" });
    this.empty = nothing("No tasks need input.");
    this.count = h("span", { class: "faint" });
    this.more = h("button", { type: "button", hidden: true }, "More");
    /** @type {import("./api.js").TaskRow[]} */
    this.further = [];
    this.next = "";
  }

  connectedCallback() {
    this.empty.hidden = true;
    fill(this, this.heading("Needs input", this.count), this.problem, this.list, this.empty, this.more);
    this.more.addEventListener("click", () => this.attempt(() => this.another()));
    this.every(3000, () => this.refresh());
  }

  async refresh() {
    const page = await tasks(askingQuery, this.signal);
    if (this.further.length === 0) this.next = page.next ?? "";
    keyed(
      this.list,
      [...page.tasks, ...this.further],
      ({ key }) => key,
      (row) => this.card(row),
    );
    say(this.count, counted(page.count));
    this.empty.hidden = page.tasks.length > 0;
    this.more.hidden = this.next === "";
  }

  async another() {
    const page = await tasks({ ...askingQuery, cursor: this.next }, this.signal);
    this.further.push(...page.tasks);
    this.next = page.next ?? "";
    await this.refresh();
  }

  /** @param {import("./api.js").TaskRow} row */
  card(row) {
    const inside = h("div", { class: "inside" });
    const box = h(
      "details",
      null,
      h(
        "summary",
        null,
        h("span", { class: "asked", dir: "auto" }, row.text || "(no text)"),
        mayAct() ? h("span", { class: "verb" }, "Answer") : null,
      ),
      inside,
    );
    box.addEventListener("toggle", () => {
      if (box.open && inside.childElementCount === 0) this.load(row, inside);
    });
    return h(
      "li",
      { class: "card", "data-row": "" },
      h(
        "div",
        { class: "card-head" },
        taskLink(row.key, `task ${row.key}`),
        state(row.state),
        agentLink(row.agent),
        h("span", null, row.caller),
        row.parent ? h("span", null, "child of ", taskLink(row.parent)) : null,
        h("span", { class: "c-when" }, when(row.statusAt)),
      ),
      box,
    );
  }

  /**
   * @param {import("./api.js").TaskRow} row
   * @param {HTMLElement} inside
   */
  async load(row, inside) {
    try {
      const view = await task(row.key, this.signal);
      fill(
        inside,
        question(view, mayAct(), () => this.attempt(() => this.refresh()), row.text),
      );
    } catch (error) {
      fill(inside, h("p", { class: "problem", role: "alert" }, told(error)));
    }
  }
}
customElements.define("baton-waiting", Waiting);
