// A small part of Markdown, as it is streamed: paragraphs, headings, lists, tables, code, bold, links. Every complete
// line is turned into nodes once; the unfinished line is a text node that grows.
import { h, visible } from "./dom.js";

// Longer lines stay plain text, because the search for pairs takes time that grows with the square of the length.
const inlineMost = 4000;
// The most nodes of a paragraph. A longer one is split, because the browser lays out the whole block for each new
// line.
const blockMost = 200;
const token = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(([^()\s]+)\)|(https?:\/\/[^\s<>"'`]*[^\s<>"'`.,;:!?)\]])/g;

/**
 * A link to another page, or null if the link must not be followed.
 * @param {string} url
 * @param {import("./dom.js").Child} shown
 */
export function link(url, shown) {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return null;
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, shown);
}

/**
 * A line's text with its code, bold words and links.
 * @param {string} line
 * @returns {import("./dom.js").Child[]}
 */
function inline(line) {
  if (line.length > inlineMost) return [line];
  const out = [];
  let at = 0;
  for (const found of line.matchAll(token)) {
    const [all, code, bold, shown, target, bare] = found;
    out.push(line.slice(at, found.index));
    at = found.index + all.length;
    if (code !== undefined) out.push(h("code", null, code));
    else if (bold !== undefined) out.push(h("strong", null, bold));
    else out.push(link(target ?? bare, shown ?? bare) ?? all);
  }
  out.push(line.slice(at));
  return out;
}

/** @param {string} line */
const cellsOf = (line) => line.trim().slice(1, -1).split("|");

/** Streamed text, shown in `element`. */
export class Markdown {
  constructor() {
    this.element = h("div", { class: "prose", dir: "auto" });
    this.partial = "";
    this.carriage = false;
    /** @type {Text | null} */
    this.growing = null;
    /** @type {HTMLElement | null} */
    this.block = null;
    this.kind = "";
  }

  /** Removes all content and begins again. */
  clear() {
    this.element.replaceChildren();
    Object.assign(this, { partial: "", carriage: false, growing: null, block: null, kind: "" });
  }

  /** @param {string} delta */
  add(delta) {
    if (!delta) return;
    // A line end of two characters may come in two pieces.
    const all = (this.carriage ? "\r" : "") + delta;
    this.carriage = all.endsWith("\r");
    const text = visible(this.carriage ? all.slice(0, -1) : all);
    const lines = text.split("\n");
    for (const [index, piece] of lines.entries()) {
      this.grow(piece);
      if (index < lines.length - 1) this.endLine();
    }
  }

  /** Call when the text is complete: finishes its last line. */
  end() {
    if (this.partial) this.endLine();
  }

  /** @param {string} piece */
  grow(piece) {
    if (!piece) return;
    this.partial += piece;
    if (this.growing) return this.growing.appendData(piece);
    this.growing = document.createTextNode(this.partial);
    // In a code block the line's place is final; elsewhere the kind of block is not known yet.
    (this.kind === "code" && this.block ? this.block : this.element).append(this.growing);
  }

  endLine() {
    const line = this.partial;
    this.growing?.remove();
    this.growing = null;
    this.partial = "";
    const fence = line.match(/^\s*(```|~~~)/);
    if (this.kind === "code") return fence ? this.close() : this.block?.append(`${line}\n`);
    if (fence) return this.openCode();
    if (line.trim() === "") return this.close();
    const heading = line.match(/^#{1,6}\s+(.*)$/);
    const item = line.match(/^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/);
    if (heading) return this.openHeading(heading[1]);
    if (item) return this.addItem(item);
    if (/^\s*\|.*\|\s*$/.test(line)) return this.addRow(line);
    this.addWords(line);
  }

  close() {
    this.block = null;
    this.kind = "";
  }

  /**
   * @template {HTMLElement} E
   * @param {string} kind
   * @param {E} block
   * @param {HTMLElement} [outer]
   */
  open(kind, block, outer = block) {
    this.kind = kind;
    this.block = block;
    this.element.append(outer);
    return block;
  }

  openCode() {
    const code = h("code");
    this.open("code", code, h("pre", { class: "code", tabIndex: 0 }, code));
  }

  /** @param {string} text */
  openHeading(text) {
    this.element.append(h("p", { class: "heading" }, ...inline(text)));
    this.close();
  }

  /** @param {string} line */
  addWords(line) {
    if (this.kind === "list" && this.block?.lastElementChild && /^\s/.test(line)) {
      return this.block.lastElementChild.append("\n", ...nodes(inline(line.trim())));
    }
    const isFull = (this.block?.childNodes.length ?? 0) > blockMost;
    const goesOn = this.kind === "words" && this.block && !isFull;
    const block = goesOn ? this.block : this.open("words", h("p"));
    block?.append(...(goesOn ? ["\n"] : []), ...nodes(inline(line)));
  }

  /** @param {RegExpMatchArray} item */
  addItem([, indent, number, text]) {
    const kind = number === undefined ? "UL" : "OL";
    if (this.kind !== "list" || this.block?.tagName !== kind) {
      this.open("list", number === undefined ? h("ul") : h("ol", { start: Number(number) }));
    }
    this.block?.append(h("li", { class: indent.length > 1 ? "deep" : "" }, ...inline(text)));
  }

  /** @param {string} line */
  addRow(line) {
    const isRule = /^[\s|:-]+$/.test(line);
    if (this.kind !== "table") {
      const table = h("table");
      this.open("table", table, h("div", { class: "table", tabIndex: 0, role: "region", "aria-label": "Table" }, table));
    }
    const rows = this.block;
    if (isRule && rows?.childElementCount === 1) {
      for (const cell of [...rows.children[0].children]) cell.replaceWith(h("th", { scope: "col" }, ...cell.childNodes));
    } else if (!isRule) {
      rows?.append(h("tr", null, ...cellsOf(line).map((cell) => h("td", null, ...inline(cell.trim())))));
    }
  }
}

/** @param {import("./dom.js").Child[]} children */
const nodes = (children) => /** @type {(Node | string)[]} */ (children.filter((one) => one !== ""));

/** A complete text.
 * @param {string} text */
export function prose(text) {
  const markdown = new Markdown();
  markdown.add(text);
  markdown.end();
  return markdown.element;
}
