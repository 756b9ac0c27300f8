import assert from "node:assert/strict";
import { collect, fresh, heldTask, holding, polled, textOf, using, withDesk } from "./tools.mjs";

export const blocking = {
  operation: "blocking send",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      for (const options of [{ blocking: true }, {}]) {
        const task = await desk.send("echo good morning to you", options);
        assert.equal(task.state, "completed");
        assert.equal(textOf(task), "good morning to you");
        assert.deepEqual([task.history[0].role, task.history[0].text], ["user", "echo good morning to you"]);
        const read = await desk.get(task.id);
        assert.deepEqual([read.contextId, read.state, textOf(read)], [task.contextId, "completed", textOf(task)]);
      }
    }),
};

export const parts = {
  operation: "files and data",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const bytes = Buffer.from([0, 1, 2, 250, 255]).toString("base64");
      const sent = [
        { bytes, mediaType: "application/octet-stream" },
        { url: "https://example.com/a.png", mediaType: "image/png" },
        { data: { deep: { list: client.losesNull ? [1, true, "ü"] : [1, true, null, "ü"] } } },
      ];
      const task = await desk.send("mirror", { parts: sent });
      assert.equal(task.artifacts[0]?.name, "mirror", JSON.stringify(task));
      const [file, link, data] = task.artifacts[0].parts;
      assert.deepEqual([file.bytes, file.mediaType], [bytes, "application/octet-stream"]);
      assert.deepEqual([link.url, link.mediaType], ["https://example.com/a.png", "image/png"]);
      assert.deepEqual(data.data, sent[2].data);
    }),
};

export const nonBlocking = {
  operation: "non-blocking send",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const gate = fresh();
      const { id } = await heldTask(desk, gate);
      assert.equal((await holding(desk, id)).say, "holding");
      world.server.open(gate);
      assert.equal(textOf(await polled(desk, id, "completed")), "one two");
    }),
};

export const inputRequired = {
  operation: "input-required and resume",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const asked = await desk.send("ask the door", { blocking: true });
      assert.deepEqual([asked.state, asked.say], ["input-required", "Which colour for the door?"]);
      const done = await desk.send("green", { taskId: asked.id, contextId: asked.contextId, blocking: true });
      assert.deepEqual([done.id, done.contextId, done.state], [asked.id, asked.contextId, "completed"]);
      assert.equal(textOf(done), "The answer was green.");
      assert.deepEqual(
        done.history.map((each) => each.role),
        ["user", "agent", "user"],
      );
    }),
};

export const authRequired = {
  operation: "auth-required and resume",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const asked = await desk.send("auth", { blocking: true });
      assert.equal(asked.state, "auth-required");
      const done = await desk.send("logged in", { taskId: asked.id, blocking: true });
      assert.deepEqual([done.id, done.state, textOf(done)], [asked.id, "completed", "The answer was logged in."]);
    }),
};

export const badEnds = {
  operation: "failed and rejected tasks",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const failed = await desk.send("fail");
      assert.equal(failed.state, "failed");
      assert.match(failed.say, /It broke/);
      const rejected = await desk.send("refuse");
      assert.equal(rejected.state, "rejected");
      assert.match(rejected.say, /Not my work/);
    }),
};

export const historyLength = {
  operation: "history length",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const asked = await desk.send("ask the roof");
      const done = await desk.send("red", { taskId: asked.id });
      const texts = async (length) => (await desk.get(done.id, length)).history.map((each) => each.text);
      assert.deepEqual(await texts(undefined), ["ask the roof", "Which colour for the roof?", "red"]);
      assert.deepEqual(await texts(1), ["red"]);
      if (client.protocol === "1.0") assert.deepEqual(await texts(0), []);
    }),
};

export const repeated = {
  operation: "repeated send is one task",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const messageId = fresh();
      const first = await desk.send("echo once", { messageId });
      assert.equal((await desk.send("echo once", { messageId })).id, first.id);
      assert.notEqual((await desk.send("echo twice", { messageId })).id, first.id);
    }),
};

export const context = {
  operation: "context carries the conversation",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const first = await desk.send("echo I am Ada");
      const second = await desk.send("remember", { contextId: first.contextId });
      assert.equal(second.contextId, first.contextId);
      assert.notEqual(second.id, first.id);
      assert.deepEqual(JSON.parse(textOf(second)), ["echo I am Ada"]);
    }),
};

export const cancel = {
  operation: "cancel",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const { id } = await heldTask(desk, fresh());
      await holding(desk, id);
      assert.equal((await desk.cancel(id)).state, "canceled");
      assert.equal((await desk.get(id)).state, "canceled");
      const asked = await desk.send("ask the wall");
      assert.equal((await desk.cancel(asked.id)).state, "canceled");
    }),
};

export const byMessage = {
  operation: "answer by a message",
  agent: "brief",
  run: (client, world) =>
    using(client, world.server.base("brief"), {}, async (brief) => {
      const said = await brief.send("hello", { blocking: true });
      assert.deepEqual([said.role, said.text], ["agent", "yes"]);
      const more = await brief.send("and now?", { contextId: said.contextId, blocking: false });
      assert.deepEqual([more.contextId, more.text], [said.contextId, "yes"]);
      const events = await collect(brief.stream("hello"));
      assert.deepEqual(
        events.map((event) => [event.kind, event.text]),
        [["message", "yes"]],
      );
    }),
};
