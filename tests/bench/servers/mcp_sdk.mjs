// A tool served with @modelcontextprotocol/sdk over streamable HTTP, without sessions, as its documentation shows.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";
import { serve } from "./serve.mjs";

function server() {
  const made = new McpServer({ name: "echo", version: "1.0.0" });
  const tool = { description: "Returns the message.", inputSchema: { message: z.string() } };
  made.registerTool("inproc", tool, ({ message }) => ({ content: [{ type: "text", text: message }] }));
  return made;
}

serve((app) => {
  app.post("/mcp", async (request, response) => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
    const own = server();
    response.on("close", () => {
      transport.close();
      own.close();
    });
    await own.connect(transport);
    await transport.handleRequest(request, response, request.body);
  });
});
