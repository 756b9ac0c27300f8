// The graph of the guide (agent-cards/GUIDE-LANGGRAPH.md) as an agent, with the released LangGraph.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { assembled, collect, lastState, using } from "../cases/tools.mjs";
import { agui } from "../clients/agui.mjs";
import { v10 } from "../clients/v10.mjs";
import { Server } from "../lib/server.mjs";
import { blockOf } from "./tools.mjs";

const packages = fileURLToPath(new URL("../node_modules", import.meta.url));
const { version } = JSON.parse(readFileSync(join(packages, "@langchain/langgraph/package.json"), "utf8"));

const card = {
  name: "Graph",
  description: "Answers in two steps.",
  version: "1",
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [],
  // LangGraph wants Node 20; Node 18 has the missing parts behind a switch.
  baton: {
    executor: "command",
    mode: "turn",
    command: [
      process.execPath,
      ...(process.versions.node.startsWith("18.") ? ["--experimental-global-webcrypto"] : []),
      "agent.mjs",
    ],
  },
};

class Served extends Server {
  constructor() {
    super({}, [], { graph: card });
  }

  start() {
    const folder = join(this.agents, "graph");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "agent.mjs"), blockOf("agent-cards/GUIDE-LANGGRAPH.md", "Make `my-agents/graph/agent.mjs`"));
    symlinkSync(packages, join(folder, "node_modules"));
    return super.start();
  }
}

const cases = [
  {
    operation: "a graph's answer comes over A2A",
    run: (served) =>
      using(v10[0], served.base("graph"), {}, async (client) => {
        const events = await collect(client.stream("tea"));
        assert.equal(assembled(v10[0], events), "About tea: it depends on you.");
        assert.equal(lastState(events), "completed");
      }),
  },
  {
    operation: "a graph's nodes are steps over AG-UI",
    async run(served) {
      const events = await agui.at(-1).page(served.base("graph")).say("tea").run();
      const steps = events.filter((event) => event.type === "STEP_STARTED").map((event) => event.stepName);
      assert.deepEqual(steps, ["write", "polish"]);
    },
  },
];

// Not in the table of versions, because these cases test an agent behind Baton.
export const graph = { ...v10[0], sdk: "", api: `before LangGraph ${version}`, chain: new Served(), cases };
