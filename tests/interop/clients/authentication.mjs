// The SDKs' own way of sending a bearer token.
export function authenticating(sdk, token) {
  return sdk.createAuthenticatingFetchWithRetry(fetch, {
    headers: async () => ({ Authorization: `Bearer ${token}` }),
    shouldRetryWithHeaders: async () => undefined,
  });
}

// The options of every call: the requested extensions and, over gRPC, the token.
export function callOptions(sdk, transport, { token, extensions = [] }) {
  const parameters = extensions.length > 0 ? sdk.ServiceParameters.create(sdk.withA2AExtensions(...extensions)) : {};
  if (token && transport === "GRPC") parameters.authorization = `Bearer ${token}`;
  return Object.keys(parameters).length > 0 ? { serviceParameters: parameters } : undefined;
}
