// Who did what, and why.
import { audit } from "./api.js";
import { detailOf, nothing, taskLink } from "./bits.js";
import { fill, h, keyed } from "./dom.js";
import { Page } from "./page.js";
import { go, url } from "./router.js";
import { when } from "./when.js";

const names = /** @type {const} */ (["actor", "action", "task"]);

/** @param {import("./api.js").AuditRow} row */
function line(row) {
  const on = row.task ? taskLink(row.task, `task ${row.task}`) : (row.agent ?? row.caller ?? "");
  return h(
    "li",
    { class: "row audit", "data-row": "" },
    h("span", { class: "c-when" }, when(row.at)),
    h("span", { class: "c-agent" }, h("a", { href: url("audit", { actor: row.actor }) }, row.actor)),
    h("span", { class: "c-state" }, h("a", { href: url("audit", { action: row.action }) }, row.action)),
    h("span", { class: "c-key" }, on),
    h("span", { class: "c-text", dir: "auto" }, row.reason ?? ""),
    h(
      "span",
      { class: "c-marks" },
      row.detail ? h("span", { class: "mark" }, detailOf(row.action, row.detail)) : null,
      h("span", { class: row.outcome === "done" ? "mark good" : "mark bad" }, row.outcome),
    ),
  );
}

class Audit extends Page {
  constructor() {
    super();
    this.form = h("form", { class: "filters", role: "search" });
    this.list = h("ol", { class: "rows", "aria-label": "Audit" });
    this.empty = nothing("No matching actions.");
    this.more = h("button", { type: "button", hidden: true }, "More");
    /** @type {import("./api.js").AuditRow[]} */
    this.rows = [];
    this.next = "";
  }

  connectedCallback() {
    this.empty.hidden = true;
    fill(this, this.heading("Audit"), this.form, this.problem, this.list, this.empty, this.more);
    this.more.addEventListener("click", () => this.attempt(() => this.another()));
    this.form.addEventListener("change", () => this.filter());
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.filter();
    });
    this.routed();
  }

  routed() {
    const { query } = this.route;
    fill(
      this.form,
      ...names.map((name, at) =>
        h(
          "label",
          null,
          h("span", null, name[0].toUpperCase() + name.slice(1)),
          h("input", { name, value: query.get(name) ?? "", ...(at === 0 ? { "data-find": "" } : {}) }),
        ),
      ),
    );
    this.rows = [];
    this.next = "";
    this.every(4000, () => this.refresh());
  }

  filter() {
    const query = Object.fromEntries([...new FormData(this.form)].map(([name, value]) => [name, String(value).trim()]));
    const to = url("audit", query);
    if (to !== location.pathname + location.search) go(to);
  }

  get query() {
    return Object.fromEntries(this.route.query);
  }

  async refresh() {
    const page = await audit(this.query, this.signal);
    const known = new Set(page.rows.map(({ key }) => key));
    const older = this.rows.filter(({ key }) => !known.has(key));
    if (this.rows.length === 0) this.next = page.next ?? "";
    this.rows = [...page.rows, ...older];
    this.show();
  }

  async another() {
    const page = await audit({ ...this.query, cursor: this.next }, this.signal);
    this.rows.push(...page.rows);
    this.next = page.next ?? "";
    this.show();
  }

  show() {
    keyed(this.list, this.rows, ({ key }) => key, line);
    this.empty.hidden = this.rows.length > 0;
    this.more.hidden = this.next === "";
  }
}
customElements.define("baton-audit", Audit);
