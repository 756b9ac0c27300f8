// The agents that play the tools which the conformance kit calls by name.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const player = join(dirname(fileURLToPath(import.meta.url)), "player.py");

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";
const base64 = (text) => Buffer.from(text).toString("base64");

const done = (...parts) => [{ type: "done", message: { parts } }];
const ask = (id, message, properties, required = Object.keys(properties)) => [
  { type: "ask", id, message, schema: { type: "object", properties, required } },
];
const string = { type: "string" };
const titled = (...names) => names.map((title, i) => ({ const: `value${i + 1}`, title }));
const options = ["option1", "option2", "option3"];

// For each tool its rounds, as player.py takes them.
const rounds = {
  test_simple_text: { "": done({ text: "This is a simple text response for testing." }) },
  test_image_content: { "": done({ raw: png, mediaType: "image/png" }) },
  test_audio_content: { "": done({ raw: wav, mediaType: "audio/wav" }) },
  test_embedded_resource: { "": done({ raw: base64("This is an embedded resource content."), mediaType: "text/plain" }) },
  test_multiple_content_types: {
    "": done(
      { text: "Multiple content types test:" },
      { raw: png, mediaType: "image/png" },
      { raw: base64('{"test":"data","value":123}'), mediaType: "application/json" },
    ),
  },
  test_error_handling: { "": [{ type: "fail", error: "This tool intentionally returns an error for testing" }] },
  test_tool_with_progress: {
    "": [
      ...[0, 0.5, 1].map((progress) => ({ type: "status", progress })),
      ...done({ text: "progress is made" }),
    ],
  },
  test_elicitation: {
    "": ask("who", "Please provide your information", { username: string, email: string }),
    who: done({ text: "User response: accepted" }),
  },
  test_elicitation_sep1034_defaults: {
    "": ask("all", "Please check the defaults", {
      name: { ...string, default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { ...string, enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    }),
    all: done({ text: "Elicitation completed" }),
  },
  test_elicitation_sep1330_enums: {
    "": ask("all", "Please choose", {
      untitledSingle: { ...string, enum: options },
      titledSingle: { ...string, oneOf: titled("First Option", "Second Option", "Third Option") },
      legacyEnum: { ...string, enum: ["opt1", "opt2", "opt3"], enumNames: ["Option One", "Option Two", "Option Three"] },
      untitledMulti: { type: "array", items: { ...string, enum: options } },
      titledMulti: { type: "array", items: { anyOf: titled("First Choice", "Second Choice", "Third Choice") } },
    }),
    all: done({ text: "Elicitation completed" }),
  },
  test_input_required_result_elicitation: {
    "": ask("user_name", "What is your name?", { name: string }),
    user_name: done({ text: "Hello, Alice!" }),
  },
  test_input_required_result_request_state: {
    "": ask("confirm", "Please confirm", { ok: { type: "boolean" } }),
    confirm: done({ text: "state-ok" }),
  },
  test_input_required_result_multi_round: {
    "": ask("step1", "Step 1: What is your name?", { name: string }),
    step1: ask("step2", "Step 2: What is your favorite color?", { color: string }),
    step2: done({ text: "Alice likes blue" }),
  },
  test_input_required_result_tampered_state: {
    "": ask("confirm", "Please confirm", { ok: { type: "boolean" } }),
    confirm: done({ text: "state-ok" }),
  },
  // What server-stateless calls.
  test_logging_tool: { "": done({ text: "nothing is logged" }) },
  test_trigger_tool_change: { "": [{ reload: true }, ...done({ text: "the tools have changed" })] },
  test_streaming_elicitation: { "": ask("who", "What is your name?", { name: string }), who: done({ text: "thanks" }) },
  // Tools for the scenarios of the tasks extension.
  greet: { "": done({ text: "Hello, {name}!" }) },
  slow_compute: { "": [{ sleep: "seconds" }, ...done({ text: "{label} is computed" })] },
  held: { "": [{ hold: "gate" }, ...done({ text: "it is over" })] }, // for handles.mjs
  failing_job: { "": [{ sleep: 1 }, { type: "fail", error: "this job fails" }] },
  confirm_delete: {
    "": ask("confirm", "Delete the file?", { confirm: { type: "boolean" } }),
    confirm: done({ text: "it is deleted" }),
  },
};

const card = (name) => ({
  name,
  description: `Plays ${name}.`,
  version: "1.0.0",
  defaultInputModes: ["application/json"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: name, name, description: `Plays ${name}.`, tags: ["test"] }],
  baton: {
    executor: "command",
    command: ["/usr/bin/python3", player],
    env: { ROUNDS: JSON.stringify(rounds[name]) },
    cancel_grace_s: 0,
    tool: { input_schema: { type: "object" } },
  },
});

export const cards = Object.fromEntries(Object.keys(rounds).map((name) => [name, card(name)]));
