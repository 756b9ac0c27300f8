// The released SDKs of the Model Context Protocol as clients: of the line 1, and of the line 2 in both eras.
import assert from "node:assert/strict";
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { waitFor } from "../lib/bounds.mjs";
import { Kit, versionOf } from "./kit.mjs";

const info = { name: "baton-interop", version: "1.0.0" };
const capabilities = { elicitation: {} };

async function connected(client, transport) {
  await client.connect(transport);
  return client;
}

const first = async (url, answer) => {
  const client = new Client1(info, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, answer);
  await connected(client, new Transport1(url));
  const { callTool } = client;
  client.callTool = (params, options) => callTool.call(client, params, undefined, options);
  return client;
};
const second = (mode) => async (url, answer) => {
  const client = new Client2(info, { capabilities, versionNegotiation: { mode } });
  client.setRequestHandler("elicitation/create", answer);
  return connected(client, new Transport2(url));
};

const declined = async () => ({ action: "decline" });

// Calls `act` with a connected client.
async function using({ connect }, { server }, answer, act) {
  const client = await connect(new URL("/mcp", server.base()), answer);
  try {
    return await act(client);
  } finally {
    await client.close();
  }
}

const cases = {
  "tools are listed and called": (one, kit) =>
    using(one, kit, declined, async (client) => {
      const { tools } = await client.listTools();
      assert.ok(tools.some((tool) => tool.name === "greet"));
      const { content, structuredContent } = await client.callTool({ name: "greet", arguments: { name: "you" } });
      const [said, ids] = content;
      assert.deepEqual(said, { type: "text", text: "Hello, you!" });
      assert.deepEqual(structuredContent, { text: said.text, ...JSON.parse(ids.text) });
      assert.equal(structuredContent.state, "completed");
    }),
  "a question is answered within the call": async (one, kit) => {
    let asked;
    const answer = async ({ params }) => {
      asked = params.message;
      return { action: "accept", content: { username: "ann", email: "ann@example.com" } };
    };
    const { content } = await using(one, kit, answer, (client) =>
      client.callTool({ name: "test_elicitation", arguments: {} }),
    );
    assert.equal(asked, "Please provide your information");
    assert.equal(content[0].text, "User response: accepted");
  },
  "progress is the agent's": async (one, kit) => {
    const told = [];
    await using(one, kit, declined, (client) =>
      client.callTool(
        { name: "test_tool_with_progress", arguments: {} },
        { onprogress: ({ progress, total }) => told.push([progress, total]) },
      ),
    );
    assert.deepEqual(told, [[0, 100], [50, 100], [100, 100]]);
  },
  "an aborted call cancels its task": (one, kit) =>
    using(one, kit, declined, async (client) => {
      const abort = new AbortController();
      const label = `aborted by ${one.sdk} ${one.transport}`;
      const call = client
        .callTool({ name: "slow_compute", arguments: { seconds: 60, label } }, { signal: abort.signal })
        .then(() => assert.fail("the call ended"), () => {});
      const tasks = async () => {
        const url = new URL("tasks?historyLength=10", kit.server.base("slow_compute"));
        return (await (await fetch(url, { headers: { "A2A-Version": "1.0" } })).json()).tasks;
      };
      const isIt = ({ history }) => JSON.stringify(history).includes(label);
      const { id, status } = await waitFor("the task", async () => (await tasks()).find(isIt));
      assert.notEqual(status.state, "TASK_STATE_CANCELED");
      abort.abort();
      await call;
      const now = async () => (await tasks()).find((task) => task.id === id).status.state;
      await waitFor("the cancel", async () => (await now()) === "TASK_STATE_CANCELED");
    }),
};

const client = (sdk, transport, connect) => {
  const one = { sdk, transport, connect };
  const own = Object.entries(cases).map(([operation, run]) => ({ operation, run: (kit) => run(one, kit) }));
  return { sdk, protocol: "MCP", transport, api: "its client", chain: new Kit(), cases: own };
};

export const clients = [
  client(versionOf("@modelcontextprotocol/sdk"), "HTTP, 2025-11-25", first),
  client(versionOf("@modelcontextprotocol/client"), "HTTP, 2025-11-25", second("legacy")),
  client(versionOf("@modelcontextprotocol/client"), "HTTP, 2026-07-28", second("auto")),
];
