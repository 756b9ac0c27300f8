// A turn: the message to the agent, and the methods that send its output. index.d.ts describes them.
'use strict';

const { createHash } = require('node:crypto');
const { Child, Result } = require('./children.js');
const { Canceled, Ended } = require('./ends.js');
const { Request } = require('./message.js');

// One run of the agent, for one message.
class Turn extends Request {
  constructor(order, output) {
    super(order.message);
    this.id = order.turn;
    this.attempt = order.attempt ?? 1;
    this.agent = order.agent ?? '';
    this.task = order.task ?? {};
    this.request = new Request(order.request ?? order.message);
    this.history = order.history ?? [];
    this.artifacts = order.artifacts ?? [];
    this.references = order.references ?? [];
    this.tools = order.tools ?? [];
    this.state = order.state;
    this.metadata = order.metadata ?? {};
    this.extensions = order.extensions ?? [];
    this.traceparent = order.traceparent;
    this.answers = order.resume?.ask;
    this.results = new Map((order.resume?.results ?? []).map((one) => [one.id, new Result(one)]));

    this._output = output;
    this._ended = false;
    this._isAlone = false; // true once Baton has closed the input, so that no results will come
    this._abort = new AbortController();
    this._waiting = new Set(); // functions to call when the turn is canceled
    this._children = new Map();
    this._names = new Map();
  }

  // The message.

  // The older name of `text`.
  get prompt() {
    return this.text;
  }

  get answer() {
    if (this.answers === undefined) return undefined;
    return this.data === undefined ? this.text : this.data;
  }

  get toolResults() {
    const found = this.message.parts.map((part) => part.data?.toolResult).filter((one) => one && typeof one === 'object');
    // Callers may know the call by an id that is not the agent's, so a single result gets the agent's own id.
    const own = found.length === 1 ? this.answers : undefined;
    return found.map((one) => ({ id: own ?? one.id, content: one.content, error: one.error }));
  }

  get signal() {
    return this._abort.signal;
  }

  get canceled() {
    return this.signal.aborted;
  }

  check() {
    if (this.canceled) throw new Canceled('the turn was canceled');
  }

  async sleep(ms) {
    await this._unlessCanceled(new Promise(() => {}), ms);
  }

  // The agent's output.

  say(delta) {
    this._speak('text', delta);
  }

  reasoning(delta) {
    this._speak('reasoning', delta);
  }

  progress(fraction, message) {
    this._say('status', { progress: fraction, message });
  }

  artifact(name, data, { filename, mediaType, url, parts, id, description, metadata, append, lastChunk } = {}) {
    const artifact = {
      artifactId: id ?? (name ? `${this.id}-${name}` : this._name(`${this.id}-artifact`)),
      name: name || undefined,
      description,
      parts: parts ?? [partOf(filename ?? name, data, mediaType, url)],
      metadata,
    };
    this._say('artifact', { artifact, append, lastChunk });
  }

  callTool(name, args = {}, { id } = {}) {
    const call = id ?? this._name(`${this.id}-${this.attempt}-call`);
    const isClients = this.tools.some((tool) => tool?.name === name);
    this._say('tool-call', { id: call, name, arguments: args }, isClients);
    if (isClients) throw new Ended();
    return new ToolCall(this, call);
  }

  setState(value) {
    this._say('state', { snapshot: value ?? null });
  }

  patchState(patch) {
    this._say('state', { delta: patch });
  }

  async step(name, work) {
    this._say('step', { name, phase: 'start' });
    const made = await work(); // if it throws, the turn's end closes the step
    this._say('step', { name, phase: 'finish' });
    return made;
  }

  activity(id, kind, content, { patch } = {}) {
    this._say('activity', { id, activity: kind, content, patch });
  }

  custom(name, value = null) {
    this._say('custom', { name, value });
  }

  usage(used) {
    this._say('usage', { usage: used });
  }

  delegate(agent, message, { id, task, questions, detach = false } = {}) {
    const name = id ?? this._name(`${agent}-${digest([agent, task ?? null, message])}`);
    const child = new Child(this, agent, name, detach);
    if (child.done) return child;
    this._say('delegate', { id: name, agent, message, task, questions, detach: detach || undefined });
    this._children.set(name, child);
    if (this._isAlone) this._hearNoMore();
    return child;
  }

  // Methods that end the turn. They do not return: they throw Ended.

  wait() {
    if ([...this._children.values()].some((child) => !child.done && !child.detached)) this._end('wait', {});
  }

  ask(message, { schema, id } = {}) {
    this._end('ask', { message, schema, id });
  }

  auth(message, { url, id } = {}) {
    this._end('auth', { message, url, id });
  }

  done(message) {
    this._end('done', { message });
  }

  fail(error) {
    this._end('fail', { error });
  }

  reject(reason = '') {
    this._end('reject', { reason });
  }

  // Baton would refuse a line with another value, and could not name the line of the agent.
  _speak(type, delta) {
    if (typeof delta !== 'string') throw new TypeError(`a piece of text must be a string, not ${delta === null ? delta : typeof delta}`);
    this._say(type, { delta });
  }

  _say(type, members, last = false) {
    if (this._ended) throw new Ended('the turn is over');
    this._output.write({ type, turn: this.id, ...members });
    this._ended = last;
  }

  _end(type, members) {
    this._say(type, members, true);
    throw new Ended();
  }

  // Returns the stem; later uses of it in this turn get a number.
  _name(stem) {
    const nth = (this._names.get(stem) ?? 0) + 1;
    this._names.set(stem, nth);
    return nth === 1 ? stem : `${stem}-${nth}`;
  }

  // Resolves to the promise's value, or to undefined after `ms`. Rejects with Canceled as soon as the turn must stop.
  async _unlessCanceled(promise, ms) {
    this.check();
    let timer;
    let stop;
    const ends = new Promise((resolve, reject) => {
      stop = () => reject(new Canceled('the turn was canceled'));
      if (ms !== undefined) timer = setTimeout(resolve, ms);
    });
    this._waiting.add(stop);
    try {
      return await Promise.race([promise, ends]);
    } finally {
      this._waiting.delete(stop);
      clearTimeout(timer);
    }
  }

  // Lines that come while the turn runs.

  _cancel() {
    this._abort.abort(new Canceled('the turn was canceled'));
    for (const stop of [...this._waiting]) stop();
  }

  _hear(result) {
    this._children.get(result.id)?._settle(result);
  }

  _hearNoMore() {
    this._isAlone = true;
    for (const id of this._children.keys()) this._hear(new Result({ id, error: 'nothing was heard of it' }));
  }
}

class ToolCall {
  constructor(turn, id) {
    this.id = id;
    this._turn = turn;
  }

  result(content) {
    this._turn._say('tool-result', { id: this.id, content: content ?? null });
  }

  error(text) {
    this._turn._say('tool-result', { id: this.id, error: text });
  }
}

function partOf(filename, data, mediaType, url) {
  if (url !== undefined) return { url, filename: filename || undefined, mediaType };
  if (data instanceof Uint8Array) {
    const raw = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64');
    return { raw, filename: filename || undefined, mediaType };
  }
  if (typeof data === 'string') return { text: data, mediaType };
  return { data: data ?? null, mediaType };
}

function digest(value) {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 8);
}

module.exports = { ToolCall, Turn };
