// Takes pictures of the console with a thousand tasks: node pictures.mjs [FOLDER]. Without FOLDER, those of the
// documentation; with it, every view at both widths and in both themes, for review.
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { Office } from "./lib/office.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const [folder] = process.argv.slice(2);
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

// Takes the pictures of the documentation. The shown task has a child that asks.
async function forReadme(browser, office) {
  const { child } = await views(office);
  const device = { viewport: { width: 1280, height: 800 }, colorScheme: "light" };
  await picture(browser, office, "", device, join(shipped, "overview.png"), ".row", () => works(office));
  await picture(browser, office, child, device, join(shipped, "task.png"), ".event");
}

mkdirSync(folder ?? shipped, { recursive: true });
const office = await new Office().start(930, 5);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  await (folder ? all : forReadme)(browser, office);
} finally {
  await browser.close();
  await office.stop();
}
