// Shared by several cases.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { waitFor } from "../lib/bounds.mjs";

export const fresh = () => randomUUID();

// Connects, runs with the client, and closes it. Every message needs an id; cases that depend on it give one.
export async function using(client, base, options, run) {
  const connected = await client.connect(base, options);
  const withId = (message = {}) => ({ messageId: fresh(), ...message });
  const { send, stream } = connected;
  connected.send = (text, message) => send.call(connected, text, withId(message));
  connected.stream = (text, message) => stream.call(connected, text, withId(message));
  try {
    return await run(connected);
  } finally {
    connected.close();
  }
}

export const withDesk = (client, world, run) => using(client, world.server.base("desk"), {}, run);

export const textOf = (task) => task.artifacts.map((artifact) => artifact.text).join("");

export async function collect(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

// Returns the next item for which `found` holds; the stream stays open.
export async function nextOf(stream, what, found) {
  for (;;) {
    const { value, done } = await stream.next();
    if (done) throw new Error(`the stream ended before ${what}`);
    if (found(value)) return value;
  }
}

// Returns the text of an artifact as a reader of the stream assembles it: from a snapshot, then from appended or new
// chunks. Some clients lose `append`; the cases never restart an artifact.
export function assembled(client, events) {
  let text = "";
  for (const event of events) {
    if (event.kind === "task" && event.task.artifacts.length > 0) text = textOf(event.task);
    if (event.kind !== "artifact") continue;
    const append = client.losesAppend ? event.append || text !== "" : event.append;
    text = append ? text + event.artifact.text : event.artifact.text;
  }
  return text;
}

export const lastState = (events) => events.filter((event) => event.state).at(-1)?.state;

// Polls the task until it is in one of these states. Returns it.
export const polled = (client, id, ...states) =>
  waitFor(`the task to be ${states.join(" or ")}`, async () => {
    const task = await client.get(id);
    return states.includes(task.state) && task;
  });

// Waits until the agent works on the task and holds at its gate.
export const holding = (client, id) =>
  waitFor("the agent to hold", async () => {
    const task = await client.get(id);
    return task.state === "working" && textOf(task) === "one " && task;
  });

export async function heldTask(client, gate, options) {
  const begun = await client.send(`hold ${gate}`, { blocking: false, ...options });
  assert.ok(["submitted", "working"].includes(begun.state), `a send that does not wait: ${begun.state}`);
  return begun;
}

export async function refused(client, expected, promise) {
  let answer;
  try {
    answer = await promise;
  } catch (error) {
    assert.equal(client.errorName(error), expected, `${error?.name}: ${error?.message}`);
    return;
  }
  assert.fail(`expected ${expected}, got ${JSON.stringify(answer)}`);
}
