"""Access to the operator API: roles of tokens, origins, hosts, the listener of its own."""
import json
import signal
import unittest

import client
import harness
import operate_case
from operate_case import CALLER, OPERATOR, PREFIX, VIEWER


class Roles(operate_case.OperateCase):
    def test_each_role_learns_who_it_is(self):
        self.assertEqual(self.read("/me", VIEWER)["role"], "viewer")
        me = self.read("/me", OPERATOR)
        self.assertEqual((me["actor"], me["role"]), ("otto", "operator"))

    def test_callers_and_strangers_are_refused(self):
        self.assert_api_error(self.ask("GET", "/me", token=CALLER), 403, "permission_denied")
        nobody = self.ask("GET", "/me", token=None)
        self.assert_api_error(nobody, 401, "unauthenticated")
        self.assertIn("Bearer", nobody.headers["WWW-Authenticate"])
        self.assert_api_error(self.ask("GET", "/me", token="wrong"), 401, "unauthenticated")

    def test_viewer_may_not_act(self):
        task = self.send("x", "phone")
        key = self.key_of(task)
        refused = self.ask("POST", f"/tasks/{key}/cancel", {"reason": "no"}, token=VIEWER)
        self.assert_api_error(refused, 403, "permission_denied")
        self.assertEqual(self.read(f"/tasks/{key}")["task"]["state"], "input-required")
        self.assertEqual(self.audit_of(key), [])

    def test_viewer_may_not_call_agents_and_operator_may(self):
        params = {"id": "of-otto", "message": {"role": "user", "parts": [{"type": "text", "text": "x"}]}}
        self.assertEqual(self.server.rpc("tasks/send", params, token=VIEWER).status, 403)
        sent = self.server.rpc("tasks/send", params, token=OPERATOR)
        self.assertEqual(sent.body["result"]["status"]["state"], "completed")
        self.assertEqual(self.read(f"/tasks/{self.key_of('of-otto')}")["task"]["caller"], "otto")

    def test_no_header_is_sent_twice(self):
        key = self.key_of(self.send("x", "joke"))
        for path in ("/console", "/console/app.js", "/console/none.js", f"{PREFIX}/me", f"{PREFIX}/nothing",
                     f"{PREFIX}/tasks/{key}/events", "/metrics"):
            with self.subTest(path):
                headers = self.server.http("GET", path, headers={"Authorization": f"Bearer {VIEWER}"}).headers
                self.assertEqual(headers.get_all("X-Content-Type-Options"), ["nosniff"])
                self.assertEqual(len(headers.keys()), len({name.lower() for name in headers.keys()}), headers.items())

    def test_unknown_paths_methods_and_parameters_are_errors(self):
        self.assert_api_error(self.ask("GET", "/nothing"), 404, "not_found")
        wrong = self.ask("DELETE", "/agents")
        self.assert_api_error(wrong, 405, "method_not_allowed")
        self.assertEqual(wrong.headers["Allow"], "GET")
        self.assert_api_error(self.ask("GET", "/tasks?agnet=x"), 400, "invalid_argument")
        self.assert_api_error(self.ask("GET", "/tasks/12345678"), 404, "not_found")
        self.assert_api_error(self.ask("GET", "/tasks/0x1"), 404, "not_found")


class Streams(operate_case.OperateCase):
    CONFIG = {**operate_case.OperateCase.CONFIG, "http": {"streams_max": 1}}

    def test_callers_streams_keep_no_operator_out(self):
        task = client.new_id()
        stream = self.server.stream("x", task, agent="slow", token=CALLER)
        stream.until(lambda block: block.status and block.status.get("message"))
        key = self.key_of(task)
        other = client.new_id()
        refused = self.server.rpc("tasks/sendSubscribe", {"id": other, "message": client.text_message("x")},
                                  agent="slow", token=OPERATOR)
        self.assertEqual(refused.status, 503, refused.raw)
        timeline = operate_case.Timeline(self.server, key)
        self.addCleanup(timeline.close)
        self.assertEqual(timeline.response.status, 200)
        self.assertEqual(next(iter(timeline))[0], 1)
        for one in (task, other):
            self.server.gate("slow", one)
        self.assertEqual(stream.rest()[-1].status["state"], "completed")


class FewConnections(operate_case.OperateCase):
    CONFIG = {**operate_case.OperateCase.CONFIG, "engine": {"drain_grace_s": 0.2, "queue_share": 1},
              "http": {"connections_max": 8}}

    def test_callers_streams_leave_connections_to_operators(self):
        tasks = [client.new_id() for _ in range(4)]
        streams = [self.server.stream("x", task, agent="slow", token=CALLER) for task in tasks]
        for stream in streams:
            stream.until(lambda block: block.status)
        more = {"id": client.new_id(), "message": client.text_message("x")}
        refused = self.server.rpc("tasks/sendSubscribe", more, agent="slow", token=CALLER)
        self.assertIn("too many of this caller's streams are open", refused.body["error"]["data"]["detail"])
        timeline = operate_case.Timeline(self.server, self.key_of(tasks[0]))
        self.addCleanup(timeline.close)
        self.assertEqual(timeline.response.status, 200)
        for task in tasks:
            self.server.gate("slow", task)
        for stream in streams:
            self.assertEqual(stream.rest()[-1].status["state"], "completed")


class Draining(operate_case.OperateCase):
    CONFIG = {**operate_case.OperateCase.CONFIG, "engine": {"drain_grace_s": 30}}

    def test_what_the_connection_layer_refuses_has_the_form_of_the_api(self):
        task, _ = self.begin("x", "slow")
        self.server.process.send_signal(signal.SIGTERM)
        refused = harness.wait_for(lambda: (answer := self.ask("GET", "/me")).status == 503 and answer,
                                   what="requests to be refused")
        self.assert_api_error(refused, 503, "unavailable")
        self.assertEqual(refused.headers["Retry-After"], "1")
        self.server.gate("slow", task)
        self.assertEqual(self.server.process.wait(client.scaled()), 0)


class Origins(operate_case.OperateCase):
    CONFIG = {**operate_case.OperateCase.CONFIG, "cors": {"origins": ["*"]}}

    def test_pages_of_other_origins_get_nothing(self):
        for headers in ({"Origin": "https://elsewhere.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
                        {"Sec-Fetch-Site": "same-site"}, {"Origin": f"http://127.0.0.1:{self.server.port + 1}"}):
            for path in ("/me", "/../../console"):
                with self.subTest(headers=headers, path=path):
                    where = "/console" if "console" in path else PREFIX + path
                    answer = self.server.http("GET", where, None,
                                              {"Authorization": f"Bearer {OPERATOR}", **headers})
                    self.assertEqual(answer.status, 403)
                    self.assertIsNone(answer.headers["Access-Control-Allow-Origin"])

    def test_own_page_is_answered_without_headers_for_others(self):
        own = f"http://127.0.0.1:{self.server.port}"
        answer = self.ask("GET", "/me", headers={"Origin": own, "Sec-Fetch-Site": "same-origin"})
        self.assertEqual(answer.status, 200)
        self.assertIsNone(answer.headers["Access-Control-Allow-Origin"])

    def test_preflight_is_refused(self):
        answer = self.server.http("OPTIONS", PREFIX + "/me", None,
                                  {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "GET"})
        self.assertEqual(answer.status, 403)
        self.assertIsNone(answer.headers["Access-Control-Allow-Origin"])

    def test_host_that_is_not_served_is_refused(self):
        answer = self.ask("GET", "/me", headers={"Host": "rebound.example"})
        self.assert_api_error(answer, 403, "permission_denied")


class Listener(harness.ServerCase):
    AGENTS = ["joke"]
    CONFIG = {"tokens": operate_case.TOKENS, "operate": {"port": 0}}

    def test_operators_have_a_listener_of_their_own(self):
        line = harness.wait_for(lambda: [one for one in self.server.lines if one.startswith("operate listening on")])
        port = int(line[0].rsplit(":", 1)[1])
        self.assertNotEqual(port, self.server.port)
        token = {"Authorization": f"Bearer {OPERATOR}"}
        for path in (PREFIX + "/me", "/console"):
            self.assertEqual(self.server.http("GET", path, None, token).status, 404)
        other = harness.client.Client()
        other.host, other.port = "127.0.0.1", port
        try:
            self.assertEqual(other.http("GET", PREFIX + "/me", None, token).body["actor"], "otto")
            self.assertEqual(other.http("GET", "/console").status, 200)
            self.assertEqual(other.http("GET", "/healthz").status, 200)
            self.assertEqual(other.http("GET", "/agents", None, token).status, 404)
        finally:
            other.close()


class Dev(harness.ServerCase):
    AGENTS = ["joke"]
    OPTIONS = ["--dev"]

    def test_dev_prints_a_link_with_a_token_for_operators(self):
        line = harness.wait_for(lambda: [one for one in self.server.lines if one.startswith("console ")])[0]
        url, token = line.removeprefix("console ").split("#token=")
        self.assertEqual(url, f"http://127.0.0.1:{self.server.port}/console")
        me = self.server.http("GET", PREFIX + "/me", None, {"Authorization": f"Bearer {token}"})
        self.assertEqual(me.body["role"], "operator")
        self.assertNotIn(token, self.server.log_text())
        # Being on loopback grants nothing, and callers still need no token.
        self.assertEqual(self.server.http("GET", PREFIX + "/me").status, 401)
        self.assertEqual(self.server.send("x", token="whatever")["status"]["state"], "completed")


class Configured(unittest.TestCase):
    def test_operators_alone_leave_callers_anonymous(self):
        with harness.Server(["joke"], {"tokens": operate_case.TOKENS[1:]}) as server:
            self.assertEqual(server.send("x")["status"]["state"], "completed")
            answer = server.http("GET", PREFIX + "/me", None, {"Authorization": f"Bearer {VIEWER}"})
            self.assertEqual(json.loads(answer.raw)["role"], "viewer")
