// Cases of a person on the chat page. Each case opens it with an agent of the real program.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitFor } from "../interop/lib/bounds.mjs";
import { Proxy } from "../interop/lib/proxy.mjs";
import { faultsOf } from "./lib/axe.mjs";
import { examples, missed, treeOf } from "./lib/commonmark.mjs";
import { tokens } from "./lib/console.mjs";

const phone = { viewport: { width: 360, height: 640 }, isMobile: true, hasTouch: true, deviceScaleFactor: 3 };
const hostile = '<img src=x onerror="document.title=1"> [press](javascript:document.title=2) **<b onclick=x>bold</b>**';
// A picture of one pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const sees = (page, selector, text) =>
  page
    .locator(selector, text ? { hasText: text } : {})
    .first()
    .waitFor();
const textsOf = (page, selector) => page.locator(selector).allInnerTexts();
const ready = (page) => page.locator(".compose button.primary:enabled").waitFor();

// Types a message and sends it with the keyboard.
async function says(page, text) {
  await ready(page);
  await page.fill("[name=message]", text);
  await page.press("[name=message]", "Enter");
}

const line = (object) => JSON.stringify(object);

export const chatStreamed = {
  name: "Chat: an answer is shown as it arrives, with the keyboard only and a list of conversations beside it",
  chat: "stage",
  async run(page, { server }) {
    const gate = randomUUID();
    await ready(page);
    await page.fill("[name=message]", "say one");
    await page.press("[name=message]", "Shift+Enter");
    await page.locator("[name=message]").pressSequentially(`hold ${gate}`);
    await page.press("[name=message]", "Shift+Enter");
    await page.locator("[name=message]").pressSequentially("say two");
    // The Enter of an input method confirms the words that it composes. Safari marks it by its code alone.
    const isTaken = (mark) => {
      const event = new KeyboardEvent("keydown", { key: "Enter", cancelable: true, bubbles: true, ...mark });
      return !document.activeElement.dispatchEvent(event);
    };
    for (const mark of [{ isComposing: true }, { keyCode: 229 }]) assert.equal(await page.evaluate(isTaken, mark), false);
    await page.press("[name=message]", "Enter");
    await sees(page, ".mine", "say one");
    await sees(page, ".theirs", "one");
    await sees(page, ".run-progress", "Working…");
    await sees(page, ".conversations a[aria-current] .title", "say one");
    assert.equal(await page.inputValue("[name=message]"), "");
    await page.locator(".compose >> text=Stop").waitFor();
    server.open(gate, "stage");
    await sees(page, ".theirs", /one\s*two/);
    await ready(page);
    await sees(page, "h1", "say one");
    assert.deepEqual(await faultsOf(page), []);
  },
};

export const chatLateList = {
  name: "Chat: an outdated answer about the list that arrives late removes no conversation",
  chat: "stage",
  async run(page, { server }) {
    const gate = randomUUID();
    await ready(page);
    const late = {};
    late.isDue = new Promise((resolve) => (late.comes = resolve));
    let asked = 0;
    // The first answer is from before the conversation, but arrives after the second.
    await page.route(/\/conversations\?/, async (route) => {
      if (++asked === 1) {
        await late.isDue;
        return route.fulfill({ json: { conversations: [] } });
      }
      const answer = await route.fetch();
      await route.fulfill({ response: answer });
      if (asked === 2) late.comes();
    });
    const overtaken = page.waitForResponse(
      async (answer) => answer.url().includes("/conversations?") && (await answer.json()).conversations.length === 0,
    );
    await says(page, `say one\nhold ${gate}\nsay two`);
    await overtaken;
    await sees(page, ".theirs", "one");
    await sees(page, ".conversations a[aria-current] .title", "say one");
    server.open(gate, "stage");
    await sees(page, ".theirs", /one\s*two/);
    await ready(page);
    await page.unrouteAll({ behavior: "ignoreErrors" });
  },
};

export const chatStopped = {
  name: "Chat: a running answer can be stopped",
  chat: "stage",
  async run(page) {
    await says(page, `say one\nhold ${randomUUID()}`);
    await sees(page, ".theirs", "one");
    await page.click(".compose >> text=Stop");
    await sees(page, ".run-body", "Stopped");
    await ready(page);
  },
};

export const chatReloaded = {
  name: "Chat: a page reloaded in the middle of an answer shows the rest of it",
  chat: "stage",
  async run(page, { server }) {
    const gate = randomUUID();
    await says(page, `say first`);
    await sees(page, ".theirs", "first");
    await says(page, `say one\nhold ${gate}\nsay two`);
    await sees(page, ".theirs", "one");
    await page.reload();
    await sees(page, ".theirs", "first");
    await sees(page, ".theirs", "one");
    server.open(gate, "stage");
    await sees(page, ".theirs", /one\s*two/);
    await ready(page);
    assert.deepEqual(await textsOf(page, ".theirs"), ["first", "onetwo"]);
    assert.equal(await page.locator(".mine").count(), 2);
  },
};

export const chatCut = {
  name: "Chat: a lost connection is resumed, and no text is shown twice",
  chat: "stage",
  // The browser logs the lost connection.
  expectsErrors: true,
  async run(page, { server }) {
    const proxy = await new Proxy(server.address).start();
    const gate = randomUUID();
    try {
      await page.goto(`http://${proxy.address}/chat#agent=stage`);
      await says(page, `say one \nhold ${gate}\nsay two`);
      await sees(page, ".theirs", "one");
      proxy.cut();
      server.open(gate, "stage");
      await sees(page, ".theirs", /one\s*two/);
      await ready(page);
      assert.deepEqual(await textsOf(page, ".theirs"), ["one two"]);
      assert.equal(await page.locator(".mine").count(), 1);
    } finally {
      await page.goto("about:blank");
      await proxy.stop();
    }
  },
};

export const chatApproval = {
  name: "Chat: questions answered by form and by words survive a reload, and a retry repeats the request",
  chat: "approval",
  async run(page) {
    await says(page, "Delete the logs");
    await sees(page, ".question-box", 'Shall I do this: "Delete the logs"?');
    assert.deepEqual(await faultsOf(page), []);
    await page.getByRole("button", { name: "Approve" }).click();
    await sees(page, ".theirs", "Done: Delete the logs");
    await sees(page, ".artifact", "What was approved and done");
    assert.equal(await page.locator(".question-box form").count(), 0);
    await says(page, "Delete the backups");
    await sees(page, ".question-box", "Delete the backups");
    await page.reload();
    await sees(page, ".question-box form", "Reject");
    await sees(page, ".theirs", "Done: Delete the logs");
    await page.getByRole("button", { name: "answer in words" }).click();
    await says(page, "no");
    await sees(page, ".run-problem", "not approved");
    await ready(page);
    await page.reload();
    await sees(page, ".run-problem", "not approved");
    await sees(page, ".theirs", "Done: Delete the logs");
    const said = await textsOf(page, ".mine");
    assert.equal(said.length, 4);
    assert.deepEqual([said[0], said[2]], ["Delete the logs", "Delete the backups"]);
    assert.equal(said[3], "Reject", "the word has become data");
    assert.equal(await page.locator(".question-box form").count(), 0);
    // The retry repeats the request, not the answer.
    await page.click(".run-problem >> text=Try again");
    await page.locator(".question-box form").waitFor();
    assert.equal((await textsOf(page, ".mine")).at(-1), "Delete the backups");
  },
};

export const chatUnsent = {
  name: "Chat: an answer that cannot be sent comes back before the text that was written meanwhile",
  chat: "stage",
  expectsErrors: true, // the browser logs the lost connections
  async run(page) {
    await says(page, line({ type: "ask", message: "And your name?" }));
    await sees(page, ".question-box", "And your name?");
    let lose = () => {};
    const isLost = new Promise((resolve) => (lose = resolve));
    await page.route("**", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      await isLost;
      return route.abort();
    });
    await says(page, "Ada");
    await page.fill("[name=message]", "One more thing");
    lose();
    await page.waitForFunction(() => document.querySelector("[name=message]").value === "Ada\nOne more thing");
    await sees(page, ".compose .problem", "cannot be reached");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.press("[name=message]", "Enter");
    await sees(page, ".theirs", "The answer was");
  },
};

export const chatOtherAgent = {
  name: "Chat: what is written for a new conversation stays when another agent is chosen, and no longer",
  chat: "stage",
  async run(page) {
    const choose = async (agent) => {
      await page.selectOption("[name=agent]", agent);
      await page.waitForFunction((name) => localStorage.getItem("baton-chat-agent") === name, agent);
    };
    await ready(page);
    await page.fill("[name=message]", "say one");
    await choose("tools");
    assert.equal(await page.inputValue("[name=message]"), "say one");
    await choose("stage");
    await page.press("[name=message]", "Enter");
    await sees(page, ".theirs", "one");
    await ready(page);
    await page.fill("[name=message]", "left over");
    await page.click(".fresh");
    await sees(page, ".welcome h2");
    assert.equal(await page.inputValue("[name=message]"), "");
  },
};

export const chatOverloaded = {
  name: "Chat: a message that an overloaded server refuses is shown with that reason, and can be sent after a stop",
  chat: "stage",
  expectsErrors: true, // the browser logs the refusals
  async run(page, { server }) {
    const gate = randomUUID();
    await ready(page);
    let refuse = () => {};
    const isStopped = new Promise((resolve) => (refuse = resolve));
    await page.route("**", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      await isStopped;
      return route.fulfill({ status: 429, json: { error: "overloaded" } });
    });
    await says(page, `say hello\nhold ${gate}\nsay again`);
    await page.click(".compose >> text=Stop");
    refuse();
    await sees(page, ".run-problem", "The server is overloaded.");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.click(".run-problem button");
    await sees(page, ".theirs", "hello");
    server.open(gate, "stage");
    await sees(page, ".theirs", /hello\s*again/);
  },
};

export const chatForm = {
  name: "Chat: a question with a schema gets matching inputs, and one for a single value its buttons",
  chat: "stage",
  async run(page, { server }) {
    const properties = { size: { type: "integer", title: "Size" }, color: { enum: ["red", "green"], title: "Color" } };
    await says(page, line({ type: "ask", message: "Which one?", schema: { type: "object", properties, required: ["size"] } }));
    await sees(page, ".question-box", "Which one?");
    await page.getByLabel("Size").fill("42");
    await page.getByLabel("Color").selectOption({ label: "green" });
    await page.click(".question-box >> text=Answer");
    await sees(page, ".theirs", 'The answer was [{"size": 42, "color": "green"}]');
    for (const [schema, button, told] of [
      [{ type: "boolean" }, "Approve", "true"],
      [{ enum: ["staging", "production"] }, "production", '"production"'],
      [{ oneOf: [{ const: "eu", title: "Europe" }, { const: "us", title: "America" }] }, "Europe", '"eu"'],
    ]) {
      await says(page, line({ type: "ask", message: "And this one?", schema }));
      await page.getByRole("button", { name: button }).click();
      await sees(page, ".theirs", `The answer was [${told}]`);
      assert.equal((await textsOf(page, ".mine")).at(-1), button);
    }
    await says(page, line({ type: "ask", message: "And your name?" }));
    await says(page, "Ada");
    await sees(page, ".theirs", 'The answer was ["Ada"]');
    // As libraries write optional members and members of a named type.
    const named = {
      type: "object",
      properties: {
        note: { anyOf: [{ type: "string" }, { type: "null" }] },
        zone: { $ref: "#/$defs/Zone" },
        pace: { enum: ["slow", null], title: "Pace" },
        next: { anyOf: [{ $ref: "#/$defs/Stop" }, { type: "null" }] },
      },
      required: ["pace"],
      $defs: {
        Zone: { enum: ["a", "b", "c", "d", "e"], title: "Zone" },
        Stop: { type: "object", properties: { at: { type: "integer" } }, required: ["at"] },
      },
    };
    await says(page, line({ type: "ask", message: "And where?", schema: named }));
    await page.fill(".question-box form input[type=text]", "plainly");
    await page.getByLabel("Zone").selectOption({ label: "e" });
    await page.locator(".question-box label", { hasText: "null" }).click();
    await page.click(".question-box >> text=Answer");
    await sees(page, ".theirs", 'The answer was [{"note": "plainly", "zone": "e", "pace": null}]');
    // A pattern that is not anchored matches a part of the text.
    const code = { type: "object", properties: { code: { type: "string", pattern: "^[A-Z]{3}" } }, required: ["code"] };
    await says(page, line({ type: "ask", message: "Which code?", schema: code }));
    await page.fill(".question-box form input", "ABC-7");
    await page.click(".question-box >> text=Answer");
    await sees(page, ".theirs", 'The answer was [{"code": "ABC-7"}]');
    // A question does not take the keys of somebody who writes a title.
    const gate = randomUUID();
    const asks = line({ type: "ask", message: "How large?", schema: { type: "object", properties } });
    await says(page, `hold ${gate}\n${asks}`);
    await page.locator(".compose >> text=Stop").waitFor();
    await page.locator(".rename").first().click();
    await page.locator(".renaming input").focus();
    server.open(gate, "stage");
    await sees(page, ".question-box", "How large?");
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    assert.equal(await page.evaluate(() => document.activeElement.matches(".renaming input")), true);
  },
};

export const chatDraft = {
  name: "Chat: words written before a form came answer it only on purpose, and an edited request is no answer",
  chat: "stage",
  async run(page, { server }) {
    const gate = randomUUID();
    const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
    const asks = line({ type: "ask", message: "Which name?", schema });
    await says(page, `hold ${gate}\n${asks}`);
    await page.locator(".compose >> text=Stop").waitFor();
    await page.fill("[name=message]", "By the way");
    server.open(gate, "stage");
    await sees(page, ".question-box form");
    await page.press("[name=message]", "Enter");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "answer in words");
    assert.equal(await page.locator(".mine").count(), 1);
    await page.keyboard.press("Enter");
    await page.press("[name=message]", "Enter");
    await sees(page, ".theirs", 'The answer was [{"name": "By the way"}]');
    await says(page, asks);
    await sees(page, ".question-box form");
    await page.locator(".said").last().hover();
    await page.locator(".edit").last().click();
    await page.fill("[name=message]", "say anew");
    await page.press("[name=message]", "Enter");
    await sees(page, ".theirs", "anew");
  },
};

export const chatAccess = {
  name: "Chat: a question for access has its address as a link, and its other data in readable form",
  chat: "stage",
  async run(page) {
    await says(page, line({ type: "auth", message: "Please sign in.", url: "https://example.org/login" }));
    const address = page.locator(".question-box a");
    assert.equal(await address.getAttribute("href"), "https://example.org/login");
    await says(page, "done");
    await sees(page, ".theirs", "The answer was");
    await says(page, line({ type: "auth", message: "Please sign in.", url: "javascript:alert(1)" }));
    await sees(page, ".question-box", "javascript:alert(1)");
    assert.equal(await page.locator(".question-box").last().locator("a").count(), 0);
  },
};

export const chatUpload = {
  name: "Chat: files are sent, shown with their sizes and downloaded, and a file that is too large is refused",
  chat: "stage",
  async run(page) {
    await ready(page);
    const [picker] = await Promise.all([page.waitForEvent("filechooser"), page.click("[aria-label='Add files']")]);
    await picker.setFiles([
      { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("a few words") },
      { name: "dot.png", mimeType: "image/png", buffer: Buffer.from(pixel, "base64") },
    ]);
    await sees(page, ".chip", "11 B");
    await sees(page, ".chip", "dot.png");
    // As a file: the driver sends a buffer's bytes to the browser, which takes long on a busy machine.
    const folder = mkdtempSync(join(tmpdir(), "baton-"));
    const big = join(folder, "big.bin");
    writeFileSync(big, "");
    truncateSync(big, 4 * 1024 * 1024 + 1);
    await page.setInputFiles(".compose input[type=file]", big);
    await sees(page, ".compose .problem", "big.bin has 4.0 MiB. A file may have at most 4.0 MiB.");
    rmSync(folder, { recursive: true });
    assert.equal(await page.locator(".chip").count(), 2);
    assert.deepEqual(await faultsOf(page), []);
    await says(page, "told message");
    await sees(page, ".theirs", '"filename": "notes.txt"');
    await ready(page);
    await page.reload();
    await sees(page, ".theirs", '"filename": "notes.txt"');
    await page.locator(".mine img.picture").waitFor();
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.locator(".mine .attached", { hasText: "notes.txt" }).locator("text=Download").click(),
    ]);
    assert.equal(saved.suggestedFilename(), "notes.txt");
  },
};

export const chatDropped = {
  name: "Chat: a file can be dropped on the page",
  chat: "stage",
  async run(page) {
    await ready(page);
    await page.evaluate(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["dropped words"], "dropped.txt", { type: "text/plain" }));
      const place = document.querySelector("main");
      for (const name of ["dragenter", "dragover", "drop"]) {
        place.dispatchEvent(new DragEvent(name, { dataTransfer, bubbles: true, cancelable: true }));
      }
    });
    await sees(page, ".chip", "dropped.txt");
    await says(page, "say thanks");
    await sees(page, ".mine", "dropped.txt");
    await sees(page, ".theirs", "thanks");
  },
};

export const chatConversations = {
  name: "Chat: a second conversation can be started, and the first one opened again",
  chat: "stage",
  async run(page) {
    const [first, second] = [`say first ${randomUUID()}`, `say second ${randomUUID()}`];
    await says(page, first);
    await sees(page, ".theirs", first.slice(4));
    await ready(page);
    await page.click("text=New conversation");
    await page.locator(".mine").waitFor({ state: "detached" });
    await says(page, second);
    await sees(page, ".theirs", second.slice(4));
    await ready(page);
    await page.click(`.conversations a:has-text("${first}")`);
    await sees(page, ".theirs", first.slice(4));
    assert.deepEqual(await textsOf(page, ".mine"), [first]);
    await page.goBack();
    await sees(page, ".theirs", second.slice(4));
    assert.deepEqual(await textsOf(page, ".mine"), [second]);
  },
};

export const chatElsewhere = {
  name: "Chat: the list tells when a conversation that is not open has ended",
  chat: "stage",
  async run(page, { server }) {
    const [gate, title] = [randomUUID(), `say ${randomUUID()}`];
    await says(page, `${title}\nhold ${gate}`);
    await page.locator(".compose >> text=Stop").waitFor();
    await page.click("text=New conversation");
    const mark = rowOf(page, title).locator(".state");
    await mark.filter({ hasText: "Running" }).waitFor();
    server.open(gate, "stage");
    await mark.waitFor({ state: "detached" });
  },
};

const rowOf = (page, title) => page.locator(".conversations li", { hasText: title });

export const chatRenamed = {
  name: "Chat: a conversation is renamed in place with the keyboard, though the list changes, and keeps its title",
  chat: "stage",
  async run(page, { server }) {
    const [words, title, gate] = [`say ${randomUUID()}`, `Named ${randomUUID()} <b>`, randomUUID()];
    await says(page, words);
    await says(page, `hold ${gate}`);
    const mark = rowOf(page, words).locator(".state");
    await mark.waitFor();
    await rowOf(page, words).locator("a").focus();
    server.open(gate, "stage");
    await mark.waitFor({ state: "detached" });
    await ready(page);
    assert.equal(await page.evaluate(() => document.activeElement.matches(".conversations li a")), true);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    const field = page.locator(".renaming input");
    assert.equal(await field.inputValue(), words);
    assert.deepEqual(await faultsOf(page), []);
    await page.keyboard.type("dropped");
    await page.keyboard.press("Escape");
    await rowOf(page, words).waitFor();
    await page.waitForFunction(() => document.activeElement.classList.contains("rename"));
    await page.keyboard.press("Enter");
    await page.keyboard.type(title);
    await page.keyboard.press("Enter");
    await sees(page, ".conversations a[aria-current] .title", title);
    await sees(page, "h1", title);
    await page.reload();
    await sees(page, "h1", title);
    await rowOf(page, title).locator(".rename").click();
    await page.locator(".renaming input").fill("");
    await page.keyboard.press("Enter");
    await sees(page, "h1", words);
  },
};

export const chatDeleted = {
  name: "Chat: a conversation is deleted after a confirmation, also in the middle of an answer, and does not come back",
  chat: "stage",
  async run(page) {
    const [kept, deleted] = [`say kept ${randomUUID()}`, `say deleted ${randomUUID()}`];
    await says(page, kept);
    await ready(page);
    await page.click("text=New conversation");
    await page.locator(".mine").waitFor({ state: "detached" });
    await says(page, `${deleted}\nhold ${randomUUID()}`);
    await sees(page, ".theirs", deleted.slice(4));
    const row = rowOf(page, deleted);
    await row.locator(".remove").click();
    await sees(page, "dialog.deleting", deleted);
    assert.deepEqual(await faultsOf(page), []);
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Cancel");
    await page.keyboard.press("Enter");
    await page.locator("dialog").waitFor({ state: "detached" });
    assert.equal(await row.count(), 1);
    await row.locator(".remove").click();
    await page.click("dialog.deleting .danger");
    await row.waitFor({ state: "detached" });
    await page.locator(".mine").waitFor({ state: "detached" });
    await sees(page, ".conversations .title", kept);
    await page.reload();
    await sees(page, ".conversations .title", kept);
    assert.equal(await row.count(), 0);
  },
};

async function signsIn(page, token) {
  await sees(page, "dialog.token");
  await page.fill("dialog.token input", token);
  await page.click("dialog.token button");
}

export const chatTokens = {
  name: "Chat: a wrong token is refused with a message, a right one opens the page, and an expired one loses no text",
  chat: "lab",
  withTokens: true,
  // The browser logs every 401.
  expectsErrors: true,
  async run(page, { server }) {
    await sees(page, "dialog.token", "This server requires a token.");
    assert.deepEqual(await faultsOf(page), []);
    await signsIn(page, "nobody's");
    await sees(page, "dialog.token", "not valid here");
    await signsIn(page, tokens.caller);
    await says(page, "echo good morning");
    await sees(page, ".theirs", "good morning");
    await ready(page);
    await page.evaluate(() => sessionStorage.setItem("baton-chat-token", "run out"));
    await says(page, "echo good evening");
    await sees(page, "dialog.token", "has expired");
    await signsIn(page, tokens.caller);
    await sees(page, ".theirs", "good evening");
    await page.goto("about:blank");
    await page.goto(`http://${server.address}/chat#token=${tokens.caller}&agent=lab`);
    await ready(page);
    assert.equal(new URL(page.url()).hash, "#agent=lab");
    await page.evaluate(() => (location.hash = "token=nobody's"));
    await sees(page, "dialog.token", "You are signed in as ann. The link has the token of nobody that this server knows.");
    await page.click("text=Stay signed in");
    await ready(page);
    assert.equal(await page.evaluate(() => sessionStorage.getItem("baton-chat-token")), tokens.caller);
    assert.deepEqual(await page.context().cookies(), []);
  },
};

export const chatPhone = {
  name: "Chat: on a phone the conversations are a drawer, and the page does not scroll sideways",
  chat: "stage",
  device: phone,
  async run(page) {
    const rows = [{ name: "x".repeat(60), figure: 1, more: "y".repeat(60) }];
    const artifact = { artifactId: "wide", name: "wide", parts: [{ data: { rows, note: "z".repeat(200) } }] };
    await says(page, `say ${"long".repeat(100)}\n${line({ type: "artifact", artifact, lastChunk: true })}`);
    await sees(page, ".artifact table");
    await ready(page);
    assert.equal(await page.locator(".side-list").isVisible(), false);
    const seen = await page.evaluate(() => ({
      page: document.scrollingElement.scrollWidth,
      screen: innerWidth,
      text: parseFloat(getComputedStyle(document.querySelector("[name=message]")).fontSize),
    }));
    assert.equal(seen.screen, 360, "the page is as wide as the phone");
    assert.ok(seen.page <= seen.screen, "nothing to scroll sideways");
    assert.ok(seen.text >= 16, "phones zoom into smaller inputs");
    await page.tap("[aria-label='Show the conversations']");
    await page.locator(".side-list").waitFor();
    assert.deepEqual(await faultsOf(page), []);
    await page.tap(".side-list .fresh");
    await page.locator(".side-list").waitFor({ state: "hidden" });
    await page.locator(".mine").waitFor({ state: "detached" });
    await page.tap("[aria-label='Show the conversations']");
    await rowOf(page, "longlong").first().locator(".rename").tap();
    assert.ok((await page.locator(".renaming input").boundingBox()).width > 150, "there is room to write");
    await page.keyboard.press("Escape");
    await page.locator(".conversations a", { hasText: "longlong" }).first().tap();
    await sees(page, ".mine", "longlong");
  },
};

export const chatHostile = {
  name: "Chat: markup and links to scripts in messages are shown as text",
  chat: "stage",
  async run(page) {
    const artifact = { artifactId: "bad", name: hostile, parts: [{ data: [{ [hostile]: hostile }] }, { url: "javascript:alert(1)", filename: hostile }] };
    const call = { type: "tool-call", id: "c1", name: hostile, arguments: { a: hostile } };
    const script = [`say ${hostile}`, line({ type: "artifact", artifact, lastChunk: true }), line(call), line({ type: "fail", error: hostile })];
    await says(page, script.join("\n"));
    await sees(page, ".run-problem", "<img src=x");
    assert.equal(await page.locator(".theirs .address").getAttribute("data-address"), "javascript:document.title=2");
    await sees(page, ".theirs strong", "<b onclick=x>bold</b>");
    assert.equal(await page.locator("main img, main b[onclick], a[href^='javascript:']").count(), 0);
    assert.ok(!["1", "2"].includes(await page.title()));
    await says(page, "say see [the page](https://example.org/a) and `code`");
    const link = page.locator(".theirs a");
    assert.equal(await link.getAttribute("href"), "https://example.org/a");
    assert.match(await link.getAttribute("rel"), /noopener/);
    await sees(page, ".theirs code", "code");
  },
};

export const chatCommonMark = {
  name: "Chat: the examples of CommonMark are shown as it says, whole and letter by letter",
  chat: "stage",
  async run(page) {
    await page.evaluate(`window.treeOf = ${treeOf}`);
    const [whole, streamed] = await page.evaluate(async (texts) => {
      const { Markdown, prose } = await import("/chat/chat-markdown.js");
      const letterByLetter = (text) => {
        const markdown = new Markdown();
        for (const letter of text) {
          markdown.add(letter);
          markdown.draw(false);
        }
        markdown.end();
        return markdown.element;
      };
      const trees = (make) => texts.map((text) => window.treeOf(make(text), false));
      return [trees(prose), trees(letterByLetter)];
    }, examples.map(({ markdown }) => markdown));
    assert.deepEqual(streamed, whole);
    // The page's policy forbids to parse HTML.
    const other = await page.context().newPage();
    await other.evaluate(`window.treeOf = ${treeOf}`);
    const wanted = await other.evaluate(
      (texts) => texts.map((text) => window.treeOf(new DOMParser().parseFromString(text, "text/html").body, true)),
      examples.map(({ html }) => html),
    );
    const different = examples.filter((each, index) => whole[index] !== wanted[index]);
    assert.deepEqual(different.map(({ number }) => number), missed);
  },
};

export const chatMarkdown = {
  name: "Chat: a table has its alignment, code its colours, and each paragraph its direction",
  chat: "stage",
  async run(page) {
    const text = [
      "| a | b |\n|:--|--:|\n| x | 12 |\n",
      "```python\ndef f():\n\treturn 1 # one\n```\n",
      "An English paragraph.\n",
      "שלום English\n",
      "- [x] done\n",
      "> quoted ~~struck~~\n",
    ].join("\n");
    // In pieces, so that blocks grow.
    const pieces = text.match(/[^]{1,7}/g).map((delta) => line({ type: "text", delta }));
    await says(page, pieces.join("\n"));
    await ready(page);
    const align = (selector) => page.locator(selector).last().evaluate((cell) => getComputedStyle(cell).textAlign);
    assert.deepEqual([await align(".theirs td.left"), await align(".theirs td.right")], ["left", "right"]);
    await sees(page, ".theirs .hljs-keyword", "def");
    await sees(page, ".theirs .hljs-comment", "# one");
    const directions = await page.locator(".theirs p").evaluateAll((all) => all.map((one) => getComputedStyle(one).direction));
    assert.deepEqual(directions.slice(0, 2), ["ltr", "rtl"]);
    assert.ok(await page.locator(".theirs .task-item input").isChecked());
    await sees(page, ".theirs blockquote del", "struck");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    await page.getByRole("button", { name: "Copy the code" }).click();
    await waitFor("the code to be copied", async () => (await clipboard()) === "def f():\n\treturn 1 # one\n");
    await page.getByRole("button", { name: "Copy the answer" }).click();
    await waitFor("the answer to be copied", async () => (await clipboard()) === text.trimEnd());
    assert.deepEqual(await faultsOf(page), []);
  },
};

export const chatFollowed = {
  name: "Chat: the view follows the answer and its pictures, until someone scrolls up",
  chat: "stage",
  async run(page, { server }) {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="420"><rect width="300" height="420"/></svg>';
    const part = { raw: Buffer.from(svg).toString("base64"), mediaType: "image/svg+xml", filename: "tall.svg" };
    const picture = line({ type: "artifact", artifact: { artifactId: "tall", parts: [part] }, lastChunk: true });
    const gap = () => page.locator(".talk").evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight);
    const words = (count) => line({ type: "text", delta: "Words.\n\n".repeat(count) });
    await says(page, words(40));
    await ready(page);
    await says(page, `${picture}\n${words(3)}`);
    await page.waitForFunction(() => document.querySelector(".artifact-parts img, .theirs img")?.naturalHeight > 0);
    await ready(page);
    await waitFor("the view to be at the end", async () => (await gap()) < 2);
    assert.equal(await page.locator(".thinking:visible").count(), 0, "there was no thinking");
    const gate = randomUUID();
    await says(page, `say one\nhold ${gate}\n${words(30)}`);
    await page.locator(".theirs", { hasText: "one" }).last().waitFor();
    await waitFor("the view to follow", async () => (await gap()) < 2);
    await page.locator(".talk").hover();
    await page.mouse.wheel(0, -400);
    await page.locator(".to-end").waitFor();
    server.open(gate, "stage");
    await page.locator(".theirs").last().filter({ hasText: "Words." }).waitFor();
    await ready(page);
    assert.ok((await gap()) > 400, "the view stays where someone reads");
    await page.click(".to-end");
    await waitFor("the view to be at the end again", async () => (await gap()) < 2);
  },
};

export const chatRequest = {
  name: "Chat: an example begins, a request is edited and sent again, and the list says at once what happens",
  chat: "approval",
  async run(page) {
    await page.click(".example");
    await page.locator(".question-box form").waitFor();
    await sees(page, ".conversations a[aria-current] .state", "Needs input");
    const example = (await textsOf(page, ".mine"))[0];
    // The server's list may be late; the page knows its own conversation.
    await page.route(/\/conversations\?/, () => {});
    await page.getByRole("button", { name: "Approve" }).click();
    await page.locator(".conversations a[aria-current] .state", { hasText: "Needs input" }).waitFor({ state: "detached" });
    await ready(page);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.locator(".said").first().hover();
    await page.locator(".edit").first().click();
    assert.equal(await page.inputValue("[name=message]"), example);
    await page.keyboard.press("End");
    await page.keyboard.type(" today");
    await page.keyboard.press("Enter");
    await page.locator(".mine", { hasText: "today" }).waitFor();
    // Without an agent in the address, the page opens the last one.
    await page.goto(`${new URL(page.url()).origin}/chat?again`);
    await sees(page, "h1", "Approval");
  },
};

export const chatShown = {
  name: "Chat: tools, progress, thoughts, tables and charts of the shipped agents are shown",
  chat: "tools",
  async run(page) {
    await says(page, "How is the weather in Berlin?");
    await sees(page, ".theirs", "The weather in Berlin");
    await page.click(".tool summary");
    await sees(page, ".tool", "get_weather");
    await sees(page, ".tool .facts", "14");
    await ready(page);
    await says(page, "plan a trip to Oslo");
    await sees(page, ".theirs", "Pack:");
    await ready(page);
    await page.locator(".thinking:visible summary").last().click();
    await sees(page, ".thoughts", "first look at the weather, then decide what to pack.");
    await sees(page, ".thoughts .activity", "Look at the weather");
    assert.deepEqual(await textsOf(page, ".thoughts .step .mark"), ["done", "done"]);
    assert.deepEqual(await faultsOf(page), []);
  },
};

export const chatPlan = {
  name: "Chat: a plan's steps are named and ticked beside its answer, and an open one shows its result as it is",
  chat: "planned",
  async run(page, { server }) {
    const gate = randomUUID();
    await says(page, `say one\nhold ${gate}\nsay two`);
    await sees(page, ".theirs", "one");
    const [look, tell] = [0, 1].map((at) => page.locator(".plan-step").nth(at));
    await look.locator("[aria-label=Completed]").waitFor();
    await tell.locator("[aria-label=Running]").waitFor();
    assert.deepEqual(await textsOf(page, ".step-name"), ["look", "tell"]);
    await tell.locator("summary").click();
    await sees(tell, ".inside", "one");
    server.open(gate, "stage");
    await sees(tell, ".inside", /one\s*two/);
    await tell.locator("[aria-label=Completed]").waitFor();
    await ready(page);
    assert.deepEqual(await textsOf(page, ".theirs"), ["onetwo"]);
  },
};

export const chatCharts = {
  name: "Chat: a table is sent, and its statistics and chart are shown",
  chat: "table-report",
  withTokens: true,
  token: tokens.caller,
  device: { colorScheme: "dark" },
  async run(page) {
    await ready(page);
    await page.setInputFiles(".compose input[type=file]", {
      name: "sales.csv",
      mimeType: "text/csv",
      buffer: Buffer.from("region,sold\nnorth,10\nsouth,20\n"),
    });
    await sees(page, ".chip", "sales.csv");
    await page.click(".compose >> text=Send");
    await sees(page, ".artifact table", "sold");
    await page.locator(".artifact img.picture").waitFor();
    const isDrawn = () => page.locator(".artifact img.picture").evaluate((image) => image.naturalWidth > 0);
    await waitFor("the chart to be drawn", isDrawn);
    await sees(page, ".theirs", "2 rows, 2 columns.");
    await ready(page);
    assert.deepEqual(await faultsOf(page), []);
  },
};

export const chatAgain = {
  name: "Chat: a failed answer can be retried with a button",
  chat: "stage",
  async run(page) {
    await says(page, line({ type: "fail", error: "It broke." }));
    await sees(page, ".run-problem", "It broke.");
    await page.click(".run-problem >> text=Try again");
    await page.locator(".mine").nth(1).waitFor();
    await sees(page, ".run-problem", "It broke.");
    await ready(page);
  },
};
