import { agentApi } from "../clients/agent_api.mjs";
import { agentServer } from "../clients/agent_server.mjs";
import { agkit } from "../clients/agkit.mjs";
import { agui } from "../clients/agui.mjs";
import { aguiStream } from "../clients/agui_stream.mjs";
import * as agentApiOnly from "./agent_api.mjs";
import * as agentServerOnly from "./agent_server.mjs";
import * as agkitOnly from "./agkit.mjs";
import * as events from "./agui_events.mjs";
import * as interrupts from "./agui_interrupts.mjs";
import * as questions from "./questions.mjs";
import * as runs from "./agui_runs.mjs";
import * as streams from "./streams.mjs";

const casesOf = (...groups) => groups.flatMap((group) => Object.values(group));

// The clients, and the cases of each.
export const chats = [
  ...agui.map((client) => ({ client, cases: casesOf(runs, events, interrupts) })),
  { client: aguiStream, cases: [streams.everyId, streams.cutAndBack, streams.followed] },
  { client: agkit, cases: casesOf(streams, questions, agkitOnly) },
  { client: agentApi, cases: casesOf(streams, questions, agentApiOnly) },
  { client: agentServer, cases: casesOf(streams, questions, agentServerOnly) },
];
