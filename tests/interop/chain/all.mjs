// Chains: a client, a Baton, an agent made with the official SDK, and another Baton. The first Baton calls the SDK's
// server as a client (executor a2a), and the SDK's client calls the second Baton.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { patience, waitFor, within } from "../lib/bounds.mjs";
import { Server } from "../lib/server.mjs";
import { assembled, collect, lastState, polled, textOf, using } from "../cases/tools.mjs";
import { v03 } from "../clients/v03.mjs";
import { v10 } from "../clients/v10.mjs";

class Middle {
  #process;

  constructor(sdk) {
    this.file = fileURLToPath(new URL(`middle_${sdk}.mjs`, import.meta.url));
  }

  // Uses the same port again after a restart.
  async start(far) {
    this.far ??= far;
    this.#process = spawn(process.execPath, [this.file], {
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, FAR: this.far, PORT: String(this.port ?? 0) },
    });
    this.url = await within(patience, "the agent in the middle to listen", this.#listening());
    this.port = new URL(this.url).port;
  }

  async #listening() {
    for await (const line of createInterface({ input: this.#process.stdout })) {
      const found = line.match(/listening on (\S+)/);
      if (!found) continue;
      this.#process.stdout.resume();
      return found[1];
    }
    throw new Error("it ended before it listened");
  }

  async kill() {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.kill("SIGKILL");
    await ended;
  }
}

// One for each SDK in the middle; its programs run for all of its cases.
class Chain {
  constructor(client, file) {
    this.client = client;
    this.middle = new Middle(file);
    this.far = new Server({}, ["desk", "table-report"]);
  }

  async start() {
    await this.far.start();
    await this.middle.start(this.far.base("desk"));
    const card = {
      name: "Desk",
      description: "The desk behind two others.",
      version: "1",
      capabilities: { streaming: true },
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["text/plain"],
      skills: [{ id: "all", name: "All", description: "What the desk does.", tags: ["remote"] }],
      baton: { executor: "a2a", url: this.middle.url },
    };
    this.near = new Server({ outbound: { origins: [this.middle.url] } }, [], { desk: card });
    await this.near.start();
  }

  async stop() {
    await this.near?.stop();
    await this.middle.kill();
    await this.far.stop();
  }

  kill() {
    this.near?.kill();
    this.far.kill();
    this.middle.kill();
  }

  // Runs with a client of the near end.
  using(run) {
    return using(this.client, this.near.base("desk"), {}, run);
  }

  // Returns the far end's tasks. Not by `fetch`, which checks answers against the shapes of the client's generation.
  async farTasks() {
    const url = new URL("tasks?pageSize=100", this.far.base("desk"));
    const [answer] = await once(get(url, { headers: { "A2A-Version": "1.0" } }), "response");
    return JSON.parse(await text(answer)).tasks;
  }
}

const holds = (client, id) =>
  waitFor("the far agent's first words", async () => {
    const task = await client.get(id);
    return task.state === "working" && textOf(task) === "one " && task;
  });

export const cases = [
  {
    operation: "a stream through all three",
    run: (chain) =>
      chain.using(async (client) => {
        const events = await collect(client.stream("count 3"));
        assert.equal(assembled(chain.client, events), "1 2 3 ");
        assert.equal(lastState(events), "completed");
      }),
  },
  {
    operation: "a file through all three",
    run: (chain) =>
      chain.using(async (client) => {
        const bytes = Buffer.from([0, 1, 2, 250, 255]).toString("base64");
        const parts = [{ bytes, mediaType: "application/octet-stream" }];
        const task = await client.send("mirror", { parts });
        assert.equal(task.artifacts[0]?.name, "mirror", JSON.stringify(task));
        const [file] = task.artifacts[0].parts;
        assert.deepEqual([file.bytes, file.mediaType], [bytes, "application/octet-stream"]);
      }),
  },
  {
    operation: "a question and its answer through all three",
    run: (chain) =>
      chain.using(async (client) => {
        const before = (await chain.farTasks()).length;
        const asked = await client.send("ask the sofa");
        assert.equal(asked.state, "input-required");
        const task = await client.send("blue", { taskId: asked.id, contextId: asked.contextId });
        assert.deepEqual([task.state, textOf(task)], ["completed", "The answer was blue."]);
        assert.equal((await chain.farTasks()).length, before + 1);
      }),
  },
  {
    operation: "a failure through all three",
    run: (chain) =>
      chain.using(async (client) => {
        const task = await client.send("fail");
        assert.deepEqual([task.state, task.say], ["failed", "It broke."]);
      }),
  },
  {
    operation: "a cancel through all three",
    run: (chain) =>
      chain.using(async (client) => {
        const { id } = await client.send("hold never", { blocking: false });
        await holds(client, id);
        await client.cancel(id);
        await polled(client, id, "canceled");
        await waitFor("the far task to be canceled", async () =>
          (await chain.farTasks()).every((task) => task.status.state !== "TASK_STATE_WORKING"),
        );
      }),
  },
  {
    operation: "the one in the middle is killed and comes back",
    run: (chain) =>
      chain.using(async (client) => {
        const before = (await chain.farTasks()).length;
        const { id } = await client.send("hold door", { blocking: false });
        await holds(client, id);
        await chain.middle.kill();
        await chain.middle.start();
        chain.far.open("door");
        const task = await polled(client, id, "completed");
        assert.equal(textOf(task), "one two");
        assert.equal((await chain.farTasks()).length, before + 1, "the far task is one");
      }),
  },
];

export const chains = [
  { ...v03[0], api: "agent in the middle", chain: new Chain(v03[0], "0_3") },
  { ...v10[0], api: "agent in the middle", chain: new Chain(v10[0], "1_3") },
];
