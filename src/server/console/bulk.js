// A bulk job: how far it is, and what became of each task.
import { bulk } from "./api.js";
import { detailOf, facts, number, state, taskLink } from "./bits.js";
import { fill, h, keyed } from "./dom.js";
import { Page } from "./page.js";
import { when } from "./when.js";

/** @param {string} name */
const isOver = (name) => name === "done" || name === "abandoned";

/**
 * @param {import("./api.js").Bulk["items"][number]} item
 * @param {string} action
 */
function result({ task, outcome, detail }, action) {
  return h(
    "li",
    { class: "row plain", "data-row": "" },
    taskLink(task),
    h("span", { class: outcome === "done" ? "good" : outcome ? "bad" : "faint" }, outcome ?? "not yet"),
    detail ? h("span", { class: "faint" }, detailOf(action, detail)) : null,
  );
}

/** @param {Record<string, unknown> | undefined} filter */
function describe(filter = {}) {
  const words = Object.entries(filter).map(([name, value]) => `${name}: ${value}`);
  return words.length > 0 ? words.join(", ") : "none";
}

class BulkJob extends Page {
  constructor() {
    super();
    this.facts = h("div");
    this.progress = h("progress", { max: 1, value: 0, "aria-label": "Progress" });
    this.list = h("ol", { class: "rows", "aria-label": "Results" });
    this.more = h("button", { type: "button", hidden: true }, "More");
    /** @type {import("./api.js").Bulk["items"]} */
    this.items = [];
    this.next = "";
  }

  connectedCallback() {
    const [job] = this.route.rest;
    fill(
      this,
      this.heading(`Job ${job}`),
      this.problem,
      this.facts,
      this.progress,
      h("h2", null, "Results"),
      this.list,
      this.more,
    );
    this.more.addEventListener("click", () => this.attempt(() => this.page(this.next)));
    this.every(1000, async () => {
      const isDone = await this.page("");
      if (isDone) this.settle();
    });
  }

  /** @param {string} cursor @returns whether the job is over */
  async page(cursor) {
    const one = await bulk(this.route.rest[0], { limit: 200, cursor }, this.signal);
    const known = new Map(this.items.map((item) => [item.task, item]));
    for (const item of one.items) known.set(item.task, item);
    this.items = [...known.values()];
    if (cursor !== "" || this.next === "") this.next = one.next ?? "";
    this.show(one);
    return isOver(one.state);
  }

  /** @param {import("./api.js").Bulk} job */
  show(job) {
    fill(
      this.facts,
      facts([
        ["Action", job.action],
        ["Filter", describe(job.filter)],
        ["State", state(job.state)],
        ["By", job.actor],
        ["Reason", job.reason],
        ["Begun", when(job.createdAt)],
        ["Done", `${number(job.done)} of ${number(job.tasks)}`],
        ["Refused", number(job.refused)],
      ]),
    );
    this.progress.max = Math.max(1, job.tasks);
    this.progress.value = job.done + job.refused;
    keyed(
      this.list,
      this.items,
      ({ task }) => task,
      (item) => result(item, job.action),
    );
    this.more.hidden = this.next === "";
  }
}
customElements.define("baton-bulk", BulkJob);
