"""A small client for each generation of A2A in each binding, all with the same operations, so that a test can combine
any two. Every answer is checked against its generation. The generations themselves are in old_generations.py and
new_generations.py."""
import json
import urllib.parse

import client
import validation

REASONS = {
    "TASK_NOT_FOUND": -32001,
    "TASK_NOT_CANCELABLE": -32002,
    "PUSH_NOTIFICATION_NOT_SUPPORTED": -32003,
    "UNSUPPORTED_OPERATION": -32004,
    "CONTENT_TYPE_NOT_SUPPORTED": -32005,
    "INVALID_AGENT_RESPONSE": -32006,
    "EXTENDED_AGENT_CARD_NOT_CONFIGURED": -32007,
    "EXTENSION_SUPPORT_REQUIRED": -32008,
    "VERSION_NOT_SUPPORTED": -32009,
    "INVALID_PARAMS": -32602,  # of the SDKs
}
ENDED = ("completed", "canceled", "failed", "rejected")
STOPPED = (*ENDED, "input-required", "auth-required")


class Refused(Exception):
    """An answer that is an error. `code`: the JSON-RPC number, or its equivalent in REST."""

    def __init__(self, code, answer):
        super().__init__(f"{code} (HTTP {answer.status}): {answer.raw[:300]}")
        self.code, self.answer = code, answer


class Task:
    """A task of any generation: its raw JSON, and the properties that all generations have."""

    def __init__(self, raw):
        self.raw = raw
        self.id = raw["id"]
        self.context = raw.get("contextId") or raw.get("sessionId")
        self.state = plain_state(raw["status"]["state"])

    @property
    def texts(self):
        """All texts of the artifacts."""
        return list(texts_in(self.raw.get("artifacts", [])))

    @property
    def said(self):
        """The texts of the status message."""
        return list(texts_in(self.raw["status"].get("message", {})))

    def __repr__(self):
        return json.dumps(self.raw, ensure_ascii=False)[:400]


def quoted(name):
    """Returns the name as a segment of a path."""
    return urllib.parse.quote(name, safe="")


def plain_state(state):
    plain = state.removeprefix("TASK_STATE_").lower().replace("_", "-")
    return "canceled" if plain == "cancelled" else plain


def texts_in(value):
    """Yields every text of every part below `value`."""
    if isinstance(value, list):
        for entry in value:
            yield from texts_in(entry)
    elif isinstance(value, dict):
        if isinstance(value.get("text"), str):
            yield value["text"]
        for name in ("parts", "content"):
            yield from texts_in(value.get(name, []))


class Item:
    """One block of a followed stream: `kind` is task, message, status, artifact or error."""

    def __init__(self, generation, block):
        self.block, self.number = block, block.number
        self.kind, self.raw = generation.item_of(block.frame)
        status = self.raw.get("status")
        self.state = plain_state(status["state"]) if status else None
        self.final = self.raw.get("final")

    def __repr__(self):
        return f"{self.number}:{self.kind}:{self.state}" + ("" if self.final is None else f":final={self.final}")


class Following:
    """A stream, in the shape of its generation."""

    def __init__(self, generation, stream):
        self.generation, self.stream, self.items = generation, stream, []

    def __iter__(self):
        for block in self.stream:
            item = Item(self.generation, block)
            self.items.append(item)
            yield item

    def until(self, *states):
        """Reads up to the first item with one of these states."""
        for item in self:
            if item.state in states:
                return item
        raise AssertionError(f"the stream ended before {states}: {self.items}")

    def first(self):
        return next(iter(self))

    def rest(self):
        """Reads to the end. Returns every item, including those seen before."""
        for _ in self:
            pass
        return self.items

    def shown(self):
        return self.items

    def close(self):
        self.stream.close()


class Generation:
    """Shared by all clients. `version` is the value of A2A-Version; with None there is no such header, as before
    1.0."""

    name = shape = version = path = None
    streams_task_first = True
    shows_final = True
    has_list = False
    many_webhooks = True
    makes_ids = True  # the server names the tasks

    def __init__(self, server, agent="player", version="own", headers=None, token=None):
        self.server, self.agent = server, agent
        if version != "own":
            self.version = version
        self.headers = {"Content-Type": "application/json", **(headers or {})}
        if self.version:
            self.headers["A2A-Version"] = self.version
        if token:
            self.headers["Authorization"] = f"Bearer {token}"

    # Messages that a test of any generation sends.
    def begin(self, text, **how):
        """Begins a new task and waits until it stops."""
        return self.send(text, **how)

    def begin_long(self, text="wait", **how):
        """Begins a new task and waits until it is at work."""
        task = self.send(text, wait=False, **how)
        following = self.subscribe(task.id)
        following.until("working")
        following.close()
        return task

    def answer(self, task, text, **how):
        return self.send(text, task=task, **how)

    # Shapes that more than one generation uses.
    def part(self, text):
        return {"text": text}

    def message(self, text, task=None, context=None, message_id=None, parts=None, **more):
        named = {"taskId": task, "contextId": context}
        return {"messageId": message_id or client.new_id(), "role": "ROLE_USER",
                "parts": parts or [self.part(text)],
                **{name: value for name, value in named.items() if value}, **more}

    def webhook(self, url, **more):
        return {"url": url, **more}

    def check(self, name, value):
        validation.check_object(self.shape, name, value)

    def check_webhook(self, body):
        """Checks that a webhook's body is the whole task, in the shape of JSON-RPC."""
        validation.check_object("0.3", "Task", body)

    def webhook_task_id(self, body):
        return body["id"]


class JsonRpc(Generation):
    binding = "JSON-RPC"
    METHODS = {}

    @property
    def url(self):
        return f"/agents/{self.agent}/"

    def shape_of(self, operation):
        return self.shape

    def post(self, method, params, headers=None, request_id=7):
        body = json.dumps({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params},
                          ensure_ascii=False).encode()
        return self.server.http("POST", self.url, body, {**self.headers, **(headers or {})})

    def refuse(self, answer):
        body = answer.body
        if not isinstance(body, dict) or "error" not in body:
            raise AssertionError(f"HTTP {answer.status}: {answer.raw[:300]}")
        if body.get("jsonrpc") != "2.0" or "id" not in body or "result" in body:
            raise AssertionError(f"not a JSON-RPC error: {answer.raw[:300]}")
        self.check_error(body["error"])
        raise Refused(body["error"]["code"], answer)

    def check_error(self, error):
        code = error["code"]
        if error["message"] != client.ERROR_TEXTS.get(code, error["message"]):
            raise AssertionError(f"{code} is called {error['message']!r}")
        if set(error) - {"code", "message", "data"}:
            raise AssertionError(f"unknown members of an error: {error}")

    def call(self, operation, params, headers=None):
        answer = self.post(self.METHODS[operation], params, headers)
        if answer.status != 200 or "error" in (answer.body or {}):
            self.refuse(answer)
        if set(answer.body) != {"jsonrpc", "id", "result"} or answer.body["id"] != 7:
            raise AssertionError(f"not a JSON-RPC answer: {answer.raw[:300]}")
        if answer.headers.get_content_type() != "application/json":
            raise AssertionError(f"JSON-RPC answered as {answer.headers['Content-Type']}")
        return answer.body["result"]

    def open(self, operation, params, headers=None):
        def check(frame):
            if set(frame) not in ({"jsonrpc", "id", "result"}, {"jsonrpc", "id", "error"}) or frame["id"] != 7:
                raise AssertionError(f"not a JSON-RPC answer: {frame}")
            if "result" in frame:
                self.check_item(operation, frame["result"])

        body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": self.METHODS[operation], "params": params}).encode()
        headers = {"Accept": "application/json, text/event-stream", **self.headers, **(headers or {})}
        opened = self.server.open_http("POST", self.url, body, headers, check)
        if isinstance(opened, client.Answer):
            self.refuse(opened)
        return Following(self, opened)

    def item_of(self, frame):
        return ("error", frame["error"]) if "error" in frame else self.kind_of(frame["result"])

    # Before 1.0 all generations use the same names.
    def get(self, task, history="absent", headers=None):
        params = {"id": task} | ({} if history == "absent" else {"historyLength": history})
        return self.task(self.call("get", params, headers), "get")

    def cancel(self, task, headers=None):
        return self.task(self.call("cancel", {"id": task}, headers), "cancel")

    def subscribe(self, task, after=None, headers=None, **params):
        headers = ({} if after is None else {"Last-Event-ID": str(after)}) | (headers or {})
        return self.open("subscribe", {"id": task, **params}, headers)

    def task(self, raw, operation):
        validation.check_object(self.shape_of(operation), "Task", raw)
        return Task(raw)


class Rest(Generation):
    binding = "HTTP+JSON"
    media_types = ("application/json",)

    @property
    def url(self):
        return f"/agents/{self.agent}"

    def code_of(self, answer):
        raise NotImplementedError

    def ask(self, method, path, body=None, headers=None, query=None):
        """Sends a request and returns the Answer, whatever it is."""
        raw = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        path += "?" + urllib.parse.urlencode(query, doseq=True) if query else ""
        return self.server.http(method, self.url + path, raw, {**self.headers, **(headers or {})})

    def call(self, method, path, body=None, headers=None, query=None):
        answer = self.ask(method, path, body, headers, query)
        if answer.status != 200:
            raise Refused(self.code_of(answer), answer)
        if answer.headers.get_content_type() not in self.media_types:
            raise AssertionError(f"REST answered as {answer.headers['Content-Type']}")
        return answer.body

    def open(self, method, path, body=None, headers=None):
        raw = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        opened = self.server.open_http(method, self.url + path, raw, {**self.headers, **(headers or {})},
                                       self.check_frame)
        if isinstance(opened, client.Answer):
            raise Refused(self.code_of(opened), opened)
        return Following(self, opened)

    def check_frame(self, frame):
        if "error" not in frame:
            self.check("StreamItem", frame)

    def item_of(self, frame):
        name = next(iter(frame))
        return {"statusUpdate": "status", "artifactUpdate": "artifact"}.get(name, name), frame[name]

    def task(self, raw):
        self.check("Task", raw)
        return Task(raw)

    def sent(self, raw):
        self.check("Sent", raw)
        return Task(raw["task"])
