// The newest bulk jobs.
import { bulkJobs } from "./api.js";
import { nothing, number, state } from "./bits.js";
import { fill, h, keyed } from "./dom.js";
import { Page } from "./page.js";
import { url } from "./router.js";
import { when } from "./when.js";

/** @param {import("./api.js").BulkJob} job */
function line(job) {
  return h(
    "li",
    { class: "row job", "data-row": "" },
    h("a", { class: "key", href: url(`bulk/${job.job}`) }, job.job),
    h("span", { class: "c-state" }, state(job.state)),
    h("span", { class: "c-agent" }, job.action),
    h("span", { class: "c-caller" }, job.actor),
    h("span", { class: "c-text", dir: "auto" }, job.reason),
    h("span", { class: "c-marks" }, h("span", { class: "mark" }, `${number(job.done)} of ${number(job.tasks)}`)),
    h("span", { class: "c-when" }, when(job.createdAt)),
  );
}

class Jobs extends Page {
  constructor() {
    super();
    this.list = h("ol", { class: "rows", "aria-label": "Jobs" });
    this.empty = nothing("No bulk jobs yet.");
  }

  connectedCallback() {
    this.empty.hidden = true;
    fill(this, this.heading("Bulk jobs"), this.problem, this.list, this.empty);
    this.every(3000, async () => {
      const { jobs } = await bulkJobs(this.signal);
      keyed(this.list, jobs, ({ job }) => job, line);
      this.empty.hidden = jobs.length > 0;
    });
  }
}
customElements.define("baton-jobs", Jobs);
