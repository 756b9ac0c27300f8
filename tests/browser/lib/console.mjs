// A program with an operator, a viewer and a caller, and the tasks for the console to show.
import { patience, waitFor } from "../../interop/lib/bounds.mjs";
import { Server } from "../../interop/lib/server.mjs";

export const tokens = { caller: "ann-secret", viewer: "vera-secret", operator: "otto-secret" };

/** Waits until the page has kept the token of its address: before, another address would lose it. */
export const isKept = (page) => page.waitForURL((url) => !url.hash.includes("token="));

const config = {
  tokens: [
    { caller: "ann", token: tokens.caller },
    { caller: "vera", token: tokens.viewer, role: "viewer" },
    { caller: "otto", token: tokens.operator, role: "operator" },
  ],
};

export class ConsoleServer extends Server {
  constructor() {
    super(config, ["lab", "approval", "table-report", "analyst", "quarterly"]);
  }

  /** Returns the address of a view, with a token that signs in. */
  view(path, role = "operator") {
    return `http://${this.address}/console${path}#token=${tokens[role]}`;
  }

  async api(method, path, body) {
    const response = await fetch(`http://${this.address}/operate/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${tokens.operator}`, "Content-Type": "application/json" },
      body: body && JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${path}: HTTP ${response.status} ${await response.text()}`);
    return response.json();
  }

  // Sends a text as the caller, and returns the new task's key once the task is in this state.
  async made(text, state, agent = "lab") {
    const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] };
    const params = { message, configuration: { returnImmediately: true } };
    const response = await fetch(this.base(agent), {
      method: "POST",
      headers: { Authorization: `Bearer ${tokens.caller}`, "Content-Type": "application/json", "A2A-Version": "1.0" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params }),
    });
    const { result, error } = await response.json();
    if (error) throw new Error(error.message);
    return this.found(result.task.contextId, state);
  }

  // Returns the key of the context's task once the task is in this state.
  async found(context, state) {
    const found = await waitFor(
      `a task of ${context} to be ${state}`,
      async () => {
        const { tasks } = await this.api("GET", `/tasks?context=${encodeURIComponent(context)}`);
        return tasks.find((task) => task.state === state);
      },
      4 * patience, // one of the cases makes very many events
    );
    return found.key;
  }
}
