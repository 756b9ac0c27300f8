// Reads AG-Kit like its own client: with the reducer's rules, and throws where that client throws or skips.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

// The members of each event, by its type.
const members = {
  text: ["content"],
  "tool-call-start": ["toolCallId", "toolCallName"],
  "tool-call-args": ["toolCallId", "delta"],
  "tool-call-end": ["toolCallId"],
  "tool-result": ["toolCallId", "result"],
  interrupt: ["id", "reason", "payload"],
  error: ["error"],
};

// The page's state after all streams of the conversation so far.
class Conversation {
  id = randomUUID();
  #messages = [];
  #calls = new Map();
  #said = ""; // in the current stream

  #last() {
    return this.#messages.at(-1);
  }

  #assistant() {
    if (this.#last()?.role !== "assistant") this.#messages.push({ role: "assistant", text: "", calls: [] });
    return this.#last();
  }

  // Returns the call, which must be in the last message.
  #open(id) {
    const call = this.#last()?.calls?.find((each) => each.id === id);
    assert.ok(call && !call.ended, `an open call ${id} in the last message`);
    return call;
  }

  #take = {
    text: ({ content }) => {
      assert.ok(content.length > 0, "text is not empty");
      this.#assistant().text += content;
      this.#said += content;
    },
    "tool-call-start": ({ toolCallId: id, toolCallName: name }) => {
      assert.ok(!this.#calls.has(id), `the id ${id} is new in the conversation`);
      const call = { id, name, written: "" };
      this.#calls.set(id, call);
      this.#assistant().calls.push(call);
    },
    "tool-call-args": ({ toolCallId, delta }) => {
      this.#open(toolCallId).written += delta;
    },
    "tool-call-end": ({ toolCallId }) => {
      const call = this.#open(toolCallId);
      call.arguments = JSON.parse(call.written);
      call.ended = true;
    },
    "tool-result": ({ toolCallId, result }) => {
      const call = this.#calls.get(toolCallId);
      assert.ok(call?.ended && call.result === undefined, `a call ${toolCallId} that waits for its result`);
      call.result = result;
      this.#messages.push({ role: "tool", toolCallId, result });
    },
    interrupt: ({ id, reason, payload }) => {
      assert.ok(this.#assistant().text.length > 0, "a question stands in the text before the interrupt");
      return { question: { id, reason, payload } };
    },
    error: ({ error }) => ({ error }),
  };

  #read({ event, data }) {
    assert.equal(event, undefined, "AG-Kit's events have no name");
    const frame = JSON.parse(data);
    const { type, ...rest } = frame;
    assert.deepEqual(Object.keys(rest).sort(), [...(members[type] ?? [])].sort(), `members of ${data}`);
    for (const [name, value] of Object.entries(rest)) {
      if (name !== "payload") assert.equal(typeof value, "string", `${name} of ${data}`);
    }
    return this.#take[type](rest);
  }

  // Reads one whole stream, the answer to one request.
  read(frames) {
    const callsBefore = this.#calls.size;
    this.#said = "";
    assert.equal(frames.at(-1)?.data, "[DONE]", "the stream ends with [DONE]");
    const ends = {};
    for (const frame of frames.slice(0, -1)) {
      assert.deepEqual(ends, {}, `nothing follows an interrupt or an error: ${frame.data}`);
      Object.assign(ends, this.#read(frame));
    }
    const calls = [...this.#calls.values()].slice(callsBefore);
    for (const call of calls) assert.ok(ends.error || call.ended, `the call ${call.id} is ended`);
    return { text: this.#said, calls, failed: ends.error !== undefined, ...ends };
  }

  // The user's text is also a message of the page.
  #sent(message) {
    this.#messages.push(message);
    return { conversationId: this.id, messages: [message] };
  }

  say(content) {
    return this.#sent({ role: "user", content });
  }

  give(toolCallId, content) {
    return this.#sent({ role: "tool", toolCallId, content });
  }

  answer(question, payload) {
    return { conversationId: this.id, resume: { interruptId: question.id, payload: JSON.stringify(payload) } };
  }
}

export const agkit = {
  sdk: "eventsource-parser",
  protocol: "AG-Kit",
  transport: "SSE",
  api: "strict reader",
  path: "send-message",
  has: { hangUp: true, clientTools: true, questions: true },
  conversation: () => new Conversation(),
  tools: (...names) => ({
    tools: names.map((name) => ({
      name,
      description: `Does ${name}.`,
      parameters: JSON.stringify({ type: "object", properties: {} }),
    })),
  }),
};
