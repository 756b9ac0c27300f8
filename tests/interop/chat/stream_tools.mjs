// Shared by the cases of AG-Kit, Agent API and Agent Server.
import assert from "node:assert/strict";
import { framesOf } from "../lib/sse.mjs";

export const at = (client, server, agent) => `${server.base(agent)}${client.path}`;

// Sends one request, and returns its whole stream as the conversation reads it.
export async function said(client, world, conversation, text, { agent = "stage", ...options } = {}) {
  const { extra, ...rest } = options;
  const body = { ...conversation.say(text), ...extra };
  return conversation.read(await framesOf(at(client, world.stage, agent), body, rest));
}

export function done(client, answer, text) {
  assert.ok(!answer.failed, JSON.stringify(answer));
  if (answer.state) assert.equal(answer.state, "completed", JSON.stringify(answer));
  if (text !== undefined) assert.equal(answer.text, text);
  return answer;
}

export const showsText = ({ data }) => data !== "[DONE]" && /"(text|content|delta)":"one"/.test(data);

export const refused = (status, promise) =>
  assert.rejects(promise, (error) => error.status === status && error.body !== null);
