// The HttpAgent of @ag-ui/client of three generations. Every run passes through its verifier, and the cases also fail
// on its mere warnings (lib/runner.mjs).
import { randomUUID } from "node:crypto";
import * as newest from "agui-client-10";
import * as v0042 from "agui-client-0042";
import * as v0059 from "agui-client-0059";

// A chat page: one thread of one agent.
class Page {
  constructor(HttpAgent, url, { threadId = randomUUID(), token, headers = {}, messages = [], state } = {}) {
    const authorization = token ? { Authorization: `Bearer ${token}` } : {};
    this.agent = new HttpAgent({
      url,
      threadId,
      headers: { ...headers, ...authorization },
      initialMessages: messages,
      initialState: state,
    });
  }

  get threadId() {
    return this.agent.threadId;
  }

  get messages() {
    return this.agent.messages;
  }

  say(content) {
    this.agent.addMessage({ id: randomUUID(), role: "user", content });
    return this;
  }

  // Adds the result of a tool that the front end has run.
  give(toolCallId, content) {
    this.agent.addMessage({ id: randomUUID(), role: "tool", toolCallId, content });
    return this;
  }

  // Returns the events of the run; throws what `runAgent` throws. Calls `hear` with each event as it arrives.
  async run(parameters = {}, hear = () => {}) {
    const events = [];
    const onEvent = ({ event }) => {
      events.push(structuredClone(event));
      hear(event);
    };
    await this.agent.runAgent(parameters, { onEvent });
    return events;
  }

  abort() {
    this.agent.abortRun();
  }
}

const of = (version, { HttpAgent }, has) => ({
  sdk: `@ag-ui/client ${version}`,
  protocol: "AG-UI",
  transport: "SSE",
  api: "HttpAgent",
  has,
  HttpAgent,
  warningsFail: true,
  page: (base, options) => new Page(HttpAgent, `${base}send-message`, options),
  pageAt: (url, options) => new Page(HttpAgent, url, options),
});

export const agui = [
  { ...of("0.0.42", v0042, { binary: true }), onlyInEverything: true },
  of("0.0.59", v0059, { resume: true, sources: true, reasoning: true }),
  of("1.0.0", newest, { resume: true, sources: true, reasoning: true, newer: true }),
];
