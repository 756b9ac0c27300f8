"""Errors of every binding: numbers, texts, HTTP statuses, bodies; paths and methods that are not there; content
types (VERSIONS.md 3.4, 5.4, 6.4, 6.5 and 11)."""
import a2a_case
import client


class Errors(a2a_case.A2aCase):
    def test_task_not_found(self):
        for caller in self.all:
            with self.subTest(caller.name):
                status = 200 if caller.binding == "JSON-RPC" else 404
                for act in (caller.get, caller.cancel):
                    self.assert_refused(-32001, act, "unknown", status=status)
                if caller is not self.g1:
                    self.assert_refused(-32001, caller.send, "x", task="unknown")
                    self.assert_refused(-32001, caller.list_push, "unknown")
                self.assert_refused(-32001, caller.get_push, "unknown", "c")
                if caller is not self.g1:  # there it is held for the task to come, or refused
                    self.assert_refused(-32001, caller.set_push, "unknown", {"url": "http://127.0.0.1:9/"})

    def test_task_not_cancelable(self):
        for caller in self.all:
            with self.subTest(caller.name):
                task = caller.send("end").id
                self.assert_refused(-32002, caller.cancel, task, status=400 if caller.binding != "JSON-RPC" else 200)

    def test_texts_before_1_0_are_canonical_and_from_1_0_say_more(self):
        old = self.post("tasks/get", {"id": "x"}, version="0.3").body["error"]
        self.assertEqual((old["code"], old["message"]), (-32001, client.ERROR_TEXTS[-32001]))
        new = self.post("GetTask", {"id": "x"}, version="1.0").body["error"]
        self.assertEqual(new["data"], [{"@type": "type.googleapis.com/google.rpc.ErrorInfo",
                                        "reason": "TASK_NOT_FOUND", "domain": "a2a-protocol.org",
                                        "metadata": {"taskId": "x"}}])

    def test_unknown_methods(self):
        for version in (None, "0.1", "0.3", "1.0"):
            for method in ("tasks/frobnicate", "Frobnicate", "sendMessage", "message/Send", ""):
                with self.subTest(version=version, method=method):
                    error = self.post(method, {}, version=version).body["error"]
                    self.assertEqual((error["code"], error["message"]), (-32601, client.ERROR_TEXTS[-32601]))
                    self.assertNotIn("data", error, "valid in all generations")

    def test_wrong_parameters_name_the_field(self):
        for params, field in (({}, "message"),
                              ({"message": {"role": "ROLE_USER", "parts": [{"text": "x"}]}}, "messageId"),
                              ({"message": {"messageId": "m", "parts": [{"text": "x"}]}}, "role"),
                              ({"message": {"messageId": "m", "role": "ROLE_USER"}}, "parts"),
                              ({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{}]}}, "parts"),
                              ({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [
                                  {"text": "x", "url": "http://example.com/"}]}}, "parts")):
            with self.subTest(params):
                error = self.post("SendMessage", params, version="1.0").body["error"]
                self.assertEqual(error["code"], -32602)
                wrong = [detail for detail in error["data"] if detail["@type"].endswith("google.rpc.BadRequest")]
                violation = wrong[0]["fieldViolations"][0]
                self.assertIn(field, violation["field"])
                self.assertTrue(violation["description"])
                rest = self.rest("POST", "/message:send", params, "1.0")
                self.assertEqual((rest.status, rest.body["error"]["status"]), (400, "INVALID_ARGUMENT"))
                self.assertIn(field, str(rest.body["error"]["details"]))

    def test_rest_of_0_3_says_code_message_and_data(self):
        for answer, code, status in (
                (self.rest("GET", "/v1/tasks/x"), -32001, 404),
                (self.rest("POST", "/v1/message:send", {}), -32602, 400),
                (self.rest("POST", f"/v1/tasks/{self.g3_rest.send('end').id}:cancel", {}), -32002, 400),
                (self.server.http("POST", "/agents/player/v1/message:send", b"{", {"Content-Type": "application/json"}),
                 -32700, 400)):
            self.assertEqual((answer.status, self.g3_rest.code_of(answer)), (status, code), answer.raw)

    def test_rest_of_1_0_maps_each_error(self):
        ended = self.g4_rest.send("end").id
        for answer, status, name, reason in (
                (self.rest("GET", "/tasks/x", version="1.0"), 404, "NOT_FOUND", "TASK_NOT_FOUND"),
                (self.rest("POST", f"/tasks/{ended}:cancel", {}, "1.0"), 400, "FAILED_PRECONDITION",
                 "TASK_NOT_CANCELABLE"),
                (self.rest("POST", f"/tasks/{ended}:subscribe", {}, "1.0"), 400, "FAILED_PRECONDITION",
                 "UNSUPPORTED_OPERATION"),
                (self.rest("GET", "/extendedAgentCard", version="1.0"), 400, "FAILED_PRECONDITION",
                 "UNSUPPORTED_OPERATION"),
                (self.rest("GET", f"/tasks/{ended}", version="7.0"), 400, "", "VERSION_NOT_SUPPORTED"),
                (self.rest("POST", "/message:send", self.g4_rest.params(
                    "end", configuration={"acceptedOutputModes": ["image/png"]}), "1.0"), 400, "INVALID_ARGUMENT",
                 "CONTENT_TYPE_NOT_SUPPORTED")):
            with self.subTest(reason):
                self.assertEqual(answer.status, status, answer.raw)
                error = answer.body["error"]
                self.assertEqual((error["code"], error["details"][0]["reason"]), (status, reason))
                if name:
                    self.assertEqual(error["status"], name)

    def test_bodies_that_are_no_json(self):
        for path, version in (("/message:send", "1.0"), ("/v1/message:send", None)):
            for body in (b"{", b"[]", b"5", b"\xff"):
                with self.subTest(path=path, body=body):
                    answer = self.server.http("POST", "/agents/player" + path, body, {
                        "Content-Type": "application/json", **({"A2A-Version": version} if version else {})})
                    self.assertEqual(answer.status, 400, answer.raw)
                    self.assertTrue(answer.body)

    def test_bodies_that_may_be_left_out(self):
        for prefix, version in (("/v1", None), ("", "1.0")):
            for body in (None, b"", b"{}", b"null", b'{"name":"tasks/other"}'):
                if body == b"null" and version:
                    continue  # old clients only
                with self.subTest(prefix=prefix, body=body):
                    task = self.g4.begin("ask").id
                    answer = self.server.http("POST", f"/agents/player{prefix}/tasks/{task}:cancel", body,
                                              {"A2A-Version": version} if version else {})
                    self.assertEqual((answer.status, (answer.body or {}).get("id")), (200, task), answer.raw)

    def test_paths_and_methods_that_are_not_there(self):
        for method, path, status in (
                ("GET", "/message:send", 405), ("PUT", "/tasks/x", 405), ("DELETE", "/tasks/x", 405),
                ("GET", "/tasks/x:cancel", 404), ("POST", "/tasks", 405), ("POST", "/tasks/x:frobnicate", 405),
                ("POST", "/message:frobnicate", 404), ("GET", "/tasks/x/frobnicate", 404),
                ("PUT", "/tasks/x/pushNotificationConfigs/c", 405), ("GET", "/v1/message:send", 405),
                ("PUT", "/v1/tasks/x", 405), ("GET", "/v1/frobnicate", 404), ("GET", "/v1/extendedAgentCard", 404),
                ("GET", "/card", 404), ("POST", "/extendedAgentCard", 405), ("GET", "/a/b/c/tasks", 404),
                ("POST", "/tasks/", 404), ("GET", "/frobnicate", 404)):
            with self.subTest(f"{method} {path}"):
                body = {} if method in ("POST", "PUT") else None
                answer = self.rest(method, path, body, None if path.startswith("/v1") else "1.0")
                self.assertEqual(answer.status, status, answer.raw)
                if status == 405:
                    self.assertTrue(answer.headers["Allow"])
        self.assertEqual(self.server.http("POST", "/agents/nobody/message:send", b"{}",
                                          {"Content-Type": "application/json"}).status, 404)

    def test_content_types_of_requests(self):
        for kind, path, version, params in (("rpc", "/", None, None), ("rest", "/v1/message:send", None,
                                            self.g3_rest.params("end")), ("rest", "/message:send", "1.0",
                                                                          self.g4_rest.params("end"))):
            for media, works in (("application/json", True), ("application/json; charset=utf-8", True),
                                 ("application/a2a+json", True), ("text/plain", False),
                                 ("application/x-www-form-urlencoded", False)):
                with self.subTest(path=path, media=media):
                    if kind == "rpc":
                        answer = self.post("SendMessage", self.g4.params("end"), "1.0", {"Content-Type": media})
                    else:
                        answer = self.rest("POST", path, params, version, {"Content-Type": media})
                    refused = 415 if kind == "rpc" else 400  # -32005 in REST
                    self.assertEqual(answer.status, 200 if works else refused, answer.raw)

    def test_content_types_of_answers(self):
        task = self.g4.send("end").id
        new, old, rpc = "application/a2a+json", "application/json", "application/json"
        for accept, path, expected in ((None, f"/tasks/{task}", new), ("*/*", f"/tasks/{task}", new),
                                       ("application/json", f"/tasks/{task}", old),
                                       ("application/a2a+json, application/json", f"/tasks/{task}", new),
                                       (None, f"/v1/tasks/{task}", old), (None, "/tasks/unknown", new)):
            with self.subTest(accept=accept, path=path):
                answer = self.rest("GET", path, headers={"Accept": accept} if accept else {})
                self.assertEqual(answer.headers.get_content_type(), expected)
        answer = self.post("GetTask", {"id": task}, "1.0")
        self.assertEqual(answer.headers.get_content_type(), rpc)
        stream = self.g4_rest.stream("end")
        self.assertEqual(stream.stream.response.headers.get_content_type(), "text/event-stream")
        self.assertIn("no-cache", stream.stream.response.headers["Cache-Control"])
        self.assertEqual(stream.stream.response.headers["X-Accel-Buffering"], "no")
        stream.rest()
