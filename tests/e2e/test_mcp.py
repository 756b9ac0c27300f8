"""Agents as tools of the Model Context Protocol, in its revisions with and without `initialize`."""
import base64
import http.client
import json
import signal
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

    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server(cls.AGENTS, cls.CONFIG)
        cls.change_cards()
        cls.server.start()

    @classmethod
    def change_cards(cls):
        """Changes the agents' cards before the server starts."""

    @classmethod
    def change_card(cls, agent, change):
        path = cls.server.agents_folder / agent / "card.json"
        card = json.loads(path.read_text(encoding="utf-8"))
        change(card)
        path.write_text(json.dumps(card), encoding="utf-8")

    def ask(self, method, params=None, path="/mcp", token=None, headers=None, body=None):
        """Sends a request of an early revision, and returns the Answer."""
        token = token or self.TOKEN
        head = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                **({"Authorization": f"Bearer {token}"} if token else {}), **(headers or {})}
        body = body or {"jsonrpc": "2.0", "id": 7, "method": method, "params": params or {}}
        answer = self.server.http("POST", path, json.dumps(body).encode(), head)
        # A call that takes longer is a stream, whose last event is the answer.
        if answer.headers.get_content_type() == "text/event-stream":
            answer.body = json.loads(answer.raw.rsplit(b"data: ", 1)[1])
        return answer

    def modern_head(self, method, params):
        name = params.get("taskId" if method.startswith("tasks/") else "uri" if method == "resources/read" else "name")
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

    def task(self, task, abilities=None):
        return self.result(self.modern("tasks/get", {"taskId": task}, {**TASKS, **(abilities or {})}))

    def wait_status(self, task, status, abilities=None):
        return harness.wait_for(lambda: (now := self.task(task, abilities))["status"] == status and now,
                                what=f"status {status}")


    def open(self, params, headers, method="tools/call"):
        body = {"jsonrpc": "2.0", "id": "r1", "method": method, "params": params}
        connection = self.server.connect()
        connection.request("POST", "/mcp", json.dumps(body).encode(),
                           {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers})
        response = connection.getresponse()
        self.assertEqual(response.headers["Content-Type"], "text/event-stream")
        return connection, response

    def last(self, response):
        """Returns the data of the block with the result."""
        while "result" not in (found := self.block(response)[1]):
            pass
        return found

    def block(self, response):
        """Returns the next block's id and data."""
        found = {}
        while line := response.readline().decode().rstrip("\r\n"):
            name, _, value = line.partition(": ")
            found[name] = value
        return found.get("id"), json.loads(found["data"])


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
            said, ids = called["content"]
            self.assertEqual(said, {"type": "text", "text": "played: end well"})
            self.assertEqual(called["structuredContent"], {**json.loads(ids["text"]), "text": "played: end well"})
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

    def test_a_call_with_only_a_task_id_waits_for_that_task(self):
        handle = self.call("wait", abilities=TASKS)
        self.server.gate("player", handle["taskId"])
        for _ in range(2):
            ended = self.result(self.ask("tools/call", {"name": "player", "arguments": {"taskId": handle["taskId"]}}))
            self.assertEqual((ended["structuredContent"]["state"], ended["structuredContent"]["taskId"]),
                             ("completed", handle["taskId"]))
        lost = self.result(self.ask("tools/call", {"name": "player", "arguments": {"taskId": "nothere"}}))
        self.assertEqual((lost["isError"], lost["content"][0]["text"]), (True, "taskId: there is no such task"))

    def test_a_link_of_a_result_is_read_as_a_resource(self):
        file = {"name": "a.zip", "mimeType": "application/zip", "data": "aGk="}
        called = self.result(self.ask("tools/call", {"name": "player", "arguments": {"message": "mirror", "files": [file]}}))
        link = next((part for part in called["content"] if part["type"] == "resource_link"), None)
        self.assertIsNotNone(link, called)
        for ask in (self.ask, self.modern):
            read = self.result(ask("resources/read", {"uri": link["uri"]}))
            self.assertEqual(read["contents"], [{"uri": link["uri"], "mimeType": "application/zip", "blob": "aGk="}])
            self.assertEqual(self.result(ask("resources/list"))["resources"], [])
            lost = ask("resources/read", {"uri": link["uri"].replace("/parts/", "/parts/9")})
            self.assertEqual(lost.body["error"]["data"], {"uri": link["uri"].replace("/parts/", "/parts/9")})

    def test_the_next_call_answers_a_question_in_words(self):
        asked = self.result(self.ask("tools/call", {"name": "player", "arguments": {"message": "ask which colour?"}}))
        said = asked["structuredContent"]
        self.assertEqual((said["state"], asked["content"][0]["text"]), ("input-required", "which colour?"))
        answered = self.result(self.ask("tools/call", {"name": "player",
                                                       "arguments": {"message": "blue", "taskId": said["taskId"]}}))
        self.assertEqual(answered["content"][0]["text"], "answered: blue")


N = {"type": "object", "properties": {"n": {"type": "integer"}, "at": {"type": "object"}}, "required": ["n"]}


class OwnSchema(McpCase):
    @classmethod
    def change_cards(cls):
        cls.change_card("player", lambda card: card["baton"].update(tool=False))
        cls.change_card("mirror", lambda card: card["baton"].update(tool={"input_schema": N}))

    def test_an_agent_gets_arguments_that_fit_its_own_schema(self):
        listed = self.result(self.ask("tools/list"))["tools"]
        self.assertEqual([(tool["name"], tool["inputSchema"]["required"]) for tool in listed], [("mirror", ["n"])])
        called = self.result(self.ask("tools/call", {"name": "mirror", "arguments": {"n": 3}}))
        self.assertIn('{"n":3}', called["content"][0]["text"].replace(" ", ""))
        wrong = self.result(self.ask("tools/call", {"name": "mirror", "arguments": {"n": "x"}}))
        self.assertEqual((wrong["isError"], wrong["content"][0]["text"][:12]), (True, "arguments/n:"))
        quoted = self.result(self.ask("tools/call", {"name": "mirror", "arguments": {"n": 3, "at": '{"x":1}'}}))
        self.assertIn('"at":{"x":1}', quoted["content"][0]["text"].replace(" ", ""))
        # Clients in PHP write an empty object as a list.
        empty, as_list = (self.result(self.ask("tools/call", {"name": "mirror", "arguments": given})) for given in ({}, []))
        self.assertEqual((as_list, as_list["isError"]), (empty, True))
        self.assertIn("error", self.ask("tools/call", {"name": "player", "arguments": {"message": "end"}}).body)


class Skills(McpCase):
    AGENTS = ["mirror"]
    PATH = "/agents/mirror/mcp"

    @classmethod
    def change_cards(cls):
        cls.change_card("mirror", lambda card: card.update(skills=[
            {"id": "count up", "name": "Count", "description": "Counts\u0007 up.", "tags": [], "inputSchema": N},
            {"id": "talk", "name": "Talk", "description": "Talks.", "tags": []}]))

    def told(self, name, **arguments):
        """Calls the tool in both eras. Returns the message's parts and its metadata, as the agent got them."""
        params = {"name": name, "arguments": arguments}
        found = [self.result(ask("tools/call", params, path=self.PATH)) for ask in (self.ask, self.modern)]
        texts = [[json.loads(part) if part[:1] == "{" else part for part in (one["text"] for one in called["content"][:-1])]
                 for called in found]
        parts, told = zip(*((text[:-1], text[-1]["message"]) for text in texts))
        self.assertEqual(parts[0], parts[1])
        self.assertEqual(told[0].get("metadata"), told[1].get("metadata"))
        return parts[0], told[0].get("metadata")

    def test_each_skill_is_a_tool_and_the_agent_learns_which_was_called(self):
        listed = self.result(self.ask("tools/list", path=self.PATH))["tools"]
        self.assertEqual([(tool["name"], tool["title"], tool["description"]) for tool in listed],
                         [("count_up", "Count", "Counts up."), ("talk", "Talk", "Talks.")])
        self.assertEqual(listed[0]["inputSchema"], N)
        self.assertIn("message", listed[1]["inputSchema"]["properties"])
        self.assertEqual(self.told("count_up", n=3), ([{"n": 3}], {"skill": "count up"}))
        self.assertEqual(self.told("talk", message="hi"), (["hi"], {"skill": "talk"}))
        wrong = self.result(self.ask("tools/call", {"name": "count_up", "arguments": {"n": "x"}}, path=self.PATH))
        self.assertEqual((wrong["isError"], wrong["content"][0]["text"][:12]), (True, "arguments/n:"))
        # The whole agent: the one tool of /mcp, and still called by its name here.
        whole = self.result(self.ask("tools/list"))["tools"]
        self.assertEqual([tool["name"] for tool in whole], ["mirror"])
        self.assertEqual(self.told("mirror", message="hi"), (["hi"], None))
        self.assertIn("error", self.ask("tools/call", {"name": "talk", "arguments": {"message": "hi"}}).body)
        self.assertNotIn("inputSchema", self.server.http("GET", "/agents/mirror/.well-known/agent-card.json").raw.decode())


class LongCalls(McpCase):
    def test_a_handle_is_the_task_and_outlives_kills_of_the_server(self):
        handle = self.call("wait", abilities=TASKS)
        self.assertEqual((handle["resultType"], handle["status"], handle["ttlMs"]), ("task", "working", None))
        for _ in range(2):
            self.server.kill()
            self.server.start()  # a client that has been started again has only the handle's id
            now = self.task(handle["taskId"])
            self.assertEqual((now["status"], now["createdAt"]), ("working", handle["createdAt"]))
        self.server.gate("player", handle["taskId"])
        done = self.wait_status(handle["taskId"], "completed")
        self.assertEqual(done["result"]["structuredContent"]["taskId"], handle["taskId"])
        self.assertEqual(done["createdAt"], handle["createdAt"])
        self.assertGreaterEqual(done["lastUpdatedAt"], done["createdAt"])

    def test_a_handle_is_canceled_and_answered_by_its_id(self):
        handle = self.call("ask which colour?", abilities={**TASKS, **FORMS})
        asked = self.wait_status(handle["taskId"], "input_required", FORMS)["inputRequests"]
        key, request = next(iter(asked.items()))
        self.assertEqual((request["method"], request["params"]["message"]), ("elicitation/create", "which colour?"))
        stale = {"taskId": handle["taskId"], "inputResponses": {"other": {"action": "accept", "content": {"answer": "red"}}}}
        self.assertEqual(self.result(self.modern("tasks/update", stale, TASKS))["resultType"], "complete")
        self.assertEqual(self.task(handle["taskId"], FORMS)["status"], "input_required")
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
        missing = {**again, "inputResponses": {}}
        self.assertEqual(self.result(self.modern("tools/call", missing, FORMS))["structuredContent"]["state"], "completed")
        forged = {**again, "requestState": base64.b64encode(b"t\nk\n0").decode()}
        self.assertEqual(self.modern("tools/call", forged, FORMS).body["error"]["code"], -32602)

    def test_a_retry_without_the_answer_is_asked_again(self):
        params = {"name": "player", "arguments": {"message": "ask which colour?"}}
        asked = self.result(self.modern("tools/call", params, FORMS))
        again = self.result(self.modern("tools/call", {**params, "requestState": asked["requestState"]}, FORMS))
        self.assertEqual((again["resultType"], again["inputRequests"]), ("input_required", asked["inputRequests"]))

    def test_a_client_that_cannot_be_asked_gets_the_question_in_words(self):
        asked = self.result(self.ask("tools/call", {"name": "player", "arguments": {"message": "ask which colour?"}}))
        task = asked["structuredContent"]["taskId"]
        seen = self.task(task)
        self.assertEqual((seen["status"], seen["result"]["structuredContent"]["state"]), ("completed", "input-required"))
        again = self.result(self.modern("tools/call", {"name": "player", "arguments": {"taskId": task}}, TASKS))
        self.assertEqual((again["resultType"], again["content"][0]["text"]), ("complete", "which colour?"))
        self.assertEqual(self.task(task, FORMS)["status"], "input_required")

    def test_a_stream_of_an_early_revision_is_taken_up_again_where_it_was(self):
        params = {"name": "player", "arguments": {"message": "wait"}, "_meta": {"progressToken": "p"}}
        connection, response = self.open(params, {})
        number, progress = self.block(response)
        self.assertEqual((progress["method"], progress["params"]["progressToken"]), ("notifications/progress", "p"))
        connection.close()
        response.close()
        self.server.gate("player", number.partition(":")[0])
        again = self.server.connect()
        again.request("GET", "/mcp", headers={"Accept": "text/event-stream", "Last-Event-ID": number})
        with again.getresponse() as resumed:
            again_number, progress = self.block(resumed)
            self.assertEqual(progress["params"]["progressToken"], "p")
            self.assertGreater(progress["params"]["progress"], 0)
            self.assertEqual(again_number.partition(":")[0], number.partition(":")[0])
            answer = self.last(resumed)
        self.assertEqual((answer["id"], answer["result"]["structuredContent"]["state"]), ("r1", "completed"))
        again.close()

    def test_progress_tells_what_the_agent_says_and_rises(self):
        params = {"name": "player", "arguments": {"message": "count 3"}, "_meta": {"progressToken": "p"}}
        connection, response = self.open(params, {})
        told = []
        while "result" not in (found := self.block(response)[1]):
            told.append(found["params"])
        connection.close()
        self.assertEqual([one["message"] for one in told if one["message"].startswith("step")], ["step 1", "step 2", "step 3"])
        numbers = [one["progress"] for one in told]
        self.assertEqual((numbers, numbers[-1], told[-1]["total"]), (sorted(set(numbers)), 100, 100))

    def task_in(self, context):
        listed = self.server.http("GET", f"/agents/player/tasks?contextId={context}", headers={"A2A-Version": "1.0"}).body
        return listed["tasks"][0]["id"] if listed["tasks"] else None

    def test_a_modern_stream_that_is_closed_cancels_its_task(self):
        params = {"name": "player", "arguments": {"message": "wait", "contextId": "left"}}
        connection, response = self.open(self.modern_params(params, {}), self.modern_head("tools/call", params))
        task = self.task_in("left")
        connection.close()
        response.close()
        self.wait_status(task, "cancelled")

    def test_a_modern_client_that_leaves_before_the_stream_is_open_cancels_its_task(self):
        params = {"name": "player", "arguments": {"message": "wait", "contextId": "early"}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": self.modern_params(params, {})}
        connection = self.server.connect()
        connection.request("POST", "/mcp", json.dumps(body).encode(),
                           {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                            **self.modern_head("tools/call", params)})
        task = harness.wait_for(lambda: self.task_in("early"), what="the task")
        connection.close()
        self.wait_status(task, "cancelled")


class InSession(McpCase):
    """A client of an early revision that can be asked, in the stream of its call."""

    AGENTS = ["player"]

    def begin(self):
        begun = self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
                                        "clientInfo": {"name": "t", "version": "1"}})
        return {"Mcp-Session-Id": begun.headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-11-25"}

    def test_a_question_is_asked_in_the_stream_and_its_answer_ends_the_call(self):
        session = self.begin()
        params = {"name": "player", "arguments": {"message": "ask which colour?"}}
        connection, response = self.open(params, session)
        number, asked = self.block(response)
        self.assertEqual((asked["method"], asked["params"]["message"]), ("elicitation/create", "which colour?"))
        self.assertEqual(number.partition(":")[0], asked["id"].partition(":")[0])
        answer = {"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept", "content": {"answer": "blue"}}}
        for _ in range(2):  # the second answer is too late, and ignored
            taken = self.ask(None, body=answer, headers=session)
            self.assertEqual((taken.status, taken.raw), (202, b""))
        _, ended = self.block(response)
        self.assertEqual((ended["id"], ended["result"]["content"][0]["text"]), ("r1", "answered: blue"))
        connection.close()

    def test_an_answer_to_nothing_is_ignored_and_an_unknown_session_is_not_found(self):
        session = self.begin()
        for asking in (7, "nothere:a", "x"):
            body = {"jsonrpc": "2.0", "id": asking, "result": {"action": "cancel"}}
            self.assertEqual(self.ask(None, body=body, headers=session).status, 202)
        self.assertEqual(self.ask("tools/list", headers={**session, "Mcp-Session-Id": "x"}).status, 404)

    def test_a_session_s_call_is_canceled_by_the_notification_and_not_by_leaving(self):
        session, other = self.begin(), self.begin()
        params = {"name": "player", "arguments": {"message": "wait", "contextId": "canceled"}, "_meta": {"progressToken": 1}}
        connection, response = self.open(params, session)
        task = self.block(response)[0].partition(":")[0]
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "r1"}}
        self.assertEqual(self.ask(None, body=cancel, headers=other).status, 202)
        self.assertEqual(self.task(task)["status"], "working")
        self.assertEqual(self.ask(None, body=cancel, headers=session).status, 202)
        self.wait_status(task, "cancelled")
        connection.close()


class Listening(McpCase):
    def test_a_stream_tells_the_status_of_the_caller_s_tasks(self):
        handle = self.call("wait", abilities=TASKS)
        params = {"notifications": {"taskIds": [handle["taskId"], "nothere"], "toolsListChanged": True}}
        connection, response = self.open(self.modern_params(params, TASKS), self.modern_head("subscriptions/listen", params),
                                         method="subscriptions/listen")
        _, first = self.block(response)
        meta = {META + "subscriptionId": "r1"}
        self.assertEqual((first["method"], first["params"]),
                         ("notifications/subscriptions/acknowledged",
                          {"notifications": {"toolsListChanged": True, "taskIds": [handle["taskId"]]}, "_meta": meta}))
        _, now = self.block(response)
        self.assertEqual((now["method"], now["params"]["status"], now["params"]["_meta"]), ("notifications/tasks", "working", meta))
        self.server.gate("player", handle["taskId"])
        _, end = self.block(response)
        while end["params"]["status"] == "working":
            _, end = self.block(response)
        self.assertEqual((end["params"]["status"], end["params"]["result"]["structuredContent"]["state"]),
                         ("completed", "completed"))
        connection.close()
        response.close()


class ListeningForTools(McpCase):
    """What is told of cards that change while the server runs."""

    def reload(self):
        before = self.server.log_text().count("reloaded: ")
        self.server.process.send_signal(signal.SIGHUP)
        harness.wait_for(lambda: self.server.log_text().count("reloaded: ") > before, what="the reload")

    def describe(self, agent, text):
        self.change_card(agent, lambda card: card.update(description=text))
        self.reload()

    def open_in_session(self, path):
        begun = self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}, path=path)
        self.assertEqual(self.result(begun)["capabilities"]["tools"], {"listChanged": True})
        connection = self.server.connect()
        self.addCleanup(connection.close)
        connection.request("GET", path, headers={"Accept": "text/event-stream",
                                                 "Mcp-Session-Id": begun.headers["Mcp-Session-Id"]})
        response = connection.getresponse()
        self.assertEqual((response.status, response.headers["Content-Type"]), (200, "text/event-stream"))
        return response

    def test_each_stream_tells_once_that_its_own_list_has_changed(self):
        self.assertEqual(self.result(self.modern("server/discover"))["capabilities"]["tools"], {"listChanged": True})
        params = {"notifications": {"toolsListChanged": True}}
        connection, modern = self.open(self.modern_params(params, {}), self.modern_head("subscriptions/listen", params),
                                       method="subscriptions/listen")
        self.addCleanup(connection.close)
        meta = {META + "subscriptionId": "r1"}
        self.assertEqual(self.block(modern)[1]["params"], {"notifications": {"toolsListChanged": True}, "_meta": meta})
        early = self.open_in_session("/agents/mirror/mcp")
        changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        self.reload()
        self.describe("player", "another player")
        self.assertEqual(self.block(modern)[1], {**changed, "params": {"_meta": meta}})
        self.describe("mirror", "another mirror")
        for _ in range(2):
            self.assertEqual(self.block(modern)[1], {**changed, "params": {"_meta": meta}})
            self.assertEqual(self.block(early)[1], changed)
            if not self.result(self.ask("tools/list", path="/agents/mirror/mcp"))["tools"]:
                break
            self.change_card("mirror", lambda card: card["baton"].update(tool=False))
            self.reload()
        self.assertEqual(self.server.stop(), 0)
        for stream in (modern, early):
            with self.assertRaises(http.client.IncompleteRead) as rest:  # cut by the stop
                stream.read()
            self.assertNotIn(b"list_changed", rest.exception.partial)

    def test_a_stream_of_changes_needs_a_session_of_its_caller(self):
        head = {"Accept": "text/event-stream"}
        self.assertEqual(self.server.http("GET", "/mcp", headers=head).status, 405)
        self.assertEqual(self.server.http("GET", "/mcp", headers={**head, "Mcp-Session-Id": "x"}).status, 404)


class Hostile(McpCase):
    """Whatever a request is, the answer is JSON-RPC, in one block, and the program serves on."""

    def test_data_with_line_ends_stays_in_one_block_of_a_stream(self):
        body = b'{"jsonrpc":"2.0","id":"r1","method":"tools/call","params":{"name":"mirror",' \
               b'"arguments":{"message":"hi","data":{"a":\n\r\n1}},"_meta":{"progressToken":"p"}}}'
        connection = self.server.connect()
        connection.request("POST", "/mcp", body, {"Content-Type": "application/json",
                                                  "Accept": "application/json, text/event-stream"})
        with connection.getresponse() as response:
            answer = self.last(response)
            self.assertEqual(response.readline(), b"")
        connection.close()
        self.assertIn('"a":', json.dumps(answer["result"], separators=(",", ":")))

    def test_wrong_requests_are_errors_of_json_rpc(self):
        deep = b"[" * 100_000
        head = {"Content-Type": "application/json"}
        for body, status in ((b"", 400), (b"{", 400), (deep, 400), (b"null", 400), (b"[]", 400), (b"\xff", 400),
                             (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', 400),
                             (b'{"jsonrpc":"2.0","id":1,"method":7}', 400),
                             (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}', 400),
                             (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}', 200),
                             (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":{}}}', 200),
                             (b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}', 200),
                             (b'{"jsonrpc":"2.0","id":1,"method":"initialize"}', 200)):
            with self.subTest(body[:60]):
                answer = self.server.http("POST", "/mcp", body, head)
                self.assertEqual((answer.status, answer.body["jsonrpc"]), (status, "2.0"))
        for wrong in ({"taskId": "x" * 100_000}, {"taskId": ""}, {}):
            named = {"name": str(wrong.get("taskId", ""))[:10]}
            answer = self.ask("tasks/get", self.modern_params(wrong, TASKS),
                              headers={**self.modern_head("tasks/get", {}), "Mcp-Name": named["name"]})
            self.assertIn(answer.body["error"]["code"], (-32602, -32020))
        wrong = ({"message": 1}, {"message": "x", "files": [1]}, {"message": "x", "files": [{"data": "%"}]},
                 {"message": "x", "contextId": "c" * 1000}, {"taskId": {}}, 7)
        for arguments in wrong:
            with self.subTest(arguments):
                called = self.result(self.ask("tools/call", {"name": "player", "arguments": arguments}))
                self.assertTrue(called["isError"])
        self.assertEqual(self.ask("ping").body["result"], {})

    def test_ids_that_take_up_a_stream_are_only_those_that_were_given(self):
        for wrong in ("x", "a:0:0:1:", "%0A:0:0:1:", "a:0:0:%7B%7D:", "x" * 4_000):
            with self.subTest(wrong[:20]):
                answer = self.server.http("GET", "/mcp", headers={"Last-Event-ID": wrong, "Accept": "text/event-stream"})
                self.assertIn(answer.status, (404, 405))


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
        for token in (self.BOB, self.TOKEN):  # at another agent it is no task either
            waited = self.result(self.ask("tools/call", {"name": "mirror", "arguments": {"taskId": handle["taskId"]}}, token=token))
            self.assertEqual((waited["isError"], waited["content"][0]["text"]), (True, "taskId: there is no such task"))
        for path in ("/mcp", "/agents/mirror/mcp"):
            taken = self.server.http("GET", path, headers={"Last-Event-ID": handle["taskId"] + ":0:0:1:",
                                                           "Authorization": "Bearer " + self.BOB})
            self.assertEqual(taken.status, 404)

    def test_a_question_is_answered_by_its_caller_only(self):
        asked = self.result(self.ask("tools/call", {"name": "player", "arguments": {"message": "ask which colour?"}}))
        task = asked["structuredContent"]["taskId"]
        ask = next(iter(self.result(self.modern("tasks/get", {"taskId": task}, {**TASKS, **FORMS}))["inputRequests"]))
        body = {"jsonrpc": "2.0", "id": f"{task}:{ask}", "result": {"action": "accept", "content": {"answer": "red"}}}
        self.assertEqual(self.ask(None, body=body, token=self.BOB).status, 202)
        self.assertEqual(self.task(task)["result"]["structuredContent"]["state"], "input-required")
        self.assertEqual(self.ask(None, body=body).status, 202)
        self.wait_status(task, "completed")
        self.assertEqual(self.task(task)["result"]["content"][0]["text"], "answered: red")

    def test_a_session_is_its_caller_s_only(self):
        begun = self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}})
        session = {"Mcp-Session-Id": begun.headers["Mcp-Session-Id"]}
        self.assertEqual(self.ask("tools/list", headers=session).status, 200)
        self.assertEqual(self.ask("tools/list", headers=session, token=self.BOB).status, 404)

    def test_a_page_reads_its_session(self):
        begun = self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}},
                         headers={"Origin": "http://localhost:3000"})
        self.assertIn("Mcp-Session-Id", ", ".join(begun.headers.get_all("Access-Control-Expose-Headers")))
        self.assertIn("Mcp-Session-Id", begun.headers)

    def test_pages_of_other_origins_may_not_call(self):
        self.assertEqual(self.ask("tools/list", headers={"Origin": "http://evil.example"}).status, 403)


if __name__ == "__main__":
    unittest.main()
