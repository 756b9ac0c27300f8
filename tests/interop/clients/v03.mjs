// The clients of @a2a-js/sdk 0.3.14: that of ClientFactory over each transport, and the older A2AClient.
import assert from "node:assert/strict";
import * as sdk from "a2a-sdk-03/client";
import { GrpcTransportFactory } from "a2a-sdk-03/client/grpc";
import { nameInText, nameOfCode, RpcError } from "./errors.mjs";
import { authenticating, callOptions } from "./authentication.mjs";
import * as view from "./view_v03.mjs";

function sendParams(text, { blocking, push, historyLength, ...message }) {
  const configuration = {};
  if (blocking !== undefined) configuration.blocking = blocking;
  if (push) configuration.pushNotificationConfig = push;
  if (historyLength !== undefined) configuration.historyLength = historyLength;
  const params = { message: view.outgoing(text, message) };
  return Object.keys(configuration).length === 0 ? params : { ...params, configuration };
}

class Client {
  constructor(client, options) {
    this.client = client;
    this.options = options;
  }

  async card() {
    return view.card(this.client.agentCard);
  }

  async extendedCard() {
    return view.card(await this.client.getAgentCard(this.options));
  }

  async send(text, options) {
    return view.answer(await this.client.sendMessage(sendParams(text, options), this.options));
  }

  async *stream(text, options) {
    for await (const item of this.client.sendMessageStream(sendParams(text, options), this.options))
      yield view.event(item);
  }

  async get(id, historyLength) {
    return view.task(await this.client.getTask({ id, historyLength }, this.options));
  }

  async cancel(id) {
    return view.task(await this.client.cancelTask({ id }, this.options));
  }

  async *resubscribe(id) {
    for await (const item of this.client.resubscribeTask({ id }, this.options)) yield view.event(item);
  }

  async setPush(taskId, config) {
    const params = { taskId, pushNotificationConfig: config };
    return view.pushConfig(await this.client.setTaskPushNotificationConfig(params, this.options));
  }

  async getPush(taskId, id) {
    const params = { id: taskId, pushNotificationConfigId: id };
    return view.pushConfig(await this.client.getTaskPushNotificationConfig(params, this.options));
  }

  async listPush(taskId) {
    const found = await this.client.listTaskPushNotificationConfig({ id: taskId }, this.options);
    return found.map(view.pushConfig);
  }

  async deletePush(taskId, id) {
    await this.client.deleteTaskPushNotificationConfig({ id: taskId, pushNotificationConfigId: id }, this.options);
  }

  close() {
    this.client.transport.grpcClient?.close();
  }
}

// The older class, whose answers are JSON-RPC envelopes, as in 0.2.
class OldClient {
  constructor(client) {
    this.client = client;
  }

  #result(answer) {
    assert.equal(answer.jsonrpc, "2.0");
    if ("error" in answer) throw new RpcError(answer);
    return answer.result;
  }

  async card() {
    return view.card(await this.client.getAgentCard());
  }

  async send(text, options) {
    return view.answer(this.#result(await this.client.sendMessage(sendParams(text, options))));
  }

  async *stream(text, options) {
    for await (const item of this.client.sendMessageStream(sendParams(text, options))) yield view.event(item);
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

  async getPush(taskId, id) {
    const params = { id: taskId, ...(id && { pushNotificationConfigId: id }) };
    return view.pushConfig(this.#result(await this.client.getTaskPushNotificationConfig(params)));
  }

  async listPush(taskId) {
    return this.#result(await this.client.listTaskPushNotificationConfig({ id: taskId })).map(view.pushConfig);
  }

  async deletePush(taskId, id) {
    const params = { id: taskId, pushNotificationConfigId: id };
    assert.equal(this.#result(await this.client.deleteTaskPushNotificationConfig(params)), null);
  }

  close() {}
}

const classes = {
  TaskNotFound: sdk.TaskNotFoundError,
  TaskNotCancelable: sdk.TaskNotCancelableError,
  PushNotificationNotSupported: sdk.PushNotificationNotSupportedError,
  UnsupportedOperation: sdk.UnsupportedOperationError,
  ContentTypeNotSupported: sdk.ContentTypeNotSupportedError,
  InvalidAgentResponse: sdk.InvalidAgentResponseError,
  ExtendedCardNotConfigured: sdk.AuthenticatedExtendedCardNotConfiguredError,
};

// If a stream begins with an error, the error of the right class is the cause.
function errorName(error) {
  for (const each of [error, error.cause]) {
    const found = Object.entries(classes).find(([, type]) => each instanceof type);
    if (found) return found[0];
  }
  if (error.cause?.code === 3) return nameOfCode(-32602); // gRPC: INVALID_ARGUMENT
  return nameInText(error.message) ?? nameInText(error.cause?.message ?? "");
}

async function connect(transport, base, options = {}) {
  const { token, through } = options;
  const fetchImpl = token ? authenticating(sdk, token) : undefined;
  const resolver = new sdk.DefaultAgentCardResolver({ fetchImpl });
  const factory = new sdk.ClientFactory({
    transports: [
      new sdk.JsonRpcTransportFactory({ fetchImpl }),
      new sdk.RestTransportFactory({ fetchImpl }),
      new GrpcTransportFactory(),
    ],
    preferredTransports: [transport],
    cardResolver: resolver,
  });
  const card = await resolver.resolve(base);
  const reachable = through ? withGrpcAt(card, through) : card;
  const client = await factory.createFromAgentCard(reachable);
  return new Client(client, callOptions(sdk, transport, options));
}

// gRPC has an address of its own, which a test may want to reach through a proxy.
function withGrpcAt(card, address) {
  const additionalInterfaces = (card.additionalInterfaces ?? []).map((each) =>
    each.transport === "GRPC" ? { ...each, url: address(each.url) } : each,
  );
  return { ...card, additionalInterfaces };
}

const over = (transport) => ({
  sdk: "0.3.14",
  protocol: "0.3",
  transport,
  api: "ClientFactory",
  has: { pushList: true, list: false, extendedCard: true, authentication: true, extensions: true, fallback: true },
  losesAppend: transport !== "JSONRPC",
  losesNull: transport === "GRPC",
  view,
  errorName,
  connect: (base, options) => connect(transport, base, options),
});

async function connectOld(base) {
  return new OldClient(await sdk.A2AClient.fromCardUrl(new URL(".well-known/agent-card.json", base).href));
}

export const v03 = [
  over("JSONRPC"),
  over("HTTP+JSON"),
  over("GRPC"),
  {
    ...over("JSONRPC"),
    api: "A2AClient",
    onlyInEverything: true, // the factory's client is the newer one of this release
    has: {
      pushList: true,
      list: false,
      extendedCard: false,
      authentication: false,
      extensions: false,
      fallback: false,
    },
    connect: connectOld,
  },
];
