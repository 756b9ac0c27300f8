// AG-UI: questions to the user: as interrupts, as calls of a client's tool, and in plain words.
import assert from "node:assert/strict";
import { callOf, finished, interruptsIn, saidIn, tool, wentWrong } from "./agui_tools.mjs";
import { byA2A, fresh, onlyTaskOf, script, textOf, untilState } from "./tools.mjs";

const approval = (client, world, options) => client.page(world.stage.base("approval"), options);
const stage = (client, world, options) => client.page(world.stage.base("stage"), options);
const talk = (client, world, options) => client.page(world.stage.base("talk"), options);

const resolved = ({ id }, payload) => ({ interruptId: id, status: "resolved", payload });

async function ask(page, text = "Delete the logs") {
  const events = await page.say(text).run();
  const [interrupt, ...more] = interruptsIn(events);
  assert.equal(more.length, 0);
  return { interrupt, events };
}

// A page after a reload: it knows the conversation, and no open interrupts.
const reloaded = (make, page, headers) =>
  make({ threadId: page.threadId, messages: structuredClone(page.messages), headers });

export const approve = {
  operation: "interrupt and resume",
  needs: "resume",
  async run(client, world) {
    const page = approval(client, world);
    const { interrupt, events } = await ask(page);
    assert.match(interrupt.message, /Shall I do this: "Delete the logs"/);
    assert.equal(interrupt.responseSchema.type, "object");
    assert.equal(saidIn(events), interrupt.message, "the question is visible as text");
    assert.equal(page.agent.pendingInterrupts.length, 1);
    assert.equal((await onlyTaskOf(world.stage, "approval", page.threadId)).state, "input-required");
    const resume = [resolved(interrupt, { approved: true })];
    assert.match(saidIn(finished(await page.run({ resume }))), /Done: Delete the logs/);
    assert.equal(page.agent.pendingInterrupts.length, 0);
    assert.equal((await onlyTaskOf(world.stage, "approval", page.threadId)).state, "completed");
  },
};

export const refuse = {
  operation: "interrupt refused",
  needs: "resume",
  async run(client, world) {
    const page = approval(client, world);
    const { interrupt } = await ask(page);
    wentWrong(await page.run({ resume: [resolved(interrupt, { approved: false })] }), /not approved/);
  },
};

export const cancel = {
  operation: "interrupt cancelled",
  needs: "resume",
  async run(client, world) {
    const page = stage(client, world);
    const { interrupt } = await ask(page, script({ type: "ask", message: "Which colour?" }));
    const events = await page.run({ resume: [{ interruptId: interrupt.id, status: "cancelled" }] });
    assert.equal(saidIn(finished(events)), 'The answer was [{"cancelled": true}]');
  },
};

export const words = {
  operation: "interrupt answered by words and by data",
  needs: "resume",
  async run(client, world) {
    for (const payload of ["blue", { colour: "blue", n: [1] }]) {
      const page = stage(client, world);
      const { interrupt } = await ask(page, script({ type: "ask", message: "Which colour?" }));
      const said = saidIn(finished(await page.run({ resume: [resolved(interrupt, payload)] })));
      assert.deepEqual(JSON.parse(said.slice("The answer was ".length)), [payload]);
    }
  },
};

export const fromA2A = {
  operation: "interrupt answered from A2A",
  needs: "resume",
  async run(client, world) {
    const page = approval(client, world);
    const { interrupt } = await ask(page);
    const { id } = await onlyTaskOf(world.stage, "approval", page.threadId);
    await byA2A(world.stage, "approval", async (a2a) => {
      const task = await a2a.send("yes", { taskId: id, blocking: true });
      assert.deepEqual([task.state, textOf(task)], ["completed", "Done: Delete the logs"]);
    });
    // The interrupt is closed now: the next message begins a new task, and a late answer is refused.
    const late = reloaded((options) => approval(client, world, options), page);
    wentWrong(await late.run({ resume: [resolved(interrupt, { approved: true })] }), /./);
    const next = reloaded((options) => approval(client, world, options), page);
    await ask(next, "Delete the backups");
  },
};

export const raisedByA2A = {
  operation: "interrupt raised by A2A, shown and answered by AG-UI",
  needs: "resume",
  async run(client, world) {
    const threadId = fresh();
    const { id } = await byA2A(world.stage, "approval", (a2a) =>
      a2a.send("Delete it", { contextId: threadId, blocking: true }),
    );
    const headers = { "Last-Event-ID": `${id}:0` };
    const page = approval(client, world, { threadId, headers });
    const [interrupt] = interruptsIn(await page.run());
    page.agent.headers = {};
    finished(await page.run({ resume: [resolved(interrupt, { approved: true })] }));
    assert.match(textOf(await untilState(world.stage, "approval", id, "completed")), /Done: Delete it/);
  },
};

export const open = {
  operation: "a run past an open interrupt is refused",
  needs: "resume",
  async run(client, world) {
    const page = approval(client, world);
    const { interrupt } = await ask(page);
    const fresher = () => reloaded((options) => approval(client, world, options), page);
    const refusals = [
      fresher().say("yes").run(),
      fresher().run({ resume: [{ interruptId: "unheard-of", status: "cancelled" }] }),
      fresher().run({ resume: [resolved(interrupt, { approved: "perhaps" })] }),
      fresher().run({ resume: [resolved(interrupt, { approved: true }), resolved({ id: "x" }, {})] }),
    ];
    for (const refused of refusals) {
      const events = await refused;
      wentWrong(events, /./);
      assert.ok(events.length <= 2, JSON.stringify(events));
    }
    assert.equal((await onlyTaskOf(world.stage, "approval", page.threadId)).state, "input-required");
    finished(await page.run({ resume: [resolved(interrupt, { approved: true })] }));
  },
};

export const twice = {
  operation: "the same answer twice is safe",
  needs: "resume",
  async run(client, world) {
    const page = approval(client, world);
    const { interrupt } = await ask(page);
    const resume = [resolved(interrupt, { approved: true })];
    const runId = fresh();
    const again = reloaded((options) => approval(client, world, options), page);
    const first = finished(await page.run({ runId, resume }));
    assert.deepEqual(await again.run({ runId, resume }), first);
    assert.equal((await onlyTaskOf(world.stage, "approval", page.threadId)).state, "completed");
  },
};

export const byTool = {
  operation: "asked by the client's own tool",
  async run(client, world) {
    const offered = { tools: [tool("confirmAction", { message: { type: "string" } })] };
    const schema = { type: "object", properties: { approved: { type: "boolean" } } };
    const page = talk(client, world).say(script("say Well:", { type: "ask", message: "Delete it?", schema }));
    finished(await page.run(offered));
    const call = callOf(page);
    assert.equal(call.name, "confirmAction");
    assert.equal(call.arguments.message, "Delete it?");
    assert.deepEqual(call.arguments.schema, schema);
    const said = saidIn(finished(await page.give(call.id, '{"approved":true}').run(offered)));
    assert.match(said, /^The answer was .*approved.*true/);
    assert.equal((await onlyTaskOf(world.stage, "talk", page.threadId)).state, "completed");
  },
};

export const inWords = {
  operation: "a plain message answers where the agent is configured so",
  async run(client, world) {
    const page = talk(client, world).say(script({ type: "ask", message: "Which colour?" }));
    assert.equal(saidIn(await page.run()), "Which colour?");
    const next = reloaded((options) => talk(client, world, options), page).say("blue");
    assert.equal(saidIn(finished(await next.run())), 'The answer was ["blue"]');
    await onlyTaskOf(world.stage, "talk", page.threadId);
  },
};

// After RUN_ERROR the official clients consider the interrupt open and require the next run to answer it.
export const afterError = {
  operation: "the thread continues after an answer that ended in an error",
  needs: "resume",
  async run(client, world) {
    const page = stage(client, world);
    const { interrupt } = await ask(page, script({ type: "ask", message: "Which colour?" }));
    await byA2A(world.stage, "stage", async (a2a) => {
      const { id } = await onlyTaskOf(world.stage, "stage", page.threadId);
      assert.equal((await a2a.cancel(id)).state, "canceled");
    });
    await assert.rejects(page.say("say next").run(), /pending interrupt/);
    const resume = [{ interruptId: interrupt.id, status: "cancelled" }];
    finished(await page.run({ resume }), "next");
    finished(await page.say("say last").run(), "last");
  },
};
