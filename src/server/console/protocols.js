// The protocols that the playground speaks: the request for a text, and the parts of a response that are shown. gRPC
// calls are relayed by the operator API, because browsers cannot speak gRPC.
import { newId } from "./bits.js";

/**
 * @typedef {{context: string, task: string, ask: string, turns: any[]}} Talk the state kept between turns
 * @typedef {{path: string, headers?: Record<string, string>, body: any, relayed?: boolean}} Sent `relayed`: the
 *   operator API sends the message to the agent
 * @typedef {{text?: string, whole?: boolean, note?: string}} Heard `whole`: replaces the text received before
 * @typedef {{name: string, send: (text: string, talk: Talk) => Sent, hear: (frame: any, talk: Talk) => Heard}} Protocol
 */

/** @param {any} parts */
function textOf(parts) {
  return (parts ?? [])
    .map((/** @type {any} */ part) => (typeof part?.text === "string" ? part.text : `\n${JSON.stringify(part)}`))
    .join("");
}

/** @param {any} state */
function stateName(state) {
  return String(state ?? "")
    .replace(/^TASK_STATE_/, "")
    .toLowerCase()
    .replaceAll("_", "-");
}

/**
 * A task, message or update of any version of A2A.
 * @param {any} result
 * @param {Talk} talk
 * @returns {Heard}
 */
function hearA2a(result, talk) {
  if (!result) return {};
  const kind = result.task ?? result.message ?? result.statusUpdate ?? result.artifactUpdate ?? result;
  talk.context = kind.contextId ?? kind.sessionId ?? talk.context;
  const task = kind.taskId ?? (kind.status && kind.id ? kind.id : "");
  const status = kind.status;
  const asks = /input-required|auth-required/.test(stateName(status?.state));
  if (task) talk.task = asks ? task : "";
  if (kind.artifact) {
    const goesOn = kind.append ?? kind.artifact.append;
    return { text: (goesOn ? "" : "\n") + textOf(kind.artifact.parts) };
  }
  if (kind.role && kind.parts) return { text: textOf(kind.parts) };
  const note = status ? stateName(status.state) : undefined;
  const artifacts = (kind.artifacts ?? []).map((/** @type {any} */ one) => textOf(one.parts)).join("\n");
  const said = textOf(status?.message?.parts);
  return { text: artifacts + (said ? `\n${said}` : ""), note };
}

/** @type {(frame: any, talk: Talk) => Heard} */
function hearRpc(frame, talk) {
  return frame.error ? { note: `error ${frame.error.code}: ${frame.error.message}` } : hearA2a(frame.result, talk);
}

/**
 * @param {string} text
 * @param {Talk} talk
 * @param {Record<string, string>} part
 */
function message(text, talk, part, role = "user") {
  const ids = { contextId: talk.context || undefined, taskId: talk.task || undefined };
  return { messageId: newId(), role, parts: [{ ...part, text }], ...ids };
}

/** @param {string} method @param {any} params */
const rpc = (method, params) => ({ jsonrpc: "2.0", id: newId(), method, params });
const v1 = { "A2A-Version": "1.0" };

/** @type {Protocol[]} */
const a2a = [
  {
    name: "A2A 1.0, JSON-RPC",
    send: (text, talk) => ({
      path: "/",
      headers: v1,
      body: rpc("SendStreamingMessage", { message: message(text, talk, {}, "ROLE_USER") }),
    }),
    hear: hearRpc,
  },
  {
    name: "A2A 1.0, REST",
    send: (text, talk) => ({
      path: "/message:stream",
      headers: v1,
      body: { message: message(text, talk, {}, "ROLE_USER") },
    }),
    hear: (frame, talk) =>
      frame.error ? { note: `error: ${frame.error.message ?? frame.error}` } : hearA2a(frame, talk),
  },
  {
    name: "A2A 0.3, JSON-RPC",
    send: (text, talk) => ({
      path: "/",
      body: rpc("message/stream", { message: { kind: "message", ...message(text, talk, { kind: "text" }) } }),
    }),
    hear: hearRpc,
  },
  {
    name: "A2A 0.1, JSON-RPC",
    send: (text, talk) => {
      const params = {
        id: talk.task || newId(),
        sessionId: (talk.context ||= newId()),
        message: { role: "user", parts: [{ type: "text", text }] },
      };
      return { path: "/", body: rpc("tasks/sendSubscribe", params) };
    },
    hear: hearRpc,
  },
];

/** An answer to a question with a schema is written as JSON; any other answer is text.
 * @param {string} text */
function answerOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** @type {Protocol} */
const agUi = {
  name: "AG-UI",
  send: (text, talk) => {
    const asked = talk.ask;
    talk.ask = "";
    if (!asked) talk.turns.push({ id: newId(), role: "user", content: text });
    const resume = asked ? { resume: [{ interruptId: asked, status: "resolved", payload: answerOf(text) }] } : {};
    const body = {
      threadId: (talk.context ||= newId()),
      runId: newId(),
      messages: asked ? [] : [...talk.turns],
      tools: [],
      context: [],
      ...resume,
    };
    return { path: "/send-message", body };
  },
  hear: (event, talk) => {
    if (event.type === "TEXT_MESSAGE_CONTENT") return { text: event.delta };
    if (event.type === "RUN_ERROR") return { note: `error: ${event.message}` };
    if (event.type === "TOOL_CALL_START") return { note: `calls ${event.toolCallName}` };
    if (event.type !== "RUN_FINISHED") return {};
    const interrupt = event.outcome?.interrupts?.[0];
    talk.ask = interrupt?.id ?? "";
    return { note: event.outcome?.type ?? "finished" };
  },
};

/** @type {Protocol} */
const agKit = {
  name: "AG-Kit",
  send: (text, talk) => {
    const asked = talk.ask;
    talk.ask = "";
    const conversationId = (talk.context ||= newId());
    const said = asked
      ? { resume: { interruptId: asked, payload: JSON.stringify(answerOf(text)) } }
      : { messages: [{ role: "user", content: text }] };
    return { path: "/send-message", body: { ...said, conversationId } };
  },
  hear: (event, talk) => {
    if (event.type === "text") return { text: event.content };
    if (event.type === "error") return { note: `error: ${event.error ?? event.message}` };
    if (event.type === "tool-call-start") return { note: `calls ${event.toolCallName}` };
    if (event.type !== "interrupt") return {};
    talk.ask = event.id;
    return { note: "interrupt" };
  },
};

/** @type {(event: any) => Heard} */
function hearAgentApi(event) {
  if (event.object === "content" && event.type === "text" && event.delta) return { text: event.text };
  if (event.object !== "response") return {};
  return { note: event.error ? `error: ${event.error.message ?? JSON.stringify(event.error)}` : event.status };
}

/** @type {Protocol[]} */
const others = [
  {
    name: "Agent API",
    send: (text, talk) => ({
      path: "/process",
      body: {
        input: [{ role: "user", type: "message", content: [{ type: "text", text }] }],
        session_id: (talk.context ||= newId()),
        tools: [],
      },
    }),
    hear: hearAgentApi,
  },
  {
    name: "Agent Server",
    send: (text, talk) => ({
      path: "/stream",
      body: {
        user_id: "console",
        session_id: (talk.context ||= newId()),
        input: [{ role: "user", content: [{ type: "text", text }] }],
      },
    }),
    hear: hearAgentApi,
  },
];

/** The frames are the messages of the call, as /operate/v1/playground/grpc reports them.
 * @type {Protocol} */
export const grpc = {
  name: "A2A 1.0, gRPC",
  send: (text, talk) => ({
    path: "/operate/v1/playground/grpc",
    body: { message: message(text, talk, {}, "ROLE_USER") },
    relayed: true,
  }),
  hear: (frame, talk) => {
    if (frame.way === "received") return hearA2a(frame.message, talk);
    const status = frame.status?.status ?? "OK";
    return status === "OK" ? {} : { note: `error ${status}: ${frame.status.message ?? ""}` };
  },
};

export const protocols = [...a2a, agUi, agKit, ...others];
