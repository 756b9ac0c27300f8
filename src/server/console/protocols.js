// The protocols that the playground speaks: the request for a text, and the parts of a response that are shown. gRPC
// calls are relayed by the operator API, because browsers cannot speak gRPC.
import { newId } from "./bits.js";

/**
 * @typedef {{context: string, task: string, ask: string, turns: any[]}} Talk the state kept between turns
 * @typedef {{path: string, headers?: Record<string, string>, body: any, relayed?: boolean}} Sent `relayed`: the
 *   operator API sends the message to the agent
 * @typedef {{text?: string, note?: string, schema?: any}} Heard `schema`: of the answer that the agent asks for
 * @typedef {{
 *   name: string, send: (text: string, talk: Talk, data?: unknown) => Sent, hear: (frame: any, talk: Talk) => Heard,
 *   called: (frame: any) => string
 * }} Protocol `data`: an answer by a schema, instead of the text; `called`: the name of a frame
 */

/** @param {any} parts */
function textOf(parts) {
  return (parts ?? []).map(partText).join("");
}

/** @param {any} part */
function partText(part) {
  if (typeof part?.text === "string") return part.text;
  if (schemaOf([part])) return "";
  const call = part?.data?.toolCall;
  if (call) return `\n[calls ${call.name}]`;
  if (part?.data !== undefined) return `\n${JSON.stringify(part.data)}`;
  return `\n[${part?.filename ?? part?.file?.name ?? "a file"}]`;
}

/** The schema of a question, which has a part of its own; the last one counts.
 * @param {any} parts */
function schemaOf(parts) {
  const found = (parts ?? []).findLast((/** @type {any} */ part) => {
    const data = part?.data;
    return data && typeof data.schema === "object" && Object.keys(data).length === 1;
  });
  return found?.data.schema;
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
  const schema = asks ? schemaOf(status?.message?.parts) : undefined;
  return { text: artifacts + (said ? `\n${said}` : ""), note, schema };
}

/** @param {any} result */
function a2aName(result) {
  const kinds = ["task", "message", "statusUpdate", "artifactUpdate"];
  const kind = kinds.find((one) => result?.[one]) ?? result?.kind ?? (result?.artifact ? "artifactUpdate" : result?.status ? "statusUpdate" : "");
  const state = stateName((result?.[kind] ?? result)?.status?.state);
  return state ? `${kind} ${state}` : kind;
}

/** @param {any} frame */
const rpcName = (frame) => (frame?.error ? `error ${frame.error.code}` : a2aName(frame?.result));

/** @type {(frame: any, talk: Talk) => Heard} */
function hearRpc(frame, talk) {
  return frame.error ? { note: `error ${frame.error.code}: ${frame.error.message}` } : hearA2a(frame.result, talk);
}

/**
 * @param {string} text
 * @param {Talk} talk
 * @param {unknown} data
 * @param {string} member that names the kind of a part; empty: none does
 */
function message(text, talk, data, member, role = "user") {
  const ids = { contextId: talk.context || undefined, taskId: talk.task || undefined };
  return { messageId: newId(), role, parts: [partOf(text, data, member)], ...ids };
}

/** @param {string} text @param {unknown} data @param {string} member */
function partOf(text, data, member) {
  const part = data === undefined ? { text } : { data };
  return member ? { [member]: data === undefined ? "text" : "data", ...part } : part;
}

/** @param {string} method @param {any} params */
const rpc = (method, params) => ({ jsonrpc: "2.0", id: newId(), method, params });
const v1 = { "A2A-Version": "1.0" };

/** @type {Protocol[]} */
const a2a = [
  {
    name: "A2A 1.0, JSON-RPC",
    send: (text, talk, data) => ({
      path: "/",
      headers: v1,
      body: rpc("SendStreamingMessage", { message: message(text, talk, data, "", "ROLE_USER") }),
    }),
    hear: hearRpc,
    called: rpcName,
  },
  {
    name: "A2A 1.0, REST",
    send: (text, talk, data) => ({
      path: "/message:stream",
      headers: v1,
      body: { message: message(text, talk, data, "", "ROLE_USER") },
    }),
    called: (frame) => (frame?.error ? "error" : a2aName(frame)),
    hear: (frame, talk) =>
      frame.error ? { note: `error: ${frame.error.message ?? frame.error}` } : hearA2a(frame, talk),
  },
  {
    name: "A2A 0.3, JSON-RPC",
    send: (text, talk, data) => ({
      path: "/",
      body: rpc("message/stream", { message: { kind: "message", ...message(text, talk, data, "kind") } }),
    }),
    hear: hearRpc,
    called: rpcName,
  },
  {
    name: "A2A 0.1, JSON-RPC",
    send: (text, talk, data) => {
      const params = {
        id: talk.task || newId(),
        sessionId: (talk.context ||= newId()),
        message: { role: "user", parts: [partOf(text, data, "type")] },
      };
      return { path: "/", body: rpc("tasks/sendSubscribe", params) };
    },
    hear: hearRpc,
    called: rpcName,
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
  called: (event) => String(event?.type ?? ""),
  send: (text, talk, data) => {
    const asked = talk.ask;
    talk.ask = "";
    if (!asked) talk.turns.push({ id: newId(), role: "user", content: text });
    const resume = asked ? { resume: [{ interruptId: asked, status: "resolved", payload: data ?? answerOf(text) }] } : {};
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
    return { text: interrupt?.message, note: event.outcome?.type ?? "finished", schema: interrupt?.responseSchema };
  },
};

/** @type {Protocol} */
const agKit = {
  name: "AG-Kit",
  called: (event) => String(event?.type ?? ""),
  send: (text, talk, data) => {
    const asked = talk.ask;
    talk.ask = "";
    const conversationId = (talk.context ||= newId());
    const said = asked
      ? { resume: { interruptId: asked, payload: JSON.stringify(data ?? answerOf(text)) } }
      : { messages: [{ role: "user", content: text }] };
    return { path: "/send-message", body: { ...said, conversationId } };
  },
  hear: (event, talk) => {
    if (event.type === "text") return { text: event.content };
    if (event.type === "error") return { note: `error: ${event.error ?? event.message}` };
    if (event.type === "tool-call-start") return { note: `calls ${event.toolCallName}` };
    if (event.type !== "interrupt") return {};
    talk.ask = event.id;
    return { text: event.payload?.prompt, note: "interrupt", schema: event.payload?.schema };
  },
};

/** @param {string} text @param {unknown} data */
const wordsOf = (text, data) => (data === undefined ? text : JSON.stringify(data));

/** @type {(event: any) => Heard} */
function hearAgentApi(event) {
  if (event.object === "content" && event.type === "text" && event.delta) return { text: event.text };
  if (event.object !== "response") return {};
  return { note: event.error ? `error: ${event.error.message ?? JSON.stringify(event.error)}` : event.status };
}

/** @param {any} event */
const agentApiName = (event) => [event?.object, event?.type, event?.status].filter(Boolean).join(" ");

/** @type {Protocol[]} */
const others = [
  {
    name: "Agent API",
    send: (text, talk, data) => ({
      path: "/process",
      body: {
        input: [{ role: "user", type: "message", content: [{ type: "text", text: wordsOf(text, data) }] }],
        session_id: (talk.context ||= newId()),
        tools: [],
      },
    }),
    hear: hearAgentApi,
    called: agentApiName,
  },
  {
    name: "Agent Server",
    send: (text, talk, data) => ({
      path: "/stream",
      body: {
        user_id: "console",
        session_id: (talk.context ||= newId()),
        input: [{ role: "user", content: [{ type: "text", text: wordsOf(text, data) }] }],
      },
    }),
    hear: hearAgentApi,
    called: agentApiName,
  },
];

/** The frames are the messages of the call, as /operate/v1/playground/grpc reports them.
 * @type {Protocol} */
export const grpc = {
  name: "A2A 1.0, gRPC",
  send: (text, talk, data) => ({
    path: "/operate/v1/playground/grpc",
    body: { message: message(text, talk, data, "", "ROLE_USER") },
    relayed: true,
  }),
  called: (frame) => {
    if (frame?.way === "ended") return `ended ${frame.status?.status ?? "OK"}`;
    return frame?.way === "sent" ? `sent ${String(frame.method).split("/").pop()}` : a2aName(frame?.message);
  },
  hear: (frame, talk) => {
    if (frame.way === "received") return hearA2a(frame.message, talk);
    const status = frame.status?.status ?? "OK";
    return status === "OK" ? {} : { note: `error ${status}: ${frame.status.message ?? ""}` };
  },
};

export const protocols = [...a2a, agUi, agKit, ...others];
