// A webhook receiver that keeps its deliveries.
import { createServer } from "node:http";
import { waitFor } from "./bounds.mjs";

export class Receiver {
  deliveries = [];
  #server = createServer((request, response) => this.#take(request, response));

  async #take(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    this.deliveries.push({
      path: request.url,
      method: request.method,
      headers: request.headers,
      body: JSON.parse(text),
      text,
    });
    response.end();
  }

  async start() {
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  url(path) {
    return `http://127.0.0.1:${this.#server.address().port}/${path}`;
  }

  at(path) {
    return this.deliveries.filter((delivery) => delivery.path === `/${path}`);
  }

  // Returns the deliveries to this path, as soon as `enough` holds for them.
  async until(path, what, enough) {
    return waitFor(`a delivery: ${what}`, () => enough(this.at(path)) && this.at(path));
  }

  async stop() {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
