// Describes an error in the agent to its author. Loaded only when an error occurs.
'use strict';

const { Session } = require('node:inspector');
const path = require('node:path');
const { fileURLToPath } = require('node:url');
const { inspect } = require('node:util');

const DETAIL_MAX = 2000;
const KEY = Symbol.for('baton.failure');
const places = new WeakMap(); // the author's line, for errors whose stack does not contain it

// Prints the stack to standard error. Returns the error with the author's file and line.
function report(heading, problem, answer) {
  const frames = framesOf(problem);
  const place = placeIn(frames) ?? placeOf(problem, answer);
  const said = problem instanceof Error ? `${problem.name}: ${problem.message}${hint(problem)}` : inspect(problem);
  const last = place ? `${said} (${place})` : said;
  console.error([heading, frames.length ? said : last, ...frames].join('\n'));
  return last.slice(0, DETAIL_MAX);
}

// Stores the line of the `yield` that caused the error, unless the error's stack has a line of the agent.
function note(problem, generator) {
  if (!(problem instanceof Error) || places.has(problem) || placeIn(framesOf(problem))) return;
  const place = locationOf(generator);
  if (place) places.set(problem, place);
}

// Returns the lines of the stack, without those of this library and those of Node at its end.
function framesOf(problem) {
  const lines = String(problem?.stack ?? '').split('\n').filter((line) => /^ {4}at /.test(line));
  const frames = lines.filter((line) => !line.includes(__dirname + path.sep));
  while (frames.length && /\(?node:|<anonymous>\)?$/.test(frames.at(-1))) frames.pop();
  return frames;
}

// Returns the innermost line that is neither Node's nor of an installed package; undefined if there is none.
function placeIn(frames) {
  for (const frame of frames) {
    const found = /\(?((?:file:\/\/)?\/[^()]*):(\d+):\d+\)?$/.exec(frame);
    if (found && !found[1].includes('/node_modules/')) return shown(found[1], Number(found[2]));
  }
  return undefined;
}

function placeOf(problem, answer) {
  return (problem instanceof Error && places.get(problem)) || locationOf(answer);
}

function shown(file, line) {
  const name = path.relative(process.cwd(), file.startsWith('file:') ? fileURLToPath(file) : file);
  return `${name}:${line}`;
}

// Returns the line where a function begins or a generator stands, from Node's debugger; undefined without one.
function locationOf(value) {
  const session = new Session();
  const files = new Map();
  let location;
  try {
    session.connect();
    session.on('Debugger.scriptParsed', ({ params }) => files.set(params.scriptId, params.url));
    session.post('Debugger.enable');
    globalThis[KEY] = value;
    session.post('Runtime.evaluate', { expression: `globalThis[Symbol.for('${KEY.description}')]` }, (problem, found) => {
      if (!found?.result.objectId) return;
      const wanted = { objectId: found.result.objectId, ownProperties: true };
      session.post('Runtime.getProperties', wanted, (refused, all) => {
        const facts = all?.internalProperties ?? [];
        location = facts.find((fact) => /^\[\[(Function|Generator)Location\]\]$/.test(fact.name))?.value.value;
      });
    });
  } catch {
    return undefined; // a Node without its debugger
  } finally {
    delete globalThis[KEY];
    session.disconnect();
  }
  const file = location && files.get(location.scriptId);
  return file ? shown(file, location.lineNumber + 1) : undefined;
}

function hint(problem) {
  const isOld = problem instanceof TypeError && problem.message.endsWith('.text is not a function');
  return isOld ? ' (turn.text is what the message says; turn.say(delta) says a piece of the reply)' : '';
}

module.exports = { note, report };
