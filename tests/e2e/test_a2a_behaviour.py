"""Where the versions of A2A behave differently. Streams, history and push have files of their own (test_a2a_streams.py, test_a2a_values.py, test_a2a_push.py)."""
import a2a_case
import client
import generations


class Behaviour(a2a_case.A2aCase):
    def test_default_of_send_is_to_wait(self):
        for caller in self.all:
            with self.subTest(caller.name):
                self.assertEqual(caller.send("count 5").state, "completed")
        early = self.g3_rest.call("POST", "/v1/message:send", {"message": self.g3_rest.message("wait"),
                                                               "configuration": {"acceptedOutputModes": ["text"]}})
        self.assertNotIn(generations.Task(early["task"]).state, generations.STOPPED)

    def test_waiting_ends_where_the_task_stops(self):
        for caller in self.all:
            with self.subTest(caller.name):
                for text, state in (("end", "completed"), ("fail", "failed"), ("ask", "input-required"),
                                    ("auth", "auth-required"), ("reject", "rejected")):
                    if caller is self.g1:  # its generation has no names for these
                        state = {"auth-required": "input-required", "rejected": "failed"}.get(state, state)
                    self.assertEqual(caller.send(text).state, state)

    def test_states_0_1_has_no_words_for_are_kept_beside(self):
        for text, original in (("reject no", "rejected"), ("auth who", "auth-required")):
            task = self.g1.send(text)
            self.assertIn(original, str(task.raw["status"]) + str(task.raw.get("metadata")))

    def test_a_send_that_does_not_wait_returns_the_first_snapshot(self):
        for caller in (self.g2, self.g3, self.g3_rest, self.g4, self.g4_rest):
            with self.subTest(caller.name):
                task = caller.send("wait", wait=False)
                self.assertIn(task.state, ("submitted", "working"))
                self.assertTrue(task.context)
                self.server.gate("player", task.id)
                self.assertEqual(self.wait_for_end(caller, task.id), "completed")

    def wait_for_end(self, caller, task):
        following = self.g3.subscribe(task)  # also answered if it has ended
        following.rest()
        return caller.get(task).state

    def test_reply_is_a_task_also_where_the_agent_only_says_something(self):
        for caller in self.all:
            with self.subTest(caller.name):
                task = caller.send("say hello")
                self.assertEqual((task.state, task.said), ("completed", ["hello"]))

    def test_send_to_an_ended_task(self):
        """0.1 reopens its own, but not a task of another version; 0.2 and 0.3 answer -32602, 1.0 -32004."""
        for caller in self.all:
            with self.subTest(caller.name):
                task = caller.send("end").id
                if caller is self.g1:
                    self.assertEqual(caller.send("end again", task=task).texts, ["played: end again"])
                    continue
                self.assert_refused(-32004 if caller.shape == "1.0" else -32602, caller.send, "more", task=task)
                self.assert_refused(-32602, self.g1.send, "more", task=task)
                self.assertEqual(self.g4.get(task).state, "completed")

    def test_send_with_an_unknown_task_id(self):
        for caller in self.all:
            with self.subTest(caller.name):
                name = client.new_id()
                if caller is self.g1:
                    self.assertEqual(caller.send("end", task=name).id, name)
                    continue
                self.assert_refused(-32001, caller.send, "end", task=name)
                self.assert_refused(-32001, caller.get, name)

    def test_cancel_twice(self):
        for caller in self.all:
            with self.subTest(caller.name):
                task = caller.begin("ask").id
                self.assertEqual(caller.cancel(task).state, "canceled")
                if caller.shape == "1.0":
                    self.assertEqual(caller.cancel(task).state, "canceled", "idempotent")
                else:
                    self.assert_refused(-32002, caller.cancel, task)

    def test_subscribe_to_an_ended_task(self):
        for caller in self.all:
            with self.subTest(caller.name):
                task = caller.send("count 2").id
                if caller.shape == "1.0":
                    self.assert_refused(-32004, caller.subscribe, task)
                    continue
                shown = caller.subscribe(task).rest()
                self.assertEqual([(item.kind, item.state) for item in shown], [("task", "completed")])

    def test_a_message_to_a_running_task_is_taken(self):
        for caller in self.all:
            with self.subTest(caller.name):
                task = caller.begin_long().id
                how = {} if caller is self.g1 else {"wait": False}
                if caller is self.g1:
                    following = caller.stream("end more", task=task)  # opens once the message is stored
                    self.addCleanup(following.close)
                else:
                    self.assertEqual(caller.send("end more", task=task, **how).id, task)
                self.server.gate("player", task)
                self.assertEqual(self.wait_for_end(caller, task), "completed")
                self.assertIn("played: end more", caller.get(task).texts)

    def test_an_answer_as_a_stream(self):
        """The stream begins with the current Task (0.1: with what follows), and repeats nothing of the past."""
        for maker in self.all:
            for caller in self.all:
                with self.subTest(f"{maker.name} then {caller.name}"):
                    task = maker.begin("ask").id
                    shown = caller.stream("that", task=task).rest()
                    self.assertEqual(shown[0].kind, "task" if caller.streams_task_first else "status")
                    self.assertNotIn("input-required", [item.state for item in shown])
                    self.assertEqual([item.kind for item in shown].count("artifact"), 1)
                    self.assertEqual((shown[-1].kind, shown[-1].state), ("status", "completed"))
                    self.assertEqual(maker.get(task).texts, ["answered: that"])

    def test_messages_and_artifacts_look_alike_in_every_generation(self):
        task = self.g4.begin("ask").id
        self.g4.answer(task, "count 2")
        texts = [list(caller.get(task, history=9).texts) for caller in self.all]
        self.assertEqual(texts, [texts[0]] * len(texts))
        said = [list(generations.texts_in(caller.get(task, history=9).raw["history"])) for caller in self.all]
        self.assertEqual(said, [said[0]] * len(said))
        self.assertEqual(len(said[0]), 3)


class AtOnce(a2a_case.A2aCase):
    """The agent's card asks for an answer at once."""

    @classmethod
    def change_cards(cls):
        cls.change_card("player", baton={"reply": "at_once"})

    def test_the_card_decides_where_the_send_says_nothing(self):
        for caller in self.all:
            with self.subTest(caller.name):
                task = caller.send("wait")
                self.assertIn(task.state, ("submitted", "working"))
                caller.cancel(task.id)

    def test_the_send_decides_where_it_says_something(self):
        for caller in self.all:
            if caller is not self.g1:
                with self.subTest(caller.name):
                    self.assertEqual(caller.send("ask", wait=True).state, "input-required")
