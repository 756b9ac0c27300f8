// The agent in the middle with @a2a-js/sdk 0.3.14.
import { ClientFactory } from "a2a-sdk-03/client";
import { DefaultRequestHandler, InMemoryTaskStore } from "a2a-sdk-03/server";
import { UserBuilder, agentCardHandler, jsonRpcHandler } from "a2a-sdk-03/server/express";
import { cardOf } from "../lib/card_0_3.mjs";
import { far, Relay, serve, skills } from "./middle.mjs";

const client = await new ClientFactory().createFromUrl(far);

const sdk = {
  task: ({ taskId, contextId }, message) => ({
    kind: "task",
    id: taskId,
    contextId,
    status: { state: "submitted", timestamp: new Date().toISOString() },
    history: [message],
  }),
  stream: ({ messageId, parts }, contextId, taskId) =>
    client.sendMessageStream({
      message: { kind: "message", role: "user", messageId, parts, ...(taskId ? { taskId } : { contextId }) },
    }),
  taskIn: (item) => (item.kind === "task" ? item.id : item.taskId),
  *events(item, names) {
    if (item.kind === "status-update" || item.kind === "artifact-update") return yield { ...item, ...names };
    for (const artifact of item.artifacts ?? []) yield { kind: "artifact-update", ...names, artifact };
    if (item.kind !== "task" || item.status.state === "submitted") return;
    yield { kind: "status-update", ...names, status: item.status, final: item.status.state !== "working" };
  },
  cancel: (id) => client.cancelTask({ id }),
};

const card = (url) => cardOf(url, "Middle", "Asks another agent.", skills);

serve((app, url) => {
  const requestHandler = new DefaultRequestHandler(card(url), new InMemoryTaskStore(), new Relay(sdk));
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
  app.use("/", jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
});
