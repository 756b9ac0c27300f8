// Rows of tasks, as several pages show them.
import { agentLink, bytes, copied, endStates, number, plain, state, taskLink } from "./bits.js";
import { h, keyed } from "./dom.js";
import { url } from "./router.js";
import { short, when } from "./when.js";

/** @param {import("./api.js").TaskRow} row */
function turnOf({ turnState, state: now }) {
  if (turnState === "queued") return now === "submitted" ? "" : "in the queue";
  return turnState === "waiting" ? "waits" : "";
}

/** @param {number} count @param {string} one */
const counted = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/**
 * How long the task took; empty while it has not ended.
 * @param {import("./api.js").TaskRow} row
 */
function duration(row) {
  if (!endStates.includes(row.state)) return "";
  return short((Date.parse(row.statusAt) - Date.parse(row.createdAt)) / 1000);
}

/** @param {import("./api.js").TaskRow} row */
function marks(row) {
  return [
    row.waitsUntil ? ["continues ", when(row.waitsUntil)] : turnOf(row),
    row.attempt > 1 ? `attempt ${row.attempt}` : "",
    row.cancelRequested ? "canceling" : "",
    row.undelivered ? `${row.undelivered} undelivered` : "",
    row.children ? counted(row.children, "child", "children") : "",
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
    h("span", { class: "c-state" }, state(row.state)),
    h("span", { class: "c-words" }, ...wordsOf(row)),
    h("span", { class: "c-agent" }, agentLink(row.agent)),
    h("span", { class: "c-marks" }, ...marks(row)),
    h("span", { class: "c-caller" }, h("a", { href: url("tasks", { caller: row.caller }) }, row.caller || "anonymous")),
    h(
      "span",
      { class: "c-figures" },
      h("span", null, duration(row)),
      row.tokens ? h("span", null, counted(row.tokens, "token")) : null,
    ),
    h("span", { class: "c-when" }, when(row.statusAt)),
  );
}

/**
 * What was asked, which is the link to the task, and what came of it: the result, the reason of a failure, a question.
 * @param {import("./api.js").TaskRow} row
 */
function wordsOf(row) {
  const outcome = plain(row.text || row.result || "");
  const asked = plain(row.request ?? "");
  const href = url(`tasks/${row.key}`);
  const isBad = row.state === "failed" || row.state === "rejected";
  return [
    h("a", { class: "key c-request", dir: "auto", title: `Task ${row.key}`, href }, asked || outcome || `Task ${row.key}`),
    asked && outcome ? h("span", { class: isBad ? "c-outcome bad" : "c-outcome", dir: "auto" }, outcome) : null,
  ];
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
    ["Retried as", row.retriedAs ? taskLink(row.retriedAs, `task ${row.retriedAs}`) : ""],
    ["Parent", row.parent ? taskLink(row.parent, `task ${row.parent}`) : ""],
    ["Schedule", row.schedule ? h("a", { href: url("tasks", { schedule: row.schedule }) }, row.schedule) : ""],
    ["Created", when(row.createdAt)],
    ["Duration", duration(row)],
    ["In this state since", when(row.statusAt)],
    ["Continues", when(row.waitsUntil)],
    ["Attempt", row.attempt > 1 ? number(row.attempt) : ""],
    ["Tokens", row.tokens ? number(row.tokens) : ""],
    ["Children", row.children ? h("a", { href: url("tasks", { parent: row.key }) }, number(row.children)) : ""],
    [
      "Undelivered",
      row.undelivered ? h("a", { href: url("deliveries", { task: row.key }) }, number(row.undelivered)) : "",
    ],
  ];
}

/** Ids and states that matter inside the server only. @param {import("./api.js").TaskRow} row
 * @returns {[string, import("./dom.js").Child][]} */
export function internalsOf(row) {
  return [
    ["Key", copied(row.key)],
    ["Id", copied(row.id)],
    [
      "Context",
      h("span", null, copied(row.context), " ", h("a", { href: url("tasks", { context: row.context }) }, "tasks")),
    ],
    ["State", row.state],
    ["Turn", row.turnState],
    ["Attempt", number(row.attempt)],
    ["Log", `${counted(row.lastEvent, "event")}, ${bytes(row.bytes)}`],
    ["Protocol", row.protocol],
  ];
}
