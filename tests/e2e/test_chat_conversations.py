"""Conversations: one namespace for all protocols, remembered across them, the same for all users; and whole answers
(stream: false)."""
import json

import chat_client
import client
from chat_case import ChatCase, for_each
from chat_doors import AgentApi, AgentServer, AgKit, AgUi, AgUi10
from new_generations import Rpc10
from old_generations import Rpc01, Rpc03

USER, AGENT = "ROLE_USER", "ROLE_AGENT"


class Memory(ChatCase):
    def told(self, door, context, **how):
        """Returns the turn line that the agent receives."""
        return json.loads(door.run(door.say("told", context, **how)).text)

    def test_a_conversation_through_every_protocol(self):
        context, expected = client.new_id(), []
        for number, door in enumerate((AgKit, AgentApi, AgentServer, AgUi, AgUi10)):
            talking = door(self.server, user="somebody")
            self.assertEqual(talking.run(talking.say(f"say {number}", context)).text, str(number))
            expected += [[USER, f"say {number}"], [AGENT, str(number)]]
        for number, generation in enumerate((Rpc01, Rpc03, Rpc10)):
            generation(self.server, "chat").send(f"say a{number}", context=context)
            expected += [[USER, f"say a{number}"], [AGENT, f"a{number}"]]
        for door in (AgKit, AgentApi, AgentServer):
            with self.subTest(door.name):
                talking = door(self.server, user="somebody")
                run = talking.run(talking.say("told", context))
                told = json.loads(run.text)
                self.assertEqual(told["history"], expected)
                self.assertEqual((told["message"]["content"], told["context"]), ("told", context))
                expected += [[USER, "told"], [AGENT, run.text]]
        listed = [task["id"] for task in self.tasks_in(context)]
        self.assertEqual(len(listed), len(set(listed)))
        self.assertEqual(len(listed), 11)

    @for_each(AgUi, AgUi10)
    def test_clients_of_ag_ui_keep_the_history_themselves(self, door):
        context = client.new_id()
        door.run(door.say("say what Baton stores", context))
        before = [{"id": "1", "role": "system", "content": "be short"},
                  {"id": "2", "role": "user", "content": "what the page has"},
                  {"id": "3", "role": "assistant", "content": "and its answer"}]
        told = self.told(door, context, before=before)
        self.assertEqual([text for _, text in told["history"]],
                         ["be short", "what the page has", "and its answer"])
        self.assertEqual([role for role, _ in told["history"]][1:], [USER, AGENT])
        self.assertEqual(told["message"]["content"], "told")
        self.assertEqual(self.told(door, context)["history"], [])

    @for_each(AgUi, AgUi10)
    def test_state_and_context_are_told(self, door):
        more = {"state": {"n": [1, None]}, "forwardedProps": {"a": 1}, "context": [{"description": "d", "value": "v"}]}
        told = json.loads(door.run({**door.say("told"), **more}).text)
        self.assertEqual(told["state"], more["state"])
        self.assertIn('"description": "d"', json.dumps(told["metadata"]))
        self.assertIn('"a": 1', json.dumps(told["metadata"]))

    @for_each(AgUi, AgUi10, AgKit, AgentApi)
    def test_tools_are_told(self, door):
        told = self.told(door, client.new_id(), tools=["point_at"])
        self.assertEqual([(tool["name"], tool["parameters"]) for tool in told["tools"]],
                         [("point_at", {"type": "object", "properties": {}})])

    @for_each(AgUi, AgUi10, AgKit, AgentApi)
    def test_a_conversation_without_a_name(self, door):
        contexts = []
        for _ in range(2):
            body = door.say("told")
            del body[door.session]
            contexts.append(json.loads(door.run(body).text)["context"])
        self.assertTrue(all(contexts))
        self.assertNotEqual(*contexts)

    def kinds_told(self, door, body):
        """Returns the kinds of the message's parts, as the agent receives them."""
        parts = json.loads(door.run(body).text)["message"]["parts"]
        return [next(name for name in ("text", "raw", "url", "data") if name in part) for part in parts]

    @for_each(AgUi, AgUi10)
    def test_parts_of_ag_ui(self, door):
        body = door.say("told")
        body["messages"][0]["content"] = [
            {"type": "text", "text": "told"},
            {"type": "binary", "mimeType": "image/png", "data": "aGVsbG8=", "filename": "a.png"},
            {"type": "image", "source": {"type": "data", "value": "aGVsbG8=", "mimeType": "image/png"}},
            {"type": "document", "source": {"type": "url", "value": "https://example.com/a.pdf"}},
            {"type": "unheard-of", "x": 1}]
        self.assertEqual(self.kinds_told(door, body), ["text", "raw", "raw", "url"])

    @for_each(AgentApi)
    def test_parts_of_the_agent_api(self, door):
        body = door.say("told")
        body["input"][0]["content"] = [
            {"type": "text", "text": "told"},
            {"type": "image", "image_url": "data:image/png;base64,aGVsbG8="},
            {"type": "image", "image_url": "https://example.com/a.png"},
            {"type": "data", "data": {"n": 1}},
            {"type": "file", "file_url": "https://example.com/a.pdf", "filename": "a.pdf"}]
        self.assertEqual(self.kinds_told(door, body), ["text", "raw", "url", "data", "url"])


class Users(ChatCase):
    """user_id is only a label: the agent receives it, and no path separates users by it."""

    def users(self, door):
        return (door(self.server, user=user) for user in ("ann", "bob", None))

    def test_the_agent_is_told_the_user(self):
        for door, name in ((AgentApi, "agent_api"), (AgentServer, "agent_server")):
            with self.subTest(door.name):
                ann = door(self.server, user="ann")
                told = json.loads(ann.run(ann.say("told", client.new_id())).text)
                self.assertEqual(told["metadata"][name]["user_id"], "ann")

    def test_a_session_is_the_same_for_every_user_and_for_none(self):
        for door in (AgentApi, AgentServer):
            with self.subTest(door.name):
                session = client.new_id()
                for one in self.users(door):
                    one.run(one.say("say hello", session))
                page = AgUi(self.server)
                page.run(page.say("say hello", session))
                self.assertEqual(len(self.tasks_in(session)), 4)
                told = json.loads(next(self.users(door)).run(next(self.users(door)).say("told", session)).text)
                self.assertEqual(len(told["history"]), 8)

    def test_a_run_is_shown_and_answered_whoever_is_named(self):
        for door in (AgentApi, AgentServer):
            with self.subTest(door.name):
                ann, bob, _ = self.users(door)
                session = client.new_id()
                asked = ann.run(ann.say("ask which one?", session))
                body = bob.say("x", session)
                self.assertEqual(bob.run(body, last=f"{asked.task}:0").text, asked.text)
                self.assertEqual(bob.run(bob.answer(asked, "this", session)).text, "answered: this")

    def test_one_run_at_a_time_whoever_is_named(self):
        for door in (AgentApi, AgentServer):
            with self.subTest(door.name):
                ann, bob, _ = self.users(door)
                session = client.new_id()
                stream, run = self.begin_long(ann, session)
                with self.assertRaises(chat_client.Refused) as caught:
                    bob.run(bob.say("say x", session))
                self.assertEqual(caught.exception.status, 409)
                self.server.gate("chat", run.task)
                self.assertEqual(ann.finish(stream).text, "begun waited")


class Pages(ChatCase):
    """Requests without a new message."""

    @for_each(AgUi, AgUi10, AgKit)
    def test_nothing_new(self, door):
        """A page that looks at its conversation, and the AG-Kit hook's automatic follow-up."""
        context = client.new_id()
        run = door.run(door.say("tool point_at", context, tools=["point_at"]))
        looked = door.run(door.body([], context))
        self.assertNotEqual(looked.ending, "failed")
        self.assertEqual(len(self.tasks_in(context)), 1)
        self.assertEqual(door.run(door.give(run, "pointed", context)).ending, "completed")

    @for_each(AgUi, AgUi10)
    def test_a_page_that_is_loaded_again(self, door):
        """The page has lost its messages, so it gets the conversation and the open question."""
        context = client.new_id()
        AgKit(self.server).run(AgKit(self.server).say("say hello", context))
        asked = door.run(door.say("ask which one?", context))
        looked = door.run(door.body([], context))
        snapshot = next(frame.body for frame in looked.shown if frame.body["type"] == "MESSAGES_SNAPSHOT")
        self.assertEqual([(message["role"], message["content"]) for message in snapshot["messages"]],
                         [("user", "say hello"), ("assistant", "hello"), ("user", "ask which one?"),
                          ("assistant", "let me see. "), ("assistant", "which one?")])
        ids = [message["id"] for message in snapshot["messages"]]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertLessEqual({frame.body["messageId"] for frame in asked.shown if "messageId" in frame.body}, set(ids))
        self.assertEqual((looked.ending, looked.ask), ("asked", asked.ask))
        self.assertEqual(door.run(door.answer(looked, "this", context)).text, "answered: this")

    @for_each(AgUi, AgUi10)
    def test_a_page_that_has_messages_keeps_them(self, door):
        """A snapshot would drop the page's messages that it does not contain."""
        messages = [{"id": "1", "role": "user", "content": "x"}, {"id": "2", "role": "assistant", "content": "y"}]
        run = door.run(door.body(messages, client.new_id()))
        for frame in run.shown:
            if frame.body["type"] == "MESSAGES_SNAPSHOT":
                self.assertLessEqual({"1", "2"}, {message["id"] for message in frame.body["messages"]})

    @for_each(AgUi, AgUi10, AgKit)
    def test_nothing_new_while_a_run_is_under_way(self, door):
        context = client.new_id()
        stream, _ = self.begin_long(door, context)
        looking = door.open(door.body([], context))
        door.until_text(looking, "begun")
        self.server.gate("chat", context)
        self.assertEqual(door.finish(looking).text, "begun waited")
        self.assertEqual(door.finish(stream).text, "begun waited")


class Whole(ChatCase):
    """Requests with stream: false."""

    def ask(self, text, **how):
        door = AgentApi(self.server)
        answer = door.post(door.say(text, client.new_id(), stream=False, **how))
        self.assertIsInstance(answer, client.Answer, answer)
        self.assertEqual(answer.status, 200, answer.raw)
        self.assertEqual(answer.headers.get_content_type(), "application/json")
        self.assertEqual(answer.body["object"], "response")
        return answer.body

    def test_the_answer_is_the_last_frame_of_the_stream(self):
        door, name = AgentApi(self.server), client.new_id()
        body = door.say("all which one?", client.new_id(), run=name)
        streamed = door.run(body)
        answer = door.post(body | {"stream": False})
        self.assertEqual(answer.body, streamed.shown[-1].body)

    def test_completed(self):
        response = self.ask("say hello", run="mine")
        self.assertEqual((response["status"], response["id"]), ("completed", "mine"))
        self.assertEqual([(message["type"], message["role"], message["content"][0]["text"])
                          for message in response["output"]], [("message", "assistant", "hello")])
        self.assertTrue(response["session_id"])
        self.assertLessEqual(response["created_at"], response["completed_at"])

    def test_failed(self):
        response = self.ask("fail it broke")
        self.assertEqual(response["status"], "failed")
        self.assertIn("it broke", response["error"]["message"])
        self.assertTrue(response["error"]["code"])

    def test_asked(self):
        response = self.ask("ask which one?")
        self.assertEqual([message["type"] for message in response["output"]],
                         ["message", "message", "mcp_approval_request"])

    def test_client_tool(self):
        response = self.ask("tool point_at", tools=["point_at"])
        self.assertEqual([message["type"] for message in response["output"]], ["function_call"])

    def test_a_response_to_continue_from(self):
        door = AgentApi(self.server)
        first = door.run(door.say("say one", client.new_id()))
        body = door.say("told", response_id=first.run)
        del body["session_id"]
        told = json.loads(door.run(body).text)
        self.assertEqual(told["history"], [[USER, "say one"], [AGENT, "one"]])
        with self.assertRaises(chat_client.Refused) as caught:
            door.run(body | {"response_id": "response_nobody"})
        self.assertEqual(caught.exception.status, 404)
