// Only AG-Kit.
import assert from "node:assert/strict";
import { onlyTaskOf, script } from "./tools.mjs";
import { framesOf } from "../lib/sse.mjs";

const url = (world, agent = "stage") => `${world.stage.base(agent)}send-message`;

export const plainResume = {
  operation: "a resume whose payload is no JSON is the answer itself",
  async run(client, world) {
    const conversation = client.conversation();
    const body = conversation.say(script({ type: "ask", message: "Which colour?" }));
    const { question, text } = conversation.read(await framesOf(url(world), body));
    assert.equal(text, "Which colour?");
    const resume = { interruptId: question.id, payload: "light blue" };
    const answer = conversation.read(await framesOf(url(world), { conversationId: conversation.id, resume }));
    assert.equal(answer.text, 'The answer was ["light blue"]');
    await onlyTaskOf(world.stage, "stage", conversation.id);
  },
};

export const emptyMessages = {
  operation: "a request that says nothing",
  async run(client, world) {
    const conversation = client.conversation();
    const offered = { agent: "tools", ...client.tools("show_map") };
    const body = { ...conversation.say("show_map {}"), ...offered };
    const { calls } = conversation.read(await framesOf(url(world, "tools"), body));
    const nothing = { conversationId: conversation.id, messages: [], ...offered };
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(url(world, "tools"), { method: "POST", headers, body: JSON.stringify(nothing) });
    assert.deepEqual([answer.status, await answer.text()], [200, "data: [DONE]\n\n"]);
    const given = { ...conversation.give(calls[0].id, "seen"), ...offered };
    assert.match(conversation.read(await framesOf(url(world, "tools"), given)).text, /seen/);
  },
};

export const severalCalls = {
  operation: "calls at the same time",
  async run(client, world) {
    const call = (id) => ({ type: "tool-call", id, name: "own", arguments: { id } });
    const result = (id) => ({ type: "tool-result", id, content: { got: id } });
    const body = script(call("a"), call("b"), call("c"), result("b"), result("a"), result("c"), "say done");
    const conversation = client.conversation();
    const { calls, text } = conversation.read(await framesOf(url(world), conversation.say(body)));
    assert.equal(text, "done");
    assert.deepEqual(
      calls.map((each) => JSON.parse(each.result).got),
      calls.map((each) => each.arguments.id),
    );
  },
};
