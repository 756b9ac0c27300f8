// A plain chat page: only React and AG-UI's HttpAgent. ?agent= is the URL of the agent's endpoint.
import { HttpAgent } from "@ag-ui/client";
import { useState } from "react";
import { createRoot } from "react-dom/client";

const agent = new HttpAgent({ url: new URLSearchParams(location.search).get("agent") });

const showMap = {
  name: "show_map",
  description: "Shows the map of a city to the user.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

// Runs the waiting tools of this page and adds their results. Returns true if there were any, to continue the run.
function giveResults() {
  const given = new Set(agent.messages.map((message) => message.toolCallId));
  const calls = agent.messages.flatMap((message) => message.toolCalls ?? []);
  const waiting = calls.filter((call) => call.function.name === showMap.name && !given.has(call.id));
  for (const { id, function: called } of waiting) {
    const content = `The user sees the map of ${JSON.parse(called.arguments).city}.`;
    agent.addMessage({ id: crypto.randomUUID(), role: "tool", toolCallId: id, content });
  }
  return waiting.length > 0;
}

function ToolCard({ call, result }) {
  const { city } = JSON.parse(call.function.arguments || "{}");
  const isMap = call.function.name === showMap.name;
  return (
    <section className={isMap ? "map card" : "tool card"}>
      <b>{isMap ? `Map of ${city}` : call.function.name}</b>
      <code>{call.function.arguments}</code>
      {result && <output>{result.content}</output>}
    </section>
  );
}

function ApprovalCard({ interrupt, answer }) {
  return (
    <section className="approval card">
      <b>{interrupt.message}</b>
      <button onClick={() => answer(interrupt, true)}>Approve</button>
      <button onClick={() => answer(interrupt, false)}>Refuse</button>
    </section>
  );
}

function Message({ message, all }) {
  if (message.role === "tool") return null;
  const resultOf = (call) => all.find((other) => other.toolCallId === call.id);
  return (
    <div className={message.role}>
      {message.content && <p>{message.content}</p>}
      {message.toolCalls?.map((call) => (
        <ToolCard key={call.id} call={call} result={resultOf(call)} />
      ))}
    </div>
  );
}

function Chat() {
  const [{ messages, open, error, running }, setView] = useState({ messages: [], open: [] });
  const show = (more) =>
    setView({ messages: structuredClone(agent.messages), open: [...agent.pendingInterrupts], ...more });

  async function run(parameters = {}) {
    const watch = {
      onEvent: () => show({ running: true }),
      onMessagesChanged: () => show({ running: true }),
      onRunErrorEvent: ({ event }) => (error = event.message),
    };
    let error;
    try {
      do await agent.runAgent({ ...parameters, tools: [showMap] }, watch);
      while (giveResults());
    } catch (failure) {
      error = failure.message;
    }
    show({ error });
  }

  // HttpAgent requires answers to all open interrupts; a new message cancels them.
  function send(event) {
    event.preventDefault();
    agent.addMessage({ id: crypto.randomUUID(), role: "user", content: event.target.text.value });
    event.target.reset();
    const resume = agent.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: "cancelled" }));
    run(resume.length > 0 ? { resume } : {});
  }

  const answer = ({ id }, approved) =>
    run({ resume: [{ interruptId: id, status: "resolved", payload: { approved } }] });

  return (
    <main>
      {messages.map((message, index) => (
        <Message key={index} message={message} all={messages} />
      ))}
      {open.map((interrupt) => (
        <ApprovalCard key={interrupt.id} interrupt={interrupt} answer={answer} />
      ))}
      {error && <p className="error">{error}</p>}
      <form onSubmit={send}>
        <textarea name="text" cols="60" rows="2" autoFocus /> <button disabled={running}>Send</button>
      </form>
    </main>
  );
}

createRoot(document.querySelector("#root")).render(<Chat />);
