// Agents: their state and work; pausing, resuming and scaling them.
import { agents, post } from "./api.js";
import { nothing, number, state } from "./bits.js";
import { words } from "./content.js";
import { confirmed, toast } from "./dialog.js";
import { fill, h, keyed } from "./dom.js";
import { mayAct, Page } from "./page.js";
import { url } from "./router.js";
import { short } from "./when.js";

/** @typedef {import("./api.js").AgentRow} AgentRow */

/** @param {number | undefined} rate */
function percent(rate) {
  return rate === undefined ? "–" : `${(rate * 100).toFixed(rate < 0.1 ? 1 : 0)} %`;
}

/**
 * @param {string} title
 * @param {import("./api.js").CardReport[]} all
 */
function reports(title, all) {
  if (all.length === 0) return [];
  const one = (/** @type {import("./api.js").CardReport} */ { folder, report }) =>
    h("div", { class: "panel" }, h("b", null, folder), words(report, "code"));
  return [h("h2", null, title), ...all.map(one)];
}

class Agents extends Page {
  constructor() {
    super();
    this.list = h("ol", { class: "cards grid", "aria-label": "Agents" });
    this.wrong = h("section", { hidden: true });
    this.empty = nothing("No agents yet.");
    /** @type {Set<string>} */
    this.opened = new Set();
  }

  connectedCallback() {
    this.empty.hidden = true;
    fill(this, this.heading("Agents"), this.problem, this.list, this.empty, this.wrong);
    this.every(2000, () => this.refresh());
  }

  async refresh() {
    const { agents: rows, leftOut, outdated } = await agents(this.signal);
    keyed(
      this.list,
      rows,
      ({ name }) => name,
      (row) => this.card(row),
    );
    this.empty.hidden = rows.length > 0;
    this.wrong.hidden = leftOut.length + outdated.length === 0;
    fill(
      this.wrong,
      ...reports("Left out", leftOut),
      ...reports("Running with an earlier card because the current one is invalid. They are left out at the next start", outdated),
    );
  }

  /** @param {AgentRow} row */
  card(row) {
    const { ended, turnSeconds: turns } = row;
    const figures = [
      [
        "Running",
        `${number(row.running)} of ${number(row.concurrency)}`,
        url("tasks", { agent: row.name, turn: "running" }),
      ],
      ["Queued", number(row.queued), url("tasks", { agent: row.name, turn: "queued", order: "oldest" })],
      ["Completed", number(ended.completed), url("tasks", { agent: row.name, state: "completed" })],
      ["Failed", number(ended.failed + ended.rejected), url("tasks", { agent: row.name, state: "failed,rejected" })],
      ["Error rate", percent(row.errorRate), ""],
      ["p50", turns ? short(turns.p50) : "–", ""],
      ["p99", turns ? short(turns.p99) : "–", ""],
      ["Tokens", number(row.tokens), ""],
      ...(row.workers === undefined ? [] : [["Workers", number(row.workers), ""]]),
    ];
    return h(
      "li",
      { class: "card agent", "data-row": "" },
      h(
        "div",
        { class: "card-head" },
        h("a", { class: "key", href: url("tasks", { agent: row.name }) }, row.name),
        row.title === row.name ? null : h("span", { class: "faint" }, row.title),
        h("span", { class: "mark" }, row.kind),
        row.default ? h("span", { class: "mark" }, "default") : null,
        row.paused ? state("paused") : null,
        row.scaled ? h("span", { class: "mark" }, "scaled") : null,
        row.hasPlan ? h("a", { href: url(`plans/${row.name}`) }, "plan") : null,
      ),
      h(
        "dl",
        { class: "figures" },
        ...figures.map(([name, value, href]) =>
          h("div", null, h("dt", null, name), h("dd", null, href ? h("a", { href }, value) : value)),
        ),
      ),
      this.stderr(row),
      mayAct() ? this.actions(row) : null,
    );
  }

  /** @param {AgentRow} row */
  stderr(row) {
    if (row.stderr.length === 0) return null;
    const box = h(
      "details",
      { open: this.opened.has(row.name) },
      h("summary", null, "Last lines of its standard error"),
      h("div", { class: "code" }, row.stderr.join("\n")),
    );
    box.addEventListener("toggle", () => (box.open ? this.opened.add(row.name) : this.opened.delete(row.name)));
    return box;
  }

  /** @param {AgentRow} row */
  actions(row) {
    const action = row.paused ? "resume" : "pause";
    const pause = h("button", { type: "button" }, row.paused ? "Resume…" : "Pause…");
    pause.addEventListener("click", () =>
      this.act(
        row,
        action,
        row.paused
          ? "Queued turns continue."
          : "Running turns finish; new ones wait in the queue. The agent stays paused after a restart.",
      ),
    );
    const scale = h("button", { type: "button" }, "Scale…");
    scale.addEventListener("click", () => this.scale(row));
    return h("div", { class: "buttons" }, pause, scale);
  }

  /** @param {AgentRow} row */
  async scale(row) {
    /** @type {Record<string, HTMLInputElement>} */
    const inputs = {};
    const field = (/** @type {string} */ name, /** @type {string} */ label, /** @type {number} */ value) => {
      const input = h("input", { type: "number", min: 0, id: `scale-${name}`, value: String(value), required: true });
      inputs[name] = input;
      return [h("label", { for: input.id }, label), input];
    };
    const more = [
      ...(row.workers === undefined ? [] : field("workers", "Processes", row.workers)),
      ...field("concurrency", "Concurrent turns", row.concurrency),
    ];
    const act = (/** @type {string} */ reason) => {
      const wanted = Object.entries(inputs).map(([name, input]) => [name, Number(input.value)]);
      return post(`/agents/${encodeURIComponent(row.name)}/scale`, { ...Object.fromEntries(wanted), reason });
    };
    const about = "0: as in its card. Running turns finish first. The setting survives a restart.";
    if (!(await confirmed({ title: `Scale ${row.name}`, words: about, verb: "Scale", more, act }))) return;
    toast(`${row.name} is scaled.`);
    this.attempt(() => this.refresh());
  }

  /**
   * @param {AgentRow} row
   * @param {string} action
   * @param {string} about
   */
  async act(row, action, about) {
    const verb = action[0].toUpperCase() + action.slice(1);
    const act = (/** @type {string} */ reason) => post(`/agents/${encodeURIComponent(row.name)}/${action}`, { reason });
    if (!(await confirmed({ title: `${verb} ${row.name}`, words: about, verb, act }))) return;
    toast(`${row.name}: ${action} was accepted.`);
    this.attempt(() => this.refresh());
  }
}
customElements.define("baton-agents", Agents);
