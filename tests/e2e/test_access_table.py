"""Who may do what: each operation of each protocol, for each kind of caller. A row of OPERATIONS is an operation on a
task of alice's, and the scope that it needs. A caller that is not let in gets 401 or 403; one that is gets the same
answer as for a task that does not exist.
"""
import concurrent.futures
import json
import re
import time
import unittest

import authorization_server
import client
import harness

ALICE, BOB = "alices-token-is-long-enough-0123456789", "bobs-token-is-long-enough-0123456789"
VIEWER, OPERATOR = "a-viewers-token", "an-operators-token-is-long-enough-01234"
SCOPES = ("send", "read", "cancel")
FIRST, OLD, ONE = ({"A2A-Version": version} for version in ("0.1", "0.3", "1.0"))
PUSH = {"url": "https://hooks.example/x"}
TEXT = {"messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "x"}]}
NEW_TEXT = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]}


def rpc(method, params, headers):
    """`params`: a function of the task's id."""
    def ask(server, token, task):
        return server.rpc(method, params(task), token=token, headers=headers)
    return ask


def rest(method, path, body=None, headers=None):
    def ask(server, token, task):
        content = None if body is None else json.dumps(body).encode()
        return server.http(method, path.format(task), content, server.headers_of(token, headers))
    return ask


def tool(method, params):
    def ask(server, token, task):
        said = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {
            **params(task), "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                                      "io.modelcontextprotocol/clientCapabilities": {
                                          "extensions": {"io.modelcontextprotocol/tasks": {}}}}}}
        head = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method,
                "Mcp-Name": next(params(task)[name] for name in ("taskId", "uri", "name") if name in params(task)),
                "Accept": "application/json, text/event-stream"}
        return server.http("POST", "/mcp", json.dumps(said).encode(), server.headers_of(token, head))
    return ask


def named(task):
    return {"id": task}


# Name, scope, how to ask. `None` after them: the operation names no task, so a stranger's answer is its own.
OPERATIONS = [
    ("0.1 send", "send", rpc("tasks/send", lambda task: {"id": client.new_id(), "message": client.text_message("x")},
                             FIRST), None),
    ("0.1 stream", "send", rpc("tasks/sendSubscribe",
                               lambda task: {"id": client.new_id(), "message": client.text_message("x")}, FIRST), None),
    ("0.1 get", "read", rpc("tasks/get", named, FIRST)),
    ("0.1 cancel", "cancel", rpc("tasks/cancel", named, FIRST)),
    ("0.1 resubscribe", "read", rpc("tasks/resubscribe", named, FIRST)),
    ("0.1 webhook", "read", rpc("tasks/pushNotification/get", named, FIRST)),
    ("0.1 set webhook", "send", rpc("tasks/pushNotification/set",
                                    lambda task: {"id": task, "pushNotificationConfig": PUSH}, FIRST)),
    ("0.3 send", "send", rpc("message/send", lambda task: {"message": {**TEXT, "taskId": task}}, OLD)),
    ("0.3 stream", "send", rpc("message/stream", lambda task: {"message": {**TEXT, "taskId": task}}, OLD)),
    ("0.3 get", "read", rpc("tasks/get", named, OLD)),
    ("0.3 resubscribe", "read", rpc("tasks/resubscribe", named, OLD)),
    ("0.3 set webhook", "send", rpc("tasks/pushNotificationConfig/set",
                                    lambda task: {"taskId": task, "pushNotificationConfig": PUSH}, OLD)),
    ("0.3 webhooks", "read", rpc("tasks/pushNotificationConfig/list", named, OLD)),
    ("0.3 webhook", "read", rpc("tasks/pushNotificationConfig/get",
                                lambda task: {"id": task, "pushNotificationConfigId": "c"}, OLD)),
    ("0.3 delete webhook", "send", rpc("tasks/pushNotificationConfig/delete",
                                       lambda task: {"id": task, "pushNotificationConfigId": "c"}, OLD)),
    ("1.0 send", "send", rpc("SendMessage", lambda task: {"message": {**NEW_TEXT, "taskId": task}}, ONE)),
    ("1.0 stream", "send", rpc("SendStreamingMessage", lambda task: {"message": {**NEW_TEXT, "taskId": task}}, ONE)),
    ("1.0 get", "read", rpc("GetTask", named, ONE)),
    ("1.0 list", "read", rpc("ListTasks", lambda task: {}, ONE), None),
    ("1.0 subscribe", "read", rpc("SubscribeToTask", named, ONE)),
    ("1.0 set webhook", "send", rpc("CreateTaskPushNotificationConfig", lambda task: {"taskId": task, **PUSH}, ONE)),
    ("1.0 webhook", "read", rpc("GetTaskPushNotificationConfig", lambda task: {"taskId": task, "id": "c"}, ONE)),
    ("1.0 webhooks", "read", rpc("ListTaskPushNotificationConfigs", lambda task: {"taskId": task}, ONE)),
    ("1.0 delete webhook", "send", rpc("DeleteTaskPushNotificationConfig",
                                       lambda task: {"taskId": task, "id": "c"}, ONE)),
    ("0.3 REST send", "send", rest("POST", "/v1/message:send", {"message": TEXT}, OLD), None),
    ("0.3 REST stream", "send", rest("POST", "/v1/message:stream", {"message": TEXT}, OLD), None),
    ("0.3 REST set webhook", "send", rest("POST", "/v1/tasks/{}/pushNotificationConfigs", {"config": PUSH}, OLD)),
    ("0.3 REST webhook", "read", rest("GET", "/v1/tasks/{}/pushNotificationConfigs/c", headers=OLD)),
    ("0.3 REST get", "read", rest("GET", "/v1/tasks/{}", headers=OLD)),
    ("0.3 REST subscribe", "read", rest("GET", "/v1/tasks/{}:subscribe", headers=OLD)),
    ("0.3 REST cancel", "cancel", rest("POST", "/v1/tasks/{}:cancel", {}, OLD)),
    ("1.0 REST send", "send", rest("POST", "/message:send", {"message": NEW_TEXT}, ONE), None),
    ("1.0 REST stream", "send", rest("POST", "/message:stream", {"message": NEW_TEXT}, ONE), None),
    ("1.0 REST set webhook", "send", rest("POST", "/tasks/{}/pushNotificationConfigs", PUSH, ONE)),
    ("1.0 REST webhook", "read", rest("GET", "/tasks/{}/pushNotificationConfigs/c", headers=ONE)),
    ("1.0 REST delete webhook", "send", rest("DELETE", "/tasks/{}/pushNotificationConfigs/c", headers=ONE)),
    ("1.0 REST part of an artifact", "read", rest("GET", "/tasks/{}/artifacts/reply/parts/0", headers=ONE)),
    ("1.0 REST part of a message", "read", rest("GET", "/tasks/{}/messages/m/parts/0", headers=ONE)),
    ("1.0 REST subscribe", "read", rest("GET", "/tasks/{}:subscribe", headers=ONE)),
    ("1.0 REST webhooks", "read", rest("GET", "/tasks/{}/pushNotificationConfigs", headers=ONE)),
    ("1.0 REST picture", "read", rest("GET", "/tasks/{}/plan.svg", headers=ONE)),
    ("1.0 REST get", "read", rest("GET", "/tasks/{}", headers=ONE)),
    ("1.0 REST list", "read", rest("GET", "/tasks", headers=ONE), None),
    ("1.0 REST tree", "read", rest("GET", "/tasks/{}/tree", headers=ONE)),
    ("1.0 REST log", "read", rest("GET", "/tasks/{}/log", headers=ONE)),
    ("1.0 REST artifact", "read", rest("GET", "/tasks/{}/artifacts/reply", headers=ONE)),
    ("0.3 REST webhooks", "read", rest("GET", "/v1/tasks/{}/pushNotificationConfigs", headers=OLD)),
    ("Agent API run", "send", rest("POST", "/process", {}), None),
    ("Agent API stop", "cancel", rest("POST", "/stop", {"session_id": "s"}), None),
    ("AG-UI run", "send", rest("POST", "/ag-ui", {}), None),
    ("Agent Server run", "send", rest("POST", "/stream", {}), None),
    ("AG-Kit run", "send", rest("POST", "/send-message", {}), None),
    ("hosted AG-Kit run", "send", rest("POST", "/v1/aibot/bots/joke/send-message", {}), None),
    ("picture of a plan", "read", rest("GET", "/plan.svg"), None),
    ("conversations", "read", rest("GET", "/conversations"), None),
    ("conversation", "read", rest("GET", "/conversations/{}")),
    ("conversation's events", "read", rest("GET", "/conversations/{}/events")),
    ("rename conversation", "send", rest("PATCH", "/conversations/{}", {"title": "t"})),
    ("delete conversation", "cancel", rest("DELETE", "/conversations/{}")),
    ("completion", "send", rest("POST", "/v1/chat/completions", {}), None),
    ("new response", "send", rest("POST", "/v1/responses", {}), None),
    ("response", "read", rest("GET", "/v1/responses/{}")),
    ("response items", "read", rest("GET", "/v1/responses/{}/input_items")),
    ("delete response", "cancel", rest("DELETE", "/v1/responses/{}")),
    ("cancel response", "cancel", rest("POST", "/v1/responses/{}/cancel")),
    ("MCP call", "send", tool("tools/call", lambda task: {"name": "joke", "arguments": {}}), None),
    ("MCP get", "read", tool("tasks/get", lambda task: {"taskId": task})),
    ("MCP read", "read", tool("resources/read", lambda task: {"uri": f"/tasks/{task}/artifacts/reply/parts/0"})),
    ("MCP update", "send", tool("tasks/update", lambda task: {"taskId": task, "inputResponses": {}})),
    ("MCP cancel", "cancel", tool("tasks/cancel", lambda task: {"taskId": task})),
    ("0.3 cancel", "cancel", rpc("tasks/cancel", named, OLD)),
    ("1.0 cancel", "cancel", rpc("CancelTask", named, ONE)),
    ("1.0 REST cancel", "cancel", rest("POST", "/tasks/{}:cancel", {}, ONE)),
]

# Any caller of the agent may ask for its extended card, without a scope. In 1.0 this agent has none.
CARDS = [rpc("agent/getAuthenticatedExtendedCard", lambda task: {}, OLD),
         rest("GET", "/extendedAgentCard", headers=ONE), rest("GET", "/v1/card", headers=OLD)]


class AccessCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.issuer = authorization_server.AuthorizationServer()
        cls.issuer.__enter__()
        without = [{"caller": "alice", "token": f"without-{scope}", "scopes": [one for one in SCOPES if one != scope]}
                   for scope in SCOPES]
        cls.server = harness.Server(["joke"], {
            "tokens": [{"caller": "alice", "token": ALICE}, {"caller": "bob", "token": BOB}, *without,
                       {"caller": "vera", "token": VIEWER, "role": "viewer"},
                       {"caller": "otto", "token": OPERATOR, "role": "operator"},
                       {"caller": "olga", "token": "acts-not", "role": "operator", "scopes": ["send", "read", "cancel"]},
                       {"caller": "oren", "token": "reads-not", "role": "operator", "scopes": ["operate"]},
                       {"caller": "alice", "token": "alice-elsewhere", "agents": ["slow"]}],
            "issuers": [{"issuer": cls.issuer.issuer, "audience": "baton"}], "key_header": "X-API-Key"},
            ["--grpc-port", "0"] if client.has_grpc() else []).start()
        cls.issuer.wait_for_keys(cls.server)
        cls.task = cls.server.send("x", client.new_id(), token=ALICE)["id"]
        cls.none = client.new_id()

    @classmethod
    def tearDownClass(cls):
        cls.server.discard()
        cls.issuer.__exit__(None, None, None)


class Table(AccessCase):
    def page_token(self, user):
        asked = json.dumps({"user": user}).encode()
        return self.server.http("POST", "/tokens", asked, self.server.headers_of(ALICE, {})).body["token"]

    def shown(self, answer, task):
        """The answer without the task's id and times."""
        return answer.status, answer.raw.replace(task.encode(), b"ID")

    def test_who_is_not_let_in_gets_401_or_403_whatever_the_task(self):
        now = int(time.time())
        stranger = authorization_server.Key(self.issuer.folder, "first", "ES256")
        refused = {"nobody": (None, 401), "a wrong token": ("wrong", 401), "a viewer": (VIEWER, 403),
                   "a token for another agent": ("alice-elsewhere", 403),
                   "an expired token": (self.issuer.token(exp=now - 100), 401),
                   "a token for another audience": (self.issuer.token(aud="shop"), 401),
                   "a wrongly signed token": (self.issuer.token(key=stranger), 401)}
        rows = [(caller, *row) for caller in refused for row in OPERATIONS]

        def ask(row):
            caller, _, _, operation, *_ = row
            token = refused[caller][0]
            return [operation(self.server, token, task) for task in (self.task, self.none)]
        # Refusals of wrong tokens are delayed, so they are asked for at the same time.
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            answers = list(pool.map(ask, rows))
        for (caller, name, *_), (there, missing) in zip(rows, answers):
            with self.subTest(f"{name} as {caller}"):
                status = refused[caller][1]
                self.assertEqual(there.status, status, there.raw)
                self.assertEqual(self.shown(there, self.task), self.shown(missing, self.none))
                self.assertEqual("WWW-Authenticate" in there.headers, status == 401)

    def test_a_token_without_the_scope_gets_403_and_its_name_and_one_with_it_does_not(self):
        for name, scope, ask, *_ in OPERATIONS:
            for lacking in SCOPES:
                with self.subTest(f"{name} without {lacking}"):
                    answer = ask(self.server, f"without-{lacking}", self.none)
                    self.assertEqual(answer.status == 403, lacking == scope, answer.raw)
                    if lacking == scope:
                        self.assertIn(f'error="insufficient_scope", scope="{scope}"',
                                      answer.headers["WWW-Authenticate"])
            with self.subTest(f"{name} with a JWT without scopes"):
                self.assertEqual(ask(self.server, self.issuer.token(scope="openid"), self.none).status, 403)

    def test_anothers_task_is_answered_like_one_that_does_not_exist(self):
        others = {"another caller": BOB, "another caller of an issuer": self.issuer.token(sub="alice"),
                  "a page's user": self.page_token("ann")}
        for caller, token in others.items():
            for name, _, ask, *about in OPERATIONS:
                if about:
                    continue
                with self.subTest(f"{name} as {caller}"):
                    there, missing = ask(self.server, token, self.task), ask(self.server, token, self.none)
                    self.assertEqual(self.shown(there, self.task), self.shown(missing, self.none))

    def test_an_extended_card_is_for_callers_of_the_agent(self):
        refused = {None: 401, "wrong": 401, VIEWER: 403, "alice-elsewhere": 403, self.issuer.token(aud="shop"): 401}
        for at, ask in enumerate(CARDS):
            for token, status in refused.items():
                with self.subTest(f"{at} with {token}"):
                    self.assertEqual(ask(self.server, token, self.none).status, status)
            for token in (ALICE, BOB, self.issuer.token(scope="read")):
                with self.subTest(f"{at} with {token}"):
                    self.assertIn(ask(self.server, token, self.none).status, (200, 400))

    def test_a_task_of_another_tenant_is_answered_like_one_that_does_not_exist(self):
        for name, _, ask, *about in OPERATIONS:
            if about or not name.startswith("1.0 ") or "REST" in name:
                continue
            with self.subTest(name):
                mine = type(self.server).rpc

                def elsewhere(method, params, **how):
                    return mine(self.server, method, {**params, "tenant": "acme"}, **how)
                self.server.rpc = elsewhere
                self.addCleanup(self.server.__dict__.pop, "rpc", None)
                there, missing = ask(self.server, ALICE, self.task), ask(self.server, ALICE, self.none)
                del self.server.rpc
                self.assertEqual(self.shown(there, self.task), self.shown(missing, self.none))

    def test_each_path_of_the_operators_api_is_for_those_with_the_role_and_the_scope(self):
        described = self.server.http("GET", "/operate/v1/openapi.json", headers=self.server.headers_of(VIEWER, {}))
        rows = [(method.upper(), "/operate/v1" + path.removeprefix("/operate/v1"))
                for path, methods in described.body["paths"].items() for method in methods if method != "parameters"]
        self.assertGreater(len(rows), 30)
        callers = {"nobody": (None, 401, 401), "a wrong token": ("wrong", 401, 401), "a caller": (ALICE, 403, 403),
                   "a page's user": (self.page_token("ann"), 401, 401),
                   "a JWT without a role": (self.issuer.token(scope="read operate"), 403, 403),
                   "a wrongly addressed JWT": (self.issuer.token(aud="shop"), 401, 401),
                   "a viewer": (VIEWER, None, 403), "an operator without the scope": ("acts-not", None, 403),
                   "an operator who may not read": ("reads-not", 403, 403), "an operator": (OPERATOR, None, None)}

        def ask(row):
            caller, method, path = row
            body = None if method == "GET" else b"{"  # wrong, so that nothing is done
            return self.server.http(method, re.sub(r"{\w+}", "x1", path), body,
                                    self.server.headers_of(callers[caller][0], {}))
        asked = [(caller, *row) for caller in callers for row in rows]
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            answers = list(pool.map(ask, asked))
        for (caller, method, path), answer in zip(asked, answers):
            with self.subTest(f"{method} {path} as {caller}"):
                expected = callers[caller][1 if method == "GET" else 2]
                if expected is None:
                    self.assertIn(answer.status, (200, 400, 404, 409), answer.raw)
                else:
                    self.assertEqual(answer.status, expected, answer.raw)

    def test_a_token_in_the_header_for_keys_is_as_good_as_a_bearer_token_and_a_jwt_is_not(self):
        def keyed(token, headers):
            return {**type(self.server).headers_of(None, headers), "X-API-Key": token}
        rows = [(name, ask) for name, _, ask, *about in OPERATIONS if not about]
        usual = [self.shown(ask(self.server, ALICE, self.none), self.none) for _, ask in rows]
        self.server.headers_of = keyed
        self.addCleanup(delattr, self.server, "headers_of")
        for (name, ask), expected in zip(rows, usual):
            with self.subTest(name):
                self.assertEqual(self.shown(ask(self.server, ALICE, self.none), self.none), expected)
        for wrong in ("wrong", self.issuer.token()):
            answer = self.server.http("GET", "/v1/models", headers={"X-API-Key": wrong})
            self.assertEqual((answer.status, "invalid_token" in answer.headers["WWW-Authenticate"]), (401, True))
        schemes = self.server.http("GET", "/.well-known/agent-card.json").body["securitySchemes"]
        self.assertEqual({name: schemes["apiKey"][name] for name in ("type", "in", "name")},
                         {"type": "apiKey", "in": "header", "name": "X-API-Key"})


# As above, for gRPC: the call, its scope, and the message as JSON.
CALLS = [
    ("SendMessage", "send", lambda task: {"message": {**NEW_TEXT, "taskId": task}}),
    ("SendStreamingMessage", "send", lambda task: {"message": {**NEW_TEXT, "taskId": task}}),
    ("GetTask", "read", named),
    ("SubscribeToTask", "read", named),
    ("ListTasks", "read", lambda task: {}),
    ("CancelTask", "cancel", named),
    ("CreateTaskPushNotificationConfig", "send", lambda task: {"taskId": task, **PUSH}),
    ("GetTaskPushNotificationConfig", "read", lambda task: {"taskId": task, "id": "c"}),
    ("ListTaskPushNotificationConfigs", "read", lambda task: {"taskId": task}),
    ("DeleteTaskPushNotificationConfig", "send", lambda task: {"taskId": task, "id": "c"}),
]


@client.only_if(client.has_grpc())
class GrpcTable(AccessCase):
    def outcome(self, name, message, token, key=None):
        """The name of the call's status, and its text. `key`: the token of the header for keys."""
        import grpc
        from google.protobuf import json_format
        import grpc_generations
        rpc = grpc_generations.pool().FindServiceByName("lf.a2a.v1.A2AService").methods_by_name[name]
        sent = json_format.ParseDict(message, grpc_generations.message_class(rpc.input_type)(),
                                     descriptor_pool=grpc_generations.pool())
        head = [("authorization", f"Bearer {token}")] if token else [("x-api-key", key)] if key else []
        with grpc.insecure_channel(self.server.address_of("grpc")) as channel:
            call = channel.unary_unary(f"/lf.a2a.v1.A2AService/{name}", lambda m: m.SerializeToString(), bytes)
            try:
                call(sent, metadata=head, timeout=client.scaled(60))
                return "OK", ""
            except grpc.RpcError as error:
                return error.code().name, error.details()

    def test_calls_over_grpc_are_refused_by_the_same_rules(self):
        refused = {None: "UNAUTHENTICATED", "wrong": "UNAUTHENTICATED", VIEWER: "PERMISSION_DENIED",
                   "alice-elsewhere": "PERMISSION_DENIED", self.issuer.token(aud="shop"): "UNAUTHENTICATED",
                   self.issuer.token(scope="openid"): "PERMISSION_DENIED"}
        for name, scope, message in CALLS:
            for token, status in refused.items():
                with self.subTest(f"{name} with {token}"):
                    there = self.outcome(name, message(self.task), token)
                    self.assertEqual(there[0], status)
                    self.assertEqual(there, self.outcome(name, message(self.none), token))
            for lacking in SCOPES:
                with self.subTest(f"{name} without {lacking}"):
                    status, _ = self.outcome(name, message(self.none), f"without-{lacking}")
                    self.assertEqual(status == "PERMISSION_DENIED", lacking == scope)
            with self.subTest(f"{name} by a key"):
                self.assertEqual(self.outcome(name, message(self.none), None, BOB),
                                 self.outcome(name, message(self.none), BOB))
            with self.subTest(f"{name} as another caller"):
                self.assertEqual(self.outcome(name, message(self.task), BOB),
                                 self.outcome(name, message(self.none), BOB))


if __name__ == "__main__":
    unittest.main()
