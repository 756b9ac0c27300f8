// Starts the real program on a free loopback port with a folder of its own, and stops it by its pid.
import { execFileSync, spawn } from "node:child_process";
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { patience, within } from "./bounds.mjs";

const here = dirname(dirname(fileURLToPath(import.meta.url)));
export const program = process.env.BATON_PROGRAM ?? join(here, "../../build/release/baton");

// The environment without BATON_*: the program reads those variables, and ours are for the tests.
const environment = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("BATON_")));

// e2e/databases.py decides for all tests where servers keep their tasks.
const databases = (...words) =>
  execFileSync("/usr/bin/python3", [join(here, "../e2e/databases.py"), ...words], { encoding: "utf8" });

export class Server {
  #process;
  #database;
  #ended;

  // `agents`: folders beside this one, or shipped examples. `cards`: cards of further agents, which may have files in
  // their folders already. `variables`: added to the program's environment.
  constructor(config = {}, agents = ["desk", "quiet", "strict", "brief"], cards = {}, variables = {}) {
    this.config = config;
    this.names = agents;
    this.cards = cards;
    this.variables = variables;
    this.folder = mkdtempSync(join(tmpdir(), "baton-interop-"));
    this.agents = join(this.folder, "agents");
  }

  // In the cards, replaces `node` by the one that runs this.
  #copyAgents() {
    mkdirSync(this.agents, { recursive: true });
    symlinkSync(join(here, "../../agent-cards/lib"), join(this.agents, "lib"));
    for (const name of this.names) {
      const own = join(here, "agents", name);
      const source = existsSync(own) ? own : join(here, "../../agent-cards", name);
      cpSync(source, join(this.agents, name), { recursive: true });
      const path = join(this.agents, name, "card.json");
      const card = JSON.parse(readFileSync(path, "utf8"));
      if (card.baton.command?.[0] === "node") card.baton.command[0] = process.execPath;
      writeFileSync(path, JSON.stringify(card));
    }
    for (const [name, card] of Object.entries(this.cards)) {
      mkdirSync(join(this.agents, name), { recursive: true });
      writeFileSync(join(this.agents, name, "card.json"), JSON.stringify(card));
    }
  }

  async start() {
    this.#copyAgents();
    this.#database = JSON.parse(databases("make", this.folder));
    const config = join(this.folder, "baton.json");
    writeFileSync(config, JSON.stringify(this.config), { mode: 0o600 });
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
        ...this.#database,
        "--agents",
        this.agents,
        "--allow-private-webhooks",
      ],
      { stdio: ["ignore", "pipe", log], env: { ...environment(), ...this.variables } },
    );
    closeSync(log);
    this.#ended = new Promise((resolve) => {
      this.#process.once("exit", (code, signal) => resolve(signal ?? code));
      this.#process.once("error", resolve);
    });
    try {
      this.address = await within(patience, "the program to listen", this.#listening());
    } catch (error) {
      const log = this.logEnd();
      await this.stop().catch(() => {}); // its log shows how it ended
      throw new Error(`${error.message}\n${log}`);
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

  // Opens this gate for the agent's turn that waits for it.
  open(gate, agent = "desk") {
    writeFileSync(join(this.agents, agent, `gate-${gate}`), "");
  }

  // Returns how often the agent executed `note NAME`.
  notes(name, agent) {
    const path = join(this.agents, agent, `note-${name}`);
    return existsSync(path) ? readFileSync(path, "utf8").split("\n").length - 1 : 0;
  }

  // Ends the program. Throws if it did not end well.
  async stop() {
    let outcome = 0;
    if (this.#process?.pid !== undefined) {
      this.#process.kill("SIGTERM");
      outcome = await within(patience, "the program to end", this.#ended).catch((error) => {
        this.#process.kill("SIGKILL");
        return error;
      });
    }
    const log = outcome === 0 ? "" : this.logEnd();
    this.#remove();
    if (outcome !== 0) throw new Error(`the program ended with ${outcome}\n${log}`);
  }

  kill() {
    this.#process?.kill("SIGKILL");
    this.#remove();
  }

  #remove() {
    rmSync(this.folder, { recursive: true, force: true });
    const [, database] = this.#database ?? [];
    if (database?.startsWith("postgresql://")) databases("drop", database);
  }
}
