// AG-UI: conversations, errors, hanging up, repeated runs.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { following } from "../../../agent-cards/lib/node/baton/ag-ui.mjs";
import { patience, waitFor, within } from "../lib/bounds.mjs";
import { Proxy } from "../lib/proxy.mjs";
import { finished, ofType, only, saidIn, talkOf, wentWrong } from "./agui_tools.mjs";
import { byA2A, fresh, longText, onlyTaskOf, script, tasksOf, textOf, toldIn, untilState } from "./tools.mjs";

const stage = (client, world, options) => client.page(world.stage.base("stage"), options);

// The other cases depend on this: the client refuses events that are out of order.
export const verifier = {
  operation: "the client's verifier is on",
  async run(client) {
    const events = [
      { type: "RUN_STARTED", threadId: "t", runId: "r" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "x" },
      { type: "RUN_FINISHED", threadId: "t", runId: "r" },
    ];
    const server = createServer((_, response) => {
      response.setHeader("Content-Type", "text/event-stream");
      response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const page = client.page(`http://127.0.0.1:${server.address().port}/`);
      await assert.rejects(page.say("x").run(), /TEXT_MESSAGE_CONTENT/);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  },
};

export const chat = {
  operation: "chat",
  async run(client, world) {
    const page = stage(client, world);
    const runId = fresh();
    const events = finished(await page.say("say Good morning to you").run({ runId }), "Good morning to you");
    for (const event of [events[0], events.at(-1)]) {
      assert.deepEqual([event.threadId, event.runId], [page.threadId, runId]);
    }
    assert.deepEqual(talkOf(page), [
      ["user", "say Good morning to you"],
      ["assistant", "Good morning to you"],
    ]);
    const task = await onlyTaskOf(world.stage, "stage", page.threadId);
    assert.deepEqual([task.state, textOf(task)], ["completed", "Good morning to you"]);
  },
};

export const streamed = {
  operation: "text comes while the agent works",
  async run(client, world) {
    const gate = fresh();
    const page = stage(client, world).say(script("say one", `hold ${gate}`, "say two"));
    const events = await page.run({}, (event) => {
      if (event.type === "TEXT_MESSAGE_CONTENT") world.stage.open(gate, "stage");
    });
    finished(events, "onetwo");
  },
};

export const paths = {
  operation: "every path of an agent",
  async run(client, world) {
    const { address } = world.stage;
    const places = ["send-message", "ag-ui", "agents/stage/send-message", "agents/stage/ag-ui"];
    for (const path of [...places, "v1/aibot/bots/stage/send-message"]) {
      finished(await client.pageAt(`http://${address}/${path}`).say("say here").run(), "here");
    }
  },
};

export const longTexts = {
  operation: "long text in many scripts",
  async run(client, world) {
    const page = stage(client, world).say(script({ type: "text", delta: longText }));
    finished(await page.run(), longText);
    assert.equal(page.messages.at(-1).content, longText);
  },
};

export const history = {
  operation: "the agent receives the client's history",
  async run(client, world) {
    const page = stage(client, world);
    finished(await page.say("say I am Stage").run());
    const told = toldIn(saidIn(finished(await page.say("told history").run())));
    const texts = told.map((message) => message.parts.map((part) => part.text).join(""));
    assert.deepEqual(texts, ["say I am Stage", "I am Stage"]);
    // The client owns the history: messages that it leaves out are not there.
    const other = stage(client, world, { threadId: page.threadId });
    assert.deepEqual(toldIn(saidIn(await other.say("told history").run())), []);
  },
};

export const sideBySide = {
  operation: "two runs in one thread",
  async run(client, world) {
    const gate = fresh();
    const first = stage(client, world).say(script("say one", `hold ${gate}`, "say two"));
    const second = stage(client, world, { threadId: first.threadId }).say("say between");
    let seen;
    const begun = new Promise((resolve) => (seen = resolve));
    const running = first.run({}, (event) => event.type === "TEXT_MESSAGE_CONTENT" && seen());
    await begun;
    finished(await second.run(), "between");
    world.stage.open(gate, "stage");
    finished(await running, "onetwo");
    assert.equal((await tasksOf(world.stage, "stage", first.threadId)).length, 2);
  },
};

const media = {
  sources: [
    { type: "image", source: { type: "data", value: "iVBORw0KGgo=", mimeType: "image/png" } },
    { type: "document", source: { type: "url", value: "https://example.com/a.pdf", mimeType: "application/pdf" } },
  ],
  binary: [
    { type: "binary", mimeType: "image/png", data: "iVBORw0KGgo=" },
    { type: "binary", mimeType: "application/pdf", url: "https://example.com/a.pdf" },
  ],
};

export const multimodal = {
  operation: "multimodal input",
  async run(client, world) {
    const parts = client.has.sources ? media.sources : media.binary;
    const page = stage(client, world).say([{ type: "text", text: "told message" }, ...parts]);
    const { parts: told } = toldIn(saidIn(finished(await page.run())));
    assert.equal(told[0].text, "told message");
    assert.deepEqual([told[1].raw, told[1].mediaType], ["iVBORw0KGgo=", "image/png"], JSON.stringify(told));
    assert.deepEqual([told[2].url, told[2].mediaType], ["https://example.com/a.pdf", "application/pdf"]);
  },
};

export const extras = {
  operation: "context and forwarded properties reach the agent",
  async run(client, world) {
    const page = stage(client, world).say("told metadata");
    const sent = { context: [{ description: "Where", value: "Oslo" }], forwardedProps: { deep: [1, { a: "ü" }] } };
    const told = saidIn(finished(await page.run(sent)));
    assert.deepEqual(toldIn(told).agui, sent);
  },
};

export const failure = {
  operation: "an agent that fails or rejects",
  async run(client, world) {
    const failing = stage(client, world).say(script("say Well", { type: "fail", error: "It broke." }));
    const events = await failing.run();
    assert.equal(saidIn(events), "Well");
    wentWrong(events, /It broke/);
    assert.equal((await onlyTaskOf(world.stage, "stage", failing.threadId)).state, "failed");
    const rejecting = stage(client, world).say(script({ type: "reject", reason: "Not my work." }));
    wentWrong(await rejecting.run(), /Not my work/);
    assert.equal((await onlyTaskOf(world.stage, "stage", rejecting.threadId)).state, "rejected");
  },
};

async function refusal(page) {
  try {
    await page.say("say x").run();
  } catch (error) {
    assert.ok(error.payload && typeof error.payload === "object", `JSON says why: ${error.message}`);
    return error.status;
  }
  return assert.fail("it was not refused");
}

export const httpErrors = {
  operation: "errors before the stream",
  async run(client, world) {
    assert.equal(await refusal(client.page(world.stage.base("nobody"))), 404);
    assert.equal(await refusal(client.page(world.closed.base("stage"))), 401);
    assert.equal(await refusal(client.page(world.closed.base("stage"), { token: "wrong" })), 401);
    const nothing = stage(client, world, { threadId: "x".repeat(100000) });
    assert.equal(await refusal(nothing), 400);
  },
};

export const repeatedRun = {
  operation: "a repeated run is shown again, not run again",
  async run(client, world) {
    const note = fresh();
    const body = script(`note ${note}`, "say once", { type: "custom", name: "mark", value: 1 });
    const page = stage(client, world).say(body);
    const runId = fresh();
    const asked = structuredClone(page.messages);
    const first = await page.run({ runId });
    const again = stage(client, world, { threadId: page.threadId, messages: asked });
    assert.deepEqual(finished(await again.run({ runId })), first);
    assert.equal(world.stage.notes(note, "stage"), 1);
    assert.equal((await tasksOf(world.stage, "stage", page.threadId)).length, 1);
  },
};

export const repeatedWhileRunning = {
  operation: "a run repeated while it is under way is followed",
  async run(client, world) {
    const [gate, note, runId] = [fresh(), fresh(), fresh()];
    const page = stage(client, world).say(script(`note ${note}`, "say one", `hold ${gate}`, "say two"));
    const other = stage(client, world, { threadId: page.threadId, messages: structuredClone(page.messages) });
    let following;
    const events = await page.run({ runId }, (event) => {
      if (event.type !== "TEXT_MESSAGE_CONTENT") return;
      following ??= other.run({ runId }, (seen) => {
        if (seen.type === "TEXT_MESSAGE_CONTENT") world.stage.open(gate, "stage");
      });
    });
    assert.equal(saidIn(finished(events)), "onetwo");
    assert.equal(saidIn(finished(await following)), "onetwo");
    assert.equal(world.stage.notes(note, "stage"), 1);
  },
};

// When this run is canceled, the program has canceled every run that was left before it.
async function leave(client, world) {
  const page = client.page(world.hasty.base("stage")).say(script("say one", `hold ${fresh()}`));
  const running = page.run({}, (event) => event.type === "TEXT_MESSAGE_CONTENT" && page.abort());
  await running.catch((error) => assert.match(`${error.name} ${error.message}`, /abort/i));
  return onlyTaskOf(world.hasty, "stage", page.threadId);
}

export const abort = {
  operation: "a client that hangs up cancels its run",
  async run(client, world) {
    const { id } = await leave(client, world);
    await untilState(world.hasty, "stage", id, "canceled");
  },
};

export const abortFollowed = {
  operation: "a run with another follower continues",
  async run(client, world) {
    const gate = fresh();
    const page = client.page(world.hasty.base("stage")).say(script("say one", `hold ${gate}`, "say two"));
    let follower, reading;
    const follow = async () => {
      const { id } = await onlyTaskOf(world.hasty, "stage", page.threadId);
      await byA2A(world.hasty, "stage", async (a2a) => {
        follower = a2a.resubscribe(id);
        await follower.next();
      });
      page.abort();
      reading = (async () => {
        for await (const _ of follower);
      })();
      return id;
    };
    let following;
    const running = page.run({}, (event) => {
      if (event.type === "TEXT_MESSAGE_CONTENT") following ??= follow();
    });
    await running.catch((error) => assert.match(`${error.name} ${error.message}`, /abort/i));
    const id = await following;
    const { id: left } = await leave(client, world);
    await untilState(world.hasty, "stage", left, "canceled");
    world.hasty.open(gate, "stage");
    assert.equal(textOf(await untilState(world.hasty, "stage", id, "completed", "canceled")), "onetwo");
    await reading;
  },
};

export const canceled = {
  operation: "a run canceled from A2A",
  async run(client, world) {
    const page = stage(client, world).say(script("say one", `hold ${fresh()}`));
    let canceling;
    const cancel = async () => {
      const { id } = await onlyTaskOf(world.stage, "stage", page.threadId);
      await byA2A(world.stage, "stage", (a2a) => a2a.cancel(id));
    };
    const events = await page.run({}, (event) => {
      if (event.type === "TEXT_MESSAGE_CONTENT") canceling ??= cancel();
    });
    await canceling;
    if (client.has.newer) assert.equal(only(events, "RUN_FINISHED").outcome.type, "cancelled");
    else assert.equal(wentWrong(events, /./).code, "cancelled");
  },
};

export const callers = {
  operation: "another caller's thread is another thread",
  async run(client, world) {
    const [note, runId, threadId] = [fresh(), fresh(), fresh()];
    const pageOf = (who, headers) =>
      client.page(world.closed.base("stage"), { threadId, token: `secret-of-${who}`, headers });
    const body = script(`note ${note}`, "say mine");
    finished(await pageOf("ann").say(body).run({ runId }), "mine");
    finished(await pageOf("bob").say(body).run({ runId }), "mine");
    assert.equal(world.closed.notes(note, "stage"), 2);
    const { id } = await onlyTaskOf(world.closed, "stage", threadId, { token: "secret-of-ann" });
    const headers = { "Last-Event-ID": `${id}:0` };
    const own = await pageOf("ann", headers).run({ runId: fresh() });
    assert.equal(saidIn(own), "mine", "who it belongs to can follow it");
    assert.equal(await refusal(pageOf("bob", headers)), 404);
  },
};

export const noAnswer = {
  operation: "an agent that says nothing",
  async run(client, world) {
    const events = finished(
      await stage(client, world)
        .say(script({ type: "done" }))
        .run(),
      "",
    );
    assert.equal(ofType(events, "TEXT_MESSAGE_START").length, 0);
    const closing = stage(client, world).say(script({ type: "done", message: "All is well." }));
    finished(await closing.run(), "All is well.");
  },
};

export const overA2A = {
  operation: "the conversation continues over A2A and back",
  async run(client, world) {
    const page = stage(client, world);
    finished(await page.say("say one").run());
    await byA2A(world.stage, "stage", async (a2a) => {
      const task = await a2a.send("told history", { contextId: page.threadId, blocking: true });
      const texts = toldIn(textOf(task)).map((message) => message.parts.map((part) => part.text).join(""));
      assert.deepEqual(texts, ["say one", "one"]);
    });
    finished(await page.say("say three").run(), "three");
    assert.equal((await tasksOf(world.stage, "stage", page.threadId)).length, 3);
  },
};

export const leftFollower = {
  operation: "a client whose answer is not read on makes no more requests, whether its server is quiet or gone",
  needs: "resume",
  async run(client) {
    const event = 'id: a:1\ndata: {"type":"RUN_STARTED","threadId":"t","runId":"r"}\n\n';
    const headers = { "Content-Type": "text/event-stream" };
    for (const isGone of [false, true]) {
      let asked = 0;
      let given;
      const abandoned = new Promise((resolve) => {
        given = async (_, { signal }) => {
          asked += 1;
          signal.addEventListener("abort", resolve);
          if (asked > 1) throw new TypeError("the server is gone");
          const start = (body) => {
            body.enqueue(new TextEncoder().encode(event));
            if (isGone) body.close();
          };
          return new Response(new ReadableStream({ start }), { headers });
        };
      });
      const page = new (following(client.HttpAgent))({ url: "http://nowhere/ag-ui", threadId: "t", fetch: given });
      const answer = await page.fetch("http://nowhere/ag-ui", { method: "POST", headers: {} });
      const reader = answer.body.getReader();
      await reader.read();
      await waitFor("the next request", () => !isGone || asked > 1);
      await reader.cancel();
      await within(patience, "the end of its requests", abandoned);
    }
  },
};

// The client that comes with Baton, whose connections are cut again and again.
export const followedConversation = {
  operation: "a followed conversation shows each word once, however often it is cut",
  needs: "resume",
  async run(client, world) {
    const proxy = await new Proxy(world.stage.address).start();
    const theirs = stage(client, world);
    await theirs.say("say number-0").run();
    const FollowingAgent = following(client.HttpAgent);
    const url = `http://${proxy.address}/agents/stage/send-message`;
    const mine = new FollowingAgent({ url, threadId: theirs.threadId });
    let ended = 0;
    let noticed;
    const begun = new Promise((resolve) => {
      noticed = resolve;
    });
    const onRunFinishedEvent = () => void noticed(++ended);
    const followed = mine.connectAgent({}, { onRunFinishedEvent });
    try {
      await within(patience, "the messages", begun);
      for (let number = 1; number <= 6; ++number) {
        const shown = new Promise((resolve) => {
          noticed = (runs) => runs > number && resolve();
        });
        proxy.cut();
        await theirs.say(`say number-${number}`).run();
        proxy.cut();
        await within(patience, `run ${number}`, shown);
      }
      mine.addMessage({ id: fresh(), role: "user", content: "say mine" });
      await mine.detachActiveRun();
      await mine.runAgent();
    } finally {
      await mine.detachActiveRun();
      await followed;
      await proxy.stop();
    }
    const expected = [...Array(7).keys()].map((number) => `number-${number}`).concat("mine");
    assert.deepEqual(
      talkOf(mine),
      expected.flatMap((said) => [
        ["user", `say ${said}`],
        ["assistant", said],
      ]),
    );
  },
};
