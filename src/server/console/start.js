// The start page: what this server is, the agents that the visitor may use, and a first request to copy.
import { agents, askBy, isAbort, isSignedIn, leave, takeToken, token, told, Trouble } from "./chat-api.js";
import { copy, newId } from "./bits.js";
import { askForToken } from "./chat-token.js";
import { fill, h } from "./dom.js";
import { stillSignedIn } from "./signed-in.js";
import { theme } from "./theme.js";

/** @typedef {import("./chat-api.js").Agent} Agent */
/** @typedef {Record<string, string>} Links */

class NoToken extends Trouble {}

/** The part of a URL that leads there from this page, so that a name elsewhere never leaves this server.
 * @param {string} url */
const pathOf = (url) => new URL(url, location.href).pathname;

/** A word for a POSIX shell.
 * @param {string} text */
const quoted = (text) => /^[\w.:/@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** @param {Agent} agent */
function curlFor(agent) {
  const message = { messageId: newId(), role: "ROLE_USER", parts: [{ text: "Hello, Baton" }] };
  return [
    `curl -s ${quoted(`${location.origin}/agents/${agent.name}/message:send`)}`,
    ...(token.get() ? ['-H "Authorization: Bearer $BATON_TOKEN"'] : []),
    "-H 'A2A-Version: 1.0'",
    "-H 'Content-Type: application/json'",
    `-d ${quoted(JSON.stringify({ message }))}`,
  ].join(" ");
}

/** @param {Agent} agent */
function clientFor(agent) {
  return `baton send --url ${quoted(location.origin)} --agent ${quoted(agent.name)} 'Hello, Baton'`;
}

/**
 * A command with a button that copies it. A repeated message id would name the same task, so a command is written
 * anew once it was copied.
 * @param {string} title
 * @param {() => string} write
 */
function command(title, write) {
  const code = h("code", null, write());
  const button = h("button", { type: "button", "aria-label": `Copy: ${title}` }, "Copy");
  const said = h("span", { role: "status", class: "good" });
  button.addEventListener("click", async () => {
    try {
      await copy(code.textContent ?? "");
      fill(said, "Copied");
      fill(code, write());
    } catch {
      fill(said, "The browser does not allow copying: select the text instead.");
    }
  });
  const right = h("span", { class: "buttons" }, said, button);
  return h("div", { class: "command" }, h("div", { class: "command-head" }, title, right), h("pre", null, code));
}

/** The default agent, if there is one, before the others.
 * @param {Agent[]} all */
const first = (all) => [...all.filter((one) => one.default), ...all.filter((one) => !one.default)];

/** @param {Agent} agent */
function cardOf(agent) {
  const talk = `/chat#${new URLSearchParams({ agent: agent.name })}`;
  return h(
    "li",
    { class: "card" },
    h("h3", { dir: "auto" }, agent.title),
    h("span", { class: "id" }, agent.name, agent.default && h("span", { class: "mark" }, "default agent")),
    h("p", { class: "about", dir: "auto" }, agent.description),
    h(
      "div",
      { class: "buttons" },
      h("a", { class: "button primary", href: talk, "aria-label": `Talk to it: ${agent.title}` }, "Talk to it"),
      h("a", { class: "button", href: pathOf(agent.card), "aria-label": `Card: ${agent.title}` }, "Card"),
    ),
  );
}

class Start extends HTMLElement {
  constructor() {
    super();
    this.place = h("section", { "aria-label": "Agents" });
    this.first = h("section", { "aria-label": "From a terminal", hidden: true });
    this.ways = h("div", { class: "ways" });
    this.paths = h("dl", { class: "paths" });
    this.leave = h("button", { type: "button", class: "link", hidden: true }, "Sign out");
    this.shown = "";
  }

  async connectedCallback() {
    const icon = h("img", { src: "/chat/icon.svg", alt: "" });
    const lead =
      "Baton serves agents over A2A, AG-UI and MCP. Every task is stored before it is answered, so a crash, a restart or a " +
      "lost connection loses nothing.";
    fill(
      this,
      h(
        "header",
        { class: "top" },
        h("span", { class: "brand" }, icon, "Baton"),
        h("div", { class: "me" }, theme(), this.leave),
      ),
      h(
        "main",
        null,
        h("h1", null, "Baton is running"),
        h("p", { class: "lead" }, lead),
        this.ways,
        this.place,
        this.first,
        h("section", { "aria-label": "Paths" }, h("h2", null, "Paths"), this.paths),
      ),
    );
    this.leave.addEventListener("click", async () => {
      if (await leave()) location.reload();
      else this.problem(stillSignedIn);
    });
    addEventListener("hashchange", async () => (await takeToken()) && this.show());
    addEventListener("visibilitychange", () => document.hidden || this.show());
    await takeToken();
    await Promise.all([this.links(), this.show()]);
  }

  /** Fetches the links that other clients get at this address: only those of pages that are served. */
  async links() {
    const response = await fetch("/", { headers: { Accept: "application/json" } }).catch(() => null);
    /** @type {Links} */
    const links = response?.ok ? (await response.json()).links : {};
    const { chat, console: board } = links;
    fill(
      this.ways,
      chat && h("a", { class: "button primary", href: pathOf(chat) }, "Open the chat"),
      board && h("a", { class: "button", href: pathOf(board) }, "Open the console"),
    );
    const rows = [
      [links.chat, "Talk to the agents in the browser"],
      [links.console, "Watch and repair tasks, with an operator’s token"],
      [links.agents, "The agents and the URLs of their cards, as JSON"],
      [links.health, "Whether the server is running"],
      [links.ready, "Whether it accepts requests, and which cards are invalid"],
    ];
    fill(
      this.paths,
      ...rows.flatMap(([url, about]) =>
        url ? [h("dt", null, h("a", { href: pathOf(url) }, pathOf(url))), h("dd", null, about)] : [],
      ),
    );
  }

  /** Shows the visitor's agents, or asks to sign in. @param {boolean} [asks] whether to open the dialog at once */
  async show(asks = false) {
    askBy(asks ? askForToken : () => Promise.reject(new NoToken("")));
    try {
      const all = await agents();
      const now = JSON.stringify([all, isSignedIn()]);
      if (now !== this.shown) this.list(all);
      this.shown = now;
    } catch (error) {
      if (isAbort(error)) return;
      this.shown = "";
      this.first.hidden = true;
      if (error instanceof NoToken) this.askToSignIn();
      else this.problem(told(error));
    }
    this.leave.hidden = !isSignedIn();
  }

  /** @param {Agent[]} all */
  list(all) {
    const heading = h("h2", null, "Agents", h("small", null, all.length > 1 && `${all.length}`));
    if (all.length === 0) {
      const none = "No agents yet. The command baton init agents/hello makes one in the folder agents.";
      fill(this.place, heading, h("p", { class: "nothing" }, isSignedIn() ? "There are no agents that you may use." : none));
      this.first.hidden = true;
      return;
    }
    fill(this.place, heading, h("ol", { class: "agents" }, ...first(all).map(cardOf)));
    const [agent] = first(all);
    fill(
      this.first,
      h("h2", null, "From a terminal"),
      token.get() && h("p", { class: "faint" }, "Set the variable BATON_TOKEN to your token first."),
      command("With curl, over A2A 1.0", () => curlFor(agent)),
      command("With Baton’s own client", () => clientFor(agent)),
    );
    this.first.hidden = false;
  }

  askToSignIn() {
    const button = h("button", { type: "button", class: "primary" }, "Sign in");
    button.addEventListener("click", () => this.show(true));
    const why = token.get()
      ? "This server no longer accepts your token. Sign in again to see your agents."
      : "This server requires a token. Sign in to see the agents that you may use.";
    fill(this.place, h("h2", null, "Agents"), h("div", { class: "panel sign" }, h("p", null, why), button));
  }

  /** @param {string} text */
  problem(text) {
    const again = h("button", { type: "button" }, "Try again");
    again.addEventListener("click", () => this.show());
    const shown = h("div", { class: "problem sign", role: "alert" }, h("p", { dir: "auto" }, text), again);
    fill(this.place, h("h2", null, "Agents"), shown);
  }
}
customElements.define("baton-start", Start);
