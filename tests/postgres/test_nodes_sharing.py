"""State shared by all nodes: queued turns, different agents, schedules, retention, webhooks, caps of callers."""
import concurrent.futures
import datetime
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import client
import generations
import harness
import nodes
import plan_case
import webhooks
from new_generations import Rest10
from nodes import KILLED_S

MISSED = 5  # minutes during which no node ran


def working(at, context):
    """Returns tasks whose agent has said something."""
    return [task["id"] for task in at.list(contextId=context)["tasks"]
            if "begun" in generations.texts_in(task["status"].get("message", {}))]


class QueuedTurns(nodes.SharedNodesCase):
    AGENTS = ["player", "slow"]

    @classmethod
    def prepare(cls, all_nodes):
        all_nodes.change_card("slow", concurrency=1)

    def test_turns_that_wait_at_a_full_node_are_taken_by_idle_ones(self):
        at, context = self.at(0, agent="slow"), client.new_id()
        sent = [at.send("x", wait=False, context=context).id for _ in range(4)]
        harness.wait_for(lambda: len(working(at, context)) >= len(self.nodes.all), 20, "a turn on each node")
        self.assertEqual([node.metric("baton_turns_running") for node in self.nodes], [1] * len(self.nodes.all))
        self.assertEqual(len(working(at, context)), len(self.nodes.all))
        self.nodes.gate("slow", "all")
        for task in sent:
            self.assertEqual(self.wait_end(task, index=2, agent="slow").texts, ["finished"])
            self.assertEqual(self.nodes.attempt(task), 1)
        self.assert_logs_whole()


class DifferentAgents(nodes.NodesCase):
    """Only the first and the third node have `slow`; only the second one has `phone`."""

    AGENTS = [["player", "slow"], ["player", "phone"], ["player", "slow", "counter"]]

    def await_known(self, index, agent):
        """Waits until a node knows that another one has the agent."""
        card = f"/agents/{agent}/.well-known/agent-card.json"
        harness.wait_for(lambda: self.nodes[index].http("GET", card).status == 503, 10, f"{agent} to be known")

    def test_a_send_to_a_node_without_the_agent_is_to_be_tried_again_and_others_are_not(self):
        self.await_known(1, "slow")
        body = client.json.dumps({"message": self.at(0, Rest10).message("x")}).encode()
        headers = {"Content-Type": "application/json", "A2A-Version": "1.0"}
        self.assertEqual(self.nodes[1].http("POST", "/agents/slow/message:send", body, headers).status, 503)
        self.assertEqual(self.nodes[1].http("POST", "/agents/nobody/message:send", body, headers).status, 404)
        self.assertIn(self.at(2, agent="slow").send("x", wait=False).state, ("submitted", "working"))

    def test_a_task_is_read_followed_and_canceled_at_a_node_without_its_agent(self):
        self.await_known(1, "slow")
        here, there = self.at(0, agent="slow"), self.at(1, agent="slow")
        first, second = here.begin_long("x").id, here.begin_long("y").id
        self.assertEqual(there.get(first).state, "working")
        self.assertEqual(there.list()["totalSize"], 2)
        following = there.subscribe(first)
        following.first()
        self.nodes[0].gate("slow", first)
        self.assertEqual(following.until("completed").state, "completed")
        self.assertEqual(there.cancel(second).state, "canceled")
        self.assertEqual(here.get(second).state, "canceled")
        self.assertEqual(there.get(first, history=9).said, here.get(first, history=9).said)

    def test_a_dead_node_s_turn_is_taken_by_one_that_has_its_agent(self):
        for _ in range(2):
            task = self.at(0, agent="slow").begin_long("x").id
            self.nodes[0].kill()
            self.wait_attempt(task, 2, KILLED_S)
            self.nodes[2].gate("slow", task)
            self.wait_end(task, index=2, agent="slow")
            self.nodes[0].start()

    def test_a_dead_node_s_turn_waits_for_the_only_one_that_has_its_agent(self):
        task = self.at(2, agent="counter").send("1", wait=False).id
        self.wait_end(task, index=2, agent="counter")
        asked = self.at(1, agent="phone").begin("为我购买一部新手机").id
        self.nodes[1].kill()
        harness.wait_for(lambda: self.at(0).list()["totalSize"] >= 0, 20, "the others to serve")
        self.nodes[1].start()
        self.assertEqual(self.at(1, agent="phone").get(asked).state, "input-required")
        self.assertEqual(self.at(1, agent="phone").answer(asked, "Android").state, "completed")

    def test_queued_turns_are_taken_only_by_nodes_that_have_the_agent(self):
        at, context = self.at(0, agent="slow"), client.new_id()
        sent = [at.send("x", wait=False, context=context).id for _ in range(3)]
        harness.wait_for(lambda: len(working(at, context)) == 2, 20, "a turn on both nodes that have it")
        self.assertEqual([node.metric("baton_turns_running") for node in self.nodes], [1, 0, 1])
        self.nodes.gate("slow", "all")
        for task in sent:
            self.wait_end(task, index=0, agent="slow")

    @classmethod
    def prepare(cls, all_nodes):
        all_nodes.change_card("slow", concurrency=1)


class Schedules(nodes.NodesCase):
    FIRST = 1

    @classmethod
    def prepare(cls, all_nodes):
        all_nodes.change_card("player", schedule=[{"cron": "* * * * *", "message": "end", "missed": "all"}])

    def due_times(self, index):
        tasks = self.at(index).list(pageSize=100, historyLength=9)["tasks"]
        self.assertEqual([len(task["history"]) for task in tasks], [1] * len(tasks))
        return sorted(task["history"][0]["metadata"][client.EXTENSION]["dueAt"] for task in tasks)

    def test_each_due_time_has_one_task_whichever_nodes_are_there(self):
        self.assertEqual(self.nodes[0].stop(), 0)
        moved = f"UPDATE tasks SET status_ms = status_ms - {MISSED * 60_000} WHERE hidden = 1"
        self.assertEqual(self.nodes.database.change(moved), 1)
        self.nodes.start()
        harness.wait_for(lambda: len(self.due_times(0)) >= MISSED, 20, "the tasks that were due")
        self.nodes[0].kill()
        self.nodes[0].start()
        due = self.due_times(1)
        self.assertEqual(len(due), len(set(due)))
        times = [datetime.datetime.fromisoformat(one.replace("Z", "+00:00")) for one in due]
        self.assertEqual({(after - before).total_seconds() for before, after in zip(times, times[1:])}, {60.0})
        for task in self.at(2).list(pageSize=100)["tasks"]:
            self.assertEqual(self.wait_end(task["id"], index=2).texts, ["played: end"])
        self.assert_logs_whole()


class Leading(nodes.NodesCase):
    """Work that one node does for all moves to another node when that one is gone, whichever it was."""

    CONFIG = {"retention": {"completed_s": 0.5}}

    def wait_gone(self, task, index):
        def is_gone():
            try:
                self.at(index).get(task)
            except generations.Refused as refused:
                return refused.code == -32001
            return False
        harness.wait_for(is_gone, 20, "the task to go")

    def test_tasks_go_by_their_age_after_each_node_was_killed_in_turn(self):
        for node, other in ((0, 1), (1, 2), (2, 0)):
            task = self.at(node).send("end").id
            self.nodes[node].kill()
            self.wait_gone(task, other)
            self.nodes[node].start()
            self.wait_gone(task, node)
        self.assertEqual(self.nodes.query("SELECT count(*) FROM tasks"), [(0,)])

    def test_webhooks_that_wait_are_delivered_after_each_node_was_killed_in_turn(self):
        well = set()
        with webhooks.Receiver(lambda path, count: 200 if path in well else 500) as receiver:
            for node, other in ((0, 1), (1, 2), (2, 0)):
                path = f"/{node}"
                task = self.at(node).send("ask", push={"url": receiver.url(path)}).id
                harness.wait_for(lambda: receiver.counts.get(path), 20, "a first attempt")
                self.nodes[node].kill()
                well.add(path)
                self.assertEqual(self.at(other).answer(task, "this").state, "completed")
                receiver.wait_state("TASK_STATE_COMPLETED", path=path)
                states = [delivery.state for delivery in receiver.of(path) if delivery.state]
                self.assertEqual(states[:1] + states[-1:], ["TASK_STATE_SUBMITTED", "TASK_STATE_COMPLETED"])
                self.assertEqual(states.count("TASK_STATE_COMPLETED"), 1)
                self.nodes[node].start()


    def test_a_webhook_hears_every_event_in_order_though_the_node_of_the_turn_is_killed(self):
        with webhooks.Receiver() as receiver:
            for node, other in ((0, 1), (1, 2), (2, 0)):
                path = f"/{node}"
                task = self.at(node).send("wait", wait=False, push={"url": receiver.url(path)}).id
                harness.wait_for(lambda: self.at(other).get(task).said == ["begun"], 20, "the agent's first word")
                following = self.at(other).subscribe(task)
                following.first()
                self.nodes[node].kill()
                self.at(other).send("speak one two three", task=task, wait=False)
                self.nodes.gate("player", task)
                followed = [item.block.result for item in following.rest()[1:]]
                receiver.wait_state("TASK_STATE_COMPLETED", path=path, seconds=10)
                heard = [delivery.task for delivery in receiver.of(path)]
                once = [event for number, event in enumerate(heard) if event not in heard[:number]]
                self.assertEqual(once[-len(followed):], followed, "perhaps again, but each and in order")
                self.nodes[node].start()


class Plans(nodes.NodesCase):
    AGENTS = ["hand"]

    @classmethod
    def prepare(cls, all_nodes):
        for node in all_nodes:
            plan_case.write_plan(node, "three", {"sequence": [
                plan_case.hand("say one", id="a"), plan_case.hand("hold h two", id="b"),
                plan_case.hand("say {{/steps/a/text}} {{/steps/b/text}} three")]})

    def calls_of(self, text):
        """Returns the calls on all nodes together."""
        paths = [node.agents_folder / "hand/calls" for node in self.nodes]
        lines = [line for path in paths if path.exists() for line in path.read_text(encoding="utf-8").splitlines()]
        return [line for line in lines if client.json.loads(line)[1] == text]

    def begin(self, index):
        task = self.at(index, agent="three").send("go", wait=False).id
        harness.wait_for(lambda: self.calls_of("hold h two"), 20, "the second step")
        return task

    def test_a_plan_of_a_killed_node_goes_on_elsewhere_without_what_is_done(self):
        task = self.begin(0)
        self.nodes[0].kill()
        self.nodes.gate("hand", "h")
        self.assertEqual(self.wait_end(task, index=1, agent="three").texts, ["one two three"])
        self.assertEqual([len(self.calls_of(text)) for text in ("say one", "say one two three")], [1, 1])
        self.assert_logs_whole()

    def test_a_plan_is_canceled_with_its_steps_on_another_node(self):
        task = self.begin(0)
        self.at(1, agent="three").cancel(task)
        self.wait_end(task, "canceled", index=2, agent="three")
        harness.wait_for(lambda: self.nodes.query("SELECT state FROM tasks WHERE agent = 'hand' AND "
                                                  "state NOT IN ('completed', 'canceled')") == [], 5, "its steps to end")


def status_of_send(node):
    body = client.json.dumps({"message": Rest10(node).message("end")}).encode()
    return node.http("POST", "/agents/player/message:send", body, {
        "Content-Type": "application/json", "A2A-Version": "1.0"}).status


class Caps(nodes.SharedNodesCase):
    MOST = 400
    CONFIG = {"limits": {"caller_tasks_max": MOST}}

    def test_a_caller_s_cap_holds_over_all_nodes(self):
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda _: status_of_send(self.nodes[0]), range(self.MOST)))
        self.assertEqual(status_of_send(self.nodes[0]), 429)
        # The other nodes count its tasks a little later, long before they have that many themselves.
        for node in self.nodes:
            harness.wait_for(lambda: status_of_send(node) == 429, 10, "the node to refuse more")
        self.assertLess(self.at(0).list(pageSize=1)["totalSize"], 2 * self.MOST)


class FreedCaps(nodes.SharedNodesCase):
    CONFIG = {"limits": {"caller_tasks_max": 3}, "retention": {"completed_s": 1}}

    def test_a_caller_at_its_cap_is_taken_again_on_every_node_once_its_tasks_have_gone(self):
        for node in self.nodes:
            while status_of_send(node) == 200:
                pass
        harness.wait_for(lambda: self.nodes.query("SELECT count(*) FROM tasks") == [(0,)], what="all to go")
        for node in self.nodes:
            harness.wait_for(lambda: status_of_send(node) == 200, 10, "the node to take more")


if __name__ == "__main__":
    unittest.main()
