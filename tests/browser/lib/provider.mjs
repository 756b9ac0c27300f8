// An authorization server of OpenID Connect whose people sign in at once. It is at another site than the program's pages,
// as browsers see it: localhost is not 127.0.0.1.
import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { createServer } from "node:http";

const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

async function textOf(request) {
  const parts = [];
  for await (const each of request) parts.push(each);
  return Buffer.concat(parts).toString();
}

export class Provider {
  /** The claims of who signs in. */
  person = {};
  #codes = new Map();
  #keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  #http = createServer((request, response) => this.#answer(request, response));

  async start() {
    await new Promise((resolve) => this.#http.listen(0, "127.0.0.1", resolve));
    this.url = `http://localhost:${this.#http.address().port}`;
    return this;
  }

  async stop() {
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  #idToken(client, nonce) {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: this.url, aud: client, nonce, iat: now, exp: now + 600, ...this.person };
    const text = `${part({ alg: "ES256", kid: "k", typ: "JWT" })}.${part(claims)}`;
    const signature = sign("sha256", Buffer.from(text), { key: this.#keys.privateKey, dsaEncoding: "ieee-p1363" });
    return `${text}.${signature.toString("base64url")}`;
  }

  async #answer(request, response) {
    const say = (status, body) =>
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    const { pathname, searchParams: asked } = new URL(request.url, this.url);
    if (pathname === "/.well-known/openid-configuration") {
      const at = (name) => `${this.url}/${name}`;
      return say(200, {
        issuer: this.url,
        authorization_endpoint: at("authorize"),
        token_endpoint: at("token"),
        jwks_uri: at("keys"),
      });
    }
    if (pathname === "/keys") {
      return say(200, {
        keys: [{ ...this.#keys.publicKey.export({ format: "jwk" }), kid: "k", use: "sig", alg: "ES256" }],
      });
    }
    if (pathname === "/authorize") {
      const code = randomUUID();
      this.#codes.set(code, asked);
      const back = new URLSearchParams({ code, state: asked.get("state") });
      return response.writeHead(302, { Location: `${asked.get("redirect_uri")}?${back}` }).end();
    }
    const form = new URLSearchParams(await textOf(request));
    const begun = this.#codes.get(form.get("code"));
    const challenge = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
    if (begun?.get("code_challenge") !== challenge) return say(400, { error: "invalid_grant" });
    return say(200, { id_token: this.#idToken(form.get("client_id"), begun.get("nonce")) });
  }
}
