// What a user does and sees.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

async function say(page, text) {
  await page.fill("[name=text]", text);
  await page.click("form button");
}

const textsOf = (page, selector) => page.locator(selector).allInnerTexts();

// Waits until one of the elements has the text.
const sees = (page, selector, text) => page.locator(selector, { hasText: text }).first().waitFor();

export const streamed = {
  name: "React page: a message, and its answer as it comes",
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

export const readme = {
  name: "the README's page: question, answer, approval, error",
  page: "chat.html",
  agent: "approval",
  door: "ag-ui",
  async run(page) {
    await say(page, "Delete the logs");
    await sees(page, "p.agent", 'Shall I do this: "Delete the logs"?');
    await page.click("text=Approve");
    await sees(page, "p.agent", "Done: Delete the logs");
    await say(page, "Delete the backups");
    await page.click("text=Refuse");
    await sees(page, "p.error", "not approved");
  },
};

export const readmeTool = {
  name: "the README's page: a tool of the agent's",
  page: "chat.html",
  agent: "tools",
  door: "ag-ui",
  async run(page) {
    await say(page, "How is the weather in Oslo?");
    await sees(page, "p.tool", "uses get_weather");
    await sees(page, "p.agent", "The weather in Oslo");
    assert.deepEqual(await textsOf(page, "p.error"), []);
  },
};

export const readmeError = {
  name: "the README's page: an agent that is not there",
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
  name: "a page comes back to a stream of another origin",
  page: "index.html",
  agent: "stage",
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
