// The SDK's executor that the page about SDKs ports to Baton (scripts/MOVING.md), served as the SDK's users do
// it.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { DefaultRequestHandler, InMemoryTaskStore } from "a2a-sdk-03/server";
import { UserBuilder, agentCardHandler, jsonRpcHandler } from "a2a-sdk-03/server/express";
import express from "express";
import { assembled, collect, lastState, polled, using } from "../cases/tools.mjs";
import { v03 } from "../clients/v03.mjs";
import { cardOf } from "../lib/card_0_3.mjs";
import { blockOf } from "./tools.mjs";

// The first block of JavaScript on the page is for the SDK, the second for Baton.
async function executorOfPage() {
  const source = blockOf("scripts/MOVING.md", "");
  const folder = mkdtempSync(join(tmpdir(), "baton-interop-page-"));
  const file = join(folder, "slowly.mjs");
  try {
    writeFileSync(file, source);
    return (await import(pathToFileURL(file).href)).Slowly;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const description = "Says a text word by word.";
const card = (url) =>
  cardOf(url, "Slowly", description, [{ id: "slowly", name: "Slowly", description, tags: ["text"] }]);

class Served {
  #listener;

  async start() {
    const Slowly = await executorOfPage();
    const app = express();
    this.#listener = app.listen(0, "127.0.0.1");
    await once(this.#listener, "listening");
    this.url = `http://127.0.0.1:${this.#listener.address().port}/`;
    const requestHandler = new DefaultRequestHandler(card(this.url), new InMemoryTaskStore(), new Slowly());
    app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
    app.use("/", jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  }

  async stop() {
    this.kill();
    await once(this.#listener, "close");
  }

  kill() {
    this.#listener?.closeAllConnections();
    this.#listener?.close();
  }

  using(run) {
    return using(v03[0], this.url, {}, run);
  }
}

const cases = [
  {
    operation: "the executor says its words one by one",
    run: (served) =>
      served.using(async (client) => {
        const events = await collect(client.stream("one two three"));
        assert.equal(assembled(v03[0], events), "one\ntwo\nthree\n");
        assert.equal(lastState(events), "completed");
      }),
  },
  {
    operation: "the executor can be canceled",
    run: (served) =>
      served.using(async (client) => {
        const { id } = await client.send("word ".repeat(1000), { blocking: false });
        await client.cancel(id);
        await polled(client, id, "canceled");
      }),
  },
];

// No SDK version, because no client of the SDK calls Baton here: the table of versions does not count these cases.
const { sdk } = v03[0];
export const executor = { ...v03[0], sdk: "", api: `of ${sdk} on the page about SDKs`, chain: new Served(), cases };
