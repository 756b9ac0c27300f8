// Following a task: sends a message or subscribes, and resumes after a lost connection without losing or repeating
// events.
import { Trouble, extension, isAbort, stateName, stream } from "./chat-api.js";

/**
 * Gets the events of a task, each once and in order.
 * @typedef {{
 *   whole: (task: import("./chat-api.js").Task) => void,
 *   status: (update: import("./chat-api.js").StatusUpdate) => void,
 *   artifact: (update: import("./chat-api.js").ArtifactUpdate) => void,
 *   message: (message: import("./chat-api.js").Message) => void,
 *   connected: (isConnected: boolean) => void,
 * }} Listener
 */

const pauseMostMs = 8000;
// How long buffered events are processed before the page may draw and handle input.
const workMostMs = 12;
const sendTries = 3;
const endStates = ["completed", "failed", "rejected", "canceled"];
const askStates = ["input-required", "auth-required"];

/** @param {string} state */
export const hasEnded = (state) => endStates.includes(state);
/** @param {string} state */
export const isAsking = (state) => askStates.includes(state);

/**
 * A pause that ends early once the network is back.
 * @param {number} ms
 * @param {AbortSignal} signal
 */
function pause(ms, signal) {
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer);
      removeEventListener("online", over);
      signal.removeEventListener("abort", over);
      resolve(undefined);
    };
    const timer = setTimeout(over, ms);
    addEventListener("online", over);
    signal.addEventListener("abort", over);
  });
}

const breath = () => new Promise((resolve) => setTimeout(resolve));

export class Follower {
  /**
   * @param {import("./chat-api.js").Agent} agent
   * @param {Listener} listener
   */
  constructor(agent, listener) {
    this.agent = agent;
    this.listener = listener;
    this.task = "";
    this.context = "";
    this.state = "";
    this.last = 0;
    this.isOver = false;
    /** @type {AbortController | null} */
    this.reading = null;
  }

  stop() {
    this.reading?.abort();
  }

  /**
   * Sends a message and follows its task. Resolves when the task has ended or `stop` was called; rejects if the
   * message was not accepted. The same message may be sent again: the server recognises its id.
   * @param {import("./chat-api.js").Message} message
   * @param {string} [ask] the id of the question that it answers, where several may be open
   */
  send(message, ask) {
    const metadata = ask ? { [extension]: { ask } } : undefined;
    return this.run((signal) => stream(this.agent, "SendStreamingMessage", { message, metadata }, { signal }));
  }

  /** Continues after the last known event, or from the beginning if there is none. */
  follow() {
    return this.run(null);
  }

  /** @param {AbortSignal} signal */
  subscription(signal) {
    return stream(this.agent, "SubscribeToTask", { id: this.task }, { signal, after: this.last });
  }

  /** @param {((signal: AbortSignal) => ReturnType<typeof stream>) | null} send null: only to subscribe */
  async run(send) {
    this.stop();
    const { signal } = (this.reading = new AbortController());
    let open = send;
    let rested = Date.now();
    for (let failures = 0; !signal.aborted; ++failures) {
      let isLost = false;
      try {
        for await (const { number, item } of open ? open(signal) : this.subscription(signal)) {
          if (signal.aborted) return;
          open = null;
          failures = number > 0 ? 0 : 1; // An item without a number is no stream: poll again after a pause.
          this.listener.connected(true);
          this.take(number, item);
          if (this.isOver) return;
          if (Date.now() - rested > workMostMs) {
            await breath();
            rested = Date.now();
          }
        }
      } catch (error) {
        if (signal.aborted || isAbort(error)) return;
        if (error instanceof Trouble && !error.passing) throw error;
        if (open && failures + 1 >= sendTries) {
          throw error instanceof Trouble ? error : new Trouble("The server cannot be reached.", { passing: true });
        }
        isLost = true;
      }
      // A send's stream ends where the agent asks a question; the subscription continues.
      if (failures === 0 && !open) continue;
      if (isLost) this.listener.connected(false);
      await pause(Math.min(500 * 2 ** failures, pauseMostMs), signal);
    }
  }

  /**
   * @param {number} number
   * @param {import("./chat-api.js").Item} item
   */
  take(number, { task, message, statusUpdate, artifactUpdate }) {
    if (task) {
      this.task = task.id;
      this.context = task.contextId;
    }
    if (number > 0 && number <= this.last) return;
    if (number > 0) this.last = number;
    if (task) {
      this.enter(task.status.state);
      this.listener.whole(task);
    } else if (statusUpdate) {
      this.enter(statusUpdate.status.state);
      this.listener.status(statusUpdate);
    } else if (artifactUpdate) {
      this.listener.artifact(artifactUpdate);
    } else if (message) {
      this.isOver = true;
      this.state = "completed";
      this.listener.message(message);
    }
  }

  /** @param {string} state */
  enter(state) {
    this.state = stateName(state);
    this.isOver = hasEnded(this.state);
  }
}
