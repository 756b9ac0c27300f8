// The SDK of the Model Context Protocol as servers of tools for a language model: its line 1 with sessions, and its line 2
// in both eras. The model's server is a script: it calls the tool that the user names, and then repeats the result.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer as Server1 } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { acceptedContent, createMcpHandler, inputRequired, McpServer as Server2 } from "@modelcontextprotocol/server";
import { z } from "zod";
import { Server } from "../lib/server.mjs";
import { versionOf } from "./kit.mjs";

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const text = (said) => ({ content: [{ type: "text", text: said }] });
const colour = { type: "object", properties: { colour: { type: "string", enum: ["red", "blue"] } }, required: ["colour"] };

// `schema`: a line's way to write the arguments of a tool.
function addTools(server, schema) {
  server.registerTool("echo", { inputSchema: schema({ text: z.string() }) }, async (given) => text(given.text));
  server.registerTool(
    "add",
    { inputSchema: schema({ a: z.number(), b: z.number() }), outputSchema: schema({ sum: z.number() }) },
    async ({ a, b }) => ({ content: [], structuredContent: { sum: a + b } }),
  );
  server.registerTool("picture", {}, async () => ({ content: [{ type: "image", data: png, mimeType: "image/png" }] }));
  server.registerTool("broken", {}, async () => {
    throw new Error("no paint");
  });
  return server;
}

function lineOne() {
  const sessions = new Map();
  return async (request, response) => {
    const body = request.method === "POST" ? await json(request) : undefined;
    let transport = sessions.get(request.headers["mcp-session-id"]);
    if (!transport) {
      if (body?.method !== "initialize") return response.writeHead(400).end();
      const onsessioninitialized = (id) => sessions.set(id, transport);
      transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized });
      const server = addTools(new Server1({ name: "one", version: "1.0.0" }), (shape) => shape);
      await server.connect(transport);
    }
    await transport.handleRequest(request, response, body);
  };
}

function lineTwo() {
  const handler = createMcpHandler(() => {
    const server = addTools(new Server2({ name: "two", version: "2.0.0" }), (shape) => z.object(shape));
    server.registerTool("ask", {}, async ({ mcpReq }) => {
      const answer = acceptedContent(mcpReq.inputResponses, "colour");
      if (answer) return text(`they like ${answer.colour}`);
      const asked = inputRequired.elicit({ message: "Which colour?", requestedSchema: colour });
      return inputRequired({ inputRequests: { colour: asked }, requestState: "asked" });
    });
    return server;
  });
  return toNodeHandler(handler);
}

// The user's message is a tool's name and its arguments. A result is answered with its text and its images' URLs.
async function answerAsModel(request, response) {
  const { messages } = await json(request);
  const result = messages.findLast(({ role }) => role === "tool")?.content;
  const last = messages.at(-1);
  const images = typeof last.content === "string" ? [] : last.content.flatMap((part) => part.image_url?.url ?? []);
  const [name, ...given] = typeof last.content === "string" ? last.content.split(" ") : [];
  const call = { index: 0, id: "call_1", type: "function", function: { name, arguments: given.join(" ") || "{}" } };
  const isResult = last.role === "tool" || images.length > 0;
  const delta = isResult ? { content: [result, ...images].join(" ") } : { tool_calls: [call] };
  const finish_reason = isResult ? "stop" : "tool_calls";
  const chunk = { id: "c", object: "chat.completion.chunk", model: "script", choices: [{ index: 0, delta, finish_reason }] };
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
}

async function listening(handler) {
  const server = createServer(handler).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}
const urlOf = (server) => `http://127.0.0.1:${server.address().port}`;

class Tools {
  #servers = [];

  constructor(handler) {
    this.handler = handler;
  }

  async start() {
    this.#servers = await Promise.all([listening(answerAsModel), listening(this.handler())]);
    const [model, tools] = this.#servers.map(urlOf);
    const baton = { executor: "openai", url: `${model}/v1`, model: { name: "script", mcp: [{ url: `${tools}/mcp` }] } };
    const skills = [{ id: "all", name: "All", description: "Calls tools.", tags: ["test"] }];
    const modes = { defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"] };
    const card = { name: "caller", description: "Calls tools.", version: "1", capabilities: {}, ...modes, skills, baton };
    this.near = new Server({ outbound: { origins: [model, tools] } }, ["desk"], { caller: card });
    await this.near.start();
  }
  async stop() {
    await this.near.stop();
    this.kill();
  }
  kill() {
    this.near?.kill();
    for (const server of this.#servers) {
      server.close();
      server.closeAllConnections();
    }
  }

  // Sends a message with these parts; returns the task.
  async send(parts, more = {}) {
    const message = { messageId: randomUUID(), role: "ROLE_USER", parts, ...more };
    const body = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } };
    const headers = { "Content-Type": "application/json", "A2A-Version": "1.0" };
    const answer = await fetch(this.near.base("caller"), { method: "POST", headers, body: JSON.stringify(body) });
    const { result, error } = await answer.json();
    assert.equal(error, undefined);
    return result.task;
  }
}

const said = (task) => (task.artifacts ?? []).flatMap(({ parts }) => parts.map((part) => part.text)).join("");
const calls = (operation, words, expected) => ({
  operation,
  run: async (tools) => {
    const task = await tools.send([{ text: words }]);
    assert.deepEqual([task.status.state, said(task)], ["TASK_STATE_COMPLETED", expected]);
  },
});

const cases = [
  calls("a tool's text", 'echo {"text":"grüß dich"}', "grüß dich"),
  calls("a structured result", 'add {"a":2,"b":3}', '{"sum":5}'),
  calls("an image", "picture", `[image image/png, 72 bytes] data:image/png;base64,${png}`),
  calls("a tool that fails", "broken", "error: the tool failed: no paint"),
];
const question = {
  operation: "a question and its answer",
  run: async (tools) => {
    const asked = await tools.send([{ text: "ask" }]);
    assert.equal(asked.status.state, "TASK_STATE_INPUT_REQUIRED");
    assert.equal(asked.status.message.parts[0].text, "Which colour?");
    const task = await tools.send([{ data: { colour: "red" } }], { taskId: asked.id, contextId: asked.contextId });
    assert.deepEqual([task.status.state, said(task)], ["TASK_STATE_COMPLETED", "they like red"]);
  },
};

const behind = (sdk, transport, handler, ...more) => ({
  sdk,
  protocol: "MCP",
  transport,
  api: "its server behind a model",
  chain: new Tools(handler),
  cases: [...cases, ...more],
});

export const servers = [
  behind(versionOf("@modelcontextprotocol/sdk"), "HTTP, 2025-11-25", lineOne),
  behind(versionOf("@modelcontextprotocol/server"), "HTTP, 2026-07-28", lineTwo, question),
];
