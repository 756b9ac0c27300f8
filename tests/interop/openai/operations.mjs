// The names of the cases that play.mjs has for each client.
export const operations = {
  openai: [
    "models are listed and an unknown one is not found",
    "a completion is whole or streamed with usage",
    "a completion's tools are run by the client",
    "a response is whole or streamed",
    "a stream is taken up after a number",
    "a background response is polled, canceled and deleted",
    "a question is answered by the next response",
    "a function is called and its output given",
    "a failure is told",
  ],
  "@ai-sdk/openai": [
    "a text is generated and streamed over responses",
    "a text is generated and streamed over chat completions",
    "a file is a text with a source",
    "a tool is run over responses",
    "a tool is run over chat completions",
    "a conversation continues by references",
  ],
};
