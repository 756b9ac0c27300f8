// Who has signed in at the company's authorization server. The session is a cookie that no script sees; what changes
// something is sent with its CSRF token.

/**
 * @typedef {{
 *   signIn: boolean, issuer?: string, name?: string, caller?: string, role?: string, expiresAt?: string, csrf?: string
 * }} SignedIn
 */

const place = "/sign-in/session";

/** @type {SignedIn} */
let known = { signIn: false };

/** What the server said last. */
export const signedIn = () => known;

/** Asks the server who has signed in. Null: it does not say. @returns {Promise<SignedIn | null>} */
export async function lookUp() {
  const answer = await fetch(place, { credentials: "same-origin", cache: "no-store" }).catch(() => null);
  const said = answer?.ok ? await answer.json().catch(() => null) : null;
  if (said) known = said;
  return said;
}

/** @type {() => Record<string, string>} */
export const csrf = () => (known.csrf ? { "X-CSRF-Token": known.csrf } : {});

export const stillSignedIn = "You are still signed in: the server did not end your session. Reload the page and try again.";

/** Ends the session if there is one. Returns whether there is none any more. */
export async function signOut() {
  const said = await lookUp();
  if (!said?.csrf) return said !== null;
  const how = { method: "DELETE", headers: csrf(), credentials: /** @type {RequestCredentials} */ ("same-origin") };
  const answer = await fetch(place, how).catch(() => null);
  if (answer?.status !== 204) return false;
  known = { signIn: true, issuer: said.issuer };
  return true;
}

/** A token of the person who has signed in, for requests to agents; "" without one. It is valid for some minutes. */
export async function pageToken() {
  const headers = { "Content-Type": "application/json", ...csrf() };
  const how = { method: "POST", headers, body: "{}", cache: /** @type {RequestCache} */ ("no-store") };
  const answer = await fetch("/tokens", { ...how, credentials: "same-origin" }).catch(() => null);
  return answer?.ok ? String((await answer.json()).token) : "";
}

/** Leaves the page for the authorization server, which sends the browser back to it. */
export function signInThere() {
  const here = location.pathname + location.search + location.hash;
  location.assign(`/sign-in?to=${encodeURIComponent(here)}`);
}

/** The host of the authorization server. */
export function signInHost() {
  return known.issuer ? new URL(known.issuer).host : "";
}
