import assert from "node:assert/strict";
import { collect, fresh, polled, refused, using, heldTask, textOf } from "./tools.mjs";

function checkInterfaces(client, card, base) {
  const versions = card.interfaces.filter((each) => !each.version || each.version === client.protocol);
  const transports = versions.map((each) => each.transport);
  for (const each of ["JSONRPC", "HTTP+JSON"])
    assert.ok(transports.includes(each), `the card offers ${each}: ${transports}`);
  for (const { transport, url } of versions) {
    if (transport !== "GRPC") assert.ok(`${url}/`.startsWith(base), `${url} is below ${base}`);
  }
}

export const discovery = {
  operation: "card discovery",
  async run(client, world) {
    const base = world.server.base("desk");
    await using(client, base, {}, async (connected) => {
      const card = await connected.card();
      assert.equal(card.name, "Desk");
      assert.equal(card.version, "1.2.3");
      // The agent has an extended card, but nobody has a token here.
      assert.deepEqual([card.streaming, card.push, card.extended], [true, true, false]);
      assert.deepEqual(card.skills, ["desk"]);
      checkInterfaces(client, card, base);
    });
  },
};

export const defaultAgent = {
  operation: "default agent at the root",
  async run(client, world) {
    await using(client, world.server.base(), {}, async (connected) => {
      assert.equal((await connected.card()).name, "Desk");
      assert.equal(textOf(await connected.send("echo from the root")), "from the root");
      assert.equal((await collect(connected.stream("echo from the root"))).at(-1).state, "completed");
    });
  },
};

export const extendedCard = {
  operation: "extended card",
  needs: "extendedCard",
  async run(client, world) {
    await using(client, world.guarded.base("desk"), { token: "secret-of-ann" }, async (connected) => {
      const open = await connected.card();
      assert.deepEqual([open.skills, open.extended], [["desk"], true]);
      const card = await connected.extendedCard();
      assert.deepEqual([card.name, card.skills], ["Desk", ["desk", "ledger"]]);
      assert.equal(card.description, "Shows itself to callers that say who they are.");
      checkInterfaces(client, card, world.guarded.base("desk"));
    });
    // Without an extended card, the clients use the card they have.
    await using(client, world.server.base("quiet"), {}, async (quiet) => {
      assert.deepEqual([(await quiet.card()).extended, (await quiet.extendedCard()).name], [false, "Quiet"]);
    });
  },
};

export const callers = {
  operation: "callers kept apart",
  needs: "authentication",
  async run(client, world) {
    const base = world.guarded.base("desk");
    const gate = fresh();
    await using(client, base, { token: "secret-of-ann" }, async (ann) => {
      const { id } = await heldTask(ann, gate);
      await using(client, base, { token: "secret-of-bob" }, async (bob) => {
        await refused(client, "TaskNotFound", bob.get(id));
        await refused(client, "TaskNotFound", bob.cancel(id));
      });
      world.guarded.open(gate);
      await polled(ann, id, "completed");
    });
    await using(client, base, {}, (nobody) => assert.rejects(nobody.send("echo let me in")));
  },
};

export const requiredExtension = {
  operation: "required extension",
  agent: "strict",
  async run(client, world) {
    const base = world.server.base("strict");
    await using(client, base, {}, (strict) => refused(client, "ExtensionSupportRequired", strict.send("hello")));
    if (!client.has.extensions) return;
    await using(client, base, { extensions: ["https://example.com/polite"] }, async (strict) => {
      assert.equal(textOf(await strict.send("hello")), "yes");
    });
  },
};
