// The tokens of Markdown as nodes. Raw HTML stays text, and pictures from elsewhere become links.
import { codeBlock } from "./chat-code.js";
import { h } from "./dom.js";
import { Lexer } from "./marked.js";

/** @typedef {import("./marked.js").Token} Token */
/** @typedef {import("./dom.js").Child} Child */

// The named characters that texts use. The other two thousand of HTML stay as they are written.
const named = new Map(
  `amp & lt < gt > quot " apos ' nbsp \u00a0 copy © reg ® trade ™ hellip … mdash — ndash – lsquo ‘ rsquo ’ ldquo “ rdquo ”
  laquo « raquo » bull • middot · times × divide ÷ plusmn ± minus − deg ° micro µ para ¶ sect § euro € pound £ yen ¥ cent ¢
  larr ← rarr → uarr ↑ darr ↓ harr ↔ rArr ⇒ lArr ⇐ hArr ⇔ le ≤ ge ≥ ne ≠ asymp ≈ equiv ≡ infin ∞ sum ∑ prod ∏ radic √ int ∫
  part ∂ isin ∈ notin ∉ cap ∩ cup ∪ sub ⊂ sup ⊃ empty ∅ forall ∀ exist ∃ and ∧ or ∨ not ¬ alpha α beta β gamma γ delta δ
  epsilon ε theta θ lambda λ mu μ pi π sigma σ tau τ phi φ omega ω Delta Δ Omega Ω Sigma Σ auml ä ouml ö uuml ü Auml Ä Ouml Ö
  Uuml Ü szlig ß eacute é egrave è agrave à ccedil ç ntilde ñ aelig æ AElig Æ oslash ø aring å frac12 ½ frac14 ¼ frac34 ¾
  sup2 ² sup3 ³ ensp \u2002 emsp \u2003 thinsp \u2009 check ✓ star ☆ spades ♠ clubs ♣ hearts ♥ diams ♦`
    .split(/[ \n]+/)
    .reduce((/** @type {[string, string][]} */ pairs, word, index, all) => {
      if (index % 2 === 0) pairs.push([word, all[index + 1]]);
      return pairs;
    }, []),
);

/** The text of Markdown's source, with its named and numbered characters.
 * @param {string} source */
function decoded(source) {
  return source.replace(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(\w+));/gi, (all, hex, decimal, name) => {
    if (name) return named.get(name) ?? all;
    const code = hex ? parseInt(hex, 16) : Number(decimal);
    const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : "\ufffd";
  });
}

/** Undoes the lexer's escaping of code.
 * @param {string} text */
const unescaped = (text) => text.replace(/&(?:amp|lt|gt|quot|#39);/g, decoded);

/**
 * A link to another page or a letter's address, or null if the link must not be followed.
 * @param {string} url
 * @param {...Child} shown
 */
export function link(url, ...shown) {
  if (!/^(https?:\/\/|mailto:)/i.test(url) || !URL.canParse(url)) return null;
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, ...shown);
}

/**
 * A link that is not followed shows where it leads.
 * @param {Token} token
 * @param {...Child} shown
 */
function linked({ href = "", title }, ...shown) {
  const url = decoded(href);
  const anchor = link(url, ...shown);
  const element = anchor ?? h("span", { class: "address", dataset: { address: url } }, ...shown);
  if (title) element.title = decoded(title);
  return element;
}

// Deeper ones stay text: recursion has a limit.
const deepest = 30;
let depth = 0;

/**
 * @param {Token} token
 * @param {() => Child} make
 * @returns {Child[]}
 */
function deeper(token, make) {
  if (depth >= deepest) return [token.raw];
  ++depth;
  try {
    return [make()];
  } finally {
    --depth;
  }
}

/** @param {Token[]} [tokens]
 * @returns {boolean} */
const hasLink = (tokens = []) => tokens.some(({ type, tokens: inner }) => type === "link" || hasLink(inner));

/** The text of inline tokens without their marks.
 * @param {Token[]} [tokens]
 * @returns {string} */
const plain = (tokens = []) =>
  tokens.map((token) => (token.tokens ? plain(token.tokens) : token.type === "image" ? (token.text ?? "") : inline(token).join(""))).join("");

/** @param {Token} token
 * @returns {Child[]} */
function inline(token) {
  switch (token.type) {
    case "strong":
    case "em":
    case "del":
      return deeper(token, () => h(token.type === "del" ? "del" : token.type === "em" ? "em" : "strong", null, ...inlines(token.tokens)));
    case "codespan":
      return [h("code", { dir: "ltr" }, unescaped(token.text ?? ""))];
    case "br":
      return [h("br")];
    case "link":
      // Of links in each other, the inner one counts.
      if (hasLink(token.tokens)) return ["[", ...inlines(token.tokens), token.raw.slice(1 + (token.text ?? "").length)];
      return [linked(token, ...inlines(token.tokens))];
    case "image":
      return [linked(token, plain(Lexer.lexInline(token.text ?? "")) || token.href)];
    case "escape":
      return [token.raw.slice(1)];
    case "html":
      return [token.raw];
    default:
      return token.tokens ? inlines(token.tokens) : [decoded(token.raw)];
  }
}

/** @param {Token[]} [tokens]
 * @returns {Child[]} */
const inlines = (tokens = []) => tokens.flatMap(inline);

/** A line break is all the HTML that a cell knows, because Markdown has none there.
 * @param {Token} token */
function inCell(token) {
  return token.type === "html" && /^<br *\/?>$/i.test(token.raw) ? [h("br")] : inline(token);
}

/**
 * @param {Token} item
 * @param {boolean} isLoose whether its texts are paragraphs
 */
function listItem({ task, checked, tokens = [] }, isLoose) {
  const inside = blocks(tokens, isLoose);
  if (!task) return h("li", { dir: "auto" }, ...inside);
  const box = h("input", { type: "checkbox", checked, disabled: true, "aria-label": checked ? "Done" : "Open" });
  const [first] = inside;
  if (first instanceof HTMLElement && first.tagName === "P") first.prepend(box, " ");
  else inside.unshift(box, " ");
  return h("li", { dir: "auto", class: "task-item" }, ...inside);
}

/** @param {Token} token */
function list({ ordered, start, items = [], loose }) {
  const shown = items.map((item) => listItem(item, Boolean(loose)));
  return ordered ? h("ol", { start: Number(start ?? 1), dir: "auto" }, ...shown) : h("ul", { dir: "auto" }, ...shown);
}

/** @param {Token[]} cells
 * @param {(string | null)[]} [align] */
const tableRow = (cells, align = []) =>
  h("tr", null, ...cells.map((cell, column) => h("td", { class: align[column] ?? "", dir: "auto" }, ...(cell.tokens ?? []).flatMap(inCell))));

/** @param {Token} token */
export const tableRows = ({ rows = [], align }) => h("tbody", null, ...rows.map((cells) => tableRow(cells, align)));

/** @param {Token} token */
function table(token) {
  const { align = [], header = [] } = token;
  const names = header.map((cell, column) =>
    h("th", { scope: "col", class: align[column] ?? "", dir: "auto" }, ...(cell.tokens ?? []).flatMap(inCell)),
  );
  return h(
    "div",
    { class: "table", tabIndex: 0, role: "region", "aria-label": "Table" },
    h("table", null, h("thead", null, h("tr", null, ...names)), tableRows(token)),
  );
}

/**
 * The items or rows that follow in a list or table which has only grown, from the last one that was there. Null if it
 * has changed in another way, or is no list or table.
 * @param {Token} before
 * @param {Token} now
 * @returns {{from: number, nodes: HTMLElement[]} | null}
 */
export function grown(before, now) {
  if (before.type !== now.type) return null;
  /** @param {Token | Token[]} one */
  const source = (one) => (Array.isArray(one) ? one.map(({ text }) => text).join("|") : one.raw.trimEnd());
  const [old, all] = now.type === "list" ? [before.items ?? [], now.items ?? []] : [before.rows ?? [], now.rows ?? []];
  const from = old.length - 1;
  if (from < 0 || all.length < old.length) return null;
  for (let index = 0; index < from; ++index) if (source(old[index]) !== source(all[index])) return null;
  if (now.type === "list") {
    if (before.loose !== now.loose || before.ordered !== now.ordered) return null;
    return { from, nodes: (now.items ?? []).slice(from).map((item) => listItem(item, Boolean(now.loose))) };
  }
  return now.type === "table" ? { from, nodes: (now.rows ?? []).slice(from).map((cells) => tableRow(cells, now.align)) } : null;
}

/**
 * The nodes of blocks. A text that is no paragraph is the content of a tight list's item.
 * @param {Token[]} tokens
 * @param {boolean} [isLoose]
 * @returns {Child[]}
 */
function blocks(tokens, isLoose = false) {
  return tokens.flatMap((token, index) => {
    if (token.type !== "text" || isLoose) return deeper(token, () => block(token));
    const isSecond = tokens[index - 1]?.type === "text";
    return [...(isSecond ? ["\n"] : []), ...inline(token)];
  });
}

/**
 * The node of a block, or null if it shows nothing.
 * @param {Token} token
 * @returns {HTMLElement | null}
 */
export function block(token) {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading": {
      // The page's own heading is the first.
      const name = /** @type {"h2"} */ (`h${Math.min((token.depth ?? 1) + 1, 6)}`);
      return h(name, { dir: "auto" }, ...inlines(token.tokens));
    }
    case "code":
      return codeBlock(token.text ?? "", token.lang);
    case "blockquote":
      return h("blockquote", { dir: "auto" }, ...blocks(token.tokens ?? [], true));
    case "list":
      return list(token);
    case "table":
      return table(token);
    case "hr":
      return h("hr");
    case "html":
      return h("p", { dir: "auto" }, token.raw.trimEnd());
    default:
      return h("p", { dir: "auto" }, ...inlines(token.tokens));
  }
}
