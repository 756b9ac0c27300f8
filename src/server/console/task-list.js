// Rows of tasks, as several pages show them.
import { agentLink, bytes, copied, number, state, taskLink } from "./bits.js";
import { h, keyed } from "./dom.js";
import { url } from "./router.js";
import { when } from "./when.js";

/** @param {import("./api.js").TaskRow} row */
function turnOf({ turnState }) {
  return turnState === "queued" || turnState === "waiting" ? `turn ${turnState}` : "";
}

/** @param {import("./api.js").TaskRow} row */
function marks(row) {
  return [
    row.waitsUntil ? ["goes on ", when(row.waitsUntil)] : turnOf(row),
    row.attempt > 1 ? `attempt ${row.attempt}` : "",
    row.cancelRequested ? "cancel asked" : "",
    row.undelivered ? `${row.undelivered} undelivered` : "",
    row.children ? `${row.children} children` : "",
    row.schedule ? `schedule ${row.schedule}` : "",
    row.hidden ? "hidden" : "",
    row.retriedAs ? "retried" : "",
  ]
    .filter(Boolean)
    .map((words) => h("span", { class: "mark" }, ...[words].flat()));
}

/** @param {import("./api.js").TaskRow} row */
function line(row) {
  return h(
    "li",
    { class: "row", "data-row": "" },
    h("span", { class: "c-key" }, taskLink(row.key)),
    h("span", { class: "c-state" }, state(row.state)),
    h("span", { class: "c-agent" }, agentLink(row.agent)),
    h(
      "span",
      { class: "c-text", dir: "auto" },
      h("a", { href: url(`tasks/${row.key}`), tabIndex: -1 }, row.text || "–"),
    ),
    h("span", { class: "c-marks" }, ...marks(row)),
    h("span", { class: "c-caller" }, h("a", { href: url("tasks", { caller: row.caller }) }, row.caller || "anonymous")),
    h("span", { class: "c-when" }, when(row.statusAt)),
  );
}

/** An empty list of tasks; `showTasks` fills it. */
export function taskList(label = "Tasks") {
  return h("ol", { class: "rows tasks", "aria-label": label });
}

/**
 * @param {Element} list
 * @param {import("./api.js").TaskRow[]} rows
 */
export function showTasks(list, rows) {
  keyed(list, rows, ({ key }) => key, line);
}

/** @param {import("./api.js").TaskRow} row @returns {[string, import("./dom.js").Child][]} */
export function factsOf(row) {
  return [
    ["Agent", agentLink(row.agent)],
    ["Caller", h("a", { href: url("tasks", { caller: row.caller }) }, row.caller || "anonymous")],
    ["Id", copied(row.id)],
    [
      "Context",
      h("span", null, copied(row.context), " ", h("a", { href: url("tasks", { context: row.context }) }, "tasks")),
    ],
    ["Retried as", row.retriedAs ? taskLink(row.retriedAs) : ""],
    ["Parent", row.parent ? taskLink(row.parent) : ""],
    ["Schedule", row.schedule ? h("a", { href: url("tasks", { schedule: row.schedule }) }, row.schedule) : ""],
    ["Made", when(row.createdAt)],
    ["In this state since", when(row.statusAt)],
    ["Turn", row.turnState === "none" ? "" : row.turnState],
    ["Goes on", when(row.waitsUntil)],
    ["Attempt", row.attempt ? number(row.attempt) : ""],
    ["Tokens", row.tokens ? number(row.tokens) : ""],
    ["Children", row.children ? h("a", { href: url("tasks", { parent: row.key }) }, number(row.children)) : ""],
    ["Log", `${number(row.lastEvent)} events, ${bytes(row.bytes)}`],
    ["Protocol", row.protocol],
    [
      "Undelivered",
      row.undelivered ? h("a", { href: url("deliveries", { task: row.key }) }, number(row.undelivered)) : "",
    ],
  ];
}
