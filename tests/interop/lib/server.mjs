// Starts the real program on a free loopback port with a folder of its own, and stops it by its pid.
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, openSync, closeSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { within } from "./bounds.mjs";

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const program = process.env.BATON_PROGRAM ?? join(here, "../../build/release/baton");

// The program reads BATON_*; what is meant for the tests is not for it.
const environment = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("BATON_")));

export class Server {
  #process;
  #ended;

  constructor(config = {}) {
    this.config = config;
    this.folder = mkdtempSync(join(tmpdir(), "baton-interop-"));
    this.agents = join(this.folder, "agents");
  }

  // The agents' cards name `node`; they get the one that runs this.
  #copyAgents() {
    mkdirSync(this.agents);
    for (const name of ["desk", "quiet", "strict"]) {
      cpSync(join(here, "agents", name), join(this.agents, name), { recursive: true });
      const path = join(this.agents, name, "card.json");
      const card = JSON.parse(readFileSync(path, "utf8"));
      card.baton.command[0] = process.execPath;
      writeFileSync(path, JSON.stringify(card));
    }
  }

  async start() {
    this.#copyAgents();
    const config = join(this.folder, "baton.json");
    writeFileSync(config, JSON.stringify(this.config));
    const log = openSync(join(this.folder, "log"), "a");
    this.#process = spawn(
      program,
      [
        "serve",
        "--config",
        config,
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--grpc-port",
        process.env.TEST_GRPC === "off" ? "-1" : "0",
        "--db",
        join(this.folder, "baton.db"),
        "--agents",
        this.agents,
        "--allow-private-webhooks",
      ],
      { stdio: ["ignore", "pipe", log], env: environment() },
    );
    closeSync(log);
    this.#ended = new Promise((resolve) => {
      this.#process.once("exit", (code, signal) => resolve(signal ?? code));
      this.#process.once("error", resolve);
    });
    try {
      this.address = await within(30, "the program to listen", this.#listening());
    } catch (error) {
      await this.stop();
      throw new Error(`${error.message}\n${this.logEnd()}`);
    }
    return this;
  }

  async #listening() {
    for await (const line of createInterface({ input: this.#process.stdout })) {
      const found = line.match(/listening on http:\/\/(\S+)/);
      if (found) {
        this.#process.stdout.resume();
        return found[1];
      }
    }
    throw new Error("the program ended before it listened");
  }

  // A base URL ends with a slash: clients resolve the card's path against it.
  base(agent) {
    return `http://${this.address}/${agent ? `agents/${agent}/` : ""}`;
  }

  logEnd() {
    return readFileSync(join(this.folder, "log"), "utf8").slice(-3000);
  }

  // Lets the agent's turn that waits for this gate go on.
  open(gate) {
    writeFileSync(join(this.agents, "desk", `gate-${gate}`), "");
  }

  // Ends the program; throws if it did not end well.
  async stop() {
    let outcome = 0;
    if (this.#process?.pid !== undefined) {
      this.#process.kill("SIGTERM");
      outcome = await within(30, "the program to end", this.#ended).catch((error) => {
        this.#process.kill("SIGKILL");
        return error;
      });
    }
    const log = outcome === 0 ? "" : this.logEnd();
    rmSync(this.folder, { recursive: true, force: true });
    if (outcome !== 0) throw new Error(`the program ended with ${outcome}\n${log}`);
  }

  kill() {
    this.#process?.kill("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }
}
