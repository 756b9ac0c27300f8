// Child tasks that a turn has delegated to other agents.
'use strict';

const { Fail } = require('./ends.js');
const { dataOf, filesOf, textOf } = require('./message.js');

const ASKS = ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'];

class Result {
  constructor(line) {
    this.id = line.id;
    this.task = line.task;
    this.error = line.error;
  }

  get state() {
    return this.task?.status.state ?? '';
  }

  get artifacts() {
    return this.task?.artifacts ?? [];
  }

  get question() {
    return ASKS.includes(this.state) ? this.task.status.message : undefined;
  }

  get text() {
    const replies = this.artifacts.map((artifact) => artifact.parts.map((part) => part.text ?? '').join(''));
    const said = replies.filter((reply) => reply).join('\n');
    return said || textOf(this.task?.status.message);
  }

  get data() {
    return dataOf(this.artifacts.flatMap((artifact) => artifact.parts));
  }

  get files() {
    return filesOf(this.artifacts.flatMap((artifact) => artifact.parts));
  }
}

class ChildFailed extends Fail {
  name = 'ChildFailed';

  constructor(agent, result) {
    super(`${agent}: ${result.error}`);
    this.result = result;
  }
}

class Child {
  constructor(turn, agent, id, detached) {
    this.id = id;
    this.agent = agent;
    this.detached = detached;
    this._turn = turn;
    this._result = turn.results.get(id);
    this._heard = new Promise((resolve) => {
      this._hear = resolve;
    });
  }

  get done() {
    return this._result !== undefined;
  }

  // A rejection that the agent does not await must not end the process, with the other turns: another child may have
  // failed first, or the turn may have been canceled.
  result({ timeout } = {}) {
    const result = this._heardWithin(timeout);
    result.catch(() => {});
    return result;
  }

  async _heardWithin(timeout) {
    const result = this._result ?? (await this._turn._unlessCanceled(this._heard, timeout));
    if (result === undefined) throw new Error(`${this.agent} has not answered within ${timeout} ms`);
    if (result.error !== undefined) throw new ChildFailed(this.agent, result);
    return result;
  }

  answer(message, { id } = {}) {
    const task = this._result?.task?.id;
    if (task === undefined) throw new Error('there is no child to answer');
    return this._turn.delegate(this.agent, message, { id, task });
  }

  _settle(result) {
    this._result ??= result;
    this._hear(this._result);
  }
}

module.exports = { Child, ChildFailed, Result };
