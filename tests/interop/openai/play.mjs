// Plays one case of one client against the program: play.mjs CLIENT OPERATION URL GATES. Fails if the case does.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { operations } from "./operations.mjs";

const [, , name, operation, baseURL, gates] = process.argv;
const openGate = (gate) => writeFileSync(join(gates, `gate-${gate}`), "");

const model = "stage";
const line = (value) => JSON.stringify(value);
const asks = (message) => line({ type: "ask", message });
const calls = line({ type: "tool-call", id: "c1", name: "look", arguments: { place: "here" } });
const parameters = { type: "object", properties: { place: { type: "string" } }, required: ["place"] };
const file = line({
  type: "artifact",
  artifact: { artifactId: "f", parts: [{ raw: "aGk=", filename: "a.zip", mediaType: "application/zip" }] },
  lastChunk: true,
});
const user = (content) => [{ role: "user", content }];

// ---- The official client.

const client = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0 });

async function collect(stream) {
  const all = [];
  for await (const one of stream) all.push(one);
  return all;
}

const official = {
  async "models are listed and an unknown one is not found"() {
    const ids = (await collect(await client.models.list())).map(({ id }) => id);
    assert.deepEqual(ids, ["quiet", "stage"]);
    assert.equal((await client.models.retrieve("stage")).object, "model");
    const lost = client.responses.create({ model: "nobody", input: "x" });
    await assert.rejects(lost, { status: 404, code: "model_not_found", param: "model" });
  },
  async "a completion is whole or streamed with usage"() {
    const request = { model, messages: user("say one two three") };
    const { choices } = await client.chat.completions.create(request);
    assert.equal(choices[0].message.content.trim(), "one two three");
    const usage = line({ type: "usage", usage: { inputTokens: 3, outputTokens: 5 } });
    const streamed = client.chat.completions.stream({
      model,
      messages: user(`${usage}\nsay one two three`),
      stream_options: { include_usage: true },
    });
    const whole = await streamed.finalChatCompletion();
    assert.equal(whole.choices[0].message.content.trim(), "one two three");
    assert.equal(whole.usage.total_tokens, 8);
  },
  async "a completion's tools are run by the client"() {
    const seen = [];
    const look = { name: "look", parameters, parse: JSON.parse, function: ({ place }) => seen.push(place) && "sunny" };
    for (const stream of [false, true]) {
      const runner = client.chat.completions.runTools({
        model,
        stream,
        messages: user(calls),
        tools: [{ type: "function", function: look }],
      });
      assert.match(await runner.finalContent(), /The answer was .*sunny/);
    }
    assert.deepEqual(seen, ["here", "here"]);
  },
  async "a response is whole or streamed"() {
    const request = { model, input: "say one two three", metadata: { a: "b" }, instructions: "Be brief." };
    const whole = await client.responses.create(request);
    assert.equal(whole.output_text.trim(), "one two three");
    assert.deepEqual([whole.status, whole.metadata, whole.instructions], ["completed", { a: "b" }, "Be brief."]);
    let text = "";
    const stream = client.responses.stream(request).on("response.output_text.delta", ({ delta }) => (text += delta));
    const final = await stream.finalResponse();
    assert.equal(text, final.output_text);
    assert.deepEqual((await client.responses.retrieve(final.id)).output_text, final.output_text);
    const items = await collect(await client.responses.inputItems.list(final.id));
    assert.deepEqual(items[0].content, [{ type: "input_text", text: "say one two three" }]);
  },
  async "a stream is taken up after a number"() {
    const input = "say one two\nhold openai\nsay three";
    const stream = await client.responses.create({ model, input, stream: true, background: true });
    const seen = [];
    for await (const event of stream) {
      seen.push(event);
      if (event.type === "response.output_text.delta") break; // ends the connection
    }
    const { id } = seen[0].response;
    openGate("openai");
    const last = seen.at(-1).sequence_number;
    const rest = await collect(await client.responses.retrieve(id, { stream: true, starting_after: last }));
    const numbers = [...seen, ...rest].map((event) => event.sequence_number);
    assert.deepEqual(numbers, numbers.map((_, index) => index));
    assert.equal(rest.at(-1).type, "response.completed");
    const again = await client.responses.stream({ response_id: id, starting_after: last }).finalResponse();
    assert.equal(again.output_text, (await client.responses.retrieve(id)).output_text);
  },
  async "a background response is polled, canceled and deleted"() {
    const { id, status } = await client.responses.create({ model, input: "hold never", background: true });
    assert.ok(["queued", "in_progress"].includes(status));
    assert.ok(["queued", "in_progress"].includes((await client.responses.retrieve(id)).status));
    assert.equal((await client.responses.cancel(id)).status, "cancelled");
    await client.responses.delete(id);
    await assert.rejects(client.responses.retrieve(id), { status: 404 });
  },
  async "a question is answered by the next response"() {
    const asked = await client.responses.create({ model, input: asks("which colour?") });
    assert.equal(asked.output_text, "which colour?");
    const { output_text } = await client.responses.create({ model, input: "blue", previous_response_id: asked.id });
    assert.match(output_text, /blue/);
    const named = await client.responses.create({ model, input: asks("and now?"), conversation: asked.conversation.id });
    assert.deepEqual(named.conversation, asked.conversation);
  },
  async "a function is called and its output given"() {
    for (const [functionName, input] of [["look", calls], ["ask", asks("sure?")]]) {
      const tools = [{ type: "function", name: functionName, parameters, strict: null }];
      const stream = client.responses.stream({ model, input, tools });
      const asked = await stream.finalResponse();
      const [call] = asked.output;
      assert.equal(call.name, functionName);
      JSON.parse(call.arguments);
      const output = [{ type: "function_call_output", call_id: call.call_id, output: "yes" }];
      const { output_text } = await client.responses.create({ model, tools, input: output, previous_response_id: asked.id });
      assert.match(output_text, /yes/);
    }
  },
  async "a failure is told"() {
    const fails = line({ type: "fail", error: "no luck" });
    const { status, error } = await client.responses.create({ model, input: fails });
    assert.deepEqual([status, error.message], ["failed", "no luck"]);
    const request = { model, messages: user(fails) };
    await assert.rejects(client.chat.completions.create(request), { status: 400, code: "agent_failed" });
    await assert.rejects(collect(await client.chat.completions.create({ ...request, stream: true })), /no luck/);
  },
};

// ---- The AI SDK.

const provider = createOpenAI({ baseURL, apiKey: "none" });
const kinds = { responses: provider.responses(model), "chat completions": provider.chat(model) };

const generated = async (kind) => {
  const { text, finishReason } = await generateText({ model: kinds[kind], prompt: "say one two three" });
  assert.deepEqual([text.trim(), finishReason], ["one two three", "stop"]);
  const streamed = streamText({ model: kinds[kind], prompt: "say one two three", onError: ({ error }) => assert.fail(error) });
  assert.equal((await collect(streamed.textStream)).join("").trim(), "one two three");
};

const ran = async (kind) => {
  const look = tool({ inputSchema: jsonSchema(parameters), execute: async ({ place }) => `sunny ${place}` });
  const options = { model: kinds[kind], prompt: calls, tools: { look }, stopWhen: stepCountIs(3) };
  assert.match((await generateText(options)).text, /The answer was .*sunny here/);
  const streamed = streamText({ ...options, onError: ({ error }) => assert.fail(error) });
  assert.match((await collect(streamed.textStream)).join(""), /The answer was .*sunny here/);
};

const aiSdk = {
  "a text is generated and streamed over responses": () => generated("responses"),
  "a text is generated and streamed over chat completions": () => generated("chat completions"),
  async "a file is a text with a source"() {
    const { text, sources } = await generateText({ model: kinds.responses, prompt: `say see\n${file}` });
    assert.match(text, /\[a\.zip\]\(http:\/\/.*\/artifacts\/f\/parts\/0\)/);
    assert.equal(sources[0].title, "a.zip");
  },
  "a tool is run over responses": () => ran("responses"),
  "a tool is run over chat completions": () => ran("chat completions"),
  async "a conversation continues by references"() {
    const messages = user(asks("which colour?"));
    for (const [kind, chosen] of Object.entries(kinds)) {
      const { response, text } = await generateText({ model: chosen, messages });
      assert.equal(text, "which colour?", kind);
      const next = await generateText({ model: chosen, messages: [...messages, ...response.messages, ...user("blue")] });
      assert.match(next.text, /The answer was .*blue/, kind);
    }
  },
};

const cases = { openai: official, "@ai-sdk/openai": aiSdk };
for (const [each, names] of Object.entries(operations)) assert.deepEqual(Object.keys(cases[each]), names);
await cases[name][operation]();
process.exit(0);
