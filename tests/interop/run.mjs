// Drives the real program (BATON_PROGRAM) with the official JavaScript SDK of three generations, over every transport
// that the SDK has and the agent's card offers. INTEROP_REPORT names a JSON file for the results.
import { webcrypto } from "node:crypto";
import { Receiver } from "./lib/receiver.mjs";
import { Server } from "./lib/server.mjs";
import { scaled } from "./lib/bounds.mjs";

globalThis.crypto ??= webcrypto; // Node 18 keeps it in a module; the SDKs look for it here

const { install } = await import("./lib/wire.mjs");
install();
const { fail, finish, runAll } = await import("./lib/runner.mjs");

const { clients } = await import("./clients/all.mjs");
const { cases } = await import("./cases/all.mjs");

const tokens = [
  { caller: "ann", token: "secret-of-ann" },
  { caller: "bob", token: "secret-of-bob" },
];
const world = {
  server: new Server(),
  guarded: new Server({ tokens }),
  mute: new Server({ webhooks: { enabled: false } }),
  receiver: new Receiver(),
  grpc: {},
};
const servers = [world.server, world.guarded, world.mute];

// Where the agent's card says that gRPC is served, by version of the protocol.
async function grpcAddresses(agent) {
  const answer = await fetch(new URL(".well-known/agent-card.json", world.server.base(agent)));
  const { additionalInterfaces = [], supportedInterfaces = [] } = await answer.json();
  const old = additionalInterfaces.find((each) => each.transport === "GRPC");
  const newer = supportedInterfaces.find((each) => each.protocolBinding === "GRPC" && each.protocolVersion === "1.0");
  return { 0.3: old?.url, "1.0": newer?.url };
}

// Whether the client's transport is there to be used; only gRPC need not be.
const offered = (client, agent = "desk") =>
  client.transport !== "GRPC" || world.grpc[agent][client.protocol] !== undefined;

const fits = (each, client) => (!each.needs || client.has[each.needs]) && offered(client, each.agent);

async function run() {
  await Promise.all([...servers, world.receiver].map((each) => each.start()));
  for (const agent of ["desk", "quiet", "strict"]) world.grpc[agent] = await grpcAddresses(agent);
  const only = process.argv[2]; // part of a client's name, as printed, for work on one of them
  for (const client of clients) {
    if (!offered(client)) continue;
    const name = `SDK ${client.sdk} ${client.api}, A2A ${client.protocol} over ${client.transport}`;
    if (only && !name.includes(only)) continue;
    await runAll(
      client,
      cases.filter((each) => fits(each, client)),
      world,
    );
  }
}

// Whatever happens to this process, the programs do not outlive it.
process.on("exit", () => servers.forEach((server) => server.kill()));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    fail("the run", new Error(`ended by ${signal}`));
    process.exit(finish());
  });
}

// Whatever hangs: the programs end, and so does this.
setTimeout(() => {
  fail("the whole run", new Error("took too long"));
  process.exit(finish());
}, scaled(600)).unref();

await run().catch((error) => fail("the run", error));
await world.receiver.stop().catch((error) => fail("the receiver's end", error));
for (const server of servers) await server.stop().catch((error) => fail("the program's end", error));
process.exit(finish());
