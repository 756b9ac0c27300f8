"""Agents as tools of the Model Context Protocol, in its revisions with and without `initialize`."""
import base64
import json
import unittest

import client
import harness

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
TASKS = {"extensions": {META + "tasks": {}}}
FORMS = {"elicitation": {}}


class McpCase(harness.ServerCase):
    AGENTS = ["player", "mirror"]
    CONFIG = {"engine": {"drain_grace_s": 0.2}, "mcp": {"handle_after_s": 0.2}}
    TOKEN = None

    def ask(self, method, params=None, path="/mcp", token=None, headers=None, body=None):
        """Sends a request of an early revision, and returns the Answer."""
        token = token or self.TOKEN
        head = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                **({"Authorization": f"Bearer {token}"} if token else {}), **(headers or {})}
        body = body or {"jsonrpc": "2.0", "id": 7, "method": method, "params": params or {}}
        return self.server.http("POST", path, json.dumps(body).encode(), head)

    def modern_head(self, method, params):
        name = params.get("taskId" if method.startswith("tasks/") else "name")
        return {"MCP-Protocol-Version": MODERN, "Mcp-Method": method, **({"Mcp-Name": name} if name else {})}

    def modern_params(self, params, abilities):
        return {**params, "_meta": {META + "protocolVersion": MODERN, META + "clientCapabilities": abilities}}

    def modern(self, method, params=None, abilities=None, **how):
        """Sends a request of 2026-07-28, and returns the Answer."""
        params = params or {}
        return self.ask(method, self.modern_params(params, abilities or {}), headers=self.modern_head(method, params), **how)

    def result(self, answer):
        self.assertIn("result", answer.body, answer.raw)
        return answer.body["result"]

    def call(self, text, agent="player", abilities=None, **arguments):
        """Calls a tool in 2026-07-28, and returns the result."""
        return self.result(self.modern("tools/call", {"name": agent, "arguments": {"message": text, **arguments}}, abilities))

    def task(self, task, **how):
        return self.result(self.modern("tasks/get", {"taskId": task}, TASKS, **how))

    def wait_status(self, task, status):
        return harness.wait_for(lambda: (now := self.task(task))["status"] == status and now, what=f"status {status}")


class Calls(McpCase):
    def test_both_eras_list_the_agents_and_call_them(self):
        begun = self.result(self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                                    "clientInfo": {"name": "t", "version": "1"}}))
        self.assertEqual(begun["protocolVersion"], "2025-06-18")
        found = self.result(self.modern("server/discover"))
        self.assertEqual((found["resultType"], found["supportedVersions"]), ("complete", [MODERN]))
        self.assertIn(META + "tasks", found["capabilities"]["extensions"])
        for ask in (self.ask, self.modern):
            listed = self.result(ask("tools/list"))
            self.assertEqual([tool["name"] for tool in listed["tools"]], ["mirror", "player"])
            called = self.result(ask("tools/call", {"name": "player", "arguments": {"message": "end well"}}))
            self.assertEqual(called["content"], [{"type": "text", "text": "played: end well"}])
            self.assertEqual(called["structuredContent"]["state"], "completed")
        own = self.result(self.ask("tools/list", path="/agents/mirror/mcp"))
        self.assertEqual([tool["name"] for tool in own["tools"]], ["mirror"])

    def test_a_failed_task_and_wrong_arguments_are_results_for_the_model(self):
        failed = self.call("fail no luck")
        self.assertTrue(failed["isError"])
        self.assertIn("no luck", failed["content"][0]["text"])
        wrong = self.result(self.ask("tools/call", {"name": "player", "arguments": {}}))
        self.assertTrue(wrong["isError"])
        self.assertIn("message", wrong["content"][0]["text"])
        lost = self.call("x", taskId="nothere")
        self.assertEqual((lost["isError"], lost["content"][0]["text"]), (True, "taskId: there is no such task"))

    def test_unknown_tools_methods_and_bodies_are_errors(self):
        self.assertEqual(self.ask("tools/call", {"name": "nobody"}).body["error"]["code"], -32602)
        unknown = self.modern("logging/setLevel")
        self.assertEqual((unknown.status, unknown.body["error"]["code"]), (404, -32601))
        self.assertEqual(self.modern("ping").status, 404)
        self.assertEqual(self.ask("ping").body, {"jsonrpc": "2.0", "id": 7, "result": {}})
        accepted = self.ask(None, body={"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.assertEqual((accepted.status, accepted.raw), (202, b""))
        missing = self.modern("tasks/get", {"taskId": "x"}, {})
        self.assertEqual((missing.status, missing.body["error"]["code"]), (400, -32021))
        self.assertEqual(self.server.http("GET", "/mcp").status, 405)
        self.assertEqual(self.server.http("DELETE", "/mcp").status, 405)

    def test_the_same_call_with_the_same_name_is_made_once(self):
        first, second = (self.call("end once", requestId="n1", contextId="c1") for _ in range(2))
        self.assertEqual(first["structuredContent"]["taskId"], second["structuredContent"]["taskId"])

    def test_the_next_call_answers_a_question_in_words(self):
        asked = self.result(self.ask("tools/call", {"name": "player", "arguments": {"message": "ask which colour?"}}))
        said = asked["structuredContent"]
        self.assertEqual((said["state"], asked["content"][0]["text"]), ("input-required", "which colour?"))
        answered = self.result(self.ask("tools/call", {"name": "player",
                                                       "arguments": {"message": "blue", "taskId": said["taskId"]}}))
        self.assertEqual(answered["content"][0]["text"], "answered: blue")


class OwnSchema(McpCase):
    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server(cls.AGENTS, cls.CONFIG)
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        for agent, tool in (("player", False), ("mirror", {"input_schema": schema})):
            path = cls.server.agents_folder / agent / "card.json"
            card = json.loads(path.read_text(encoding="utf-8"))
            card["baton"]["tool"] = tool
            path.write_text(json.dumps(card), encoding="utf-8")
        cls.server.start()

    def test_an_agent_gets_arguments_that_fit_its_own_schema(self):
        listed = self.result(self.ask("tools/list"))["tools"]
        self.assertEqual([(tool["name"], tool["inputSchema"]["required"]) for tool in listed], [("mirror", ["n"])])
        called = self.result(self.ask("tools/call", {"name": "mirror", "arguments": {"n": 3}}))
        self.assertIn('{"n":3}', called["content"][0]["text"].replace(" ", ""))
        wrong = self.result(self.ask("tools/call", {"name": "mirror", "arguments": {"n": "x"}}))
        self.assertEqual((wrong["isError"], wrong["content"][0]["text"][:12]), (True, "arguments/n:"))
        self.assertIn("error", self.ask("tools/call", {"name": "player", "arguments": {"message": "end"}}).body)


class LongCalls(McpCase):
    def test_a_handle_is_the_task_and_outlives_kills_of_the_server(self):
        handle = self.call("wait", abilities=TASKS)
        self.assertEqual((handle["resultType"], handle["status"], handle["ttlMs"]), ("task", "working", None))
        self.server.kill()
        self.server.start()
        self.assertEqual(self.task(handle["taskId"])["status"], "working")
        self.server.gate("player", handle["taskId"])
        done = self.wait_status(handle["taskId"], "completed")
        self.assertEqual(done["result"]["structuredContent"]["taskId"], handle["taskId"])
        self.assertGreaterEqual(done["lastUpdatedAt"], done["createdAt"])

    def test_a_handle_is_canceled_and_answered_by_its_id(self):
        handle = self.call("ask which colour?", abilities={**TASKS, **FORMS})
        self.assertEqual(handle["status"], "input_required")
        asked = self.task(handle["taskId"])["inputRequests"]
        key, request = next(iter(asked.items()))
        self.assertEqual((request["method"], request["params"]["message"]), ("elicitation/create", "which colour?"))
        stale = {"taskId": handle["taskId"], "inputResponses": {"other": {"action": "accept", "content": {"answer": "red"}}}}
        self.assertEqual(self.result(self.modern("tasks/update", stale, TASKS))["resultType"], "complete")
        self.assertEqual(self.task(handle["taskId"])["status"], "input_required")
        blue = {"taskId": handle["taskId"], "inputResponses": {key: {"action": "accept", "content": {"answer": "blue"}}}}
        self.result(self.modern("tasks/update", blue, TASKS))
        done = self.wait_status(handle["taskId"], "completed")
        self.assertEqual(done["result"]["content"][0]["text"], "answered: blue")
        waits = self.call("wait", abilities=TASKS)
        for _ in range(2):
            self.result(self.modern("tasks/cancel", {"taskId": waits["taskId"]}, TASKS))
            self.wait_status(waits["taskId"], "cancelled")

    def test_a_question_without_a_handle_is_answered_by_the_same_call(self):
        params = {"name": "player", "arguments": {"message": "ask which colour?"}}
        asked = self.result(self.modern("tools/call", params, FORMS))
        self.assertEqual(asked["resultType"], "input_required")
        key = next(iter(asked["inputRequests"]))
        again = {**params, "requestState": asked["requestState"],
                 "inputResponses": {key: {"action": "accept", "content": {"answer": "blue"}}}}
        self.assertEqual(self.result(self.modern("tools/call", again, FORMS))["content"][0]["text"], "answered: blue")
        forged = {**again, "requestState": base64.b64encode(b"t\nk\n0").decode()}
        self.assertEqual(self.modern("tools/call", forged, FORMS).body["error"]["code"], -32602)

    def open(self, params, headers):
        body = {"jsonrpc": "2.0", "id": "r1", "method": "tools/call", "params": params}
        connection = self.server.connect()
        connection.request("POST", "/mcp", json.dumps(body).encode(),
                           {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers})
        response = connection.getresponse()
        self.assertEqual(response.headers["Content-Type"], "text/event-stream")
        return connection, response

    def block(self, response):
        """Returns the next block's id and data."""
        found = {}
        while line := response.readline().decode().rstrip("\r\n"):
            name, _, value = line.partition(": ")
            found[name] = value
        return found.get("id"), json.loads(found["data"])

    def test_a_stream_of_an_early_revision_is_taken_up_again_where_it_was(self):
        params = {"name": "player", "arguments": {"message": "wait"}, "_meta": {"progressToken": "p"}}
        connection, response = self.open(params, {})
        number, progress = self.block(response)
        self.assertEqual((progress["method"], progress["params"]["progressToken"]), ("notifications/progress", "p"))
        connection.close()
        response.close()
        self.server.gate("player", number.partition(".")[0])
        again = self.server.connect()
        again.request("GET", "/mcp", headers={"Accept": "text/event-stream", "Last-Event-ID": number})
        with again.getresponse() as resumed:
            _, answer = self.block(resumed)
        self.assertEqual((answer["id"], answer["result"]["structuredContent"]["state"]), ("r1", "completed"))
        again.close()

    def test_a_modern_stream_that_is_closed_cancels_its_task(self):
        params = {"name": "player", "arguments": {"message": "wait", "contextId": "left"}}
        connection, response = self.open(self.modern_params(params, {}), self.modern_head("tools/call", params))
        task = next(iter(self.server.http("GET", "/agents/player/tasks?contextId=left",
                                          headers={"A2A-Version": "1.0"}).body["tasks"]))["id"]
        connection.close()
        response.close()
        self.wait_status(task, "cancelled")


class Access(McpCase):
    CONFIG = {**McpCase.CONFIG, "tokens": [{"token": "ann-" + "a" * 20, "caller": "ann"},
                                           {"token": "bob-" + "b" * 20, "caller": "bob", "agents": ["mirror"]}]}
    TOKEN = "ann-" + "a" * 20
    BOB = "bob-" + "b" * 20

    def test_a_caller_sees_and_calls_only_what_the_token_allows(self):
        nobody = self.server.http("POST", "/mcp", b"{}", {"Content-Type": "application/json"})
        self.assertEqual((nobody.status, "Bearer" in nobody.headers["WWW-Authenticate"]), (401, True))
        listed = self.result(self.ask("tools/list", token=self.BOB))
        self.assertEqual([tool["name"] for tool in listed["tools"]], ["mirror"])
        refused, unknown = (self.ask("tools/call", {"name": name, "arguments": {"message": "x"}}, token=self.BOB)
                            for name in ("player", "nobody"))
        self.assertEqual(refused.body, unknown.body)
        self.assertEqual(self.ask("tools/list", path="/agents/player/mcp", token=self.BOB).status, 403)

    def test_a_task_of_another_caller_is_no_task(self):
        handle = self.call("wait", abilities=TASKS)
        for method in ("tasks/get", "tasks/cancel", "tasks/update"):
            with self.subTest(method):
                others, nothing = (self.modern(method, {"taskId": task}, TASKS, token=self.BOB)
                                   for task in (handle["taskId"], "nothere"))
                self.assertEqual(others.body, nothing.body)
        self.assertEqual(self.task(handle["taskId"])["status"], "working")

    def test_pages_of_other_origins_may_not_call(self):
        self.assertEqual(self.ask("tools/list", headers={"Origin": "http://evil.example"}).status, 403)


if __name__ == "__main__":
    unittest.main()
