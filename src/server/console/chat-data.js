// Structured data in readable form: facts, tables, lists. Other data is shown as JSON.
import { json } from "./content.js";
import { h } from "./dom.js";

const rowsShown = 100;
const columnsMost = 40;
const depthMost = 3;

/** @param {unknown} value */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
/** @param {unknown} value */
const isScalar = (value) => typeof value !== "object" || value === null;

/** @param {unknown} value */
function scalar(value) {
  if (value === undefined || value === null) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/**
 * @param {string[]} columns
 * @param {Record<string, unknown>} row
 */
function rowOf(columns, row) {
  return h(
    "tr",
    null,
    ...columns.map((column) =>
      h("td", { class: typeof row[column] === "number" ? "figure" : "", dir: "auto" }, scalar(row[column])),
    ),
  );
}

/**
 * @param {Record<string, unknown>[]} rows
 * @param {string} name
 */
function table(rows, name) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (columns.length === 0 || columns.length > columnsMost) return json(rows);
  const body = h("tbody", null, ...rows.slice(0, rowsShown).map((row) => rowOf(columns, row)));
  const head = h("thead", null, h("tr", null, ...columns.map((column) => h("th", { scope: "col" }, column))));
  const place = h(
    "div",
    { class: "table", tabIndex: 0, role: "region", "aria-label": name || "Table" },
    h("table", null, head, body),
  );
  if (rows.length <= rowsShown) return place;
  const more = h("button", { type: "button", class: "link" }, `Show all ${rows.length} rows`);
  more.addEventListener("click", () => {
    body.append(...rows.slice(rowsShown).map((row) => rowOf(columns, row)));
    more.remove();
  });
  return h("div", null, place, more);
}

/**
 * @param {Record<string, unknown>} value
 * @param {number} depth
 */
function members(value, depth) {
  const all = Object.entries(value);
  const flat = all.filter(([, inner]) => isScalar(inner));
  const deep = all.filter(([, inner]) => !isScalar(inner));
  return h(
    "div",
    { class: "data" },
    flat.length === 0
      ? null
      : h("dl", { class: "facts" }, ...flat.flatMap(([name, inner]) => [h("dt", null, name), fact(inner)])),
    ...deep.map(([name, inner]) => h("div", { class: "member" }, h("div", { class: "name" }, name), data(inner, name, depth + 1))),
  );
}

/** @param {unknown} value */
const fact = (value) => h("dd", { class: "words", dir: "auto" }, scalar(value) || "–");

/**
 * @param {unknown} value
 * @param {string} [name] for screen readers
 * @returns {HTMLElement}
 */
export function data(value, name = "", depth = 0) {
  if (isScalar(value)) return h("div", { class: "words", dir: "auto" }, scalar(value) || "–");
  if (depth > depthMost) return json(value);
  if (Array.isArray(value)) {
    if (value.length === 0) return h("div", { class: "faint" }, "none");
    if (value.every(isObject)) return table(value, name);
    if (value.every(isScalar) && value.length <= rowsShown) {
      return h("ul", { class: "values" }, ...value.map((one) => h("li", { dir: "auto" }, scalar(one))));
    }
    return json(value);
  }
  const size = Object.keys(/** @type {object} */ (value)).length;
  if (size === 0 || size > columnsMost) return json(value);
  return members(/** @type {Record<string, unknown>} */ (value), depth);
}
