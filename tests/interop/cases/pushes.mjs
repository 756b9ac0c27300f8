import assert from "node:assert/strict";
import { readDelivery } from "../clients/deliveries.mjs";
import { fresh, heldTask, holding, polled, refused, using, withDesk } from "./tools.mjs";

const ended = (deliveries, client) =>
  deliveries.some((each) => readDelivery(client.protocol, each).state === "completed");

export const configs = {
  operation: "push configs",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const gate = fresh();
      const { id } = await heldTask(desk, gate);
      const url = world.receiver.url(gate);
      const wanted = { taskId: id, id: "mine", url, token: "t-1" };
      assert.deepEqual(await desk.setPush(id, { id: "mine", url, token: "t-1" }), wanted);
      assert.deepEqual(await desk.getPush(id, "mine"), wanted);
      if (client.has.pushList) await listAndDelete(client, desk, wanted);
      world.server.open(gate);
      await polled(desk, id, "completed");
    }),
};

async function listAndDelete(client, desk, wanted) {
  const { taskId, url } = wanted;
  await desk.setPush(taskId, { id: "other", url });
  const ids = async () => (await desk.listPush(taskId)).map((each) => each.id).sort();
  assert.deepEqual(await ids(), ["mine", "other"]);
  assert.deepEqual(
    (await desk.listPush(taskId)).find((each) => each.id === "mine"),
    wanted,
  );
  await desk.deletePush(taskId, "other");
  assert.deepEqual(await ids(), ["mine"]);
  await desk.deletePush(taskId, "other"); // deleting again does no harm
  await refused(client, "TaskNotFound", desk.getPush(taskId, "other"));
}

function checkDelivery(client, delivery, taskId, token) {
  assert.equal(readDelivery(client.protocol, delivery).taskId, taskId);
  assert.equal(delivery.headers["x-a2a-notification-token"], token);
}

export const inline = {
  operation: "push deliveries, config sent along",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const path = fresh();
      const push = {
        id: "inline",
        url: world.receiver.url(path),
        token: "t-2",
        authentication: { schemes: ["Bearer"], credentials: "abc.def" },
      };
      const { id } = await desk.send("count 2", { push });
      const got = await world.receiver.until(path, "the end", (deliveries) => ended(deliveries, client));
      for (const delivery of got) {
        checkDelivery(client, delivery, id, "t-2");
        assert.equal(delivery.headers.authorization, "Bearer abc.def");
      }
      const texts = got.flatMap((each) =>
        readDelivery(client.protocol, each).artifacts.map((artifact) => artifact.text),
      );
      assert.ok(texts.length > 0, "the result is delivered as well");
    }),
};

export const later = {
  operation: "push deliveries, config set later",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const gate = fresh();
      const { id } = await heldTask(desk, gate);
      await holding(desk, id);
      const set = await desk.setPush(id, { url: world.receiver.url(gate), token: "t-3" });
      assert.ok(set.id, "a config without an id is given one");
      world.server.open(gate);
      const got = await world.receiver.until(gate, "the end", (deliveries) => ended(deliveries, client));
      for (const delivery of got) checkDelivery(client, delivery, id, "t-3");
    }),
};

export const deleted = {
  operation: "no push after deletion",
  needs: "pushList",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const gate = fresh();
      const { id } = await heldTask(desk, gate);
      await holding(desk, id);
      await desk.setPush(id, { id: "kept", url: world.receiver.url(`${gate}-kept`) });
      await desk.setPush(id, { id: "gone", url: world.receiver.url(`${gate}-gone`) });
      await desk.deletePush(id, "gone");
      const early = world.receiver.at(`${gate}-gone`).length;
      world.server.open(gate);
      await world.receiver.until(`${gate}-kept`, "the end", (deliveries) => ended(deliveries, client));
      assert.equal(world.receiver.at(`${gate}-gone`).length, early);
    }),
};

export const agentWithout = {
  operation: "push to an agent without it",
  agent: "quiet",
  run: (client, world) =>
    using(client, world.server.base("quiet"), {}, async (quiet) => {
      const { id } = await quiet.send("hello");
      await refusesPush(client, quiet, id);
    }),
};

// Most clients check the card themselves. These calls reach the server: in 0.2.5 the get, in the others the delete.
async function refusesPush(client, connected, id) {
  assert.equal((await connected.card()).push ?? false, false);
  const call = client.has.pushList ? connected.deletePush(id, "x") : connected.getPush(id);
  await refused(client, "PushNotificationNotSupported", call);
}

export const notSupported = {
  operation: "push where it is switched off",
  run: (client, world) =>
    using(client, world.mute.base("desk"), {}, async (desk) => {
      const { id } = await desk.send("echo hello");
      await refusesPush(client, desk, id);
    }),
};
