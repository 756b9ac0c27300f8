"""Errors of every binding: numbers, texts, HTTP statuses, bodies; unknown paths and methods; content types."""
import json

import a2a_case
import client
import generation_list
import generations
import rings


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
                if caller is not self.g1:  # 0.1 keeps the config for a task to come, or refuses it
                    self.assert_refused(-32001, caller.set_push, "unknown", {"url": "http://127.0.0.1:65535/"})

    def test_task_not_cancelable(self):
        for caller in self.all:
            with self.subTest(caller.name):
                task = caller.send("end").id
                self.assert_refused(-32002, caller.cancel, task, status=400 if caller.binding != "JSON-RPC" else 200)

    @rings.everything("unit/protocol/rpc/json_rpc_test.cpp and unit/protocol/a2a/errors_test.cpp")
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
                    if version == "1.0":
                        self.assertEqual([detail["reason"] for detail in error["data"]], ["METHOD_NOT_FOUND"])
                    else:
                        self.assertNotIn("data", error, "valid in all generations")

    @rings.everything("unit/protocol/a2a: v1_0 and errors_test.cpp; one case of it is below, for every binding")
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
                                              ({"Content-Type": "application/json"} if body else {})
                                              | ({"A2A-Version": version} if version else {}))
                    self.assertEqual((answer.status, (answer.body or {}).get("id")), (200, task), answer.raw)

    @rings.everything("unit/server/a2a/rest_test.cpp")
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
                    self.assertEqual(answer.status, 200 if works else 415, answer.raw)
                    if not works:
                        reader = self.g3_rest if path.startswith("/v1") else self.g4_rest
                        code = answer.body["error"]["code"] if kind == "rpc" else reader.code_of(answer)
                        self.assertEqual(code, -32005, answer.raw)

    def test_content_types_of_answers(self):
        task = self.g4.send("end").id
        new, old, rpc = "application/a2a+json", "application/json", "application/json"
        both = "application/a2a+json, application/json"
        for accept, sent, path, expected in (
                (None, None, f"/tasks/{task}", new), ("*/*", None, f"/tasks/{task}", new),
                (None, old, f"/tasks/{task}", old), ("*/*", old, f"/tasks/{task}", old),
                (None, new, f"/tasks/{task}", new), (old, new, f"/tasks/{task}", old),
                (new, old, f"/tasks/{task}", new), (both, old, f"/tasks/{task}", new),
                (None, old, "/tasks/unknown", old), (None, None, "/tasks/unknown", new),
                (None, "text/plain", "/tasks/unknown", new),
                (None, None, f"/v1/tasks/{task}", old), (new, new, f"/v1/tasks/{task}", old)):
            with self.subTest(accept=accept, sent=sent, path=path):
                headers = {"Accept": accept, "Content-Type": sent}
                answer = self.server.http("GET", "/agents/player" + path,
                                          headers={name: value for name, value in headers.items() if value})
                self.assertEqual(answer.headers.get_content_type(), expected)
        for sent in (new, old):
            answer = self.rest("POST", "/message:send", self.g4_rest.params("end"), "1.0", {"Content-Type": sent})
            self.assertEqual((answer.status, answer.headers.get_content_type()), (200, sent))
        answer = self.post("GetTask", {"id": task}, "1.0")
        self.assertEqual(answer.headers.get_content_type(), rpc)
        stream = self.g4_rest.stream("end")
        self.assertEqual(stream.stream.response.headers.get_content_type(), "text/event-stream")
        self.assertIn("no-cache", stream.stream.response.headers["Cache-Control"])
        self.assertEqual(stream.stream.response.headers["X-Accel-Buffering"], "no")
        stream.rest()


class Envelopes(a2a_case.A2aCase):
    OPTIONS = [*a2a_case.A2aCase.OPTIONS, *generation_list.OPTIONS]

    def bare(self, method, params, version=None):
        """Sends a JSON-RPC request without the member `jsonrpc`."""
        body = json.dumps({"id": 7, "method": method, "params": params}).encode()
        headers = {"Content-Type": "application/json"} | ({"A2A-Version": version} if version else {})
        return self.server.http("POST", "/agents/player/", body, headers)

    def test_only_the_tasks_era_may_leave_jsonrpc_out(self):
        task = self.g1.send("end").id
        for method, params, version in (("tasks/send", self.g1.params("end"), None), ("tasks/get", {"id": task}, None),
                                        ("tasks/get", {"id": task}, "0.1")):
            with self.subTest(method, version=version):
                answer = self.bare(method, params, version)
                self.assertEqual(answer.body["result"]["status"]["state"], "completed", answer.raw)
        for method, params, version in (("message/send", self.g3.params("end"), None),
                                        ("message/send", self.g3.params("end"), "0.2"),
                                        ("tasks/get", {"id": task}, "0.3"), ("unheard/of", {}, None),
                                        ("SendMessage", self.g4.params("end"), "1.0")):
            with self.subTest(method, version=version):
                answer = self.bare(method, params, version)
                self.assertEqual((answer.status, answer.body["error"]["code"]), (200, -32600), answer.raw)
                self.assertEqual(answer.body["id"], 7)

    @rings.everything("unit/protocol/rpc/json_rpc_test.cpp")
    def test_params_of_a_wrong_type_are_invalid_parameters(self):
        for method, version in (("tasks/send", None), ("message/send", None), ("tasks/get", "0.3"),
                                ("SendMessage", "1.0"), ("GetTask", "1.0")):
            for params in ("text", 5, True, []):
                with self.subTest(method, params=params):
                    error = self.post(method, params, version).body["error"]
                    self.assertEqual(error["code"], -32602, error)
                    self.assertIn("params", json.dumps(error["data"]))

    @rings.everything("unit/protocol/rpc/json_rpc_test.cpp and unit/protocol/a2a/errors_test.cpp")
    def test_envelope_errors_of_1_0_carry_a_list(self):
        for body, code in ((b"{", -32700), (b"[]", -32600), (b'{"jsonrpc":"1.0","id":1,"method":"GetTask"}', -32600),
                           (b'{"jsonrpc":"2.0","id":1}', -32600), (b'{"jsonrpc":"2.0","id":1,"method":"No"}', -32601),
                           (b'{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}', -32602)):
            for version in ("1.0", None):
                with self.subTest(body, version=version):
                    headers = {"Content-Type": "application/json"} | ({"A2A-Version": version} if version else {})
                    error = self.server.http("POST", "/agents/player/", body, headers).body["error"]
                    self.assertEqual(error["code"], code)
                    if version:
                        self.assertTrue(all(detail["@type"].startswith("type.googleapis.com/")
                                            for detail in error["data"]) and error["data"])
                    else:
                        self.assertNotIsInstance(error.get("data"), list)

    def test_a_message_without_its_id_or_role_is_refused_with_the_member_named(self):
        callers = [self.g2, self.g3, self.g3_rest, self.g4, self.g4_rest,
                   *(kind(self.server) for kind in generation_list.GENERATIONS if kind.binding == "GRPC")]
        for caller in callers:
            for member in ("messageId", "role"):
                for empty in (False, True):
                    if empty and member == "role" and caller.binding == "GRPC":
                        continue  # protobuf has no such value
                    with self.subTest(caller.name, member=member, empty=empty):
                        params = caller.params("end")
                        del params["message"][member]
                        if empty:
                            params["message"][member] = ""
                        with self.assertRaises(generations.Refused) as refused:
                            if caller.binding == "JSON-RPC":
                                caller.call("send", params)
                            else:
                                prefix = "/v1" if caller.shape.startswith("0.3") else ""
                                caller.call("POST", prefix + "/message:send", params)
                        self.assertEqual(refused.exception.code, -32602)
                        self.assertIn(member, str(refused.exception.answer.raw))
