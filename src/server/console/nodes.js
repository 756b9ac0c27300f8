// Nodes: the programs that share the database, the differences between their agents, and draining a node.
import { nodes, post } from "./api.js";
import { number, state } from "./bits.js";
import { confirmed, toast } from "./dialog.js";
import { fill, h, keyed } from "./dom.js";
import { mayAct, Page } from "./page.js";
import { short, when } from "./when.js";

/** @typedef {import("./api.js").NodeRow} NodeRow */
/** @typedef {import("./api.js").NodeDifference} NodeDifference */

/** @param {string[]} keys */
function onNodes(keys) {
  return `${keys.length === 1 ? "node" : "nodes"} ${keys.join(", ")}`;
}

/** @param {NodeDifference} difference */
function differenceRow({ agent, missing, cards }) {
  const others = cards.length > 1 ? cards.map((card) => `${card.digest.slice(0, 8)} on ${onNodes(card.nodes)}`) : [];
  return h(
    "li",
    null,
    h("b", null, agent),
    missing.length > 0 ? ` is not on ${onNodes(missing)}.` : null,
    others.length > 0 ? ` has other cards: ${others.join("; ")}.` : null,
  );
}

class Nodes extends Page {
  constructor() {
    super();
    this.list = h("ol", { class: "cards grid", "aria-label": "Nodes" });
    this.differences = h("section", { hidden: true });
    this.serving = 0;
  }

  connectedCallback() {
    fill(this, this.heading("Nodes"), this.problem, this.differences, this.list);
    this.every(2000, () => this.refresh());
  }

  async refresh() {
    const { nodes: rows, differences } = await nodes(this.signal);
    this.serving = rows.filter((row) => row.state === "serving").length;
    const differing = differences.map(({ agent }) => agent);
    keyed(
      this.list,
      rows.map((row) => ({ ...row, differing })),
      ({ key }) => key,
      (row) => this.card(row),
    );
    this.differences.hidden = differences.length === 0;
    fill(
      this.differences,
      h("h2", null, "Agents that differ"),
      h("ul", { class: "panel" }, ...differences.map(differenceRow)),
    );
  }

  /** @param {NodeRow & {differing: string[]}} row */
  card(row) {
    /** @type {[string, import("./dom.js").Child][]} */
    const figures = [
      ["Running", number(row.running)],
      ["Queued", number(row.queued)],
      ["Lag", row.lagMs === 0 ? "–" : short(row.lagMs / 1000)],
      ["Database", row.databaseMs === undefined ? "–" : `${row.databaseMs.toFixed(1)} ms`],
      ["Lease left", row.leaseMs === undefined ? "–" : short(row.leaseMs / 1000)],
      ["Started", when(row.startedAt)],
      ["Version", row.version],
    ];
    return h(
      "li",
      { class: "card", "data-row": "" },
      h(
        "div",
        { class: "card-head" },
        h("b", null, `Node ${row.key}`),
        h("span", { class: "faint" }, row.name),
        state(row.state),
        row.self ? h("span", { class: "mark", title: "Serves this page" }, "answers") : null,
        row.leads ? h("span", { class: "mark", title: "Webhooks, retention" }, "leads") : null,
      ),
      h(
        "dl",
        { class: "figures" },
        ...figures.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))),
      ),
      h(
        "p",
        null,
        "Agents: ",
        ...row.agents.flatMap(({ name, digest }, place) => [
          place > 0 ? ", " : null,
          h("span", { title: `Card ${digest}` }, name),
          row.differing.includes(name) ? h("span", { class: "mark" }, digest.slice(0, 8)) : null,
        ]),
      ),
      mayAct() && row.state !== "draining" ? this.actions(row) : null,
    );
  }

  /** @param {NodeRow} row */
  actions(row) {
    const drain = h("button", { type: "button" }, "Drain…");
    drain.addEventListener("click", () => this.drain(row));
    return h("div", { class: "buttons" }, drain);
  }

  /** @param {NodeRow} row */
  async drain(row) {
    const isLast = row.state === "serving" && this.serving === 1;
    const words =
      "The node starts no more turns and stops. Running turns have their grace time to finish; the other nodes take over the rest." +
      (isLast ? " It is the only node that is serving: after it stops, no node accepts requests." : "");
    const act = (/** @type {string} */ reason) => post(`/nodes/${encodeURIComponent(row.key)}/drain`, { reason });
    if (!(await confirmed({ title: `Drain node ${row.key}`, words, verb: "Drain", danger: isLast, act }))) return;
    toast(`Node ${row.key} drains.`);
    this.attempt(() => this.refresh());
  }
}
customElements.define("baton-nodes", Nodes);
