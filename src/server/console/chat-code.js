// Blocks of code: their language, a button to copy, and colours by highlight.js, which is loaded with the first block
// of a language that it knows. Its result is text with spans, which is read here into nodes.
import { copyButton } from "./bits.js";
import { h, visible } from "./dom.js";

// Longer lines and blocks stay plain: colours take time.
const lineMost = 2000;
const colouredMost = 100_000;

/** Undefined until it is loaded, null if it cannot be.
 * @type {typeof import("./highlight.js").default | null | undefined} */
let library;
/** Blocks that are shown without colours until then.
 * @type {Set<Code>} */
const waiting = new Set();

/** @param {Code} code */
async function waitFor(code) {
  const isFirst = waiting.size === 0;
  waiting.add(code);
  if (!isFirst) return;
  library = (await import("./highlight.js").catch(() => null))?.default ?? null;
  for (const one of waiting) one.recolour();
  waiting.clear();
}

/** The language's name from the words behind a fence.
 * @param {string} [info] */
const languageOf = (info) => (info ?? "").trim().split(/[\s,{]/)[0].toLowerCase();

/** @type {Record<string, string>} */
const others = { "c++": "cpp", "objective-c": "cpp", jsonc: "json", json5: "json", jsonl: "json", tsx: "typescript", vue: "xml", zsh: "bash", terminal: "shell", containerfile: "dockerfile" };

/** @type {Record<string, string>} */
const signs = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"' };

/**
 * The text that highlight.js has marked, as nodes. Its spans have classes of its own and escape what they hold.
 * @param {string} marked
 */
function nodesOf(marked) {
  const all = h("span");
  /** @type {HTMLElement} */
  let place = all;
  for (const piece of marked.split(/(<span class="[\w -]*">|<\/span>)/)) {
    const begins = piece.match(/^<span class="([\w -]*)">$/);
    if (begins) {
      const span = h("span", { class: begins[1] });
      place.append(span);
      place = span;
    } else if (piece === "</span>") place = place.parentElement ?? all;
    else if (piece) place.append(visible(piece.replace(/&(?:amp|lt|gt|quot);/g, (sign) => signs[sign])));
  }
  return [...all.childNodes];
}

/** A block of code that grows by whole lines, each coloured once. */
export class Code {
  /** @param {string} [info] the words behind the fence */
  constructor(info) {
    const name = languageOf(info);
    this.language = others[name] ?? name;
    this.code = h("code");
    /** The line that is being written. */
    this.partial = document.createTextNode("");
    this.code.append(this.partial);
    this.grown = 0;
    this.size = 0;
    /** @type {unknown} the state of highlight.js after the last line */
    this.top = undefined;
    const copy = copyButton("Copy", "Copy the code", () => this.code.textContent ?? "");
    const head = h("div", { class: "code-head" }, h("span", null, name || "Code"), copy);
    const label = name ? `Code, ${name}` : "Code";
    const text = h("pre", { class: "code", tabIndex: 0, role: "region", "aria-label": label, dir: "ltr" }, this.code);
    this.element = h("div", { class: "code-block" }, head, text);
    if (this.language && library === undefined) waitFor(this);
  }

  /** Adds whole lines, of which the first is the one that was being written.
   * @param {string} lines */
  add(lines) {
    this.partial.data = "";
    this.grown = 0;
    this.partial.before(...this.coloured(lines));
  }

  /** Shows the line that is being written.
   * @param {string} line all of it so far */
  grow(line) {
    this.partial.appendData(visible(line.slice(this.grown)));
    this.grown = line.length;
  }

  recolour() {
    const { partial } = this;
    const text = this.code.textContent ?? "";
    const lines = text.slice(0, text.length - partial.length);
    this.size = 0;
    if (lines) this.code.replaceChildren(...this.coloured(lines), partial);
  }

  /** @param {string} lines
   * @returns {(Node | string)[]} */
  coloured(lines) {
    this.size += lines.length;
    const isPlain = this.size > colouredMost || lines.split("\n").some((line) => line.length > lineMost);
    if (!library || isPlain || !this.language || !library.getLanguage(this.language)) return [visible(lines)];
    const { value, top } = library.highlight(this.language, lines, true, this.top);
    this.top = top;
    return nodesOf(value);
  }
}

/**
 * A complete block of code.
 * @param {string} text
 * @param {string} [info]
 */
export function codeBlock(text, info) {
  const code = new Code(info);
  if (text) code.add(`${text}\n`);
  return code.element;
}
