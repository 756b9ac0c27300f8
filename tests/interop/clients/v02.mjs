// The client of @a2a-js/sdk 0.2.5: one class, JSON-RPC, an answer is the JSON-RPC envelope.
import assert from "node:assert/strict";
import { A2AClient } from "a2a-sdk-02/client";
import { nameInText, RpcError } from "./errors.mjs";
import * as view from "./view_v03.mjs";

class Client {
  constructor(base) {
    this.client = new A2AClient(base);
  }

  #result(answer) {
    assert.equal(answer.jsonrpc, "2.0");
    if (this.client.isErrorResponse(answer)) throw new RpcError(answer);
    return answer.result;
  }

  #params(text, { blocking, push, historyLength, ...message }) {
    const configuration = { acceptedOutputModes: ["text/plain"] };
    if (blocking !== undefined) configuration.blocking = blocking;
    if (push) configuration.pushNotificationConfig = push;
    if (historyLength !== undefined) configuration.historyLength = historyLength;
    return { message: view.outgoing(text, message), configuration };
  }

  async card() {
    return view.card(await this.client.getAgentCard());
  }

  async send(text, options) {
    return view.answer(this.#result(await this.client.sendMessage(this.#params(text, options))));
  }

  async *stream(text, options) {
    for await (const item of this.client.sendMessageStream(this.#params(text, options))) yield view.event(item);
  }

  async get(id, historyLength) {
    return view.task(this.#result(await this.client.getTask({ id, historyLength })));
  }

  async cancel(id) {
    return view.task(this.#result(await this.client.cancelTask({ id })));
  }

  async *resubscribe(id) {
    for await (const item of this.client.resubscribeTask({ id })) yield view.event(item);
  }

  async setPush(taskId, config) {
    const params = { taskId, pushNotificationConfig: config };
    return view.pushConfig(this.#result(await this.client.setTaskPushNotificationConfig(params)));
  }

  // This client cannot name the config's id.
  async getPush(taskId) {
    return view.pushConfig(this.#result(await this.client.getTaskPushNotificationConfig({ id: taskId })));
  }

  close() {}
}

export const v02 = {
  sdk: "0.2.5",
  protocol: "0.2",
  transport: "JSONRPC",
  api: "A2AClient",
  has: { pushList: false, list: false, extendedCard: false, authentication: false, extensions: false, fallback: false },
  view,
  errorName: (error) => nameInText(error.message),
  connect: async (base) => new Client(base),
};
