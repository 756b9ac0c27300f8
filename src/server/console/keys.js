// The keyboard: / filters, j and k move, enter opens, esc leaves, g and a letter goes to a view, ? shows help.
import { h } from "./dom.js";
import { go, url } from "./router.js";

/** @typedef {{path: string, title: string, key: string}} View */

let goes = false;

/** @param {EventTarget | null} target */
function writes(target) {
  return target instanceof Element && target.matches("input:not([type=checkbox]), textarea, select");
}

/** Whether the element handles enter itself.
 * @param {EventTarget | null} target */
function isWay(target) {
  return target instanceof Element && target.matches("a, button, summary, input");
}

/** The rows that j and k select. */
function rows() {
  return /** @type {HTMLElement[]} */ ([...document.querySelectorAll("main [data-row]")]);
}

/** @param {number} by */
function move(by) {
  const all = rows();
  if (all.length === 0) return;
  const at = all.findIndex((row) => row.hasAttribute("data-at-row"));
  const next = all[Math.max(0, Math.min(all.length - 1, at + by))];
  if (at >= 0) all[at].removeAttribute("data-at-row");
  next.setAttribute("data-at-row", "");
  next.scrollIntoView({ block: "nearest" });
}

function open() {
  const row = document.querySelector("main [data-at-row]");
  const way = /** @type {HTMLElement | null} */ (row?.querySelector("a.key, summary, a"));
  way?.click();
  return Boolean(way);
}

/**
 * @param {KeyboardEvent} event
 * @param {View[]} views
 */
export function onKey(event, views) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") return leave();
  if (writes(event.target)) return;
  if (goes) {
    goes = false;
    const view = views.find(({ key }) => key === event.key);
    if (view) go(url(view.path));
    return;
  }
  if (event.key === "Enter" && (isWay(event.target) || !open())) return;
  if (!acts(event.key, views)) return;
  event.preventDefault();
}

function leave() {
  if (writes(document.activeElement)) return /** @type {HTMLElement} */ (document.activeElement).blur();
  document.querySelector("[data-at-row]")?.removeAttribute("data-at-row");
}

/**
 * @param {string} key
 * @param {View[]} views
 */
function acts(key, views) {
  if (key === "j") move(1);
  else if (key === "k") move(-1);
  else if (key === "g") goes = true;
  else if (key === "?") showHelp(views);
  else if (key === "/") {
    /** @type {HTMLElement | null} */ (document.querySelector("main [data-find]"))?.focus();
  } else return key === "Enter";
  return true;
}

/** @param {View[]} views */
export function showHelp(views) {
  const keys = [
    ["/", "to the filters"],
    ["j, k", "down, up"],
    ["enter", "open"],
    ["esc", "leave a field, a dialog, a row"],
    ["?", "this help"],
    ...views.map(({ key, title }) => [`g ${key}`, title]),
  ];
  const list = h(
    "dl",
    { class: "keys" },
    ...keys.flatMap(([key, what]) => [h("dt", null, h("kbd", null, key)), h("dd", null, what)]),
  );
  const close = h("button", { type: "button" }, "Close");
  const dialog = h(
    "dialog",
    { "aria-label": "Keys" },
    h("h2", null, "Keys"),
    list,
    h("div", { class: "buttons" }, close),
  );
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
