// Asks for a token in a dialog over the page, which keeps its state: no typed text is lost.
import { Trouble, token } from "./chat-api.js";
import { h } from "./dom.js";
import { signedIn, signInHost, signInThere } from "./signed-in.js";

/**
 * Resolves once a token was entered; rejects if the dialog was closed.
 * @param {boolean} hadOne whether there was a token, which the server no longer accepts
 * @returns {Promise<void>}
 */
export function askForToken(hadOne) {
  const field = h("input", { type: "password", required: true, id: "token", autocomplete: "current-password" });
  const why = hadOne
    ? "Your token is not valid here, or it has expired. Enter another one to continue."
    : "This server requires a token. Ask its operator for one.";
  const there = h("button", { type: "button", class: "primary" }, `Sign in at ${signInHost()}`);
  there.addEventListener("click", signInThere);
  const form = h(
    "form",
    null,
    h("h2", null, "Sign in"),
    h("p", { id: "why" }, why),
    signedIn().signIn ? there : null,
    h("label", { for: "token" }, "Token"),
    field,
    h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Continue")),
  );
  const dialog = h("dialog", { class: "token", "aria-label": "Sign in", "aria-describedby": "why" }, form);
  document.body.append(dialog);
  dialog.showModal();
  (signedIn().signIn ? there : field).focus();
  return new Promise((resolve, reject) => {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      token.set(field.value.trim());
      dialog.close();
      resolve();
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      reject(new Trouble("Enter a token to continue."));
    });
  });
}
