// Webhooks that wait or were given up, with what went wrong.
import { deliveries } from "./api.js";
import { nothing, taskLink } from "./bits.js";
import { deliveryList, showDeliveries } from "./delivery-list.js";
import { fill, h } from "./dom.js";
import { Page } from "./page.js";
import { url } from "./router.js";

class Deliveries extends Page {
  constructor() {
    super();
    this.tabs = h("div", { class: "shortcuts" });
    this.list = deliveryList();
    this.empty = nothing("No webhooks are waiting or abandoned.");
    this.more = h("button", { type: "button", hidden: true }, "More");
    /** @type {import("./api.js").Delivery[]} */
    this.further = [];
    this.next = "";
  }

  connectedCallback() {
    fill(this, this.heading("Deliveries"), this.tabs, this.problem, this.list, this.empty, this.more);
    this.more.addEventListener("click", () => this.attempt(() => this.another()));
    this.routed();
  }

  routed() {
    const { query } = this.route;
    const now = query.get("state") ?? "";
    const others = Object.fromEntries([...query].filter(([name]) => name !== "state"));
    const tab = (/** @type {string} */ name, /** @type {string} */ state) =>
      h(
        "a",
        { href: url("deliveries", { ...others, state }), "aria-current": now === state ? "true" : undefined },
        name,
      );
    const task = query.get("task");
    fill(
      this.tabs,
      tab("All open", ""),
      tab("Given up", "given-up"),
      tab("Waiting", "waiting"),
      task ? h("span", null, "of task ", taskLink(task)) : null,
    );
    this.further = [];
    this.empty.hidden = true;
    this.every(4000, () => this.refresh());
  }

  get query() {
    return Object.fromEntries(this.route.query);
  }

  async refresh() {
    const page = await deliveries(this.query, this.signal);
    if (this.further.length === 0) this.next = page.next ?? "";
    showDeliveries(this.list, [...page.deliveries, ...this.further], () => this.attempt(() => this.refresh()));
    this.empty.hidden = page.deliveries.length > 0;
    this.more.hidden = this.next === "";
  }

  async another() {
    const page = await deliveries({ ...this.query, cursor: this.next }, this.signal);
    this.further.push(...page.deliveries);
    this.next = page.next ?? "";
    await this.refresh();
  }
}
customElements.define("baton-deliveries", Deliveries);
