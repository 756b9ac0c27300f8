// Links that carry a token (#token=...). A link may come from anybody, so a token or session in use is replaced only if
// the user agrees.
import { h } from "./dom.js";
import { lookUp } from "./signed-in.js";

/** The token in the address; null if there is none. */
const tokenInAddress = () => new URLSearchParams(location.hash.slice(1)).get("token");

/** Removes the token from the address, and keeps the rest: no copied address has it. */
function clearAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  given.delete("token");
  const rest = given.toString();
  history.replaceState(null, "", location.pathname + location.search + (rest ? `#${rest}` : ""));
}

/** @typedef {{get: () => string, set: (value: string) => void}} Kept */

let before = Promise.resolve(false);

/**
 * Moves a link's token from the address to where it is kept; calls wait for each other. The address has it until it is
 * kept or refused, so that a reload meanwhile does not lose it. Returns whether there was one. `whose` returns a text
 * that names a token's owner, "" if that cannot be found out, and null if the server does not know the token.
 * @param {Kept} token
 * @param {(value: string) => Promise<string | null>} whose
 */
export function takeLink(token, whose) {
  before = before.then(async () => {
    const given = tokenInAddress();
    if (given === null) return false;
    if (await isTaken(token, given, whose)) token.set(given);
    if (tokenInAddress() === given) clearAddress();
    return true;
  });
  return before;
}

/**
 * @param {Kept} token
 * @param {string} given
 * @param {(value: string) => Promise<string | null>} whose
 */
async function isTaken(token, given, whose) {
  const used = token.get();
  if (!given || given === used) return false;
  const owner = (used ? await whose(used) : null) ?? (await whoSignedIn());
  return owner === null || replaces(owner, await whose(given));
}

/** The name of who has signed in, "" if the server does not say, and null for nobody. */
async function whoSignedIn() {
  const said = await lookUp();
  if (!said) return "";
  return said.caller ? said.name || said.caller : null;
}

/**
 * @param {string} now
 * @param {string | null} then
 * @returns {Promise<boolean>}
 */
function replaces(now, then) {
  const other = then || (then === null ? "nobody that this server knows" : "an unnamed caller");
  const keep = h("button", { type: "button", class: "primary" }, "Stay signed in");
  const take = h("button", { type: "button", disabled: then === null }, "Use the link’s token");
  const dialog = h(
    "dialog",
    { class: "token", "aria-label": "Another token", "aria-describedby": "whose" },
    h("h2", null, "Sign in as someone else?"),
    h("p", { id: "whose" }, `You are signed in as ${now || "someone"}. The link has the token of ${other}.`),
    h("div", { class: "buttons" }, take, keep),
  );
  document.body.append(dialog);
  dialog.showModal();
  keep.focus();
  return new Promise((resolve) => {
    let takes = false;
    take.addEventListener("click", () => {
      takes = true;
      dialog.close();
    });
    keep.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(takes);
    });
  });
}
