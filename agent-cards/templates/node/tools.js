'use strict';

// Adds the numbers of a message and of its files with a tool that callers see, and returns a file.
const { agent } = require('baton');

agent((turn) => {
  const texts = [turn.text, ...turn.files.map((file) => file.text())];
  const numbers = texts.flatMap((text) => text.match(/-?\d{1,15}/g) ?? []).map(Number);
  const call = turn.callTool('add', { numbers });
  const sum = numbers.reduce((total, number) => total + number, 0);
  call.result({ sum });
  const rows = [...numbers, sum].map((number) => `${number}\n`).join('');
  turn.artifact('sum.csv', Buffer.from(rows), { mediaType: 'text/csv' });
  return `The sum is ${sum}.`;
});
