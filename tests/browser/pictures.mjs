// Takes pictures of the pages: node pictures.mjs [readme | FOLDER]. Without an argument, those of the documentation, of
// which `readme` takes only README's: the chat, a terminal, and a plan in the console. With FOLDER, every view of a
// console with a thousand tasks at both widths and in both themes, for review.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { waitFor } from "../interop/lib/bounds.mjs";
import { Server } from "../interop/lib/server.mjs";
import { tokens } from "./lib/console.mjs";
import { Office } from "./lib/office.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const [wanted] = process.argv.slice(2);
const folder = wanted === "readme" ? undefined : wanted;
const shipped = join(here, "../../src/server/console/pictures");

// Returns the views, with the keys of tasks of each kind.
async function views(office) {
  const one = async (query) => (await office.api(`/tasks?limit=1&${query}`)).tasks[0].key;
  return {
    overview: "",
    tasks: "/tasks",
    filtered: "/tasks?state=failed&roots=1&error=number&attempts_min=1",
    stuck: `/tasks/${await one("turn=running&agent=office&attempts_min=2")}`,
    child: `/tasks/${await one("state=input-required&agent=head")}`,
    question: `/tasks/${await one("state=input-required&agent=office")}`,
    plan: `/tasks/${await one("state=failed&agent=report")}`,
    letter: `/tasks/${await one("caller=cleo&undelivered=1")}`,
    waiting: "/waiting",
    deliveries: "/deliveries",
    agents: "/agents",
    plans: "/plans",
    schedules: "/schedules",
    audit: "/audit",
    jobs: "/bulk",
    playground: "/playground?agent=office",
  };
}

// `ready` selects an element that exists once the view is complete. With a live log the network is never idle.
async function picture(browser, office, path, device, file, ready = "main h1", during = async () => {}) {
  const context = await browser.newContext(device);
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) console.log(`${path}: ${message.text()}`);
  });
  await page.goto(office.view(path));
  await page.locator(ready).first().waitFor();
  await page.waitForLoadState("networkidle", { timeout: 1500 }).catch(() => {});
  await during();
  await page.screenshot({ path: file, fullPage: Boolean(folder) });
  await context.close();
}

async function all(browser, office) {
  for (const [name, path] of Object.entries(await views(office))) {
    for (const width of [1440, 390]) {
      for (const colorScheme of ["light", "dark"]) {
        const file = join(folder, `${name}-${width}-${colorScheme}.png`);
        await picture(browser, office, path, { viewport: { width, height: 900 }, colorScheme }, file);
      }
    }
  }
}

// Keeps the office busy for some of the overview's intervals.
async function works(office) {
  for (let round = 0; round < 60; ++round) {
    const text = round % 9 === 4 ? "book two hundred" : "write a letter";
    const many = round % 9 === 4 ? 1 : 1 + ((round * 7) % 12);
    await Promise.all(Array.from({ length: many }, () => office.send(text)));
    await new Promise((resolve) => setTimeout(resolve, 800));
  }
}

// Takes the pictures of the operators' pages. The shown task has a child that asks.
async function ofOffice(browser, office) {
  const { child } = await views(office);
  const device = { viewport: { width: 1280, height: 800 }, colorScheme: "light" };
  await picture(browser, office, "", device, join(shipped, "overview.png"), ".row", () => works(office));
  await picture(browser, office, child, device, join(shipped, "task.png"), ".event");
}

const sales = (last) => `month,north,south\nJan,120,80\nFeb,132,91\nMar,151,87\nApr,149,103\nMay,172,${last}\n`;
const device = { viewport: { width: 1180, height: 1000 }, colorScheme: "light" };
const file = (name, text) => ({ name, mimeType: "text/csv", buffer: Buffer.from(text) });

async function ofChat(browser, server) {
  const page = await browser.newPage(device);
  await page.goto(`http://${server.address}/chat#agent=table-report`);
  await page.locator(".compose button.primary:enabled").waitFor();
  await page.setInputFiles("input[type=file]", [file("sales.csv", sales(118))]);
  await page.fill("[name=message]", "What does this table say?");
  await page.press("[name=message]", "Enter");
  await page.locator("img.picture").first().waitFor();
  await page.locator(".compose button.primary:enabled").waitFor();
  await page.screenshot({ path: join(shipped, "chat.png") });
  await page.close();
}

// Sends a plan two tables, and approves the report that it offers.
async function ofPlan(browser, server) {
  const call = async (path, body) => {
    const headers = { "Content-Type": "application/json", "A2A-Version": "1.0", Authorization: `Bearer ${tokens.caller}` };
    const answer = await fetch(`http://${server.address}/agents/quarterly/${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: HTTP ${answer.status} ${await answer.text()}`);
    return (await answer.json()).task;
  };
  const message = (parts, more) => ({ message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts, ...more } });
  const raw = (text) => Buffer.from(text).toString("base64");
  const tables = [118, 311].map((last, n) => ({
    raw: raw(sales(last)),
    filename: `region-${n + 1}.csv`,
    mediaType: "text/csv",
  }));
  const asks = await call("message:send", message([{ text: "The first half of the year" }, ...tables]));
  await call("message:send", message([{ text: "yes" }], { taskId: asks.id }));
  const operator = { headers: { Authorization: `Bearer ${tokens.operator}` } };
  const { tasks } = await (await fetch(`http://${server.address}/operate/v1/tasks?agent=quarterly`, operator)).json();
  const page = await browser.newPage(device);
  await page.goto(`http://${server.address}/console/tasks/${tasks[0].key}#token=${tokens.operator}`);
  await page.locator("baton-plan-picture img").waitFor();
  await page.waitForLoadState("networkidle", { timeout: 1500 }).catch(() => {});
  await page.screenshot({ path: join(shipped, "console.png") });
  await page.close();
}

const program = process.env.BATON_PROGRAM ?? join(here, "../../build/release/baton");
const slow = `import time
from baton import agent

@agent
def answer(turn):
    for word in "Baton keeps what an agent has said on disk, before anyone sees it.".split():
        yield word + " "
        time.sleep(0.25)

answer.run()
`;

// Kills the server in the middle of an answer and starts it again, and draws what the client prints.
async function ofTerminal(browser) {
  const place = join(tmpdir(), `baton-pictures-${process.pid}`);
  const port = "18480";
  mkdirSync(join(place, "agents/writer"), { recursive: true });
  writeFileSync(join(place, "agents/writer/agent.py"), slow);
  const card = { name: "Writer", description: "Writes.", version: "1", skills: [], defaultInputModes: ["text/plain"] };
  const baton = { executor: "command", command: ["python3", "agent.py"], default: true };
  const whole = { ...card, defaultOutputModes: ["text/plain"], baton };
  writeFileSync(join(place, "agents/writer/card.json"), JSON.stringify(whole));
  const env = { ...process.env, BATON_URL: `http://127.0.0.1:${port}`, TERM: "xterm", NO_COLOR: "1" };
  symlinkSync(join(here, "../../agent-cards/lib"), join(place, "agents/lib"));
  const started = [];
  const serve = async () => {
    const server = spawn(program, ["serve", "--agents", "agents", "--port", port, "--db", "tasks.db"], { cwd: place, env });
    started.push(server);
    const lines = [];
    for (const output of [server.stdout, server.stderr]) output.on("data", (data) => lines.push(data));
    await waitFor("the server to listen", () => lines.join("").includes("listening on"), 20);
    return server;
  };
  const said = [];
  try {
    const first = await serve();
    const client = spawn("script", ["-qec", `"${program}" send 'What does Baton do?'`, "/dev/null"], { cwd: place, env });
    const ended = once(client, "exit");
    client.stdout.on("data", (data) => said.push(data));
    await waitFor("half of the answer", () => said.join("").includes("on disk"), 40);
    first.kill("SIGKILL");
    await once(first, "exit");
    await serve();
    await ended;
  } finally {
    for (const server of started) server.kill("SIGKILL");
    rmSync(place, { recursive: true, force: true });
  }
  await drawTerminal(browser, `$ baton send "What does Baton do?"\n${shownBy(said.join(""))}$ `);
}

// The text that a terminal shows: without colours and erased lines.
const shownBy = (raw) =>
  raw
    .replaceAll("\r\n", "\n")
    .replace(/[^\n]*\r\x1b\[K/g, "")
    .replace(/\x1b\[[0-9;?]*[A-Za-z]/g, "");

async function drawTerminal(browser, text) {
  const page = await browser.newPage({ viewport: { width: 760, height: 300 } });
  await page.setContent(`<body style="margin:0"><pre style="margin:0;padding:18px 22px;background:#13161b;color:#e2e6ed;
    font:15px/1.55 'DejaVu Sans Mono',monospace;white-space:pre-wrap"></pre>`);
  await page.locator("pre").evaluate((pre, shown) => (pre.textContent = shown), text);
  await page.locator("pre").screenshot({ path: join(shipped, "terminal.png") });
  await page.close();
}

async function ofReadme(browser) {
  const open = new Server({}, ["table-report"]);
  const operated = new Server(
    {
      tokens: [
        { caller: "ann", token: tokens.caller },
        { caller: "otto", token: tokens.operator, role: "operator" },
      ],
    },
    ["table-report", "analyst", "quarterly"],
  );
  try {
    await Promise.all([open.start(), operated.start()]);
    await ofChat(browser, open);
    await ofPlan(browser, operated);
    await ofTerminal(browser);
  } finally {
    await open.stop();
    await operated.stop();
  }
}

async function withOffice(browser) {
  const office = await new Office().start(930, 5);
  try {
    await (folder ? all : ofOffice)(browser, office);
  } finally {
    await office.stop();
  }
}

mkdirSync(folder ?? shipped, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium-headless-shell",
  args: ["--no-sandbox"],
});
try {
  if (!folder) await ofReadme(browser);
  if (wanted !== "readme") await withOffice(browser);
} finally {
  await browser.close();
}
