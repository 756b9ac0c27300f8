'use strict';

// Repeats the message, word by word.
const { agent } = require('baton');

agent(function* (turn) {
  yield* turn.text.match(/\s*\S+|\s+$/g) ?? [];
});
