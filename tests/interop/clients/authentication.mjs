// The SDKs' own way of sending a bearer token.
export const bearer = (token) => ({ authorization: `Bearer ${token}` });

export function authenticating(sdk, token) {
  return sdk.createAuthenticatingFetchWithRetry(fetch, {
    headers: async () => ({ Authorization: `Bearer ${token}` }),
    shouldRetryWithHeaders: async () => undefined,
  });
}
