// The common part of both servers: listens on a free loopback port and prints "listening on URL".
import { createServer } from "node:http";
import express from "express";

export const skills = [
  { id: "echo", name: "Echo", description: "Returns the message.", tags: ["echo"], examples: ["Hello, world"],
    inputModes: ["text/plain"], outputModes: ["text/plain"] },
];

// `install` puts the SDK's handlers on the app.
export function serve(install) {
  const app = express();
  // Reads the body first, because the SDKs' own limit is 100 kB.
  app.use(express.json({ limit: "8mb" }));
  const server = createServer(app);
  server.listen({ port: Number(process.env.PORT ?? 0), host: "127.0.0.1", backlog: 4096 }, () => {
    const url = `http://127.0.0.1:${server.address().port}`;
    install(app, `${url}/`);
    console.log(`listening on ${url}`);
  });
}
