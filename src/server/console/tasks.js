// Tasks by filters, which are the URL; a page at a time by cursors; actions on all that a filter finds.
import { post, tasks } from "./api.js";
import { counted, nothing, stateName, states, stuckQuery } from "./bits.js";
import { confirmed, toast } from "./dialog.js";
import { fill, h, say } from "./dom.js";
import { mayAct, Page, told } from "./page.js";
import { go, url } from "./router.js";
import { showTasks, taskList } from "./task-list.js";
import { when } from "./when.js";

/** @type {[string, string, string][]} name in the URL, label, kind of input */
const filters = [
  ["id", "Id or key", "text"],
  ["agent", "Agent", "text"],
  ["caller", "Caller", "text"],
  ["tenant", "Tenant", "text"],
  ["context", "Context", "text"],
  ["parent", "Parent", "text"],
  ["schedule", "Schedule", "text"],
  ["error", "Words", "text"],
  ["turn", "Turn", "turn"],
  ["retried", "Retried", "retried"],
  ["age_min_s", "Seconds in state ≥", "number"],
  ["attempts_min", "Attempts ≥", "number"],
];
const often = ["id", "agent", "caller", "error"];
/** @type {[string, string][]} name in the URL, label */
const switches = [
  ["roots", "Without children"],
  ["undelivered", "Undelivered webhooks"],
];
/** @type {[string, string][]} value, label */
const retriedChoices = [
  ["", "any"],
  ["0", "not retried"],
  ["1", "retried"],
];
/** @type {Record<string, Record<string, string>>} */
const shortcuts = {
  All: {},
  Running: { turn: "running" },
  Stuck: stuckQuery,
  "Retried": { state: "unfinished", attempts_min: "2" },
  Failed: { state: "failed,rejected", roots: "1", retried: "0" },
  Undelivered: { undelivered: "1" },
};
const bulkActions = ["cancel", "retry", "requeue", "resend", "skip", "delete"];

class Tasks extends Page {
  constructor() {
    super();
    this.form = h("form", { class: "filters", role: "search" });
    this.shortcuts = h("div", { class: "shortcuts" });
    this.list = taskList();
    this.empty = nothing("No matching tasks.");
    this.count = h("span", { class: "faint", "aria-live": "polite" });
    this.more = h("button", { type: "button", hidden: true }, "More");
    this.scanned = h("p", { class: "faint", hidden: true });
    this.bulk = h("button", { type: "button", hidden: true }, "Act on all…");
    /** @type {import("./api.js").TaskPage[]} */
    this.pages = [];
  }

  connectedCallback() {
    fill(
      this,
      this.heading("Tasks", this.count, this.bulk),
      this.shortcuts,
      this.form,
      this.problem,
      this.list,
      this.empty,
      this.scanned,
      this.more,
    );
    this.empty.hidden = true;
    this.more.addEventListener("click", () => this.attempt(() => this.another()));
    // Not shown in `problem`, because the next refresh clears it.
    this.bulk.addEventListener("click", () =>
      this.actOnAll().catch((error) => {
        if (!this.signal.aborted) toast(told(error));
      }),
    );
    this.form.addEventListener("change", () => this.filter());
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.filter();
    });
    this.routed();
  }

  routed() {
    const { query } = this.route;
    this.fields(query);
    fill(
      this.shortcuts,
      ...Object.entries(shortcuts).map(([name, values]) => {
        const here = new URLSearchParams(values).toString() === query.toString();
        return h("a", { href: url("tasks", values), "aria-current": here ? "true" : undefined }, name);
      }),
      h("a", { href: url("bulk") }, "Bulk jobs"),
    );
    this.pages = [];
    this.every(3000, () => this.refresh());
  }

  /** @param {URLSearchParams} query */
  fields(query) {
    if (this.form.contains(document.activeElement) && this.form.childElementCount > 0) return this.keepFields(query);
    const state = query.get("state") ?? "";
    const offered = ["unfinished", ...states];
    const known = state === "" || offered.includes(state);
    const select = h(
      "select",
      { name: "state", "data-find": "" },
      h("option", { value: "" }, "any"),
      ...[...offered, ...(known ? [] : [state])].map((one) => h("option", { value: one, selected: one === state }, stateName(one))),
    );
    const inputs = (/** @type {boolean} */ common) =>
      filters
        .filter(([name]) => often.includes(name) === common)
        .map(([name, label, type]) => {
          const value = query.get(name) ?? "";
          const field =
            type === "turn"
              ? turnField(value)
              : type === "retried"
                ? retriedField(value)
                : h("input", { name, type, min: "0", value });
          return h("label", null, h("span", null, label), field);
        });
    const rare = [...filters, ...switches].some(([name]) => !often.includes(name) && query.get(name));
    fill(
      this.form,
      h("label", null, h("span", null, "State"), select),
      ...inputs(true),
      h(
        "label",
        null,
        h("span", null, "Order"),
        h(
          "select",
          { name: "order" },
          h("option", { value: "" }, "newest first"),
          h("option", { value: "oldest", selected: query.get("order") === "oldest" }, "oldest first"),
        ),
      ),
      h(
        "details",
        { open: Boolean(rare) },
        h("summary", null, "More filters"),
        h(
          "div",
          { class: "filters" },
          ...inputs(false),
          ...switches.map(([name, label]) =>
            h(
              "label",
              { class: "check" },
              h("input", { name, type: "checkbox", value: "1", checked: query.get(name) === "1" }),
              ` ${label}`,
            ),
          ),
        ),
      ),
    );
  }

  /** Sets the form's fields from the query, except the one with the focus. The form itself is not replaced.
   * @param {URLSearchParams} query */
  keepFields(query) {
    for (const field of this.form.elements) {
      if (
        field === document.activeElement ||
        !(field instanceof HTMLInputElement || field instanceof HTMLSelectElement)
      )
        continue;
      if (field instanceof HTMLInputElement && field.type === "checkbox") field.checked = query.get(field.name) === "1";
      else field.value = query.get(field.name) ?? "";
    }
  }

  filter() {
    /** @type {Record<string, string>} */
    const query = {};
    for (const [name, value] of new FormData(this.form)) query[name] = String(value).trim();
    // A key names one task. Ids of Baton's begin with a zero, and their short forms have 12 digits.
    const isKey = /^[1-9]\d*$/.test(query.id) && query.id.length !== 12;
    const to = isKey ? url(`tasks/${query.id}`) : url("tasks", query);
    if (to !== location.pathname + location.search) go(to);
  }

  /** @returns {Record<string, string>} */
  get query() {
    return Object.fromEntries(this.route.query);
  }

  // Further pages are not refreshed: only the first page is kept up to date.
  async refresh() {
    const first = await tasks({ ...this.query, words: "all" }, this.signal);
    this.pages[0] =
      this.pages.length > 1
        ? { ...this.pages[0], tasks: merged(this.pages[0].tasks, first.tasks), count: first.count }
        : first;
    this.show();
  }

  async another() {
    const cursor = this.pages.at(-1)?.next;
    if (cursor) this.pages.push(await tasks({ ...this.query, words: "all", cursor }, this.signal));
    this.show();
  }

  show() {
    const rows = this.pages.flatMap((page) => page.tasks);
    const last = this.pages[this.pages.length - 1];
    showTasks(this.list, rows);
    this.empty.hidden = rows.length > 0 || last.next !== undefined;
    this.more.hidden = last.next === undefined;
    this.scanned.hidden = last.scannedUntil === undefined;
    if (last.scannedUntil) fill(this.scanned, "Searched back to ", when(last.scannedUntil), ". Choose More to search further.");
    say(this.count, counted(this.pages[0].count));
    this.bulk.hidden = !mayAct() || rows.length === 0;
  }

  // The job's page shows the number of tasks found, and acts on them once the operator has confirmed it.
  async actOnAll() {
    const { order: _, ...query } = this.query;
    const action = h("select", { id: "action" }, ...bulkActions.map((name) => h("option", null, name)));
    /** @type {string} */
    let job = "";
    const done = await confirmed({
      title: "Act on all matching tasks",
      words: `All tasks with ${describe(query)} are counted first. Nothing changes before you confirm their number.`,
      verb: "Count them",
      more: [h("label", { for: "action" }, "Action"), action],
      act: async (reason) => {
        job = (await post("/bulk", { action: action.value, filter: filterOf(query), reason })).job;
      },
    });
    if (done) go(url(`bulk/${job}`));
  }
}
customElements.define("baton-tasks", Tasks);

/** @param {string} now */
function turnField(now) {
  const offered = ["", "queued", "running", "waiting", "queued,running", "none"];
  if (!offered.includes(now)) offered.push(now);
  return h(
    "select",
    { name: "turn" },
    ...offered.map((value) => h("option", { value, selected: value === now }, value.replace(",", " or ") || "any")),
  );
}

/** @param {string} now */
function retriedField(now) {
  return h(
    "select",
    { name: "retried" },
    ...retriedChoices.map(([value, label]) => h("option", { value, selected: value === now }, label)),
  );
}

/**
 * @param {import("./api.js").TaskRow[]} old
 * @param {import("./api.js").TaskRow[]} fresh
 */
function merged(old, fresh) {
  const known = new Map(fresh.map((row) => [row.key, row]));
  return old.map((row) => known.get(row.key) ?? row);
}

/** @param {Record<string, string>} query */
function describe(query) {
  const words = Object.entries(query).map(([name, value]) => `${name} ${value}`);
  return words.length > 0 ? words.join(", ") : "no filter at all";
}

/** The list's query in the form of a bulk request.
 * @param {Record<string, string>} query */
function filterOf(query) {
  /** @type {Record<string, unknown>} */
  const filter = {};
  for (const [name, value] of Object.entries(query)) {
    if (name === "state") filter.state = value.split(",");
    else if (name === "turn") filter.turn = value.split(",");
    else if (name === "retried" || switches.some(([known]) => known === name)) filter[name] = value === "1";
    else if (name === "age_min_s" || name === "attempts_min") filter[name] = Number(value);
    else filter[name] = value;
  }
  return filter;
}
