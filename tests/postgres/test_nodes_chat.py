"""A conversation continues on any node that the page's next request reaches."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import chat_client
import chat_doors
import client
import harness
import nodes

DOORS = (chat_doors.AgUi10, chat_doors.AgKit, chat_doors.AgentApi, chat_doors.AgentServer)


def shown(frames):
    return [frame.shown for frame in frames]


class Chat(nodes.SharedNodesCase):
    AGENTS = ["chat"]
    CONFIG = {"chat": {"hang_up_grace_s": 0.2}}

    def each(self):
        """Yields the clients of each protocol, one at each node."""
        for door in DOORS:
            with self.subTest(door.name):
                yield [door(self.nodes[index]) for index in (0, 1, 2)]

    def state(self, task, index=0):
        return self.at(index, agent="chat").get(task).state

    @staticmethod
    def history(door, context):
        """Returns the history that the agent receives at that client's node. AG-UI's clients would have to send it
        themselves."""
        asking = chat_doors.AgentApi(door.server)
        return client.json.dumps(client.json.loads(asking.run(asking.say("told", context)).text)["history"])

    def begin_long(self, door, context):
        stream = door.open(door.say("wait", context))
        return stream, door.until_text(stream, "begun").task

    def test_a_run_begun_on_one_node_is_resumed_on_the_others_after_each_frame(self):
        for first, second, third in self.each():
            context = client.new_id()
            body = first.say("wait", context)
            stream = first.open(body)
            task, last = first.until_text(stream, "begun").task, stream.seen[-1].place
            resumed, whole = second.open(body, last=last), third.open(body, last=f"{task}:0")
            self.nodes.gate("chat", context)
            run = first.finish(stream)
            self.assertEqual((run.ending, run.text), ("completed", "begun waited"))
            self.assertEqual(shown(third.finish(whole).frames), shown(run.frames))
            after = [frame.place for frame in run.frames].index(last) + 1
            self.assertEqual(shown(resumed.rest()), shown(run.frames[after:]))
            for number in range(len(run.frames) - 1):
                door = (first, second, third)[number % 3]
                rest = door.open(body, last=run.frames[number].place).rest()
                self.assertEqual(shown(rest), shown(run.frames[number + 1:]))

    def test_a_question_asked_on_one_node_is_answered_on_another(self):
        for first, second, third in self.each():
            context = client.new_id()
            asked = first.run(first.say("ask which one?", context))
            answered = second.run(second.answer(asked, "this", context))
            self.assertEqual((answered.task, answered.ending, answered.text),
                             (asked.task, "completed", "answered: this"))
            self.assertEqual(self.state(asked.task, 2), "completed")
            self.assertIn("this", self.history(third, context))

    def test_a_run_under_way_is_refused_on_another_node_as_on_its_own(self):
        for doors in self.each():
            if not doors[0].one_at_a_time:
                continue
            context = client.new_id()
            stream, task = self.begin_long(doors[0], context)
            for door in doors:
                with self.assertRaises(chat_client.Refused) as caught:
                    door.run(door.say("say x", context))
                self.assertEqual(caught.exception.status, 409)
            self.nodes.gate("chat", context)
            self.assertEqual(doors[0].finish(stream).text, "begun waited")
            self.assertEqual(doors[1].run(doors[1].say("say x", context)).text, "x")

    def test_two_runs_begun_on_two_nodes_at_once_are_one_run(self):
        for number in range(5):
            for doors in self.each():
                if not doors[0].one_at_a_time:
                    continue
                context = client.new_id()
                said = self.at_once(*(lambda door=door: door.open(door.say("wait", context)) for door in doors))
                refused = [one.status for one in said if isinstance(one, chat_client.Refused)]
                begun = [one for one in said if isinstance(one, chat_client.RunStream)]
                self.assertEqual((len(begun), refused), (1, [409, 409]), said)
                self.nodes.gate("chat", context)
                begun[0].rest()
                self.assertEqual(len(self.at(0, agent="chat").list(contextId=context)["tasks"]), 1)

    def test_two_answers_to_an_interrupt_on_two_nodes_at_once_are_one_answer(self):
        for number in range(5):
            doors = [chat_doors.AgUi10(self.nodes[index]) for index in (0, 1, 2)]
            context = client.new_id()
            asked = doors[number % 3].run(doors[number % 3].say("ask which one?", context))
            runs = self.at_once(*(lambda door=door, index=index: door.run(door.answer(asked, f"from {index}", context))
                                  for index, door in enumerate(doors)))
            won = [run.text for run in runs if not isinstance(run, Exception) and run.ending == "completed"]
            self.assertEqual(len(set(won)), 1, runs)
            history = self.at(0, agent="chat").get(asked.task, history=9).raw["history"]
            said = [message for message in history if "from " in client.json.dumps(message)]
            self.assertEqual(len([message for message in said if message["role"] == "ROLE_USER"]), 1)

    def test_a_client_that_hangs_up_does_not_cancel_what_is_followed_on_another_node(self):
        first, second, _ = (chat_doors.AgUi10(self.nodes[index]) for index in (0, 1, 2))
        context = client.new_id()
        stream, task = self.begin_long(first, context)
        following = second.follow(task, context)
        second.until_text(following, "begun")
        stream.leave()
        # A run that was left later and has no follower is canceled first.
        other, unfollowed = self.begin_long(first, client.new_id())
        other.leave()
        harness.wait_for(lambda: self.state(unfollowed, 1) == "canceled", what="the other one to be canceled")
        self.assertEqual(self.state(task, 2), "working")
        self.nodes.gate("chat", context)
        self.assertEqual(second.finish(following).text, "begun waited")

    def test_a_client_that_hangs_up_on_another_node_cancels_the_run_when_nobody_follows(self):
        first, second, _ = (chat_doors.AgUi10(self.nodes[index]) for index in (0, 1, 2))
        context = client.new_id()
        stream, task = self.begin_long(first, context)
        following = second.follow(task, context)
        second.until_text(following, "begun")
        stream.leave()
        following.leave()
        harness.wait_for(lambda: self.state(task, 2) == "canceled", what="the run to be canceled")

    def test_a_stop_on_another_node_cancels_the_run(self):
        first, second, _ = (chat_doors.AgentApi(self.nodes[index]) for index in (0, 1, 2))
        context = client.new_id()
        stream, task = self.begin_long(first, context)
        self.assertEqual(second.stop(context).status, 200)
        self.assertEqual(first.finish(stream).ending, "canceled")
        self.assertEqual(self.state(task, 2), "canceled")

    def test_a_conversation_through_the_proxy_is_one(self):
        for door in DOORS:
            with self.subTest(door.name):
                through, context = door(self.nodes.proxy), client.new_id()
                for number in range(4):
                    self.assertEqual(through.run(through.say(f"say {number}", context)).text, str(number))
                asked = through.run(through.say("ask which one?", context))
                self.assertEqual(through.run(through.answer(asked, "this", context)).text, "answered: this")
                history = self.history(through, context)
                self.assertLess(history.index("say 0"), history.index("say 3"))
                self.assertIn("which one?", history)


if __name__ == "__main__":
    unittest.main()

    def test_a_page_that_follows_a_conversation_sees_the_runs_of_every_node_once_and_changes_nodes_itself(self):
        doors = [chat_doors.AgUi10(self.nodes[index]) for index in range(3)]
        context = client.new_id()
        path = f"/agents/chat/conversations/{context}/events?protocolVersion=1.0"

        def follow(index, last=None):
            return chat_client.post(self.nodes[index], path, b"", {"Content-Type": None}, last, method="GET")

        def run_of(stream):
            """Reads one run. Returns its text and the last id."""
            text, last = [], None
            for frame in stream:
                text.append(frame.body.get("delta", ""))
                last = frame.place or last
                if frame.body["type"] == "RUN_FINISHED":
                    return "".join(text), last
            raise AssertionError(f"the stream ended: {stream.seen}")

        doors[0].run(doors[0].say("say first", context))
        streams = [follow(index) for index in range(3)]
        places = [run_of(stream)[1] for stream in streams]
        for number in range(6):
            doors[number % 3].run(doors[number % 3].say(f"say {number}", context))
            for index, stream in enumerate(streams):
                text, places[index] = run_of(stream)
                self.assertEqual(text, str(number))
        self.assertEqual(len(set(places)), 1)
        for stream in streams:
            stream.leave()
        # What happens meanwhile is shown by another node, from the same id.
        waits = doors[1].open(doors[1].say("wait", context))
        doors[1].until_text(waits, "begun")
        stream = follow(2, places[0])
        cut = stream.until(lambda frame: "begun" in frame.data)
        stream.leave()
        stream = follow(0, cut.place)
        self.nodes.gate("chat", context)
        waits.rest()
        self.assertEqual(run_of(stream)[0], "waited")
        stream.leave()
