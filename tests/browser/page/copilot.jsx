// A chat page of CopilotKit's own components, connected directly to an agent. ?agent= is the URL of its endpoint.
import {
  CopilotChat,
  CopilotKitProvider,
  HttpAgent,
  useFrontendTool,
  useHumanInTheLoop,
  useInterrupt,
} from "@copilotkit/react-core/v2";
import { useState } from "react";
import { createRoot } from "react-dom/client";
import { z } from "zod";

const agent = new HttpAgent({ url: new URLSearchParams(location.search).get("agent") });

function Chat() {
  const [color, setColor] = useState("white");
  useInterrupt({
    agentId: "default",
    render: ({ resolve }) => (
      <section className="approval question">
        <button className="main" onClick={() => resolve({ approved: true })}>Approve</button>
        <button onClick={() => resolve({ approved: false })}>Reject</button>
      </section>
    ),
  });
  useFrontendTool({
    name: "set_color",
    description: "Sets the color of the page.",
    parameters: z.object({ color: z.string() }),
    handler: async ({ color }) => {
      setColor(color);
      return `The page is ${color}.`;
    },
  });
  useHumanInTheLoop({
    name: "pick_seat",
    description: "Lets the user pick a seat.",
    parameters: z.object({ row: z.number() }),
    render: ({ args, status, respond }) => (
      <section className="seat card">
        <b>Row {args.row}</b>
        {status === "executing" && <button onClick={() => respond(`Seat A in row ${args.row}`)}>Seat A</button>}
      </section>
    ),
  });
  return (
    <main>
      <output id="color">{color}</output>
      <CopilotChat agentId="default" />
    </main>
  );
}

createRoot(document.querySelector("#root")).render(
  <CopilotKitProvider agents__unsafe_dev_only={{ default: agent }}>
    <Chat />
  </CopilotKitProvider>,
);
