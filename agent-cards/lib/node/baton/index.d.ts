// Baton's line protocol for agents in Node: ../README.md is the page about it.

// Exactly one of `text`, `raw` (base64), `url` and `data` (any JSON).
export interface Part {
  text?: string;
  raw?: string;
  url?: string;
  data?: unknown;
  filename?: string;
  mediaType?: string;
  metadata?: Record<string, unknown>;
}

export interface Message {
  parts: Part[];
  messageId?: string;
  role?: 'ROLE_USER' | 'ROLE_AGENT';
  taskId?: string;
  contextId?: string;
  metadata?: Record<string, unknown>;
  extensions?: string[];
  referenceTaskIds?: string[];
}

// What may be said in a question, a note on progress, a last word or to another agent.
export type Words = string | Message;

export interface Artifact {
  parts: Part[];
  artifactId?: string;
  name?: string;
  description?: string;
  metadata?: Record<string, unknown>;
  extensions?: string[];
}

// What a turn's message belongs to.
export interface Task {
  id: string;
  contextId: string;
  state: string;
  metadata?: Record<string, unknown>;
}

// A task that a turn's message refers to.
export interface Reference {
  id: string;
  contextId: string;
  state: string;
  history: Message[];
  artifacts: Artifact[];
}

// A task that was delegated.
export interface ChildTask {
  id: string;
  status: { state: string; timestamp: string; message?: Message };
  contextId?: string;
  artifacts?: Artifact[];
  history?: Message[];
  metadata?: Record<string, unknown>;
}

// RFC 6902.
export type JsonPatch = { op: string; path: string; from?: string; value?: unknown }[];

// A file of a message. One that cannot be read as asked throws Reject, whose words are for the caller.
export class File {
  // Empty if the caller named none.
  readonly name: string;
  readonly mediaType: string;
  // Where the file is, if the caller sent no bytes. The library does not fetch it.
  readonly url?: string;
  bytes(): Buffer;
  text(): string;
  json(): any;
}

// The message that began the task.
export class Request {
  readonly message: Message;
  readonly text: string;
  readonly data: any;
  readonly files: File[];
}

// What of a function's answer is said: a string is text, another object the data of an artifact, and of what can be
// iterated over each piece, and what a generator returns. Iteration stops when the turn is canceled.
export type Answer = void | undefined | null | string | object;

// Answers turns until Baton closes the agent's input. Takes standard input and output for the protocol: what is
// printed goes to standard error, so to Baton's log.
export function agent(answer: (turn: Turn) => Answer | Promise<Answer>, options?: { lineMaxBytes?: number }): void;

// As Baton's own bound, unless the card's `line_max_bytes` says otherwise.
export const LINE_MAX_BYTES: number;

// Thrown where the turn is over: nothing of it runs any more. Let it pass.
export class Ended extends Error {}
// Thrown where the turn is to stop. What is uncaught ends it.
export class Canceled extends Error {}
// Throw one of these to fail or reject the turn: the text is shown to the caller. No paths, no stack traces.
export class Fail extends Error {}
export class Reject extends Error {}
// What was to be said does not fit into one line. A file this large is sent by its URL.
export class LineTooLong extends Error {}

// One run of the agent. When it is over, what says something throws Ended.
export class Turn {
  readonly id: string;
  readonly attempt: number;
  readonly agent: string;
  readonly task: Task;
  readonly message: Message;
  readonly history: Message[];
  readonly artifacts: Artifact[];
  readonly references: Reference[];
  readonly tools: { name?: string; description?: string; parameters?: unknown }[];
  readonly state: unknown;
  readonly metadata: Record<string, unknown>;
  readonly extensions: string[];
  readonly traceparent?: string;
  // The id of the agent's own question or client's tool call that the message answers.
  readonly answers?: string;
  // What children have answered that were delegated to about this message, by the delegations' ids.
  readonly results: Map<string, Result>;
  // What the message holds: its texts, joined by line ends; its first data, any JSON; its files.
  readonly text: string;
  readonly data: any;
  readonly files: File[];
  // The answer to this agent's question: its data, or else its text. Undefined if the message answers nothing.
  readonly answer: any;
  // The message that began the task: `message` itself, unless that is an answer or another later one.
  readonly request: Request;
  // The older name of `text`.
  readonly prompt: string;
  // What the client's tool gave back that an earlier turn has called.
  readonly toolResults: { id: string; content?: unknown; error?: string }[];

  // Aborts when the turn is to stop: for fetch, timers and child processes.
  readonly signal: AbortSignal;
  readonly canceled: boolean;
  // Throws Canceled if the turn is to stop.
  check(): void;
  // Rejects with Canceled as soon as the turn is to stop.
  sleep(ms: number): Promise<void>;

  // A piece of the reply; a piece of what the agent thinks aloud, which is no part of the reply.
  say(delta: string): void;
  reasoning(delta: string): void;
  // A number from 0 to 1, words, or both.
  progress(fraction?: number, message?: Words): void;
  // A result: `data` as a file (Uint8Array), a text (string) or JSON (anything else); or a file by its URL; or parts.
  // An artifact of the same id is replaced; `append` adds to it. The id is made of turn and name unless said.
  artifact(name?: string, data?: unknown, options?: {
    filename?: string; mediaType?: string; url?: string; parts?: Part[]; id?: string; description?: string;
    metadata?: Record<string, unknown>; append?: boolean; lastChunk?: boolean;
  }): void;
  // Tells that a tool is called. The agent runs it and says what came of it by the ToolCall. A name in `tools` is the
  // client's to run: that ends the turn, and the next one has `toolResults`.
  callTool(name: string, args?: Record<string, unknown>, options?: { id?: string }): ToolCall;
  // The state shared with the client's page, whole or as a change. `state` stays what came with the turn.
  setState(value: unknown): void;
  patchState(patch: JsonPatch): void;
  // A step of the work.
  step<T>(name: string, work: () => T | Promise<T>): Promise<T>;
  // Something to show beside the messages, whole or as a change of it.
  activity(id: string, kind: string, content?: Record<string, unknown>, options?: { patch?: JsonPatch }): void;
  custom(name: string, value?: unknown): void;
  // What was used of a model.
  usage(used: {
    provider?: string; model?: string; inputTokens?: number; outputTokens?: number; totalTokens?: number;
    reasoningTokens?: number; cachedInputTokens?: number;
  }): void;

  // Has another agent do a child task, or go on with a child (`task`) that has asked. `questions: 'mine'`: the child's
  // questions are results for this agent, and not put to the caller. `detach`: the child is on its own, and the result
  // is how it begins. A delegation whose result is in `results` already is not made again: a turn that goes on after
  // `wait`, or begins again, gets that result. The id is made of agent and message unless said, so that it is the same.
  delegate(agent: string, message: Words, options?: {
    id?: string; task?: string; questions?: 'mine' | 'caller'; detach?: boolean;
  }): Child;

  // Ends the turn until its children have stopped, unless they all have; those that are detached do not count. The
  // next turn has the same message: the function runs again from its start and gets the results there.
  wait(): void;
  // The answer is the message of the next turn, whose `answers` is the question's id.
  ask(message: Words, options?: { schema?: Record<string, unknown>; id?: string }): never;
  auth(message: Words, options?: { url?: string; id?: string }): never;
  done(message?: Words): never;
  fail(error: string): never;
  reject(reason?: string): never;
}

// A tool that the agent runs itself. Say what came of it, once.
export class ToolCall {
  readonly id: string;
  result(content: unknown): void;
  error(text: string): void;
}

// A task that this turn has delegated.
export class Child {
  readonly id: string;
  readonly agent: string;
  readonly detached: boolean;
  // Whether its result is here, so that `result` does not wait.
  readonly done: boolean;
  // Rejects with ChildFailed, with Canceled if the turn is, and with an Error after `timeout` milliseconds.
  result(options?: { timeout?: number }): Promise<Result>;
  // Answers the child's question, once its result is here; its next result is that of the Child returned.
  answer(message: Words, options?: { id?: string }): Child;
}

// What came of a delegation: the child's task, or an `error`, or both.
export class Result {
  readonly id: string;
  readonly task?: ChildTask;
  readonly error?: string;
  // Such as TASK_STATE_COMPLETED; empty if there is no child.
  readonly state: string;
  readonly artifacts: Artifact[];
  // What the child asks this agent.
  readonly question?: Message;
  // The child's reply, or else the text of its last message; the first data and the files of its artifacts.
  readonly text: string;
  readonly data: any;
  readonly files: File[];
}

// A child did not complete. Uncaught, it fails the turn with the agent's name and the child's own words.
export class ChildFailed extends Fail {
  readonly result: Result;
}
