// A TCP proxy whose connections can be cut silently, as by a network.
import { connect, createServer } from "node:net";

export class Proxy {
  #pairs = new Set();
  #server = createServer((client) => this.#join(client));

  constructor(target) {
    this.target = target;
  }

  #join(client) {
    const [host, port] = this.target.split(":");
    const server = connect(Number(port), host);
    const pair = [client, server];
    this.#pairs.add(pair);
    for (const [from, to] of [pair, [server, client]]) {
      from.pipe(to);
      from.on("error", () => {});
      from.on("close", () => {
        to.destroy();
        this.#pairs.delete(pair);
      });
    }
  }

  async start() {
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.address = `127.0.0.1:${this.#server.address().port}`;
    return this;
  }

  cut() {
    for (const pair of this.#pairs) pair.forEach((socket) => socket.resetAndDestroy());
  }

  async stop() {
    this.#pairs.forEach((pair) => pair.forEach((socket) => socket.destroy()));
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
