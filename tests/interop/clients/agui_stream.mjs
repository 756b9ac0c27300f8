// The ids of AG-UI's stream, and its resumption after each of them. The official clients check the meaning of the
// events.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

class Conversation {
  id = randomUUID();

  say(content) {
    const messages = [{ id: randomUUID(), role: "user", content }];
    return { threadId: this.id, runId: randomUUID(), protocolVersion: "1.0", messages };
  }

  read(frames) {
    for (const { event, data } of frames) assert.equal(event, undefined, `no names of events: ${data}`);
    const events = frames.map(({ data }) => JSON.parse(data));
    assert.deepEqual([events[0].type, events.at(-1).type], ["RUN_STARTED", "RUN_FINISHED"]);
    const text = events.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT").map(({ delta }) => delta);
    return { text: text.join("") };
  }
}

export const aguiStream = {
  sdk: "eventsource-parser",
  protocol: "AG-UI",
  transport: "SSE",
  api: "strict reader",
  path: "send-message",
  has: {},
  conversation: () => new Conversation(),
};
