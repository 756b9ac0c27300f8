// Markdown as it is streamed. A block is parsed until the next one has begun, and then never again; what has no line
// end yet is shown as if the text ended there.
import { Code } from "./chat-code.js";
import { block, grown, tableRows } from "./chat-nodes.js";
import { h } from "./dom.js";
import { Lexer, Tokenizer, getDefaults } from "./marked.js";

/** @typedef {import("./marked.js").Token} Token */
/** @typedef {{token: Token, node: HTMLElement}} Shown */
/** @typedef {{closing: RegExp, indent: number, code: Code}} Fenced a block of code whose end has not come */

// The most of a text that is parsed at once. A longer block is split, because the lexer's time may grow with the square
// of the length.
const parsedMost = 4096;
// The characters that all searches for the ends of emphasis in one text may pass.
const searchedMost = 100_000;
const blocksOfPart = 30;
const fence = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})(.*)$/;

/** Looks for the ends of emphasis as long as that does not take too much time for one text. */
class Bounded extends Tokenizer {
  left = 0;

  /** @type {Tokenizer["emStrong"]} */
  emStrong(text, masked, before) {
    if (!/^[*_]/.test(text) || this.left < 0) return undefined;
    this.left -= text.length;
    return super.emStrong(text, masked, before);
  }
}

const tokenizer = new Bounded();
const options = { ...getDefaults(), mangle: false, tokenizer, extensions: { block: [definition], childTokens: {} } };

/**
 * A link's definition as a token: the lexer's own rule leaves none.
 * @this {{lexer: Lexer}}
 * @param {string} text
 * @param {Token[]} before
 */
function definition(text, before) {
  if (["paragraph", "text"].includes(before.at(-1)?.type ?? "")) return undefined;
  const token = this.lexer.tokenizer.def(text);
  if (token) this.lexer.tokens.links[token.tag ?? ""] ??= token;
  return token;
}

/** @param {string} text */
const lineCount = (text) => text.split("\n").length - 1;

/** The beginning of a text, as many lines.
 * @param {string} text
 * @param {number} count */
function firstLines(text, count) {
  let end = 0;
  for (let line = 0; line < count; ++line) end = text.indexOf("\n", end) + 1 || text.length;
  return text.slice(0, end);
}

/** The length of the first part of a long text: whole lines, or else whole words.
 * @param {string} text */
function lengthOfPart(text) {
  return text.lastIndexOf("\n", parsedMost) + 1 || text.lastIndexOf(" ", parsedMost) + 1 || parsedMost;
}

/** @param {string} line */
function fenceOf(line) {
  const found = line.match(fence);
  if (!found) return null;
  const [, { length: indent }, marks, info] = found;
  return { closing: new RegExp(`^ {0,3}${marks[0]}{${marks.length},}[ \\t]*$`), indent, info };
}

/** @param {string} line
 * @param {number} indent */
const dedented = (line, indent) => line.replace(new RegExp(`^ {0,${indent}}`), "");

/**
 * The text's blocks. The lexer expands tabs, so the text of code comes from the source.
 * @param {string} source
 * @param {Record<string, Token>} links the definitions so far
 * @returns {Token[]}
 */
function lexed(source, links) {
  const lexer = new Lexer(options);
  tokenizer.left = searchedMost;
  Object.assign(lexer.tokens.links, links);
  /** @type {Token[]} */
  let tokens;
  try {
    tokens = lexer.lex(source);
  } catch {
    // Its recursion has a limit.
    return [{ type: "paragraph", raw: source, tokens: [{ type: "escape", raw: ` ${source}` }] }];
  }
  let line = 0;
  const lines = source.split("\n");
  for (const token of tokens) {
    const count = lineCount(token.raw);
    const opening = token.type === "code" ? fenceOf(lines[line]) : null;
    if (opening) {
      const body = lines.slice(line + 1, line + (token.raw.endsWith("\n") ? count : count + 1));
      const end = body.findIndex((one) => opening.closing.test(one));
      token.isClosed = end >= 0;
      token.text = (end < 0 ? body : body.slice(0, end)).map((one) => dedented(one, opening.indent)).join("\n");
    }
    line += count;
  }
  return tokens;
}

/** @param {Token} token */
const isShown = ({ type }) => type !== "space" && type !== "def";

/**
 * Makes an element like a new one, keeping what is equal: selections stay, and screen readers hear what is new.
 * @template {Node} N
 * @param {N} old
 * @param {N} fresh
 * @returns {N} the node that is in place
 */
function patched(old, fresh) {
  if (old instanceof Text && fresh instanceof Text) {
    if (fresh.data.startsWith(old.data)) old.appendData(fresh.data.slice(old.length));
    else old.data = fresh.data;
    return old;
  }
  if (!(old instanceof Element && fresh instanceof Element) || !isAlike(old, fresh)) {
    /** @type {any} */ (old).replaceWith(fresh);
    return fresh;
  }
  const before = [...old.childNodes];
  const after = [...fresh.childNodes];
  after.forEach((child, index) => (index < before.length ? patched(before[index], child) : old.append(child)));
  for (const child of before.slice(after.length)) child.remove();
  return old;
}

/** @param {Element} place the element of a list's items or a table's rows
 * @param {{from: number, nodes: HTMLElement[]}} more */
function grow(place, { from, nodes: [first, ...rest] }) {
  patched(place.children[from], first);
  place.append(...rest);
}

/** @param {Element} old
 * @param {Element} fresh */
function isAlike(old, fresh) {
  const attributes = (/** @type {Element} */ one) => [...one.attributes].map(({ name, value }) => `${name}=${value}`).join("\n");
  return old.tagName === fresh.tagName && attributes(old) === attributes(fresh);
}

/** Streamed text, shown in `element`. */
export class Markdown {
  constructor() {
    this.element = h("div", { class: "prose" });
    /** The element of the next blocks. Parts that are out of sight cost the browser nothing. */
    this.part = this.element;
    this.frame = 0;
    /** All of the text. */
    this.source = "";
    /** What may still change: the source of `open`, or of the lines of `fenced` that have not come whole. */
    this.rest = "";
    this.carriage = false;
    this.hasLine = false;
    /** @type {Shown[]} */
    this.open = [];
    /** @type {Fenced | null} */
    this.fenced = null;
    /** The header of a table whose first rows are finished, and the table.
     * @type {{source: string, table: Element} | null} */
    this.table = null;
    /** @type {Record<string, Token>} */
    this.links = Object.create(null);
    this.begin();
  }

  begin() {
    this.element.replaceChildren();
    this.beginPart();
    this.source = this.rest = "";
    this.carriage = this.hasLine = false;
    this.open = [];
    this.fenced = this.table = null;
    this.links = Object.create(null);
  }

  beginPart() {
    this.part = h("div", { class: "part" });
    this.element.append(this.part);
  }

  /** Removes all content and begins again. */
  clear() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.begin();
  }

  /** Adds a piece, which is shown with the next frame.
   * @param {string} delta */
  add(delta) {
    if (!delta) return;
    // A line end of two characters may come in two pieces.
    const all = (this.carriage ? "\r" : "") + delta;
    this.carriage = all.endsWith("\r");
    const text = (this.carriage ? all.slice(0, -1) : all).replace(/\r\n?/g, "\n");
    this.source += text;
    this.rest += text;
    this.hasLine ||= text.includes("\n");
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw(false);
    });
  }

  /** Call when the text is complete: shows all of it. */
  end() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.draw(true);
    // A definition may come after the links that name it.
    if (Object.keys(this.links).length > 0) {
      const { source, links } = this;
      this.begin();
      this.source = this.rest = source;
      this.links = links;
      this.draw(true);
      this.links = Object.create(null);
    }
    this.source = this.source.trimEnd();
  }

  /** @param {boolean} isEnd */
  draw(isEnd) {
    if (isEnd && this.rest && !this.rest.endsWith("\n")) this.rest += "\n";
    const isDue = isEnd || this.hasLine || this.rest.length > parsedMost;
    if (isDue) while (this.fenced ? this.takeCode() : this.settle(isEnd));
    this.hasLine = false;
    if (!this.fenced) return this.show(this.rest);
    // The line may be the fence that ends the code.
    if (!/^ {0,3}[`~]*$/.test(this.rest)) this.fenced.code.grow(dedented(this.rest, this.fenced.indent));
  }

  /** Moves whole lines of the rest into the open code. Returns whether that has ended. */
  takeCode() {
    const { rest } = this;
    const { closing, indent, code } = /** @type {Fenced} */ (this.fenced);
    const lines = rest.split("\n");
    const partial = lines.pop() ?? "";
    const end = lines.findIndex((line) => closing.test(line));
    const body = end < 0 ? lines : lines.slice(0, end);
    if (body.length > 0) code.add(body.map((line) => `${dedented(line, indent)}\n`).join(""));
    if (end >= 0) this.fenced = null;
    this.rest = end < 0 ? partial : rest.slice(firstLines(rest, end + 1).length);
    return end >= 0;
  }

  /**
   * Finishes the blocks of whole lines, except for the last one, which may go on. Returns whether more may be finished.
   * @param {boolean} isEnd the last one, too
   */
  settle(isEnd) {
    const isMore = this.rest.length > parsedMost;
    const most = isMore ? lengthOfPart(this.rest) : this.rest.lastIndexOf("\n") + 1;
    const lines = this.rest.slice(0, most);
    if (!lines) return false;
    const head = this.table?.source ?? "";
    const tokens = lexed(head + lines, this.links);
    const last = isEnd && !isMore ? tokens.length : tokens.findLastIndex(({ type }) => type !== "space");
    const finished = tokens.slice(0, last);
    const raw = finished.map((token) => token.raw).join("");
    if (raw.length > head.length && raw.endsWith("\n")) {
      this.place(tokens);
      this.finish(finished, lineCount(raw) - lineCount(head));
      return this.rest !== "";
    }
    const open = tokens[Math.max(last, 0)];
    const opening = open?.type === "code" && !open.isClosed ? fenceOf(firstLines(lines, 1).slice(0, -1)) : null;
    if (opening) {
      this.open.splice(0).forEach(({ node }) => node.remove());
      const code = new Code(opening.info);
      this.part.append(code.element);
      this.fenced = { ...opening, code };
      this.table = null;
      this.rest = this.rest.slice(firstLines(lines, 1).length);
      return true;
    }
    if (!isMore) return false;
    this.split(lines, open);
    return true;
  }

  /** Finishes the first part of a block that is too long to be parsed again and again.
   * @param {string} lines
   * @param {Token} open */
  split(lines, open) {
    const head = this.table?.source ?? "";
    if (open?.type === "list" && (open.items?.length ?? 0) > 1) {
      const raw = (open.items ?? []).slice(0, -1).map((item) => item.raw).join("");
      const source = firstLines(lines, lineCount(raw));
      this.place(lexed(source, this.links));
      return this.finish(this.open.map(() => open), lineCount(source));
    }
    this.place(lexed(head + lines, this.links));
    if (open?.type === "table") {
      const source = head || firstLines(lines, 2);
      const table = this.open[0]?.node.closest(".table")?.querySelector("table");
      this.finish([open], lineCount(lines));
      if (table) this.table = { source, table };
      return;
    }
    this.open.length = 0;
    this.rest = this.rest.slice(lines.length);
  }

  /** Shows these blocks, keeping what is shown already.
   * @param {Token[]} tokens */
  place(tokens) {
    const shown = tokens.filter(isShown);
    shown.forEach((token, index) => {
      const known = this.open[index];
      if (known?.token.raw === token.raw) return;
      const goesOn = index === 0 && token.type === "table" ? this.table?.table : undefined;
      const more = known ? grown(known.token, token) : null;
      if (known && more) grow(known.node.querySelector("tbody") ?? known.node, more);
      else {
        const node = goesOn ? tableRows(token) : (block(token) ?? h("p"));
        if (!known) (goesOn ?? this.part).append(node);
        this.open[index] = { token, node: known ? patched(known.node, node) : node };
      }
      this.open[index].token = token;
    });
    for (const { node } of this.open.splice(shown.length)) node.remove();
  }

  /**
   * Keeps these blocks, which are shown, as they are.
   * @param {Token[]} tokens
   * @param {number} count of their lines
   */
  finish(tokens, count) {
    tokens.forEach(this.define, this);
    if (this.part.childElementCount > blocksOfPart) this.beginPart();
    this.open.splice(0, tokens.filter(isShown).length);
    this.rest = this.rest.slice(firstLines(this.rest, count).length);
    this.table = null;
  }

  /** @param {Token} token */
  define(token) {
    if (token.type === "def") this.links[token.tag ?? ""] ??= token;
    token.tokens?.forEach(this.define, this);
    token.items?.forEach(this.define, this);
  }

  /** @param {string} rest */
  show(rest) {
    const line = rest.slice(rest.lastIndexOf("\n") + 1);
    // A fence is no text, even before its line is whole.
    const source = (this.table?.source ?? "") + (fence.test(line) ? `${rest}\n` : rest);
    this.place(lexed(source, this.links));
  }
}

/** A complete text.
 * @param {string} text */
export function prose(text) {
  const markdown = new Markdown();
  markdown.add(text);
  markdown.end();
  return markdown.element;
}
