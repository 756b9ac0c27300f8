'use strict';

// Has each line of a message done by a child task, all at the same time: here by itself, which upper-cases one line.
const { agent } = require('baton');

agent(async (turn) => {
  const lines = turn.text.split('\n');
  if (lines.length < 2) return turn.text.toUpperCase();
  const children = lines.map((line, number) => turn.delegate(turn.agent, line, { id: `line-${number}` }));
  const results = await Promise.all(children.map((child) => child.result()));
  return results.map((result) => result.text).join('\n');
});
