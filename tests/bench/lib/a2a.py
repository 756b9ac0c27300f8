"""The requests that are measured, in A2A 1.0 and 0.3 and as MCP's tools/call, and single calls."""
import http.client
import json

HEADERS = {"1.0": {"Content-Type": "application/json", "A2A-Version": "1.0"},
           "0.3": {"Content-Type": "application/json"},
           "mcp": {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                   "MCP-Protocol-Version": "2025-06-18"}}
METHODS = {
    "1.0": {"send": "SendMessage", "stream": "SendStreamingMessage", "get": "GetTask", "list": "ListTasks",
            "subscribe": "SubscribeToTask", "cancel": "CancelTask"},
    "0.3": {"send": "message/send", "stream": "message/stream", "get": "tasks/get",
            "subscribe": "tasks/resubscribe", "cancel": "tasks/cancel"},
}
CARD = "/.well-known/agent-card.json"


def _request(version, operation, params):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": METHODS[version][operation], "params": params},
                      separators=(",", ":"))


def send(version, text, waits=True, stream=False, task=None, message_id="@ID@"):
    """Returns a send. `waits`: the call returns when the task stops."""
    if version == "mcp":
        call = {"name": "inproc", "arguments": {"message": text}}
        return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}, separators=(",", ":"))
    if version == "1.0":
        message = {"messageId": message_id, "role": "ROLE_USER", "parts": [{"text": text}]}
        configuration = {} if waits else {"returnImmediately": True}
    else:
        message = {"kind": "message", "messageId": message_id, "role": "user",
                   "parts": [{"kind": "text", "text": text}]}
        configuration = {"blocking": waits}
    if task:
        message["taskId"] = task
    params = {"message": message, **({"configuration": configuration} if configuration and not stream else {})}
    return _request(version, "stream" if stream else "send", params)


def get(version, task="@TASK@", history_length=None):
    return _request(version, "get",
                    {"id": task, **({} if history_length is None else {"historyLength": history_length})})


def subscribe(version, task):
    return _request(version, "subscribe", {"id": task})


def cancel(version, task):
    return _request(version, "cancel", {"id": task})


def list_tasks(page_size=50):
    return _request("1.0", "list", {"pageSize": page_size})


class Caller:
    """A client with one keep-alive connection."""

    def __init__(self, server, version):
        self.headers = HEADERS[version]
        self.path = server.path
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def answer(self, body):
        """Returns the bytes of the answer, and its result."""
        if body is None:
            self.connection.request("GET", CARD)
        else:
            self.connection.request("POST", self.path, body, self.headers)
        response = self.connection.getresponse()
        raw = response.read()
        found = json.loads(raw)
        if response.status != 200 or "error" in found:
            raise RuntimeError(f"the server refused: {response.status} {raw[:300]}")
        return raw, found.get("result")

    def task(self, body):
        """Returns the task of a send's answer, which some versions wrap in an object."""
        result = self.answer(body)[1]
        return result.get("task", result)

    def stream(self, body):
        """Yields the states in the stream of a send in 1.0, each when it arrives."""
        self.connection.request("POST", self.path, body, self.headers)
        response = self.connection.getresponse()
        while line := response.readline():
            if not line.startswith(b"data:"):
                continue
            result = json.loads(line[5:])["result"]
            status = result.get("task", result.get("statusUpdate", {})).get("status")
            if status:
                yield status["state"]
        response.read()
