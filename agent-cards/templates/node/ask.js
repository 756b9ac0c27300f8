'use strict';

// Asks before it acts. The answer starts the next turn, perhaps days later and in another process.
const { agent } = require('baton');

// The schema of an answer. Chat pages show it as a form; Baton refuses an answer that does not match.
const APPROVAL = {
  type: 'object',
  required: ['approved'],
  properties: {
    approved: { type: 'boolean', title: 'Approve?' },
    reason: { type: 'string', title: 'Why, or why not' },
  },
};

agent((turn) => {
  if (turn.answer === undefined) turn.ask(`Shall I ${turn.text}?`, { schema: APPROVAL }); // ends the turn
  if (!turn.answer.approved) turn.reject(turn.answer.reason || 'Nothing was done.'); // ends the turn and the task
  turn.artifact('record.txt', Buffer.from(`Done: ${turn.request.text}\n`));
  return 'Done.';
});
