// AG-UI: tools, shared state, steps and other output of agents.
import assert from "node:assert/strict";
import { callOf, finished, ofType, only, saidIn, tool, typesOf } from "./agui_tools.mjs";
import { byA2A, fresh, onlyTaskOf, script, textOf, toldIn } from "./tools.mjs";

const stage = (client, world, options) => client.page(world.stage.base("stage"), options);
const tools = (client, world, options) => client.page(world.stage.base("tools"), options);

function checkToolMessages(page, from) {
  const [asked, called, result, answer] = page.messages.slice(from);
  assert.deepEqual(
    [asked.role, called.role, result.role, answer.role, page.messages.length],
    ["user", "assistant", "tool", "assistant", from + 4],
    JSON.stringify(page.messages),
  );
  assert.equal(result.toolCallId, called.toolCalls[0].id);
  return result;
}

export const serverTool = {
  operation: "server tool",
  async run(client, world) {
    const page = tools(client, world);
    const calls = new Set();
    for (const [round, city] of ["Berlin", "Oslo"].entries()) {
      const events = finished(await page.say(`How is the weather in ${city}?`).run());
      const result = checkToolMessages(page, round * 4);
      assert.equal(JSON.parse(result.content).city, city);
      const call = callOf(page, round * 4);
      assert.deepEqual([call.name, call.arguments], ["get_weather", { city }]);
      assert.match(saidIn(events), new RegExp(`weather in ${city}`));
      calls.add(call.id);
    }
    assert.equal(calls.size, 2, "a call's id is unique in the thread");
    assert.equal(new Set(page.messages.map((message) => message.id)).size, 8, "and so is a message's");
  },
};

export const clientTool = {
  operation: "client tool round trip",
  async run(client, world) {
    const page = tools(client, world);
    const offered = { tools: [tool("show_map", { city: { type: "string" } })] };
    const events = finished(await page.say('Please call show_map with {"city": "Zürich"}').run(offered));
    assert.equal(ofType(events, "TOOL_CALL_RESULT").length, 0);
    const call = callOf(page);
    assert.deepEqual([call.name, call.arguments], ["show_map", { city: "Zürich" }]);
    assert.equal((await onlyTaskOf(world.stage, "tools", page.threadId)).state, "input-required");
    const said = saidIn(finished(await page.give(call.id, "The map is shown.").run(offered)));
    assert.equal(said, "The tool answered: The map is shown.");
    assert.equal((await onlyTaskOf(world.stage, "tools", page.threadId)).state, "completed");
    const again = finished(await page.say('Once more: show_map with {"city": "Bern"}').run(offered));
    assert.notEqual(only(again, "TOOL_CALL_START").toolCallId, call.id, "call ids are unique in the thread");
  },
};

export const clientToolWins = {
  operation: "a tool that client and agent have is the client's",
  async run(client, world) {
    const page = tools(client, world);
    const offered = { tools: [tool("get_weather", { city: { type: "string" } })] };
    const events = finished(await page.say("weather in Cairo").run(offered));
    assert.equal(ofType(events, "TOOL_CALL_RESULT").length, 0);
    const call = callOf(page);
    assert.deepEqual(call.arguments, { city: "Cairo" });
    assert.match(saidIn(finished(await page.give(call.id, "Sand.").run(offered))), /Sand\./);
  },
};

export const mixedTools = {
  operation: "own tool and client's tool in one round",
  async run(client, world) {
    const page = stage(client, world).say(
      script(
        { type: "tool-call", id: fresh(), name: "own", arguments: {} },
        "say between",
        { type: "tool-call", id: "named-by-the-agent", name: "own", arguments: { deep: [1, "ü"] } },
        { type: "tool-result", id: "named-by-the-agent", content: "plain" },
        { type: "tool-call", id: fresh(), name: "show", arguments: { a: 1 } },
      ),
    );
    const events = finished(await page.run({ tools: [tool("show")] }));
    const names = ofType(events, "TOOL_CALL_START").map((event) => event.toolCallName);
    assert.deepEqual(names, ["own", "own", "show"]);
    const shown = page.messages.flatMap((message) => message.toolCalls ?? []).at(-1);
    finished(await page.give(shown.id, "done").run({ tools: [tool("show")] }));
  },
};

export const offeredTools = {
  operation: "the agent receives the client's tools",
  async run(client, world) {
    const offered = [tool("show_map", { city: { type: "string" } })];
    const page = stage(client, world).say("told tools");
    const [told] = toldIn(saidIn(finished(await page.run({ tools: offered }))));
    const { name, description, parameters } = told;
    assert.deepEqual({ name, description, parameters }, offered[0]);
  },
};

export const state = {
  operation: "shared state",
  async run(client, world) {
    const page = stage(client, world, { state: { count: 1, list: ["a"] } });
    const patch = [
      { op: "replace", path: "/count", value: 2 },
      { op: "add", path: "/list/-", value: { b: "ü" } },
    ];
    const events = finished(await page.say(script("told state", { type: "state", delta: patch })).run());
    assert.deepEqual(toldIn(saidIn(events)), { count: 1, list: ["a"] });
    assert.deepEqual(page.agent.state, { count: 2, list: ["a", { b: "ü" }] });
    const body = script(
      { type: "state", snapshot: { fresh: true, n: null } },
      { type: "state", delta: [{ op: "remove", path: "/fresh" }] },
    );
    finished(await page.say(body).run());
    assert.deepEqual(page.agent.state, { n: null });
  },
};

export const steps = {
  operation: "steps",
  async run(client, world) {
    const step = (name, phase) => ({ type: "step", name, phase });
    const body = script(
      step("plan", "start"),
      "say one",
      step("look", "start"),
      step("look", "finish"),
      step("plan", "finish"),
      step("plan", "start"),
      step("plan", "finish"),
    );
    const shown = ofType(finished(await stage(client, world).say(body).run()), "STEP_STARTED", "STEP_FINISHED");
    assert.deepEqual(
      shown.map((event) => `${event.type.slice(5)} ${event.stepName}`),
      ["STARTED plan", "STARTED look", "FINISHED look", "FINISHED plan", "STARTED plan", "FINISHED plan"],
    );
    // An agent that leaves a step open must not break the protocol.
    const careless = script(step("left open", "start"), "say one");
    finished(await stage(client, world).say(careless).run());
  },
};

export const reasoning = {
  operation: "reasoning",
  async run(client, world) {
    const think = (delta) => ({ type: "reasoning", delta });
    const page = client.has.reasoning ? stage(client, world) : client.page(world.dated.base("stage"));
    page.say(script(think("Let me "), think("think."), "say Done", think("Again.")));
    const events = finished(await page.run(), "Done");
    const thought = page.messages.filter((message) => message.role === "reasoning").map((message) => message.content);
    const shown = events.filter((event) => /^(REASONING|THINKING)/.test(event.type));
    if (client.has.reasoning) assert.deepEqual(thought, ["Let me think.", "Again."]);
    else assert.ok(shown.every((event) => event.type.startsWith("THINKING")));
    const [, second] = [page.say("told history"), saidIn(finished(await page.run()))];
    assert.match(second, /Done/);
  },
};

export const activity = {
  operation: "activities",
  async run(client, world) {
    const body = script(
      { type: "activity", id: "plan", activity: "PLAN", content: { steps: ["look"], done: 0 } },
      "say working",
      { type: "activity", id: "plan", activity: "PLAN", patch: [{ op: "replace", path: "/done", value: 1 }] },
    );
    const page = stage(client, world).say(body);
    finished(await page.run(), "working");
    const [shown, ...more] = page.messages.filter((message) => message.role === "activity");
    assert.deepEqual([more.length, shown.activityType], [0, "PLAN"]);
    assert.deepEqual(shown.content, { steps: ["look"], done: 1 });
    finished(await page.say(script({ type: "activity", id: "plan", activity: "PLAN", content: { b: 1 } })).run());
  },
};

export const custom = {
  operation: "custom events, progress, artifacts, usage",
  async run(client, world) {
    const used = { provider: "p", model: "m", inputTokens: 3, outputTokens: 4 };
    const artifact = { artifactId: "a1", name: "chart", parts: [{ data: { rows: [1, 2] } }] };
    const body = script(
      { type: "custom", name: "mark", value: { a: [1] } },
      { type: "status", message: "half", progress: 0.5 },
      { type: "artifact", artifact, lastChunk: true },
      { type: "artifact", artifact: { artifactId: "a2", name: "note", parts: [{ text: "written" }] }, lastChunk: true },
      { type: "usage", usage: used },
    );
    const page = stage(client, world).say(body);
    const events = finished(await page.run(), "written");
    const shown = Object.fromEntries(ofType(events, "CUSTOM").map((event) => [event.name, event.value]));
    assert.deepEqual(shown.mark, { a: [1] });
    assert.deepEqual([shown.status.message, shown.status.progress], ["half", 0.5]);
    assert.ok(JSON.stringify(shown.artifact).includes('"rows":[1,2]'), JSON.stringify(shown));
    if (client.has.newer) assert.deepEqual(events.at(-1).usage, [used], JSON.stringify(events.at(-1)));
    const task = await onlyTaskOf(world.stage, "stage", page.threadId);
    assert.deepEqual(task.artifacts.map((each) => each.name).slice(0, 2), ["chart", "note"]);
    assert.equal(textOf(task), "written");
  },
};

export const subagents = {
  operation: "an agent that delegates",
  async run(client, world) {
    const page = stage(client, world).say("delegate tools weather in Paris");
    const events = finished(await page.run());
    assert.match(saidIn(events), /^tools: .*COMPLETED/i);
    const shown = typesOf(events).filter((type) => type.startsWith("SUBAGENT"));
    assert.deepEqual(shown, client.has.newer ? ["SUBAGENT_STARTED", "SUBAGENT_FINISHED"] : []);
    const failing = stage(client, world).say('delegate talk {"type":"fail","error":"It broke."}');
    const failed = finished(await failing.run());
    assert.match(saidIn(failed), /^talk: .*FAILED/i);
    if (client.has.newer) assert.match(only(failed, "SUBAGENT_ERROR").message, /./);
  },
};

export const toolsFromA2A = {
  operation: "a client tool's result may come from A2A",
  async run(client, world) {
    const page = tools(client, world);
    const offered = { tools: [tool("show_map")] };
    finished(await page.say("show_map {}").run(offered));
    const { id } = callOf(page);
    const { id: taskId } = await onlyTaskOf(world.stage, "tools", page.threadId);
    await byA2A(world.stage, "tools", async (a2a) => {
      const parts = [{ data: { toolResult: { id, content: "from elsewhere" } } }];
      const task = await a2a.send("", { taskId, parts, blocking: true });
      assert.equal(task.state, "completed");
      assert.match(textOf(task), /The tool answered: \s*from elsewhere/);
    });
  },
};

export const sameIds = {
  operation: "an agent that uses a call's id again",
  async run(client, world) {
    const page = stage(client, world);
    const offered = { tools: [tool("show")] };
    for (const round of [0, 1]) {
      const own = { type: "tool-call", id: "c1", name: "own", arguments: { round } };
      const result = { type: "tool-result", id: "c1", content: "seen" };
      finished(await page.say(script(own, result, { ...own, id: "c2", name: "show" })).run(offered));
      const call = page.messages.flatMap((message) => message.toolCalls ?? []).at(-1);
      const answer = saidIn(finished(await page.give(call.id, "shown").run(offered)));
      assert.equal(answer, 'The answer was [{"call": "c2", "content": "shown"}]', "the agent hears its own id");
    }
    const calls = page.messages.flatMap((message) => message.toolCalls ?? []);
    assert.equal(new Set(calls.map((call) => call.id)).size, 4, JSON.stringify(calls));
    assert.deepEqual(
      calls.map((call) => JSON.parse(call.function.arguments).round),
      [0, 0, 1, 1],
    );
  },
};
