// A file server on its own port, so that the pages have another origin than Baton.
import { createServer } from "node:http";

const types = { html: "text/html; charset=utf-8", js: "text/javascript" };

export class Site {
  #files;
  #server = createServer((request, response) => {
    const name = new URL(request.url, "http://site").pathname.slice(1);
    // Browsers request the icon by themselves.
    const found = name === "favicon.ico" ? "" : this.#files[name];
    response.writeHead(found === undefined ? 404 : 200, {
      "Content-Type": types[name.split(".").at(-1)] ?? "text/plain",
    });
    response.end(found ?? "There is nothing.");
  });

  // `files` maps names to texts.
  constructor(files) {
    this.#files = files;
  }

  async start() {
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  url(name, agent) {
    return `http://127.0.0.1:${this.#server.address().port}/${name}?agent=${encodeURIComponent(agent)}`;
  }

  async stop() {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
