// Reads Agent API as strictly as its documents and the reference server's types allow.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readObjects, summary, textIn } from "./response_stream.mjs";

const types = /^(message|reasoning|(function|plugin|component)_call(_output)?|mcp_approval_re(quest|sponse))$/;
const contentTypes = ["text", "image", "data", "audio", "file", "refusal", "video"];
// The member that holds the content of a part of this type.
const holds = { image: "image_url", audio: "data", file: undefined, video: "video_url" };

const valueIn = (part) => part[part.type in holds ? holds[part.type] : part.type];

// One message of the stream: its beginning, its contents, the whole.
class Message {
  parts = new Map(); // index: {deltas, whole}

  constructor(begun) {
    assert.match(begun.id, /^msg_/);
    assert.match(begun.type, types);
    assert.ok(["assistant", "tool"].includes(begun.role), begun.role);
    Object.assign(this, { id: begun.id, type: begun.type, role: begun.role });
  }

  take(content) {
    assert.ok(contentTypes.includes(content.type), JSON.stringify(content));
    assert.ok(Number.isInteger(content.index), JSON.stringify(content));
    const part = this.parts.get(content.index) ?? { type: content.type, deltas: "" };
    this.parts.set(content.index, part);
    assert.equal(part.type, content.type);
    assert.ok(!part.whole, "nothing follows the whole content");
    if (content.status === "completed") {
      assert.ok(!content.delta, "the whole content is no delta");
      if (content.type === "text") assert.equal(content.text, part.deltas, "deltas add up to the whole");
      part.whole = content;
    } else if (content.delta) {
      assert.ok(content.text.length > 0, "a delta is not empty");
      part.deltas += content.text;
    }
  }

  end(completed) {
    const wholes = [...this.parts.values()].map(({ whole }) => whole);
    assert.deepEqual(
      completed.content.map((part) => [part.type, valueIn(part)]),
      wholes.map((part) => [part?.type, valueIn(part ?? {})]),
      "a message holds its contents",
    );
    assert.deepEqual([completed.type, completed.role], [this.type, this.role]);
    this.whole = completed;
  }
}

function takeMessage(messages, object) {
  const known = messages.get(object.id);
  if (!known) {
    assert.ok(["created", "in_progress"].includes(object.status), JSON.stringify(object));
    messages.set(object.id, new Message(object));
  } else if (object.status === "completed") {
    assert.ok(!known.whole, "a message is completed once");
    known.end(object);
  } else {
    assert.equal(object.status, "in_progress");
    assert.equal(known.parts.size, 0, "a message begins before its contents");
  }
}

export function readAgentApi(frames) {
  for (const { event, data } of frames) assert.equal(event, undefined, `no names of events: ${data}`);
  const { between, last } = readObjects(frames);
  const messages = new Map();
  for (const object of between) {
    if (object.object === "message") takeMessage(messages, object);
    else {
      assert.equal(object.object, "content");
      const message = messages.get(object.msg_id);
      assert.ok(message && !message.whole, `an open message for ${JSON.stringify(object)}`);
      message.take(object);
    }
  }
  const wholes = [...messages.values()].map(({ whole }) => whole).filter((whole) => whole);
  wholes.sort((a, b) => a.sequence_number - b.sequence_number);
  if (last.status === "completed") {
    assert.ok(Number.isInteger(last.completed_at), JSON.stringify(last));
    assert.equal(wholes.length, messages.size, "every message is completed");
    assert.deepEqual(last.output, wholes, "the output is the completed messages in order");
  }
  return { ...summary(last), ...readOutput(wholes), messages: wholes };
}

const dataOf = (message) => message.content[0].data;

// Returns the texts and calls in the messages of an output.
export function readOutput(messages) {
  const calls = new Map();
  for (const message of messages) {
    if (/_call$/.test(message.type)) {
      const { call_id: id, name, arguments: written } = dataOf(message);
      calls.set(id, { id, name, arguments: JSON.parse(written), kind: message.type });
    } else if (/_output$/.test(message.type)) {
      const { call_id: id, output } = dataOf(message);
      assert.equal(typeof output, "string");
      assert.ok(calls.get(id), `the output of a call ${id}`);
      calls.get(id).result = output;
    }
  }
  const asked = messages.filter(({ type }) => type === "mcp_approval_request").map(dataOf);
  assert.ok(asked.length <= 1, "one question");
  return { text: textIn(messages), calls: [...calls.values()], question: asked[0] };
}

class Conversation {
  id = randomUUID();

  read = readAgentApi;

  #input(message) {
    return { session_id: this.id, input: [message] };
  }

  say(text) {
    return this.#input({ role: "user", type: "message", content: [{ type: "text", text }] });
  }

  give(call_id, output) {
    const content = [{ type: "data", data: { call_id, output } }];
    return this.#input({ role: "tool", type: "function_call_output", content });
  }

  answer(question, { approved }) {
    const content = [{ type: "data", data: { approval_request_id: question.id, approve: approved } }];
    return this.#input({ role: "user", type: "mcp_approval_response", content });
  }
}

export const agentApi = {
  sdk: "eventsource-parser",
  protocol: "Agent API",
  transport: "SSE",
  api: "strict reader",
  path: "process",
  has: { stop: true, clientTools: true, questions: true },
  conversation: () => new Conversation(),
  tools: (...names) => ({
    tools: names.map((name) => ({
      type: "function",
      function: { name, description: `Does ${name}.`, parameters: { type: "object", properties: {} } },
    })),
  }),
};
