// The clients of @a2a-js/sdk 1.3.0: over each transport, in 1.0 and in its 0.3 mode.
import * as sdk from "a2a-sdk-10/client";
import * as errors from "a2a-sdk-10/errors";
import { GrpcTransportFactory } from "a2a-sdk-10/client/grpc";
import { nameInText, nameOfCode } from "./errors.mjs";
import { authenticating, callOptions } from "./authentication.mjs";
import * as view from "./view_v1.mjs";

function sendParams(text, { blocking, push, historyLength, ...message }) {
  const configuration = {
    acceptedOutputModes: [],
    taskPushNotificationConfig: push && outgoingPush("", push),
    historyLength,
    returnImmediately: blocking === false,
  };
  return { tenant: "", message: view.outgoing(text, message), configuration, metadata: undefined };
}

function outgoingPush(taskId, { id = "", url, token = "", authentication }) {
  const [scheme] = authentication?.schemes ?? [];
  const credentials = authentication?.credentials ?? "";
  return { tenant: "", taskId, id, url, token, authentication: scheme && { scheme, credentials } };
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
    return view.task(await this.client.getTask({ tenant: "", id, historyLength }, this.options));
  }

  async cancel(id) {
    return view.task(await this.client.cancelTask({ tenant: "", id, metadata: undefined }, this.options));
  }

  async *resubscribe(id) {
    for await (const item of this.client.resubscribeTask({ tenant: "", id }, this.options)) yield view.event(item);
  }

  async setPush(taskId, config) {
    return view.pushConfig(
      await this.client.createTaskPushNotificationConfig(outgoingPush(taskId, config), this.options),
    );
  }

  async getPush(taskId, id) {
    return view.pushConfig(await this.client.getTaskPushNotificationConfig({ tenant: "", taskId, id }, this.options));
  }

  async listPush(taskId) {
    const params = { tenant: "", taskId, pageSize: 0, pageToken: "" };
    return (await this.client.listTaskPushNotificationConfig(params, this.options)).configs.map(view.pushConfig);
  }

  async deletePush(taskId, id) {
    await this.client.deleteTaskPushNotificationConfig({ tenant: "", taskId, id }, this.options);
  }

  // `filters` uses the names of the cases: contextId, state, after, and the protocol's members for paging.
  async list({ contextId = "", state = "unknown", after, pageSize, pageToken = "", historyLength, includeArtifacts }) {
    const params = { tenant: "", contextId, status: view.stateNumber(state), pageToken, statusTimestampAfter: after };
    const found = await this.client.listTasks({ ...params, pageSize, historyLength, includeArtifacts }, this.options);
    return { ...found, tasks: found.tasks.map(view.task) };
  }

  close() {
    this.client.transport.grpcClient?.close();
  }
}

// If a stream ends in an error, the error of the right class is the cause.
function errorName(error) {
  const named = [error, error.cause].find((each) => each instanceof errors.A2AError);
  if (!named) return nameInText(error.message);
  if (named instanceof errors.RequestMalformedError) return nameOfCode(named.envelopeCode ?? -32602);
  if (named instanceof errors.ExtendedAgentCardNotConfiguredError) return "ExtendedCardNotConfigured";
  return named.name.endsWith("Error") && named.name !== "A2AError" ? named.name.slice(0, -"Error".length) : undefined;
}

function factories(fetchImpl, legacyCompat) {
  return [
    new sdk.JsonRpcTransportFactory({ fetchImpl, legacyCompat }),
    new sdk.RestTransportFactory({ fetchImpl, legacyCompat }),
    new GrpcTransportFactory({ legacyCompat }),
  ];
}

// `version`: the client uses only the card's interface of this version.
async function connect(version, transport, base, options = {}) {
  const { token, through } = options;
  const fetchImpl = token ? authenticating(sdk, token) : undefined;
  const legacyCompat = { enabled: version === "0.3" };
  const cardResolver = new sdk.DefaultAgentCardResolver({ fetchImpl, legacyCompat });
  const settings = { transports: factories(fetchImpl, legacyCompat), preferredTransports: [transport], cardResolver };
  const card = await cardResolver.resolve(base);
  const supportedInterfaces = card.supportedInterfaces
    .filter((each) => each.protocolVersion === version)
    .map((each) => (through && each.protocolBinding === "GRPC" ? { ...each, url: through(each.url) } : each));
  const client = await new sdk.ClientFactory(settings).createFromAgentCard({ ...card, supportedInterfaces });
  return new Client(client, callOptions(sdk, transport, options));
}

const over = (version, transport) => ({
  sdk: "1.3.0",
  protocol: version,
  transport,
  api: version === "1.0" ? "ClientFactory" : "ClientFactory, legacyCompat",
  onlyInEverything: version === "0.3", // which has releases of its own
  has: {
    pushList: true,
    list: version === "1.0",
    extendedCard: true,
    authentication: true,
    extensions: true,
    fallback: true,
  },
  losesAppend: version === "0.3" && transport !== "JSONRPC",
  view,
  errorName,
  connect: (base, options) => connect(version, transport, base, options),
});

export const v10 = ["1.0", "0.3"].flatMap((version) =>
  ["JSONRPC", "HTTP+JSON", "GRPC"].map((transport) => over(version, transport)),
);
