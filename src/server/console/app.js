// The page's frame: who is signed in, the ways to the views, the keyboard.
import { ApiError, me, takeToken, token } from "./api.js";
import { fill, h } from "./dom.js";
import { session, told } from "./page.js";
import { followLinks, route, url } from "./router.js";
import { onKey, showHelp } from "./keys.js";
import { theme } from "./theme.js";
import { lookUp, signedIn, signOut, stillSignedIn } from "./signed-in.js";
import "./agents.js";
import "./api-keys.js";
import "./audit.js";
import "./bulk.js";
import "./deliveries.js";
import "./jobs.js";
import "./nodes.js";
import "./overview.js";
import "./plans.js";
import "./playground.js";
import "./schedules.js";
import "./sign-in.js";
import "./task.js";
import "./tasks.js";
import "./waiting.js";

/** @type {{path: string, title: string, tag: string, key: string, act?: boolean, shared?: boolean}[]} */
const views = [
  { path: "", title: "Overview", tag: "baton-overview", key: "o" },
  { path: "tasks", title: "Tasks", tag: "baton-tasks", key: "t" },
  { path: "waiting", title: "Waiting", tag: "baton-waiting", key: "w" },
  { path: "deliveries", title: "Deliveries", tag: "baton-deliveries", key: "d" },
  { path: "agents", title: "Agents", tag: "baton-agents", key: "a" },
  { path: "plans", title: "Plans", tag: "baton-plans", key: "p" },
  { path: "schedules", title: "Schedules", tag: "baton-schedules", key: "s" },
  { path: "nodes", title: "Nodes", tag: "baton-nodes", key: "n", shared: true },
  { path: "keys", title: "Keys", tag: "baton-api-keys", key: "k" },
  { path: "audit", title: "Audit", tag: "baton-audit", key: "u" },
  { path: "playground", title: "Playground", tag: "baton-playground", key: "l", act: true },
];

/** The views for the signed-in user, on a server with or without other nodes. */
function shownViews() {
  return views.filter(({ act, shared }) => (!act || session.role === "operator") && (!shared || session.nodes));
}

/** The element for a route, and the key that makes it another page rather than another state of the same page. */
function pageFor() {
  const { page, rest } = route();
  if (page === "tasks" && rest[0]) return { tag: "baton-task", id: `task ${rest[0]}` };
  if (page === "bulk" && !rest[0]) return { tag: "baton-jobs", id: "jobs" };
  if (page === "bulk") return { tag: "baton-bulk", id: `bulk ${rest[0]}` };
  const view = shownViews().find(({ path }) => path === page);
  return view ? { tag: view.tag, id: view.path } : null;
}

class App extends HTMLElement {
  constructor() {
    super();
    this.nav = h("nav", { "aria-label": "Views" });
    this.main = h("main", { tabIndex: -1 });
    this.shown = "";
  }

  async connectedCallback() {
    followLinks();
    addEventListener("routed", () => this.show());
    addEventListener("signed-out", () => this.signIn(token.get() ? "This token is not valid." : "Your session has ended."));
    addEventListener("hashchange", async () => {
      if (await takeToken()) this.begin();
    });
    document.addEventListener("keydown", (event) => onKey(event, shownViews()));
    await takeToken();
    this.begin();
  }

  async begin() {
    if (!token.get()) {
      const said = await lookUp();
      if (!said) return this.waitForServer("The server cannot be reached.");
      if (!said.name) return this.signIn("");
    }
    try {
      Object.assign(session, await me());
      this.frame();
      this.show();
    } catch (error) {
      const status = error instanceof ApiError ? error.status : 0;
      if (status === 401) return;
      if (status === 403 && token.get()) return this.signIn("This token may not see the console.");
      if (status === 403) return this.signIn(`You have signed in as ${signedIn().name}, who may not see the console.`);
      this.waitForServer(told(error));
    }
  }

  /**
   * Shows why the server did not name the token's owner, and asks it again soon. The token is kept, because a page
   * that is left during the request comes here too.
   * @param {string} problem
   */
  waitForServer(problem) {
    this.shown = "";
    fill(this, h("main", null, h("h1", null, "Baton"), h("p", { class: "problem", role: "alert" }, problem)));
    setTimeout(() => this.begin(), 1000);
  }

  /** @param {string} problem */
  signIn(problem) {
    token.forget();
    this.shown = "";
    document.title = "Sign in · Baton";
    const form = h(/** @type {any} */ ("baton-sign-in"), { problem });
    form.addEventListener("signed-in", () => this.begin());
    fill(this, form);
  }

  frame() {
    fill(
      this.nav,
      ...shownViews().map(({ path, title, key }) =>
        h("a", { href: url(path), "data-path": path, title: `${title} (g ${key})` }, title),
      ),
    );
    const leave = h("button", { type: "button", class: "link" }, "Sign out");
    leave.addEventListener("click", async () => {
      this.signIn((await signOut()) ? "" : stillSignedIn);
    });
    const help = h("button", { type: "button", class: "link", title: "Keys (?)", "aria-label": "Keys" }, "?");
    help.addEventListener("click", () => showHelp(shownViews()));
    const who = h("span", { class: "who", title: `Baton ${session.version}` }, `${(!token.get() && signedIn().name) || session.actor} · ${session.role}`);
    fill(
      this,
      h("a", { class: "skip", href: "#main" }, "Skip to content"),
      h(
        "header",
        { class: "top" },
        h("a", { class: "brand", href: url(""), title: `Baton ${session.version}` }, "Baton"),
        this.nav,
        h("div", { class: "me" }, who, theme(), help, leave),
      ),
      this.main,
    );
    this.main.id = "main";
  }

  show() {
    if (!session.role || !this.main.isConnected) return;
    const { page } = route();
    for (const link of this.nav.querySelectorAll("a")) {
      const here = link.dataset.path === (page === "bulk" ? "tasks" : page);
      if (here) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
      if (here) link.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    const found = pageFor();
    if (!found) {
      this.shown = "";
      return fill(
        this.main,
        h("h1", null, "Page not found"),
        h("p", null, h("a", { href: url("") }, "Go to the overview")),
      );
    }
    const current = /** @type {any} */ (this.main.firstElementChild);
    if (found.id === this.shown && current?.routed) return current.routed();
    this.shown = found.id;
    fill(this.main, document.createElement(found.tag));
  }
}
customElements.define("baton-app", App);
