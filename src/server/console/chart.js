// A small live chart: the last values as a line, drawn by hand.
import { fill, h, svg } from "./dom.js";

const width = 240;
const height = 44;

/** The last values of a figure, kept while the console is open. */
export class Samples {
  constructor(most = 120) {
    /** @type {number[]} */
    this.values = [];
    this.most = most;
  }

  /** @param {number} value */
  add(value) {
    this.values.push(value);
    if (this.values.length > this.most) this.values.shift();
  }
}

/**
 * @param {Element} into
 * @param {Samples} samples
 * @param {string} tone
 */
export function draw(into, { values, most }, tone) {
  const top = Math.max(1, ...values);
  const step = width / (most - 1);
  const begin = most - values.length;
  const points = values.map((value, at) => [(begin + at) * step, height - 2 - (value / top) * (height - 6)]);
  const line = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${height}`,
    preserveAspectRatio: "none",
    class: `chart ${tone}`,
    "aria-hidden": "true",
  });
  if (points.length > 1) {
    const area = `${points[0][0].toFixed(1)},${height} ${line} ${width},${height}`;
    picture.append(svg("polygon", { points: area }), svg("polyline", { points: line }));
  }
  fill(into, picture);
}

/**
 * A figure with its chart. The figure is a link to the list that it counts.
 * @param {string} name
 * @param {string} href
 */
export function tile(name, href) {
  const figure = h("strong", null, "–");
  const note = h("small", null, "");
  const chart = h("div", { class: "chart-place" });
  const link = h("a", { class: "tile", href }, h("span", { class: "tile-name" }, name), figure, note, chart);
  return { link, figure, note, chart };
}
