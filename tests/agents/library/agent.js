// The test agent for Node's helper library; agent.py does the same for Python. The first word of the message names the
// action, the rest is its argument.
'use strict';

const { execFileSync } = require('node:child_process');
const { agent, Canceled, ChildFailed, Fail, Reject } = require('baton');

const rest = (turn) => turn.prompt.split(' ').slice(1).join(' ');

function* words(turn) {
  for (const word of rest(turn).trim().split(/\s+/)) yield `${word} `;
}

async function* pieces(turn) {
  yield* words(turn);
}

function tell(turn) {
  const { id, attempt, agent, task, history, artifacts, references, tools, metadata, extensions } = turn;
  return {
    id, attempt, agent, task, history, artifacts, references, tools, metadata, extensions,
    state: turn.state ?? null,
    traceparent: turn.traceparent ?? null,
    answers: turn.answers ?? null,
    results: Object.fromEntries([...turn.results].map(([name, result]) => [name, result.text])),
    toolResults: turn.toolResults.map((result) => [result.id, result.content ?? null, result.error ?? null]),
  };
}

async function everything(turn) {
  turn.reasoning('hm');
  turn.progress(0.5, 'half');
  turn.progress(undefined, { parts: [{ text: 'still' }] });
  turn.artifact('a.bin', Uint8Array.of(0, 255), { mediaType: 'application/x-a', description: 'bytes', lastChunk: true });
  turn.artifact('log', 'one\n');
  turn.artifact('log', 'two\n', { append: true });
  turn.artifact('facts', [1, null], { metadata: { by: 'hand' } });
  turn.artifact('far', undefined, { url: 'https://example.com/far', filename: 'far.txt' });
  turn.artifact(undefined, undefined, { parts: [{ text: 'x' }, { text: 'y' }], id: 'own' });
  turn.artifact('', 'unnamed');
  turn.artifact('', 'unnamed, too');
  turn.callTool('look', { at: 'it' }).result({ seen: true });
  turn.callTool('look').error('nothing there');
  turn.callTool('look', {}, { id: 'own-call' }).result(null);
  turn.setState({ days: 3 });
  turn.patchState([{ op: 'replace', path: '/days', value: 4 }]);
  await turn.step('pack', () => turn.say('packing '));
  turn.activity('plan', 'PLAN', { steps: [] });
  turn.activity('plan', 'PLAN', undefined, { patch: [{ op: 'add', path: '/steps/-', value: 1 }] });
  turn.custom('confetti', { pieces: 100 });
  turn.custom('nothing');
  turn.usage({
    provider: 'p', model: 'm', inputTokens: 10, outputTokens: 20, totalTokens: 30, reasoningTokens: 1, cachedInputTokens: 2,
  });
}

function clientTool(turn) {
  turn.callTool('show_map', { city: 'Oslo' });
  return 'this is not said';
}

function crash(turn) {
  turn.say('so far ');
  throw new TypeError('the secret path'); // crashes
}

function saysNothing(turn) {
  turn.say(undefined); // says-nothing
}

function thinksNothing(turn) {
  turn.reasoning(null); // thinks-nothing
}

function* both() {
  yield 'one ';
  return { days: 3 };
}

function* numbers() {
  yield 7; // yields 7
}

async function* asyncNumbers() {
  yield 8; // yields 8
}

function* catches() {
  try {
    yield 7;
  } catch {
    console.log('caught at the yield');
    yield 'not said';
  }
}

function read(turn) {
  const of = ({ text, data, files }) => (
    { text, data, files: files.map((file) => [file.name, file.mediaType, file.url ?? null]) });
  return { ...of(turn), prompt: turn.prompt, answer: turn.answer ?? null, request: of(turn.request) };
}

function file(turn) {
  const found = turn.files[0][turn.text.split(' ')[1]]();
  return { found: Buffer.isBuffer(found) ? [...found] : found };
}

function deep() {
  let value = [];
  for (let i = 0; i < 100_000; i++) value = [value];
  return { deep: value };
}

function swallow(turn) {
  try {
    turn.done('first');
  } catch {
    // as careless agents do
  }
  return 'second';
}

function late(turn) {
  setImmediate(() => {
    try {
      turn.say('too late');
    } catch (problem) {
      console.log(`late: ${problem.name}`);
    }
  });
  turn.done('early');
}

function noise() {
  console.log('printed');
  execFileSync('sh', ['-c', 'echo printed by a process; cat'], { input: '' });
  return 'quiet';
}

async function children(turn) {
  const both = rest(turn).split(' ').map((city) => turn.delegate('weather', city));
  const results = await Promise.all(both.map((child) => child.result()));
  return results.map((result) => result.text).join('; ');
}

async function wait(turn) {
  const [oslo, rome] = [turn.delegate('weather', 'Oslo'), turn.delegate('weather', 'Rome')];
  turn.wait();
  return `${(await oslo.result()).text}; ${(await rome.result()).text}`;
}

async function caught(turn) {
  try {
    return (await turn.delegate('weather', 'Atlantis').result()).text;
  } catch (failure) {
    if (!(failure instanceof ChildFailed)) throw failure;
    return `caught: ${failure.result.error}`;
  }
}

async function mine(turn) {
  const child = turn.delegate('weather', 'How is it?', { questions: 'mine' });
  const { question } = await child.result();
  return `${(await child.answer('Oslo').result()).text} to ${question.parts[0].text}`;
}

async function detach(turn) {
  const message = { parts: [{ text: 'Keep this.' }] };
  return (await turn.delegate('archive', message, { id: 'd4', detach: true }).result()).state;
}

async function leave(turn) {
  turn.delegate('weather', 'kept', { detach: true });
  turn.wait(); // does not wait for the detached child
  const child = turn.delegate('weather', 'Oslo');
  turn.wait();
  return (await child.result()).text;
}

async function restThenAsk(turn) {
  await turn.sleep(50);
  return (await turn.delegate('weather', 'Oslo').result()).text;
}

async function hurry(turn) {
  try {
    await turn.delegate('weather', 'Oslo').result({ timeout: 10 });
  } catch {
    return 'too slow';
  }
  return 'in time';
}

async function sleep(turn) {
  turn.say('sleeping ');
  try {
    await turn.sleep(3_600_000);
  } catch (problem) {
    if (problem instanceof Canceled) turn.say('woken up');
    throw problem;
  }
}

async function nap(turn) {
  await turn.sleep(1);
  return 'rested';
}

async function* endless(turn) {
  try {
    for (;;) {
      yield 'on and on ';
      await turn.sleep(1);
    }
  } finally {
    console.log('endless: cleaned up');
  }
}

async function allTheSame(turn) {
  turn.say('begun ');
  await new Promise((resolve) => {
    turn.signal.addEventListener('abort', resolve);
  });
  return 'done all the same';
}

async function aborted(turn) {
  turn.say('begun ');
  await new Promise((resolve, reject) => {
    turn.signal.addEventListener('abort', () => reject(new DOMException('as fetch says it', 'AbortError')));
  });
}

async function inTurn(turn) {
  const [oslo, rome] = [turn.delegate('weather', 'Oslo').result(), turn.delegate('weather', 'Rome').result()];
  return `${(await oslo).text}; ${(await rome).text}`;
}

function heartbeat(turn) {
  setTimeout(() => turn.progress(0.5), 1);
  return 'early';
}

async function crashLater(turn) {
  setTimeout(() => { throw new TypeError('the secret path'); }, 1); // crashes later
  await turn.sleep(3_600_000);
}

const actions = {
  'hello': (turn) => `Hello, ${rest(turn)}`, words, 'facts': () => ({ days: 3 }),
  'mixed': () => ['one ', { days: 3 }, null, 'two'], 'nothing': () => undefined, 'number': () => 5, numbers,
  'async-numbers': asyncNumbers, catches, both, 'both-in-a-list': () => [both()], read, file, tell, everything,
  'former': (turn) => turn.text('so far '),
  'client-tool': clientTool, 'ask': (turn) => turn.ask('Delete?', { schema: { type: 'object' }, id: 'q1' }),
  'auth': (turn) => turn.auth('Sign in.', { url: 'https://example.com/login' }), 'done': (turn) => turn.done('That is all.'),
  'fail': (turn) => turn.fail('no'), 'reject': (turn) => turn.reject('not this'),
  'raise-fail': () => { throw new Fail('no such city'); }, 'raise-reject': () => { throw new Reject('not that'); },
  crash, 'says-nothing': saysNothing, 'thinks-nothing': thinksNothing, 'nan': () => ({ value: NaN }), 'huge': (turn) => turn.progress(Infinity), deep,
  'half': () => 'half "\ud83d" pair \\ud83d, whole \u{1f600}', swallow, late, noise,
  'long': (turn) => 'x'.repeat(Number(rest(turn))), 'long-fail': (turn) => turn.fail('x'.repeat(9_000_000)),
  children, wait, caught, mine, detach, leave, 'rest-then-ask': restThenAsk, hurry, sleep, nap, endless, 'all-the-same': allTheSame, aborted, pieces,
  'in-turn': inTurn, heartbeat, 'crash-later': crashLater,
  'uncaught': async (turn) => (await turn.delegate('weather', 'Atlantis').result()).text,
};

agent((turn) => actions[turn.text.split(/\s/)[0]](turn)); // returns
