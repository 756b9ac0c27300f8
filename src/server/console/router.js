// Every view is a URL below /console; links are followed without loading the page again.

const root = "/console";

/** @typedef {{page: string, rest: string[], query: URLSearchParams}} Route */

/** @returns {Route} */
export function route() {
  const [page = "", ...rest] = location.pathname
    .slice(root.length + 1)
    .split("/")
    .map(decoded);
  return { page, rest, query: new URLSearchParams(location.search) };
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The URL of a view.
 * @param {string} path such as "tasks/12"
 * @param {Record<string, string | undefined> | URLSearchParams} [query] without empty values
 */
export function url(path, query = {}) {
  const given = query instanceof URLSearchParams ? [...query] : Object.entries(query);
  const text = new URLSearchParams();
  for (const [name, value] of given) if (value) text.append(name, value);
  const search = text.toString();
  return `${root}${path ? `/${path}` : ""}${search ? `?${search}` : ""}`;
}

/**
 * @param {string} to
 * @param {{replace?: boolean}} [how]
 */
export function go(to, { replace = false } = {}) {
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  dispatchEvent(new Event("routed"));
  if (!replace) scrollTo(0, 0);
}

/** Follows links within the console; the browser handles others, and those for a new tab. */
export function followLinks() {
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = /** @type {Element} */ (event.target).closest("a");
    if (!link || link.target || link.hash || link.origin !== location.origin) return;
    if (link.pathname !== root && !link.pathname.startsWith(`${root}/`)) return;
    event.preventDefault();
    go(link.href);
  });
  addEventListener("popstate", () => dispatchEvent(new Event("routed")));
}
