import assert from "node:assert/strict";
import { collect, fresh, refused, withDesk } from "./tools.mjs";

export const unknownTask = {
  operation: "error: unknown task",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      await refused(client, "TaskNotFound", desk.get(fresh()));
      await refused(client, "TaskNotFound", desk.cancel(fresh()));
      await refused(client, "TaskNotFound", desk.send("echo x", { taskId: fresh() }));
      await refused(client, "TaskNotFound", desk.getPush(fresh(), "x"));
    }),
};

export const unknownTaskStreamed = {
  operation: "error: unknown task on a stream",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      await refused(client, "TaskNotFound", collect(desk.resubscribe(fresh())));
      await refused(client, "TaskNotFound", collect(desk.stream("echo x", { taskId: fresh() })));
    }),
};

export const finishedTask = {
  operation: "error: finished task",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const { id } = await desk.send("echo done");
      await refused(client, "TaskNotCancelable", desk.cancel(id));
      const expected = client.protocol === "1.0" ? "UnsupportedOperation" : "InvalidParams";
      await refused(client, expected, desk.send("echo more", { taskId: id }));
      if (client.protocol === "1.0") {
        await refused(client, "UnsupportedOperation", collect(desk.resubscribe(id)));
      } else {
        const events = await collect(desk.resubscribe(id));
        assert.deepEqual(
          events.map((event) => [event.kind, event.state]),
          [["task", "completed"]],
        );
      }
    }),
};

export const canceledTwice = {
  operation: "cancel twice",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const { id } = await desk.send("ask the floor");
      assert.equal((await desk.cancel(id)).state, "canceled");
      if (client.protocol === "1.0") assert.equal((await desk.cancel(id)).state, "canceled");
      else await refused(client, "TaskNotCancelable", desk.cancel(id));
    }),
};

export const badParams = {
  operation: "error: invalid params",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const { id } = await desk.send("ask the stairs");
      await refused(client, "InvalidParams", desk.send("white", { taskId: id, contextId: fresh() }));
      if (client.has.list) await refused(client, "InvalidParams", desk.list({ pageToken: "no such token" }));
      await desk.cancel(id);
    }),
};
