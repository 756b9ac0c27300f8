'use strict';

// One process for many turns at the same time. It reports progress, and stops when a turn is canceled.
const { agent } = require('baton');

const PAUSE_MS = 100;

agent(async function* (turn) {
  const words = turn.text.split(/\s+/).filter(Boolean);
  for (const [index, word] of words.entries()) {
    await turn.sleep(PAUSE_MS); // ends the turn if it is canceled
    turn.progress((index + 1) / words.length);
    yield `${index + 1}: ${word}\n`;
  }
});
