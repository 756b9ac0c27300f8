// The command line of the released MCP Inspector, with a token, at the paths of all tools and of one agent's.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { patience, scaled } from "../lib/bounds.mjs";
import { Server } from "../lib/server.mjs";
import { Kit, node, packages, versionOf } from "./kit.mjs";

const name = "@modelcontextprotocol/inspector-cli";
const token = "secret-of-ann";
const withToken = ["--header", `Authorization: Bearer ${token}`];

// Runs the Inspector. It starts another `node`, from the PATH, and finds its package.json only from its own folder.
function run({ server }, path, method, words, headers = withToken) {
  const cwd = join(packages, name, "build");
  const all = ["cli.js", "--cli", new URL(path, server.base()).href, "--method", method, ...words, ...headers];
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
  return new Promise((resolve) => {
    execFile(node, all, { cwd, env, timeout: scaled(patience) }, (error, output, errors) => {
      resolve({ code: error ? error.code : 0, output, errors });
    });
  });
}

// Returns the result that it printed.
async function resultOf(...call) {
  const { code, output, errors } = await run(...call);
  assert.equal(code, 0, errors);
  return JSON.parse(output);
}

async function assertRefused(words, ...call) {
  const { code, output, errors } = await run(...call);
  assert.deepEqual({ code, output }, { code: 1, output: "" });
  assert.ok(errors.includes(words), errors);
}

const call = (chain, path, ...args) =>
  resultOf(chain, path, "tools/call", ["--tool-name", "desk", "--tool-arg", ...args]);
const unknown = "MCP error -32602: name: there is no such tool";

const cases = {
  "tools are listed": async (chain, path) => {
    const { tools } = await resultOf(chain, path, "tools/list", []);
    assert.deepEqual(tools.map((tool) => tool.name), path === "/mcp" ? ["desk", "quiet"] : ["desk"]);
    assert.equal(tools[0].inputSchema.properties.message.type, "string");
  },
  "a tool is called": async (chain, path) => {
    const { content, structuredContent, isError } = await call(chain, path, "message=echo hello you");
    const [said, ids] = content;
    assert.deepEqual(said, { type: "text", text: "hello you" });
    assert.deepEqual(structuredContent, { text: said.text, ...JSON.parse(ids.text) });
    assert.equal(structuredContent.state, "completed");
    assert.equal(isError, undefined);
  },
  "a failed task is a result": async (chain, path) => {
    const { content, structuredContent, isError } = await call(chain, path, "message=fail");
    assert.equal(content[0].text, "It broke.");
    assert.equal(structuredContent.state, "failed");
    assert.equal(isError, true);
  },
  "a linked file is read": async (chain, path) => {
    const [mimeType, blob] = ["application/octet-stream", "AAEC"];
    const files = JSON.stringify([{ name: "a.bin", mimeType, data: blob }]);
    const { content } = await call(chain, path, "message=mirror", `files=${files}`);
    const [{ type, uri, size }] = content;
    assert.deepEqual({ type, size }, { type: "resource_link", size: 3 });
    const { contents } = await resultOf(chain, path, "resources/read", ["--uri", uri]);
    assert.deepEqual(contents, [{ uri, mimeType, blob }]);
  },
  "a tool that does not exist is refused": (chain, path) =>
    assertRefused(unknown, chain, path, "tools/call", ["--tool-name", "nobody"]),
  "a caller without a token is refused": (chain, path) =>
    assertRefused("a valid bearer token is required", chain, path, "tools/list", [], []),
};

export const inspector = {
  sdk: versionOf(name),
  protocol: "MCP",
  transport: "HTTP, 2025-11-25",
  api: "the Inspector",
  onlyInEverything: true,
  chain: new Kit(new Server({ tokens: [{ caller: "ann", token }] }, ["desk", "quiet"])),
  cases: Object.entries(cases).flatMap(([operation, run]) =>
    ["/mcp", "/agents/desk/mcp"].map((path) => ({
      operation: `${operation} at ${path}`,
      run: (chain) => run(chain, path),
    })),
  ),
};
