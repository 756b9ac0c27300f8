"""The operations of A2A, once as a table, and how each version and binding says them."""
import base64

from recorded.steps import answer_with, delivered, gate, grpc, http, rpc, wait

PICTURE = base64.b64encode(b"\x89PNG not really").decode()
PARTS = (("text", "mirror"), ("text", "线"), ("file", "a.txt", "text/plain", base64.b64encode(b"bytes").decode()),
         ("uri", "b.png", "image/png", "https://example.com/b.png"), ("data", {"list": [None, True, 1.5], "n": 1}))
NOWHERE = "https://93.184.216.34/hook"
UNKNOWN = "00000000-0000-4000-8000-000000000000"
BATON = "urn:baton:a2a:1"
# The names under which a step keeps the task's id and its context's.
TASK = {"t": "id", "c": "contextId"}

# (scene, (operation, arguments)...). {g} is the generation's name.
TABLE = (
    ("sends that end", (
        ("send", {"text": "end now"}),
        ("send", {"parts": PARTS, "metadata": {"k": "v"}}),
        ("send", {"text": "fail badly"}), ("send", {"text": "reject it"}), ("send", {"text": "say good bye"}),
        ("send", {"text": "speak hello"}), ("send", {"text": "data"}), ("send", {"text": "unknown"}),
        ("send", {"text": "count 1", "history": 0}), ("send", {"text": "end", "history": 5}),
        ("send", {"text": "end", "modes": ["image/png"]}), ("send", {"text": "end", "modes": ["text/plain"]}),
        ("send", {"text": "end", "message": {"metadata": {"m": [1]}, "extensions": ["urn:x"]}}))),
    ("a task that asks", (
        ("send", {"text": "ask which one?", "keep": TASK}),
        ("get", {"task": "$t"}), ("get", {"task": "$t", "history": 1}), ("get", {"task": "$t", "history": 0}),
        ("send", {"text": "this one", "task": "$t"}),
        ("get", {"task": "$t", "history": 1}),
        ("send", {"text": "again", "task": "$t"}),
        ("send", {"text": "auth", "keep": TASK}),
        ("send", {"text": "let in", "task": "$t", "context": "$c", "history": 1}),
        ("send", {"text": "end", "context": "$c", "keep": {"u": "id"}}),
        ("send", {"text": "end", "task": "$u", "context": "another"}),
        ("send", {"text": "end", "context": "own context", "references": ["$t", "$u"]}))),
    ("a task at work", (
        ("send", {"text": "wait", "wait": False, "keep": TASK}),
        ("wait", "$t", "working", "begun"),
        ("get", {"task": "$t"}),
        ("subscribe", {"task": "$t", "after": 0, "until": "begun"}),
        ("subscribe", {"task": "$t", "during": ("begun", "$t")}),
        ("subscribe", {"task": "$t", "after": 2}), ("subscribe", {"task": "$t"}),
        ("subscribe", {"task": "$t", "after": 99}),
        ("send", {"text": "wait", "wait": False, "keep": TASK}),
        ("wait", "$t", "working", "begun"),
        ("cancel", {"task": "$t"}), ("cancel", {"task": "$t"}),
        ("get", {"task": "$t", "history": 0}), ("subscribe", {"task": "$t", "after": 0}))),
    ("streams", (
        ("stream", {"text": "end now"}), ("stream", {"text": "ask me?", "keep": TASK}),
        ("stream", {"text": "yes", "task": "$t"}), ("stream", {"text": "fail so"}),
        ("stream", {"text": "speak-give word"}),
        ("stream", {"text": "count 2", "metadata": {BATON: {"eventNumbers": True}}}),
        ("stream", {"text": "x", "task": UNKNOWN}), ("subscribe", {"task": "$t", "after": 4}))),
    ("webhook configurations", (
        ("send", {"text": "ask", "keep": TASK}),
        ("list_push", {"task": "$t"}),
        ("set_push", {"task": "$t", "id": "one", "token": "word", "url": NOWHERE}),
        ("set_push", {"task": "$t", "id": "two", "url": NOWHERE, "auth": ("Basic", "secret")}),
        ("set_push", {"task": "$t", "url": NOWHERE}),
        ("get_push", {"task": "$t", "id": "one"}), ("get_push", {"task": "$t", "id": "none"}),
        ("delete_push", {"task": "$t", "id": "one"}), ("delete_push", {"task": "$t", "id": "one"}),
        ("get_push", {"task": "$t", "id": "one"}), ("list_push", {"task": "$t", "limited": True}),
        ("set_push", {"task": "$t", "id": "bad", "url": "ftp://example.com/"}),
        ("set_push", {"task": UNKNOWN, "id": "x", "url": NOWHERE}), ("list_push", {"task": UNKNOWN}),
        ("cancel", {"task": "$t"}))),
    ("webhooks", (
        ("answer_with", "/{g}", (500, 200)),
        ("send", {"text": "ask", "push": {"url": "$receiver/{g}", "token": "word",
        "auth": ("HMAC-SHA256", "a-key-that-signs")},
                  "keep": TASK}),
        ("wait", "$t", "input-required"),
        ("send", {"text": "done", "task": "$t"}),
        ("delivered", "/{g}"))),
    ("the same again", (
        ("send", {"text": "end", "id": "same", "keep": TASK}), ("send", {"text": "end", "id": "same"}),
        ("send", {"text": "another", "id": "same"}),
        ("send", {"text": "end", "metadata": {BATON: {"budget": {"max_children": 1}}}}),
        ("send", {"text": "end", "metadata": {BATON: {"budget": {"max_cats": 1}}}}),
        ("send", {"text": "end", "metadata": {BATON: {"startAt": "2020-01-01T00:00:00Z"}}}),
        ("send", {"text": "end", "metadata": {BATON: {"startAt": "tomorrow"}}}))),
    ("refusals", (
        ("get", {"task": UNKNOWN}), ("cancel", {"task": UNKNOWN}), ("subscribe", {"task": UNKNOWN}),
        ("send", {"text": "x", "task": UNKNOWN}), ("get", {"task": UNKNOWN, "history": -1}),
        ("send", {"parts": ()}), ("send", {"text": "x", "message": {"role": "somebody"}}),
        ("send", {"text": "x", "id": ""}), ("send", {"text": "x", "history": -1}),
        ("send", {"parts": (("file", "a", "text/plain", "no base64!"),)}),
        ("send", {"text": "x", "message": {"metadata": 5}}), ("send", {"text": "x", "push": {"url": "no url"}}))),
    ("lists", (
        ("send", {"text": "end one", "context": "listed"}), ("send", {"text": "ask two", "context": "listed"}),
        ("list", {"contextId": "listed"}), ("list", {"contextId": "listed", "includeArtifacts": True}),
        ("list", {"contextId": "listed", "pageSize": 1, "keep": {"p": "nextPageToken"}}),
        ("list", {"contextId": "listed", "pageSize": 1, "pageToken": "$p"}),
        ("list", {"contextId": "listed", "status": "TASK_STATE_COMPLETED", "historyLength": 1}),
        ("list", {"contextId": "none"}), ("list", {"pageToken": "x"}), ("list", {"pageSize": 1000}),
        ("list", {"statusTimestampAfter": "2100-01-01T00:00:00Z"}), ("list", {"statusTimestampAfter": "never"}))),
    ("cards", (("card", {}),)),
)
# Scenes whose sends want no history.
SHORT = ("webhook configurations", "webhooks", "the same again", "lists")
# The operations that a version lacks.
LACKS = {"0.1": ("list_push", "delete_push", "list", "card"), "0.2": ("list", "card"), "0.3": ("list",), "1.0": ()}


class Generation:
    """`name` says the version and the binding, "1.0 REST"; `agent`: whom it calls."""

    def __init__(self, name, agent):
        self.name, self.agent = name, agent
        self.version, _, self.binding = name.partition(" ")
        self.is_rpc, self.is_new = self.binding == "JSON-RPC", self.version == "1.0"
        self.mark = name.replace(" ", "-").lower()
        self.count = 0

    def scenes(self):
        for title, entries in TABLE:
            self.history = 0 if title in SHORT else None
            made = [step for entry in entries for step in self.steps(entry)]
            if made:
                yield title, made
        if self.binding == "gRPC":
            package = "lf.a2a.v1" if self.is_new else "a2a.v1"
            yield "calls that are wrong", [
                grpc(self.version, "", f"/{package}.A2AService/{name}", agent=agent, bytes=message) for name, message,
                agent in (
                    ("Nothing", b"", self.agent), ("GetTask", b"\xff\xff", self.agent), ("GetTask", b"", self.agent),
                    ("SendMessage", b"\x0a\x05ab", self.agent), ("GetTask", b"", "nobody"),
                    ("GetTask", b"", "no name!"),
                    ("SendStreamingMessage", b"", self.agent))]

    def steps(self, entry):
        word, *args = entry
        if word in LACKS[self.version]:
            return
        if word == "wait":
            yield wait(args[0], args[1], agent=self.agent, has="".join(args[2:]))
        elif word == "answer_with":
            yield answer_with(args[0].format(g=self.mark), *args[1])
        elif word == "delivered":
            yield delivered(args[0].format(g=self.mark), "COMPLETED" if self.is_new else '"completed"')
        else:
            how = self.marked(args[0])
            if self.version == "0.1" and how.pop("context", "").startswith("another"):
                return
            if self.version == "0.1" and word in ("send", "stream") and how.get("task") == UNKNOWN:
                return  # that version's clients name their tasks
            keep, during = how.pop("keep", None), how.pop("during", None)
            more = {"during": (during[0], [gate(self.agent, during[1])])} if during else {}
            more |= {"until": how.pop("until")} if "until" in how else {}
            if "after" in how:
                more["headers"] = {"Last-Event-ID": str(how.pop("after"))}
            elif word == "stream" and self.version == "0.1":
                more["headers"] = {"Last-Event-ID": "0"}
            if self.version == "0.1" and how.get("wait") is False:  # it has no such switch
                word = "stream"
                more |= {"until": "begun", "headers": {"Last-Event-ID": "0"}}
            made = getattr(self, word)(**how)
            step = self.step(word, made, **more)
            yield step | ({"keep": {name: self.way(word, at) for name, at in keep.items()}} if keep else {})

    def marked(self, value):
        if isinstance(value, dict):
            return {name: self.marked(each) for name, each in value.items()}
        return value.replace("{g}", self.mark) if isinstance(value, str) else value

    def way(self, word, at):
        """Where a task's member is in an answer."""
        if self.is_rpc:
            before = "0.result." if word == "stream" else "result."
        else:
            before = "0." if word == "stream" else ""
        if word in ("send", "stream") and (self.is_new or not self.is_rpc):
            before += "task."
        if self.version == "0.1":
            at = {"contextId": "sessionId" if word == "send" else "id"}.get(at, at)
        elif word == "stream" and at == "id" and not self.is_new and self.is_rpc:
            at = "id"
        return before + at

    # ---- Messages

    def part(self, kind, *args):
        if self.is_new:
            return {"text": lambda text: {"text": text}, "data": lambda data: {"data": data},
                    "file": lambda name, kind, raw: {"raw": raw, "filename": name, "mediaType": kind},
                    "uri": lambda name, kind, url: {"url": url, "filename": name, "mediaType": kind}}[kind](*args)
        if self.is_rpc:
            tag = "type" if self.version == "0.1" else "kind"
            made = {"text": lambda text: {"text": text}, "data": lambda data: {"data": data},
                    "file": lambda name, kind, raw: {"file": {"name": name, "mimeType": kind, "bytes": raw}},
                    "uri": lambda name, kind, url: {"file": {"name": name, "mimeType": kind, "uri": url}}}[kind](*args)
            return {tag: "file" if kind == "uri" else kind, **made}
        return {"text": lambda text: {"text": text}, "data": lambda data: {"data": {"data": data}},
                "file": lambda name, kind, raw: {"file": {"name": name, "mimeType": kind, "fileWithBytes": raw}},
                "uri": lambda name, kind, url: {"file": {"name": name, "mimeType": kind,
                "fileWithUri": url}}}[kind](*args)

    def message(self, parts, task, context, message_id, references, more):
        made = [self.part(*part) for part in parts]
        if self.version == "0.1":
            return {"role": "user", "parts": made, **{k: v for k, v in more.items() if k != "extensions"}}
        named = {"taskId": task, "contextId": context, "referenceTaskIds": references if self.is_rpc or self.is_new
            else None}
        named = {name: value for name, value in named.items() if value is not None}
        if self.is_rpc and not self.is_new:
            return {"kind": "message", "messageId": message_id, "role": "user", "parts": made, **named, **more}
        return {"messageId": message_id, "role": "ROLE_USER", "parts" if self.is_new else "content": made, **named,
            **more}

    def config(self, url, id=None, token=None, auth=None):
        made = {name: value for name, value in (("id", id), ("url", url), ("token", token)) if value is not None}
        if auth:
            scheme = {"scheme": auth[0]} if self.is_new else {"schemes": [auth[0]]}
            made["authentication"] = {**scheme, "credentials": auth[1]}
        return made

    def params(self, text=None, parts=None, task=None, context=None, id=None, references=None, message=None, wait=None,
               history=None, metadata=None, modes=None, push=None):
        self.count += 1
        history = self.history if history is None else history
        parts = (("text", text),) if parts is None else parts
        message_id = f"m-{self.count if id is None else id}" if id != "" else ""
        said = self.message(parts, task, context, message_id, references, message or {})
        push = self.config(**push) if push else None
        if self.version == "0.1":
            more = {"sessionId": context, "pushNotification": push, "historyLength": history, "metadata": metadata,
                    "acceptedOutputModes": modes}
            name = task or (f"t-{self.count}" if id is None else f"t-{id}" if id else "")
            return {"id": name, "message": said, **{k: v for k, v in more.items() if v is not None}}
        chosen = {"historyLength": history, "acceptedOutputModes": modes}
        if self.is_new:
            chosen |= {"returnImmediately": None if wait is None else not wait, "taskPushNotificationConfig": push}
        elif self.is_rpc:
            chosen |= {"blocking": wait, "pushNotificationConfig": push}
        else:
            chosen |= {"blocking": wait, "pushNotification": push}
        chosen = {name: value for name, value in chosen.items() if value is not None}
        if chosen and not self.is_rpc and not self.is_new:
            chosen.setdefault("blocking", True)
        return {"message": said, **({"configuration": chosen} if chosen else {}),
                **({"metadata": metadata} if metadata else {})}

    # ---- Operations: (method, params) of JSON-RPC, or (HTTP method, path, body)

    def step(self, word, made, **more):
        version = {"0.1": "0.1", "1.0": "1.0"}.get(self.version)
        if self.is_rpc:
            return rpc(*made, agent=self.agent, v=version, **more)
        method, path, body = made
        path = ("" if self.is_new else "/v1") + path
        if self.binding == "gRPC":
            return grpc(self.version, method, path, body, agent=self.agent,
                        stream=word in ("stream", "subscribe"), **more)
        return http(method, f"/agents/{self.agent}{path}", body, v=version, **more)

    def named(self, old, new, rest, **params):
        """`rest`: the HTTP method, the path and the body."""
        params = {name: value for name, value in params.items() if value is not None}
        return (new if self.is_new else old, params) if self.is_rpc else rest

    def send(self, **how):
        if self.version == "0.1":
            return "tasks/send", self.params(**how)
        params = self.params(**how)
        return self.named("message/send", "SendMessage", ("POST", "/message:send", params), **params)

    def stream(self, **how):
        params = self.params(**how)
        if self.version == "0.1":
            return "tasks/sendSubscribe", params
        return self.named("message/stream", "SendStreamingMessage", ("POST", "/message:stream", params), **params)

    def get(self, task, history=None):
        query = "" if history is None else f"?historyLength={history}"
        return self.named("tasks/get", "GetTask", ("GET", f"/tasks/{task}{query}", None), id=task,
            historyLength=history)

    def cancel(self, task):
        return self.named("tasks/cancel", "CancelTask", ("POST", f"/tasks/{task}:cancel", {}), id=task)

    def subscribe(self, task):
        return self.named("tasks/resubscribe", "SubscribeToTask", ("POST", f"/tasks/{task}:subscribe", {}), id=task)

    def set_push(self, task, **how):
        config = self.config(**how)
        if self.version == "0.1":
            return "tasks/pushNotification/set", {"id": task, "pushNotificationConfig": config}
        path = f"/tasks/{task}/pushNotificationConfigs"
        if self.is_new:
            return ("CreateTaskPushNotificationConfig", {"taskId": task, **config}) if self.is_rpc else ("POST", path,
                config)
        if self.is_rpc:
            return "tasks/pushNotificationConfig/set", {"taskId": task, "pushNotificationConfig": config}
        return "POST", path, {"parent": f"tasks/{task}", "configId": config.get("id", ""),
                              "config": {"pushNotificationConfig": config}}

    def push_call(self, verb, method, task, id=None):
        if self.version == "0.1":
            return f"tasks/pushNotification/{verb.lower()}", {"id": task}
        path = f"/tasks/{task}/pushNotificationConfigs" + (f"/{id}" if id else "")
        new = {"taskId": task, "id": id} if id else {"taskId": task}
        old = {"id": task, "pushNotificationConfigId": id} if id else {"id": task}
        name = f"{verb}TaskPushNotificationConfig" + ("" if id else "s")
        if self.is_rpc:
            return (name, new) if self.is_new else (f"tasks/pushNotificationConfig/{verb.lower()}", old)
        return method, path, None

    def get_push(self, task, id):
        return self.push_call("Get", "GET", task, id)

    def list_push(self, task, limited=False):
        return self.push_call("List", "GET", task)

    def delete_push(self, task, id):
        return self.push_call("Delete", "DELETE", task, id)

    def list(self, **filters):
        query = "&".join(f"{name}={str(value).lower() if isinstance(value, bool) else value}".replace(" ", "%20")
                         for name, value in filters.items())
        return ("ListTasks", filters) if self.is_rpc else ("GET", "/tasks?" + query, None)

    def card(self):
        return self.named("agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard",
                          ("GET", "/extendedAgentCard" if self.is_new else "/card", None))


NAMES = ("0.1 JSON-RPC", "0.2 JSON-RPC", "0.3 JSON-RPC", "0.3 REST", "0.3 gRPC", "1.0 JSON-RPC", "1.0 REST", "1.0 gRPC")
# Whose file has what the answers of a generation share with it.
BASES = {"0.2 JSON-RPC": "0.3 JSON-RPC", "0.3 gRPC": "0.3 REST", "1.0 JSON-RPC": "1.0 REST", "1.0 gRPC": "1.0 REST"}
