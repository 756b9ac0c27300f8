"""Streams and webhooks of a task that runs on another node: every event, once, in order."""
import concurrent.futures
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import client
import databases
import harness
import nodes
import rings
import webhooks

STEPS = 40
# Rounds of many webhooks. The simulation of nodes draws many more orders of the same.
ROUNDS = 5 if rings.WHOLE else 15


def shown(blocks):
    return [(block.number, block.result) for block in blocks if block.number is not None]


def begun(block):
    return "begun" in str(block.status)


class Streams(nodes.SharedNodesCase):
    AGENTS = ["player", "slow"]

    def test_followers_on_every_node_see_the_same_events_without_a_gap_to_the_end(self):
        task = client.new_id()
        first = self.nodes[0].stream(f"progress {STEPS}", task, agent="slow")
        first.until(begun)
        others = [self.nodes[index].resubscribe(task, 0, agent="slow") for index in (1, 2, 0)]
        self.nodes.gate("slow", task)
        whole = first.rest()
        self.assertEqual(whole[-1].status["state"], "completed")
        self.assert_consecutive(whole)
        for other in others:
            self.assertEqual(shown(other.rest()), shown(whole))

    def to_the_end(self, index, task, blocks=()):
        """Returns all blocks of a task on a node; resumes a stream that broke."""
        blocks = list(blocks)
        while not (blocks and blocks[-1].final):
            after = blocks[-1].number if blocks else 0
            blocks += self.followed_on(index, task, after).rest()
        return blocks

    @staticmethod
    def patiently(open_stream):
        """Returns the stream that `open_stream` opens. Asks again while the node has no database."""
        def opened():
            try:
                return open_stream()
            except client.RpcError as refused:
                if refused.code != 503:
                    raise
                return None
        return harness.wait_for(opened, what="a node to open the stream")

    def begun_on(self, index, task):
        return self.patiently(lambda: self.nodes[index].stream(f"count {STEPS}", task, agent="player"))

    def followed_on(self, index, task, after=0):
        return self.patiently(lambda: self.nodes[index].resubscribe(task, after, agent="player"))

    def follow_many(self, tasks):
        """Begins tasks and follows each while it runs: on the node where it began, and on both others. Returns all
        blocks."""
        def follow(number):
            task, here = client.new_id(), number % 3
            stream = self.begun_on(here, task)
            next(iter(stream))
            others = [self.followed_on((number + more) % 3, task) for more in (1, 2)]
            return [self.to_the_end(here, task, stream.rest()),
                    *(self.to_the_end(here, task, other.rest()) for other in others)]
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            return list(threads.map(follow, range(tasks)))

    def assert_whole(self, streams):
        whole, *others = streams
        self.assertEqual(whole[-1].status["state"], "completed")
        self.assert_consecutive(whole)
        for other in others:
            self.assert_consecutive(other)
            self.assertEqual(other[-1].number, whole[-1].number)

    def test_followers_that_come_in_the_middle_of_many_busy_tasks_miss_and_double_nothing(self):
        for streams in self.follow_many(24):
            self.assert_whole(streams)

    def test_followers_miss_nothing_when_the_database_ends_every_connection(self):
        with concurrent.futures.ThreadPoolExecutor(1) as threads:
            following = threads.submit(self.follow_many, 24)
            while not following.done():
                databases.psql(self.nodes.database.url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                                                        "pid <> pg_backend_pid() AND datname = current_database(); "
                                                        "SELECT pg_sleep(0.3)")
            for streams in following.result():
                self.assert_whole(streams)
        for node in self.nodes:
            self.assertTrue(node.running())

    def test_a_stream_that_was_cut_goes_on_on_a_third_node_after_its_number(self):
        for generation in nodes.GENERATIONS:
            with self.subTest(generation.name):
                following = self.at(0, generation).stream("wait")
                following.until("working")
                task = following.items[0].raw.get("id") or following.items[0].raw["taskId"]
                following.close()
                cut = following.items[-1].number
                whole = self.at(1, generation).subscribe(task, after=0)
                rest = self.at(2, generation).subscribe(task, after=cut)
                self.nodes.gate("player", task)
                self.assertEqual(whole.rest()[-1].state, "completed")
                rest.rest()
                self.assertEqual([item.raw for item in rest.items],
                                 [item.raw for item in whole.items if item.number > cut])

    def test_a_stream_that_hops_from_node_to_node_after_each_event_is_whole(self):
        task = client.new_id()
        self.nodes[0].stream(f"progress {STEPS}", task, agent="slow").until(begun)
        self.nodes.gate("slow", task)
        blocks, after = [], 0
        for hop in range(3 * STEPS):
            stream = self.nodes[hop % 3].resubscribe(task, after, agent="slow")
            blocks.append(next(iter(stream)))
            stream.close()
            after = blocks[-1].number
            if blocks[-1].final:
                break
        self.assert_consecutive(blocks)
        self.assertEqual(blocks[-1].status["state"], "completed")

    def test_a_send_through_the_proxy_is_streamed_as_it_comes(self):
        task = client.new_id()
        stream = self.nodes.proxy.stream("x", task, agent="slow")
        stream.until(begun)
        self.nodes.gate("slow", task)
        self.assert_consecutive(stream.rest())
        self.assertEqual(stream.seen[-1].status["state"], "completed")


class Webhooks(nodes.SharedNodesCase):
    AGENTS = ["player"]

    def test_a_config_set_on_another_node_hears_every_event_that_follows_once_in_order(self):
        with webhooks.Receiver() as receiver:
            for number in range(6):
                path = f"/{number}"
                task = self.at(0).begin_long().id
                harness.wait_for(lambda: self.at(1).get(task).said == ["begun"], 20, "the agent's first word")
                following = self.at(2).subscribe(task)
                following.first()
                config = self.at(1).set_push(task, {"url": receiver.url(path)})
                self.assertEqual([self.at(index).get_push(task, config["id"]) for index in (2, 0)], [config] * 2)
                self.at(2).send("count 10", task=task, wait=False)
                self.nodes.gate("player", task)
                self.wait_end(task, index=1)
                items = [item.block.result for item in following.rest() if item.kind in ("status", "artifact")]
                receiver.wait_state("TASK_STATE_COMPLETED", path=path)
                harness.wait_for(lambda: len(receiver.of(path)) >= len(items), what="all deliveries")
                self.assertEqual([delivery.task for delivery in receiver.of(path)], items)

    def test_configs_of_sends_through_the_proxy_hear_every_status_once_in_order(self):
        for _ in range(ROUNDS):
            with webhooks.Receiver() as receiver:
                paths = [f"/task-{number}" for number in range(40)]
                with concurrent.futures.ThreadPoolExecutor(8) as threads:
                    list(threads.map(lambda path: self.through().send("count 3", push={"url": receiver.url(path)}),
                                     paths))
                self.assert_heard(receiver, paths)

    def assert_heard(self, receiver, paths):
        due = "SELECT delivery_key FROM deliveries WHERE due_ms IS NOT NULL"
        self.wait_rows(lambda: self.nodes.query(due) == [], client.PATIENCE_S, "all deliveries")
        left = "SELECT task_key, event_number FROM deliveries WHERE state = 'waiting'"
        self.assertEqual(self.nodes.query(left), [], "nobody would deliver them any more")
        for path in paths:
            bodies = [delivery.raw for delivery in receiver.of(path)]
            self.assertEqual(len(set(bodies)), len(bodies))
            self.assertEqual(bodies[0].count(b"SUBMITTED"), 1)
            self.assertEqual([body.count(b"COMPLETED") for body in bodies], [0] * (len(bodies) - 1) + [1])
            steps = [client.json.loads(body)["statusUpdate"]["status"]["message"]["parts"][0]["text"]
                     for body in bodies if b"step" in body]
            self.assertEqual(steps, ["step 1", "step 2", "step 3"])

    def test_a_config_deleted_on_another_node_hears_no_more(self):
        with webhooks.Receiver() as receiver:
            task = self.at(0).begin("ask").id
            for name in ("kept", "gone"):
                self.at(1).set_push(task, {"url": receiver.url(f"/{name}"), "id": name})
            self.assertEqual(self.at(2).answer(task, "ask").state, "input-required")
            receiver.wait_state("TASK_STATE_INPUT_REQUIRED", path="/gone")
            self.at(2).delete_push(task, "gone")
            self.assertEqual([config["id"] for config in self.at(0).list_push(task)], ["kept"])
            self.assertEqual(self.at(1).answer(task, "done").state, "completed")
            receiver.wait_state("TASK_STATE_COMPLETED", path="/kept")
            self.assertNotIn("TASK_STATE_COMPLETED", [delivery.state for delivery in receiver.of("/gone")])


if __name__ == "__main__":
    unittest.main()
