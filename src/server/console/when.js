// Relative times, with the exact time on hover, all kept up to date together.
import { h, say, visible } from "./dom.js";

const steps = /** @type {const} */ ([
  [60, "s", 1],
  [3600, "min", 60],
  [86400, "h", 3600],
  [86400 * 14, "d", 86400],
]);

/** @param {number} seconds */
export function span(seconds) {
  const size = Math.abs(seconds);
  for (const [below, unit, each] of steps) {
    if (size < below) return `${Math.floor(size / each)} ${unit}`;
  }
  return `${Math.floor(size / 604800)} wk`;
}

/** @param {number} seconds */
export function short(seconds) {
  if (seconds < 0.0005) return "0 ms";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 100) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  return span(seconds);
}

/** @param {string} iso */
function relative(iso) {
  const seconds = (Date.now() - Date.parse(iso)) / 1000;
  if (Number.isNaN(seconds)) return iso;
  if (Math.abs(seconds) < 1) return "now";
  return seconds > 0 ? `${span(seconds)} ago` : `in ${span(seconds)}`;
}

/** @param {string} iso */
export function exact(iso) {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? iso : `${date.toLocaleString()} (${iso})`;
}

/** <baton-when data-at="..."> */
class When extends HTMLElement {
  connectedCallback() {
    this.title = visible(exact(this.at));
    this.renew();
  }

  get at() {
    return this.dataset.at ?? "";
  }

  renew() {
    say(this, relative(this.at));
  }
}
customElements.define("baton-when", When);

setInterval(() => {
  if (document.hidden) return;
  for (const one of document.querySelectorAll("baton-when")) /** @type {When} */ (one).renew();
}, 1000);

/** @param {string | undefined} iso */
export function when(iso) {
  return iso ? h(/** @type {any} */ ("baton-when"), { "data-at": iso }) : "";
}
