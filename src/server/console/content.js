// Parts of messages and artifacts, as text. Nothing in them is followed, loaded or run.
import { h, visible } from "./dom.js";
import { bytes } from "./bits.js";

const shownMax = 2000;

/**
 * A text that may be long: its beginning, and the rest on demand.
 * @param {string} text
 * @param {string} [kind]
 */
export function words(text, kind = "words") {
  if (text.length <= shownMax) return h("div", { class: kind, dir: "auto" }, text);
  const block = h("div", { class: kind, dir: "auto" }, `${text.slice(0, shownMax)}…`);
  const more = h("button", { type: "button", class: "link" }, `Show all ${bytes(text.length)}`);
  more.addEventListener("click", () => {
    block.textContent = visible(text);
    more.remove();
  });
  return h("div", null, block, more);
}

/** @param {unknown} value */
export function json(value) {
  return words(typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? ""), "code");
}

/** @param {import("./api.js").Part} part */
function one(part) {
  if (typeof part.text === "string") return words(part.text);
  if (part.data !== undefined) return json(part.data);
  const name = [part.filename, part.mediaType].filter(Boolean).join(" · ") || "file";
  if (part.url !== undefined) return h("div", { class: "file" }, `${name}: ${part.url}`);
  if (part.raw !== undefined) return h("div", { class: "file" }, `${name}, ${bytes(part.raw.length * 0.75)}`);
  return json(part);
}

/** @param {import("./api.js").Part[]} parts */
export function content(parts) {
  return h("div", { class: "content" }, ...parts.map(one));
}
