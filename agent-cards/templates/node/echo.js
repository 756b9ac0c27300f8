'use strict';

// Returns what it is told, word by word.
const { agent } = require('baton');

agent(function* (turn) {
  yield* turn.prompt.match(/\s*\S+|\s+$/g) ?? [];
});
