// AG-Kit, Agent API and Agent Server: operations of all three, each read by its strict reader.
import assert from "node:assert/strict";
import { at, done, refused, said, showsText } from "./stream_tools.mjs";
import { byA2A, fresh, longText, onlyTaskOf, script, textOf, toldIn, untilState } from "./tools.mjs";
import { SseStream, framesOf } from "../lib/sse.mjs";

export const chat = {
  operation: "chat",
  async run(client, world) {
    const conversation = client.conversation();
    const answer = done(
      client,
      await said(client, world, conversation, "say Good morning to you"),
      "Good morning to you",
    );
    if (answer.session) assert.equal(answer.session, conversation.id);
    const task = await onlyTaskOf(world.stage, "stage", conversation.id);
    assert.deepEqual([task.state, textOf(task)], ["completed", "Good morning to you"]);
    done(client, await said(client, world, conversation, "say again"), "again");
  },
};

export const streamed = {
  operation: "text comes while the agent works",
  async run(client, world) {
    const [gate, conversation] = [fresh(), client.conversation()];
    const body = conversation.say(script("say one", `hold ${gate}`, "say two"));
    const stream = await SseStream.open(at(client, world.stage, "stage"), body);
    await stream.until("the first word", showsText);
    world.stage.open(gate, "stage");
    done(client, conversation.read(await stream.rest()), "onetwo");
  },
};

export const longTexts = {
  operation: "long text in many scripts",
  async run(client, world) {
    const body = script({ type: "text", delta: longText });
    done(client, await said(client, world, client.conversation(), body), longText);
  },
};

export const paths = {
  operation: "every path of an agent",
  async run(client, world) {
    const { address } = world.stage;
    const hosted = client.path === "send-message" ? ["v1/aibot/bots/stage/send-message"] : [];
    for (const path of [client.path, `agents/stage/${client.path}`, ...hosted]) {
      const conversation = client.conversation();
      const frames = await framesOf(`http://${address}/${path}`, conversation.say("say here"));
      done(client, conversation.read(frames), "here");
    }
  },
};

export const history = {
  operation: "Baton keeps the conversation",
  async run(client, world) {
    const conversation = client.conversation();
    done(client, await said(client, world, conversation, "say I am Stage"));
    await byA2A(world.stage, "stage", (a2a) =>
      a2a.send("say from A2A", { contextId: conversation.id, blocking: true }),
    );
    const told = toldIn(done(client, await said(client, world, conversation, "told history")).text);
    const texts = told.map((message) => message.parts.map((part) => part.text).join(""));
    assert.deepEqual(texts, ["say I am Stage", "I am Stage", "say from A2A", "from A2A"]);
    const other = await said(client, world, client.conversation(), "told history");
    assert.deepEqual(toldIn(other.text), [], "another conversation is another");
  },
};

export const serverTool = {
  operation: "server tool",
  async run(client, world) {
    const conversation = client.conversation();
    for (const city of ["Berlin", "Oslo"]) {
      const answer = await said(client, world, conversation, `weather in ${city}`, { agent: "tools" });
      const { calls, text } = done(client, answer);
      assert.deepEqual(
        calls.map((call) => [call.name, call.arguments, JSON.parse(call.result).city]),
        [["get_weather", { city }, city]],
      );
      assert.match(text, new RegExp(`weather in ${city}`));
    }
  },
};

export const everything = {
  operation: "everything an agent may say",
  async run(client, world) {
    const body = script(
      { type: "step", name: "plan", phase: "start" },
      { type: "reasoning", delta: "Let me think." },
      "say one",
      { type: "tool-call", id: "x1", name: "own", arguments: {} },
      { type: "tool-call", id: "x2", name: "own", arguments: { deep: [1, "ü"] } },
      { type: "tool-result", id: "x2", content: "plain" },
      { type: "tool-result", id: "x1", content: { a: 1 } },
      "say two",
      { type: "state", snapshot: { a: 1 } },
      { type: "state", delta: [{ op: "replace", path: "/a", value: 2 }] },
      { type: "status", message: "half", progress: 0.5 },
      { type: "custom", name: "mark", value: 1 },
      { type: "activity", id: "p", activity: "PLAN", content: { steps: [] } },
      { type: "usage", usage: { model: "m", inputTokens: 3 } },
      { type: "artifact", artifact: { artifactId: "a", name: "n", parts: [{ text: "three" }] }, lastChunk: true },
      { type: "artifact", artifact: { artifactId: "d", name: "d", parts: [{ data: { rows: [1] } }] }, lastChunk: true },
      "delegate tools weather in Paris",
      { type: "tool-call", id: "x3", name: "without result", arguments: { a: 1 } },
    );
    const answer = done(client, await said(client, world, client.conversation(), body));
    assert.match(answer.text, /^one\s*two[^]*three/);
    const [first, second] = answer.calls.filter((call) => call.name === "own");
    assert.deepEqual([first.arguments, JSON.parse(first.result)], [{}, { a: 1 }]);
    assert.deepEqual([second.arguments, second.result], [{ deep: [1, "ü"] }, "plain"]);
  },
};

export const failure = {
  operation: "an agent that fails or rejects",
  async run(client, world) {
    for (const [ending, why] of [
      [{ type: "fail", error: "It broke." }, /It broke/],
      [{ type: "reject", reason: "Not my work." }, /Not my work/],
    ]) {
      const conversation = client.conversation();
      const answer = await said(client, world, conversation, script("say Well", ending));
      assert.ok(answer.failed, JSON.stringify(answer));
      assert.match(`${answer.error} ${answer.text}`, why);
      const task = await onlyTaskOf(world.stage, "stage", conversation.id);
      assert.equal(task.state, ending.type === "fail" ? "failed" : "rejected");
    }
  },
};

export const noAnswer = {
  operation: "an agent that says nothing",
  async run(client, world) {
    done(client, await said(client, world, client.conversation(), script({ type: "done" })), "");
    const closing = script({ type: "done", message: "All is well." });
    done(client, await said(client, world, client.conversation(), closing), "All is well.");
  },
};

export const httpErrors = {
  operation: "errors before the stream",
  async run(client, world) {
    const body = client.conversation().say("say x");
    await refused(404, framesOf(at(client, world.stage, "nobody"), body));
    await refused(401, framesOf(at(client, world.closed, "stage"), body));
    await refused(401, framesOf(at(client, world.closed, "stage"), body, { token: "wrong" }));
    const bad = { AG: { conversationId: "c", messages: 3 }, Ag: { user_id: "u", session_id: "s", input: "x" } };
    await refused(400, framesOf(at(client, world.stage, "stage"), bad[client.protocol.slice(0, 2)]));
    await refused(400, framesOf(at(client, world.stage, "stage"), [1]));
    await refused(404, framesOf(at(client, world.stage, "stage"), body, { lastEventId: "unheard-of:0" }));
  },
};

export const busy = {
  operation: "a second run while one is under way is refused",
  async run(client, world) {
    const [gate, conversation] = [fresh(), client.conversation()];
    const body = conversation.say(script("say one", `hold ${gate}`, "say two"));
    const stream = await SseStream.open(at(client, world.stage, "stage"), body);
    await stream.until("the first word", showsText);
    const { id } = conversation;
    await refused(409, framesOf(at(client, world.stage, "stage"), conversation.say("say x")));
    world.stage.open(gate, "stage");
    await stream.rest();
    assert.equal((await onlyTaskOf(world.stage, "stage", id)).state, "completed");
  },
};

export const everyId = {
  operation: "a stream resumes after any of its ids",
  async run(client, world) {
    const conversation = client.conversation();
    const body = conversation.say(
      script(
        "say one two",
        { type: "tool-call", id: "call", name: "own", arguments: { a: 1 } },
        { type: "tool-result", id: "call", content: "r" },
        { type: "reasoning", delta: "Hm." },
        { type: "step", name: "plan", phase: "start" },
        "say three",
      ),
    );
    const url = at(client, world.stage, "stage");
    const stream = await SseStream.open(url, body);
    const frames = await stream.rest();
    const ids = stream.ids();
    const [task] = ids[0].split(":");
    assert.deepEqual(await framesOf(url, body, { lastEventId: `${task}:0` }), frames, "from the beginning");
    for (const [index, id] of ids.entries()) {
      const rest = await SseStream.open(url, body, { lastEventId: id });
      const after = await rest.rest();
      assert.deepEqual(rest.ids(), ids.slice(index + 1), `ids after ${id}`);
      assert.deepEqual(after, frames.slice(frames.length - after.length), `frames after ${id}`);
    }
    await onlyTaskOf(world.stage, "stage", conversation.id);
  },
};

export const cutAndBack = {
  operation: "a cut stream resumes",
  async run(client, world) {
    const [gate, note, conversation] = [fresh(), fresh(), client.conversation()];
    const body = conversation.say(script(`note ${note}`, "say one", `hold ${gate}`, "say two"));
    const url = at(client, world.stage, "stage");
    const first = await SseStream.open(url, body);
    const before = [...(await first.until("the first word", showsText))];
    first.cut();
    const lastEventId = before.at(-1).id;
    const second = await SseStream.open(url, body, { lastEventId });
    world.stage.open(gate, "stage");
    const whole = [...before, ...(await second.rest())];
    done(client, conversation.read(whole), "onetwo");
    const uncut = await framesOf(url, body, { lastEventId: `${lastEventId.split(":")[0]}:0` });
    assert.deepEqual(uncut, whole);
    assert.equal(world.stage.notes(note, "stage"), 1, "the agent ran once");
  },
};

export const followed = {
  operation: "a task begun over A2A is followed from its beginning",
  async run(client, world) {
    const conversation = client.conversation();
    const gate = fresh();
    const { id } = await byA2A(world.stage, "stage", (a2a) =>
      a2a.send(script("say one", `hold ${gate}`, "say two"), { contextId: conversation.id, blocking: false }),
    );
    const body = conversation.say("unused");
    const stream = await SseStream.open(at(client, world.stage, "stage"), body, { lastEventId: `${id}:0` });
    await stream.until("the first word", showsText);
    world.stage.open(gate, "stage");
    done(client, conversation.read(await stream.rest()), "onetwo");
  },
};

// The run is left in the middle. When it is canceled, every run that was left before is canceled, too.
export const hangUp = {
  operation: "a client that hangs up cancels its run",
  needs: "hangUp",
  async run(client, world) {
    const conversation = client.conversation();
    const body = conversation.say(script("say one", `hold ${fresh()}`));
    const stream = await SseStream.open(at(client, world.hasty, "stage"), body);
    await stream.until("the first word", showsText);
    const { id } = await onlyTaskOf(world.hasty, "stage", conversation.id);
    stream.cut();
    await untilState(world.hasty, "stage", id, "canceled");
  },
};

export const canceled = {
  operation: "a run canceled from A2A",
  async run(client, world) {
    const conversation = client.conversation();
    const body = conversation.say(script("say one", `hold ${fresh()}`));
    const stream = await SseStream.open(at(client, world.stage, "stage"), body);
    await stream.until("the first word", showsText);
    const { id } = await onlyTaskOf(world.stage, "stage", conversation.id);
    await byA2A(world.stage, "stage", (a2a) => a2a.cancel(id));
    const answer = conversation.read(await stream.rest());
    if (answer.state) assert.equal(answer.state, "canceled");
  },
};

export const callers = {
  operation: "another caller's conversation is another",
  async run(client, world) {
    const conversation = client.conversation();
    const body = conversation.say("told history");
    const url = at(client, world.closed, "stage");
    const stream = await SseStream.open(url, body, { token: "secret-of-ann" });
    const mine = await stream.rest();
    assert.equal(conversation.read(mine).text, "[]");
    const other = await framesOf(url, body, { token: "secret-of-bob" });
    const reader = client.conversation();
    assert.equal(reader.read(other).text, "[]", "nothing of the other caller's");
    const lastEventId = `${stream.ids()[0].split(":")[0]}:0`;
    await refused(404, framesOf(url, body, { lastEventId, token: "secret-of-bob" }));
    assert.deepEqual(await framesOf(url, body, { lastEventId, token: "secret-of-ann" }), mine);
  },
};

export const sameIds = {
  operation: "an agent that uses a call's id again",
  async run(client, world) {
    const conversation = client.conversation();
    const shown = [];
    for (const round of [1, 2]) {
      const text = script(
        { type: "tool-call", id: "c1", name: "own", arguments: { round } },
        { type: "tool-result", id: "c1", content: { round } },
      );
      const { calls } = done(client, await said(client, world, conversation, text));
      assert.deepEqual([calls[0].arguments, JSON.parse(calls[0].result)], [{ round }, { round }]);
      shown.push(...calls.map((call) => call.id));
    }
    assert.equal(new Set(shown).size, 2, `ids are unique in the conversation: ${shown}`);
  },
};
