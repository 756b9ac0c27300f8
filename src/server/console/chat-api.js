// The chat page's requests to the server: A2A 1.0 over JSON-RPC, and the list of conversations, as a caller. The token
// is not the console's.
import { newId } from "./bits.js";
import { lookUp, pageToken, signOut } from "./signed-in.js";
import { frames } from "./sse.js";
import { takeLink } from "./token-link.js";

/**
 * @typedef {import("./api.js").Part} Part
 * @typedef {{name: string, title: string, description: string, path: string, origin: string, default: boolean, card: string,
 *   plan?: boolean}} Agent
 * @typedef {{skills?: {examples?: string[]}[], defaultInputModes?: string[]}} Card
 * @typedef {{
 *   messageId: string, role: string, parts: Part[], contextId?: string, taskId?: string, metadata?: Record<string, any>
 * }} Message
 * @typedef {{state: string, message?: Message, timestamp?: string}} Status
 * @typedef {{artifactId: string, name?: string, description?: string, parts: Part[]}} Artifact
 * @typedef {{id: string, contextId: string, status: Status, artifacts?: Artifact[], history?: Message[]}} Task
 * @typedef {{status: Status, metadata?: Record<string, any>}} StatusUpdate
 * @typedef {{artifact: Artifact, append?: boolean, lastChunk?: boolean}} ArtifactUpdate
 * @typedef {{
 *   task?: Task, message?: Message, statusUpdate?: StatusUpdate & {taskId: string}, artifactUpdate?: ArtifactUpdate
 * }} Item an item of a stream
 * @typedef {{tasks: Task[], nextPageToken?: string}} TaskPage
 * @typedef {{id: string, title: string, createdAt?: string, updatedAt: string, state: string}} Conversation
 * @typedef {{conversations: Conversation[], nextPageToken?: string}} ConversationPage
 */

const place = "baton-chat-token";
// The error of a method that the agent does not have.
const unsupported = -32004;
/** The name of Baton's extension, under which its members stand in metadata. */
export const extension = "urn:baton:a2a:1";

/** An error with a text for the page's user. `passing`: a retry may succeed. `code`: of JSON-RPC. */
export class Trouble extends Error {
  constructor(/** @type {string} */ message, { passing = false, code = 0 } = {}) {
    super(message);
    this.passing = passing;
    this.code = code;
  }
}

/** The bearer token, in this tab's session storage alone. */
export const token = {
  get: () => sessionStorage.getItem(place) ?? "",
  set: (/** @type {string} */ value) => sessionStorage.setItem(place, value),
  forget: () => sessionStorage.removeItem(place),
};

// A token of the person who has signed in, in memory only.
let made = "";
/** @type {Promise<boolean> | null} */
let begun = null;

/** Makes a token from the session. Returns whether there is one. */
async function takeSession() {
  made = (await lookUp())?.name ? await pageToken() : "";
  return made !== "";
}

/** Whether requests have a token. */
export const isSignedIn = () => token.get() !== "" || made !== "";

/** Forgets the token, and signs out. Returns whether nobody is signed in any more. */
export function leave() {
  token.forget();
  made = "";
  return signOut();
}

/** Moves a token from the address (#token=...) to where it is kept. Returns whether there was one. */
export const takeToken = () => takeLink(token, whose);

/** @param {string} value */
async function whose(value) {
  const headers = { Authorization: `Bearer ${value}` };
  const answer = await fetch("/agents", { headers, credentials: "omit", cache: "no-store" }).catch(() => null);
  if (answer?.status === 401) return null;
  const body = answer?.ok ? await answer.json().catch(() => null) : null;
  return body?.user ? `${body.user} (${body.caller})` : (body?.caller ?? "");
}

/** @type {(hadOne: boolean) => Promise<void>} */
let asker = () => Promise.reject(new Trouble("A token is required."));
/** @type {Promise<void> | null} */
let asking = null;

/**
 * Sets the function that asks the user for a token when the server wants one. Its argument is whether there was a
 * token, which the server no longer accepts; it resolves once there is another one.
 * @param {(hadOne: boolean) => Promise<void>} who
 */
export function askBy(who) {
  asker = who;
}

/**
 * @param {string} used the token that was refused
 * @param {boolean} mayMake whether one may be made from the session
 */
async function anotherToken(used, mayMake) {
  if ((token.get() || made) !== used) return; // Another request has asked for it already.
  const hadOne = used !== "";
  asking ??= (async () => {
    if (token.get() || !mayMake || !(await takeSession())) await asker(hadOne);
  })().finally(() => {
    asking = null;
  });
  await asking;
}

/**
 * Fetches with the token. If the server wants another one, asks for that and fetches again.
 * @param {string} path
 * @param {RequestInit} [how]
 */
export async function call(path, how = {}) {
  // A server that refuses the token that it has just made would refuse the next one, too.
  let mayMake = begun !== null || token.get() !== "";
  begun ??= token.get() ? Promise.resolve(false) : takeSession();
  await begun;
  for (;;) {
    const used = token.get() || made;
    const headers = { ...how.headers, ...(used ? { Authorization: `Bearer ${used}` } : {}) };
    const response = await fetch(path, { ...how, headers, credentials: "omit", cache: "no-store" }).catch((error) => {
      if (error.name === "AbortError") throw error;
      throw new Trouble("The server cannot be reached.", { passing: true });
    });
    if (response.ok) return response;
    const text = await response.text().catch(() => "");
    if (response.status !== 401) throw troubleOf(response.status, text);
    await anotherToken(used, mayMake);
    mayMake = false;
  }
}

/**
 * @param {number} status
 * @param {string} text
 */
function troubleOf(status, text) {
  if (status === 403) return new Trouble("This token may not do this.");
  if (status === 413) return new Trouble("The message is larger than the server accepts.");
  if (status === 429 || status === 503) {
    return new Trouble("The server is overloaded. Try again in a moment.", { passing: true });
  }
  return new Trouble(said(text) || `The server answered with an error (HTTP ${status}).`, { passing: status >= 500 });
}

/** @param {string} text */
function said(text) {
  try {
    const { error } = JSON.parse(text);
    return String(typeof error === "string" ? error : (error?.message ?? ""));
  } catch {
    return "";
  }
}

/** @param {AbortSignal} [signal] @returns {Promise<Agent[]>} */
export async function agents(signal) {
  const { agents: all } = await (await call("/agents", { signal })).json();
  return all.map((/** @type {any} */ one) => {
    const url = new URL(one.url, location.href);
    return { ...one, title: one.title || one.name, path: url.pathname, origin: url.origin };
  });
}

/**
 * The agent's card. The page sends requests to its own origin only, even if the server has another name elsewhere.
 * @param {Agent} agent
 * @param {AbortSignal} signal
 * @returns {Promise<Card>}
 */
export const cardOf = async (agent, signal) => (await call(new URL(agent.card, location.href).pathname, { signal })).json();

/**
 * @param {Agent} agent
 * @param {string} method
 * @param {object} params
 * @param {{signal?: AbortSignal, after?: number, streams?: boolean}} [how]
 */
function post(agent, method, params, { signal, after, streams } = {}) {
  /** @type {Record<string, string>} */
  const headers = { "Content-Type": "application/json", "A2A-Version": "1.0" };
  if (streams) headers.Accept = "text/event-stream, application/json"; // JSON for a refusal.
  if (after !== undefined) headers["Last-Event-ID"] = String(after);
  const body = JSON.stringify({ jsonrpc: "2.0", id: newId(), method, params });
  return call(agent.path, { method: "POST", headers, body, signal });
}

/** @param {any} body */
function resultOf(body) {
  if (!body.error) return body.result;
  const { code, message } = body.error;
  throw new Trouble(message || `The server answered with error ${code}.`, { passing: code === -32603, code });
}

/**
 * @param {Agent} agent
 * @param {string} method
 * @param {object} params
 * @param {AbortSignal} [signal]
 */
async function ask(agent, method, params, signal) {
  return resultOf(await (await post(agent, method, params, { signal })).json());
}

/** @type {(agent: Agent, filter: object, signal?: AbortSignal) => Promise<TaskPage>} */
export const listTasks = (agent, filter, signal) => ask(agent, "ListTasks", filter, signal);
/** @type {(agent: Agent, id: string, signal?: AbortSignal) => Promise<Task>} */
export const getTask = (agent, id, signal) => ask(agent, "GetTask", { id }, signal);
/** @type {(agent: Agent, id: string) => Promise<Task>} */
export const cancelTask = (agent, id) => ask(agent, "CancelTask", { id });

/**
 * @param {Agent} agent
 * @param {string} [id]
 */
const conversationPath = (agent, id) => `${agent.path}conversations${id ? `/${encodeURIComponent(id)}` : ""}`;

/**
 * @param {Agent} agent
 * @param {Record<string, string>} page `pageSize` and `pageToken`
 * @param {AbortSignal} [signal]
 * @returns {Promise<ConversationPage>}
 */
export async function listConversations(agent, page, signal) {
  return (await call(`${conversationPath(agent)}?${new URLSearchParams(page)}`, { signal })).json();
}

/**
 * @param {Agent} agent
 * @param {string} id
 * @param {string | null} title null: back to the default title
 * @returns {Promise<Conversation>}
 */
export async function renameConversation(agent, id, title) {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ title });
  return (await call(conversationPath(agent, id), { method: "PATCH", headers, body })).json();
}

/** @type {(agent: Agent, id: string) => Promise<unknown>} */
export const deleteConversation = (agent, id) => call(conversationPath(agent, id), { method: "DELETE" });

/**
 * Replaces a stream if the agent has streaming switched off: the task in its present state.
 * @param {Agent} agent
 * @param {string} method
 * @param {object} params
 * @param {AbortSignal} signal
 * @returns {Promise<Item>}
 */
async function still(agent, method, params, signal) {
  if (method === "SendStreamingMessage") return ask(agent, "SendMessage", params, signal);
  return { task: await ask(agent, "GetTask", params, signal) };
}

/**
 * The items of a stream, each with its number in the task's log, or 0 if it has none.
 * @param {Agent} agent
 * @param {string} method
 * @param {object} params
 * @param {{signal: AbortSignal, after?: number}} how `after`: the last known number
 * @returns {AsyncGenerator<{number: number, item: Item}>}
 */
export async function* stream(agent, method, params, how) {
  const response = await post(agent, method, params, { ...how, streams: true });
  if (!response.headers.get("Content-Type")?.startsWith("text/event-stream") || !response.body) {
    const body = await response.json();
    const isOff = body.error?.code === unsupported;
    yield { number: 0, item: isOff ? await still(agent, method, params, how.signal) : resultOf(body) };
    return;
  }
  for await (const { id, data } of frames(response.body)) {
    yield { number: Number(id) || 0, item: resultOf(JSON.parse(data)) };
  }
}

/**
 * The agent's reasoning and actions beside its answer, as events of AG-UI: A2A has no form for them.
 * @param {Agent} agent
 * @param {Task | {id: string, contextId: string}} task
 * @param {string} after the id of the last known event
 * @param {AbortSignal} signal
 */
export async function* asides(agent, { contextId }, after, signal) {
  const headers = { "Content-Type": "application/json", Accept: "text/event-stream", "Last-Event-ID": after };
  const body = JSON.stringify({ threadId: contextId, runId: newId(), messages: [], tools: [], context: [] });
  const response = await call(`${agent.path}ag-ui`, { method: "POST", headers, body, signal });
  if (!response.body) return;
  for await (const { id, data } of frames(response.body)) yield { id, event: JSON.parse(data) };
}

/** A state in readable form: "input-required".
 * @param {string | undefined} state */
export function stateName(state) {
  return String(state ?? "")
    .replace(/^TASK_STATE_/, "")
    .toLowerCase()
    .replaceAll("_", "-");
}

/** @param {unknown} error */
export function told(error) {
  return error instanceof Trouble ? error.message : `Something went wrong: ${String(error)}`;
}

/** @param {unknown} error */
export const isAbort = (error) => error instanceof DOMException && error.name === "AbortError";
