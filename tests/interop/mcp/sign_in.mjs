// MCP clients that come without a token: a 401 of the program sends them to its metadata, that to the authorization
// server, and they come back with a token. The authorization server here lets everybody in as "ann".
import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { createServer } from "node:http";
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Server } from "../lib/server.mjs";
import { versionOf } from "./kit.mjs";

const info = { name: "baton-interop", version: "1.0.0" };
const redirect = "http://127.0.0.1:9/callback"; // nobody follows it

async function bodyOf(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

// Clients register themselves, and codes are bound to PKCE and a resource (RFC 8414, 7591, 7636, 8707).
class AuthorizationServer {
  resources = [];
  #codes = new Map();
  #keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  #http = createServer((request, response) => this.#answer(request, response));

  async start() {
    await new Promise((resolve) => this.#http.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${this.#http.address().port}`;
  }
  stop() {
    this.#http.closeAllConnections();
    this.#http.close();
  }

  #metadata() {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      registration_endpoint: `${this.url}/register`,
      jwks_uri: `${this.url}/keys`,
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["ES256"],
    };
  }

  #token(scope) {
    const now = Math.floor(Date.now() / 1000);
    const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const claims = { iss: this.url, sub: "ann", aud: "baton", iat: now, exp: now + 600, scope };
    const text = `${part({ alg: "ES256", kid: "k", typ: "at+jwt" })}.${part(claims)}`;
    const signature = sign("sha256", Buffer.from(text), { key: this.#keys.privateKey, dsaEncoding: "ieee-p1363" });
    return `${text}.${signature.toString("base64url")}`;
  }

  async #answer(request, response) {
    const say = (status, body) =>
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    const { pathname, searchParams } = new URL(request.url, this.url);
    const body = await bodyOf(request);
    if (pathname === "/.well-known/oauth-authorization-server") return say(200, this.#metadata());
    if (pathname === "/keys") {
      const key = this.#keys.publicKey.export({ format: "jwk" });
      return say(200, { keys: [{ ...key, kid: "k", use: "sig", alg: "ES256" }] });
    }
    if (pathname === "/register") return say(201, { ...JSON.parse(body), client_id: randomUUID() });
    if (pathname === "/authorize") {
      const code = randomUUID();
      this.resources.push(searchParams.get("resource"));
      this.#codes.set(code, { challenge: searchParams.get("code_challenge"), scope: searchParams.get("scope") });
      return say(200, { code });
    }
    if (pathname !== "/token") return say(404, {});
    const form = new URLSearchParams(body);
    const code = this.#codes.get(form.get("code"));
    const verifier = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
    if (!code || code.challenge !== verifier) return say(400, { error: "invalid_grant" });
    this.resources.push(form.get("resource"));
    say(200, { access_token: this.#token(code.scope ?? "send read"), token_type: "Bearer", expires_in: 600 });
  }
}

// Keeps what the SDK asks it to keep, and goes through the authorization page by itself.
class Provider {
  redirectUrl = redirect;
  clientMetadata = { client_name: "interop", redirect_uris: [redirect], token_endpoint_auth_method: "none" };
  clientInformation = () => this.client;
  saveClientInformation = (client) => void (this.client = client);
  tokens = () => this.kept;
  saveTokens = (tokens) => void (this.kept = tokens);
  saveCodeVerifier = (verifier) => void (this.verifier = verifier);
  codeVerifier = () => this.verifier;
  redirectToAuthorization = async (url) => {
    this.code = (await (await fetch(url)).json()).code;
  };
}

class SignIn {
  authority = new AuthorizationServer();

  async start() {
    await this.authority.start();
    this.server = new Server({ issuers: [{ issuer: this.authority.url, audience: "baton" }] }, ["desk"]);
    await this.server.start();
  }
  async stop() {
    await this.server.stop();
    this.authority.stop();
  }
  kill() {
    this.server?.kill();
    this.authority.stop();
  }
}

const signsIn = (Client, Transport, options) => async (path, { server, authority }) => {
  const url = new URL(path, server.base());
  const provider = new Provider();
  authority.resources = [];
  const first = new Transport(url, { authProvider: provider });
  await assert.rejects(new Client(info, options).connect(first), /unauthorized/i);
  await first.finishAuth(provider.code);
  const client = new Client(info, options);
  await client.connect(new Transport(url, { authProvider: provider }));
  const { tools } = await client.listTools();
  await client.close();
  assert.ok(tools.some((tool) => tool.name === "desk"));
  assert.deepEqual(new Set(authority.resources), new Set([url.href]));
};

const host = (sdk, transport, run) => ({
  sdk,
  protocol: "MCP",
  transport,
  api: "its sign-in",
  chain: new SignIn(),
  cases: ["/mcp", "/agents/desk/mcp"].map((path) => ({
    operation: `sign in at ${path}`,
    run: (chain) => run(path, chain),
  })),
});

const auto = { versionNegotiation: { mode: "auto" } };
export const signIns = [
  host(versionOf("@modelcontextprotocol/sdk"), "HTTP, 2025-11-25", signsIn(Client1, Transport1, {})),
  host(versionOf("@modelcontextprotocol/client"), "HTTP, 2026-07-28", signsIn(Client2, Transport2, auto)),
];
