// The agent in the middle with @a2a-js/sdk 1.3.0.
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from "a2a-sdk-10/server";
import { ClientFactory } from "a2a-sdk-10/client";
import { TaskState } from "a2a-sdk-10";
import { UserBuilder, agentCardHandler, jsonRpcHandler } from "a2a-sdk-10/server/express";
import { far, Relay, serve, skills } from "./middle.mjs";

const client = await new ClientFactory().createFromUrl(far);

const sdk = {
  task: ({ taskId, contextId }, message) =>
    AgentEvent.task({
      id: taskId,
      contextId,
      status: { state: TaskState.TASK_STATE_SUBMITTED, timestamp: new Date().toISOString(), message: undefined },
      artifacts: [],
      history: [message],
      metadata: undefined,
    }),
  again: (task) => AgentEvent.task(task), // still waiting; the SDK requires a task as the first event
  stream: ({ messageId, role, parts }, contextId, taskId) =>
    client.sendMessageStream({
      tenant: "",
      message: {
        messageId,
        role,
        parts,
        contextId: taskId ? "" : contextId,
        taskId: taskId ?? "",
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
      },
      configuration: undefined,
      metadata: undefined,
    }),
  taskIn: ({ payload }) => (payload.$case === "task" ? payload.value.id : payload.value.taskId),
  *events({ payload: { $case, value } }, names) {
    if ($case === "statusUpdate") return yield AgentEvent.statusUpdate({ ...value, ...names });
    if ($case === "artifactUpdate") return yield AgentEvent.artifactUpdate({ ...value, ...names });
    for (const artifact of value.artifacts ?? []) {
      yield AgentEvent.artifactUpdate({ ...names, artifact, append: false, lastChunk: false, metadata: undefined });
    }
    if ($case !== "task" || value.status.state === TaskState.TASK_STATE_SUBMITTED) return;
    yield AgentEvent.statusUpdate({ ...names, status: value.status, metadata: undefined });
  },
  cancel: (id) => client.cancelTask({ tenant: "", id, metadata: undefined }),
};

const card = (url) => ({
  name: "Middle",
  description: "Asks another agent.",
  supportedInterfaces: [{ url, protocolBinding: "JSONRPC", tenant: "", protocolVersion: "1.0" }],
  provider: undefined,
  version: "1.0.0",
  documentationUrl: undefined,
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions: [] },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: skills.map((skill) => ({
    ...skill,
    examples: [],
    inputModes: ["text/plain"],
    outputModes: ["text/plain"],
    securityRequirements: [],
  })),
  signatures: [],
  iconUrl: undefined,
});

serve((app, url) => {
  const requestHandler = new DefaultRequestHandler(card(url), new InMemoryTaskStore(), new Relay(sdk));
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
  app.use("/", jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
});
