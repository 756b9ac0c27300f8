// The operator API: its shapes (schema/operate.openapi.json) and calls.
import { csrf, pageToken, signedIn } from "./signed-in.js";
import { frames } from "./sse.js";
import { takeLink } from "./token-link.js";

/**
 * @typedef {{
 *   key: string, id: string, agent: string, caller: string, context: string, parent?: string, schedule?: string,
 *   state: string, turnState: string, attempt: number, waitsUntil?: string, createdAt: string, statusAt: string,
 *   cancelRequested?: boolean, hidden?: boolean, tokens?: number, children?: number, bytes: number, lastEvent: number, protocol: string,
 *   undelivered?: number, retriedAs?: string, text?: string, request?: string, result?: string
 * }} TaskRow
 * @typedef {{tasks: number, exact: boolean}} Count
 * @typedef {{at: string, tasks: TaskRow[], next?: string, scannedUntil?: string, count: Count}} TaskPage
 * @typedef {{
 *   text?: string, data?: unknown, url?: string, raw?: string, filename?: string, mediaType?: string
 * }} Part
 * @typedef {{role?: string, messageId?: string, parts?: Part[]}} Message
 * @typedef {{event: number, text: string, ask?: string, schema?: Schema, message?: Message}} Question
 * @typedef {{
 *   type?: string | string[], title?: string, description?: string, enum?: unknown[], default?: unknown,
 *   format?: string, properties?: Record<string, Schema>, required?: string[], items?: Schema, minimum?: number,
 *   maximum?: number, minLength?: number, maxLength?: number, pattern?: string, const?: unknown, enumNames?: unknown[],
 *   $ref?: string, anyOf?: Schema[], oneOf?: Schema[], allOf?: Schema[], isNullable?: boolean
 * }} Schema
 * @typedef {{
 *   key: string, task: string, agent: string, caller: string, event: number, url: string, state: string,
 *   attempts: number, createdAt: string, dueAt?: string, error?: string
 * }} Delivery
 * @typedef {{at: string, deliveries: Delivery[], next?: string}} DeliveryPage
 * @typedef {{id: string, url: string, lastError?: string, hasToken?: boolean, hasCredentials?: boolean}} Config
 * @typedef {{
 *   at: string, task: TaskRow, metadata?: unknown, stderr?: string, requestEvent?: number, question?: Question, parent?: TaskRow,
 *   children: TaskRow[], deliveries: Delivery[], configs: Config[]
 * }} TaskView
 * @typedef {{text: string, bytes: number}} TraceWords
 * @typedef {{
 *   kind: string, name?: string, begunAt: string, firstAt?: string, endedAt?: string, depth?: number, byClient?: boolean,
 *   given?: TraceWords, thought?: TraceWords, answer?: TraceWords, calls?: string[], error?: string, usage?: unknown,
 *   tokens?: number, children?: number, task?: string
 * }} TraceStep
 * @typedef {{role: string, text: string, bytes: number, files?: number, calls?: string[]}} ToldMessage
 * @typedef {{
 *   event: number, lastEvent: number, sentAt: string, begunAt?: string, endedAt?: string, state: string,
 *   request?: TraceWords, reason?: string, tokens?: number, steps: TraceStep[], leftOut?: number,
 *   told?: {messages: ToldMessage[], leftOut?: number, tools?: string[]}
 * }} TraceTurn
 * @typedef {{number: number, at: string, type: string, cutBytes?: number, [member: string]: any}} TaskEvent
 * @typedef {{events: TaskEvent[], first: number, last: number}} EventPage
 * @typedef {{completed: number, failed: number, canceled: number, rejected: number}} Ended
 * @typedef {{
 *   name: string, title: string, kind: string, paused?: boolean, default?: boolean, workers?: number,
 *   concurrency: number, scaled?: boolean, running: number, queued: number, ended: Ended, turnSeconds?: {p50: number, p99: number},
 *   errorRate?: number, tokens: number, stderr: string[], hasPlan?: boolean
 * }} AgentRow
 * @typedef {{folder: string, report: string}} CardReport
 * @typedef {{at: string, agents: AgentRow[], leftOut: CardReport[], outdated: CardReport[]}} Agents
 * @typedef {{
 *   key: string, name: string, version: string, startedAt: string, state: string, leaseMs?: number, running: number,
 *   queued: number, lagMs: number, databaseMs?: number, self?: boolean, leads?: boolean, agents: {name: string, digest: string}[]
 * }} NodeRow
 * @typedef {{agent: string, missing: string[], cards: {digest: string, nodes: string[]}[]}} NodeDifference
 * @typedef {{at: string, shared: boolean, nodes: NodeRow[], differences: NodeDifference[]}} Nodes
 * @typedef {{
 *   id: string, caller: string, role: string, state: string, scopes: string[], agents?: string[], children?: string,
 *   createdAt: string, createdBy: string, expiresAt?: string, revokedAt?: string, usedAt?: string
 * }} ApiKey
 * @typedef {{actor: string, role: string, version: string, at: string, grpc?: boolean, nodes?: boolean}} Me
 * @typedef {{
 *   key: string, at: string, actor: string, action: string, task?: string, taskId?: string, agent?: string,
 *   caller?: string, reason?: string, detail?: string, outcome: string
 * }} AuditRow
 * @typedef {{at: string, rows: AuditRow[], next?: string}} AuditPage
 * @typedef {{
 *   id: string, agent: string, caller: string, text: string, cron: string, timezone: string, missed: string, nextAt?: string, lastTask?: TaskRow
 * }} ScheduleRow
 * @typedef {{
 *   at: string, startedAt: string, version: string, storeWritable: boolean,
 *   turns: {running: number, queued: number, waitingForTime: number, quarantined: number, slots: number}, states: Record<string, Count>,
 *   ended: Ended, deliveries: {waiting: number, givenUp: number},
 *   agents: {all: number, paused: number, leftOut: number, outdated: number}, schedules: number, connections: number, streams: number,
 *   oldestQueued?: TaskRow, oldestQuestion?: TaskRow
 * }} Overview
 * @typedef {{
 *   job: string, action: string, actor: string, reason: string, filter?: Record<string, unknown>, state: string,
 *   createdAt: string, tasks: number, done: number, refused: number
 * }} BulkJob
 * @typedef {BulkJob & {items: {task: string, outcome?: string, detail?: string}[], next?: string}} Bulk
 * @typedef {Record<string, string | number | undefined>} Query
 */

const base = "/operate/v1";
const place = "baton-token";

export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} message
   * @param {any} body
   */
  constructor(status, code, message, body) {
    super(message);
    this.status = status;
    this.code = code;
    this.body = body;
  }
}

/** The bearer token, in this tab's session storage alone. */
export const token = {
  get: () => sessionStorage.getItem(place) ?? "",
  /** @param {string} value */
  set: (value) => sessionStorage.setItem(place, value),
  forget: () => sessionStorage.removeItem(place),
};

/** Moves a token from the address (#token=...) to where it is kept. Returns whether there was one. */
export const takeToken = () => takeLink(token, whose);

/** @param {string} value */
async function whose(value) {
  const headers = { Authorization: `Bearer ${value}` };
  const answer = await fetch(`${base}/me`, { headers, credentials: "omit", cache: "no-store" }).catch(() => null);
  if (answer?.status === 401) return null;
  const said = answer?.ok ? await answer.json().catch(() => null) : null;
  return said ? `${said.actor} (${said.role})` : "";
}

/** @typedef {{headers: Record<string, string>, credentials: RequestCredentials}} Proof */

/** What shows the operator API who calls: the token, or else the session. @returns {Proof} */
export function proof() {
  const given = token.get();
  if (given || !signedIn().name) return { headers: { Authorization: `Bearer ${given}` }, credentials: "omit" };
  return { headers: csrf(), credentials: "same-origin" };
}

/** The same for agents, which know no sessions. @returns {Promise<Proof>} */
export async function agentProof() {
  const given = token.get() || (await pageToken());
  return { headers: { Authorization: `Bearer ${given}` }, credentials: "omit" };
}

/**
 * @param {string} path
 * @param {RequestInit} how
 */
async function call(path, how) {
  const { headers, credentials } = proof();
  const sent = { ...how, headers: { ...headers, ...how.headers }, credentials };
  const response = await fetch(base + path, { ...sent, cache: "no-store" }).catch(
    (error) => {
      if (error.name === "AbortError") throw error;
      throw new ApiError(0, "unreachable", "The server cannot be reached.", null);
    },
  );
  if (response.ok) return response;
  const text = await response.text();
  let body = null;
  try {
    body = JSON.parse(text);
  } catch {
    // The status says enough.
  }
  const error = body?.error ?? {};
  if (response.status === 401) dispatchEvent(new Event("signed-out"));
  const message = typeof error === "string" ? error : (error.message ?? (text.slice(0, 300) || response.statusText));
  throw new ApiError(response.status, error.code ?? `http_${response.status}`, message, body);
}

/** @param {Query} query */
function search(query) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") given.set(name, String(value));
  }
  const text = given.toString();
  return text ? `?${text}` : "";
}

/**
 * @param {string} path
 * @param {Query} [query]
 * @param {AbortSignal} [signal]
 */
export async function get(path, query = {}, signal) {
  return (await call(path + search(query), { signal })).json();
}

/**
 * @param {string} path
 * @param {object} body
 */
export async function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  return (await call(path, { method: "POST", headers, body: JSON.stringify(body) })).json();
}

/** @type {(signal?: AbortSignal) => Promise<Me>} */
export const me = (signal) => get("/me", {}, signal);
/** @type {(signal?: AbortSignal) => Promise<Overview>} */
export const overview = (signal) => get("/overview", {}, signal);
/** @type {(signal?: AbortSignal) => Promise<Agents>} */
export const agents = (signal) => get("/agents", {}, signal);
/** @type {(signal?: AbortSignal) => Promise<Nodes>} */
export const nodes = (signal) => get("/nodes", {}, signal);
/** @type {(signal?: AbortSignal) => Promise<{keys: ApiKey[]}>} */
export const apiKeys = (signal) => get("/keys", {}, signal);
/** @type {(signal?: AbortSignal) => Promise<{schedules: ScheduleRow[]}>} */
export const schedules = (signal) => get("/schedules", {}, signal);
/** @type {(query: Query, signal?: AbortSignal) => Promise<DeliveryPage>} */
export const deliveries = (query, signal) => get("/deliveries", query, signal);
/** @type {(query: Query, signal?: AbortSignal) => Promise<AuditPage>} */
export const audit = (query, signal) => get("/audit", query, signal);
/** @type {(signal?: AbortSignal) => Promise<{jobs: BulkJob[]}>} */
export const bulkJobs = (signal) => get("/bulk", {}, signal);
/** @type {(job: string, query: Query, signal?: AbortSignal) => Promise<Bulk>} */
export const bulk = (job, query, signal) => get(`/bulk/${encodeURIComponent(job)}`, query, signal);
/** @type {(query: Query, signal?: AbortSignal) => Promise<TaskPage>} */
export const tasks = (query, signal) => get("/tasks", query, signal);
/** @type {(key: string, signal?: AbortSignal) => Promise<TaskView>} */
export const task = (key, signal) => get(`/tasks/${encodeURIComponent(key)}`, {}, signal);
/** @type {(key: string, signal?: AbortSignal) => Promise<{turns: TraceTurn[], isCut?: boolean}>} */
export const trace = (key, signal) => get(`/tasks/${encodeURIComponent(key)}/trace`, {}, signal);
/** @type {(key: string, query: Query, signal?: AbortSignal) => Promise<EventPage>} */
export const events = (key, query, signal) => get(`/tasks/${encodeURIComponent(key)}/events`, query, signal);

/**
 * The events of a task's log after event `after`, until the task ends or the signal aborts.
 * @param {string} key
 * @param {number} after
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<TaskEvent>}
 */
export async function* follow(key, after, signal) {
  const path = `/tasks/${encodeURIComponent(key)}/events${search({ after })}`;
  const response = await call(path, { headers: { Accept: "text/event-stream" }, signal });
  if (!response.body) return;
  for await (const frame of frames(response.body)) yield JSON.parse(frame.data);
}

/**
 * A picture that needs the token, as the URL of a blob for an <img>; null if there is none.
 * @param {string} path
 * @param {AbortSignal} [signal]
 */
export async function picture(path, signal) {
  try {
    const response = await call(path, { signal, headers: { Accept: "image/svg+xml" } });
    return new Blob([await response.arrayBuffer()], { type: "image/svg+xml" });
  } catch (error) {
    if (error instanceof ApiError && error.status !== 401) return null;
    throw error;
  }
}
