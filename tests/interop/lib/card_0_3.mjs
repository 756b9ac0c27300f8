// The card of an agent that @a2a-js/sdk 0.3 serves.
export const cardOf = (url, name, description, skills) => ({
  name,
  description,
  url,
  preferredTransport: "JSONRPC",
  version: "1.0.0",
  protocolVersion: "0.3.0",
  capabilities: { streaming: true, pushNotifications: false },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills,
});
