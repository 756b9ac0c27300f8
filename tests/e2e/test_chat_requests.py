"""Wrong requests to the chat protocols: each gets a status and a JSON error, and nothing is stored. Also which of two
protocols a body at /send-message speaks."""
import json

import chat_client
import chat_doors
import client
import harness
import new_generations
import rings

TEXT = [{"type": "text", "text": "say x"}]
USER = {"role": "user", "content": "say x"}
INPUT = [{"role": "user", "content": TEXT}]
LONG = "x" * 257


def without(body, *names):
    return {name: value for name, value in body.items() if name not in names}


AG_UI = {"threadId": "t", "runId": "r", "messages": [{"id": "m", **USER}], "tools": [], "context": []}
AG_KIT = {"conversationId": "c", "messages": [USER]}
AGENT_API = {"session_id": "s", "input": INPUT}
AGENT_SERVER = {"user_id": "u", "session_id": "s", "input": INPUT}
STOP = {"session_id": "s"}
GOOD = {"/send-message": AG_UI, "/ag-ui": AG_UI, "/process": AGENT_API, "/stream": AGENT_SERVER, "/stop": STOP}


def agui_rows():
    for name, wrong in (("threadId", 5), ("threadId", []), ("threadId", LONG), ("runId", {}), ("runId", LONG),
                        ("messages", "x"), ("messages", {}), ("messages", [5]), ("messages", [[]]),
                        ("tools", "x"), ("tools", {}), ("tools", [5]), ("tools", [{"name": 5}]),
                        ("resume", [5]), ("resume", [{"status": "resolved"}]),
                        ("resume", [{"interruptId": 5, "status": "resolved"}]),
                        ("resume", [{"interruptId": "i", "status": "perhaps"}]), ("parentRunId", 5)):
        yield name, AG_UI | {name: wrong}
    yield "messages", without(AG_UI, "messages")
    for name, message in (("role", {"id": "m", "content": "x"}), ("role", {"id": "m", "role": 5, "content": "x"}),
                          ("content", {"id": "m", "role": "user", "content": 5}),
                          ("toolCallId", {"id": "m", "role": "tool", "content": "x"})):
        yield name, AG_UI | {"messages": [message]}


def agkit_rows():
    for name, wrong in (("conversationId", 5), ("conversationId", []), ("conversationId", LONG), ("messages", "x"),
                        ("messages", {}), ("messages", [5]), ("tools", "x"), ("tools", [5]), ("tools", [{"name": 5}]),
                        ("resume", {}), ("resume", {"interruptId": 5, "payload": "x"})):
        yield name, AG_KIT | {name: wrong}
    yield "messages", without(AG_KIT, "messages")
    for name, message in (("role", {"content": "x"}), ("role", {"role": 5, "content": "x"}),
                          ("content", {"role": "user", "content": 5}), ("content", {"role": "user", "content": [5]}),
                          ("toolCallId", {"role": "tool", "content": "x"}),
                          ("toolCallId", {"role": "tool", "content": "x", "toolCallId": 5})):
        yield name, AG_KIT | {"messages": [message]}


def agent_rows(good):
    for name, wrong in (("session_id", 5), ("session_id", []), ("session_id", LONG), ("user_id", 5), ("user_id", LONG),
                        ("input", "x"), ("input", {}), ("input", 5), ("input", [5]), ("input", [[]])):
        yield name, good | {name: wrong}
    yield "input", without(good, "input")
    for name, message in (("role", {"role": 5, "content": TEXT}), ("content", {"role": "user", "content": 5}),
                          ("content", {"role": "user", "content": [5]}),
                          ("text", {"role": "user", "content": [{"type": "text", "text": 5}]})):
        yield name, good | {"input": [message]}


def agent_api_rows():
    yield from agent_rows(AGENT_API)
    for name, wrong in (("stream", "yes"), ("id", 5), ("id", LONG), ("response_id", 5), ("tools", "x"), ("tools", [5])):
        yield name, AGENT_API | {name: wrong}


def agent_server_rows():
    yield from agent_rows(AGENT_SERVER)
    yield "user_id", without(AGENT_SERVER, "user_id")
    yield "session_id", without(AGENT_SERVER, "session_id")
    yield "user_id", AGENT_SERVER | {"user_id": ""}
    yield "session_id", AGENT_SERVER | {"session_id": ""}


def stop_rows():
    for name, body in (("session_id", {}), ("session_id", {"session_id": ""}), ("session_id", {"session_id": 5}),
                       ("user_id", {"session_id": "s", "user_id": 5})):
        yield name, body


# The path, and the rows of (the wrong member, the body).
ROWS = (("/send-message", agui_rows), ("/ag-ui", agui_rows), ("/send-message", agkit_rows),
        ("/process", agent_api_rows), ("/stream", agent_server_rows), ("/stop", stop_rows))
NOT_OBJECTS = (b"", b" ", b"{", b"nul", b"[]", b"5", b'"x"', b"null", b"true", b'{"a":1,}', b"{} x", b"threadId=x",
               b'{"threadId":"\xff","runId":"r","messages":[]}', b"[" * 50000)


class RequestCase(harness.ServerCase):
    AGENTS = ["chat"]
    CONFIG = {"engine": {"drain_grace_s": 0.2}, "http": {"body_max": 65536}}

    def post(self, path, body, agent="chat", headers=None, method="POST"):
        """Returns the Answer. If it is a stream, reads it to its end first."""
        path = path if agent is None else f"/agents/{agent}{path}"
        return chat_client.post(self.server, path, body, headers, method=method)

    def count(self):
        return new_generations.Rpc10(self.server, "chat").list(pageSize=1)["totalSize"]

    def assert_refused(self, answer, status, *words):
        self.assertIsInstance(answer, client.Answer, getattr(answer, "seen", answer))
        self.assertEqual(answer.status, status, answer.raw)
        self.assertEqual(answer.headers.get_content_type(), "application/json")
        self.assertIsInstance(answer.body, dict, answer.raw)
        self.assertIsInstance(answer.body["error"], str, answer.raw)
        for word in words:
            self.assertIn(word, answer.body["error"])
        return answer

    def which(self, opened):
        """Returns the protocol that answered."""
        self.assertIsInstance(opened, chat_client.RunStream, getattr(opened, "raw", opened))
        shown = opened.rest()
        return "ag-kit" if shown[-1].data == "[DONE]" else "ag-ui" if shown[0].body["type"] == "RUN_STARTED" else None


class Wrong(RequestCase):
    def test_bodies_that_are_no_object(self):
        before = self.count()
        for path in GOOD:
            for body in NOT_OBJECTS:
                with self.subTest(path=path, body=body[:40]):
                    self.assert_refused(self.post(path, body), 400)
        self.assertEqual(self.count(), before)

    @rings.everything('unit/protocol: "what is wrong is named" of each protocol')
    def test_members_that_are_wrong_are_named(self):
        before = self.count()
        for path, rows in ROWS:
            for member, body in rows():
                with self.subTest(path=path, body=body):
                    self.assert_refused(self.post(path, body), 400, member)
        self.assertEqual(self.count(), before)

    def test_content_type(self):
        before = self.count()
        for path, body in GOOD.items():
            for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
                with self.subTest(path=path, kind=kind):
                    self.assert_refused(self.post(path, body, headers={"Content-Type": kind}), 415)
        self.assertEqual(self.count(), before)
        for kind in ("application/json; charset=utf-8", "APPLICATION/JSON"):
            opened = self.post("/process", AGENT_API, headers={"Content-Type": kind})
            self.assertEqual(chat_doors.AgentApi(self.server).finish(opened).text, "x")

    def test_too_large(self):
        before = self.count()
        for path, body in GOOD.items():
            with self.subTest(path):
                self.assert_refused(self.post(path, body | {"more": "x" * 70000}), 413)
        self.assertEqual(self.count(), before)

    def test_unknown_agents(self):
        paths = [*GOOD.items(), ("/nowhere", AG_UI), ("/send-message/more", AG_UI)]
        for path, body in paths:
            with self.subTest(path):
                self.assert_refused(self.post(path, body, agent="nobody"), 404)
        self.assert_refused(self.post("/v1/aibot/bots/nobody/send-message", AG_KIT, agent=None), 404)
        self.assert_refused(self.post("/send-messages", AG_UI), 404)

    def test_other_methods(self):
        for path in [*GOOD, "/v1/aibot/bots/chat/send-message"]:
            for agent in ("chat", None):
                if path.startswith("/v1") and agent:
                    continue
                for method in ("GET", "PUT", "DELETE", "PATCH"):
                    with self.subTest(path=path, method=method, agent=agent):
                        answer = self.post(path, b"", agent, method=method)
                        self.assert_refused(answer, 405)
                        self.assertIn("POST", answer.headers["Allow"])

    def test_what_else_is_in_a_request_is_ignored(self):
        more = {"unknown": {"a": [1]}, "model": "m", "n": 1}
        for path, body in GOOD.items():
            if path == "/stop":
                continue
            with self.subTest(path):
                fresh = {name: client.new_id() for name in ("threadId", "runId", "session_id") if name in body}
                opened = self.post(path, body | fresh | more)
                self.assertIsInstance(opened, chat_client.RunStream, opened)
                self.assertIn('"x"', "".join(frame.data or "" for frame in opened.rest()))

    def test_last_event_id(self):
        task = chat_doors.AgUi(self.server).run(chat_doors.AgUi(self.server).say("say x")).task
        before = self.count()
        for path, body in GOOD.items():
            if path == "/stop":
                continue
            for last in ("5", "x", "x:", ":5", "x:y", "x:-1", "x:1.", "x:1.y", "x:99999999999999999999", f"{task}:1000",
                         f"{task}:1.5.5", "%zz:1"):
                with self.subTest(path=path, last=last):
                    answer = self.post(path, body, headers={"Last-Event-ID": last})
                    self.assertIsInstance(answer, client.Answer)
                    self.assertIn(answer.status, (400, 404) if ":" in last else (400,), answer.raw)
                    self.assertIsInstance(answer.body["error"], str)
            self.assert_refused(self.post(path, body, headers={"Last-Event-ID": "nobody:1"}), 404)
        self.assertEqual(self.count(), before)


class Callers(RequestCase):
    CONFIG = {"engine": {"drain_grace_s": 0.2},
              "tokens": [{"caller": "ann", "token": "token-ann"}, {"caller": "bob", "token": "token-bob"},
                         {"caller": "cat", "token": "token-cat", "agents": ["another"]}]}

    def test_without_a_token(self):
        listed = new_generations.Rpc10(self.server, "chat", token="token-ann").list
        before = listed()["totalSize"]
        # An address that sends many wrong tokens is delayed. unit/server/access_test.cpp has the kinds of wrong tokens.
        for path, body in GOOD.items():
            for authorization in rings.some(("Bearer wrong", None, "Basic dG9rZW4tYW5u", "token-ann")):
                with self.subTest(path=path, authorization=authorization):
                    answer = self.post(path, body, headers={"Authorization": authorization})
                    self.assert_refused(answer, 401)
                    self.assertIn("Bearer", answer.headers["WWW-Authenticate"])
        self.assertEqual(listed()["totalSize"], before)

    def test_a_token_for_another_agent(self):
        for path, body in GOOD.items():
            with self.subTest(path):
                answer = self.post(path, body, headers={"Authorization": "Bearer token-cat"})
                self.assert_refused(answer, 403)

    def test_sessions_of_others(self):
        for door in chat_doors.ALL_DOORS:
            with self.subTest(door.name):
                ann, bob = (door(self.server, token=f"token-{name}", user="same") for name in ("ann", "bob"))
                context = client.new_id()
                asked = ann.run(ann.say("ask which one?", context))
                self.assertIn("which one?", asked.text)
                with self.assertRaises(chat_client.Refused) as caught:
                    bob.follow(asked.task, context)
                self.assert_refused(caught.exception.answer, 404)
                # In bob's own session of that name there is no question and no history.
                told = json.loads(bob.run(bob.say("told", context)).text)
                self.assertEqual(told["history"], [])
                answered = ann.run(ann.answer(asked, "this", context))
                self.assertEqual(answered.text, "answered: this")

    def test_runs_of_others(self):
        for door in (chat_doors.AgUi, chat_doors.AgentApi):
            with self.subTest(door.name):
                ann, bob = (door(self.server, token=f"token-{name}") for name in ("ann", "bob"))
                context, run = client.new_id(), client.new_id()
                first = ann.run(ann.say("say ann's", context, run=run))
                second = bob.run(bob.say("say bob's", context, run=run))
                self.assertEqual((first.text, second.text), ("ann's", "bob's"))
                self.assertNotEqual(first.task, second.task)

    def test_stopping_a_session_of_another(self):
        ann, bob = (chat_doors.AgentApi(self.server, token=f"token-{name}") for name in ("ann", "bob"))
        context = client.new_id()
        stream = ann.open(ann.say("wait", context))
        ann.until_text(stream, "begun")
        self.assertEqual(bob.stop(context).status, 200)
        self.server.gate("chat", context)
        self.assertEqual(ann.finish(stream).ending, "completed")


class WhichProtocol(RequestCase):
    """The rules of section 5, in their order."""
    MESSAGES = {"messages": [{"id": "m", **USER}]}
    TOOL = {"name": "t", "description": "d"}

    def say(self, body, path="/send-message", agent="chat", **headers):
        return self.which(self.post(path, body, agent, headers))

    def test_rule_1_thread_or_run(self):
        for body in ({"threadId": client.new_id()}, {"runId": client.new_id()},
                     {"thread_id": client.new_id()}, {"run_id": client.new_id()},  # Agent Framework for Python
                     {"threadId": client.new_id(), "conversationId": client.new_id()}):
            self.assertEqual(self.say(self.MESSAGES | body), "ag-ui", body)
        # AG-UI's answers are a list.
        body = self.MESSAGES | {"runId": client.new_id(), "resume": {"interruptId": "i"}}
        self.assert_refused(self.post("/send-message", body), 400, "resume")

    def test_rule_2_version_or_list_of_answers(self):
        self.assertEqual(self.say(self.MESSAGES | {"protocolVersion": "1.0"}), "ag-ui")
        self.assertEqual(self.say(self.MESSAGES | {"protocolVersion": "1.0", "conversationId": "c"}), "ag-ui")
        self.assertEqual(self.say(self.MESSAGES | {"resume": [], "conversationId": "c"}), "ag-ui")

    def test_rule_3_conversation_or_one_answer(self):
        self.assertEqual(self.say(self.MESSAGES | {"conversationId": client.new_id(), "state": {}, "context": []},
                                  Accept="application/vnd.ag-ui.event+proto"), "ag-kit")
        # There is no such interrupt, so the answer is AG-Kit's refusal instead of AG-UI's stream.
        answer = self.post("/send-message", {"resume": {"interruptId": "i", "payload": "x"}})
        self.assert_refused(answer, 409)

    def test_rule_4_accept(self):
        accept = "application/vnd.ag-ui.event+proto, text/event-stream"
        self.assertEqual(self.say(self.MESSAGES, Accept=accept), "ag-ui")
        tools = {"tools": [self.TOOL | {"parameters": "{}"}]}
        self.assertEqual(self.say(self.MESSAGES | tools, Accept=accept), "ag-ui")

    def test_rule_5_members_of_one_only(self):
        for body in ({"forwardedProps": {}}, {"state": {}}, {"context": []}):
            self.assertEqual(self.say(self.MESSAGES | body), "ag-ui", body)
            tools = {"tools": [self.TOOL | {"parameters": "{}"}]}
            self.assertEqual(self.say(self.MESSAGES | body | tools), "ag-ui", body)

    def test_rule_6_parameters_of_tools(self):
        for parameters, protocol in (("{}", "ag-kit"), ({}, "ag-ui"), ({"type": "object"}, "ag-ui")):
            body = self.MESSAGES | {"tools": [self.TOOL | {"parameters": parameters}]}
            self.assertEqual(self.say(body), protocol, body)
        later = [self.TOOL, self.TOOL | {"name": "u", "parameters": {}}]
        self.assertEqual(self.say(self.MESSAGES | {"tools": later}), "ag-ui")

    def test_rule_7_otherwise(self):
        self.assertEqual(self.say(self.MESSAGES), "ag-kit")
        self.assertEqual(self.say({"messages": [USER], "tools": []}), "ag-kit")

    def test_paths(self):
        for agent in ("chat", None):
            for path in ("/send-message", "/send-message/"):
                self.assertEqual(self.say(AG_KIT | {"conversationId": client.new_id()}, path, agent), "ag-kit")
                self.assertEqual(self.say(AG_UI | {"runId": client.new_id()}, path, agent), "ag-ui")
            self.assertEqual(self.say(AG_UI | {"runId": client.new_id()}, "/ag-ui", agent), "ag-ui")
            self.assertEqual(self.say(self.MESSAGES | {"runId": client.new_id()}, "/ag-ui", agent), "ag-ui")
        hosted = "/v1/aibot/bots/chat/send-message"
        self.assertEqual(self.say(AG_KIT | {"conversationId": client.new_id()}, hosted, None), "ag-kit")
        self.assertEqual(self.say(AG_UI | {"runId": client.new_id()}, hosted, None), "ag-ui")


class PinnedToAgUi(RequestCase):
    CONFIG = {"chat": {"send_message": "ag-ui"}}

    def test_every_body_is_ag_ui(self):
        self.assertEqual(self.which(self.post("/send-message", AG_UI)), "ag-ui")
        body = {"conversationId": "c", "runId": "r2", "messages": [USER]}
        self.assertEqual(self.which(self.post("/send-message", body)), "ag-ui")


class PinnedToAgKit(RequestCase):
    CONFIG = {"chat": {"send_message": "ag-kit"}}

    def test_every_body_is_ag_kit(self):
        self.assertEqual(self.which(self.post("/send-message", AG_KIT)), "ag-kit")
        self.assertEqual(self.which(self.post("/send-message", AG_UI)), "ag-kit")
        # This path serves one protocol, whatever the setting is.
        self.assertEqual(self.which(self.post("/ag-ui", AG_UI)), "ag-ui")


class Browsers(RequestCase):
    CONFIG = {"engine": {"drain_grace_s": 0.2}, "cors": {"enabled": True, "origins": ["https://page.example"]}}
    ORIGIN = {"Origin": "https://page.example"}

    def test_preflight(self):
        for path in [*GOOD, "/v1/aibot/bots/chat/send-message"]:
            with self.subTest(path):
                url = path if path.startswith("/v1") else f"/agents/chat{path}"
                answer = self.server.http("OPTIONS", url, headers={
                    **self.ORIGIN, "Access-Control-Request-Method": "POST",
                    "Access-Control-Request-Headers": "content-type, authorization, last-event-id"})
                self.assertEqual(answer.status, 204)
                self.assertEqual(answer.headers["Access-Control-Allow-Origin"], "https://page.example")
                self.assertIn("POST", answer.headers["Access-Control-Allow-Methods"])
                allowed = answer.headers["Access-Control-Allow-Headers"].lower()
                for name in ("content-type", "authorization", "last-event-id"):
                    self.assertIn(name, allowed)

    def test_streams_and_errors_may_be_read(self):
        for path, body in GOOD.items():
            with self.subTest(path):
                opened = self.post(path, body, headers=self.ORIGIN)
                self.assertEqual(opened.headers["Access-Control-Allow-Origin"], "https://page.example")
                self.assertIn("Origin", opened.headers["Vary"])
                if isinstance(opened, chat_client.RunStream):
                    opened.rest()
                for wrong in (b"{", json.dumps({"threadId": 5, "session_id": 5}).encode()):
                    refused = self.assert_refused(self.post(path, wrong, headers=self.ORIGIN), 400)
                    self.assertEqual(refused.headers["Access-Control-Allow-Origin"], "https://page.example")

    def test_other_origins_may_not_call(self):
        before = self.count()
        for path, body in GOOD.items():
            with self.subTest(path):
                answer = self.post(path, body, headers={"Origin": "https://other.example"})
                self.assertIsInstance(answer, client.Answer)
                self.assertEqual(answer.status, 403)
                self.assertIsNone(answer.headers["Access-Control-Allow-Origin"])
        self.assertEqual(self.count(), before)

    def test_headers_of_a_stream(self):
        for path, body in GOOD.items():
            if path == "/stop":
                continue
            opened = self.post(path, body)
            self.assertEqual(opened.headers.get_content_type(), "text/event-stream")
            self.assertIn("no-cache", opened.headers["Cache-Control"])
            opened.rest()
