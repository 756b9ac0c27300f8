// Baton's line protocol for agents in Node. ../README.md describes it.

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

// The content of a question, a progress message, a final message or a message to another agent.
export type Words = string | Message;

export interface Artifact {
  parts: Part[];
  artifactId?: string;
  name?: string;
  description?: string;
  metadata?: Record<string, unknown>;
  extensions?: string[];
}

// The task of a turn's message.
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

// A file of a message. Its methods throw Reject, with a reason for the caller, if they cannot read the file.
export class File {
  // The file's name; empty if the caller gave none.
  readonly name: string;
  readonly mediaType: string;
  // The address of the file, if the caller sent no bytes. The library does not fetch it.
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

// A function's answer. A string is a piece of the reply, an object is the data of an artifact. Of an iterable each piece
// is sent, and a generator's return value. Iteration stops when the turn is canceled.
export type Answer = void | undefined | null | string | object;

// Answers turns until Baton closes the agent's input. Reserves standard input and output for the protocol: output that
// the agent prints goes to standard error, which is Baton's log.
export function agent(answer: (turn: Turn) => Answer | Promise<Answer>, options?: { lineMaxBytes?: number }): void;

// Baton's limit, unless the card sets another `line_max_bytes`.
export const LINE_MAX_BYTES: number;

// The turn is over. Do not catch it.
export class Ended extends Error {}
// The turn must stop. If uncaught, it ends the turn.
export class Canceled extends Error {}
// Throw one of these to fail or reject the task. The caller sees the text, so leave out paths and stack traces.
export class Fail extends Error {}
export class Reject extends Error {}
// A line of output is longer than the limit. Send a file of that size by its URL.
export class LineTooLong extends Error {}

// One run of the agent. Once it is over, methods that send output throw Ended.
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
  // The id of the question, or of the client's tool call, that the message answers.
  readonly answers?: string;
  // The results of the children that were delegated for this message, by the ids of the delegations.
  readonly results: Map<string, Result>;
  // The message's texts, joined by line ends; its first data, any JSON; its files.
  readonly text: string;
  readonly data: any;
  readonly files: File[];
  // The answer to this agent's question: its data, or else its text. Undefined if the message answers nothing.
  readonly answer: any;
  // The message that began the task. It is `message` itself, unless `message` came later, as an answer does.
  readonly request: Request;
  // The older name of `text`.
  readonly prompt: string;
  // The results of the client's tool that an earlier turn called.
  readonly toolResults: { id: string; content?: unknown; error?: string }[];

  // Aborts when the turn must stop. Pass it to fetch, timers and child processes.
  readonly signal: AbortSignal;
  readonly canceled: boolean;
  // Throws Canceled if the turn must stop.
  check(): void;
  // Rejects with Canceled as soon as the turn must stop.
  sleep(ms: number): Promise<void>;

  // Send a piece of the reply, and a piece of the agent's reasoning, which is not part of the reply.
  say(delta: string): void;
  reasoning(delta: string): void;
  // Reports progress: a number from 0 to 1, a message, or both.
  progress(fraction?: number, message?: Words): void;
  // Sends a result: `data` as a file (Uint8Array), a text (string) or JSON (any other type), a file by its URL, or parts.
  // It replaces an artifact of the same id; with `append` it is added to that. The default id is made of the turn's id
  // and the name.
  artifact(name?: string, data?: unknown, options?: {
    filename?: string; mediaType?: string; url?: string; parts?: Part[]; id?: string; description?: string;
    metadata?: Record<string, unknown>; append?: boolean; lastChunk?: boolean;
  }): void;
  // Reports a tool call. The agent runs the tool, and reports the result with the returned ToolCall. If the name is in
  // `tools`, the client runs the tool: the call ends the turn, and the next turn has `toolResults`.
  callTool(name: string, args?: Record<string, unknown>, options?: { id?: string }): ToolCall;
  // Send the state that is shared with the client's page, whole or as a change. The member `state` does not change.
  setState(value: unknown): void;
  patchState(patch: JsonPatch): void;
  // Marks a step of the work, and returns the result of `work`.
  step<T>(name: string, work: () => T | Promise<T>): Promise<T>;
  // Sends something to show beside the messages, whole or as a change of it.
  activity(id: string, kind: string, content?: Record<string, unknown>, options?: { patch?: JsonPatch }): void;
  custom(name: string, value?: unknown): void;
  // Reports the tokens that a model used.
  usage(used: {
    provider?: string; model?: string; inputTokens?: number; outputTokens?: number; totalTokens?: number;
    reasoningTokens?: number; cachedInputTokens?: number;
  }): void;

  // Starts a child task at another agent, or continues a child (`task`) that has asked. Returns at once. With
  // `questions: 'mine'` the child's questions are results for this agent; otherwise the caller answers them. With
  // `detach` the child is independent of this task, and its result is its first state. A delegation whose result is in
  // `results` is not repeated; its Child has that result. So a turn after `wait`, or another attempt, does not create
  // children twice. The default id is made of agent and message, so that it is the same each time.
  delegate(agent: string, message: Words, options?: {
    id?: string; task?: string; questions?: 'mine' | 'caller'; detach?: boolean;
  }): Child;

  // Ends the turn until its children have stopped. Returns if all have stopped. Detached children do not count. The next
  // turn has the same message: the function runs again from its start, with the results.
  wait(): void;
  // The answer is the message of the next turn, whose `answers` is the question's id.
  ask(message: Words, options?: { schema?: Record<string, unknown>; id?: string }): never;
  auth(message: Words, options?: { url?: string; id?: string }): never;
  done(message?: Words): never;
  fail(error: string): never;
  reject(reason?: string): never;
}

// A tool that the agent runs itself. Report its result or its error once.
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
  // True once the result has arrived, so that `result` does not wait.
  readonly done: boolean;
  // Rejects with ChildFailed if the child did not complete, with Canceled if the turn is canceled, and with an Error
  // after `timeout` milliseconds.
  result(options?: { timeout?: number }): Promise<Result>;
  // Answers the child's question, once its result has arrived. The returned Child has the child's next result.
  answer(message: Words, options?: { id?: string }): Child;
}

// The result of a delegation: the child's task, an `error`, or both.
export class Result {
  readonly id: string;
  readonly task?: ChildTask;
  readonly error?: string;
  // The child's state, such as TASK_STATE_COMPLETED. Empty if there is no child.
  readonly state: string;
  readonly artifacts: Artifact[];
  // The child's question to this agent.
  readonly question?: Message;
  // The child's reply, or else the text of its last message; the first data and the files of its artifacts.
  readonly text: string;
  readonly data: any;
  readonly files: File[];
}

// A child did not complete. If uncaught, fails the turn with the agent's name and the child's error.
export class ChildFailed extends Fail {
  readonly result: Result;
}
