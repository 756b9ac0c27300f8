// The name of an error, in whatever form the client reports it: its class if there is one, else the code in it.
const names = {
  [-32700]: "JsonParse",
  [-32600]: "InvalidRequest",
  [-32601]: "MethodNotFound",
  [-32602]: "InvalidParams",
  [-32603]: "Internal",
  [-32001]: "TaskNotFound",
  [-32002]: "TaskNotCancelable",
  [-32003]: "PushNotificationNotSupported",
  [-32004]: "UnsupportedOperation",
  [-32005]: "ContentTypeNotSupported",
  [-32006]: "InvalidAgentResponse",
  [-32007]: "ExtendedCardNotConfigured",
  [-32008]: "ExtensionSupportRequired",
  [-32009]: "VersionNotSupported",
};

export const nameOfCode = (code) => names[code] ?? `code ${code}`;

// The clients write "(Code: N)" for errors without a class.
export function nameInText(text) {
  const found = text.match(/\(Code: (-?\d+)\)/);
  return found ? nameOfCode(Number(found[1])) : undefined;
}

export class RpcError extends Error {
  constructor(answer) {
    super(`${answer.error.message} (Code: ${answer.error.code})`);
    this.id = answer.id;
  }
}
