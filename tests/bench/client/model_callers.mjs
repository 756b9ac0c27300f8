// Callers of a paced model (servers/model.mjs): COUNT streams at the same time, of sends to URL with the text WORDS.
//   node model_callers.mjs URL COUNT WORDS [MODEL]
// With MODEL, URL is that of OpenAI's chat completions.
// Reads commands from standard input and answers each with a line of JSON:
//   begun        once every stream has had a token
//   measure MS   the tokens that arrive in this time, and their delay since the model has said them
import { createInterface } from "node:readline";
import { Agent, request } from "node:http";

const [url, count, words, model] = [process.argv[2], Number(process.argv[3]), ...process.argv.slice(4)];
const agent = new Agent({ keepAlive: false, maxSockets: Infinity });
const now = () => (performance.timeOrigin + performance.now()) * 1000;
let begun = 0;
let failures = 0;
let delays = null; // while measuring
let whenBegun;

const send = (nth) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "SendStreamingMessage",
  params: { message: { messageId: `m${process.pid}-${nth}`, role: "ROLE_USER", parts: [{ text: words }] } },
});
const completion = () => ({ model, stream: true, messages: [{ role: "user", content: words }] });

function call(nth) {
  const body = JSON.stringify(model ? completion() : send(nth));
  const headers = { "Content-Type": "application/json", "A2A-Version": "1.0", "Content-Length": Buffer.byteLength(body) };
  const sent = request(url, { method: "POST", headers, agent }, (response) => {
    let isFirst = true;
    let rest = "";
    response.setEncoding("latin1");
    response.on("data", (piece) => {
      const at = now();
      const text = rest + piece;
      let end = 0;
      for (const found of text.matchAll(/t(\d{16}) /g)) {
        delays?.push(at - Number(found[1]));
        end = found.index + found[0].length;
        if (isFirst && ++begun === count) whenBegun?.();
        isFirst = false;
      }
      rest = text.slice(Math.max(end, text.length - 20));
    });
    response.on("end", () => {
      if (isFirst) ++failures;
    });
    response.on("error", () => ++failures);
  });
  sent.on("error", () => ++failures);
  sent.end(body);
}

const commands = {
  begun: () => new Promise((resolve) => {
    whenBegun = () => resolve({ failures });
    if (begun >= count) whenBegun();
    setTimeout(whenBegun, 60_000).unref();
  }),
  measure: async (ms) => {
    delays = [];
    await new Promise((resolve) => setTimeout(resolve, Number(ms)));
    const sorted = Float64Array.from(delays).sort();
    delays = null;
    const at = (share) => sorted[Math.floor(share * (sorted.length - 1))] / 1000;
    return { tokens: sorted.length, p50_ms: at(0.5), p99_ms: at(0.99), begun, failures };
  },
};

// A few at a time, so that the listener's queue does not overflow.
for (let nth = 0; nth < count; ++nth) setTimeout(call, Math.floor(nth / 10) * 5, nth);
for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...rest] = line.split(" ");
  console.log(JSON.stringify(await commands[name](...rest)));
}
process.exit(0);
