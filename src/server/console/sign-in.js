// Asks for a token, which stays in this tab and is sent as a header, or for a sign-in elsewhere.
import { token } from "./api.js";
import { fill, h } from "./dom.js";
import { signedIn, signInHost, signInThere } from "./signed-in.js";

class SignIn extends HTMLElement {
  constructor() {
    super();
    this.problem = "";
  }

  connectedCallback() {
    const field = h("input", { type: "password", required: true, id: "token", autocomplete: "current-password" });
    const form = h(
      "form",
      { class: "sign-in" },
      h("h1", null, "Baton"),
      h("label", { for: "token" }, "Token of an operator or a viewer"),
      field,
      this.problem ? h("p", { class: "problem", role: "alert" }, this.problem) : null,
      h("button", { type: "submit", class: "primary" }, "Sign in"),
      h("p", { class: "faint" }, "With --dev the server prints a link that signs you in."),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      token.set(field.value.trim());
      this.dispatchEvent(new Event("signed-in"));
    });
    const there = h("button", { type: "button", class: "primary" }, `Sign in at ${signInHost()}`);
    there.addEventListener("click", signInThere);
    if (signedIn().signIn) {
      form.insertBefore(there, form.querySelector("label"));
      form.insertBefore(h("p", { class: "faint" }, "or"), form.querySelector("label"));
    }
    fill(this, h("main", null, form));
    (signedIn().signIn ? there : field).focus();
  }
}
customElements.define("baton-sign-in", SignIn);
