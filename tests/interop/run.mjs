// Drives the real program (BATON_PROGRAM) with real clients: three generations of the official A2A SDK, over every
// transport that both the SDK and the agent's card support; three generations of AG-UI's client; a strict reader of
// streams for AG-Kit, Agent API and Agent Server; two lines of MCP's SDK, its client of tasks, its Inspector and its
// conformance kit; and OpenAI's client and the AI SDK. The SDK's signatures of cards and the library of Standard
// Webhooks check ours. Agents of the SDK, MCP's SDK as servers of tools, and a model's server run behind the program.
// In the ring "whole" (BATON_RING), each version and transport has only the newest client made for it. INTEROP_REPORT
// and CHAT_REPORT name JSON files for the results.
import { webcrypto } from "node:crypto";
import { Receiver } from "./lib/receiver.mjs";
import { Server } from "./lib/server.mjs";
import { scaled } from "./lib/bounds.mjs";

globalThis.crypto ??= webcrypto; // the SDKs expect it here; Node 18 has it only in a module

const { install } = await import("./lib/wire.mjs");
install();
const { fail, finish, runAll, titleOf } = await import("./lib/runner.mjs");

const { clients } = await import("./clients/all.mjs");
const { cases } = await import("./cases/all.mjs");
const { chats } = await import("./chat/all.mjs");
const { chains, cases: links } = await import("./chain/all.mjs");
const { models } = await import("./model/all.mjs");
const { pages } = await import("./page/all.mjs");
const { hosts } = await import("./mcp/all.mjs");
const { models: callers } = await import("./openai/all.mjs");
const { signatures } = await import("./signatures/all.mjs");

const behind = [...chains.map((each) => ({ ...each, cases: links })), ...models, ...pages, ...hosts, ...callers, ...signatures];

const tokens = [
  { caller: "ann", token: "secret-of-ann" },
  { caller: "bob", token: "secret-of-bob" },
];
const world = {
  server: new Server(),
  guarded: new Server({ tokens }),
  mute: new Server({ webhooks: { enabled: false } }),
  stage: new Server({}, ["stage", "talk", "tools", "approval"]),
  dated: new Server({ chat: { old_reasoning: true } }, ["stage"]),
  hasty: new Server({ chat: { hang_up_grace_s: 0.1 } }, ["stage"]),
  closed: new Server({ tokens }, ["stage"]),
  receiver: new Receiver(),
  grpc: {},
};
const servers = Object.values(world).filter((each) => each instanceof Server);

// Returns the gRPC addresses in the agent's card, by version of the protocol.
async function grpcAddresses(agent) {
  const answer = await fetch(new URL(".well-known/agent-card.json", world.server.base(agent)));
  const { additionalInterfaces = [], supportedInterfaces = [] } = await answer.json();
  const old = additionalInterfaces.find((each) => each.transport === "GRPC");
  const newer = supportedInterfaces.find((each) => each.protocolBinding === "GRPC" && each.protocolVersion === "1.0");
  return { 0.3: old?.url, "1.0": newer?.url };
}

// True if the client's transport is available; only gRPC may be missing.
const offered = (client, agent = "desk") =>
  client.transport !== "GRPC" || world.grpc[agent][client.protocol] !== undefined;

const inRing = (client) => process.env.BATON_RING !== "whole" || !client.onlyInEverything;

const fits = (each, client) => (!each.needs || client.has[each.needs]) && offered(client, each.agent);

async function run() {
  await Promise.all([...servers, world.receiver].map((each) => each.start()));
  for (const agent of ["desk", "quiet", "strict", "brief"]) world.grpc[agent] = await grpcAddresses(agent);
  const [, , only, deed] = process.argv; // optional: part of a client's name, and of an operation's, to run only those
  const all = [...clients.filter((client) => offered(client)).map((client) => ({ client, cases })), ...chats];
  for (const { client, cases: group } of all) {
    if (!inRing(client)) continue;
    if (only && !titleOf(client).includes(only)) continue;
    const wanted = group.filter((each) => fits(each, client) && (!deed || each.operation.includes(deed)));
    if (wanted.length > 0) await runAll(client, wanted, world);
  }
  for (const { chain, cases: own, ...client } of behind) {
    if (!inRing(client)) continue;
    if (only && !titleOf(client).includes(only)) continue;
    const wanted = own.filter((each) => !deed || each.operation.includes(deed));
    await chain.start();
    await runAll(client, wanted.map((each) => ({ ...each, run: () => each.run(chain) })), world);
    await chain.stop();
  }
}

// However this process ends, the programs end with it.
process.on("exit", () => [...servers, ...behind.map((each) => each.chain)].forEach((each) => each.kill()));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    fail("the run", new Error(`ended by ${signal}`));
    process.exit(finish());
  });
}

// An abandoned case leaves promises behind.
process.on("unhandledRejection", (error) => fail("what nobody waited for", error));

// Whatever hangs, this ends the programs and this process.
setTimeout(() => {
  fail("the whole run", new Error("took too long"));
  process.exit(finish());
}, scaled(3600)).unref();

await run().catch((error) => fail("the run", error));
await world.receiver.stop().catch((error) => fail("the receiver's end", error));
for (const server of servers) await server.stop().catch((error) => fail("the program's end", error));
process.exit(finish());
