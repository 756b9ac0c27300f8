// The operator's walk through the console: finds and repairs all kinds of broken tasks with clicks only.
import assert from "node:assert/strict";
import { waitFor } from "../../interop/lib/bounds.mjs";

class Walk {
  constructor(page, office) {
    this.page = page;
    this.office = office;
    this.broken = office.broken;
  }

  // Follows a link of the page to another view, because a reload would add to the measured time.
  async goes(path) {
    await this.page.goto(`${this.office.url}/console${path}`);
    await this.page.locator("h1").first().waitFor();
  }

  async confirms(verb) {
    await this.page.fill("dialog [name=reason]", "the walk");
    await this.page.click(`dialog button:has-text("${verb}")`);
    await this.page.locator("dialog").waitFor({ state: "detached" });
  }

  /** Returns the keys of the tasks in a list once it has `count` of them. */
  async keys(count) {
    const rows = this.page.locator(".rows.tasks .row .key");
    await waitFor(`${count} rows`, async () => (await rows.count()) === count);
    return rows.evaluateAll((links) => links.map(({ pathname }) => pathname.split("/").at(-1)));
  }

  // Acts on all tasks that match the list's filter, with a bulk job.
  async actsOnAll(action, count) {
    await this.page.click("button:has-text('Act on all…')");
    await this.page.selectOption("dialog #action", action);
    await this.confirms("Count them");
    await this.page.click(`baton-bulk button:has-text('${action} ${count} task')`);
    await this.page.locator("baton-bulk .facts .state", { hasText: "done" }).waitFor();
    const good = this.page.locator(".row.plain .good");
    await waitFor(`${count} good results`, async () => (await good.count()) === count);
  }

  async ended(keys, state) {
    for (const key of keys) {
      await waitFor(
        `task ${key} to be ${state}`,
        async () => (await this.office.api(`/tasks/${key}`)).task.state === state,
      );
    }
  }

  // Returns the tasks that retries created, from the job's results.
  made() {
    return this.page.locator(".row.plain .faint .key").evaluateAll((links) => links.map(({ pathname }) => pathname.split("/").at(-1)));
  }
}

/** Way -> [finds: opens the view that shows the broken tasks, and returns them; mends: repairs them]. */
const ways = {
  "wrong words": [
    async (walk, count) => {
      await walk.goes("/tasks?state=failed&error=is+not+a+number");
      return walk.keys(count);
    },
    async (walk, keys) => {
      for (const key of keys) {
        await walk.goes(`/tasks/${key}`);
        await walk.page.click("button:has-text('Retry as new…')");
        await walk.page.fill("dialog #message", "book 100");
        await walk.confirms("Retry");
        await walk.page.locator(".head .state", { hasText: "completed" }).waitFor();
      }
    },
  ],
  "cause is gone": [
    async (walk, count) => {
      await walk.goes("/tasks?state=failed&agent=office&error=archive&roots=1");
      return walk.keys(count);
    },
    async (walk, keys) => {
      await walk.office.repair("archive-is-away");
      await walk.actsOnAll("retry", keys.length);
      await walk.ended(await walk.made(), "completed");
    },
  ],
  question: [(walk, count) => questions(walk, "bill", count), answers],
  "child's question": [(walk, count) => questions(walk, "order", count), answers],
  "stuck turn": [
    async (walk, count) => {
      await walk.goes("/tasks?agent=office&turn=running&attempts_min=2");
      return walk.keys(count);
    },
    async (walk, keys) => {
      await walk.office.repair("ledger-is-locked");
      await walk.actsOnAll("requeue", keys.length);
      await walk.ended(keys, "completed");
    },
  ],
  "retries used up": [
    async (walk, count) => {
      await walk.goes("/tasks?state=failed&agent=report");
      return walk.keys(count);
    },
    async (walk, keys) => {
      await walk.office.repair("archive-is-away");
      await walk.actsOnAll("retry", keys.length);
      await walk.ended(await walk.made(), "completed");
    },
  ],
  "paused agent": [
    async (walk, count) => {
      await walk.goes("");
      await walk.page.click("text=1 agent paused");
      await walk.page.click('.agent:has(.state:has-text("paused")) dd a >> nth=1');
      return walk.keys(count);
    },
    async (walk, keys) => {
      await walk.page.click("nav >> text=Agents");
      await walk.page.click("button:has-text('Resume…')");
      await walk.confirms("Resume");
      await walk.ended(keys, "completed");
    },
  ],
  "vanished remote": [
    async (walk, count) => {
      await walk.goes("/tasks?agent=courier&state=unfinished");
      return walk.keys(count);
    },
    async (walk, keys) => {
      await walk.actsOnAll("cancel", keys.length);
      await walk.ended(keys, "canceled");
    },
  ],
  "webhook given up": [
    async (walk, count) => {
      await walk.goes("");
      await walk.page.click("text=webhooks given up");
      await walk.page.locator(".row.delivery").first().waitFor();
      await walk.goes("/tasks?undelivered=1&caller=ann");
      return walk.keys(count);
    },
    async (walk, keys) => {
      await walk.office.repair("hooks");
      await walk.actsOnAll("resend", keys.length);
      await delivered(walk, keys);
    },
  ],
  "webhook in the way": [
    async (walk, count) => {
      await walk.goes("/tasks?undelivered=1&caller=cleo");
      return walk.keys(count);
    },
    async (walk, keys) => {
      for (const key of keys) {
        await walk.goes(`/tasks/${key}`);
        await walk.page.locator(".row.delivery", { hasText: "answered 503" }).locator("button:has-text('Skip…')").click();
        await walk.confirms("Skip");
      }
      await delivered(walk, keys, 1);
    },
  ],
};

// Returns the tasks with these questions. A child's question is listed once, for the child, with a link to its parent.
async function questions(walk, words, count) {
  await walk.page.click("nav >> text=Waiting");
  const cards = walk.page.locator(".card", { hasText: words });
  await waitFor(`${count} questions`, async () => (await cards.count()) === count);
  return cards.evaluateAll((all) =>
    all.map((card) => [...card.querySelectorAll(".card-head .key")].at(-1).pathname.split("/").at(-1)),
  );
}

async function answers(walk, keys) {
  for (const key of keys) {
    const link = walk.page.locator(`.card-head .key[href="/console/tasks/${key}"]`);
    const card = walk.page.locator(".card", { has: link });
    await card.locator("summary").click();
    await card.locator(".choices label", { hasText: "yes" }).click();
    await card.locator("button:has-text('Answer')").click();
    await card.waitFor({ state: "detached" });
  }
  await walk.ended(keys, "completed");
}

async function delivered(walk, keys, left = 0) {
  for (const key of keys) {
    await waitFor(
      `the webhooks of task ${key}`,
      async () => ((await walk.office.api(`/tasks/${key}`)).task.undelivered ?? 0) === left,
    );
  }
}

/** Walks all ways. Returns for each its name, the number of tasks, and the milliseconds to find and to repair them. */
export async function walk(page, office) {
  const here = new Walk(page, office);
  await page.goto(office.view());
  await page.locator("h1").first().waitFor();
  const times = [];
  for (const [name, [finds, mends]] of Object.entries(ways)) {
    const began = Date.now();
    const keys = await finds(here, office.broken[name].length);
    const found = Date.now();
    const ids = await Promise.all(keys.map(async (key) => (await office.api(`/tasks/${key}`)).task.id));
    assert.deepEqual(ids.toSorted(), office.broken[name].toSorted(), name);
    const checked = Date.now();
    await mends(here, keys);
    times.push([name, keys.length, found - began, Date.now() - checked]);
  }
  return times;
}
