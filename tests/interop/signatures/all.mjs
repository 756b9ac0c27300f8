// Signed cards and webhooks: the SDK verifies ours, the program those of the SDK, and the library of Standard Webhooks
// our calls.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { AgentCard, generateAgentCardSignature, verifyAgentCardSignature } from "a2a-sdk-10";
import { DefaultAgentCardResolver } from "a2a-sdk-10/client";
import { Webhook } from "standardwebhooks";
import { using } from "../cases/tools.mjs";
import { v10 } from "../clients/v10.mjs";
import { readDelivery } from "../clients/deliveries.mjs";
import { Receiver } from "../lib/receiver.mjs";
import { program, Server } from "../lib/server.mjs";
import { versionOf } from "../mcp/kit.mjs";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const tokens = [{ caller: "ann", token: "secret-of-ann" }];
const path = ".well-known/agent-card.json";

// A card of an agent that is not there, beyond ASCII and with security schemes.
const theirs = {
  name: "Café",
  description: "Tries",
  supportedInterfaces: [{ url: "http://127.0.0.1:9/", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  version: "1",
  capabilities: { streaming: false, extensions: [{ uri: "urn:x", params: { half: 0.5, large: 1e21 } }] },
  securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: "bearer" } } },
  securityRequirements: [{ schemes: { bearer: { list: [] } } }],
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "s", name: "S", description: "d", tags: ["t"] }],
};

class Signers {
  folder = mkdtempSync(join(tmpdir(), "baton-signatures-"));
  receiver = new Receiver();
  elsewhere = createServer((_, response) => response.end(JSON.stringify(this.card)));
  #key = generateKeyPairSync("ec", { namedCurve: "P-256" });
  ed25519 = generateKeyPairSync("ed25519");

  async start() {
    this.write("card.pem", this.#key.privateKey.export({ type: "pkcs8", format: "pem" }));
    this.write("next.jwk", JSON.stringify(this.ed25519.publicKey.export({ format: "jwk" })));
    this.write("webhooks.pem", this.ed25519.privateKey.export({ type: "pkcs8", format: "pem" }));
    this.write("webhooks.key", secret);
    const config = {
      public_url: "https://agents.example",
      cards: { signing_key: join(this.folder, "card.pem"), published_keys: [join(this.folder, "next.jwk")] },
    };
    const signing_keys = ["webhooks.key", "webhooks.pem"].map((name) => join(this.folder, name));
    this.calling = new Server({ webhooks: { signing_keys } }, ["desk"]);
    this.open = new Server(config);
    this.guarded = new Server({ ...config, tokens }, ["desk"], { accent: this.#accented() });
    await Promise.all([...this.#servers(), this.receiver].map((each) => each.start()));
    await new Promise((resolve) => this.elsewhere.listen(0, "127.0.0.1", resolve));
  }

  #accented() {
    const baton = { executor: "command", command: ["true"] };
    return { ...theirs, supportedInterfaces: undefined, securitySchemes: undefined, securityRequirements: undefined, baton };
  }

  write(name, text) {
    writeFileSync(join(this.folder, name), text, { mode: 0o600 });
    return join(this.folder, name);
  }

  async stop() {
    this.elsewhere.close();
    await this.receiver.stop();
    await Promise.all(this.#servers().map((each) => each.stop()));
    rmSync(this.folder, { recursive: true });
  }

  kill() {
    this.#servers().forEach((each) => each?.kill());
  }

  #servers() {
    return [this.open, this.guarded, this.calling];
  }
}

async function keysOf(base) {
  const answer = await fetch(new URL("/.well-known/jwks.json", base));
  assert.equal(answer.status, 200);
  return (await answer.json()).keys;
}

const cases = [
  {
    operation: "our cards, by the SDK",
    run: async (signers) => {
      for (const base of [signers.open.base("desk"), signers.guarded.base("desk"), signers.guarded.base("accent")]) {
        const keys = await keysOf(base);
        assert.equal(keys.length, 2);
        const check = verifyAgentCardSignature(async (kid, jku) => {
          assert.equal(jku, "https://agents.example/.well-known/jwks.json");
          return keys.find((key) => key.kid === kid);
        });
        const raw = await (await fetch(new URL(path, base), { headers: { "A2A-Version": "1.0" } })).json();
        await check(raw);
        await check(AgentCard.fromJSON(raw));
        await check(await new DefaultAgentCardResolver().resolve(base));
        for (const changed of [{ ...raw, description: "other" }, { ...raw, supportedInterfaces: [] }])
          await assert.rejects(check(changed));
      }
    },
  },
  {
    operation: "cards of the SDK, by the program",
    run: async (signers) => {
      const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const sign = generateAgentCardSignature(privateKey, { alg: "ES256", kid: "js", typ: "JOSE" });
      const jwk = { ...publicKey.export({ format: "jwk" }), kid: "js" };
      const key = signers.write("js.jwk", JSON.stringify({ keys: [jwk] }));
      const url = `http://127.0.0.1:${signers.elsewhere.address().port}`;
      const show = () => promisify(execFile)(program, ["card", url, "--verify", "require", "--key", key]);
      // What the SDK signs depends on whether it has decoded the card.
      for (const [card, form] of [
        [theirs, "as a2a-js signs"],
        [AgentCard.fromJSON(theirs), "as a2a-js signs, without its security schemes"],
      ]) {
        const { signatures } = await sign(card);
        signers.card = { ...theirs, signatures };
        const { stdout } = await show().catch((error) => error);
        assert.match(stdout, new RegExp(`^signature +good, by js, ${form}$`, "m"));
        signers.card.description = "other";
        const { code, stderr } = await show().catch((error) => error);
        assert.equal(code, 1);
        assert.match(stderr, /the agent's card was changed: its signature by the key js is wrong/);
      }
    },
  },
  {
    operation: "our webhooks, by the library of Standard Webhooks",
    run: async (signers) => {
      const push = {
        id: "own",
        url: signers.receiver.url("signed"),
        authentication: { schemes: ["HMAC-SHA256"], credentials: "only we know it" },
      };
      await using(v10[0], signers.calling.base("desk"), {}, (desk) => desk.send("count 2", { push }));
      const ended = (deliveries) => deliveries.some((each) => readDelivery("1.0", each).state === "completed");
      for (const { headers, text } of await signers.receiver.until("signed", "the end", ended)) {
        new Webhook(secret).verify(text, headers);
        new Webhook("only we know it", { format: "raw" }).verify(text, headers);
        assert.throws(() => new Webhook(secret).verify(`${text} `, headers));
        const signature = headers["webhook-signature"].split(" ").find((each) => each.startsWith("v1a,"));
        const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${text}`;
        const bytes = Buffer.from(signature.slice(4), "base64");
        assert.ok(verify(null, Buffer.from(signed), createPublicKey(signers.ed25519.privateKey), bytes));
      }
    },
  },
];

const version = versionOf("standardwebhooks");
export const signatures = [{ ...v10[0], api: `and standardwebhooks ${version}`, chain: new Signers(), cases }];
