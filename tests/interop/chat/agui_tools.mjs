// Shared by the cases of AG-UI.
import assert from "node:assert/strict";

export const typesOf = (events) => events.map((event) => event.type);
export const ofType = (events, ...types) => events.filter((event) => types.includes(event.type));
export const only = (events, type) => {
  const found = ofType(events, type);
  assert.equal(found.length, 1, `${type} in ${typesOf(events)}`);
  return found[0];
};
export const saidIn = (events) =>
  ofType(events, "TEXT_MESSAGE_CONTENT")
    .map((event) => event.delta)
    .join("");

// Asserts that the run went well: it began, said `text` and finished.
export function finished(events, text) {
  assert.equal(events[0].type, "RUN_STARTED", typesOf(events).join());
  const last = events.at(-1);
  assert.equal(last.type, "RUN_FINISHED", JSON.stringify(last));
  assert.ok(!last.outcome || last.outcome.type === "success", JSON.stringify(last));
  if (text !== undefined) assert.equal(saidIn(events), text);
  return events;
}

// Asserts that the run ended by RUN_ERROR, as the last event.
export function wentWrong(events, message) {
  const last = events.at(-1);
  assert.equal(last.type, "RUN_ERROR", typesOf(events).join());
  assert.match(last.message, message);
  return last;
}

// Returns the interrupts with which the run ended.
export function interruptsIn(events) {
  const { outcome, type } = events.at(-1);
  assert.equal(type, "RUN_FINISHED", typesOf(events).join());
  assert.equal(outcome?.type, "interrupt", JSON.stringify(events.at(-1)));
  return outcome.interrupts;
}

export const talkOf = (page) => page.messages.map(({ role, content }) => [role, content]);

// Returns the only tool call among the page's messages since `from`.
export function callOf(page, from = 0) {
  const calls = page.messages.slice(from).flatMap((message) => message.toolCalls ?? []);
  assert.equal(calls.length, 1, JSON.stringify(page.messages));
  return { id: calls[0].id, name: calls[0].function.name, arguments: JSON.parse(calls[0].function.arguments) };
}

export const tool = (name, properties = {}) => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: "object", properties },
});
