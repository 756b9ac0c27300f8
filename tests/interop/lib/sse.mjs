// Reads streams of server-sent events with eventsource-parser. Strict about everything that existing readers need: LF
// alone, whole blocks, one line of data in each, never an empty one, an id on every block, and ids <task>:<event> that
// rise from event to event; the frames of one event are numbered .1, .2, and the last has no number.
import assert from "node:assert/strict";
import { createParser } from "eventsource-parser";

export class Refusal extends Error {
  constructor(status, body) {
    super(`HTTP ${status}: ${JSON.stringify(body)}`);
    Object.assign(this, { status, body });
  }
}

const fieldsOf = (block) => block.split("\n").filter((line) => !line.startsWith(":"));

function checkBlock(block) {
  const lines = fieldsOf(block);
  const names = lines.map((line) => /^(id|event|data): ./.exec(line)?.[1]);
  const wanted = ["event", "id", "data"].filter((name) => name !== "event" || names.includes(name));
  assert.deepEqual(names, wanted, `a block of lines event, id, data: ${block.slice(0, 300)}`);
  return lines[names.indexOf("id")].slice("id: ".length);
}

function checkIds(ids) {
  const read = ids.map((id) => /^([^:\s]+):(\d+)(?:\.(\d+))?$/.exec(id) ?? assert.fail(`not an id: ${id}`));
  const places = read.map(([, task, event, frame = "0"]) => ({ task, event: Number(event), frame: Number(frame) }));
  for (const [index, place] of places.slice(1).entries()) {
    const before = places[index];
    const same = before.frame > 0;
    assert.ok(same ? place.event === before.event : place.event > before.event, `after ${ids[index]}`);
    const frame = place.frame > 0 ? before.frame + 1 : 0;
    assert.deepEqual(place, { task: before.task, event: place.event, frame }, `after ${ids[index]}`);
  }
  if (places.length > 0) assert.equal(places.at(-1).frame, 0, "the last id is that of a whole event");
}

export class SseStream {
  frames = []; // {id, event, data} of each frame
  #raw = "";
  #reader;
  #decoder = new TextDecoder("utf-8", { fatal: true });
  #abort = new AbortController();
  #parser = createParser({
    onEvent: ({ id, event, data }) => this.frames.push({ id, event, data }),
    onError: (error) => {
      throw error;
    },
  });

  static async open(url, body, options) {
    const stream = new SseStream();
    await stream.#open(url, body, options);
    return stream;
  }

  async #open(url, body, { token, lastEventId, headers = {} } = {}) {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "text/event-stream",
        ...(token && { Authorization: `Bearer ${token}` }),
        ...(lastEventId !== undefined && { "Last-Event-ID": lastEventId }),
        ...headers,
      },
      body: JSON.stringify(body),
      signal: this.#abort.signal,
    });
    if (response.status !== 200) throw new Refusal(response.status, await response.json());
    assert.match(response.headers.get("content-type"), /^text\/event-stream(; *charset=utf-8)?$/i);
    assert.match(response.headers.get("cache-control"), /no-cache/);
    this.#reader = response.body.getReader();
  }

  // Reads more. Returns false at the end.
  async #more() {
    const { done, value } = await this.#reader.read();
    if (done) return false;
    const text = this.#decoder.decode(value, { stream: true });
    this.#raw += text;
    this.#parser.feed(text);
    return true;
  }

  // Reads until `found` holds for one of the frames. Returns the frames so far.
  async until(what, found) {
    while (!this.frames.some(found)) assert.ok(await this.#more(), `the stream ended before ${what}`);
    return this.frames;
  }

  async rest() {
    while (await this.#more());
    this.ids();
    return this.frames;
  }

  // Checks the stream so far and returns its ids.
  ids() {
    assert.ok(!this.#raw.includes("\r"), "LF alone ends lines");
    const blocks = this.#raw.split("\n\n");
    assert.equal(blocks.pop(), "", "a whole block is one write");
    const ids = blocks.filter((block) => fieldsOf(block).length > 0).map(checkBlock);
    checkIds(ids);
    return ids;
  }

  // Cuts the connection silently, as a network does.
  cut() {
    this.#abort.abort();
  }
}

export async function framesOf(url, body, options) {
  const stream = await SseStream.open(url, body, options);
  return stream.rest();
}
