"""A client of the tasks era: JSON-RPC calls and streams over http.client. Every JSON-RPC answer and every frame of a
stream that it reads is also checked against the protocol's schema, if that is available."""
import http.client
import json
import os
import socket
import threading
import uuid

import released_parsers
import validation

ERROR_TEXTS = {
    -32700: "Invalid JSON payload",
    -32600: "Request payload validation error",
    -32601: "Method not found",
    -32602: "Invalid parameters",
    -32603: "Internal error",
    -32001: "Task not found",
    -32002: "Task cannot be canceled",
    -32003: "Push Notification is not supported",
    -32004: "This operation is not supported",
    -32005: "Incompatible content types",
}
ENDED = ("completed", "canceled", "failed")
# How long tests wait for what must happen: far more than ever needed, also on a slow and busy machine.
PATIENCE_S = 60


def scaled(seconds=PATIENCE_S):
    return seconds * float(os.environ.get("BATON_TIME_SCALE", "1"))


def only_if(applies):
    """Removes the tests of a class if they do not apply. Removes rather than skips, because a skipped test counts as
    failed."""
    def left(cases):
        for name in [] if applies else [name for name in vars(cases) if name.startswith("test")]:
            delattr(cases, name)
        return cases
    return left


def has_grpc():
    """False with TEST_GRPC=off, for a program that was built without gRPC."""
    return os.environ.get("TEST_GRPC") != "off"


def is_sanitized():
    """True if the program is built with a sanitizer, which keeps freed memory to find wrong uses of it."""
    return "BATON_SANITIZER" in os.environ


def new_id():
    return str(uuid.uuid4())


def text_message(text, **more):
    return {"role": "user", "parts": [{"type": "text", "text": text}], **more}


def text_of(holder):
    """The joined texts of a message or an artifact."""
    return "".join(part["text"] for part in holder["parts"] if part.get("type") == "text")


class RpcError(Exception):
    def __init__(self, error):
        super().__init__(f"{error['code']}: {error['message']} {error.get('data', '')}")
        self.code = error["code"]
        self.error = error


class Answer:
    """One HTTP answer; `body` is its JSON, or None."""

    def __init__(self, response, raw):
        self.status = response.status
        self.headers = response.headers
        self.raw = raw
        try:
            self.body = json.loads(raw)
        except ValueError:
            self.body = None


# Baton's extension, and the metadata that uses it to ask for the numbers of a stream.
EXTENSION = "urn:baton:a2a:1"
EVERY_NUMBER = {EXTENSION: {"eventNumbers": True}}


class Block:
    """One block of an event stream: its number, if any, and its JSON-RPC answer."""

    def __init__(self, number, frame, event=None):
        self.number = number
        self.frame = frame
        self.event = event  # the name after "event:", if any

    @property
    def result(self):
        return self.frame.get("result")

    @property
    def covers(self):
        """The event numbers that the event says it covers, if the client asked for numbers."""
        return range(self.result["metadata"][EXTENSION]["from"], self.number + 1)

    @property
    def status(self):
        """The status, if the block is a status update or a snapshot."""
        return (self.result or {}).get("status")

    @property
    def final(self):
        return bool((self.result or {}).get("final"))

    def __repr__(self):
        return f"Block({self.number}, {json.dumps(self.frame, ensure_ascii=False)[:200]})"


class Stream:
    """An open event stream. Iterating reads blocks as they arrive, until the server ends it; `check` is called with the
    JSON of each."""

    def __init__(self, connection, response, check=validation.check_frame):
        self.check = check
        self.connection = connection
        self.response = response
        self.socket = connection.sock  # http.client gives it up when the answer says close
        self.seen = []
        self.released = released_parsers.Released()

    def __iter__(self):
        number, event, data, any_line = None, None, [], False
        while True:
            line = self.response.readline()
            self.released.line(line)
            if not line:
                if any_line:
                    raise AssertionError("the stream ended inside a block")
                self.close()
                return
            line = line.decode("utf-8").rstrip("\r\n")
            if line.startswith(":"):
                continue
            if line:
                any_line = True
                name, _, value = line.partition(":")
                value = value[1:] if value.startswith(" ") else value
                if name == "id":
                    number = int(value)
                elif name == "event":
                    event = value
                elif name == "data":
                    data.append(value)
                continue
            if not any_line:
                continue
            frame = json.loads("\n".join(data))
            self.check(frame)
            block = Block(number, frame, event)
            self.seen.append(block)
            number, event, data, any_line = None, None, [], False
            yield block

    def until(self, condition):
        """Reads up to the first block that fulfils condition(block). Returns that block."""
        for block in self:
            if condition(block):
                return block
        raise AssertionError(f"the stream ended too early: {self.seen}")

    def rest(self):
        """Reads to the end. Returns every block seen on this stream."""
        for _ in self:
            pass
        return self.seen

    def close(self):
        try:
            self.connection.close()
            self.response.close()
        except OSError:
            pass


class Client:
    """Talks to a server at `host`:`port`. Keeps one connection per thread open for calls."""

    def __init__(self, host="127.0.0.1", port=0):
        self.host, self.port = host, port
        self.kept = threading.local()
        self.connections = []

    def connect(self, seconds=PATIENCE_S):
        return http.client.HTTPConnection(self.host, self.port, timeout=scaled(seconds))

    def close(self):
        for connection in self.connections:
            connection.close()
        self.connections = []
        self.kept = threading.local()

    def http(self, method, path, body=None, headers=None):
        """Sends one request on this thread's connection. Opens a new one if the server has closed it."""
        for attempt in (1, 2):
            connection = getattr(self.kept, "connection", None)
            fresh = connection is None
            if fresh:
                connection = self.kept.connection = self.connect()
                self.connections.append(connection)
            try:
                connection.request(method, path, body, headers or {})
                response = connection.getresponse()
                return Answer(response, response.read())
            except (http.client.HTTPException, OSError) as problem:
                connection.close()
                self.kept.connection = None
                # A server that is slow has the request, and must not get it twice.
                if fresh or attempt == 2 or isinstance(problem, TimeoutError):
                    raise

    @staticmethod
    def path_of(agent):
        return "/" if agent is None else f"/agents/{agent}"

    @staticmethod
    def headers_of(token, headers):
        auth = {"Authorization": f"Bearer {token}"} if token else {}
        # Without a version, methods that several generations share are answered in the shapes of all of them.
        return {"Content-Type": "application/json", "A2A-Version": "0.1", **auth, **(headers or {})}

    @staticmethod
    def envelope(method, params, request_id):
        return json.dumps({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params},
                          ensure_ascii=False).encode()

    def post(self, body, agent=None, token=None, headers=None, method=None):
        """Posts this JSON-RPC body as it is and returns the Answer."""
        if not isinstance(body, bytes):
            body = json.dumps(body, ensure_ascii=False).encode()
        answer = self.http("POST", self.path_of(agent), body, self.headers_of(token, headers))
        if isinstance(answer.body, dict) and "jsonrpc" in answer.body:
            validation.check_answer(method, answer.body)
        return answer

    def rpc(self, method, params, agent=None, token=None, request_id=1, headers=None):
        return self.post(self.envelope(method, params, request_id), agent, token, headers, method)

    def call(self, method, params, **how):
        """Returns the result of a call that must succeed."""
        answer = self.rpc(method, params, **how)
        if "error" in (answer.body or {}):
            raise RpcError(answer.body["error"])
        if answer.status != 200:
            raise AssertionError(f"HTTP {answer.status}: {answer.raw[:300]}")
        return answer.body["result"]

    def send(self, text, task=None, agent=None, token=None, **params):
        """Sends a text with tasks/send, to a new task unless an id is given."""
        return self.call("tasks/send", {"id": task or new_id(), "message": text_message(text), **params},
                         agent=agent, token=token)

    def get(self, task, agent=None, token=None, **params):
        return self.call("tasks/get", {"id": task, **params}, agent=agent, token=token)

    def open(self, method, params, agent=None, token=None, request_id=1, headers=None, body=None):
        """Opens a stream on a connection of its own. Raises RpcError if the answer is an error."""
        opened = self.open_http("POST", self.path_of(agent), body or self.envelope(method, params, request_id),
                                self.headers_of(token, headers))
        if isinstance(opened, Stream):
            return opened
        if "jsonrpc" not in (opened.body or {}):
            raise AssertionError(f"HTTP {opened.status}: {opened.raw[:300]}")
        validation.check_answer(method, opened.body)
        raise RpcError(opened.body["error"])

    def open_http(self, method, path, body=None, headers=None, check=validation.check_frame):
        """Sends a request whose answer may be a stream. Returns the Stream, or else the Answer."""
        connection = self.connect()
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.request(method, path, body, {"Accept": "text/event-stream", **(headers or {})})
        response = connection.getresponse()
        if response.headers.get_content_type() != "text/event-stream":
            answer = Answer(response, response.read())
            connection.close()
            return answer
        if response.status != 200:
            raise AssertionError(f"HTTP {response.status} for a stream")
        return Stream(connection, response, check)

    def stream(self, text, task=None, agent=None, token=None, **params):
        """Sends a text with tasks/sendSubscribe; every event shows which numbers it covers."""
        params = {"id": task or new_id(), "message": text_message(text), "metadata": EVERY_NUMBER, **params}
        return self.open("tasks/sendSubscribe", params, agent, token)

    def resubscribe(self, task, after=None, agent=None, token=None):
        headers = {} if after is None else {"Last-Event-ID": str(after)}
        return self.open("tasks/resubscribe", {"id": task, "metadata": EVERY_NUMBER}, agent, token, headers=headers)
