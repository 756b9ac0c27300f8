// An AG-UI client that comes back, for Node 18 and for browsers. It needs `@ag-ui/client` (0.0.59 or 1.0).
// Baton also serves this file beside its chat page, as /chat/ag-ui.js.
//
//   import { HttpAgent } from '@ag-ui/client';
//   import { following } from 'baton/ag-ui.mjs';
//   const FollowingAgent = following(HttpAgent);
//   const agent = new FollowingAgent({ url: 'https://agents.example.com/agents/assistant/ag-ui', threadId });
//   agent.connectAgent(); // shows the conversation, and then each of its runs
//
// A run whose connection is lost continues after the last event that arrived, and so does a followed conversation. Each
// event comes once.

const firstPauseMs = 250;
const longestPauseMs = 8000;
const restMs = 50; // after a stream that was cut
const firstTries = 3;

/** @param {number} ms @param {AbortSignal} signal */
const pause = (ms, signal) =>
  new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', over);
      resolve(undefined);
    };
    const timer = setTimeout(over, ms);
    signal.addEventListener('abort', over);
  });

const isEventStream = (response) =>
  response.ok && /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
// A later request may succeed: a server or proxy is starting, or has too much to do.
const mayPass = (status) => status === 408 || status === 429 || status >= 500;
const isEnd = (data) => /"type":\s*"(RUN_FINISHED|RUN_ERROR)"/.test(data);

/** The whole blocks of a stream of server-sent events, each with its id and data. A block that was cut is left out. */
async function* blocksOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const text of blocks) {
        const field = (name) => text.split('\n').find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
        yield { text: `${text}\n\n`, id: field('id'), data: field('data') };
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/**
 * A fetch whose answer, if it is a stream of events, outlives its connection. Without `forever` it ends with its run.
 * @param {(url: string, init: any) => Promise<Response>} fetch
 */
const lasting = (fetch, { forever = false } = {}) =>
  async (url, init) => {
    const { signal } = init;
    let last;
    // Also when the reader of the answer leaves, which the caller's signal does not tell.
    const left = new AbortController();
    const leave = () => left.abort(signal?.reason);
    if (signal?.aborted) leave();
    signal?.addEventListener('abort', leave, { once: true });
    const ask = () => {
      const headers = { ...init.headers, ...(last && { 'Last-Event-ID': last }) };
      return fetch(url, { ...init, headers, signal: left.signal });
    };
    // The same run may be asked for again: Baton knows it by its id.
    const askAgain = async (tries) => {
      for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
        const response = await ask().catch((error) => {
          if (left.signal.aborted || --tries <= 0) throw error;
        });
        if (response && !(mayPass(response.status) && --tries > 0)) return response;
        await pause(pauseMs, left.signal);
        left.signal.throwIfAborted();
      }
    };
    const first = await askAgain(forever ? Infinity : firstTries);
    if (!isEventStream(first) || !first.body) return first;
    const encoder = new TextEncoder();
    async function pump(controller) {
      for (let response = first; ; response = await askAgain(Infinity)) {
        // Events without an id come with the next one that has one, so that a stream cut between them can begin anew.
        let held = '';
        try {
          if (!isEventStream(response)) throw new Error(`the stream cannot be continued: HTTP ${response.status}`);
          for await (const { text, id, data } of blocksOf(response.body)) {
            if (left.signal.aborted) return controller.close();
            if (data === undefined) continue; // a sign of life
            held += text;
            const isOver = !forever && isEnd(data);
            if (id === undefined && !isOver) continue;
            last = id ?? last;
            controller.enqueue(encoder.encode(held));
            held = '';
            if (isOver) return controller.close();
          }
        } catch (error) {
          if (signal?.aborted || !isEventStream(response)) throw error;
        }
        if (left.signal.aborted) return controller.close();
        await pause(restMs, left.signal);
      }
    }
    const body = new ReadableStream({
      start: (controller) => {
        const failed = (error) => (forever && signal?.aborted ? controller.close() : controller.error(error));
        void pump(controller).catch(failed).catch(() => {});
      },
      cancel: leave,
    });
    return new Response(body, { status: first.status, headers: first.headers });
  };

/**
 * Makes a class like HttpAgent that comes back and that can follow a conversation.
 * @template {new (config: any) => any} Base
 * @param {Base} HttpAgent of `@ag-ui/client`
 */
export const following = (HttpAgent) =>
  class FollowingAgent extends HttpAgent {
    constructor(config) {
      super(config);
      this.plainFetch = config.fetch ?? ((url, init) => fetch(url, init));
      this.fetch = lasting(this.plainFetch);
      /** @type {AbortController | null} */
      this.follows = null;
    }

    clone() {
      const other = super.clone();
      other.plainFetch = this.plainFetch;
      other.follows = null;
      return other;
    }

    /** The conversation's stream, in the place of a run's. It ends only with detachActiveRun or abortRun. */
    connect(input) {
      this.follows?.abort();
      const follows = (this.follows = new AbortController());
      const version = input.protocolVersion ? `?protocolVersion=${encodeURIComponent(input.protocolVersion)}` : '';
      const url = new URL(String(this.url), globalThis.location?.href);
      const events = `/conversations/${encodeURIComponent(input.threadId)}/events`;
      url.pathname = url.pathname.replace(/(\/(ag-ui|send-message))?\/?$/, events);
      const fetchForever = lasting(this.plainFetch, { forever: true });
      const follow = async (_url, { headers }) => {
        const { 'Content-Type': _, ...others } = headers;
        const init = { method: 'GET', headers: others, signal: follows.signal };
        const response = await fetchForever(`${url.origin}${url.pathname}${version}`, init);
        // Without a message yet, there is no conversation.
        const isNone = response.status === 404;
        return isNone ? new Response('', { headers: { 'Content-Type': 'text/event-stream' } }) : response;
      };
      return super.run.call(Object.create(this, { fetch: { value: follow } }), input);
    }

    async runAgent(parameters, subscriber) {
      const wasFollowing = this.follows !== null;
      if (wasFollowing) await this.detachActiveRun();
      try {
        return await super.runAgent(parameters, subscriber);
      } finally {
        // The conversation begins anew with its messages, and with those of this run among them.
        if (wasFollowing) this.connectAgent().catch(() => {});
      }
    }

    async detachActiveRun() {
      await super.detachActiveRun?.();
      this.follows?.abort();
      this.follows = null;
    }

    abortRun() {
      this.follows?.abort();
      this.follows = null;
      super.abortRun();
    }
  };
