// AG-Kit, Agent API and Agent Server: client tools, and questions to the user.
import assert from "node:assert/strict";
import { at, done, said } from "./stream_tools.mjs";
import { byA2A, onlyTaskOf, script, tasksOf, textOf, toldIn } from "./tools.mjs";
import { framesOf } from "../lib/sse.mjs";

export const clientTool = {
  operation: "client tool round trip",
  needs: "clientTools",
  async run(client, world) {
    const conversation = client.conversation();
    const options = { agent: "tools", extra: client.tools("show_map") };
    const text = 'Please call show_map with {"city": "Zürich"}';
    const { calls } = done(client, await said(client, world, conversation, text, options));
    assert.deepEqual(
      calls.map((call) => [call.name, call.arguments, call.result]),
      [["show_map", { city: "Zürich" }, undefined]],
    );
    assert.equal((await onlyTaskOf(world.stage, "tools", conversation.id)).state, "input-required");
    const body = { ...conversation.give(calls[0].id, "The map is shown."), ...options.extra };
    const answer = conversation.read(await framesOf(at(client, world.stage, "tools"), body));
    done(client, answer, "The tool answered: The map is shown.");
    assert.equal((await onlyTaskOf(world.stage, "tools", conversation.id)).state, "completed");
  },
};

async function asked(client, world, text = "Delete the logs") {
  const conversation = client.conversation();
  const answer = await said(client, world, conversation, text, { agent: "approval" });
  assert.match(answer.text, /Shall I do this: "Delete the logs"\? \(yes\/no\)/);
  return { conversation, ...answer };
}

export const question = {
  operation: "a question, answered",
  needs: "questions",
  async run(client, world) {
    for (const [approved, text] of [
      [true, /Done: Delete the logs/],
      [false, /not approved/],
    ]) {
      const { conversation, question } = await asked(client, world);
      assert.ok(question?.id, "the question has an id");
      const body = conversation.answer(question, { approved });
      const answer = conversation.read(await framesOf(at(client, world.stage, "approval"), body));
      assert.match(`${answer.text} ${answer.error}`, text);
      const task = await onlyTaskOf(world.stage, "approval", conversation.id);
      assert.equal(task.state, approved ? "completed" : "rejected");
    }
  },
};

export const inWords = {
  operation: "a question, answered in words",
  async run(client, world) {
    const { conversation } = await asked(client, world);
    const answer = await said(client, world, conversation, "yes", { agent: "approval" });
    assert.match(done(client, answer).text, /Done: Delete the logs/);
    assert.equal((await onlyTaskOf(world.stage, "approval", conversation.id)).state, "completed");
    assert.equal((await tasksOf(world.stage, "approval", conversation.id)).length, 1);
  },
};

export const fromA2A = {
  operation: "a question, answered from A2A",
  async run(client, world) {
    const { conversation } = await asked(client, world);
    const { id } = await onlyTaskOf(world.stage, "approval", conversation.id);
    await byA2A(world.stage, "approval", async (a2a) => {
      const task = await a2a.send("yes", { taskId: id, blocking: true });
      assert.deepEqual([task.state, textOf(task)], ["completed", "Done: Delete the logs"]);
    });
    const next = await said(client, world, conversation, "Delete the logs", { agent: "approval" });
    assert.match(next.text, /Shall I do this/, "the next message begins anew");
  },
};

export const sameClientIds = {
  operation: "an agent that uses the id of a client's call again",
  needs: "clientTools",
  async run(client, world) {
    const conversation = client.conversation();
    const options = { extra: client.tools("show") };
    const text = script({ type: "tool-call", id: "c1", name: "show", arguments: {} });
    const shown = [];
    for (const round of ["first", "second"]) {
      const { calls } = done(client, await said(client, world, conversation, text, options));
      shown.push(calls[0].id);
      const body = { ...conversation.give(calls[0].id, round), ...options.extra };
      const answer = conversation.read(await framesOf(at(client, world.stage, "stage"), body));
      const [told] = toldIn(done(client, answer).text.slice("The answer was ".length));
      assert.deepEqual(told, { call: "c1", content: round }, "the agent hears its own id");
    }
    assert.equal(new Set(shown).size, 2, `ids are unique in the conversation: ${shown}`);
  },
};
