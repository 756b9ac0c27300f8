// Building and updating the page. Text reaches the document as text nodes only, so markup in a task's words is
// never markup here; control and direction characters are replaced by visible signs.

/** @typedef {Node | string | number | null | undefined | false} Child */

const unseen =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u0080-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\ufff9-\ufffb]/g;

/**
 * The text with visible signs for characters that are invisible or change the direction of their neighbours.
 * @param {unknown} text
 */
export function visible(text) {
  return String(text)
    .replace(/\r\n?/g, "\n")
    .replace(unseen, (found) => `\u27e8U+${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}\u27e9`);
}

/**
 * Sets attributes, `on...` listeners, `class`, `dataset` and properties of an element.
 * @param {HTMLElement} element
 * @param {Record<string, any>} props
 */
function assign(element, props) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "dataset") Object.assign(element.dataset, value);
    else if (name === "title" || name.includes("-") || name === "role" || name === "for") {
      element.setAttribute(name, visible(value === true ? "" : value));
    } else /** @type {any} */ (element)[name] = value;
  }
}

/**
 * An element with properties and children.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any> | null} [props]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  if (props) assign(element, props);
  append(element, children);
  return element;
}

/**
 * @param {Element} parent
 * @param {Child[]} children
 */
export function append(parent, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : visible(child));
  }
}

/**
 * Replaces all children.
 * @param {Element} parent
 * @param {...Child} children
 */
export function fill(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
}

/**
 * Sets an element's text if it differs.
 * @param {Element} element
 * @param {unknown} text
 */
export function say(element, text) {
  const shown = visible(text);
  if (element.textContent !== shown) element.textContent = shown;
}

/**
 * An SVG element. Names and values come from this program only.
 * @param {string} tag
 * @param {Record<string, string | number>} [attributes]
 * @param {...Node} children
 */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** @type {WeakMap<Element, Map<string, {node: HTMLElement, said: string}>>} */
const lists = new WeakMap();

/**
 * Makes `parent` show `items` in this order. An item with a known key keeps its node, which is replaced only if the
 * item has changed. Focus, selection and scrolling stay where they are.
 * @template T
 * @param {Element} parent
 * @param {readonly T[]} items
 * @param {(item: T) => string} keyOf
 * @param {(item: T) => HTMLElement} make
 */
export function keyed(parent, items, keyOf, make) {
  const known = lists.get(parent) ?? new Map();
  /** @type {Map<string, {node: HTMLElement, said: string}>} */
  const next = new Map();
  for (const item of items) {
    const key = keyOf(item);
    if (next.has(key)) continue;
    const said = JSON.stringify(item);
    const old = known.get(key);
    next.set(key, old && old.said === said ? old : { node: renewed(old?.node, make(item)), said });
  }
  for (const [key, old] of known) if (next.get(key)?.node !== old.node) old.node.remove();
  /** @type {Element | null} */
  let place = parent.firstElementChild;
  for (const { node } of next.values()) {
    if (node === place) place = place.nextElementSibling;
    else parent.insertBefore(node, place);
  }
  lists.set(parent, next);
}

const controls = "a, button, input, select, textarea, summary";

/** Returns the node and the controls in it, all of which may have the focus.
 * @param {HTMLElement} node
 * @returns {HTMLElement[]} */
const focusable = (node) => [node, .../** @type {NodeListOf<HTMLElement>} */ (node.querySelectorAll(controls))];

/**
 * Puts the new node in the old one's place. Keeps the selection, and the focus, also that of a control in the node.
 * @param {HTMLElement | undefined} old
 * @param {HTMLElement} node
 */
function renewed(old, node) {
  if (!old?.isConnected) return node;
  const focused = focusable(old).findIndex((one) => one === document.activeElement);
  if (old.hasAttribute("aria-selected")) node.setAttribute("aria-selected", old.getAttribute("aria-selected") ?? "");
  old.replaceWith(node);
  if (focused >= 0) focusable(node)[focused]?.focus({ preventScroll: true });
  return node;
}
