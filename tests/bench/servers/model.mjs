// A language model that says one token after the other, at a steady pace, to any number of callers. Each token is the
// time at which it leaves, in microseconds: "t1764350000000000 ". A request's first message gives tokens and pace:
// "300 tokens, 10 a second".
import { createServer } from "node:http";

const now = () => Math.round((performance.timeOrigin + performance.now()) * 1000);
const chunk = (delta, finish = null) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "paced", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

function answer(body, response) {
  const words = JSON.parse(body).messages.at(-1).content;
  const [tokens, pace] = String(words).match(/\d+/g).map(Number);
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  let said = 0;
  const say = () => {
    response.write(chunk({ content: `t${now()} ` }));
    if (++said < tokens) return;
    clearInterval(timer);
    response.end(`${chunk({}, "stop")}data: [DONE]\n\n`);
  };
  let timer;
  // The callers begin at different times, so that their tokens do not come in waves.
  const first = setTimeout(() => {
    timer = setInterval(say, 1000 / pace);
  }, Math.random() * (1000 / pace));
  response.on("close", () => {
    clearTimeout(first);
    clearInterval(timer);
  });
}

const server = createServer((request, response) => {
  let body = "";
  request.on("data", (piece) => (body += piece));
  request.on("end", () => answer(body, response));
});
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
