// Checks every answer of the program to a client that uses `fetch` against the shape of the client's generation. A
// wrong shape fails the case during which it arrived.
import { againstProto, againstSchema } from "./shapes.mjs";

const problems = [];
const reading = new Set();
let protocol = "";

const jsonRpcSchemas = {
  "message/send": "SendMessageResponse",
  "message/stream": "SendStreamingMessageResponse",
  "tasks/resubscribe": "SendStreamingMessageResponse",
  "tasks/get": "GetTaskResponse",
  "tasks/cancel": "CancelTaskResponse",
  "tasks/pushNotificationConfig/set": "SetTaskPushNotificationConfigResponse",
  "tasks/pushNotificationConfig/get": "GetTaskPushNotificationConfigResponse",
  "tasks/pushNotificationConfig/list": "ListTaskPushNotificationConfigResponse",
  "tasks/pushNotificationConfig/delete": "DeleteTaskPushNotificationConfigResponse",
  "agent/getAuthenticatedExtendedCard": "GetAuthenticatedExtendedCardResponse",
};

const results = {
  SendMessage: "SendMessageResponse",
  SendStreamingMessage: "StreamResponse",
  SubscribeToTask: "StreamResponse",
  GetTask: "Task",
  CancelTask: "Task",
  ListTasks: "ListTasksResponse",
  CreateTaskPushNotificationConfig: "TaskPushNotificationConfig",
  GetTaskPushNotificationConfig: "TaskPushNotificationConfig",
  ListTaskPushNotificationConfigs: "ListTaskPushNotificationConfigsResponse",
  GetExtendedAgentCard: "AgentCard",
};

// The message that a REST route answers with; the first match counts.
const routes = [
  [/message:send$/, "SendMessageResponse"],
  [/(message:stream|:subscribe)$/, "StreamResponse"],
  [/pushNotificationConfigs\/[^/]+$/, "TaskPushNotificationConfig"],
  [/POST .*pushNotificationConfigs$/, "TaskPushNotificationConfig"],
  [/GET .*\/v1\/.*pushNotificationConfigs$/, "ListTaskPushNotificationConfigResponse"],
  [/GET .*pushNotificationConfigs$/, "ListTaskPushNotificationConfigsResponse"],
  [/(\/card|\/extendedAgentCard)$/, "AgentCard"],
  [/\/tasks$/, "ListTasksResponse"],
  [/\/tasks\/[^/]+$/, "Task"],
];

function checkRpc(method, answer) {
  if (method in jsonRpcSchemas) return againstSchema(protocol, jsonRpcSchemas[method], answer);
  if (!("error" in answer)) return method in results ? againstProto("1.0", results[method], answer.result) : undefined;
  const { data } = answer.error;
  const typed = Array.isArray(data) && data.length > 0 && data.every((each) => typeof each["@type"] === "string");
  return typed ? undefined : `error without typed details: ${JSON.stringify(answer)}`;
}

function checkRestError(body) {
  if (protocol === "0.3") {
    const good = typeof body.code === "number" && typeof body.message === "string";
    return good ? undefined : `not an error of 0.3: ${JSON.stringify(body)}`;
  }
  const { code, status, message, details } = body.error ?? {};
  const good =
    typeof code === "number" && typeof status === "string" && typeof message === "string" && details?.length > 0;
  return good ? undefined : `not an error of 1.0: ${JSON.stringify(body)}`;
}

function checkRest(call, event, value) {
  if (event === "error" || call.status >= 400) return checkRestError(value);
  const route = routes.find(([pattern]) => pattern.test(`${call.method} ${call.path}`));
  return route && againstProto(protocol, route[1], value);
}

function checkCard(call, card) {
  if (call.version === "1.0") return againstProto("1.0", "AgentCard", card);
  return againstSchema("0.2", "AgentCard", card) ?? againstSchema("0.3", "AgentCard", card);
}

function check(call, event, text) {
  const value = JSON.parse(text);
  if (call.path.includes("/.well-known/agent")) return checkCard(call, value);
  return call.rpc ? checkRpc(call.rpc, value) : checkRest(call, event, value);
}

// The `data` of each block of an SSE stream; a cut stream may end inside a block.
function* blocks(text) {
  for (const block of text.split("\n\n").slice(0, -1)) {
    const of = (field) =>
      block
        .split("\n")
        .find((line) => line.startsWith(`${field}:`))
        ?.slice(field.length + 1)
        .trim();
    if (of("data") !== undefined) yield [of("event"), of("data")];
  }
}

async function readStream(response) {
  let text = "";
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body) text += decoder.decode(chunk, { stream: true });
  } catch {
    // The connection was cut.
  }
  return text;
}

async function readAlong(call, response) {
  const type = response.headers.get("content-type") ?? "";
  const text = await readStream(response);
  const items = type.startsWith("text/event-stream") ? [...blocks(text)] : [[undefined, text]];
  for (const [event, data] of items) {
    const problem = data === "" || response.status === 401 ? undefined : check(call, event, data);
    if (problem) problems.push(`${call.rpc ?? `${call.method} ${call.path}`}: ${problem}`);
  }
}

function callOf(input, init = {}) {
  const url = new URL(input instanceof URL ? input : String(input));
  const headers = new Headers(init.headers);
  let rpc;
  if (init.body && !/(:send|:stream|:cancel|:subscribe|pushNotificationConfigs)$/.test(url.pathname))
    rpc = JSON.parse(init.body).method;
  return { method: init.method ?? "GET", path: url.pathname, version: headers.get("a2a-version"), rpc };
}

// Other protocols than A2A have their own readers.
const isChat = (input) => /\/(send-message|ag-ui|process|stop|stream)$/.test(new URL(String(input)).pathname);

export function install() {
  const original = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const response = await original(input, init);
    if (protocol === "MCP" || isChat(input) || response.status === 204 || response.body === null) return response;
    const work = readAlong({ ...callOf(input, init), status: response.status }, response.clone())
      .catch((error) => problems.push(`${callOf(input, init).path}: ${error.message}`))
      .finally(() => reading.delete(work));
    reading.add(work);
    return response;
  };
}

export const speaks = (version) => {
  protocol = version;
};

// Discards what an abandoned case has left behind.
export function begin() {
  reading.clear();
  problems.length = 0;
}

// Returns the problems since `begin`, after waiting for answers that are still being read.
export async function wrongs() {
  await Promise.all(reading);
  return problems.splice(0);
}
