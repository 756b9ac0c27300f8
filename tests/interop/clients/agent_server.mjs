// Reads Agent Server as strictly as its document allows.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readObjects, summary, textIn } from "./response_stream.mjs";

const nameOf = { response: "response", message: "message", content: "text" };

class Reader {
  messages = new Map();
  calls = new Map();
  completed = [];

  message(object) {
    assert.equal(object.role, "assistant");
    const open = this.messages.get(object.id);
    if (object.status !== "completed") {
      assert.ok(!open && ["created", "in_progress"].includes(object.status), JSON.stringify(object));
      this.messages.set(object.id, { deltas: "" });
      return;
    }
    assert.ok(open && !open.whole, `a message that was begun: ${JSON.stringify(object)}`);
    assert.equal(object.content.map((part) => part.text).join(""), open.deltas, "deltas add up to the whole");
    open.whole = object;
    this.completed.push(object);
  }

  content(object) {
    const open = this.messages.get(object.msg_id);
    assert.ok(open && !open.whole, `an open message for ${JSON.stringify(object)}`);
    assert.deepEqual([object.type, object.delta, object.status], ["text", true, "in_progress"]);
    assert.ok(object.text.length > 0);
    open.deltas += object.text;
  }

  plugin_call(object) {
    assert.deepEqual([object.status, object.type, object.role], ["completed", "plugin_call", "assistant"]);
    const [{ data }] = object.content;
    assert.equal(data.type, "tool_use");
    assert.equal(typeof data.input, "object");
    assert.ok(!this.calls.has(data.id), "an id is used once");
    this.calls.set(data.id, { id: data.id, name: data.name, arguments: data.input });
    this.completed.push(object);
  }

  plugin_call_output(object) {
    assert.deepEqual([object.status, object.type, object.role], ["completed", "plugin_call_output", "assistant"]);
    const [{ data }] = object.content;
    assert.equal(data.type, "tool_result");
    const call = this.calls.get(data.id);
    assert.equal(call?.name, data.name);
    call.result = data.output.map((part) => (assert.equal(part.type, "text"), part.text)).join("");
    this.completed.push(object);
  }
}

function read(frames) {
  for (const { event, data } of frames) {
    const { object } = JSON.parse(data);
    assert.equal(event, nameOf[object] ?? object, "the event's name says what it holds");
  }
  const { between, last } = readObjects(frames);
  const reader = new Reader();
  for (const object of between) {
    assert.ok(typeof reader[object.object] === "function", `an object that there is: ${JSON.stringify(object)}`);
    reader[object.object](object);
  }
  if (last.status === "completed") {
    for (const message of reader.messages.values()) assert.ok(message.whole, "every message is completed");
    assert.deepEqual(last.output, reader.completed, "the output is what was completed, in order");
  }
  return { ...summary(last), text: textIn(reader.completed), calls: [...reader.calls.values()] };
}

class Conversation {
  id = randomUUID();
  user = "user-of-the-tests";

  read = read;

  say(text) {
    const input = [{ role: "user", content: [{ type: "text", text }] }];
    return { user_id: this.user, session_id: this.id, input };
  }
}

export const agentServer = {
  sdk: "eventsource-parser",
  protocol: "Agent Server",
  transport: "SSE",
  api: "strict reader",
  path: "stream",
  has: { hangUp: true },
  conversation: () => new Conversation(),
};
