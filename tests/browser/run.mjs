// Drives the real program (BATON_PROGRAM) from pages in a real browser (CHROMIUM; by default Debian's without windows,
// which takes half of the CPU time of the one with them). Keeps a picture of the end of each case in SCREENSHOTS.
// An argument selects the cases whose names contain it. The ring "whole" (BATON_RING) leaves out the cases that name
// another test of the same rule (`everything`), and keeps pictures of failures only. Ends with "N passed, N failed".
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { patience, scaled } from "../interop/lib/bounds.mjs";
import { Server } from "../interop/lib/server.mjs";
import * as cases from "./cases.mjs";
import * as chatCases from "./chat_cases.mjs";
import * as consoleCases from "./console_cases.mjs";
import { ConsoleServer, isKept } from "./lib/console.mjs";
import { pages } from "./lib/pages.mjs";
import { Site } from "./lib/site.mjs";
import * as startCases from "./start_cases.mjs";

const wanted = process.argv[2] ?? "";
const isWhole = process.env.BATON_RING === "whole";
const here = dirname(fileURLToPath(import.meta.url));
const pictures = process.env.SCREENSHOTS ?? join(here, "../../build/screenshots");

const server = new Server({}, ["stage", "tools", "approval", "twice", "planned"]);
const operated = new ConsoleServer();
process.on("exit", () => {
  server.kill();
  operated.kill();
});

// Collects the page's errors, which also fail the case.
function watch(page, complaints) {
  page.on("pageerror", (error) => complaints.push(`uncaught: ${error.message}`));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
  });
}

// Returns the program for a case: one without tokens, or one with tokens and operators.
const serverOf = (each) =>
  each.page || ((each.chat || each.start !== undefined) && !each.withTokens) ? server : operated;

// Returns the start of a case: a page of the site that uses an agent, the chat page with an agent, the start page, or a
// console view.
function placeOf(each, site) {
  if (each.chat) {
    const opened = new URLSearchParams({ ...(each.token && { token: each.token }), agent: each.chat });
    return `http://${serverOf(each).address}/chat#${opened}`;
  }
  if (each.start !== undefined) return `http://${serverOf(each).address}/${each.start}`;
  if (each.page) return site.url(each.page, `${server.base(each.agent)}${each.door ?? "send-message"}`);
  return operated.view(each.path ?? "", each.role);
}

async function runOne(name, each, { browser, site }) {
  const context = await browser.newContext(each.device);
  context.setDefaultTimeout(scaled(patience));
  const page = await context.newPage();
  const complaints = [];
  watch(page, complaints);
  let isGood = false;
  try {
    const response = await page.goto(placeOf(each, site));
    if (!response.ok()) throw new Error(`the page: HTTP ${response.status()}`);
    await isKept(page);
    await each.run(page, { server: serverOf(each) });
    if (!each.expectsErrors && complaints.length > 0) throw new Error(complaints.join("\n"));
    isGood = true;
  } finally {
    if (!isGood || !isWhole) {
      const path = join(pictures, `${name}.png`);
      await page.screenshot({ path, fullPage: true });
      console.log(`picture: ${path}`);
    }
    await context.close();
    await each.over?.();
  }
}

let passed = 0;
let failed = 0;

async function runThose(of, among) {
  for (const [name, each] of Object.entries({ ...cases, ...chatCases, ...consoleCases, ...startCases })) {
    if (serverOf(each) !== of || !each.name.includes(wanted) || (isWhole && each.everything)) continue;
    const began = Date.now();
    try {
      await runOne(name, each, among);
      ++passed;
      console.log(`passed: ${each.name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
    } catch (error) {
      ++failed;
      console.log(`FAILED ${each.name}\n${String(error.stack ?? error).replace(/^/gm, "    ")}`);
    }
  }
}

async function runAll() {
  mkdirSync(pictures, { recursive: true });
  const site = await new Site(await pages({ withReact: !isWhole })).start();
  await Promise.all([server.start(), operated.start()]);
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium-headless-shell",
    // Without a GPU, Chromium would compute one (SwiftShader, for Debian's GPU rasterization) to draw the pages.
    args: ["--no-sandbox", "--disable-gpu"],
    timeout: scaled(patience),
  });
  try {
    // A case changes its program's state, so the cases of one program run one by one; the two programs run in parallel.
    await Promise.all([server, operated].map((of) => runThose(of, { browser, site })));
  } finally {
    await browser.close();
    await site.stop();
    await server.stop();
    await operated.stop();
  }
}

await runAll().catch((error) => {
  ++failed;
  console.log(`FAILED the run\n${String(error.stack ?? error).replace(/^/gm, "    ")}`);
});
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
