"""Where clients find an agent's reply: the card's `reply_as`, answers by a message without a task, and answers that
name only their conversation (`plain_answers`)."""
import json
import pathlib
import shutil

import a2a_case
import client
import harness
import webhooks

MODES = ("artifact", "status", "both", "message")


def text_of(holder):
    return "".join(part.get("text", "") for part in holder.get("parts", []))


class RepliesCase(a2a_case.A2aCase):
    """The player once for each way to reply; the agent has the way's name."""

    @classmethod
    def change_cards(cls):
        for mode in MODES:
            cls.copy("player", mode, reply_as=mode)
        cls.copy("player", "plain", plain_answers=True)

    @classmethod
    def copy(cls, agent, name, **members):
        folder = pathlib.Path(cls.server.agents_folder)
        shutil.copytree(folder / agent, folder / name)
        cls.change_card(name, baton={"default": False, **members})

    def message(self, text, **more):
        return {"messageId": client.new_id(), "role": "ROLE_USER", "parts": [{"text": text}], **more}

    def send(self, agent, text, configuration=None, **more):
        """Sends with SendMessage. Returns the result."""
        params = {"message": self.message(text, **more)} | (
            {"configuration": configuration} if configuration else {})
        answer = self.post("SendMessage", params, version="1.0", agent=agent)
        self.assertIn("result", answer.body, answer.raw)
        return answer.body["result"]

    def stream(self, agent, text):
        """Returns the items of SendStreamingMessage."""
        answer = self.post("SendStreamingMessage", {"message": self.message(text)}, version="1.0", agent=agent)
        return [json.loads(line[6:])["result"] for line in answer.raw.decode().split("\n") if line.startswith("data: ")]

    def tasks(self, agent, **filters):
        return self.post("ListTasks", filters, version="1.0", agent=agent).body["result"]

    def ag_ui(self, agent, text):
        """Returns the texts of the messages of an AG-UI run."""
        body = {"threadId": client.new_id(), "runId": client.new_id(), "state": {}, "tools": [], "context": [],
                "forwardedProps": {}, "messages": [{"id": client.new_id(), "role": "user", "content": text}]}
        answer = self.server.http("POST", f"/agents/{agent}/ag-ui", json.dumps(body).encode(),
                                  {"Content-Type": "application/json", "Accept": "text/event-stream"})
        events = [json.loads(line[6:]) for line in answer.raw.decode().split("\n") if line.startswith("data: ")]
        self.assertEqual(events[-1]["type"], "RUN_FINISHED", events)
        return "".join(event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT")


class Places(RepliesCase):
    def test_a_reply_is_where_the_card_says(self):
        for mode, artifacts, said in (("player", ["one two "], None), ("artifact", ["one two "], None),
                                      ("status", [], "one two "), ("both", ["one two "], "one two ")):
            with self.subTest(mode):
                task = self.send(mode, "speak one two")["task"]
                for shown in (task, self.post("GetTask", {"id": task["id"]}, version="1.0", agent=mode).body["result"]):
                    self.assertEqual([text_of(one) for one in shown.get("artifacts", [])], artifacts)
                    message = shown["status"].get("message")
                    self.assertEqual(message and text_of(message), said)
                    history = [text_of(one) for one in shown["history"]]
                    self.assertEqual(history, ["speak one two", *([said] if said else [])])
                for version, rest in (("0.1", None), ("0.3", None), (None, "/v1/tasks/")):
                    old = (self.rest("GET", rest + task["id"], agent=mode) if rest else
                           self.post("tasks/get", {"id": task["id"]}, version=version, agent=mode))
                    old = old.body if rest else old.body["result"]
                    self.assertEqual(len(old.get("artifacts", [])), len(artifacts))
                    self.assertEqual("message" in old["status"] or "update" in old["status"], said is not None)

    def test_a_stream_has_the_reply_where_the_card_says(self):
        for mode, streamed, said in (("artifact", "one two ", ""), ("status", "", "one two "), ("both", "one two ", "one two ")):
            with self.subTest(mode):
                items = self.stream(mode, "speak one two")
                self.assertEqual("".join(text_of(item["artifactUpdate"]["artifact"]) for item in items if "artifactUpdate" in item),
                                 streamed)
                last = items[-1]["statusUpdate"]["status"]
                self.assertEqual(last["state"], "TASK_STATE_COMPLETED")
                self.assertEqual(text_of(last.get("message", {})), said)

    def test_what_the_agent_says_itself_follows_its_reply_in_the_status(self):
        for mode in ("status", "both"):
            with self.subTest(mode):
                self.assertEqual(text_of(self.send(mode, "speak-say one")["task"]["status"]["message"]), "one the end")
                asks = self.send(mode, "speak-ask one")["task"]
                self.assertEqual(asks["status"]["state"], "TASK_STATE_INPUT_REQUIRED")
                self.assertEqual(text_of(asks["status"]["message"]), "one and you?")
                fails = self.send(mode, "speak-fail one")["task"]
                self.assertEqual(text_of(fails["status"]["message"]), "as told")

    def test_chat_clients_see_a_reply_once_whatever_the_card_says(self):
        for mode in MODES:
            with self.subTest(mode):
                self.assertEqual(self.ag_ui(mode, "speak one two"), "one two ")
                self.assertEqual(self.ag_ui(mode, "speak-say one two"), "one two the end")

    def test_the_agent_is_told_a_reply_once(self):
        for mode in MODES:
            with self.subTest(mode):
                sent = self.send(mode, "speak one two")
                context = (sent.get("task") or sent.get("message"))["contextId"]
                told = self.send(mode, "told", contextId=context)["task"]["artifacts"][0]["parts"][0]["data"]
                self.assertEqual([text_of(one) for one in told["history"]], ["speak one two", "one two "])

    def test_webhooks_hear_of_no_artifact_that_is_not_shown(self):
        with webhooks.Receiver() as receiver:
            push = {"taskPushNotificationConfig": {"url": receiver.url()}}
            self.send("status", "speak one two", configuration=push)
            harness.wait_for(lambda: any(one.state == "TASK_STATE_COMPLETED" for one in receiver.deliveries))
            self.assertFalse([one.task for one in receiver.deliveries if "artifactUpdate" in one.task])


class Messages(RepliesCase):
    def assert_message(self, message, context=None):
        self.assertNotIn("taskId", message)
        self.assertTrue(message["messageId"])
        self.assertTrue(message["contextId"])
        if context:
            self.assertEqual(message["contextId"], context)

    def test_every_version_that_has_messages_is_answered_by_one(self):
        message = self.send("message", "speak one two")["message"]
        self.assert_message(message)
        self.assertEqual((message["role"], text_of(message)), ("ROLE_AGENT", "one two "))
        answer = self.rest("POST", "/message:send", {"message": self.message("speak one")}, version="1.0", agent="message")
        self.assertEqual(set(answer.body), {"message"}, answer.raw)
        old = {"messageId": client.new_id(), "role": "user", "parts": [{"kind": "text", "text": "speak one"}]}
        for version in ("0.2", "0.3"):
            with self.subTest(version):
                result = self.post("message/send", {"message": {**old, "messageId": client.new_id()}}, version=version,
                                   agent="message").body["result"]
                self.assertEqual((result["kind"], result["role"]), ("message", "agent"))
                self.assertEqual(text_of(result), "one ")
                self.assert_message(result)
        proto = {"messageId": client.new_id(), "role": "ROLE_USER", "content": [{"text": "speak one"}]}
        answer = self.rest("POST", "/v1/message:send", {"message": proto}, agent="message")
        self.assertEqual(set(answer.body), {"message"}, answer.raw)
        self.assertEqual(answer.body["message"]["content"][0]["text"], "one ")
        with self.subTest("0.1 knows tasks only"):
            task = self.post("tasks/send", {"id": client.new_id(), "message": client.text_message("speak one")},
                             version="0.1", agent="message").body["result"]
            self.assertEqual(task["status"]["state"], "completed")
            self.assertEqual(text_of(task["artifacts"][0]), "one ")

    def test_a_message_may_hold_what_the_agent_says_at_the_end(self):
        self.assertEqual(text_of(self.send("message", "say hello")["message"]), "hello")
        self.assertEqual(text_of(self.send("message", "speak-say one")["message"]), "one the end")

    def test_the_send_waits_whatever_it_says_of_waiting(self):
        self.assertIn("message", self.send("message", "speak one", configuration={"returnImmediately": True}))

    def test_no_task_is_seen_and_no_webhook_is_called(self):
        before = self.tasks("message")["totalSize"]
        with webhooks.Receiver() as receiver:
            push = {"taskPushNotificationConfig": {"url": receiver.url()}}
            context = self.send("message", "speak one", configuration=push)["message"]["contextId"]
            self.send("message", "speak-give one", configuration=push)
            harness.wait_for(lambda: any(one.state == "TASK_STATE_COMPLETED" for one in receiver.deliveries))
            self.assertFalse([one for one in receiver.deliveries if context.encode() in one.raw])
        self.assertEqual(self.tasks("message")["totalSize"], before + 1)
        self.assertEqual(self.tasks("message", contextId=context)["tasks"], [])
        self.assertEqual(self.tasks("message", contextId=context)["totalSize"], 0)

    def test_a_repeated_send_gets_the_same_message(self):
        params = {"message": self.message("speak one")}
        first, second = (self.post("SendMessage", params, version="1.0", agent="message").body["result"]["message"]
                         for _ in range(2))
        self.assertEqual(first, second)

    def test_the_conversation_goes_on_after_a_message(self):
        context = self.send("message", "speak one")["message"]["contextId"]
        self.assert_message(self.send("message", "speak two", contextId=context)["message"], context)

    def test_an_agent_that_does_more_than_reply_has_an_ordinary_task(self):
        for word, state in (("speak-ask", "INPUT_REQUIRED"), ("speak-note", "COMPLETED"), ("speak-give", "COMPLETED"),
                            ("speak-fail", "FAILED"), ("reject", "REJECTED"), ("end", "COMPLETED")):
            with self.subTest(word):
                task = self.send("message", word + " one")["task"]
                self.assertEqual(task["status"]["state"], "TASK_STATE_" + state)
                got = self.post("GetTask", {"id": task["id"]}, version="1.0", agent="message").body["result"]
                self.assertEqual(got["id"], task["id"])
                listed = self.tasks("message", contextId=task["contextId"])
                self.assertEqual([one["id"] for one in listed["tasks"]], [task["id"]])
                if word.startswith("speak"):
                    self.assertEqual(text_of(got["artifacts"][0]), "one ")

    def test_a_question_is_answered_as_any_other(self):
        task = self.send("message", "speak-ask one")["task"]
        done = self.send("message", "speak two", taskId=task["id"])["task"]
        self.assertEqual((done["id"], done["status"]["state"]), (task["id"], "TASK_STATE_COMPLETED"))

    def test_a_stream_is_one_message_or_the_tasks_own(self):
        items = self.stream("message", "speak one two")
        self.assertEqual([set(item) for item in items], [{"message"}])
        self.assertEqual(text_of(items[0]["message"]), "one two ")
        self.assert_message(items[0]["message"])
        items = self.stream("message", "speak-note one")
        self.assertIn("task", items[0])
        self.assertEqual(items[-1]["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED")
        old = {"messageId": client.new_id(), "role": "user", "parts": [{"kind": "text", "text": "speak one"}]}
        answer = self.post("message/stream", {"message": old}, version="0.3", agent="message")
        frames = [json.loads(line[6:])["result"] for line in answer.raw.decode().split("\n") if line.startswith("data: ")]
        self.assertEqual([frame["kind"] for frame in frames], ["message"])

    def test_a_message_outlives_a_restart(self):
        params = {"message": self.message("speak one")}
        first = self.post("SendMessage", params, version="1.0", agent="message").body["result"]
        self.server.stop()
        self.server.start()
        self.assertEqual(self.post("SendMessage", params, version="1.0", agent="message").body["result"], first)


class Contexts(RepliesCase):
    def test_a_message_with_the_context_alone_answers_what_waits_there(self):
        task = self.send("plain", "ask what?")["task"]
        done = self.send("plain", "this", contextId=task["contextId"])["task"]
        self.assertEqual((done["id"], done["status"]["state"]), (task["id"], "TASK_STATE_COMPLETED"))
        self.assertEqual(text_of(done["artifacts"][0]), "answered: this")
        for version, name in (("0.3", "message/send"), ("0.2", "message/send")):
            with self.subTest(version):
                context = self.send("plain", "ask what?")["task"]["contextId"]
                old = {"messageId": client.new_id(), "role": "user", "contextId": context,
                       "parts": [{"kind": "text", "text": "that"}]}
                done = self.post(name, {"message": old}, version=version, agent="plain").body["result"]
                self.assertEqual(text_of(done["artifacts"][0]), "answered: that")

    def test_a_repeated_answer_is_one(self):
        task = self.send("plain", "ask what?")["task"]
        params = {"message": self.message("this", contextId=task["contextId"])}
        first, second = (self.post("SendMessage", params, version="1.0", agent="plain").body["result"]["task"]
                         for _ in range(2))
        self.assertEqual(first["id"], task["id"])
        self.assertEqual(second["id"], task["id"])
        self.assertEqual(self.tasks("plain", contextId=task["contextId"])["totalSize"], 1)

    def test_it_begins_a_task_where_two_wait_or_none_does(self):
        first = self.send("plain", "ask one?")["task"]
        second = self.post("tasks/send", {"id": client.new_id(), "sessionId": first["contextId"],
                                          "message": client.text_message("ask two?")}, version="0.1", agent="plain")
        self.assertEqual(second.body["result"]["status"]["state"], "input-required")
        new = self.send("plain", "end", contextId=first["contextId"])["task"]
        self.assertNotIn(new["id"], (first["id"], second.body["result"]["id"]))
        again = self.send("plain", "end", contextId=new["contextId"])["task"]
        self.assertNotEqual(again["id"], new["id"])

    def test_it_begins_a_task_where_the_card_says_nothing(self):
        waits = self.send("player", "ask what?")["task"]
        new = self.send("player", "end", contextId=waits["contextId"])["task"]
        self.assertNotEqual(new["id"], waits["id"])
