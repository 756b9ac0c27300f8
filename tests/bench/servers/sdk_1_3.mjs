// An agent served with @a2a-js/sdk 1.3.0 and express, assembled like the SDK's own samples.
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from "a2a-sdk-10/server";
import { UserBuilder, agentCardHandler, jsonRpcHandler } from "a2a-sdk-10/server/express";
import { TaskState } from "a2a-sdk-10";
import { Deeds } from "./deeds.mjs";
import { serve, skills } from "./serve.mjs";

const states = {
  working: TaskState.TASK_STATE_WORKING,
  "input-required": TaskState.TASK_STATE_INPUT_REQUIRED,
  completed: TaskState.TASK_STATE_COMPLETED,
};
const statusOf = (state) => ({ state, timestamp: new Date().toISOString(), message: undefined });
const textPart = (value) => ({
  content: { $case: "text", value },
  metadata: undefined,
  filename: "",
  mediaType: "text/plain",
});

const shapes = {
  textOf: (message) => message.parts.find((part) => part.content?.$case === "text")?.content.value ?? "",
  task: ({ taskId, contextId }, message) =>
    AgentEvent.task({
      id: taskId,
      contextId,
      status: statusOf(TaskState.TASK_STATE_SUBMITTED),
      artifacts: [],
      history: [message],
      metadata: message.metadata,
    }),
  status: (names, state) =>
    AgentEvent.statusUpdate({ ...names, status: statusOf(states[state]), metadata: undefined }),
  artifact: (names, text, append, lastChunk) =>
    AgentEvent.artifactUpdate({
      ...names,
      artifact: {
        artifactId: "reply",
        name: "reply",
        description: "",
        parts: [textPart(text)],
        metadata: undefined,
        extensions: [],
      },
      append,
      lastChunk,
      metadata: undefined,
    }),
};

const card = (url) => ({
  name: "Echo",
  description: "Returns the message.",
  supportedInterfaces: [{ url, protocolBinding: "JSONRPC", tenant: "", protocolVersion: "1.0" }],
  provider: undefined,
  version: "1.0.0",
  documentationUrl: undefined,
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions: [] },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: skills.map((skill) => ({ ...skill, securityRequirements: [] })),
  signatures: [],
  iconUrl: undefined,
});

serve((app, url) => {
  const requestHandler = new DefaultRequestHandler(card(url), new InMemoryTaskStore(), new Deeds(shapes));
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
  app.use("/", jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
});
