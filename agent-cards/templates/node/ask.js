'use strict';

// Asks before it acts. The answer begins the next turn, perhaps days later and in another process.
const { agent } = require('baton');

agent((turn) => {
  if (turn.answers === undefined) turn.ask(`Shall I ${turn.prompt}?`); // ends the turn
  if (turn.prompt.trim().toLowerCase() !== 'yes') turn.reject('Nothing was done.');
  const task = turn.history[0].parts[0].text;
  turn.artifact('record.txt', `Done: ${task}\n`);
  return 'Done.';
});
