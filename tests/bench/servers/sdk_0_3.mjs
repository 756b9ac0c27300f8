// An agent served with @a2a-js/sdk 0.3.14 and express, assembled like the SDK's own samples.
import { DefaultRequestHandler, InMemoryTaskStore } from "a2a-sdk-03/server";
import { UserBuilder, agentCardHandler, jsonRpcHandler } from "a2a-sdk-03/server/express";
import { Deeds } from "./deeds.mjs";
import { serve, skills } from "./serve.mjs";

const statusOf = (state) => ({ state, timestamp: new Date().toISOString() });

const shapes = {
  textOf: (message) => message.parts.find((part) => part.kind === "text")?.text ?? "",
  task: ({ taskId, contextId }, message) => ({
    kind: "task",
    id: taskId,
    contextId,
    status: statusOf("submitted"),
    history: [message],
    metadata: message.metadata,
  }),
  status: (names, state) => ({
    kind: "status-update",
    ...names,
    status: statusOf(state),
    final: state !== "working",
  }),
  artifact: (names, text, append, lastChunk) => ({
    kind: "artifact-update",
    ...names,
    artifact: { artifactId: "reply", name: "reply", parts: [{ kind: "text", text }] },
    append,
    lastChunk,
  }),
};

const card = (url) => ({
  name: "Echo",
  description: "Returns the message.",
  url,
  preferredTransport: "JSONRPC",
  version: "1.0.0",
  protocolVersion: "0.3.0",
  capabilities: { streaming: true, pushNotifications: false },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills,
});

serve((app, url) => {
  const requestHandler = new DefaultRequestHandler(card(url), new InMemoryTaskStore(), new Deeds(shapes));
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
  app.use("/", jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
});
