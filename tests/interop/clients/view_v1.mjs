// The values that 1.0 clients give their users, as the cases read them. Throws if a value has another shape.
import assert from "node:assert/strict";

// The numbers of TaskState and Role.
const states = [
  "unknown",
  "submitted",
  "working",
  "completed",
  "failed",
  "canceled",
  "input-required",
  "rejected",
  "auth-required",
];
export const stateNumber = (name) => states.indexOf(name);
const roles = ["unspecified", "user", "agent"];

function content(part) {
  const { $case, value } = part.content ?? {};
  if ($case === "text") return { text: value };
  if ($case === "data") return { data: value };
  const { mediaType, filename } = part;
  if ($case === "raw") return { bytes: Buffer.from(value).toString("base64"), mediaType, filename };
  assert.equal($case, "url", `content of a part: ${JSON.stringify(part)}`);
  return { url: value, mediaType, filename };
}

const textOf = (parts) => parts.map((part) => content(part).text ?? "").join("");

function message(value) {
  assert.ok(value.messageId, "a message has an id");
  assert.ok(value.role === 1 || value.role === 2, `role ${value.role}`);
  return { role: roles[value.role], text: textOf(value.parts), id: value.messageId };
}

function artifact(value) {
  assert.ok(value.artifactId, "an artifact has an id");
  return { id: value.artifactId, name: value.name, text: textOf(value.parts), parts: value.parts.map(content) };
}

function status(value) {
  assert.ok(value.state >= 0 && value.state < states.length, `state ${value.state}`);
  if (value.timestamp) assert.ok(!Number.isNaN(Date.parse(value.timestamp)), value.timestamp);
  return { state: states[value.state], say: value.message ? message(value.message).text : "", at: value.timestamp };
}

export function task(value) {
  assert.ok(value.id && value.contextId && value.status, "a task has an id, a context and a status");
  return {
    id: value.id,
    contextId: value.contextId,
    ...status(value.status),
    artifacts: value.artifacts.map(artifact),
    history: value.history.map(message),
  };
}

// Reads the answer to a send.
export function answer(value) {
  if (value.messageId === undefined) return task(value);
  assert.ok(!value.taskId, "a message without a task names none");
  return { contextId: value.contextId, ...message(value) };
}

export function event({ payload }) {
  assert.ok(payload, "a stream item has a payload");
  const { $case, value } = payload;
  if ($case === "task") return { kind: "task", taskId: value.id, task: task(value), state: task(value).state };
  if ($case === "message") return { kind: "message", ...message(value) };
  assert.ok(value.taskId && value.contextId, "an event names its task and its context");
  if ($case === "statusUpdate") return { kind: "status", taskId: value.taskId, ...status(value.status) };
  assert.equal($case, "artifactUpdate");
  const { append, lastChunk } = value;
  return { kind: "artifact", taskId: value.taskId, artifact: artifact(value.artifact), append, lastChunk };
}

export function pushConfig({ taskId, id, url, token }) {
  return { taskId, id, url, token };
}

export function card(value) {
  const interfaces = value.supportedInterfaces.map((each) => ({
    transport: each.protocolBinding,
    url: each.url,
    version: each.protocolVersion,
  }));
  return {
    name: value.name,
    description: value.description,
    version: value.version,
    interfaces,
    streaming: value.capabilities.streaming,
    push: value.capabilities.pushNotifications,
    extended: value.capabilities.extendedAgentCard ?? false,
    skills: value.skills.map((skill) => skill.id),
  };
}

export function outgoing(text, { taskId, contextId, messageId, parts = [] } = {}) {
  return {
    messageId,
    role: 1,
    taskId: taskId ?? "",
    contextId: contextId ?? "",
    parts: [{ content: { $case: "text", value: text }, filename: "", mediaType: "" }, ...parts.map(outgoingPart)],
    extensions: [],
    referenceTaskIds: [],
  };
}

function outgoingPart({ bytes, url, mediaType = "", filename = "", data }) {
  let content = { $case: "url", value: url };
  if (data) content = { $case: "data", value: data };
  if (bytes) content = { $case: "raw", value: Buffer.from(bytes, "base64") };
  return { content, mediaType, filename };
}
