// The page for users of agents: the list of conversations, the open conversation, and the form to write in. The
// address names the open conversation: #agent=echo&context=...
import { agents, askBy, isAbort, isSignedIn, leave, takeToken, told } from "./chat-api.js";
import { Compose } from "./chat-compose.js";
import { Conversations } from "./chat-list.js";
import { Talk } from "./chat-talk.js";
import { Problem } from "./chat-problem.js";
import { askForToken } from "./chat-token.js";
import { fill, h, say } from "./dom.js";
import { signedIn, stillSignedIn } from "./signed-in.js";
import { theme } from "./theme.js";

/** @param {string} agent
 * @param {string} [context] */
function addressOf(agent, context) {
  const query = new URLSearchParams({ agent });
  if (context) query.set("context", context);
  return `#${query}`;
}

// The agent that was used last. It comes first the next time.
const lastPlace = "baton-chat-agent";

class Chat extends HTMLElement {
  constructor() {
    super();
    this.list = new Conversations(addressOf);
    this.talk = new Talk();
    this.compose = new Compose(
      (parts, isAnew) => this.talk.say(parts, isAnew),
      () => this.talk.halt(),
    );
    this.choice = h("select", { "aria-label": "Agent", name: "agent" });
    this.heading = h("h1", { dir: "auto" }, "Chat");
    this.problem = new Problem("alert");
    this.leave = h("button", { type: "button", class: "link" }, "Sign out");
    this.who = h("span", { class: "faint", dir: "auto" });
    this.drawer = h("nav", { class: "side-list", id: "conversations", "aria-label": "Conversations" });
    this.opener = h("button", { type: "button", class: "opener", "aria-controls": "conversations" }, "☰");
    /** @type {import("./chat-api.js").Agent[]} */
    this.agents = [];
    this.known = "";
  }

  async connectedCallback() {
    askBy(askForToken);
    this.build();
    this.listen();
    await takeToken();
    this.begin();
  }

  build() {
    const fresh = h("button", { type: "button", class: "fresh" }, "New conversation");
    fresh.addEventListener("click", () => this.go(addressOf(this.choice.value)));
    fill(
      this.drawer,
      h("label", { class: "agent-choice" }, h("span", null, "Agent"), this.choice),
      fresh,
      this.list.element,
      h("div", { class: "foot" }, theme(), this.who, this.leave),
    );
    const top = h("header", { class: "chat-top" }, this.opener, this.heading);
    const main = h("main", null, top, this.problem.element, this.talk.element, this.compose.form);
    this.compose.takeDropsOn(this);
    fill(this, this.drawer, h("div", { class: "veil" }), main);
    this.openDrawer(false);
  }

  listen() {
    addEventListener("hashchange", async () => {
      if (await takeToken()) this.begin();
      else this.show();
    });
    addEventListener("visibilitychange", () => document.hidden || this.list.renew());
    this.choice.addEventListener("change", () => this.go(addressOf(this.choice.value)));
    this.opener.addEventListener("click", () => this.openDrawer(!this.classList.contains("is-open")));
    this.querySelector(".veil")?.addEventListener("click", () => this.openDrawer(false));
    this.drawer.addEventListener("click", (event) => {
      if (/** @type {Element} */ (event.target).closest("a, .fresh")) this.openDrawer(false);
    });
    this.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.classList.contains("is-open")) this.openDrawer(false);
    });
    this.leave.addEventListener("click", async () => {
      if (await leave()) location.reload();
      else this.problem.tell(stillSignedIn);
    });
    this.talk.addEventListener("begun", () => {
      history.pushState(null, "", addressOf(this.choice.value, this.talk.context));
      this.list.select(this.talk.context);
    });
    this.talk.addEventListener("changed", () => this.reflect());
    this.talk.addEventListener("edit", (event) => this.compose.take(/** @type {CustomEvent} */ (event).detail));
    this.list.addEventListener("changed", () => this.entitle());
    this.list.addEventListener("gone", () => this.go(addressOf(this.choice.value)));
  }

  /** Fetches the agents, and opens the conversation that the address names. */
  async begin() {
    this.problem.tell("");
    try {
      const rank = (/** @type {import("./chat-api.js").Agent} */ one) =>
        one.name === localStorage.getItem(lastPlace) ? 0 : one.default ? 1 : 2;
      this.agents = (await agents()).sort((one, other) => rank(one) - rank(other));
      this.leave.hidden = !isSignedIn();
      say(this.who, signedIn().name ?? "");
      fill(this.choice, ...this.agents.map(({ name, title }) => h("option", { value: name }, title)));
      if (this.agents.length === 0) return this.problem.tell("There are no agents that you may use.");
      this.show();
    } catch (error) {
      if (!isAbort(error)) this.problem.tell(told(error), () => this.begin());
    }
  }

  /** @param {string} address */
  go(address) {
    if (location.hash === address) return this.show();
    location.hash = address;
  }

  /** Opens the conversation that the address names. */
  show() {
    const query = new URLSearchParams(location.hash.slice(1));
    const wanted = query.get("agent");
    const agent = wanted ? this.agents.find(({ name }) => name === wanted) : this.agents[0];
    if (!agent) {
      this.talk.close();
      return this.problem.tell(`Agent “${wanted}” does not exist, or you may not use it.`);
    }
    this.problem.tell("");
    localStorage.setItem(lastPlace, agent.name);
    const context = query.get("context") ?? "";
    this.choice.value = agent.name;
    this.list.open(agent);
    this.list.select(context);
    // Words for a new conversation stay if only the agent changes.
    if (context || this.talk.context) this.compose.clear();
    else this.compose.tell("");
    this.talk.open(agent, context);
    this.entitle();
    this.reflect();
    if (matchMedia("(min-width: 761px)").matches) this.compose.words.focus();
  }

  reflect() {
    const { isBusy, asking } = this.talk;
    this.compose.reflect({ isBusy, isAsking: asking !== undefined, hasForm: asking?.hasForm ?? false });
    this.list.note(this.talk.state);
    // The list changes when the server has accepted a message, and when it has answered.
    const now = `${isBusy} ${this.talk.newest}`;
    if (this.known !== now) this.list.renew();
    this.known = now;
  }

  entitle() {
    const agent = this.agents.find(({ name }) => name === this.choice.value);
    const title = this.list.titleOf(this.list.current) || agent?.title || "Chat";
    say(this.heading, title);
    document.title = agent ? `${title} · ${agent.title}` : title;
  }

  /** @param {boolean} isOpen */
  openDrawer(isOpen) {
    this.classList.toggle("is-open", isOpen);
    this.opener.setAttribute("aria-expanded", String(isOpen));
    this.opener.setAttribute("aria-label", isOpen ? "Hide the conversations" : "Show the conversations");
  }
}
customElements.define("baton-chat", Chat);
