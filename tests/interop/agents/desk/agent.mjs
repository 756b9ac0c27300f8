// A worker of Baton's line protocol. The first word of the message is the command.
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";

const held = new Map(); // turn: its gate
let looks; // the timer, while turns are held

const say = (turn, line) => process.stdout.write(`${JSON.stringify({ ...line, turn })}\n`);
const textOf = (message) => message.parts.map((part) => part.text ?? "").join("");
const isUser = (message) => message.role === "ROLE_USER" || message.role === "user";

const piece = (turn, text, append, lastChunk) =>
  say(turn, {
    type: "artifact",
    artifact: { artifactId: "pieces", name: "pieces", parts: [{ text }] },
    append,
    lastChunk,
  });

const deeds = {
  echo(order, rest) {
    for (const word of rest.match(/\S+\s*/g) ?? []) say(order.turn, { type: "text", delta: word });
    say(order.turn, { type: "done" });
  },
  mirror(order) {
    const parts = order.message.parts.slice(1);
    say(order.turn, { type: "artifact", artifact: { artifactId: "mirror", name: "mirror", parts }, lastChunk: true });
    say(order.turn, { type: "done" });
  },
  count(order, rest) {
    for (let number = 1; number <= Number(rest); ++number) {
      say(order.turn, { type: "status", message: `step ${number}` });
      piece(order.turn, `${number} `, number > 1, number === Number(rest));
    }
    say(order.turn, { type: "done", message: "counted" });
  },
  hold(order, gate) {
    say(order.turn, { type: "status", message: "holding" });
    piece(order.turn, "one ", false, false);
    held.set(order.turn, gate);
    looks ??= setInterval(lookAtGates, 20);
  },
  ask(order, rest) {
    say(order.turn, { type: "ask", message: `Which colour for ${rest}?` });
  },
  auth(order) {
    say(order.turn, { type: "auth", message: "Please log in.", url: "https://example.com/login" });
  },
  fail(order) {
    say(order.turn, { type: "fail", error: "It broke." });
  },
  refuse(order) {
    say(order.turn, { type: "reject", reason: "Not my work." });
  },
  remember(order) {
    const texts = (order.history ?? []).filter(isUser).map(textOf);
    say(order.turn, { type: "text", delta: JSON.stringify(texts) });
    say(order.turn, { type: "done" });
  },
};

function begin(order) {
  const text = textOf(order.message);
  if (order.resume) {
    say(order.turn, { type: "text", delta: `The answer was ${text}.` });
    say(order.turn, { type: "done" });
    return;
  }
  const [, word, rest] = text.match(/^(\S*)\s*([^]*)$/);
  const deed = deeds[word] ?? (() => say(order.turn, { type: "fail", error: `What is ${word}?` }));
  deed(order, rest);
}

function lookAtGates() {
  for (const [turn, gate] of held) {
    if (!existsSync(`gate-${gate}`)) continue;
    held.delete(turn);
    piece(turn, "two", true, true);
    say(turn, { type: "done", message: "released" });
  }
  if (held.size === 0) {
    clearInterval(looks);
    looks = undefined;
  }
}

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const order = JSON.parse(line);
  if (order.type === "turn") begin(order);
  if (order.type === "cancel" && held.delete(order.turn)) say(order.turn, { type: "fail", error: "stopped" });
});
lines.on("close", () => process.exit());
