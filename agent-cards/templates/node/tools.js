'use strict';

// Adds the numbers of a message with a tool of its own, which callers see at work.
const { agent } = require('baton');

agent((turn) => {
  const numbers = (turn.prompt.match(/-?\d{1,15}/g) ?? []).map(Number);
  const call = turn.callTool('add', { numbers });
  const sum = numbers.reduce((total, number) => total + number, 0);
  call.result({ sum });
  return `The sum is ${sum}.`;
});
