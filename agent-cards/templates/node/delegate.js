'use strict';

// Delegates each line of a message to a child task, all at the same time. Here the agent delegates to itself, and
// upper-cases a single line.
const { agent } = require('baton');

agent(async (turn) => {
  const lines = turn.text.split('\n');
  if (lines.length < 2) return turn.text.toUpperCase();
  const children = lines.map((line, number) => turn.delegate(turn.agent, line, { id: `line-${number}` }));
  const results = await Promise.all(children.map((child) => child.result()));
  return results.map((result) => result.text).join('\n');
});
