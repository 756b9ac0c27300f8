// Baton's line protocol for agents in Node. ../README.md describes it; index.d.ts is the contract.
'use strict';

const { agent, LINE_MAX_BYTES } = require('./agent.js');
const { Child, ChildFailed, Result } = require('./children.js');
const { Canceled, Ended, Fail, Reject } = require('./ends.js');
const { File, Request } = require('./message.js');
const { LineTooLong } = require('./output.js');
const { ToolCall, Turn } = require('./turn.js');

module.exports = {
  agent, Canceled, Child, ChildFailed, Ended, Fail, File, LINE_MAX_BYTES, LineTooLong, Reject, Request, Result, ToolCall, Turn,
};
