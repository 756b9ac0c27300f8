"""Children's questions go up to their parents' callers, in every protocol, and the answers go down."""
import json
import random
import time

import client
import generation_list
import harness
import new_generations
import rings
from chat_case import ChatCase, for_each
from chat_doors import AgUi, AgUi10

AGENT = "family"
EXTENSION = "urn:baton:a2a:1"


def ask(question):
    return {"ask": question}


def both(*work, **more):
    return json.dumps({"all": list(work), **more})


class FamilyCase(harness.ServerCase):
    AGENTS = [AGENT]
    OPTIONS = generation_list.OPTIONS

    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server(cls.AGENTS, {"engine": {"drain_grace_s": 0.2}}, cls.OPTIONS)
        cls.server.start()
        cls.a2a = new_generations.Rpc10(cls.server, AGENT)

    def begin(self, text, question):
        """Begins a task and checks that it asks this. Returns the task."""
        task = self.a2a.begin(text)
        self.assertEqual((task.state, task.said), ("input-required", [question]), task)
        return task

    def wait_said(self, task, *said):
        harness.wait_for(lambda: self.a2a.get(task).said == list(said), what=f"the task to ask {said}")

    def wait_state(self, task, state):
        harness.wait_for(lambda: self.a2a.get(task).state == state, what=f"the task to be {state}")
        return self.a2a.get(task)

    def asked(self, task):
        """Returns the question's id, and the tasks that ask."""
        member = task.raw["status"]["message"]["metadata"][EXTENSION]
        return member["ask"], [asker["task"] for asker in member["askedBy"]]

    def answer(self, task, text, ask_id=None):
        metadata = {EXTENSION: {"ask": ask_id}} if ask_id else None
        return self.a2a.send(text, task=task.id, metadata=metadata)

    def tasks(self):
        return [task["id"] for task in self.a2a.list(pageSize=100)["tasks"]]

    def history(self, task):
        return [message["parts"][0]["text"] for message in self.a2a.get(task, history=100).raw["history"]]


class Questions(FamilyCase):
    def test_a_question_goes_up_and_its_answer_down_in_every_generation(self):
        for generation in generation_list.GENERATIONS:
            for wait in (False, True):
                with self.subTest(generation.name, wait=wait):
                    caller = generation(self.server, AGENT)
                    task = caller.begin(both(ask("which one?"), wait=wait))
                    self.assertEqual((task.state, task.said), ("input-required", ["which one?"]))
                    metadata = json.dumps(task.raw["status"]["message"].get("metadata"))
                    self.assertIn("askedBy", metadata)
                    got = caller.answer(task.id, "that one")
                    self.assertEqual((got.id, got.state, got.texts), (task.id, "completed", ["that one"]))

    def test_two_children_that_ask_are_heard_one_after_the_other(self):
        for wait in (False, True):
            with self.subTest(wait=wait):
                task = self.a2a.begin(both(ask("A?"), ask("B?"), wait=wait))
                first, second = (["A?"], ["B?"]) if task.said == ["A?"] else (["B?"], ["A?"])
                self.assertEqual(task.said, first)
                name, _ = self.asked(task)
                next_one = self.answer(task, f"to {first[0]}", name)
                self.assertEqual((next_one.state, next_one.said), ("input-required", second))
                self.assertNotEqual(self.asked(next_one)[0], name)
                with self.assertRaises(Exception) as refused:
                    self.answer(task, "too late", name)
                self.assertIn("no longer", str(refused.exception))
                done = self.answer(task, f"to {second[0]}", self.asked(next_one)[0])
                self.assertEqual((done.state, done.texts), ("completed", ["to A?; to B?"]))

    def test_a_question_climbs_three_levels_and_says_whose_it_is(self):
        task = self.begin(both({"all": [{"all": [ask("deep?")], "wait": True}]}), "deep?")
        _, askers = self.asked(task)
        self.assertEqual(len(askers), 3)
        self.assertEqual(self.a2a.get(askers[0]).said, ["deep?"])
        self.assertEqual(self.asked(self.a2a.get(askers[1]))[1], askers[2:])
        done = self.answer(task, "down")
        self.assertEqual((done.state, done.texts), ("completed", ["down"]))
        self.assertEqual(self.a2a.get(askers[2]).texts, ["down"])

    def test_a_parent_that_takes_its_child_s_questions_answers_them(self):
        task = self.a2a.begin(json.dumps({"mine": ask("you?")}))
        self.assertEqual((task.state, task.texts), ("completed", ["from its parent"]))

    def test_an_answer_given_at_the_child_withdraws_the_question(self):
        task = self.begin(both(ask("which?")), "which?")
        _, askers = self.asked(task)
        self.a2a.answer(askers[0], "directly")
        self.assertEqual(self.wait_state(task.id, "completed").texts, ["directly"])
        self.assertEqual(self.history(askers[0]).count("directly"), 1)

    def test_a_child_canceled_while_it_asks_is_its_parent_s_error(self):
        task = self.begin(both(ask("A?"), ask("A?")), "A?")
        _, first = self.asked(task)
        self.a2a.cancel(first[0])
        harness.wait_for(lambda: self.asked_or_none(task.id) not in (None, first), what="the other one's question")
        done = self.answer(task, "to the other")
        self.assertEqual(sorted(done.texts[0].split("; ")), ["error: canceled", "to the other"])

    def asked_or_none(self, task):
        now = self.a2a.get(task)
        return self.asked(now)[1] if now.state == "input-required" else None

    def test_canceling_the_parent_cancels_the_child_that_asks(self):
        for wait in (False, True):
            with self.subTest(wait=wait):
                task = self.begin(both(ask("which?"), wait=wait), "which?")
                _, askers = self.asked(task)
                self.assertEqual(self.a2a.cancel(task.id).state, "canceled")
                self.wait_state(askers[0], "canceled")

    def test_a_detached_child_goes_on_alone(self):
        task = self.a2a.begin(json.dumps({"detach": ask("and you?")}))
        self.assertEqual(task.state, "completed")
        child = task.texts[0]
        self.wait_said(child, "and you?")
        self.server.stop()
        self.server.start()
        self.assertEqual(self.a2a.get(child).said, ["and you?"])
        self.assertEqual(self.a2a.answer(child, "me").state, "completed")

    def test_a_task_that_shows_a_question_is_listed_as_input_required(self):
        task = self.begin(both(ask("which?")), "which?")
        listed = [one["id"] for one in self.a2a.list(status="TASK_STATE_INPUT_REQUIRED", pageSize=100)["tasks"]]
        self.assertIn(task.id, listed)
        self.a2a.cancel(task.id)


class Kills(FamilyCase):
    def test_an_answer_reaches_its_child_once_whenever_the_program_is_killed(self):
        chance = random.Random(4711)
        for number in range(4 if rings.WHOLE else 12):  # the simulator kills between any two steps
            with self.subTest(number):
                task = self.a2a.begin(both(ask("which?"), wait=bool(number % 2)))
                self.assertEqual(task.said, ["which?"])
                _, askers = self.asked(task)
                if number % 4 >= 2:
                    self.server.kill()
                    self.server.start()
                    self.assertEqual(self.a2a.get(task.id).said, ["which?"])
                self.a2a.send("this", task=task.id, wait=False)
                time.sleep(chance.uniform(0, 0.03))  # tests different stages of the answer's way
                self.server.kill()
                self.server.start()
                self.assertEqual(self.wait_state(task.id, "completed").texts, ["this"])
                self.assertEqual(self.history(askers[0]).count("this"), 1)
                self.assertEqual(self.history(task.id).count("this"), 1)


class Chat(ChatCase):
    AGENTS = ["chat", AGENT]

    @for_each(agent=AGENT)
    def test_each_question_is_one_of_the_run_and_the_next_run_answers_it(self, door):
        context = client.new_id()
        run = door.run(door.say(both(ask("A?"), ask("B?")), context))
        heard = []
        for _ in range(2):
            self.assertIn(run.ending, ("asked",) if door.tells_asking else ("asked", "completed"))
            heard.append(run.text)
            run = door.run(door.answer(run, f"to {run.text}", context))
        self.assertEqual(sorted(heard), ["A?", "B?"])
        self.assertEqual((run.ending, run.text), ("completed", "to A?; to B?"))

    @for_each(AgUi, AgUi10, agent=AGENT)
    def test_interrupts_of_two_children_have_ids_of_their_own(self, door):
        context = client.new_id()
        first = door.run(door.say(both(ask("A?"), ask("B?")), context))
        answer = [{"interruptId": first.ask, "status": "resolved", "payload": "one"}]
        second = door.run(door.body([], context, resume=answer))
        self.assertNotIn(second.ask, (None, first.ask))
        again = door.run(door.body([], context, resume=answer))
        self.assertEqual((again.ask, again.task), (second.ask, second.task), "a repetition")
        door.run(door.body([], context, resume=[
            {"interruptId": second.ask, "status": "resolved", "payload": "two"}]))
