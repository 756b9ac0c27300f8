// The loop: reads the lines that Baton writes, and runs each turn.
'use strict';

const { Result } = require('./children.js');
const { Canceled, Ended, Fail, Reject } = require('./ends.js');
const { Output } = require('./output.js');
const { Turn } = require('./turn.js');

const LINE_MAX_BYTES = (8 << 20) + (256 << 10); // Baton's limit, unless the card sets another `line_max_bytes`

// Matches the beginning of a turn line: Baton's own members, which come before all content from callers.
const TURN = /^\{"type": ?"turn", ?"protocol": ?\d+, ?"turn": ?("[^"\\]*")/;

function agent(answer, { lineMaxBytes = LINE_MAX_BYTES } = {}) {
  outliveEndedTurns();
  new Loop(answer, new Output(takeStandardOutput(), lineMaxBytes)).run(process.stdin);
}

// Reserves standard output for the protocol: other output goes to standard error, which is Baton's log.
function takeStandardOutput() {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.on('error', () => process.exit(0)); // Baton has ended: exit silently
  process.stdout.write = (...printed) => process.stderr.write(...printed);
  return write;
}

// A timer or a promise that outlives its turn gets Ended or Canceled from the turn's methods. Uncaught, such an error
// would end the process and all other turns. Other errors still end it.
function outliveEndedTurns() {
  process.on('uncaughtException', (problem) => {
    if (problem instanceof Ended || problem instanceof Canceled) return console.error(`after the end of a turn: ${problem.stack}`);
    if (process.listenerCount('uncaughtException') > 1) return; // the agent handles them
    console.error(`${require('node:util').inspect(problem)}\n\nNode.js ${process.version}`);
    process.exit(1);
  });
}

class Loop {
  constructor(answer, output) {
    this._answer = answer;
    this._output = output;
    this._turns = new Map();
    this._atEnd = false;
  }

  // Splits lines itself, because node:readline also ends a line at U+2028.
  run(source) {
    let begun = [];
    const take = () => {
      const line = Buffer.concat(begun);
      begun = [];
      this._takeOrRefuse(line);
    };
    source.on('data', (chunk) => {
      let from = 0;
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
        begun.push(chunk.subarray(from, at));
        from = at + 1;
        take();
      }
      begun.push(chunk.subarray(from));
    });
    source.on('end', () => {
      take();
      this._atEnd = true;
      for (const turn of this._turns.values()) turn._hearNoMore();
      this._exitIfOver();
    });
  }

  _takeOrRefuse(line) {
    try {
      const text = line.toString();
      if (text.trim()) this._take(JSON.parse(text));
    } catch (problem) {
      // Any error fails this turn, because Baton waits until every turn has ended; the agent keeps serving the others.
      const detail = `a line was not understood: ${problem}`.slice(0, 500);
      console.error(detail);
      const found = TURN.exec(line.toString('latin1', 0, 1024));
      if (found) {
        const error = 'This agent cannot read the message.';
        this._output.write({ type: 'fail', turn: JSON.parse(found[1]), error, detail });
      }
    }
  }

  _take(order) {
    if (order.type === 'turn') {
      const turn = new Turn(order, this._output);
      this._turns.set(turn.id, turn);
      this._perform(turn);
      return;
    }
    // A `tool-result` needs no action: the turn's message has the same content.
    const turn = this._turns.get(order.turn);
    if (order.type === 'cancel') turn?._cancel();
    if (order.type === 'delegate-result') turn?._hear(new Result(order));
  }

  // Never rejects.
  async _perform(turn) {
    try {
      await this._answerAndEnd(turn);
    } catch (problem) {
      if (!turn._ended || !(problem instanceof Ended)) this._fail(turn, problem);
    }
    // Baton may have started another attempt under the same name in the meantime.
    if (this._turns.get(turn.id) === turn) this._turns.delete(turn.id);
    this._exitIfOver();
  }

  _fail(turn, problem) {
    const task = turn.task.id ?? '';
    const detail = report(`turn ${turn.id} of task ${task} failed:`, problem, this._answer);
    if (turn._ended) return;
    this._output.write({ type: 'fail', turn: turn.id, error: `The agent failed; for details, see the log for task ${task}.`, detail });
    turn._ended = true;
  }

  async _answerAndEnd(turn) {
    try {
      await give(turn, await this._answer(turn));
    } catch (problem) {
      if (problem instanceof Canceled || (turn.canceled && problem?.name === 'AbortError')) turn.fail('The turn was canceled.');
      if (problem instanceof Reject) turn.reject(problem.message);
      if (problem instanceof Fail) turn.fail(problem.message);
      throw problem;
    }
    turn.done();
  }

  _exitIfOver() {
    if (this._atEnd && this._turns.size === 0) process.exit();
  }
}

// Prints the error to the log. Returns it in a line for the agent's author.
function report(heading, problem, answer) {
  try {
    return require('./failure.js').report(heading, problem, answer);
  } catch (another) {
    return `the report of a failure failed: ${another}`; // the turn must still end
  }
}

// Sends the value that the function returned, as ../README.md describes.
async function give(turn, answer) {
  if (answer === undefined || answer === null) return;
  if (typeof answer === 'string') {
    turn.say(answer);
  } else if (typeof answer !== 'object' || ArrayBuffer.isView(answer) || answer instanceof Error) {
    const { inspect } = require('node:util');
    const value = inspect(answer, { depth: 0, maxArrayLength: 3, maxStringLength: 50 }).split('\n')[0];
    throw new TypeError(`an agent cannot return or yield ${value} (${answer?.constructor?.name ?? typeof answer}); `
      + 'it may be a string, an object, undefined, null, or something to iterate over with these in it');
  } else if (answer[Symbol.asyncIterator] || answer[Symbol.iterator]) {
    await givePieces(turn, answer[Symbol.asyncIterator]?.() ?? answer[Symbol.iterator]());
  } else {
    turn.artifact('result', answer);
  }
}

// Sends each piece, and a generator's return value. A piece of a wrong type throws at its `yield`.
async function givePieces(turn, pieces) {
  try {
    for (;;) {
      const { done, value } = await pieces.next();
      const piece = await value;
      if (done) return await give(turn, piece);
      turn.check();
      try {
        await give(turn, piece);
      } catch (problem) {
        if (!(problem instanceof Ended || problem instanceof Canceled)) await throwInto(pieces, problem);
        throw problem;
      }
    }
  } finally {
    await pieces.return?.(); // lets a generator clean up before the turn ends
  }
}

async function throwInto(pieces, problem) {
  require('./failure.js').note(problem, pieces);
  await pieces.throw?.(problem);
}

module.exports = { agent, LINE_MAX_BYTES };
