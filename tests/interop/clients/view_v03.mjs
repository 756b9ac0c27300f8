// The values that 0.2 and 0.3 clients give their users, as the cases read them. Throws if a value has another shape.
import assert from "node:assert/strict";

const states = [
  "submitted",
  "working",
  "input-required",
  "completed",
  "canceled",
  "failed",
  "rejected",
  "auth-required",
  "unknown",
];

function content(part) {
  if (part.kind === "text") return { text: part.text };
  if (part.kind === "data") return { data: part.data };
  assert.equal(part.kind, "file", `kind of a part: ${JSON.stringify(part)}`);
  const { bytes, uri, mimeType, name } = part.file;
  assert.equal(typeof (bytes ?? uri), "string");
  return { bytes, url: uri, mediaType: mimeType, filename: name };
}

const textOf = (parts) => parts.map((part) => content(part).text ?? "").join("");

export function message(value) {
  assert.equal(value.kind, "message");
  assert.ok(value.messageId, "a message has an id");
  assert.ok(["user", "agent"].includes(value.role), value.role);
  return { role: value.role, text: textOf(value.parts), id: value.messageId };
}

function artifact(value) {
  assert.ok(value.artifactId, "an artifact has an id");
  return { id: value.artifactId, name: value.name, text: textOf(value.parts), parts: value.parts.map(content) };
}

function status(value) {
  assert.ok(states.includes(value.state), value.state);
  if (value.timestamp) assert.ok(!Number.isNaN(Date.parse(value.timestamp)), value.timestamp);
  return { state: value.state, say: value.message ? message(value.message).text : "" };
}

export function task(value) {
  assert.equal(value.kind, "task");
  assert.ok(value.id && value.contextId, "a task has an id and a context");
  return {
    id: value.id,
    contextId: value.contextId,
    ...status(value.status),
    artifacts: (value.artifacts ?? []).map(artifact),
    history: (value.history ?? []).map(message),
  };
}

// Reads the answer to a send.
export function answer(value) {
  if (value.kind !== "message") return task(value);
  assert.ok(!value.taskId, "a message without a task names none");
  return { contextId: value.contextId, ...message(value) };
}

export function event(value) {
  if (value.kind === "task") return { kind: "task", taskId: value.id, task: task(value), state: task(value).state };
  if (value.kind === "message") return { kind: "message", ...message(value) };
  assert.ok(value.taskId && value.contextId, "an event names its task and its context");
  if (value.kind === "status-update") {
    assert.equal(typeof value.final, "boolean");
    return { kind: "status", taskId: value.taskId, ...status(value.status), final: value.final };
  }
  assert.equal(value.kind, "artifact-update");
  const { append, lastChunk } = value;
  return { kind: "artifact", taskId: value.taskId, artifact: artifact(value.artifact), append, lastChunk };
}

export function pushConfig(value) {
  const { id, url, token } = value.pushNotificationConfig;
  return { taskId: value.taskId, id, url, token };
}

export function card(value) {
  const interfaces = [{ transport: value.preferredTransport ?? "JSONRPC", url: value.url }];
  for (const { transport, url } of value.additionalInterfaces ?? []) interfaces.push({ transport, url });
  return {
    name: value.name,
    description: value.description,
    version: value.version,
    protocolVersion: value.protocolVersion,
    interfaces,
    streaming: value.capabilities.streaming,
    push: value.capabilities.pushNotifications,
    extended: value.supportsAuthenticatedExtendedCard ?? false,
    skills: value.skills.map((skill) => skill.id),
  };
}

export function outgoing(text, { taskId, contextId, messageId, parts = [] } = {}) {
  const result = {
    kind: "message",
    messageId,
    role: "user",
    parts: [{ kind: "text", text }, ...parts.map(outgoingPart)],
  };
  if (taskId) result.taskId = taskId;
  if (contextId) result.contextId = contextId;
  return result;
}

function outgoingPart({ bytes, url, mediaType, filename, data }) {
  if (data) return { kind: "data", data };
  const file = { mimeType: mediaType };
  if (filename) file.name = filename;
  return { kind: "file", file: bytes ? { ...file, bytes } : { ...file, uri: url } };
}
