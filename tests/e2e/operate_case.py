"""Shared by the tests of the operator API: a server with a caller, a viewer and an operator, and a client that checks
every answer against schema/operate.openapi.json."""
import functools
import json
import pathlib
import re

import client
import harness

PREFIX = "/operate/v1"
CALLER, VIEWER, OPERATOR = "ann-secret", "vera-secret", "otto-secret"
TOKENS = [{"caller": "ann", "token": CALLER}, {"caller": "vera", "token": VIEWER, "role": "viewer"},
          {"caller": "otto", "token": OPERATOR, "role": "operator"}]
HOSTILE = "<img src=x onerror=alert(1)>\u202e\x1b[31m\u0007"


@functools.cache
def description():
    path = pathlib.Path(harness.ROOT) / "schema/operate.openapi.json"
    return json.loads(path.read_text(encoding="utf-8"))


def path_of(path):
    """Returns the path of the description that matches this path, or None."""
    plain = path.split("?")[0].removeprefix(PREFIX)
    for known in sorted(description()["paths"], key=lambda known: known.count("{")):
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", known), plain):
            return known
    return None


def check(method, path, answer):
    """Checks a JSON answer against the description."""
    import jsonschema
    if answer.body is None or not path.startswith(PREFIX):
        return
    known = path_of(path)
    operation = description()["paths"].get(known, {}).get(method.lower())
    if operation is None:
        schema = {"$ref": "#/components/schemas/Error"}
    else:
        response = operation["responses"].get(str(answer.status), operation["responses"]["default"])
        if "$ref" in response:
            response = description()["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
        schema = response["content"]["application/json"]["schema"]
    resolver = jsonschema.RefResolver("", description())
    jsonschema.Draft202012Validator(schema, resolver=resolver).validate(answer.body)


def check_event(event, schema="Event"):
    import jsonschema
    resolver = jsonschema.RefResolver("", description())
    jsonschema.Draft202012Validator({"$ref": f"#/components/schemas/{schema}"}, resolver=resolver).validate(event)


class Timeline:
    """A task's log as a stream. Iterating yields (number, event)."""

    def __init__(self, server, key, after=None, last_id=None, token=VIEWER):
        self.connection = server.connect()
        headers = {"Accept": "text/event-stream", "Authorization": f"Bearer {token}"}
        if last_id is not None:
            headers["Last-Event-ID"] = str(last_id)
        query = "" if after is None else f"?after={after}"
        self.connection.request("GET", f"{PREFIX}/tasks/{key}/events{query}", headers=headers)
        self.response = self.connection.getresponse()

    def __iter__(self):
        number = None
        for raw in self.response:
            line = raw.decode().rstrip("\n")
            if line.startswith("id:"):
                number = int(line[3:])
            elif line.startswith("data:"):
                event = json.loads(line[5:])
                check_event(event)
                yield number, event

    def close(self):
        self.response.close()
        self.connection.close()


class OperateCase(harness.ServerCase):
    AGENTS = ["joke", "slow", "phone", "bad"]
    CONFIG = {"tokens": TOKENS, "engine": {"drain_grace_s": 0.2},
              "webhooks": {"retry_first_s": 0.05, "retry_max_s": 0.1, "give_up_after_s": 0.3}}
    OPTIONS = ["--allow-private-webhooks"]

    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server(cls.AGENTS, cls.CONFIG, cls.OPTIONS)
        if "bad" in cls.AGENTS:
            cls.server.change_card("bad", turn_timeout_s=600)  # its turns end by themselves here
        cls.server.start()

    def ask(self, method, path, body=None, token=OPERATOR, headers=None):
        """Sends a request to the API. Returns the answer, after checking it against the description."""
        whole = PREFIX + path
        raw = None if body is None else json.dumps(body).encode()
        who = {"Authorization": f"Bearer {token}"} if token else {}
        answer = self.server.http(method, whole, raw, {**who, **(headers or {})})
        check(method, whole, answer)
        return answer

    def read(self, path, token=VIEWER):
        answer = self.ask("GET", path, token=token)
        self.assertEqual(answer.status, 200, answer.raw)
        return answer.body

    def act(self, path, reason="a test", **body):
        answer = self.ask("POST", path, {"reason": reason, **body})
        self.assertEqual(answer.status, 200, answer.raw)
        return answer.body

    def assert_api_error(self, answer, status, code):
        self.assertEqual(answer.status, status, answer.raw)
        self.assertEqual(answer.body["error"]["code"], code)

    def send(self, text, agent, **params):
        """Sends a caller's task with an id of its own. Returns the id."""
        task = client.new_id()
        self.server.rpc("tasks/send", {"id": task, "message": client.text_message(text), **params}, agent=agent,
                        token=CALLER)
        return task

    def begin(self, text, agent):
        """Begins a task that works until its gate opens. Returns its id and its key."""
        task = client.new_id()
        stream = self.server.stream(text, task, agent=agent, token=CALLER)
        stream.until(lambda block: block.status and block.status.get("message"))
        return task, self.key_of(task)

    def key_of(self, task):
        def look():
            rows = self.read("/tasks?limit=200")["tasks"]
            return [row["key"] for row in rows if row["id"] == task]
        return harness.wait_for(look, what=f"{task} in the list")[0]

    def wait_row(self, key, *states):
        def look():
            row = self.read(f"/tasks/{key}")["task"]
            return row if row["state"] in states else None
        return harness.wait_for(look, what=f"{key} to be {' or '.join(states)}")

    def audit_of(self, key):
        return self.read(f"/audit?task={key}")["rows"]
