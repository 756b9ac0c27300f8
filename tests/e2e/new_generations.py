"""The clients of A2A 1.0 (see generations.py)."""
from generations import REASONS, JsonRpc, Refused, Rest, Task, quoted


class Version10:
    """Shared by both bindings of 1.0."""
    shape = version = "1.0"
    shows_final = False
    has_list = True

    def __init__(self, *args, tenant=None, **how):
        super().__init__(*args, **how)
        self.tenant = tenant

    def params(self, text, wait=None, push=None, history="absent", metadata=None, configuration=None, **how):
        chosen = dict(configuration or {})
        chosen |= {} if wait is None else {"returnImmediately": not wait}
        chosen |= {"taskPushNotificationConfig": push} if push else {}
        chosen |= {} if history == "absent" else {"historyLength": history}
        return {"message": self.message(text, **how), **({"configuration": chosen} if chosen else {}),
                **({"metadata": metadata} if metadata else {})}

    def sent(self, raw):
        self.check("Sent", raw)
        return Task(raw["task"])

    def push_id(self, got):
        return got["id"]

    def check_webhook(self, body):
        self.check("StreamItem", body)

    def webhook_task_id(self, body):
        name, item = Rest.item_of(self, body)
        return item["id"] if name == "task" else item["taskId"]

    @staticmethod
    def reasons(details):
        """Returns the numbers of the ErrorInfos among these details."""
        if not isinstance(details, list) or not all("@type" in detail for detail in details):
            raise AssertionError(f"no list of typed objects: {details}")
        infos = [detail for detail in details if detail["@type"] == "type.googleapis.com/google.rpc.ErrorInfo"]
        for info in infos:
            if info.get("domain") != "a2a-protocol.org" or set(info) - {"@type", "reason", "domain", "metadata"}:
                raise AssertionError(f"no ErrorInfo of A2A: {info}")
            if not all(isinstance(value, str) for value in info.get("metadata", {}).values()):
                raise AssertionError(f"metadata of an ErrorInfo holds texts only: {info}")
        return [REASONS.get(info["reason"]) for info in infos]


class Rpc10(Version10, JsonRpc):
    name = "1.0 JSON-RPC"
    METHODS = {"send": "SendMessage", "stream": "SendStreamingMessage", "get": "GetTask", "cancel": "CancelTask",
               "subscribe": "SubscribeToTask", "list": "ListTasks", "set_push": "CreateTaskPushNotificationConfig",
               "get_push": "GetTaskPushNotificationConfig", "list_push": "ListTaskPushNotificationConfigs",
               "delete_push": "DeleteTaskPushNotificationConfig", "card": "GetExtendedAgentCard"}

    def call(self, operation, params, headers=None):
        return super().call(operation, self.routed(params), headers)

    def open(self, operation, params, headers=None):
        return super().open(operation, self.routed(params), headers)

    def routed(self, params):
        return params | {"tenant": self.tenant} if self.tenant else params

    def send(self, text, headers=None, **how):
        return self.sent(self.call("send", self.params(text, **how), headers))

    def stream(self, text, headers=None, **how):
        return self.open("stream", self.params(text, **how), headers)

    def list(self, **filters):
        got = self.call("list", filters)
        self.check("TaskList", got)
        return got

    def kind_of(self, result):
        return Rest.item_of(self, result)

    def check_item(self, operation, result):
        self.check("StreamItem", result)

    def check_error(self, error):
        if set(error) - {"code", "message", "data"}:
            raise AssertionError(f"unknown members of an error: {error}")
        reasons = self.reasons(error.get("data", []))
        if error["code"] in REASONS.values() and reasons != [error["code"]] and (reasons or error["code"] != -32602):
            raise AssertionError(f"{error['code']} comes with the reasons {reasons}: {error}")

    def set_push(self, task, config, headers=None):
        got = self.call("set_push", {"taskId": task, **config}, headers)
        self.check("TaskPush", got)
        return got

    def get_push(self, task, config):
        got = self.call("get_push", {"taskId": task, "id": config})
        self.check("TaskPush", got)
        return got

    def list_push(self, task):
        got = self.call("list_push", {"taskId": task})
        self.check("Pushes", got)
        return got.get("configs", [])

    def delete_push(self, task, config):
        return self.call("delete_push", {"taskId": task, "id": config})

    def extended_card(self):
        got = self.call("card", {})
        self.check("Card", got)
        return got


class Rest10(Version10, Rest):
    """The REST binding: no prefix except a tenant's name."""
    name = "1.0 REST"
    media_types = ("application/a2a+json", "application/json")

    @property
    def url(self):
        return f"/agents/{self.agent}" + (f"/{self.tenant}" if self.tenant else "")

    # google.rpc.Status names by HTTP status; 400 has two.
    STATUSES = {400: ("INVALID_ARGUMENT", "FAILED_PRECONDITION"), 404: ("NOT_FOUND", "UNIMPLEMENTED"),
                500: ("INTERNAL",)}

    def code_of(self, answer):
        body = answer.body
        if not isinstance(body, dict) or set(body) != {"error"}:
            raise AssertionError(f"no error of 1.0 REST: HTTP {answer.status} {answer.raw[:300]}")
        error = body["error"]
        if set(error) - {"code", "status", "message", "details"} or error["code"] != answer.status:
            raise AssertionError(f"no google.rpc.Status: HTTP {answer.status} {answer.raw[:300]}")
        if error["status"] not in self.STATUSES.get(answer.status, (error["status"],)):
            raise AssertionError(f"HTTP {answer.status} is called {error['status']}")
        reasons = self.reasons(error.get("details", []))
        if reasons:
            return reasons[0]
        return {"INVALID_ARGUMENT": -32602, "UNIMPLEMENTED": -32601, "NOT_FOUND": -32601}.get(error["status"], -32603)

    def send(self, text, headers=None, **how):
        return self.sent(self.call("POST", "/message:send", self.params(text, **how), headers))

    def stream(self, text, headers=None, **how):
        return self.open("POST", "/message:stream", self.params(text, **how), headers)

    def get(self, task, history="absent", headers=None):
        query = None if history == "absent" else {"historyLength": history}
        return self.task(self.call("GET", f"/tasks/{quoted(task)}", headers=headers, query=query))

    def cancel(self, task, headers=None):
        return self.task(self.call("POST", f"/tasks/{quoted(task)}:cancel", {}, headers))

    def subscribe(self, task, after=None, method="POST"):
        return self.open(method, f"/tasks/{quoted(task)}:subscribe", {} if method == "POST" else None,
                         {} if after is None else {"Last-Event-ID": str(after)})

    def list(self, **filters):
        query = {name: str(value).lower() if isinstance(value, bool) else value for name, value in filters.items()}
        got = self.call("GET", "/tasks", query=query)
        self.check("TaskList", got)
        return got

    def pushes(self, task, config=""):
        return f"/tasks/{quoted(task)}/pushNotificationConfigs" + (f"/{quoted(config)}" if config else "")

    def set_push(self, task, config, headers=None):
        got = self.call("POST", self.pushes(task), config, headers)
        self.check("TaskPush", got)
        return got

    def get_push(self, task, config):
        got = self.call("GET", self.pushes(task, config))
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

    def extended_card(self):
        got = self.call("GET", "/extendedAgentCard")
        self.check("Card", got)
        return got
