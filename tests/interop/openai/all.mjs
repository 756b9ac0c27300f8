// The official client of OpenAI's API and the AI SDK with its provider, as clients of the agents. Both need a newer Node
// than these tests do, so each case runs in a process of its own (play.mjs), with the one that npm has brought.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { patience, scaled } from "../lib/bounds.mjs";
import { Server } from "../lib/server.mjs";
import { node, versionOf } from "../mcp/kit.mjs";
import { operations } from "./operations.mjs";

const here = dirname(fileURLToPath(import.meta.url));

class Models {
  server = new Server({}, ["stage", "quiet"]);

  start() {
    return this.server.start();
  }
  stop() {
    return this.server.stop();
  }
  kill() {
    this.server.kill();
  }
}

const play = ({ server }, client, operation) =>
  new Promise((resolve, reject) => {
    const words = [join(here, "play.mjs"), client, operation, `${server.base()}v1`, join(server.agents, "stage")];
    execFile(node, words, { timeout: scaled(4 * patience) }, (error, output, errors) => {
      error ? reject(new Error(`${output}${errors}` || error.message)) : resolve();
    });
  });

const client = (name, transport) => ({
  sdk: versionOf(name),
  protocol: "OpenAI",
  transport,
  api: name,
  onlyInEverything: true,
  chain: new Models(),
  cases: operations[name].map((operation) => ({ operation, run: (chain) => play(chain, name, operation) })),
});

export const models = [client("openai", "HTTP"), client("@ai-sdk/openai", "HTTP")];
assert.ok(models.every(({ cases }) => cases.length > 0));
