// The common part of the peers' servers: they accept POSTs of {"text": ...} on a free loopback port, and answer each
// once its work is done. `work(text)` returns the result; if it throws, the answer is 500.
import { createServer } from "node:http";
import { text } from "node:stream/consumers";

export const database = process.env.BENCH_DATABASE;

function send(response, code, value) {
  const body = JSON.stringify(value);
  response.writeHead(code, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
  response.end(body);
}

export function serve(work) {
  const server = createServer(async (request, response) => {
    try {
      const { text: asked } = JSON.parse(await text(request));
      send(response, 200, { state: "completed", result: await work(asked) });
    } catch (error) {
      console.error(error);
      send(response, 500, { state: "failed", error: String(error) });
    }
  });
  server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => {
    console.log(`listening on http://127.0.0.1:${server.address().port}`);
  });
}

// Identifies jobs by a number in their payload, which their handler reports when it has run.
export class Waiting {
  #last = 0;
  #resolves = new Map();

  // Calls `add(id)` to add a job, and waits for its `ended(id, result)`.
  async endedAfter(add) {
    const id = ++this.#last;
    const { promise, resolve } = Promise.withResolvers();
    this.#resolves.set(id, resolve);
    try {
      await add(id);
      return await promise;
    } finally {
      this.#resolves.delete(id);
    }
  }

  ended(id, result) {
    this.#resolves.get(id)?.(result);
  }
}

// Gathers the items that arrive during an `addMany(items)` for the next call, for systems whose guide advises to add
// many items at once. Durability is the same: an `add` ends only after its own transaction.
export class Gathered {
  #addMany;
  #next = [];
  #isBusy = false;

  constructor(addMany) {
    this.#addMany = addMany;
  }

  add(item) {
    const { promise, resolve, reject } = Promise.withResolvers();
    this.#next.push({ item, resolve, reject });
    if (!this.#isBusy) this.#run();
    return promise;
  }

  async #run() {
    this.#isBusy = true;
    while (this.#next.length > 0) {
      const batch = this.#next.splice(0);
      try {
        await this.#addMany(batch.map(({ item }) => item));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isBusy = false;
  }
}
