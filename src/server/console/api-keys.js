// API keys: who has which, and making, rotating and revoking them.
import { apiKeys, post } from "./api.js";
import { copyButton, nothing, state } from "./bits.js";
import { confirmed, holdOpen, toast } from "./dialog.js";
import { fill, h, keyed } from "./dom.js";
import { mayAct, Page } from "./page.js";
import { when } from "./when.js";

/** @typedef {import("./api.js").ApiKey} ApiKey */

const day = 86400;
/** The scopes that a key of the role can use. */
const scopes = /** @type {Record<string, string[]>} */ ({
  caller: ["send", "read", "cancel"],
  viewer: ["read"],
  operator: ["send", "read", "cancel", "operate"],
});

/**
 * Shows a new key, which cannot be seen again: only the button closes the dialog.
 * @param {string} text
 * @param {ApiKey} key
 */
function showOnce(text, key) {
  const close = h("button", { type: "button", class: "primary" }, "Done");
  const dialog = h(
    "dialog",
    { "aria-label": "New key" },
    h("h2", null, `New key of ${key.caller}`),
    h("p", null, "It is shown only now. Store it where its caller finds it."),
    h("div", { class: "code" }, text),
    h("div", { class: "buttons" }, copyButton("Copy", "Copy the key", () => text), close),
  );
  holdOpen(dialog, () => true);
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/**
 * A label with its input.
 * @param {string} id
 * @param {string} label
 * @param {Record<string, any>} props
 */
function field(id, label, props) {
  const input = h("input", { id, autocomplete: "off", ...props });
  return { input, parts: [h("label", { for: id }, label), input] };
}

/** @param {string} text */
const listed = (text) => text.split(/[\s,]+/).filter((word) => word !== "");

class ApiKeys extends Page {
  constructor() {
    super();
    this.list = h("ol", { class: "cards grid", "aria-label": "API keys" });
    this.empty = nothing("No API keys yet.");
  }

  connectedCallback() {
    this.empty.hidden = true;
    const create = h("button", { type: "button", hidden: !mayAct() }, "Create…");
    create.addEventListener("click", () => this.create());
    fill(this, this.heading("API keys", create), this.problem, this.list, this.empty);
    this.every(4000, () => this.refresh());
  }

  async refresh() {
    const { keys } = await apiKeys(this.signal);
    keyed(
      this.list,
      keys.reverse(),
      ({ id }) => id,
      (row) => this.card(row),
    );
    this.empty.hidden = keys.length > 0;
  }

  /** @param {ApiKey} row */
  card(row) {
    /** @type {[string, import("./dom.js").Child][]} */
    const figures = [
      ["Created", when(row.createdAt)],
      ["By", row.createdBy],
      ["Last use", row.usedAt ? when(row.usedAt) : "never"],
      ["Expires", row.expiresAt ? when(row.expiresAt) : "never"],
      ...(row.revokedAt ? [/** @type {[string, import("./dom.js").Child]} */ (["Revoked", when(row.revokedAt)])] : []),
      ["Scopes", row.scopes.join(", ")],
      ["Agents", row.agents?.join(", ") ?? "all"],
      ...(row.children ? [/** @type {[string, import("./dom.js").Child]} */ (["Children", row.children])] : []),
    ];
    return h(
      "li",
      { class: "card", "data-row": "" },
      h(
        "div",
        { class: "card-head" },
        h("b", null, row.caller),
        h("span", { class: "faint" }, row.id),
        row.role === "caller" ? null : h("span", { class: "mark" }, row.role),
        state(row.state),
      ),
      h(
        "dl",
        { class: "figures" },
        ...figures.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))),
      ),
      mayAct() && row.state === "valid" ? this.actions(row) : null,
    );
  }

  /** @param {ApiKey} row */
  actions(row) {
    const rotate = h("button", { type: "button" }, "Rotate…");
    rotate.addEventListener("click", () => this.rotate(row));
    const revoke = h("button", { type: "button" }, "Revoke…");
    revoke.addEventListener("click", () => this.revoke(row));
    return h("div", { class: "buttons" }, rotate, revoke);
  }

  /**
   * Asks, posts and shows the key that was made.
   * @param {Omit<import("./dialog.js").Ask, "act">} ask
   * @param {string} path
   * @param {() => object} body
   */
  async make(ask, path, body) {
    /** @type {{apiKey: string, key: ApiKey} | undefined} */
    let made;
    const act = async (/** @type {string} */ reason) => (made = await post(path, { ...body(), reason }));
    await confirmed({ ...ask, act });
    if (!made) return;
    showOnce(made.apiKey, made.key);
    this.attempt(() => this.refresh());
  }

  create() {
    const caller = field("key-caller", "Caller", { required: true, maxLength: 256 });
    const days = field("key-days", "Days until it expires (empty: never)", { type: "number", min: 1, max: 3660 });
    const agents = field("key-agents", "Agents, separated by commas (empty: all)", {});
    const role = h(
      "select",
      { id: "key-role" },
      ...["caller", "viewer", "operator"].map((name) => h("option", { value: name }, name)),
    );
    const boxes = scopes.operator.map((name) => h("input", { type: "checkbox", checked: true, value: name }));
    const fits = () => {
      for (const box of boxes) {
        box.disabled = !scopes[role.value].includes(box.value);
        box.checked = !box.disabled;
      }
      for (const part of agents.parts) part.hidden = role.value === "viewer";
    };
    role.addEventListener("change", fits);
    fits();
    const more = [
      ...caller.parts,
      h("label", { for: "key-role" }, "Role"),
      role,
      h("fieldset", null, h("legend", null, "Scopes"), ...boxes.map((box) => h("label", null, box, ` ${box.value}`))),
      ...agents.parts,
      ...days.parts,
    ];
    return this.make({ title: "Create a key", verb: "Create", more }, "/keys", () => ({
      caller: caller.input.value.trim(),
      role: role.value,
      scopes: boxes.filter((box) => box.checked).map((box) => box.value),
      ...(role.value !== "viewer" && listed(agents.input.value).length > 0 ? { agents: listed(agents.input.value) } : {}),
      ...(days.input.value ? { seconds: Number(days.input.value) * day } : {}),
    }));
  }

  /** @param {ApiKey} row */
  rotate(row) {
    const hours = field("key-overlap", "Hours that the old key stays valid", {
      type: "number",
      min: 0,
      max: 720,
      value: "24",
      required: true,
    });
    const ask = {
      title: `Rotate key ${row.id} of ${row.caller}`,
      words: "The new key has the same rights and the same lifetime.",
      verb: "Rotate",
      more: hours.parts,
    };
    return this.make(ask, `/keys/${encodeURIComponent(row.id)}/rotate`, () => ({
      overlapSeconds: Number(hours.input.value) * 3600,
    }));
  }

  /** @param {ApiKey} row */
  async revoke(row) {
    const act = (/** @type {string} */ reason) => post(`/keys/${encodeURIComponent(row.id)}/revoke`, { reason });
    const words = "It is refused at once, on other nodes within a second. Streams that are open stay open.";
    const title = `Revoke key ${row.id} of ${row.caller}`;
    if (!(await confirmed({ title, words, verb: "Revoke", danger: true, act }))) return;
    toast(`Key ${row.id} is revoked.`);
    this.attempt(() => this.refresh());
  }
}
customElements.define("baton-api-keys", ApiKeys);
