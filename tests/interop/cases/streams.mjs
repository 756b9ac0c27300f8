import assert from "node:assert/strict";
import { Proxy } from "../lib/proxy.mjs";
import {
  assembled,
  collect,
  fresh,
  heldTask,
  holding,
  lastState,
  nextOf,
  refused,
  textOf,
  using,
  withDesk,
} from "./tools.mjs";

// `final` marks the last status before 1.0; the 1.0 views have no such mark.
function checkFinal(events) {
  const marks = events
    .filter((event) => event.kind === "status" && event.final !== undefined)
    .map((event) => event.final);
  if (marks.length > 0) assert.deepEqual(marks, [...marks.slice(1).fill(false), true]);
}

function checkOneTask(events) {
  assert.equal(events[0].kind, "task", "a stream begins with the task");
  assert.deepEqual([...new Set(events.map((event) => event.taskId))], [events[0].taskId]);
  checkFinal(events);
}

export const streaming = {
  operation: "streaming",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const events = await collect(desk.stream("count 3"));
      checkOneTask(events);
      assert.equal(lastState(events), "completed");
      assert.equal(assembled(client, events), "1 2 3 ");
      const says = events.filter((event) => event.kind === "status").map((event) => event.say);
      assert.deepEqual(
        says.filter((say) => say.startsWith("step")),
        ["step 1", "step 2", "step 3"],
      );
      assert.equal(says.at(-1), "counted");
      assert.equal(textOf(await desk.get(events[0].taskId)), "1 2 3 ");
    }),
};

export const streamedInput = {
  operation: "streamed input-required and resume",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const asking = await collect(desk.stream("ask the gate"));
      checkOneTask(asking);
      assert.deepEqual([asking.at(-1).state, asking.at(-1).say], ["input-required", "Which colour for the gate?"]);
      const { taskId } = asking[0];
      const answering = await collect(desk.stream("blue", { taskId }));
      checkOneTask(answering);
      assert.deepEqual([answering[0].taskId, lastState(answering)], [taskId, "completed"]);
      assert.equal(textOf(await desk.get(taskId)), "The answer was blue.");
    }),
};

// Some clients send instead, and return the answer as the stream's only item; the others refuse.
export const noStreams = {
  operation: "agent without streams",
  agent: "quiet",
  run: (client, world) =>
    using(client, world.server.base("quiet"), {}, async (quiet) => {
      assert.equal((await quiet.card()).streaming ?? false, false);
      if (!client.has.fallback) return assert.rejects(collect(quiet.stream("hello")), /not support streaming/);
      const events = await collect(quiet.stream("hello"));
      assert.deepEqual([events.length, lastState(events), assembled(client, events)], [1, "completed", "yes"]);
      await refused(client, "UnsupportedOperation", collect(quiet.resubscribe(events[0].taskId)));
    }),
};

export const streamedAuth = {
  operation: "auth-required on a stream that stays open",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const stream = desk.stream("auth");
      const { taskId, final } = await nextOf(stream, "the question", (event) => event.state === "auth-required");
      assert.ok(!final, "more is to come");
      await desk.send("logged in", { taskId, blocking: false });
      assert.equal(lastState(await collect(stream)), "completed");
      assert.equal(textOf(await desk.get(taskId)), "The answer was logged in.");
    }),
};

export const longText = {
  operation: "long text in many scripts, streamed",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const text = "Größe 大きさ размер 🙂\r\n\tdata: x\u2028\u0000".repeat(5000);
      const events = await collect(desk.stream(`echo ${text}`));
      assert.equal(assembled(client, events), text);
      assert.equal(textOf(await desk.get(events[0].taskId)), text);
    }),
};

export const streamedCancel = {
  operation: "cancel seen on the stream",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const stream = desk.stream(`hold ${fresh()}`);
      const { taskId } = await nextOf(stream, "the chunk", (event) => event.kind === "artifact");
      assert.equal((await desk.cancel(taskId)).state, "canceled");
      assert.equal(lastState(await collect(stream)), "canceled");
    }),
};

export const resubscribe = {
  operation: "resubscribe to a running task",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const gate = fresh();
      const { id } = await heldTask(desk, gate);
      await holding(desk, id);
      const stream = desk.resubscribe(id);
      const { value: first } = await stream.next();
      if (client.protocol === "1.0") assert.equal(first.kind, "task");
      world.server.open(gate);
      const events = [first, ...(await collect(stream))];
      assert.equal(lastState(events), "completed");
      checkFinal(events);
      assert.equal(textOf(await desk.get(id)), "one two");
      if (first.kind === "task") assert.equal(assembled(client, events), "one two");
    }),
};

async function cutMidway(desk, gate, proxies) {
  const before = [];
  const reading = (async () => {
    for await (const event of desk.stream(`hold ${gate}`)) {
      before.push(event);
      if (event.kind === "artifact") proxies.forEach((proxy) => proxy.cut());
    }
  })();
  await assert.rejects(reading, "a stream that was cut does not end as if nothing were amiss");
  return before;
}

export const cutConnection = {
  operation: "resubscribe after a cut connection",
  async run(client, world) {
    const grpc = world.grpc.desk[client.protocol];
    const proxies = [await new Proxy(world.server.address).start()];
    if (grpc) proxies.push(await new Proxy(grpc).start());
    const through = grpc && (() => proxies[1].address);
    try {
      await using(client, `http://${proxies[0].address}/agents/desk/`, { through }, async (desk) => {
        const gate = fresh();
        const before = await cutMidway(desk, gate, proxies);
        const stream = desk.resubscribe(before[0].taskId);
        const { value: first } = await stream.next();
        world.server.open(gate);
        const after = [first, ...(await collect(stream))];
        assert.equal(lastState(after), "completed");
        assert.equal(assembled(client, [...before, ...after]), "one two");
        assert.equal(textOf(await desk.get(before[0].taskId)), "one two");
      });
    } finally {
      for (const proxy of proxies) await proxy.stop();
    }
  },
};
