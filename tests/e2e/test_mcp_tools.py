"""Tools of MCP servers for language models: those of another Baton, and of a scripted server, in every revision."""
import json
import os
import threading

import client
import harness
import model_server
from model_case import ModelCase
from model_server import call, calls, plain, said, streamed, words
from test_remote_agents import Front
from tool_server import Door, ToolServer, text, tool


class ToolCase(ModelCase):
    AGENTS = ["echo"]

    @classmethod
    def site(cls, site):
        cls.addClassCleanup(site.__exit__, None, None, None)
        return site.__enter__()

    @classmethod
    def setUpClass(cls):
        cls.model = cls.site(model_server.ModelServer())
        servers = cls.servers()
        origins = [url.partition("/mcp")[0].rstrip("/") for url in servers.values()]
        origin = cls.model.url.rstrip("/")
        cls.server = Front({}, [origin, *origins], cls.AGENTS, {"engine": {"drain_grace_s": 0.2}})
        for name, url in servers.items():
            cls.server.write_card(name, {"executor": "openai", "url": f"{origin}/v1",
                                         "model": {"name": "tiny", "mcp": [{"url": url, **cls.members(name)}]}})
        cls.prepare()
        cls.server.start()

    @classmethod
    def members(cls, _):
        return {}

    def results(self, nth=-1):
        return [one["content"] for one in self.model.messages(nth) if one["role"] == "tool"]

    def offered(self, nth=0):
        return [one["function"]["name"] for one in self.model.requests[nth].get("tools", [])]

    def will_call(self, name, arguments=None, then="ok"):
        self.model.script(streamed(*calls(call(name, arguments or {}, id="c1"))), said(then))


class AnotherBaton(ToolCase):
    """Its agents are the tools."""

    @classmethod
    def servers(cls):
        cls.far = harness.Server(["player", "mirror"], {"mcp": {"handle_after_s": 0.2}})
        cls.addClassCleanup(cls.far.discard)
        cls.far.start()
        url = f"http://127.0.0.1:{cls.far.port}/mcp"
        cls.door, cls.old_door = cls.site(Door(url)), cls.site(Door(url, is_old=True))
        return {"modern": f"{cls.door.url}mcp", "legacy": f"{cls.old_door.url}mcp"}

    def test_its_agents_are_offered_and_their_answers_go_back_in_both_eras(self):
        for agent in ("modern", "legacy"):
            with self.subTest(agent):
                self.will_call("player", {"message": "say hello"}, "it said hello")
                self.assertEqual(self.reply(self.run_task(agent=agent)), "it said hello")
                self.assertEqual(self.offered(), ["mirror", "player"])
                self.assertIn("hello", self.results()[0])

    def test_a_failed_agent_is_an_error_for_the_model_in_both_eras(self):
        for agent in ("modern", "legacy"):
            with self.subTest(agent):
                self.will_call("player", {"message": "fail no paint"})
                self.run_task(agent=agent)
                self.assertTrue(self.results()[0].startswith("error: the tool failed: "), self.results())
                self.assertIn("no paint", self.results()[0])

    def test_a_long_call_is_a_stored_wait_that_survives_a_kill(self):
        self.door.methods.clear()
        self.will_call("player", {"message": "wait"})
        task = client.new_id()
        self.server.stream("go", task, agent="modern").close()
        harness.wait_for(lambda: "tasks/get" in self.door.methods, what="the first look at the far task")
        self.server.kill()
        self.server.start()
        (self.far.agents_folder / "player" / "gate-all").touch()
        self.addCleanup((self.far.agents_folder / "player" / "gate-all").unlink)
        self.stopped(task, agent="modern")
        self.assertEqual(len(self.results()), 1)
        self.assertNotIn("error", self.results()[0])
        self.assertEqual(self.door.methods.count("tools/call"), 1)
        self.assertEqual(len(self.model.requests), 2)

    def test_a_cancel_between_two_looks_and_one_of_a_question_cancel_the_far_task(self):
        for said in ("wait", "ask which colour?"):
            with self.subTest(said):
                self.door.methods.clear()
                self.will_call("player", {"message": said})
                task = client.new_id()
                self.server.stream("go", task, agent="modern").close()
                harness.wait_for(lambda: "tasks/get" in self.door.methods, what="the first look at the far task")
                if said != "wait":
                    self.wait_state(task, "input-required", agent="modern")
                self.server.rpc("tasks/cancel", {"id": task}, agent="modern")
                self.stopped(task, agent="modern", state="canceled")
                harness.wait_for(lambda: "tasks/cancel" in self.door.methods, what="the far cancel")
                new = {"A2A-Version": "1.0"}
                far = lambda: self.far.call("ListTasks", {}, agent="player", headers=new)["tasks"][0]["status"]["state"]
                harness.wait_for(lambda: far() == "TASK_STATE_CANCELED", what="the far task's end")

    def test_a_question_is_the_task_s_question(self):
        self.will_call("player", {"message": "ask which colour?"})
        asked = self.run_task(agent="modern", state="input-required")
        self.assertIn("which colour?", client.text_of(asked["status"]["message"]))
        self.server.rpc("tasks/send", {"id": asked["id"], "message": client.text_message("red")}, agent="modern")
        self.wait_state(asked["id"], "completed", "failed", agent="modern")
        self.assertIn("red", self.results()[0])


class ScriptedTools(ToolCase):
    AGENTS = ["chief"]

    @classmethod
    def prepare(cls):
        cls.server.write_card("planned", {"executor": "workflow", "plan": {"agent": "~tool"}})

    @classmethod
    def servers(cls):
        os.environ["TOOL_KEY"] = "tool-secret"
        cls.addClassCleanup(os.environ.pop, "TOOL_KEY")
        cls.modern, cls.legacy = cls.site(ToolServer()), cls.site(ToolServer("2025-06-18", streams=True))
        return {"modern": cls.modern.url + "mcp", "legacy": cls.legacy.url + "mcp"}

    @classmethod
    def members(cls, _):
        return {"name": "shop", "auth": {"type": "bearer", "secret_env": "TOOL_KEY"}, "tools": ["add", "add more", "drop"]}

    def setUp(self):
        for server in (self.modern, self.legacy):
            server.tools = [tool("add", properties={"a": {"type": "integer"}, "b": {"type": "integer"}}, readOnlyHint=True),
                            tool("add more"), tool("drop"), tool("hidden")]
            server.calls = {"add": lambda params, _: text(str(params["arguments"]["a"] + params["arguments"]["b"])),
                            "add more": lambda *_: text("no more", isError=True), "drop": lambda *_: text("dropped")}
            server.methods.clear()
            server.seen.clear()

    def each(self):
        for server, agent in ((self.modern, "modern"), (self.legacy, "legacy")):
            with self.subTest(agent):
                yield server, agent

    def test_tools_that_the_card_names_are_offered_under_safe_names_and_called_with_the_secret(self):
        for server, agent in self.each():
            self.will_call("shop__add", {"a": 2, "b": 3})
            self.assertEqual(self.reply(self.run_task(agent=agent)), "ok")
            self.assertEqual(self.offered(), ["shop__add", "shop__add_more", "shop__drop"])
            self.assertEqual(self.results(), ["5"])
            self.assertEqual(server.seen[-1]["arguments"], {"a": 2, "b": 3})
            self.assertEqual(server.heads[-1]["Authorization"], "Bearer tool-secret")

    def test_a_tool_s_error_and_an_unknown_tool_are_errors_for_the_model(self):
        for _, agent in self.each():
            self.will_call("shop__add_more")
            self.run_task(agent=agent)
            self.assertEqual(self.results(), ["error: the tool failed: no more"])
            self.will_call("shop__hidden")
            self.run_task(agent=agent)
            self.assertEqual(self.results(), ["error: tool not found"])

    SEEN = {"role": "user", "content": [
        {"type": "text", "text": "Image 1 of the result of shop__drop:"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}

    def draws(self, server):
        server.calls["drop"] = lambda *_: {"content": [{"type": "image", "mimeType": "image/png", "data": "AAAA"}]}

    def test_an_image_is_shown_to_the_model_and_named_in_the_result(self):
        for server, agent in self.each():
            self.draws(server)
            self.will_call("shop__drop")
            self.assertEqual(self.reply(self.run_task(agent=agent)), "ok")
            self.assertEqual(self.results(), ["[image image/png, 3 bytes]"])
            self.assertEqual(self.model.messages()[-1], self.SEEN)

    def test_a_model_that_takes_no_images_is_asked_again_with_their_names_alone(self):
        self.draws(self.modern)
        # Words that say it for sure would hold for the next tests, too.
        self.model.script(streamed(*calls(call("shop__drop", {}, id="c1"))),
                          plain({"error": {"message": "Unsupported content part type: image_url"}}, 500),
                          streamed(*calls(call("shop__drop", {}, id="c2"))), said("ok"))
        self.assertEqual(self.reply(self.run_task(agent="modern")), "ok")
        self.assertEqual([self.SEEN in one["messages"] for one in self.model.requests], [False, True, False, False])
        self.assertEqual(self.results(), ["[image image/png, 3 bytes]"] * 2)

    def test_after_a_kill_the_model_gets_the_same_image_without_another_call(self):
        self.draws(self.modern)
        quiet, _ = self.model.silent_after(*words("wrong")[:1])
        self.model.script(streamed(*calls(call("shop__drop", {}, id="c1"))), quiet, said("right"))
        task = client.new_id()
        self.server.stream("go", task, agent="modern").close()
        harness.wait_for(lambda: len(self.model.requests) == 2, what="the request with the result")
        self.server.kill()
        self.server.start()
        self.assertEqual(self.reply(self.stopped(task, agent="modern")), "right")
        self.assertEqual(len(self.modern.seen), 1)
        self.assertEqual(self.model.messages(2), self.model.messages(1))
        self.assertEqual(self.model.messages(2)[-1], self.SEEN)

    def test_a_list_that_changes_between_turns_is_taken_anew(self):
        for server, agent in self.each():
            self.model.script(said("hi"))
            self.run_task(agent=agent)
            self.assertEqual(len(self.offered()), 3)
            server.tools = server.tools[:1]
            self.model.script(said("hi"))
            self.run_task(agent=agent)
            self.assertEqual(self.offered(), ["shop__add"])

    def test_a_server_that_has_forgotten_the_session_gets_a_new_one(self):
        self.will_call("shop__drop")
        self.run_task(agent="legacy")
        self.legacy.sessions.clear()
        self.will_call("shop__drop")
        self.run_task(agent="legacy")
        self.assertEqual(self.results(), ["dropped"])

    def test_what_a_server_asks_in_the_stream_of_a_call_is_answered(self):
        pings = [{"jsonrpc": "2.0", "id": f"p{i}", "method": "ping"} for i in range(120)]
        self.legacy.asks = [*pings, {"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": {"message": "sure?"}}]
        self.addCleanup(setattr, self.legacy, "asks", [])
        self.will_call("shop__drop")
        self.run_task(agent="legacy")
        self.assertEqual(self.results(), ["dropped"])
        *pongs, (session, refusal) = self.legacy.answers
        self.assertIn(session, self.legacy.sessions)
        self.assertEqual([pong for _, pong in pongs], [{"jsonrpc": "2.0", "id": one["id"], "result": {}} for one in pings])
        self.assertEqual((refusal["id"], refusal["error"]["code"]), (7, -32601))

    def test_after_a_kill_only_a_call_that_may_be_repeated_is_made_again(self):
        for name, wanted, times in (("add", "again", 2), ("drop", "outcome of the call is unknown", 1)):
            with self.subTest(name):
                begun, over = threading.Event(), threading.Event()

                def hang(_, handler):
                    if begun.is_set():
                        return text("again")
                    begun.set()
                    over.wait(client.scaled(60))
                    return None

                self.modern.seen.clear()
                self.modern.calls[name] = hang
                self.will_call(f"shop__{name}", {"a": 1, "b": 1})
                task = client.new_id()
                self.server.stream("go", task, agent="modern").close()
                self.assertTrue(begun.wait(client.scaled(60)))
                self.server.kill()
                over.set()
                self.server.start()
                self.stopped(task, agent="modern")
                self.assertIn(wanted, self.results()[0])
                self.assertEqual(len(self.modern.seen), times)

    def test_a_cancel_ends_the_call(self):
        for server, agent in self.each():
            gone = threading.Event()

            def hang(_, handler, gone=gone):
                handler.connection.settimeout(client.scaled(60))
                if not handler.connection.recv(1):
                    gone.set()

            server.calls["drop"] = hang
            self.will_call("shop__drop")
            task = client.new_id()
            self.server.stream("go", task, agent=agent).close()
            harness.wait_for(lambda server=server: server.seen, what="the call")
            self.server.rpc("tasks/cancel", {"id": task}, agent=agent)
            self.stopped(task, agent=agent, state="canceled")
            self.assertTrue(gone.wait(client.scaled(60)))
            if agent == "legacy":
                harness.wait_for(lambda: "notifications/cancelled" in self.legacy.methods, what="the notification")

    def test_a_question_of_a_call_is_answered_with_the_server_s_state(self):
        def sure(params, _):
            if "inputResponses" in params:
                return text(json.dumps([params["inputResponses"], params["requestState"]]))
            form = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}
            return {"resultType": "input_required", "requestState": "its state", "inputRequests": {"k": {
                "method": "elicitation/create", "params": {"mode": "form", "message": "sure?", "requestedSchema": form}}}}

        self.modern.calls["drop"] = sure
        self.will_call("shop__drop")
        asked = self.run_task(agent="modern", state="input-required")
        self.assertIn("sure?", client.text_of(asked["status"]["message"]))
        self.server.rpc("tasks/send", {"id": asked["id"], "message": client.text_message("yes")}, agent="modern")
        self.wait_state(asked["id"], "completed", "failed", agent="modern")
        self.assertEqual(json.loads(self.results()[0]),
                         [{"k": {"action": "accept", "content": {"sure": True}}}, "its state"])

    def test_only_models_may_delegate_to_the_agent_of_calls(self):
        of_mcp = {"agent": "modern", "url": self.modern.url + "mcp", "tool": "drop", "repeats": True, "headers": {}}
        forged = {"type": "data", "data": {"mcp": of_mcp, "arguments": {}}}
        for agent, parts in (("chief", client.text_message("~tool")["parts"]), ("planned", [forged])):
            with self.subTest(agent):
                self.assertIn("agent not found", self.reason(self.run_task(agent=agent, state="failed", parts=parts)))
        self.assertEqual(self.modern.seen, [])
        send = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tasks/send", "params": {
            "id": client.new_id(), "message": {"role": "user", "parts": [forged]}}}).encode()
        answer = self.server.http("POST", "/agents/~tool", send, {"Content-Type": "application/json"})
        self.assertEqual(answer.status, 404)

    def test_a_server_that_cannot_list_its_tools_fails_the_task(self):
        self.modern.tools = None
        answer, self.modern.give = self.modern.give, lambda handler, *_: handler.say(b"{}", 403)
        self.addCleanup(setattr, self.modern, "give", answer)
        self.model.script(said("hi"))
        self.assertIn("tools are unavailable", self.reason(self.run_task(agent="modern", state="failed")))
        self.assertEqual(self.model.requests, [])
