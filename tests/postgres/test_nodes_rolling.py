"""All nodes are restarted, one after the other, while clients send and follow through the proxy."""
import http.client
import itertools
import pathlib
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import client
import harness
import nodes

UNAVAILABLE = 503


class Load:
    """Clients that send one task after another, repeating each until it is answered, and the answers they got."""

    def __init__(self, case, clients=4):
        self.case, self.acknowledged, self.wrong = case, {}, []  # task id: the text sent
        self.ending = threading.Event()
        self.threads = [threading.Thread(target=self.work, args=(number,)) for number in range(clients)]
        for thread in self.threads:
            thread.start()

    def work(self, name):
        at = self.case.through()
        try:
            for number in itertools.count():
                if self.ending.is_set():
                    return
                text = f"end {name}-{number};"
                task = self.until_answered(at, text, client.new_id())
                # A stopping node answers with the task's current state.
                is_told = (task.state, task.texts) == ("completed", [f"played: {text}"])
                if not (is_told or task.state in ("submitted", "working")) or task.id in self.acknowledged:
                    self.wrong.append(f"{text} {task}")
                self.acknowledged[task.id] = text
        except Exception as error:  # any error is a failure of the test
            self.wrong.append(repr(error))

    @staticmethod
    def until_answered(at, text, name):
        params = at.params(text, message_id=name)
        deadline = time.monotonic() + client.scaled(20)
        while True:
            try:
                answer = at.post(at.METHODS["send"], params)
                refused = (answer.body or {}).get("error")
                if answer.status == 200 and not refused:
                    return at.sent(answer.body["result"])
                if answer.status != UNAVAILABLE and refused["code"] != UNAVAILABLE:
                    raise AssertionError(f"refused: {answer.raw}")
            except (OSError, http.client.HTTPException):  # a client without an answer asks again
                pass
            if time.monotonic() > deadline:
                raise AssertionError(f"no answer to {text}")

    def await_more(self, count=20):
        most = len(self.acknowledged) + count
        harness.wait_for(lambda: self.wrong or len(self.acknowledged) >= most, 40, f"{count} more tasks")

    def close(self):
        self.ending.set()
        for thread in self.threads:
            thread.join()


class Follower:
    """Follows a task through the proxy to its end. Changes to another node whenever a stream breaks."""

    def __init__(self, case, task):
        self.proxy, self.task, self.blocks = case.nodes.proxy, task, []
        self.streams = 0
        self.thread = threading.Thread(target=self.follow)
        self.thread.start()

    def follow(self):
        deadline = time.monotonic() + client.scaled(60)
        while not (self.blocks and self.blocks[-1].final) and time.monotonic() < deadline:
            after = self.blocks[-1].number if self.blocks else 0
            try:
                self.streams += 1
                for block in self.proxy.resubscribe(self.task, after, agent="player"):
                    self.blocks.append(block)
            except (OSError, http.client.HTTPException, AssertionError):  # cut, perhaps inside a block; or refused
                continue


class RollingCase(nodes.NodesCase):
    def roll(self, end):
        load = Load(self)
        self.addCleanup(load.close)
        long = client.new_id()
        self.nodes[0].stream("wait", long, agent="player").until(lambda block: "begun" in str(block.status))
        followers = [Follower(self, long) for _ in range(3)]
        for follower in followers:
            self.addCleanup(follower.thread.join)
        self.addCleanup(self.nodes.gate, "player", long)  # so that they always end
        for node in self.nodes:
            load.await_more()
            end(node)
            load.await_more()
            node.start()
        load.await_more()
        load.close()
        self.nodes.gate("player", long)
        for follower in followers:
            follower.thread.join()
            self.assert_consecutive(follower.blocks)
            self.assertEqual(follower.blocks[-1].status["state"], "completed")
        self.assertEqual(load.wrong, [])
        self.assert_kept(load, long)

    def assert_kept(self, load, long):
        """Asserts that every node shows the acknowledged tasks as acknowledged, and no others."""
        harness.wait_for(lambda: self.nodes.query("SELECT public_id FROM tasks WHERE state <> 'completed'") == [], 10,
                         "all to be completed")
        for index in (0, 1, 2):
            for task, text in load.acknowledged.items():
                got = self.at(index).get(task)
                self.assertEqual((got.state, got.texts), ("completed", [f"played: {text}"]))
            self.assertEqual(self.at(index).get(long).texts, ["waited"])
            self.assertEqual(self.at(index).list(pageSize=1)["totalSize"], len(load.acknowledged) + 1)
        self.assert_logs_whole()


class Rolling(RollingCase):
    def test_nodes_that_are_stopped_and_started_one_after_the_other_lose_and_double_nothing(self):
        self.roll(lambda node: self.assertEqual(node.stop(), 0))

    def test_nodes_that_are_killed_and_started_one_after_the_other_lose_and_double_nothing(self):
        self.roll(nodes.Node.kill)


if __name__ == "__main__":
    unittest.main()
