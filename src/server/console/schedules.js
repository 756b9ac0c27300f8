// Schedules of agents' cards: their next due times, and the results of their last tasks.
import { schedules } from "./api.js";
import { agentLink, nothing, state, taskLink } from "./bits.js";
import { fill, h, keyed } from "./dom.js";
import { Page } from "./page.js";
import { url } from "./router.js";
import { when } from "./when.js";

/** @param {import("./api.js").ScheduleRow} row */
function line(row) {
  const last = row.lastTask;
  return h(
    "li",
    { class: "row schedule", "data-row": "" },
    h("span", { class: "c-key" }, h("a", { class: "key", href: url("tasks", { schedule: row.id }) }, row.id)),
    h("span", { class: "c-agent" }, agentLink(row.agent), row.caller ? ` for ${row.caller}` : ""),
    h("span", { class: "c-text", dir: "auto" }, row.text),
    h(
      "span",
      { class: "c-marks" },
      h("span", { class: "mark" }, `${row.cron} ${row.timezone}`),
      h("span", { class: "mark" }, "next ", row.nextAt ? when(row.nextAt) : "never"),
      h("span", { class: "mark" }, `missed: ${row.missed}`),
    ),
    h(
      "span",
      { class: "c-when" },
      last ? h("span", null, state(last.state), " ", taskLink(last.key), " ", when(last.statusAt)) : "not run yet",
    ),
  );
}

class Schedules extends Page {
  constructor() {
    super();
    this.list = h("ol", { class: "rows", "aria-label": "Schedules" });
    this.empty = nothing("No agent's card has a schedule.");
  }

  connectedCallback() {
    this.empty.hidden = true;
    fill(this, this.heading("Schedules"), this.problem, this.list, this.empty);
    this.every(5000, async () => {
      const { schedules: rows } = await schedules(this.signal);
      keyed(this.list, rows, ({ id, agent }) => `${agent} ${id}`, line);
      this.empty.hidden = rows.length > 0;
    });
  }
}
customElements.define("baton-schedules", Schedules);
