"""A repeated send: same caller, same agent, same messageId, same content, in any generation."""
import concurrent.futures

import a2a_case
import client


class Repeats(a2a_case.A2aCase):
    def with_ids(self):
        """Returns the clients of generations whose messages have ids."""
        return self.all[1:]

    def test_again_in_another_generation_is_the_same_task(self):
        for first in self.with_ids():
            for second in self.with_ids():
                with self.subTest(f"{first.name} then {second.name}"):
                    name = client.new_id()
                    task = first.send("end", message_id=name)
                    again = second.send("end", message_id=name)
                    self.assertEqual((again.id, again.state, again.texts), (task.id, "completed", task.texts))
                    self.assertEqual(len(self.g4.get(task.id).raw["history"]), 1, "one message, one turn")

    def test_other_content_is_a_new_message(self):
        for caller in self.with_ids():
            with self.subTest(caller.name):
                name = client.new_id()
                task = caller.send("end", message_id=name).id
                others = [caller.send("end more", message_id=name),
                          caller.send("end", message_id=name, context="other"),
                          caller.send("end", parts=[caller.part("end"), caller.part("and")], message_id=name)]
                self.assertEqual(len({task, *[other.id for other in others]}), 4)
                self.assertEqual(caller.send("end", message_id=name).id, task, "the first one is still known")

    def test_again_as_a_stream(self):
        for caller in self.with_ids():
            with self.subTest(caller.name):
                name = client.new_id()
                first = caller.stream("count 2", message_id=name).rest()
                again = caller.stream("count 2", message_id=name).rest()
                self.assertEqual(again[0].raw["id"], first[0].raw["id"])
                self.assertEqual(again[-1].state, "completed")

    def test_again_while_it_runs(self):
        for caller in self.with_ids():
            with self.subTest(caller.name):
                name = client.new_id()
                task = caller.send("wait", message_id=name, wait=False).id
                self.assertEqual(caller.send("wait", message_id=name, wait=False).id, task)
                with concurrent.futures.ThreadPoolExecutor(1) as threads:
                    waits = threads.submit(caller.send, "wait", message_id=name, wait=True)
                    self.server.gate("player", task)
                    self.assertEqual((waits.result().id, waits.result().state), (task, "completed"))

    def test_an_answer_again(self):
        for caller in self.with_ids():
            with self.subTest(caller.name):
                task = caller.begin("ask").id
                name = client.new_id()
                self.assertEqual(caller.answer(task, "done", message_id=name).state, "completed")
                again = caller.answer(task, "done", message_id=name)
                self.assertEqual((again.id, again.state), (task, "completed"), "not an error about a task that ended")
                self.assertEqual(len(self.g4.get(task).raw["history"]), 3)

    def test_at_once(self):
        with concurrent.futures.ThreadPoolExecutor(12) as threads:
            name = client.new_id()
            callers = self.with_ids() * 3
            sent = [threads.submit(caller.send, "end", message_id=name) for caller in callers]
            self.assertEqual(len({done.result().id for done in sent}), 1)

    def test_0_1_has_no_message_ids(self):
        self.assertEqual(len({self.g1.send("end").id for _ in range(2)}), 2)

    def test_other_callers_and_agents_have_names_of_their_own(self):
        name = client.new_id()
        task = self.g4.send("end", message_id=name).id
        for other in (type(self.g4)(self.server, tenant="t"), type(self.g4)(self.server, tenant="u")):
            sent = other.send("end", message_id=name)
            self.assertNotEqual(sent.id, task)
            self.assertEqual(other.send("end", message_id=name).id, sent.id)


class RepeatsOverRestart(a2a_case.A2aCase):
    def test_after_a_restart(self):
        name, asked = client.new_id(), client.new_id()
        task = self.g3.send("end", message_id=name).id
        asking = self.g4.send("ask", message_id=asked).id
        self.server.kill()
        self.server.start()
        for caller in self.all[1:]:
            with self.subTest(caller.name):
                self.assertEqual(caller.send("end", message_id=name).id, task)
                again = caller.send("ask", message_id=asked)
                self.assertEqual((again.id, again.state), (asking, "input-required"))
