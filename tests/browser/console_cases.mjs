// Cases of an operator in the console. Each case opens a view of the real program.
import assert from "node:assert/strict";
import { Server } from "../interop/lib/server.mjs";
import { faultsOf } from "./lib/axe.mjs";
import { isKept, tokens } from "./lib/console.mjs";
import { Office } from "./lib/office.mjs";
import { Provider } from "./lib/provider.mjs";
import { walk } from "./lib/walk.mjs";

const narrow = { viewport: { width: 390, height: 844 } };
const views = [
  "",
  "/tasks",
  "/waiting",
  "/deliveries",
  "/agents",
  "/plans",
  "/schedules",
  "/keys",
  "/audit",
  "/playground",
];

const sees = (page, selector, text) =>
  page
    .locator(selector, text ? { hasText: text } : {})
    .first()
    .waitFor();
const goes = async (page, server, path) => {
  await page.goto(`http://${server.address}/console${path}`);
  await sees(page, "h1");
};

// Fills in the dialog's reason and confirms the action.
async function confirms(page, verb) {
  await page.fill("dialog [name=reason]", "a test");
  await page.click(`dialog button:has-text("${verb}")`);
  await page.locator("dialog").waitFor({ state: "detached" });
}

// The log of a task is folded.
async function opensLog(page) {
  await page.locator(".fold > summary").click();
}

async function visitsAll(page, server, look) {
  const question = await server.made("form", "input-required");
  const failed = await server.made("fail It broke.", "failed");
  for (const path of [...views, `/tasks/${question}`, `/tasks/${failed}`, "/nowhere"]) {
    await goes(page, server, path);
    if (path === "/tasks") await sees(page, ".row");
    if (path.startsWith("/tasks/")) {
      await sees(page, ".turn");
      for (const fold of await page.locator(".turn details > summary, .fold > summary").all()) await fold.click();
      await sees(page, ".event");
    }
    assert.equal(await page.locator(".problem:visible").count(), 0, `${path}: a problem`);
    await look(path);
  }
}

async function fits(page, path) {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(over <= 0, `${path || "/"} is ${over} pixels too wide`);
}

export const everyView = {
  name: "Console: every view opens without errors and serious accessibility faults, and fits 390 pixels",
  async run(page, { server }) {
    const wide = page.viewportSize();
    await visitsAll(page, server, async (path) => {
      assert.deepEqual(await faultsOf(page), [], path);
      await page.setViewportSize(narrow.viewport);
      await fits(page, path);
      await page.setViewportSize(wide);
    });
  },
};

export const darkViews = {
  name: "Console: dark colours have enough contrast",
  device: { colorScheme: "dark" },
  async run(page, { server }) {
    for (const path of ["", "/tasks", "/agents"]) {
      await goes(page, server, path);
      assert.deepEqual(await faultsOf(page), [], path);
    }
  },
};

export const narrowViews = {
  name: "Console: at 390 pixels no view scrolls sideways",
  everything: "the case above makes each view as narrow",
  device: narrow,
  async run(page, { server }) {
    await visitsAll(page, server, (path) => fits(page, path));
  },
};

export const token = {
  name: "Console: the token leaves the address once it is kept, is not a cookie, and signing out forgets it",
  async run(page, { server }) {
    await sees(page, "baton-overview h1", "Overview");
    assert.ok(!page.url().includes("token"), page.url());
    assert.deepEqual(await page.context().cookies(), []);
    // A link with a token may come from anybody.
    const used = () => page.evaluate(() => sessionStorage.getItem("baton-token"));
    const follows = (given) => page.evaluate((value) => (location.hash = `token=${value}`), given);
    await follows(tokens.viewer);
    await sees(page, "dialog.token", "You are signed in as otto (operator). The link has the token of vera (viewer).");
    await page.click("text=Stay signed in");
    await isKept(page);
    assert.equal(await used(), tokens.operator);
    await follows(tokens.viewer);
    await page.click("text=Use the link’s token");
    await page.waitForFunction((value) => sessionStorage.getItem("baton-token") === value, tokens.viewer);
    await isKept(page);
    assert.ok(!page.url().includes("token"), page.url());
    await page.click("text=Sign out");
    await sees(page, "label", "Token of an operator or a viewer");
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    // The server does not say yet whether somebody has signed in.
    await page.route("**/sign-in/session", () => {});
    await page.goto("about:blank");
    await page.goto(server.view(""));
    await page.unrouteAll();
    await page.reload();
    await sees(page, "baton-overview h1", "Overview");
  },
};

const provider = new Provider();
let company;

export const signIn = {
  name: "Console: a person signs in at another site, acts, talks to an agent here and in the chat, and signs out",
  async run(page) {
    await provider.start();
    provider.person = { sub: "ann", email: "ann@example.com", roles: ["boss"] };
    const issuers = [{ issuer: provider.url, audience: "baton", operator_roles: ["boss"] }];
    const settings = { issuers, sign_in: { issuer: provider.url, client_id: "console" } };
    settings.tokens = [{ caller: "vera", token: tokens.viewer, role: "viewer" }];
    company = new Server(settings, ["lab", "analyst"]);
    await company.start();
    await page.evaluate(() => sessionStorage.clear());
    const at = `http://${company.address}`;
    await page.goto(`${at}/console/agents`);
    await page.click("button:has-text('Sign in at localhost')");
    await sees(page, ".me .who", "ann@example.com · operator");
    assert.equal(page.url(), `${at}/console/agents`);
    const [cookie, ...others] = await page.context().cookies(at);
    assert.deepEqual([cookie.name, cookie.httpOnly, cookie.sameSite, others], ["baton-session", true, "Strict", []]);
    const card = page.locator(".agent", { hasText: "analyst" });
    await card.locator("button:has-text('Pause…')").click();
    await confirms(page, "Pause");
    await card.locator(".state", { hasText: "paused" }).waitFor();
    await goes(page, company, "/playground?agent=lab");
    await says(page, "echo good morning", 0, "good morning");
    await page.goto(`${at}/chat#agent=lab`);
    await page.locator(".compose button.primary:enabled").waitFor();
    await page.fill("[name=message]", "echo good evening");
    await page.press("[name=message]", "Enter");
    await sees(page, ".theirs", "good evening");
    await sees(page, ".foot", "ann@example.com");
    // A link with a token may come from anybody.
    await page.evaluate(() => (location.hash = "agent=lab&token=nobody's"));
    await sees(page, "dialog.token", "signed in as ann@example.com. The link has the token of nobody that this server knows.");
    await page.click("text=Stay signed in");
    await isKept(page);
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    // A server that refuses the token that it has just made is not asked for another one.
    let made = 0;
    await page.route("**/tokens", (route) => {
      made += 1;
      return route.fulfill({ json: { token: "refused" } });
    });
    await page.reload();
    await sees(page, "dialog.token", "Your token is not valid here");
    assert.equal(made, 1);
    await page.unroute("**/tokens");
    await page.reload();
    await sees(page, ".foot", "ann@example.com");
    const session = "**/sign-in/session";
    await page.route(session, (route) => (route.request().method() === "DELETE" ? route.abort() : route.continue()));
    await page.click("text=Sign out");
    await sees(page, ".problem:visible", "You are still signed in");
    assert.equal((await page.context().cookies(at)).length, 1);
    await page.unroute(session);
    await page.click("text=Sign out");
    await sees(page, "dialog button", "Sign in at localhost");
    assert.deepEqual(await page.context().cookies(at), []);
    await page.click("dialog button:has-text('Sign in at localhost')");
    await sees(page, ".foot", "ann@example.com");
    // A token in the tab hides the session, and signing out ends both.
    await page.goto(`${at}/console`);
    await page.evaluate((value) => (location.hash = `token=${value}`), tokens.viewer);
    await page.click("text=Use the link’s token");
    await sees(page, ".me .who", "vera · viewer");
    await page.click("text=Sign out");
    await sees(page, "label", "Token of an operator or a viewer");
    assert.deepEqual(await page.context().cookies(at), []);
    await page.reload();
    await sees(page, "label", "Token of an operator or a viewer");
  },
  expectsErrors: true, // the browser reports each 401
  async over() {
    await company?.stop();
    await provider.stop();
  },
};

export const wrongToken = {
  name: "Console: a wrong token is refused with a message, and the right one signs in",
  expectsErrors: true,
  async run(page) {
    await page.click("text=Sign out");
    await page.fill("#token", "wrong");
    await page.click("button:has-text('Sign in')");
    await sees(page, ".problem", "not valid");
    await page.fill("#token", "otto-secret");
    await page.click("button:has-text('Sign in')");
    await sees(page, "baton-overview h1", "Overview");
  },
};

export const unreachable = {
  name: "Console: an unreachable server does not sign the user out, and the page continues once it is back",
  expectsErrors: true,
  async run(page, { server }) {
    await sees(page, "baton-overview h1", "Overview");
    await page.route("**/operate/v1/me", (route) => route.abort());
    await page.reload();
    await sees(page, ".problem", "cannot be reached");
    await page.unroute("**/operate/v1/me");
    await sees(page, "baton-overview h1", "Overview");
    await goes(page, server, "/tasks");
    await sees(page, "baton-tasks h1", "Tasks");
  },
};

export const answer = {
  name: "Console: a question is answered in the list, with the form of its schema",
  path: "/waiting",
  async run(page, { server }) {
    const key = await server.made("form", "input-required");
    const card = page.locator(".card", { hasText: `task ${key}` });
    await card.locator("summary").click();
    await card.locator(".choices label", { hasText: "reject" }).click();
    await card.locator("input[type=number]").fill("12.5");
    await card.locator("button:has-text('Answer')").click();
    await card.waitFor({ state: "detached" });
    await goes(page, server, `/tasks/${key}`);
    await sees(page, ".head .state", "completed");
    await opensLog(page);
    await sees(page, ".event", /The answer was .*"decision":"reject"/);
    await sees(page, ".is-intervention", "otto: answer");
    const { task } = await server.api("GET", `/tasks/${key}`);
    assert.equal(task.state, "completed");
  },
};

export const cancel = {
  name: "Console: a running task is canceled with a reason, which its log and the audit show",
  async run(page, { server }) {
    const key = await server.made("hold", "working");
    await goes(page, server, `/tasks/${key}`);
    await page.click("button:has-text('Cancel…')");
    await confirms(page, "Cancel it");
    await sees(page, ".head .state", "canceled");
    await opensLog(page);
    await sees(page, ".is-intervention", "a test");
    await goes(page, server, `/audit?task=${key}`);
    await sees(page, ".row", "cancel");
  },
};

export const keys = {
  name: "Console: an API key is created and shown once, rotated, and revoked",
  path: "/keys",
  async run(page, { server }) {
    const shown = async () => {
      const key = await page.locator("dialog .code").innerText();
      await page.click("dialog button:has-text('Done')");
      return key;
    };
    const status = async (key) => {
      const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tasks/get", params: { id: "none" } });
      return (await fetch(`http://${server.address}/agents/lab`, { method: "POST", headers, body })).status;
    };
    await page.click("button:has-text('Create…')");
    await page.selectOption("#key-role", "viewer");
    assert.ok(!(await page.isVisible("#key-agents")));
    assert.equal(await page.locator("dialog input[type=checkbox]:checked").count(), 1);
    await page.selectOption("#key-role", "caller");
    await page.fill("#key-caller", "kate");
    await page.fill("dialog [name=reason]", "a test");
    // Esc while the key is being made, and then while it is shown, loses nothing.
    let goOn = () => {};
    const may = new Promise((resolve) => (goOn = resolve));
    await page.route("**/operate/v1/keys", async (route) => {
      if (route.request().method() === "POST") await may;
      await route.continue();
    });
    const asks = page.waitForRequest((request) => request.method() === "POST");
    await page.click("dialog button:has-text('Create'):not(:has-text('…'))");
    await asks;
    for (let i = 0; i < 3; ++i) await page.keyboard.press("Escape");
    goOn();
    await page.locator("dialog .code").waitFor();
    await page.unroute("**/operate/v1/keys");
    for (let i = 0; i < 3; ++i) await page.keyboard.press("Escape");
    // A page that was loaded over plain HTTP from another host has no clipboard, but can copy.
    await page.evaluate(() => {
      Object.defineProperty(navigator, "clipboard", { value: undefined });
      document.addEventListener("copy", () => (document.title = document.activeElement.value ?? ""), { once: true });
    });
    await page.click("dialog button:has-text('Copy')");
    assert.equal(await page.title(), await page.locator("dialog .code").innerText());
    await page.evaluate(() => (document.title = ""));
    const first = await shown();
    assert.match(first, /^baton_[0-9A-Za-z]{57}$|^baton_[0-9A-Za-z]{8}_[0-9A-Za-z]+$/);
    assert.ok(!(await page.content()).includes(first), "the key is still on the page");
    const card = page.locator(".card", { hasText: "kate" });
    await sees(page, ".card", "send, read, cancel");
    assert.notEqual(await status(first), 401);
    await card.locator("button:has-text('Rotate…')").click();
    await page.fill("dialog [name=reason]", "a test");
    await page.fill("dialog #key-overlap", "1");
    await page.click("dialog button:has-text('Rotate')");
    const second = await shown();
    assert.notEqual(await status(first), 401);
    for (const { id } of await server.api("GET", "/keys").then(({ keys }) => keys.filter((key) => key.caller === "kate"))) {
      await page.locator(".card", { hasText: id }).locator("button:has-text('Revoke…')").click();
      await confirms(page, "Revoke");
      await page.locator(".card", { hasText: id }).locator(".state", { hasText: "revoked" }).waitFor();
    }
    assert.deepEqual([await status(first), await status(second)], [401, 401]);
  },
};

export const retry = {
  name: "Console: a failed task is retried as a new task, with an edited message",
  async run(page, { server }) {
    const key = await server.made("fail once", "failed");
    await goes(page, server, `/tasks/${key}`);
    await page.click("button:has-text('Retry as new…')");
    await page.fill("dialog #message", "echo better");
    await confirms(page, "Retry");
    await sees(page, ".head .state", "completed");
    await opensLog(page);
    await sees(page, ".event .words", "better");
    assert.ok(!page.url().endsWith(`/${key}`), page.url());
  },
};

export const retryData = {
  name: "Console: a task with data is retried with other data and the same file",
  async run(page, { server }) {
    const key = await server.made("echo data", "completed");
    const message = { parts: [{ data: { n: 1 } }, { raw: btoa("a,b"), filename: "a.csv", mediaType: "text/csv" }] };
    const made = (await server.api("POST", `/tasks/${key}/retry`, { reason: "a test", message })).task.key;
    await goes(page, server, `/tasks/${made}`);
    await page.click("button:has-text('Retry as new…')");
    await page.fill("#message", '{"n": ');
    await page.fill("dialog [name=reason]", "a test");
    await page.click("dialog button.primary");
    await sees(page, "dialog .problem", "not JSON");
    await page.fill("#message", '{"n": 2}');
    await page.click("dialog button.primary");
    await page.waitForURL((to) => /tasks\/[0-9]+$/.test(to.pathname) && !to.pathname.endsWith(`/${made}`));
    const again = page.url().split("/").at(-1);
    const { events } = await server.api("GET", `/tasks/${again}/events?after=0`);
    const sent = events.find(({ type }) => type === "message").message.parts;
    assert.deepEqual([sent[0].data, sent[1].filename, sent[1].raw], [{ n: 2 }, "a.csv", btoa("a,b")]);
    await goes(page, server, `/tasks/${made}`);
    await sees(page, ".facts", again);
  },
};

export const stuck = {
  name: "Console: a stuck task is found with two clicks",
  async run(page, { server }) {
    const key = await server.made("hold", "working");
    await page.click("nav >> text=Tasks");
    await page.click(".shortcuts >> text=Running");
    await sees(page, `.row a[href="/console/tasks/${key}"]`);
    await server.api("POST", `/tasks/${key}/cancel`, { reason: "the test is over" });
  },
};

export const hostile = {
  name: "Console: markup, turned directions and escapes in a task are shown as text",
  async run(page, { server }) {
    const key = await server.made("hostile", "failed");
    for (const path of ["/tasks?state=failed", `/tasks/${key}`]) {
      await goes(page, server, path);
      await sees(page, "main", '<img src=x onerror="document.title=1">');
      await sees(page, "main", "\u27e8U+202E\u27e9gnp.exe \u27e8U+001B\u27e9[31mred");
      assert.equal(await page.locator("main img[src=x], main script").count(), 0);
      assert.match(await page.title(), /Baton/);
    }
  },
};

// The page's window of events does not depend on the number of events. The case goes through 5,500 of them, and a page
// that loads all takes twice the bytes that it may.
const manyEvents = process.env.BATON_RING === "whole" ? 6_000 : 100_000;

export const longLog = {
  name: "Console: a task with many events opens with one window of them, and others load with little memory",
  async run(page, { server }) {
    const key = await server.made(`many ${manyEvents}`, "completed");
    const { task } = await server.api("GET", `/tasks/${key}`);
    assert.ok(task.lastEvent >= manyEvents, `${task.lastEvent} events`);
    const answers = [];
    page.on("response", (answer) => answer.url().includes(`/operate/v1/tasks/${key}`) && answers.push(answer));
    const began = Date.now();
    await page.evaluate((to) => {
      const link = document.createElement("a");
      link.href = to;
      document.body.append(link);
      link.click();
    }, `/console/tasks/${key}`);
    await opensLog(page);
    await sees(page, ".event .state", "completed");
    const took = Date.now() - began;
    const bodies = await Promise.all(answers.map((answer) => answer.body()));
    const bytes = bodies.reduce((sum, body) => sum + body.length, 0);
    assert.ok(bytes > 0 && bytes < 2 ** 18, `${bytes} bytes in ${answers.map((answer) => answer.url())}`);
    assert.ok((await page.locator(".event").count()) <= 500);
    await page.click("button:has-text('First')");
    await sees(page, ".e-number", /^1$/);
    for (let window = 0; window < 10; ++window) {
      const before = await page.locator(".e-number").first().innerText();
      await page.click("button:has-text('Later')");
      await page.waitForFunction((old) => document.querySelector(".e-number")?.textContent !== old, before);
    }
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("HeapProfiler.collectGarbage");
    const { usedSize } = await devtools.send("Runtime.getHeapUsage");
    console.log(`${manyEvents} events: ${bytes} bytes, open after ${took} ms, ${(usedSize / 2 ** 20).toFixed(1)} MiB of heap`);
    assert.ok(usedSize < 40 * 2 ** 20, `${usedSize} bytes of heap`);
  },
};

export const live = {
  name: "Console: an open log of a task shows new events",
  async run(page, { server }) {
    const key = await server.made("form", "input-required");
    await goes(page, server, `/tasks/${key}`);
    await opensLog(page);
    await sees(page, ".live");
    await server.api("POST", `/tasks/${key}/answer`, { reason: "a test", text: "approve" });
    await sees(page, ".event .words", 'The answer was {"decision":"approve"}.');
    await sees(page, ".head .state", "completed");
  },
};

export const bulk = {
  name: "Console: all tasks that a filter finds are counted, and canceled by a job with a result for each",
  async run(page, { server }) {
    const keys = await Promise.all([1, 2, 3].map(() => server.made("form", "input-required", "lab")));
    await goes(page, server, "/tasks?state=input-required&agent=lab");
    await sees(page, `.row a[href="/console/tasks/${keys[2]}"]`);
    await page.click("button:has-text('Act on all…')");
    await page.selectOption("dialog #action", "cancel");
    await confirms(page, "Count them");
    await page.click("baton-bulk button:has-text('cancel 3 tasks')");
    await sees(page, "baton-bulk .facts .state", "done");
    for (const key of keys) {
      await sees(page, ".row", key);
      assert.equal((await server.api("GET", `/tasks/${key}`)).task.state, "canceled");
    }
  },
};

export const tenant = {
  name: "Console: tasks are filtered by their caller's tenant, and one is found by its id or key",
  async run(page, { server }) {
    const key = await server.made("echo tenants", "completed");
    await goes(page, server, "/tasks?caller=ann");
    await sees(page, `.row a[href="/console/tasks/${key}"]`);
    await page.click("summary:has-text('More filters')");
    await page.fill("[name=tenant]", "acme");
    await page.keyboard.press("Enter");
    await page.waitForURL((to) => to.searchParams.get("tenant") === "acme");
    await sees(page, ".nothing", "No matching tasks.");
    const { id } = (await server.api("GET", `/tasks/${key}`)).task;
    for (const part of [id, id.slice(-12), id.slice(0, 23)]) {
      await goes(page, server, "/tasks");
      await page.fill("[name=id]", part);
      await page.keyboard.press("Enter");
      await page.waitForURL((to) => to.searchParams.get("id") === part);
      // The list before it may have the task, too.
      await page.waitForFunction(() => document.querySelectorAll(".row").length === 1);
      await sees(page, `.row a[href="/console/tasks/${key}"]`);
    }
    await page.fill("[name=id]", key);
    await page.keyboard.press("Enter");
    await page.waitForURL((to) => to.pathname.endsWith(`/tasks/${key}`));
  },
};

export const pause = {
  name: "Console: an agent is paused, resumed and scaled",
  path: "/agents",
  async run(page, { server }) {
    const card = page.locator(".agent", { hasText: "analyst" });
    await card.locator("button:has-text('Pause…')").click();
    await confirms(page, "Pause");
    await card.locator(".state", { hasText: "paused" }).waitFor();
    await card.locator("button:has-text('Resume…')").click();
    await confirms(page, "Resume");
    await card.locator(".state", { hasText: "paused" }).waitFor({ state: "detached" });
    await card.locator("button:has-text('Scale…')").click();
    await page.fill("#scale-concurrency", "3");
    await confirms(page, "Scale");
    await card.locator(".mark", { hasText: "scaled" }).waitFor();
    assert.equal(
      (await server.api("GET", "/agents")).agents.find(({ name }) => name === "analyst").paused ?? false,
      false,
    );
  },
};

export const viewer = {
  name: "Console: a viewer sees all data and is offered no actions",
  role: "viewer",
  async run(page, { server }) {
    const key = await server.made("form", "input-required");
    for (const path of ["/tasks", `/tasks/${key}`, "/waiting", "/agents", "/deliveries"]) {
      await goes(page, server, path);
      await sees(page, ".who", "vera · viewer");
      if (path.startsWith("/tasks")) await sees(page, ".row, .turn");
      const acts = page.locator("main button:visible", { hasText: /…$|Answer/ });
      assert.equal(await acts.count(), 0, path);
    }
    assert.equal(await page.locator("nav >> text=Playground").count(), 0);
    await server.api("POST", `/tasks/${key}/cancel`, { reason: "the test is over" });
  },
};

// The program does not share its store, so these are the answers of a program that does.
const sharing = {
  at: "2026-01-01T00:00:00.000Z",
  shared: true,
  nodes: ["1", "2"].map((key) => ({
    key,
    name: `host-${key}`,
    version: "1.2.3",
    startedAt: "2026-01-01T00:00:00.000Z",
    state: "serving",
    leaseMs: 4800,
    running: 3,
    queued: 0,
    lagMs: 1500,
    databaseMs: 0.42,
    ...(key === "1" ? { self: true, leads: true } : {}),
    agents: [{ name: "echo", digest: `${key}0a1b2c3d4e5f60718293a4b5c6d7e8` }],
  })),
  differences: [
    {
      agent: "echo",
      missing: [],
      cards: ["1", "2"].map((key) => ({ digest: `${key}0a1b2c3d4e5f60718293a4b5c6d7e8`, nodes: [key] })),
    },
  ],
};

export const nodes = {
  name: "Console: with a shared store the menu has the nodes, which show differing agents, and a node can be drained",
  device: narrow,
  async run(page, { server }) {
    assert.equal(await page.locator("nav >> text=Nodes").count(), 0);
    await page.route("**/operate/v1/me", async (way) => {
      const answer = await way.fetch();
      await way.fulfill({ response: answer, json: { ...(await answer.json()), nodes: true } });
    });
    await page.route("**/operate/v1/nodes", (way) => way.fulfill({ json: sharing }));
    const asked = [];
    await page.route("**/operate/v1/nodes/*/drain", (way) => {
      asked.push([new URL(way.request().url()).pathname, way.request().postDataJSON().reason]);
      sharing.nodes[1].state = "draining";
      return way.fulfill({ json: { node: sharing.nodes[1] } });
    });
    await goes(page, server, "");
    await page.click("nav >> text=Nodes");
    await sees(page, ".card", "host-2");
    await sees(page, "baton-nodes section", "echo has other cards: 10a1b2c3 on node 1; 20a1b2c3 on node 2.");
    assert.deepEqual(await faultsOf(page), []);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
    await page.locator(".card", { hasText: "host-2" }).locator("button").click();
    await confirms(page, "Drain");
    await sees(page, ".card .state", "draining");
    assert.deepEqual(asked, [["/operate/v1/nodes/2/drain", "a test"]]);
  },
};

export const keyboard = {
  name: "Console: the keyboard reaches the filters, the rows, a task and other views",
  path: "/tasks",
  async run(page, { server }) {
    await server.made("echo keys", "completed");
    await goes(page, server, "/tasks");
    await sees(page, ".row");
    await page.keyboard.press("/");
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("name")), "state");
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await sees(page, "baton-task h1", "echo keys");
    await page.keyboard.press("?");
    await sees(page, "dialog", "to the filters");
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await sees(page, "h1", "Agents");
  },
};

// Sends a text in the playground and waits for its answer, the one with this number.
async function says(page, text, number, answer) {
  await page.fill("[aria-label=Message]", text);
  await page.click("button:has-text('Send')");
  await page.locator(".theirs").nth(number).filter({ hasText: answer }).waitFor();
  await page.locator(".say button.primary:enabled").waitFor();
}

export const talks = {
  name: "Console: the playground uses every protocol, and shows the traffic beside it",
  async run(page, { server }) {
    await goes(page, server, "/playground?agent=lab");
    await page.locator("[name=agent] option", { hasText: "lab" }).waitFor({ state: "attached" });
    const protocols = await page.locator("[name=protocol] option").allInnerTexts();
    assert.equal(protocols.length, process.env.TEST_GRPC === "off" ? 8 : 9);
    for (const protocol of protocols) {
      await page.selectOption("[name=agent]", "lab");
      await page.selectOption("[name=protocol]", { label: protocol });
      await says(page, "echo good morning", 0, "good morning");
      const relayed = protocol.endsWith("gRPC");
      await sees(page, ".traffic .sent", relayed ? "POST /operate/v1/playground/grpc" : "POST /agents/lab");
      if (relayed) await sees(page, ".traffic .received", "/lf.a2a.v1.A2AService/SendStreamingMessage");
      assert.ok((await page.locator(".traffic .received").count()) >= 2, protocol);
      assert.ok(!(await page.locator(".traffic").innerText()).includes("otto-secret"), protocol);
      await says(page, "form", 1, "May this be paid?");
      // The two protocols without questions take the answer as a text.
      const form = page.locator(".talked form.answer");
      if ((await form.count()) > 0) {
        const bubbles = page.locator(".bubble");
        const beyond = await bubbles.evaluateAll((all) => all.map((one) => one.scrollHeight - one.clientHeight));
        assert.ok(Math.max(...beyond) <= 1, `the bubbles hold their contents: ${beyond}`);
        await form.locator(".choices label", { hasText: "approve" }).click();
        await form.locator("button:has-text('Answer')").click();
        await page.locator(".theirs").nth(2).filter({ hasText: '"decision":"approve"' }).waitFor();
        await page.locator(".say button.primary:enabled").waitFor();
      } else await says(page, '{"decision":"approve"}', 2, 'The answer was {"decision":"approve"}.');
    }
  },
};

export const sentAgain = {
  name: "Console: a request of the playground is copied as a curl line, edited and sent again, with further headers",
  async run(page, { server }) {
    await goes(page, server, "/playground?agent=lab");
    await page.locator("[name=agent] option", { hasText: "lab" }).waitFor({ state: "attached" });
    await page.click("summary:has-text('Headers')");
    await page.fill("[aria-label='Headers to add']", "X-Test: it's");
    await says(page, "echo one", 0, "one");
    const sent = page.locator(".traffic .sent").first();
    await sent.locator("summary").click();
    const curl = await sent.locator("button:has-text('Copy as curl')").getAttribute("title");
    assert.match(curl, /^curl -sN 'http:\/\/127\.0\.0\.1:\d+\/agents\/lab\/'/);
    assert.ok(curl.includes(String.raw`-H 'X-Test: it'\''s'`), curl);
    assert.ok(curl.includes("Bearer $BATON_TOKEN") && !curl.includes("otto-secret"), curl);
    await sent.locator("button:has-text('Edit and send again')").click();
    const field = sent.locator("textarea");
    const body = JSON.parse(await field.inputValue());
    Object.assign(body.params.message, { messageId: "another", parts: [{ text: "echo two" }] });
    await field.fill(JSON.stringify(body));
    await sent.locator(".edit button:has-text('Send')").click();
    await page.locator(".theirs").nth(1).filter({ hasText: "two" }).waitFor();
  },
};

export const failure = {
  name: "Console: a failed task says why under its title, and its trace has the turn",
  async run(page, { server }) {
    const key = await server.made("fail The disk is full.", "failed");
    await goes(page, server, "/tasks");
    await sees(page, ".row .c-outcome.bad", "The disk is full.");
    await page.click(`.row a.key[href="/console/tasks/${key}"]`);
    await sees(page, ".failure", "The disk is full.");
    await sees(page, ".turn .state", "Failed");
    assert.equal(await page.locator(".event:visible").count(), 0);
  },
};

export const bars = {
  name: "Console: turns and waits are shown as bars, and an aborted turn differs from the next one",
  async run(page, { server }) {
    const key = await server.made("hold", "working");
    await server.api("POST", `/tasks/${key}/requeue`, { reason: "a test" });
    await goes(page, server, `/tasks/${key}`);
    await opensLog(page);
    await sees(page, ".bar.odd", "turn 1, interrupted");
    await sees(page, ".bar.open", "turn 1, attempt 2");
    await server.api("POST", `/tasks/${key}/cancel`, { reason: "the test is over" });
    const question = await server.made("form", "input-required");
    await goes(page, server, `/tasks/${question}`);
    await opensLog(page);
    await sees(page, ".bar.ask", "for an answer");
    await server.api("POST", `/tasks/${question}/answer`, { reason: "a test", text: "reject" });
    await sees(page, ".bar.good", "turn 2");
  },
};

export const pausedAgent = {
  name: "Console: a task in the queue of a paused agent says so",
  async run(page, { server }) {
    await server.api("POST", "/agents/analyst/pause", { reason: "a test" });
    const key = await server.made("outliers", "submitted", "analyst");
    await goes(page, server, `/tasks/${key}`);
    await sees(page, ".head .warn", "its agent is paused");
    await server.api("POST", `/tasks/${key}/cancel`, { reason: "the test is over" });
    await server.api("POST", "/agents/analyst/resume", { reason: "a test" });
  },
};

export const operatorsWalk = {
  name: "Console: tasks broken in ten ways, in a database created by another program, are found and repaired",
  everything: "e2e/test_operator_walk.py finds and mends each way by `baton ops`, and each view has a case of its own",
  office: new Office(),
  async run(page) {
    await this.office.start(60, 2);
    for (const [way, tasks, found, mended] of await walk(page, this.office))
      console.log(`${way}: ${tasks} found in ${found} ms, mended in ${mended} ms`);
  },
  // Stops the office only after the case, because the page uses it until then.
  async over() {
    await this.office.stop();
  },
};
