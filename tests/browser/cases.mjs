// Cases of a user on pages that use Baton's protocols.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { waitFor } from "../interop/lib/bounds.mjs";

async function say(page, text) {
  await page.fill("[name=text]", text);
  await page.click("form:has([name=text]) button");
}

const textsOf = (page, selector) => page.locator(selector).allInnerTexts();

// Waits until one of the elements has the text.
const sees = (page, selector, text) => page.locator(selector, { hasText: text }).first().waitFor();

export const streamed = {
  name: "React page: a message is sent, and its answer shown as it arrives",
  everything: "interop/chat plays it with the @ag-ui/client that the page has",
  page: "index.html",
  agent: "stage",
  async run(page, { server }) {
    const gate = randomUUID();
    await say(page, `say Good morning`);
    await sees(page, ".assistant p", "Good morning");
    await say(page, `say one \nhold ${gate}\nsay two`);
    await sees(page, ".assistant p", "one");
    assert.equal(await page.locator("form button").isDisabled(), true, "the run goes on");
    server.open(gate, "stage");
    await sees(page, ".assistant p", /one\s*two/);
    assert.deepEqual(await textsOf(page, ".error"), []);
  },
};

export const toolCard = {
  name: "React page: the agent's tool and the page's own tool",
  everything: "interop/chat plays it with the @ag-ui/client that the page has",
  page: "index.html",
  agent: "tools",
  async run(page) {
    await say(page, "How is the weather in Berlin?");
    await sees(page, ".assistant p", "The weather in Berlin");
    const [card] = await textsOf(page, ".tool.card");
    assert.match(card, /get_weather/);
    assert.match(card, /"temperature_c": ?14/);
    await say(page, 'Please call show_map with {"city": "Zürich"}');
    await sees(page, ".map.card", "Map of Zürich");
    await sees(page, ".assistant p", "The tool answered: The user sees the map of Zürich.");
    assert.deepEqual(await textsOf(page, ".error"), []);
  },
};

export const approval = {
  name: "React page: an approval, given and refused",
  everything: "interop/chat plays it with the @ag-ui/client that the page has",
  page: "index.html",
  agent: "approval",
  async run(page) {
    await say(page, "Delete the logs");
    await sees(page, ".approval.card", 'Shall I do this: "Delete the logs"?');
    await page.click("text=Approve");
    await sees(page, ".assistant p", "Done: Delete the logs");
    await page.locator(".approval.card").waitFor({ state: "detached" });
    await say(page, "Delete the backups");
    await sees(page, ".approval.card", "Delete the backups");
    await page.click("text=Refuse");
    await sees(page, ".error", "not approved");
    await say(page, "Delete the mails");
    await sees(page, ".approval.card", "Delete the mails");
  },
};

// Writes into CopilotKit's own chat.
async function tell(page, text) {
  await page.fill("textarea", text);
  await page.press("textarea", "Enter");
}

export const copilotInterrupt = {
  name: "CopilotKit: useInterrupt, approved and rejected in one thread",
  everything: "interop/chat plays it with the @ag-ui/client below CopilotKit",
  page: "copilot.html",
  agent: "approval",
  async run(page, { server }) {
    await tell(page, "Delete the logs");
    await sees(page, "main", 'Shall I do this: "Delete the logs"?');
    await page.click("text=Approve");
    await sees(page, "main", "Done: Delete the logs");
    await page.locator(".approval.question").waitFor({ state: "detached" });
    await tell(page, "Delete the backups");
    await sees(page, "main", "Delete the backups");
    await page.click("text=Reject");
    await page.locator(".approval.question").waitFor({ state: "detached" });
    const newest = async () => {
      const answer = await fetch(`${server.base("approval")}tasks?pageSize=1`, { headers: { "A2A-Version": "1.0" } });
      return (await answer.json()).tasks[0].status.state;
    };
    await waitFor("the refusal", async () => (await newest()) === "TASK_STATE_REJECTED");
  },
  // CopilotKit logs a rejected run to the console.
  expectsErrors: true,
};

export const copilotTwice = {
  name: "CopilotKit: an agent that asks twice in one run",
  everything: "interop/chat plays it with the @ag-ui/client below CopilotKit",
  page: "copilot.html",
  agent: "twice",
  async run(page) {
    await tell(page, "Go");
    await sees(page, "main", "First?");
    await page.click("text=Approve");
    await sees(page, "main", "Second?");
    await page.click("text=Reject");
    await sees(page, "main", "yes, no");
  },
};

export const copilotHuman = {
  name: "CopilotKit: useHumanInTheLoop",
  everything: "interop/chat plays it with the @ag-ui/client below CopilotKit",
  page: "copilot.html",
  agent: "tools",
  async run(page) {
    await tell(page, 'Please call pick_seat with {"row": 7}');
    await sees(page, ".seat.card", "Row 7");
    await page.click("text=Seat A");
    await sees(page, "main", "The tool answered: Seat A in row 7");
  },
};

export const copilotTool = {
  name: "CopilotKit: useFrontendTool",
  everything: "interop/chat plays it with the @ag-ui/client below CopilotKit",
  page: "copilot.html",
  agent: "tools",
  async run(page) {
    await tell(page, 'Please call set_color with {"color": "green"}');
    await sees(page, "#color", "green");
    await sees(page, "main", "The tool answered: The page is green.");
  },
};

export const readme = {
  name: "the example page: question, answer, approval, error",
  page: "chat.html",
  agent: "approval",
  door: "ag-ui",
  async run(page) {
    await say(page, "Delete the logs");
    await sees(page, "p.assistant", 'Shall I do this: "Delete the logs"?');
    await page.click("text=Approve");
    await sees(page, "p.assistant", "Done: Delete the logs");
    await say(page, "Delete the backups");
    await page.click("text=Reject");
    await sees(page, "p.error", "not approved");
  },
};

const asks = (schema) => JSON.stringify({ type: "ask", message: "What shall it be?", schema });
const object = (properties, ...required) => asks({ type: "object", properties, required });

export const readmeInputs = {
  name: "the example page: a question with a schema gets matching inputs",
  page: "chat.html",
  agent: "stage",
  door: "ag-ui",
  async run(page) {
    const answered = async (script, act, told) => {
      await say(page, script);
      await page.locator("form.question").waitFor();
      await act();
      await page.click("form.question >> text=Answer");
      await sees(page, "p.assistant", `The answer was ${told}`);
      await page.locator("form.question").waitFor({ state: "detached" });
    };
    await answered(asks(undefined), () => page.fill("form.question input", "blue"), '["blue"]');
    await answered(
      object({ size: { type: "integer" }, name: { type: "string", title: "Your name" }, note: { type: "string" } }, "size"),
      async () => {
        assert.equal(await page.getAttribute("form.question [name=size]", "type"), "number");
        await page.fill("form.question [name=size]", "42");
        await page.getByLabel("Your name").fill("Ada");
      },
      '[{"size": 42, "name": "Ada"}]',
    );
    await answered(
      object({ color: { enum: ["red", "green"] }, sure: { type: "boolean" } }, "color", "sure"),
      async () => {
        await page.selectOption("form.question select", { label: "green" });
        await page.check("form.question [name=sure]");
      },
      '[{"color": "green", "sure": true}]',
    );
    await answered(
      object({ list: { type: "array", items: { type: "number" } } }, "list"),
      async () => {
        // An answer that does not fit is refused with a message, and can be corrected.
        await page.fill("form.question textarea", '["x"]');
        await page.click("form.question >> text=Answer");
        await sees(page, "p.error", "does not fit");
        await page.fill("form.question textarea", "[1, 2]");
      },
      '[{"list": [1, 2]}]',
    );
  },
};

export const readmeReload = {
  name: "the example page: its thread is shown again after a reload, also in the middle of a run",
  everything: "chat_cases.mjs does it on the chat page, and e2e/test_chat_conversations.py without a page",
  page: "chat.html",
  agent: "approval",
  door: "ag-ui",
  async run(page, { server }) {
    await say(page, "Delete the logs");
    await page.locator("text=Approve").waitFor();
    await page.reload();
    await sees(page, "p.user", "Delete the logs");
    await page.click("text=Approve");
    await sees(page, "p.assistant", "Done: Delete the logs");
    await page.reload();
    await sees(page, "p.assistant", "Done: Delete the logs");
    assert.deepEqual(await textsOf(page, "p.user"), ["Delete the logs"]);
    assert.equal(await page.locator("form.question").count(), 0);

    const gate = randomUUID();
    await page.goto(page.url().replace("approval", "stage"));
    await say(page, "say one");
    await sees(page, "p.assistant", "one");
    const begun = page.waitForResponse((answer) => answer.request().method() === "POST");
    await say(page, `hold ${gate}`);
    await begun;
    await page.reload();
    server.open(gate, "stage");
    await sees(page, "p.user", "hold");
    await sees(page, "p.assistant", "one");
    assert.deepEqual(await textsOf(page, ".error"), []);
  },
};

export const readmePhone = {
  name: "the example page: on a phone",
  everything: "chat_cases.mjs and console_cases.mjs do it on the pages that the program serves",
  page: "chat.html",
  agent: "stage",
  door: "ag-ui",
  device: { viewport: { width: 360, height: 640 }, isMobile: true, hasTouch: true, deviceScaleFactor: 3 },
  async run(page) {
    await page.fill("[name=text]", `say ${"long".repeat(100)}`);
    await page.tap("form:has([name=text]) button");
    await sees(page, "p.assistant", "longlong");
    await page.fill("[name=text]", object({ a: { type: "string" }, b: { enum: ["x".repeat(80)] } }, "a"));
    await page.tap("form:has([name=text]) button");
    await page.locator("form.question select").waitFor();
    const seen = await page.evaluate(() => ({
      page: document.scrollingElement.scrollWidth,
      screen: innerWidth,
      text: parseFloat(getComputedStyle(document.querySelector("[name=text]")).fontSize),
    }));
    assert.equal(seen.screen, 360, "the page is as wide as the phone");
    assert.ok(seen.page <= seen.screen, "nothing to scroll sideways");
    assert.ok(seen.text >= 16, "phones zoom into smaller inputs");
  },
};

export const readmeTool = {
  name: "the example page: a tool of the agent's",
  everything: "interop/chat/agui_tools.mjs",
  page: "chat.html",
  agent: "tools",
  door: "ag-ui",
  async run(page) {
    await say(page, "How is the weather in Oslo?");
    await sees(page, "p.tool", "uses get_weather");
    await sees(page, "p.assistant", "The weather in Oslo");
    assert.deepEqual(await textsOf(page, "p.error"), []);
  },
};

export const readmeError = {
  name: "the example page: a missing agent is reported",
  page: "chat.html",
  agent: "nobody",
  door: "ag-ui",
  expectsErrors: true,
  async run(page) {
    await say(page, "hello");
    await sees(page, "p.error", /\S/);
    assert.ok(!(await textsOf(page, "p.error"))[0].includes("[object"), "words, not an object");
  },
};

export const comingBack = {
  name: "a page resumes a stream of another origin",
  page: "chat.html",
  agent: "stage",
  door: "ag-ui",
  async run(page, { server }) {
    const url = `${server.base("stage")}send-message`;
    const { whole, rest, id } = await page.evaluate(async (agent) => {
      const messages = [{ id: crypto.randomUUID(), role: "user", content: "say one two three" }];
      const body = JSON.stringify({ threadId: crypto.randomUUID(), runId: crypto.randomUUID(), messages });
      const ask = async (headers) => {
        const all = { "Content-Type": "application/json", Authorization: "Bearer nobody asks for it", ...headers };
        return (await fetch(agent, { method: "POST", headers: all, body })).text();
      };
      const whole = await ask({});
      const [, id] = whole.match(/^id: (\S+)$/m);
      return { whole, id, rest: await ask({ "Last-Event-ID": id }) };
    }, url);
    assert.match(whole, /RUN_FINISHED/);
    assert.equal(rest, whole.slice(whole.indexOf("\n\n", whole.indexOf(`id: ${id}\n`)) + 2));
  },
};
