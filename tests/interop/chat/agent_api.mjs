// Only Agent API: the whole answer at once, repeated requests, /stop, its kinds of messages.
import assert from "node:assert/strict";
import { fresh, onlyTaskOf, script, toldIn, untilState } from "./tools.mjs";
import { readOutput } from "../clients/agent_api.mjs";
import { SseStream, framesOf } from "../lib/sse.mjs";

const url = (world, agent = "stage") => `${world.stage.base(agent)}process`;

async function whole(address, body) {
  const response = await fetch(address, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...body, stream: false }),
  });
  assert.match(response.headers.get("content-type"), /^application\/json/);
  return { status: response.status, body: await response.json() };
}

export const atOnce = {
  operation: "stream: false",
  async run(client, world) {
    const conversation = client.conversation();
    const { status, body } = await whole(url(world, "tools"), conversation.say("weather in Berlin"));
    assert.deepEqual([status, body.object, body.status], [200, "response", "completed"]);
    assert.equal(body.session_id, conversation.id);
    const { text, calls } = readOutput(body.output);
    assert.match(text, /weather in Berlin/);
    assert.equal(JSON.parse(calls[0].result).city, "Berlin");
    const failed = await whole(url(world), client.conversation().say(script({ type: "fail", error: "It broke." })));
    assert.equal(failed.body.status, "failed", JSON.stringify(failed));
    assert.match(failed.body.error.message, /It broke/);
  },
};

export const repeated = {
  operation: "a repeated request is shown again, not run again",
  async run(client, world) {
    const [note, id, conversation] = [fresh(), fresh(), client.conversation()];
    const body = { ...conversation.say(script(`note ${note}`, "say once")), id };
    const first = await framesOf(url(world), body);
    const answer = conversation.read(first);
    assert.deepEqual([answer.text, answer.id], ["once", id]);
    assert.deepEqual(await framesOf(url(world), body), first);
    assert.equal(world.stage.notes(note, "stage"), 1);
    await onlyTaskOf(world.stage, "stage", conversation.id);
  },
};

export const stop = {
  operation: "stop",
  async run(client, world) {
    const conversation = client.conversation();
    const body = conversation.say(script("say one", `hold ${fresh()}`));
    const stream = await SseStream.open(url(world), body);
    await stream.until("the first word", ({ data }) => data.includes('"text":"one"'));
    const { id } = await onlyTaskOf(world.stage, "stage", conversation.id);
    const response = await fetch(`${world.stage.base("stage")}stop`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ session_id: conversation.id }),
    });
    assert.equal(response.status, 200, await response.text());
    assert.equal(conversation.read(await stream.rest()).state, "canceled");
    await untilState(world.stage, "stage", id, "canceled");
  },
};

export const reasoning = {
  operation: "reasoning",
  async run(client, world) {
    const think = (delta) => ({ type: "reasoning", delta });
    const conversation = client.conversation();
    const body = conversation.say(script(think("Let me "), think("think."), "say Done"));
    const { messages } = conversation.read(await framesOf(url(world), body));
    assert.deepEqual(
      messages.map((message) => [message.type, message.content.map((part) => part.text).join("")]),
      [
        ["reasoning", "Let me think."],
        ["message", "Done"],
      ],
    );
  },
};

export const content = {
  operation: "all types of content",
  async run(client, world) {
    const conversation = client.conversation();
    const parts = [
      { type: "text", text: "told message" },
      { type: "image", image_url: "https://example.com/a.png" },
      { type: "image", image_url: "data:image/png;base64,iVBORw0KGgo=" },
      { type: "data", data: { a: [1, { b: "ü" }] } },
      { type: "file", file_url: "https://example.com/a.pdf", filename: "a.pdf" },
      { type: "audio", data: "UklGRg==", format: "wav" },
    ];
    const body = { session_id: conversation.id, input: [{ role: "user", content: parts }] };
    const { text } = conversation.read(await framesOf(url(world), body));
    const [, link, image, data, file, audio] = toldIn(text).parts;
    assert.equal(link.url, "https://example.com/a.png", text);
    assert.deepEqual([image.raw, image.mediaType], ["iVBORw0KGgo=", "image/png"]);
    assert.deepEqual(data.data, parts[3].data);
    assert.deepEqual([file.url, file.filename], ["https://example.com/a.pdf", "a.pdf"]);
    assert.equal(audio.raw, "UklGRg==");
  },
};

export const users = {
  operation: "the agent receives the user as a label",
  async run(client, world) {
    const conversation = client.conversation();
    const as = async (user_id, text) =>
      conversation.read(await framesOf(url(world), { ...conversation.say(text), user_id })).text;
    assert.equal(await as("ada", "say I am Ada"), "I am Ada");
    assert.equal(toldIn(await as("bob", "told history")).length, 2);
    assert.match(await as("bob", "told metadata"), /"user_id": "bob"/);
  },
};

export const noSession = {
  operation: "a session of Baton's making",
  async run(client, world) {
    const conversation = client.conversation();
    const { input } = conversation.say("say one");
    const { session } = conversation.read(await framesOf(url(world), { input }));
    assert.ok(session, "the response names it");
    const next = { ...conversation.say("told history"), session_id: session };
    assert.equal(toldIn(conversation.read(await framesOf(url(world), next)).text).length, 2);
  },
};
