"""An operator at any node acts on all of them."""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import client
import harness
import nodes
import operate_case
from operate_case import CALLER, OPERATOR, VIEWER

SOON_S = 2


class OperateCase(nodes.SharedNodesCase):
    CONFIG = {"tokens": operate_case.TOKENS}

    def ask(self, index, method, path, body=None, token=OPERATOR):
        whole = operate_case.PREFIX + path
        raw = None if body is None else json.dumps(body).encode()
        answer = self.nodes[index].http(method, whole, raw, {"Authorization": f"Bearer {token}"})
        operate_case.check(method, whole, answer)
        return answer

    def read(self, index, path):
        answer = self.ask(index, "GET", path, token=VIEWER)
        self.assertEqual(answer.status, 200, answer.raw)
        return answer.body

    def act(self, index, path, **body):
        answer = self.ask(index, "POST", path, {"reason": "a test", **body})
        self.assertEqual(answer.status, 200, answer.raw)
        return answer.body

    def begin(self, index, agent, text="x"):
        """Begins a task and waits until it is at work. Returns its id and its key."""
        task = client.new_id()
        self.nodes[index].stream(text, task, agent=agent, token=CALLER).until(
            lambda block: "begun" in str(block.status))
        return task, self.key_of(task)

    def send(self, index, text, agent):
        task = client.new_id()
        self.nodes[index].rpc("tasks/send", {"id": task, "message": client.text_message(text)}, agent=agent,
                              token=CALLER)
        return self.key_of(task)

    def key_of(self, task):
        rows = self.read(2, "/tasks?limit=200")["tasks"]
        return next(row["key"] for row in rows if row["id"] == task)

    def wait_row(self, index, key, *states):
        def look():
            row = self.read(index, f"/tasks/{key}")["task"]
            return row if row["state"] in states else None
        return harness.wait_for(look, what=f"{key} to be {' or '.join(states)}")

    def is_paused(self, index, agent):
        row = next(row for row in self.read(index, "/agents")["agents"] if row["name"] == agent)
        return row.get("paused", False)

    def try_to_begin(self, index):
        """Sends a task to the paused agent. Returns the task, its stream and its key, or None if it was not paused
        there yet."""
        task = client.new_id()
        stream = self.nodes[index].stream("x", task, agent="slow", token=CALLER)
        next(iter(stream))
        key = self.key_of(task)
        if self.read(0, f"/tasks/{key}")["task"]["turnState"] == "queued":
            return task, stream, key
        self.nodes.gate("slow", task)
        stream.rest()
        return None


class Operate(OperateCase):
    AGENTS = ["joke", "slow", "phone", "bad"]

    def test_an_agent_that_is_paused_on_one_node_is_paused_on_all_until_it_is_resumed(self):
        self.assertTrue(self.act(0, "/agents/slow/pause")["agent"]["paused"])
        waiting = []
        for index in (1, 2):
            waiting.append(harness.wait_for(lambda: self.try_to_begin(index), SOON_S, f"node {index} to pause"))
            self.assertTrue(self.is_paused(index, "slow"))
        for _, _, key in waiting:
            self.assertEqual(self.read(0, f"/tasks/{key}")["task"]["turnState"], "queued")
        self.act(2, "/agents/slow/resume")
        for task, stream, _ in waiting:
            stream.until(lambda block: "begun" in str(block.status))
            self.nodes.gate("slow", task)
            self.assertEqual(stream.rest()[-1].status["state"], "completed")
        for index in (0, 1):
            harness.wait_for(lambda: not self.is_paused(index, "slow"), SOON_S, f"node {index} to go on")

    def test_a_failed_task_is_retried_on_another_node(self):
        key = self.send(0, "complain", "bad")
        made = self.act(1, f"/tasks/{key}/retry")["task"]
        self.assertNotEqual(made["key"], key)
        self.wait_row(2, made["key"], "failed")
        self.assertEqual([row["action"] for row in self.read(2, f"/audit?task={key}")["rows"]], ["retry"])

    def test_a_question_is_answered_on_another_node(self):
        key = self.send(0, "x", "phone")
        asked = self.read(1, f"/tasks/{key}")["question"]["event"]
        self.act(1, f"/tasks/{key}/answer", text="Android")
        harness.wait_for(lambda: self.read(2, f"/tasks/{key}")["task"]["lastEvent"] > asked + 1, what="the next turn")

    def test_a_turn_is_requeued_on_another_node_than_its_own(self):
        task, key = self.begin(0, "slow")
        self.act(1, f"/tasks/{key}/requeue")
        harness.wait_for(lambda: self.read(2, f"/tasks/{key}")["task"]["attempt"] == 2, what="the second attempt")
        self.nodes.gate("slow", task)
        self.wait_row(2, key, "completed")

    def test_a_task_at_work_is_canceled_on_another_node(self):
        _, key = self.begin(0, "slow")
        self.act(1, f"/tasks/{key}/cancel")
        self.wait_row(2, key, "canceled")

    def test_an_api_key_is_known_to_all_nodes_within_a_second_and_so_is_its_end(self):
        def status(index, key):
            return self.nodes[index].rpc("tasks/get", {"id": "none"}, token=key).status

        def make(index, path, **body):
            answer = self.ask(index, "POST", path, {"reason": "a test", **body})
            self.assertEqual(answer.status, 201, answer.raw)
            return answer.body["apiKey"], answer.body["key"]["id"]
        first, number = make(0, "/keys", caller="shop")  # no node has a key yet, so notices alone tell of it
        self.assertEqual(status(0, first), 200)
        for index in (1, 2):
            harness.wait_for(lambda: status(index, first) == 200, 1, f"node {index} to know the key")
        second = make(1, f"/keys/{number}/rotate")[0]
        for index in (0, 2):
            harness.wait_for(lambda: status(index, second) == 200, 1, f"node {index} to know the new key")
        self.assertEqual(self.ask(2, "POST", f"/keys/{number}/revoke", {"reason": "x"}).status, 200)
        self.assertEqual(status(2, first), 401)
        for index in (0, 1):
            harness.wait_for(lambda: status(index, first) == 401, 1, f"node {index} to refuse the key")
        # As an older node or a lost notice leaves it: the database says it and nobody tells.
        self.nodes.database.change("UPDATE api_keys SET revoked_ms = 1, changed = changed + 1")
        for index in (0, 1, 2):
            harness.wait_for(lambda: status(index, second) == 401, SOON_S, f"node {index} to look")

    def test_a_task_that_is_deleted_on_one_node_is_gone_on_all(self):
        key = self.send(0, "x", "joke")
        self.assertEqual(self.ask(1, "DELETE", f"/tasks/{key}", {"reason": "x"}).status, 200)
        for index in (0, 1, 2):
            self.assertEqual(self.ask(index, "GET", f"/tasks/{key}").status, 404)

    def test_a_bulk_job_begun_on_one_node_acts_once_on_tasks_of_all(self):
        keys = {self.send(index, "x", "phone") for index in (0, 1, 2)}
        found = self.read(1, "/tasks?state=input-required&agent=phone&limit=200")["tasks"]
        self.assertLessEqual(keys, {row["key"] for row in found})
        begun = self.ask(1, "POST", "/bulk", {"action": "cancel", "expected": len(found), "reason": "cleaning",
                                              "filter": {"state": ["input-required"], "agent": "phone"}})
        self.assertEqual(begun.status, 202, begun.raw)
        job = begun.body["job"]
        done = harness.wait_for(lambda: (now := self.read(2, f"/bulk/{job}"))["state"] == "done" and now)
        self.assertEqual((done["done"], done["refused"]), (len(found), 0))
        for key in keys:
            self.wait_row(0, key, "canceled")
            self.assertEqual(len(self.read(0, f"/audit?task={key}")["rows"]), 1)


class TasksOfOtherAgents(OperateCase):
    """Callers reach an agent at the nodes that have it; operators reach its tasks at any node."""
    AGENTS = [["slow"], ["phone"], ["phone"]]

    def test_tasks_of_an_agent_that_a_node_does_not_have_are_read_and_canceled_there(self):
        task, key = self.begin(0, "slow")
        self.assertEqual(self.read(1, f"/tasks/{key}")["task"]["id"], task)
        self.act(1, f"/tasks/{key}/cancel")
        self.wait_row(2, key, "canceled")


if __name__ == "__main__":
    unittest.main()
