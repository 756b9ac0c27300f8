// Shared by several cases of the chat protocols.
import assert from "node:assert/strict";
import { polled, using } from "../cases/tools.mjs";
import { v10 } from "../clients/v10.mjs";

export { fresh, textOf } from "../cases/tools.mjs";

// Runs with a client of A2A 1.0 that looks at the agent's tasks.
export const byA2A = (server, agent, run, options = {}) => using(v10[0], server.base(agent), options, run);

// Returns the tasks of a conversation, oldest first.
export const tasksOf = (server, agent, contextId, options) =>
  byA2A(
    server,
    agent,
    async (client) => (await client.list({ contextId, includeArtifacts: true, historyLength: 100 })).tasks.reverse(),
    options,
  );

export async function onlyTaskOf(server, agent, contextId, options) {
  const tasks = await tasksOf(server, agent, contextId, options);
  assert.equal(tasks.length, 1, `tasks in ${contextId}: ${JSON.stringify(tasks)}`);
  return tasks[0];
}

export const untilState = (server, agent, id, ...states) =>
  byA2A(server, agent, (client) => polled(client, id, ...states));

// A line of the stage's script that is a line of the protocol.
export const line = (value) => JSON.stringify(value);
export const script = (...lines) => lines.map((each) => (typeof each === "string" ? each : line(each))).join("\n");

// Returns the output of the stage's `told`.
export const toldIn = (text) => JSON.parse(text);

export const longText = "Größe 大きさ размер 🙂\r\n\tdata: x\u2028\n\n".repeat(3000);
