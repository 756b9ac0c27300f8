// The shipped assistant with a third-party server of OpenAI's and Anthropic's APIs behind it: aimock, a process of its
// own, which answers from its fixtures and keeps its requests.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { patience, within } from "../lib/bounds.mjs";
import { Server } from "../lib/server.mjs";
import { assembled, collect, lastState, polled, textOf, using } from "../cases/tools.mjs";
import { v10 } from "../clients/v10.mjs";

const folder = dirname(dirname(createRequire(import.meta.url).resolve("@copilotkit/aimock")));
const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

const key = "sk-key";
const csv = "city,people\nOslo,709037\nBergen,291000\n";
const report = (message, id) => ({ id, name: "table-report", arguments: JSON.stringify({ message }) });
const long = "An answer that is long enough to come in several pieces.";
const fixtures = [
  { match: { userMessage: "several pieces" }, response: { content: long, reasoning: "Let me think." } },
  { match: { userMessage: "one table", hasToolResult: true }, response: { content: "Oslo is larger." } },
  { match: { userMessage: "one table" }, response: { toolCalls: [report(csv, "call_a")], reasoning: "A table." } },
  { match: { userMessage: "two tables", hasToolResult: true }, response: { content: "Both are small." } },
  {
    match: { userMessage: "two tables" },
    response: {
      content: "I look. ",
      reasoning: "Two tables.",
      toolCalls: [report(csv, "call_b"), report("a,b\n1,2\n", "call_c")],
    },
  },
  {
    match: { userMessage: "refused" },
    response: { error: { message: "this is too much", type: "invalid_request_error" }, status: 400 },
  },
  {
    match: { userMessage: "busy", sequenceIndex: 0 },
    response: { error: { message: "slow down", type: "rate_limit_error" }, status: 429, retryAfter: 1 },
  },
  { match: { userMessage: "busy" }, response: { content: "Now I have time." } },
  {
    match: { userMessage: "broken", sequenceIndex: 0 },
    response: { content: "Wrong ".repeat(40) },
    latency: 20,
    truncateAfterChunks: 6,
  },
  { match: { userMessage: "broken" }, response: { content: "Right." } },
  { match: { userMessage: "slowly" }, response: { content: "Wait ".repeat(200) }, latency: 500 },
];

const shipped = JSON.parse(readFileSync(new URL("../../../agent-cards/assistant/card.json", import.meta.url), "utf8"));

// The shipped assistant over the server's other APIs. The server knows of these models that they reason, and refuses a
// request of Anthropic's API whose tool results come without the signed thoughts before.
const others = {
  responses: { api: "responses", name: "gpt-5.1", parameters: { reasoning: { summary: "auto" } } },
  anthropic: {
    api: "anthropic",
    name: "claude-sonnet-4-5",
    parameters: { max_tokens: 4096, thinking: { type: "enabled", budget_tokens: 1024 } },
  },
};
const cardOf = (model) => {
  const { auth } = shipped.baton;
  const type = model.api === "anthropic" ? { type: "api_key", header: "x-api-key" } : {};
  const baton = { ...shipped.baton, auth: { ...auth, ...type }, model: { ...model, tools: shipped.baton.model.tools } };
  return { ...shipped, $schema: undefined, name: model.api, baton };
};

class Model {
  #process;

  async start() {
    this.folder = mkdtempSync(join(tmpdir(), "baton-interop-model-"));
    writeFileSync(join(this.folder, "fixtures.json"), JSON.stringify({ fixtures }));
    const words = [join(folder, "dist/cli.cjs"), "-p", "0", "-f", join(this.folder, "fixtures.json"), "--strict"];
    // The server refuses requests without this key.
    const env = { ...process.env, AIMOCK_API_KEYS: key };
    this.#process = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "ignore"], env });
    this.url = await within(patience, "the model's server to listen", this.#listening());
    const variables = { MODEL_URL: `${this.url}/v1`, MODEL_NAME: "tiny", MODEL_KEY: key };
    const cards = Object.fromEntries(Object.values(others).map((model) => [model.api, cardOf(model)]));
    this.near = new Server({}, ["assistant", "table-report"], cards, variables);
    await this.near.start();
  }

  async #listening() {
    for await (const line of createInterface({ input: this.#process.stdout })) {
      const found = line.match(/listening on (http:\S+)/);
      if (!found) continue;
      this.#process.stdout.resume();
      return found[1];
    }
    throw new Error("it ended before it listened");
  }

  async stop() {
    await this.near.stop();
    const ended = once(this.#process, "exit");
    this.kill();
    await ended;
  }

  kill() {
    this.near?.kill();
    this.#process?.kill("SIGKILL");
    if (this.folder) rmSync(this.folder, { recursive: true, force: true });
  }

  using(run, agent = "assistant") {
    return using(v10[0], this.near.base(agent), {}, run);
  }

  // Returns the requests with this message that the server has received under this path.
  async asked(message, path = "/v1/chat/completions") {
    const [answer] = await once(get(`${this.url}/__aimock/journal`, { headers: { Authorization: `Bearer ${key}` } }), "response");
    const requests = JSON.parse(await text(answer));
    return requests.filter((one) => one.path === path && one.body?.messages?.some(({ content }) => content === message));
  }
}

const results = ({ body }) => body.messages.filter(({ role }) => role === "tool").map(({ content }) => content);

export const cases = [
  {
    operation: "a stream",
    run: (model) =>
      model.using(async (client) => {
        const events = await collect(client.stream("several pieces"));
        assert.equal(assembled(v10[0], events), long);
        assert.equal(lastState(events), "completed");
        const [{ body }] = await model.asked("several pieces");
        assert.deepEqual([body.model, body.stream, body.tools.length], ["tiny", true, 1]);
      }),
  },
  {
    operation: "a tool",
    run: (model) =>
      model.using(async (client) => {
        const task = await client.send("one table");
        assert.deepEqual([task.state, textOf(task)], ["completed", "Oslo is larger."]);
        const [, second] = await model.asked("one table");
        assert.match(results(second)[0], /709037/);
      }),
  },
  {
    operation: "several tools at once, after a word",
    run: (model) =>
      model.using(async (client) => {
        const task = await client.send("two tables");
        assert.deepEqual([task.state, textOf(task)], ["completed", "I look. Both are small."]);
        const [, second] = await model.asked("two tables");
        assert.equal(results(second).length, 2);
      }),
  },
  {
    operation: "a refusal",
    run: (model) =>
      model.using(async (client) => {
        const task = await client.send("refused");
        assert.equal(task.state, "failed");
        assert.match(task.say, /HTTP status 400: this is too much/);
      }),
  },
  {
    operation: "a server that is busy",
    run: (model) =>
      model.using(async (client) => {
        const task = await client.send("busy");
        assert.deepEqual([task.state, textOf(task)], ["completed", "Now I have time."]);
        assert.equal((await model.asked("busy")).length, 2);
      }),
  },
  {
    operation: "an answer that breaks off",
    run: (model) =>
      model.using(async (client) => {
        const task = await client.send("broken");
        assert.deepEqual([task.state, textOf(task)], ["completed", "Right."]);
        assert.equal((await model.asked("broken")).length, 2);
      }),
  },
  {
    operation: "a cancel",
    run: (model) =>
      model.using(async (client) => {
        const { id } = await client.send("slowly", { blocking: false });
        await polled(client, id, "working");
        await client.cancel(id);
        await polled(client, id, "canceled");
      }),
  },
];

for (const { api, name } of Object.values(others)) {
  const path = api === "anthropic" ? "/v1/messages" : "/v1/responses";
  cases.push(
    {
      operation: `a stream over ${api}`,
      run: (model) =>
        model.using(async (client) => {
          const events = await collect(client.stream("several pieces"));
          assert.equal(assembled(v10[0], events), long);
          assert.equal(lastState(events), "completed");
          const [{ body }] = await model.asked("several pieces", path);
          assert.deepEqual([body.model, body.stream, body.tools.length], [name, true, 1]);
        }, api),
    },
    {
      operation: `tools after reasoning over ${api}`,
      run: (model) =>
        model.using(async (client) => {
          for (const [message, answer] of [
            ["one table", "Oslo is larger."],
            ["two tables", "I look. Both are small."],
          ]) {
            const task = await client.send(message);
            assert.deepEqual([task.state, textOf(task)], ["completed", answer]);
          }
          const [, second] = await model.asked("one table", path);
          assert.match(results(second)[0], /709037/);
        }, api),
    },
    {
      operation: `a refusal over ${api}`,
      run: (model) =>
        model.using(async (client) => {
          const task = await client.send("refused");
          assert.equal(task.state, "failed");
          assert.match(task.say, /HTTP status 400: this is too much/);
        }, api),
    },
  );
}

export const models = [{ ...v10[0], api: `aimock ${version} behind`, chain: new Model(), cases }];
