// A program on a database for the operator's walk, created by tests/e2e/operator_walk.py.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { patience, within } from "../../interop/lib/bounds.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const maker = join(here, "../../e2e/operator_walk.py");

export class Office {
  #process;
  #lines;

  // `healthy` is the minimum number of healthy tasks, `each` the number of tasks broken in each way.
  async start(healthy, each) {
    this.#process = spawn("/usr/bin/python3", [maker, String(healthy), String(each)], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#lines = createInterface({ input: this.#process.stdout });
    const [line] = await within(5 * patience, "the office", once(this.#lines, "line"));
    Object.assign(this, JSON.parse(line));
    return this;
  }

  /** Returns the address of a view, with a token that signs in. */
  view(path = "", role = "operator") {
    return `${this.url}/console${path}#token=${this[role]}`;
  }

  async api(path) {
    const headers = { Authorization: `Bearer ${this.operator}` };
    const response = await fetch(`${this.url}/operate/v1${path}`, { headers });
    if (!response.ok) throw new Error(`${path}: HTTP ${response.status} ${await response.text()}`);
    return response.json();
  }

  // Sends a text to the agent `office` as a caller.
  async send(text) {
    const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] };
    const response = await fetch(`${this.url}/agents/office`, {
      method: "POST",
      headers: { Authorization: `Bearer ${this.caller}`, "Content-Type": "application/json", "A2A-Version": "1.0" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } }),
    });
    const { error } = await response.json();
    if (error) throw new Error(error.message);
  }

  // Repairs a cause outside of Baton.
  async repair(cause) {
    const repaired = once(this.#lines, "line");
    this.#process.stdin.write(`${cause}\n`);
    await within(patience, "the repair", repaired);
  }

  /** Stops the program, if it was started. */
  async stop() {
    if (!this.#process) return;
    const ended = once(this.#process, "exit");
    this.#process.stdin.end();
    await within(patience, "the office to close", ended);
  }
}
