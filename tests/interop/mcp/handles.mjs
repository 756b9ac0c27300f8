// The released client of MCP's tasks extension: calls that are handles. It sends requests of its own, because the SDK's
// client does not know the extension.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createTaskSessionFromClient, resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client";
import { patience, waitFor, within } from "../lib/bounds.mjs";
import { Kit, versionOf } from "./kit.mjs";

const protocolVersion = "2026-07-28";
const clientInfo = { name: "baton-interop", version: "1.0.0" };
const clientCapabilities = { elicitation: { form: {} }, extensions: { "io.modelcontextprotocol/tasks": {} } };

// Calls `act` with a session of tasks, and the methods that it has used.
async function using({ server }, onInputRequest, act) {
  const url = new URL("/mcp", server.base());
  const used = [];
  const rawDispatch = async (request, options) => {
    const { method, params } = request;
    used.push(method);
    const name = params.name ?? params.taskId;
    const headers = {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": protocolVersion,
      "Mcp-Method": method,
      "Mcp-Name": name,
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: used.length, ...request });
    return (await fetch(url, { method: "POST", headers, body, signal: options?.signal })).json();
  };
  const mode = { pin: protocolVersion };
  const client = new Client(clientInfo, { capabilities: clientCapabilities, versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(url));
  const v2RequestFraming = { protocolVersion, clientInfo, clientCapabilities };
  const session = createTaskSessionFromClient(client, { endpointId: "kit", rawDispatch, v2RequestFraming, onInputRequest });
  try {
    await within(patience, "the handle's end", act(session, used));
  } finally {
    await session.close();
    await client.close();
  }
}

const noInput = async () => assert.fail("it asked");
const textOf = ({ outcome }) => resultFromTaskOutcome(outcome).content[0].text;

export const handles = {
  sdk: versionOf("@modelcontextprotocol/ext-tasks"),
  protocol: "MCP",
  transport: `HTTP, ${protocolVersion}`,
  api: "its client of tasks",
  chain: new Kit(),
  cases: [
    {
      operation: "a long call is a handle, which is polled to its end",
      run: (kit) =>
        using(kit, noInput, async (session, used) => {
          const gate = randomUUID();
          const call = await session.callTool("held", { gate });
          assert.equal(call.kind, "task");
          kit.server.open(gate, "held");
          assert.equal((await call.settle()).outcome.status, "completed");
          assert.ok(used.includes("tasks/get"));
        }),
    },
    {
      operation: "a handle's question is answered",
      run: (kit) => {
        const answer = async ({ params }) => {
          assert.equal(params.message, "Please provide your information");
          return { action: "accept", content: { username: "ann", email: "ann@example.com" } };
        };
        return using(kit, answer, async (session, used) => {
          const call = await session.callTool("test_elicitation", {});
          assert.equal(textOf(await call.settle()), "User response: accepted");
          assert.ok(used.includes("tasks/update"));
        });
      },
    },
    {
      operation: "a canceled handle is a canceled task",
      run: (kit) =>
        using(kit, noInput, async (session) => {
          const call = await session.callTool("slow_compute", { seconds: 60, label: "canceled handle" });
          await call.cancel();
          assert.equal((await call.settle()).outcome.status, "cancelled");
          const task = new URL(`tasks/${call.handle.taskId}`, kit.server.base("slow_compute"));
          const now = async () => (await fetch(task, { headers: { "A2A-Version": "1.0" } })).json();
          await waitFor("the cancel", async () => (await now()).status.state === "TASK_STATE_CANCELED");
        }),
    },
  ],
};
