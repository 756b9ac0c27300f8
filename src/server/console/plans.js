// Plans: the picture of each, and its tasks. The page of a task has a live picture of its progress.
import { agents, tasks } from "./api.js";
import { nothing } from "./bits.js";
import { fill, h } from "./dom.js";
import { Page } from "./page.js";
import { PlanPicture } from "./plan-picture.js";
import { url } from "./router.js";
import { showTasks, taskList } from "./task-list.js";

class Plans extends Page {
  constructor() {
    super();
    this.tabs = h("div", { class: "shortcuts" });
    this.place = h("div", { class: "plan" });
    this.list = taskList("Tasks of the plan");
    this.empty = nothing("No agent runs a plan.");
    this.noTasks = nothing("No tasks of this plan yet.");
    this.tasksTitle = h("h2", { hidden: true }, "Its tasks");
    /** @type {string | undefined} */
    this.shown = undefined;
    this.picture = new PlanPicture();
  }

  connectedCallback() {
    this.empty.hidden = this.noTasks.hidden = true;
    fill(
      this,
      this.heading("Plans"),
      this.tabs,
      this.problem,
      this.empty,
      this.place,
      this.tasksTitle,
      this.list,
      this.noTasks,
    );
    this.routed();
  }

  routed() {
    this.every(2000, () => this.refresh());
  }

  async refresh() {
    const plans = (await agents(this.signal)).agents.filter(({ hasPlan, kind }) => hasPlan || kind === "plan");
    this.empty.hidden = plans.length > 0;
    const name = this.route.rest[0] ?? plans[0]?.name;
    fill(
      this.tabs,
      ...plans.map((plan) =>
        h("a", { href: url(`plans/${plan.name}`), "aria-current": plan.name === name ? "true" : undefined }, plan.name),
      ),
    );
    if (name === undefined) return;
    const page = await tasks({ agent: name, limit: 20 }, this.signal);
    this.draw(name);
    await this.picture.refresh(0);
    showTasks(this.list, page.tasks);
    this.tasksTitle.hidden = false;
    this.noTasks.hidden = page.tasks.length > 0;
  }

  /** @param {string} name */
  draw(name) {
    if (name === this.shown) return;
    this.shown = name;
    this.picture = new PlanPicture(`/agents/${encodeURIComponent(name)}/plan.svg`);
    fill(this.place, this.picture);
  }
}
customElements.define("baton-plans", Plans);
