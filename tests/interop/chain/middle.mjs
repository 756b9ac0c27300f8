// An agent in the middle of a chain, made with the official SDK: forwards each message to the agent at FAR with the
// SDK's own client, and relays the answer. Its tasks are only in memory and are lost by a restart.
import { createServer } from "node:http";
import express from "express";

export const skills = [{ id: "relay", name: "Relay", description: "Asks another agent.", tags: ["relay"] }];
export const far = process.env.FAR;

// `sdk` hides how a version of the SDK represents messages and calls the far agent.
export class Relay {
  #there = new Map(); // our task: the far agent's task

  constructor(sdk) {
    this.sdk = sdk;
  }

  async execute(context, bus) {
    const { sdk } = this;
    const names = { taskId: context.taskId, contextId: context.contextId };
    const first = context.task ? sdk.again?.(context.task) : sdk.task(names, context.userMessage);
    if (first) bus.publish(first);
    for await (const item of sdk.stream(context.userMessage, names.contextId, this.#there.get(names.taskId))) {
      const id = sdk.taskIn(item);
      if (id) this.#there.set(names.taskId, id);
      for (const event of sdk.events(item, names)) bus.publish(event);
    }
    bus.finished();
  }

  cancelTask = async (taskId) => {
    await this.sdk.cancel(this.#there.get(taskId));
  };
}

// Listens on the caller's port, so that a restarted agent can take the place of the former one.
export function serve(install) {
  const app = express();
  app.use(express.json({ limit: "8mb" }));
  const server = createServer(app);
  server.listen({ port: Number(process.env.PORT ?? 0), host: "127.0.0.1" }, () => {
    const url = `http://127.0.0.1:${server.address().port}`;
    install(app, `${url}/`);
    console.log(`listening on ${url}`);
  });
}
