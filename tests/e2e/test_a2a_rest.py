"""REST in detail: paths, encodings, browsers, and refusals before any agent is involved."""
import json
import urllib.parse

import a2a_case
import client


class Paths(a2a_case.A2aCase):
    def test_root_paths_are_the_default_agents_also_with_a_tenant(self):
        body = json.dumps(self.g4_rest.params("ask")).encode()
        for prefix in ("", "/north", "/agents/player", "/agents/player/north"):
            with self.subTest(prefix):
                answer = self.server.http("POST", prefix + "/message:send", body, self.g4_rest.headers)
                self.assertEqual(answer.status, 200, answer.raw)
                task = answer.body["task"]["id"]
                for again in (prefix, prefix.removeprefix("/agents/player"),
                              "/agents/player" + prefix.removeprefix("/agents/player")):
                    got = self.server.http("GET", f"{again}/tasks/{task}", headers=self.g4_rest.headers)
                    self.assertEqual((got.status, got.body["id"]), (200, task))
                body = json.dumps(self.g4_rest.params("ask")).encode()

    def test_a_tenant_is_decoded_once(self):
        for tenant in ("a b", "ü", "100%", "a:b", "v2", "message:send"):
            with self.subTest(tenant):
                encoded = urllib.parse.quote(tenant, safe="")
                body = self.g4_rest.params("ask")
                answer = self.rest("POST", f"/{encoded}/message:send", body, "1.0")
                self.assertEqual(answer.status, 200, answer.raw)
                task = answer.body["task"]["id"]
                self.assertEqual(type(self.g4)(self.server, tenant=tenant).get(task).id, task)

    def test_ids_are_decoded_once(self):
        for name in ("a b", "ü", "100%", "a+b", "a/b", "?", "%2F", "a%3Ab"):
            with self.subTest(name):
                task = self.g1.begin("ask", task=name + client.new_id()).id
                for caller in (self.g3_rest, self.g4_rest):
                    self.assertEqual(caller.get(task).id, task)
                    config = caller.push_id(caller.set_push(task, {"url": "http://127.0.0.1:65535/", "id": name}))
                    self.assertEqual(config, name)
                    self.assertEqual(caller.push_id(caller.get_push(task, name)), name)
                self.assertEqual(self.g4_rest.cancel(task).id, task)

    def test_json_rpc_with_and_without_the_slash(self):
        for path in ("/agents/player", "/agents/player/", "/"):
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "x"}}).encode()
            answer = self.server.http("POST", path, body, self.g4.headers)
            self.assertEqual(answer.body["error"]["code"], -32001)

    def test_snake_case_in_queries(self):
        task = self.g4.begin("ask").id
        for path in (f"/v1/tasks/{task}?history_length=1", f"/v1/tasks/{task}?historyLength=1",
                     f"/tasks/{task}?history_length=1", f"/tasks/{task}?historyLength=1"):
            self.assertEqual(len(self.rest("GET", path).body["history"]), 1)
        for path in (f"/v1/tasks/{task}?historyLength=x", f"/tasks/{task}?historyLength=-1"):
            self.assertEqual(self.rest("GET", path).status, 400)

    def test_answers_to_a_browser(self):
        page = {"Origin": "http://127.0.0.1:8000"}
        answer = self.server.http("OPTIONS", "/agents/player/tasks/x/pushNotificationConfigs/c", headers={
            **page, "Access-Control-Request-Method": "DELETE",
            "Access-Control-Request-Headers": "a2a-version, a2a-extensions, x-a2a-extensions, content-type"})
        self.assertIn(answer.status, (200, 204))
        self.assertIn("DELETE", answer.headers["Access-Control-Allow-Methods"])
        allowed = answer.headers["Access-Control-Allow-Headers"].lower()
        for name in ("a2a-version", "a2a-extensions", "x-a2a-extensions", "content-type", "last-event-id"):
            self.assertTrue(allowed == "*" or name in allowed, allowed)
        for got in (self.rest("GET", "/tasks", version="1.0", headers=page),
                    self.rest("GET", "/tasks/unknown", version="1.0", headers=page),
                    self.rest("POST", "/v1/message:send", {}, headers=page)):
            self.assertIn(got.headers["Access-Control-Allow-Origin"], ("*", "http://127.0.0.1:8000"))


class Refusals(a2a_case.A2aCase):
    CONFIG = {"tokens": [{"caller": "ann", "token": "secret-of-ann"},
                         {"caller": "cy", "token": "secret-of-cy", "agents": ["joke"]}], "http": {"body_max": 4096}}
    AGENTS = ["player", "joke"]

    def test_unauthenticated_in_every_binding(self):
        for method, path, version in (("GET", "/tasks", "1.0"), ("POST", "/message:send", "1.0"),
                                      ("POST", "/message:stream", "1.0"), ("GET", "/v1/tasks/x", None),
                                      ("POST", "/v1/message:send", None), ("POST", "/", None), ("POST", "/", "1.0")):
            with self.subTest(f"{method} {path} {version}"):
                for headers in ({}, {"Authorization": "Bearer wrong"}):
                    answer = self.rest(method, path, {} if method == "POST" else None, version, headers)
                    self.assertEqual(answer.status, 401, answer.raw)
                    self.assertIn("Bearer", answer.headers["WWW-Authenticate"])
                    self.assertNotIn(b"-32007", answer.raw, "never a number for this")
                    self.assertNotIn(b"-32008", answer.raw)

    def test_a_caller_of_another_agent(self):
        for method, path, version in (("GET", "/tasks", "1.0"), ("POST", "/message:send", "1.0"),
                                      ("POST", "/v1/message:send", None), ("POST", "/", "1.0")):
            answer = self.rest(method, path, {} if method == "POST" else None, version,
                               {"Authorization": "Bearer secret-of-cy"})
            self.assertIn(answer.status, (403, 404), answer.raw)

    def test_bodies_that_are_too_large(self):
        ann = {"Authorization": "Bearer secret-of-ann"}
        for path, version, params in (("/v1/message:send", None, self.g3_rest.params("x" * 9000)),
                                      ("/message:send", "1.0", self.g4_rest.params("x" * 9000))):
            answer = self.rest("POST", path, params, version, ann)
            self.assertEqual(answer.status, 413, answer.raw)


class Bodies(a2a_case.A2aCase):
    """Members of a request's body that the path does not contain."""

    def test_a_tenant_in_the_body_of_a_cancel(self):
        task = type(self.g4)(self.server, tenant="body").begin("ask").id
        self.assertEqual(self.rest("POST", f"/tasks/{task}:cancel", {}, "1.0").status, 404)
        answer = self.rest("POST", f"/tasks/{task}:cancel", {"tenant": "body"}, "1.0")
        self.assertEqual((answer.status, answer.body["status"]["state"]), (200, "TASK_STATE_CANCELED"))

    def test_the_path_names_the_task_whatever_the_body_says(self):
        task, other = self.g4.begin("ask").id, self.g4.begin("ask").id
        answer = self.rest("POST", f"/tasks/{task}:cancel", {"id": other, "name": f"tasks/{other}"}, "1.0")
        self.assertEqual(answer.body["id"], task)
        self.assertEqual(self.g4.get(other).state, "input-required")

    def test_bytes_that_are_no_text_are_nowhere(self):
        for path in ("/tasks/%ff%fe", "/tasks/%C0%AF", "/v1/tasks/%ed%a0%80", "/%ff/tasks",
                     "/tasks/x/pushNotificationConfigs/%ff"):
            with self.subTest(path):
                self.assertEqual(self.rest("GET", path).status, 404)

    def test_content_types_are_compared_without_their_case(self):
        body = json.dumps(self.g4_rest.params("end")).encode()
        answer = self.server.http("POST", "/agents/player/message:send", body,
                                  {**self.g4_rest.headers, "Content-Type": "Application/JSON; charset=utf-8"})
        self.assertEqual(answer.status, 200, answer.raw)
