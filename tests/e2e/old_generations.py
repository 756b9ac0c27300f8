"""The clients of A2A before 1.0 (see generations.py)."""
import client
import validation
from generations import JsonRpc, Refused, Rest, quoted


class Rpc01(JsonRpc):
    """The tasks era: the caller names its tasks, and there is no option to wait."""
    name, shape = "0.1", "0.1"
    streams_task_first = False
    many_webhooks = False
    makes_ids = False
    METHODS = {"send": "tasks/send", "stream": "tasks/sendSubscribe", "get": "tasks/get", "cancel": "tasks/cancel",
               "subscribe": "tasks/resubscribe", "set_push": "tasks/pushNotification/set",
               "get_push": "tasks/pushNotification/get"}

    def shape_of(self, operation):
        """The three names that 0.2 and 0.3 share are answered in all three shapes at once."""
        return "dual" if operation in ("get", "cancel", "subscribe") and not self.version else self.shape

    def part(self, text):
        return {"type": "text", "text": text}

    def message(self, text, parts=None, **more):
        return {"role": "user", "parts": parts or [self.part(text)], **more}

    def params(self, text, task=None, context=None, push=None, history="absent", metadata=None, parts=None,
               message=None):
        more = {"sessionId": context, "pushNotification": push, "metadata": metadata}
        more = {name: value for name, value in more.items() if value is not None}
        more |= {} if history == "absent" else {"historyLength": history}
        return {"id": task or client.new_id(), "message": self.message(text, parts, **(message or {})), **more}

    def send(self, text, wait=True, headers=None, **how):
        if wait:
            return self.task(self.call("send", self.params(text, **how), headers), "send")
        following = self.stream(text, headers=headers, **how)
        first = following.first()
        following.close()
        return self.get(first.raw["id"])

    def stream(self, text, headers=None, **how):
        """Opens a stream with numbers, which this era's clients get only if they ask."""
        return self.open("stream", self.params(text, **how), {"Last-Event-ID": "0", **(headers or {})})

    def kind_of(self, result):
        if "artifact" in result:
            return "artifact", result
        return ("task" if result.get("kind") == "task" or "sessionId" in result else "status"), result

    def check_item(self, operation, result):
        kind, _ = self.kind_of(result)
        name = {"artifact": "ArtifactUpdate", "status": "StatusUpdate", "task": "FirstItem"}[kind]
        validation.check_object(self.shape_of(operation), name, result)
        if kind == "task" and operation == "stream":
            raise AssertionError("a stream of 0.1 with a Task")

    def set_push(self, task, config, headers=None):
        got = self.call("set_push", {"id": task, "pushNotificationConfig": config}, headers)
        self.check("TaskPush", got)
        return got

    def get_push(self, task, config=None):
        got = self.call("get_push", {"id": task})
        self.check("TaskPush", got)
        return got

    def check_webhook(self, body):
        self.check("Task", body)


class Rpc03(JsonRpc):
    name, shape = "0.3 JSON-RPC", "0.3"
    METHODS = {"send": "message/send", "stream": "message/stream", "get": "tasks/get", "cancel": "tasks/cancel",
               "subscribe": "tasks/resubscribe", "set_push": "tasks/pushNotificationConfig/set",
               "get_push": "tasks/pushNotificationConfig/get", "list_push": "tasks/pushNotificationConfig/list",
               "delete_push": "tasks/pushNotificationConfig/delete", "card": "agent/getAuthenticatedExtendedCard"}
    shape_of = Rpc01.shape_of

    def part(self, text):
        return {"kind": "text", "text": text}

    def message(self, text, **how):
        return {"kind": "message", **super().message(text, **how), "role": "user"}

    def params(self, text, wait=None, push=None, history="absent", metadata=None, configuration=None, **how):
        chosen = dict(configuration or {})
        chosen |= {} if wait is None else {"blocking": wait}
        chosen |= {"pushNotificationConfig": push} if push else {}
        chosen |= {} if history == "absent" else {"historyLength": history}
        return {"message": self.message(text, **how), **({"configuration": chosen} if chosen else {}),
                **({"metadata": metadata} if metadata else {})}

    def send(self, text, headers=None, **how):
        return self.task(self.call("send", self.params(text, **how), headers), "send")

    def stream(self, text, headers=None, **how):
        return self.open("stream", self.params(text, **how), headers)

    def kind_of(self, result):
        return {"status-update": "status", "artifact-update": "artifact"}.get(result["kind"], result["kind"]), result

    def check_item(self, operation, result):
        shape = self.shape_of(operation)
        names = {"status": "StatusUpdate", "artifact": "ArtifactUpdate", "message": "Message",
                 "task": "FirstItem" if shape == "dual" else "Task"}
        validation.check_object(shape, names[self.kind_of(result)[0]], result)

    def set_push(self, task, config, headers=None):
        got = self.call("set_push", {"taskId": task, "pushNotificationConfig": config}, headers)
        self.check("TaskPush", got)
        return got

    def get_push(self, task, config=None):
        got = self.call("get_push", {"id": task} | ({"pushNotificationConfigId": config} if config else {}))
        self.check("TaskPush", got)
        return got

    def list_push(self, task):
        got = self.call("list_push", {"id": task})
        for entry in got:
            self.check("TaskPush", entry)
        return got

    def delete_push(self, task, config):
        return self.call("delete_push", {"id": task, "pushNotificationConfigId": config})

    def push_id(self, got):
        return got["pushNotificationConfig"]["id"]


class Rpc02(Rpc03):
    """Like 0.3, with parts tagged by `type`, as its documents showed it."""
    name, shape = "0.2", "0.2"

    def part(self, text):
        return {"type": "text", "text": text}


class Rest03(Rest):
    """The ProtoJSON of a2a.v1, below /v1."""
    name, shape = "0.3 REST", "0.3 REST"

    def message(self, text, **how):
        message = super().message(text, **how)
        return {**{name: value for name, value in message.items() if name != "parts"}, "content": message["parts"]}

    def params(self, text, wait=None, push=None, history="absent", metadata=None, configuration=None, **how):
        chosen = dict(configuration or {})
        chosen |= {} if wait is None else {"blocking": wait}
        chosen |= {"pushNotification": push} if push else {}
        chosen |= {} if history == "absent" else {"historyLength": history}
        if chosen and wait is None and "blocking" not in chosen:
            chosen["blocking"] = True  # a configuration without it means: do not wait
        return {"message": self.message(text, **how), **({"configuration": chosen} if chosen else {}),
                **({"metadata": metadata} if metadata else {})}

    def code_of(self, answer):
        body = answer.body
        if not isinstance(body, dict) or not {"code", "message"} <= set(body) <= {"code", "message", "data"}:
            raise AssertionError(f"no error of 0.3 REST: HTTP {answer.status} {answer.raw[:300]}")
        return body["code"]

    def send(self, text, headers=None, **how):
        return self.sent(self.call("POST", "/v1/message:send", self.params(text, **how), headers))

    def stream(self, text, headers=None, **how):
        return self.open("POST", "/v1/message:stream", self.params(text, **how), headers)

    def get(self, task, history="absent", headers=None):
        query = None if history == "absent" else {"historyLength": history}
        return self.task(self.call("GET", f"/v1/tasks/{quoted(task)}", headers=headers, query=query))

    def cancel(self, task, headers=None):
        return self.task(self.call("POST", f"/v1/tasks/{quoted(task)}:cancel", {}, headers))

    def subscribe(self, task, after=None, method="POST"):
        return self.open(method, f"/v1/tasks/{quoted(task)}:subscribe", {} if method == "POST" else None,
                         {} if after is None else {"Last-Event-ID": str(after)})

    def pushes(self, task, config=""):
        return f"/v1/tasks/{quoted(task)}/pushNotificationConfigs" + (f"/{quoted(config)}" if config else "")

    def set_push(self, task, config, headers=None):
        body = {"parent": f"tasks/{task}", "configId": config.get("id", ""),
                "config": {"pushNotificationConfig": config}}
        got = self.call("POST", self.pushes(task), body, headers)
        self.check("TaskPush", got)
        return got

    def get_push(self, task, config=None):
        got = self.call("GET", self.pushes(task, config or task))
        self.check("TaskPush", got)
        return got

    def list_push(self, task):
        got = self.call("GET", self.pushes(task))
        self.check("Pushes", got)
        return got.get("configs", [])

    def delete_push(self, task, config):
        answer = self.ask("DELETE", self.pushes(task, config))
        if answer.status not in (200, 204):
            raise Refused(self.code_of(answer), answer)

    def push_id(self, got):
        return got["pushNotificationConfig"]["id"]
