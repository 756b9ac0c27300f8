// A worker for tests that look at tasks. The first word of the message is the command.
import { createInterface } from "node:readline";

const say = (turn, line) => process.stdout.write(`${JSON.stringify({ ...line, turn })}\n`);
const textOf = (message) => message.parts.map((part) => part.text ?? JSON.stringify(part.data ?? "")).join("");

const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script> \u202egnp.exe \u001b[31mred';
const form = {
  type: "object",
  required: ["decision"],
  properties: {
    decision: { type: "string", title: "Decision", enum: ["approve", "reject"] },
    amount: { type: "number", title: "Amount" },
    urgent: { type: "boolean", title: "Urgent" },
  },
};

const deeds = {
  echo(turn, rest) {
    say(turn, { type: "text", delta: rest });
    say(turn, { type: "done" });
  },
  many(turn, rest) {
    for (let number = 1; number <= Number(rest); ++number) say(turn, { type: "custom", name: "n", value: number });
    say(turn, { type: "done", message: "counted" });
  },
  form(turn) {
    say(turn, { type: "ask", message: "May this be paid?", schema: form });
  },
  hold(turn) {
    say(turn, { type: "status", message: "holding" });
  },
  fail(turn, rest) {
    say(turn, { type: "fail", error: rest || "It broke." });
  },
  hostile(turn) {
    say(turn, { type: "text", delta: hostile });
    say(turn, { type: "custom", name: hostile, value: { text: hostile } });
    say(turn, { type: "fail", error: hostile });
  },
};

function begin(order) {
  const text = textOf(order.message);
  if (order.resume) return deeds.echo(order.turn, `The answer was ${text}.`);
  const [, word, rest] = text.match(/^(\S*)\s*([^]*)$/);
  (deeds[word] ?? deeds.echo)(order.turn, rest);
}

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const order = JSON.parse(line);
  if (order.type === "turn") begin(order);
  if (order.type === "cancel") say(order.turn, { type: "fail", error: "stopped" });
});
lines.on("close", () => process.exit());
