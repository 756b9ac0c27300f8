"""Any node accepts any request about any task: sends, reads, lists, answers, cancels, repetitions."""
import collections
import concurrent.futures
import pathlib
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import client
import generations
import harness
import nodes
from old_generations import Rpc01

OTHERS = (1, 2, 0)


def pages(at, **filters):
    """Returns all ids of a list, page by page, and the total that each page gives."""
    ids, totals, token = [], [], ""
    while True:
        page = at.list(pageSize=20, **filters, **({"pageToken": token} if token else {}))
        ids += [task["id"] for task in page["tasks"]]
        totals.append(page["totalSize"])
        token = page.get("nextPageToken", "")
        if not token:
            return ids, totals


def child_of(parent):
    """Returns the id of the child whose question the parent shows."""
    return parent.raw["status"]["message"]["metadata"][client.EXTENSION]["askedBy"][0]["task"]


class Reading(nodes.SharedNodesCase):
    def test_a_task_that_one_node_has_answered_is_found_and_listed_on_every_other_at_once(self):
        for number in range(12):
            for generation in nodes.GENERATIONS:
                with self.subTest(generation.name, number=number):
                    context = client.new_id()
                    sent = self.at(number % 3, generation).send("end", context=context)
                    for index in OTHERS:
                        got = self.at(index, generation).get(sent.id)
                        self.assertEqual((got.state, got.texts), ("completed", ["played: end"]))
                        self.assertEqual(pages(self.at(index), contextId=context), ([sent.id], [1]))

    def test_a_task_at_work_is_found_on_every_other_node_at_once(self):
        for number in range(6):
            context = client.new_id()
            sent = self.at(number % 3).send("wait", wait=False, context=context)
            for index in OTHERS:
                self.assertIn(self.at(index).get(sent.id).state, ("submitted", "working"))
                self.assertEqual([task["id"] for task in self.at(index).list(contextId=context)["tasks"]], [sent.id])
            self.nodes.gate("player", sent.id)
            self.wait_end(sent.id, index=number % 3)

    def test_states_of_a_task_are_the_same_on_every_node_after_each_reply(self):
        for number in range(6):
            at = [self.at(number + index) for index in OTHERS]
            task = at[0].send("ask").id
            self.assertEqual({one.get(task).state for one in at}, {"input-required"})
            self.assertEqual(at[1].answer(task, "ask").state, "input-required")
            self.assertEqual({len(one.get(task, history=9).raw["history"]) for one in at}, {4})
            self.assertEqual(at[2].answer(task, "this").state, "completed")
            self.assertEqual({tuple(one.get(task).texts) for one in at}, {("answered: this",)})

    def at(self, index, *more, **how):
        return super().at(index % 3, *more, **how)

    def test_many_blocking_sends_through_the_proxy_are_answered_once_and_all_lists_agree(self):
        context = client.new_id()
        with concurrent.futures.ThreadPoolExecutor(16) as threads:
            texts = [f"end {number};" for number in range(160)]
            done = list(threads.map(lambda text: self.through().send(text, context=context), texts))
        self.assertEqual([(task.state, task.texts) for task in done],
                         [("completed", [f"played: {text}"]) for text in texts])
        sent = {task.id for task in done}
        self.assertEqual(len(sent), len(texts))
        for at in (*map(self.at, OTHERS), self.through()):
            ids, totals = pages(at, contextId=context)
            self.assertEqual((len(ids), set(ids), set(totals)), (len(texts), sent, {len(texts)}))
        self.assert_logs_whole()

    def test_a_reopened_task_of_the_tasks_era_goes_on_on_whichever_node(self):
        task = self.at(0, Rpc01).send("end one").id
        for index in (1, 2, 0, 2):
            again = self.at(index, Rpc01).send(f"end {index}", task=task)
            self.assertEqual((again.id, again.state, again.texts[-1]), (task, "completed", f"played: end {index}"))
        self.assert_logs_whole()


class Going(nodes.SharedNodesCase):
    AGENTS = ["player", "slow", "family"]

    @classmethod
    def prepare(cls, all_nodes):
        # A long grace, because an agent that did not get the cancel would be waited for. The bounds below are far less.
        all_nodes.change_card("slow", cancel_grace_s=60, concurrency=1)

    def test_an_answer_on_another_node_goes_on_and_a_follower_on_the_third_sees_the_rest(self):
        for generation in nodes.GENERATIONS:
            with self.subTest(generation.name):
                first, second, third = (self.at(index, generation) for index in (0, 1, 2))
                task = first.begin("ask").id
                following = third.subscribe(task)
                self.assertEqual(following.first().state, "input-required")
                answered = second.answer(task, "that")
                self.assertEqual((answered.id, answered.state, answered.texts), (task, "completed", ["answered: that"]))
                rest = following.rest()
                self.assertEqual(rest[-1].state, "completed")
                self.assertEqual(sum(item.kind == "artifact" for item in rest), 1)
                self.assertEqual(first.get(task).texts, ["answered: that"])

    def test_rounds_over_three_nodes_do_not_wait_for_a_look_each_second(self):
        task = self.at(0).begin("ask").id
        following = self.at(2).subscribe(task)
        following.first()
        began = time.monotonic()
        for number in range(20):
            self.at(1).answer(task, "ask", wait=False)
            following.until("input-required")
        self.assertLess(time.monotonic() - began, client.scaled(12), "20 looks take 20 s")
        self.at(number % 3).cancel(task)
        self.assertEqual(following.rest()[-1].state, "canceled")

    def test_a_cancel_on_another_node_ends_the_task_soon_and_tells_its_agent(self):
        for _ in range(3):
            task = client.new_id()
            stream = self.nodes[0].stream("x", task, agent="slow")
            stream.until(lambda block: "begun" in str(block.status))
            workers = set(self.nodes[0].children())
            following = self.nodes[2].resubscribe(task, agent="slow")
            next(iter(following))
            began = time.monotonic()
            canceled = self.at(1, agent="slow").cancel(task)
            self.assertEqual(stream.rest()[-1].status["state"], "canceled")
            self.assertEqual(following.rest()[-1].status["state"], "canceled")
            self.assertLess(time.monotonic() - began, client.scaled(20))
            self.assertIn(canceled.state, ("canceled", "working"))
            self.assertEqual(self.at(1, agent="slow").get(task).state, "canceled")
            # The worker's only slot is free again and the worker is the same one, so it did get the cancel.
            harness.wait_for(lambda: self.nodes[0].metric("baton_turns_running") == 0, 20, "the place to be free")
            self.assertLessEqual(workers, set(self.nodes[0].children()))

    def test_a_message_to_a_running_task_on_another_node_waits_and_is_taken_up_once(self):
        for generation in nodes.GENERATIONS[1:]:
            with self.subTest(generation.name):
                task = self.at(0, generation).begin_long().id
                for index in (1, 2):
                    sent = self.at(index, generation).send(f"speak more {index}", task=task, wait=False)
                    self.assertEqual((sent.id, sent.state), (task, "working"))
                self.nodes.gate("player", task)
                done = self.wait_end(task, index=2)
                said = collections.Counter(done.texts)
                self.assertEqual(said, {"waited": 1, "more 1 ": 1, "more 2 ": 1})
        self.assert_logs_whole()

    def test_a_child_s_question_is_answered_on_another_node_than_its_parent_s(self):
        for wait in ("", ', "wait": true'):
            for at_the_child in (False, True):
                with self.subTest(wait=wait, at_the_child=at_the_child):
                    parent = self.at(0, agent="family").begin('{"all": [{"ask": "which?"}]%s}' % wait)
                    self.assertEqual((parent.state, parent.said), ("input-required", ["which?"]))
                    elsewhere = self.at(1, agent="family")
                    child = child_of(elsewhere.get(parent.id))
                    elsewhere.send("this", task=child if at_the_child else parent.id, wait=False)
                    self.assertEqual(self.wait_end(parent.id, index=2, agent="family").texts, ["this"])
        self.assert_logs_whole()

    def test_a_parent_s_cancel_on_another_node_cancels_its_children(self):
        parent = self.at(0, agent="family").begin('{"all": [{"ask": "which?"}, {"hold": "on"}]}')
        child = child_of(parent)
        self.at(1, agent="family").cancel(parent.id)
        self.wait_end(parent.id, "canceled", index=2, agent="family")
        self.wait_end(child, "canceled", index=2, agent="family")


class AtOnce(nodes.SharedNodesCase):
    """The same operation on several nodes at the same moment."""

    AGENTS = ["player", "family"]

    def test_the_same_send_makes_one_task_that_every_reply_names(self):
        for generation in nodes.GENERATIONS[1:]:
            for number in range(10):
                with self.subTest(generation.name, number=number):
                    name, context = client.new_id(), client.new_id()
                    callers = [self.at(index, generation) for index in (0, 1, 2)] * 2
                    sent = self.at_once(*(lambda at=at: at.send("end", message_id=name, context=context)
                                          for at in callers))
                    self.assertEqual([(task.id, task.state) for task in sent], [(sent[0].id, "completed")] * 6)
                    self.assertEqual(self.at(0).list(contextId=context)["totalSize"], 1)
                    self.assertEqual(len(self.at(1).get(sent[0].id, history=9).raw["history"]), 1)

    def test_first_messages_with_the_same_id_of_a_task_make_one_task_of_the_tasks_era(self):
        for number in range(10):
            with self.subTest(number):
                task = client.new_id()
                self.at_once(*(lambda index=index: self.at(index, Rpc01).send(f"speak {index}", task=task)
                               for index in (0, 1, 2)))
                harness.wait_for(lambda: len(self.at(0, Rpc01).get(task).texts) == 3, 20, "all three to be played")
                self.assertEqual(sorted(self.at(1, Rpc01).get(task).texts), ["0 ", "1 ", "2 "])
        self.assert_logs_whole()

    def test_one_of_two_answers_to_a_question_wins_and_the_other_is_refused(self):
        for number in range(10):
            with self.subTest(number):
                task = self.at(number % 3, agent="family").begin('{"all": [{"ask": "which?"}]}')
                asked = task.raw["status"]["message"]["metadata"][client.EXTENSION]["ask"]
                metadata = {client.EXTENSION: {"ask": asked}}
                said = self.at_once(*(lambda index=index: self.at(index, agent="family").send(
                    f"from {index}", task=task.id, metadata=metadata) for index in (0, 1, 2)))
                refused = [one for one in said if isinstance(one, generations.Refused)]
                won = [one for one in said if not isinstance(one, Exception)]
                self.assertEqual((len(won), len(refused)), (1, 2), said)
                self.assertEqual(self.at(0, agent="family").get(task.id).texts, [f"from {said.index(won[0])}"])
        self.assert_logs_whole()

    def test_cancels_and_answers_at_once_leave_one_end(self):
        for number in range(10):
            with self.subTest(number):
                task = self.at(0).begin("ask").id
                following = self.at(number % 3).subscribe(task)
                following.first()
                self.at_once(lambda: self.at(1).cancel(task), lambda: self.at(2).answer(task, "this"),
                             lambda: self.at(0).cancel(task))
                states = {self.at(index).get(task).state for index in (0, 1, 2)}
                self.assertEqual(len(states), 1)
                self.assertLessEqual(states, {"canceled", "completed"})
                ends = [item.state for item in following.rest() if item.state in generations.ENDED]
                self.assertEqual(ends, list(states))
        self.assert_logs_whole()


if __name__ == "__main__":
    unittest.main()
