// A bulk job: its progress, and the result of each task.
import { bulk, post } from "./api.js";
import { detailOf, facts, number, state, taskLink } from "./bits.js";
import { fill, h, keyed } from "./dom.js";
import { mayAct, Page } from "./page.js";
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
    this.ask = h("section", { class: "panel asks", hidden: true });
    this.asked = "";
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
      this.ask,
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

  // Once the tasks are counted, the operator confirms their number here.
  /** @param {import("./api.js").Bulk} job */
  confirm(job) {
    const asked = mayAct() && (job.state === "counted" || job.state === "preparing") ? `${job.state} ${job.tasks}` : "";
    this.ask.hidden = asked === "";
    if (asked === this.asked) return;
    this.asked = asked;
    const tasks = `${number(job.tasks)} ${job.tasks === 1 ? "task" : "tasks"}`;
    /** @type {(name: string, kind: string, act: () => Promise<unknown>) => HTMLElement} */
    const button = (name, kind, act) => {
      const made = h("button", { type: "button", class: kind }, name);
      made.addEventListener("click", () =>
        this.attempt(async () => {
          made.disabled = true;
          try {
            await act();
          } finally {
            made.disabled = false;
          }
          await this.page("");
        }),
      );
      return made;
    };
    const leave = button("Abandon", "", () => post(`/bulk/${job.job}/abandon`, {}));
    const doIt = button(`${job.action} ${tasks}`, "danger", () =>
      post(`/bulk/${job.job}/confirm`, { expected: job.tasks }),
    );
    const counting = `The tasks are being counted: ${number(job.tasks)} so far.`;
    fill(
      this.ask,
      h("p", { "aria-live": "polite" }, job.state === "counted" ? `The filter found ${tasks}.` : counting),
      h("div", { class: "buttons" }, leave, job.state === "counted" ? doIt : null),
    );
  }

  /** @param {import("./api.js").Bulk} job */
  show(job) {
    this.confirm(job);
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
