// Shared by Agent API and Agent Server: one response, numbered objects, statuses.
import assert from "node:assert/strict";

const ends = ["completed", "failed", "canceled", "rejected", "incomplete"];

// Returns the objects of the frames, after checking their numbers, with the first and the last ones separate.
export function readObjects(frames) {
  const objects = frames.map(({ data }) => JSON.parse(data));
  objects.forEach((object, index) => {
    assert.strictEqual(object.sequence_number, index, `the number of ${JSON.stringify(object).slice(0, 300)}`);
    assert.equal(typeof object.object, "string");
    assert.equal(typeof object.status, "string");
  });
  const [created, begun] = objects;
  const last = objects.at(-1);
  assert.deepEqual(
    [created, begun, last].map(({ object }) => object),
    ["response", "response", "response"],
  );
  assert.deepEqual([created.status, begun.status], ["created", "in_progress"]);
  assert.ok(ends.includes(last.status), `the last object: ${JSON.stringify(last)}`);
  const between = objects.slice(2, -1);
  assert.ok(
    between.every(({ object }) => object !== "response"),
    "no response in the middle",
  );
  for (const response of [created, begun, last]) {
    assert.equal(response.id, created.id, "one response");
    assert.ok(Number.isInteger(response.created_at), JSON.stringify(response));
  }
  if (last.status === "failed") {
    const { code, message } = last.error;
    assert.ok(typeof code === "string" && typeof message === "string" && message, JSON.stringify(last));
  }
  return { between, last };
}

export const summary = (last) => ({
  id: last.id,
  session: last.session_id,
  state: last.status,
  failed: last.status === "failed" || last.status === "rejected",
  error: last.error?.message,
});

// In a stream of Agent API this is also the last response's output.
export const textIn = (messages) =>
  messages
    .filter((message) => message.type === "message" && message.role === "assistant")
    .flatMap((message) => message.content)
    .map((part) => part.text ?? "")
    .join("");
