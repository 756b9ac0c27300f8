"""A node is killed, freezes or stops: its turns run again on another node, and their followers there miss nothing."""
import http.client
import pathlib
import sys
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import client
import gates
import generations
import harness
import nodes
from nodes import FROZEN_S, KILLED_S, STOPPED_S
from old_generations import Rpc01
from test_schedules import start_in


def shown(blocks):
    return [(block.number, block.result) for block in blocks if block.number is not None]


def ends_in(blocks):
    return [block.status["state"] for block in blocks if block.status and block.status["state"] in generations.ENDED]


class Turns(nodes.NodesCase):
    """The turn at work on the first node is followed on both others."""

    AGENTS = ["player", "slow"]

    def begin(self, text="wait", agent="player"):
        self.task, self.agent = client.new_id(), agent
        self.nodes[0].stream(text, self.task, agent=agent).until(lambda block: "begun" in str(block.result))
        self.followers = [self.nodes[index].resubscribe(self.task, 0, agent=agent) for index in (1, 2)]
        for follower in self.followers:
            follower.until(lambda block: "begun" in str(block.result))

    def assert_ends(self, state="completed", texts=("waited",), attempt=2):
        first, second = [follower.rest() for follower in self.followers]
        self.assert_consecutive(first)
        self.assertEqual(shown(first), shown(second))
        self.assertEqual(ends_in(first), [state])
        for index in self.nodes.living():
            got = self.at(index, Rpc01, self.agent).get(self.task)
            self.assertEqual((got.state, tuple(got.texts)), (state, tuple(texts)))
        self.assertEqual(self.nodes.attempt(self.task), attempt)
        self.assert_logs_whole()

    def test_a_killed_node_s_turn_runs_again_on_another_and_followers_see_no_gap(self):
        self.begin()
        self.nodes[0].kill()
        self.wait_attempt(self.task, 2, KILLED_S)
        self.nodes.gate("player", self.task)
        self.assert_ends()

    def test_text_that_a_killed_node_has_shown_is_there_once_in_the_end(self):
        self.begin("speak-wait begun and more")
        self.nodes[0].kill()
        self.wait_attempt(self.task, 2, KILLED_S)
        self.nodes.gate("player", self.task)
        self.assert_ends(texts=("begun and more ", "waited"))

    def test_a_killed_node_s_turn_fails_where_it_must_not_run_twice(self):
        self.begin("x", "slow")
        self.nodes[0].kill()
        for follower in self.followers:
            follower.until(lambda block: block.final)
        self.assert_ends("failed", (), 1)

    @classmethod
    def prepare(cls, all_nodes):
        all_nodes.change_card("slow", recovery="fail")

    def test_a_frozen_node_s_turn_runs_again_and_what_it_says_after_the_thaw_is_refused(self):
        self.begin()
        self.nodes[0].freeze()
        self.wait_attempt(self.task, 2, FROZEN_S)
        # Its agent continues, and has sent all its output by the time the node thaws.
        self.nodes[0].gate("player", self.task)
        self.nodes[0].thaw()
        self.assertNotEqual(self.nodes[0].ended(), 0)
        self.assertEqual(self.at(1).get(self.task).state, "working")
        self.nodes.gate("player", self.task)
        self.assert_ends()

    def test_a_node_that_is_frozen_for_less_than_its_lease_keeps_its_turn(self):
        self.begin()
        self.nodes[0].freeze()
        leases, seen = "SELECT max(lease_until) AS latest FROM nodes", set()
        self.wait_rows(lambda: seen.update(self.nodes.query(leases)) or len(seen) > 2, 20, "leases to be renewed")
        self.assertEqual(self.at(1, Rpc01).get(self.task).state, "working")
        self.nodes[0].thaw()
        self.nodes[0].is_up = True
        self.nodes.gate("player", self.task)
        self.assert_ends(attempt=1)

    def test_a_frozen_node_that_ends_starts_again_as_another_one(self):
        self.begin()
        self.nodes[0].freeze()
        self.wait_attempt(self.task, 2, FROZEN_S)
        self.nodes[0].thaw()
        self.nodes[0].ended()
        self.nodes[0].start()
        self.assertEqual(self.at(0).get(self.task).state, "working")
        self.nodes.gate("player", self.task)
        self.assert_ends()

    def test_a_stopped_node_s_turn_runs_again_on_another(self):
        self.begin()
        self.assertEqual(self.nodes[0].stop(), 0)
        self.wait_attempt(self.task, 2, STOPPED_S)
        self.nodes.gate("player", self.task)
        self.assert_ends()

    def test_a_turn_outlives_two_nodes_that_are_killed_one_after_the_other(self):
        self.begin()
        self.nodes[0].kill()
        self.wait_attempt(self.task, 2, KILLED_S)
        self.nodes[0].start()
        last = self.followers[1].seen[-1].number
        self.nodes[1].kill()
        self.nodes[2].kill()
        self.wait_attempt(self.task, 3, KILLED_S + 2)
        again = self.nodes[0].resubscribe(self.task, last, agent="player")
        self.nodes.gate("player", self.task)
        self.assert_consecutive(again.rest(), last)
        self.assertEqual(ends_in(again.seen), ["completed"])
        self.assertEqual(self.at(0).get(self.task).texts, ["waited"])
        self.assert_logs_whole()

    def test_a_turn_goes_on_after_all_nodes_were_killed_and_one_starts(self):
        self.begin()
        for node in self.nodes:
            node.kill()
        self.nodes[1].start()
        again = self.nodes[1].resubscribe(self.task, 0, agent="player")
        self.nodes.gate("player", self.task)
        self.assert_consecutive(again.rest())
        self.assertEqual(self.at(1).get(self.task).texts, ["waited"])


class Handles(nodes.NodesCase):
    """A call of an MCP tool, whose client has only the handle."""

    AGENTS = ["player"]
    CONFIG = {**nodes.NodesCase.CONFIG, "mcp": {"handle_after_s": 0.2}}

    def mcp(self, index, method, about, **params):
        meta = "io.modelcontextprotocol/"
        params["_meta"] = {meta + "protocolVersion": "2026-07-28",
                           meta + "clientCapabilities": {"extensions": {meta + "tasks": {}}}}
        head = {"Content-Type": "application/json", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method,
                "Mcp-Name": about}
        body = client.json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        return self.nodes[index].http("POST", "/mcp", body, head).body["result"]

    def test_a_handle_of_a_killed_node_is_answered_by_the_others_up_to_the_result(self):
        handle = self.mcp(0, "tools/call", "player", name="player", arguments={"message": "wait"})
        task = handle["taskId"]
        seen = [self.mcp(index, "tasks/get", task, taskId=task) for index in (0, 1, 2)]
        self.assertEqual([(now["status"], now["createdAt"]) for now in seen], [("working", handle["createdAt"])] * 3)
        self.nodes[0].kill()
        self.wait_attempt(task, 2, KILLED_S)
        self.nodes.gate("player", task)
        ended = harness.wait_for(lambda: (now := self.mcp(2, "tasks/get", task, taskId=task))["status"] == "completed" and now)
        self.assertEqual(ended["createdAt"], handle["createdAt"])
        self.assertEqual(ended["result"]["structuredContent"]["text"], "waited")
        self.assertEqual(self.mcp(1, "tasks/get", task, taskId=task)["result"], ended["result"])


class ManyTurns(nodes.NodesCase):
    AGENTS = ["player", "family"]

    def test_only_a_dead_node_s_turns_run_again_and_each_once(self):
        begun = [self.at(number % 3).begin_long().id for number in range(30)]
        self.nodes[0].kill()
        for task in begun[0::3]:
            self.wait_attempt(task, 2, KILLED_S)
        self.nodes.gate("player", "all")
        for task in begun:
            self.assertEqual(self.wait_end(task, index=1).texts, ["waited"])
        attempts = [self.nodes.attempt(task) for task in begun]
        self.assertEqual(attempts, [2, 1, 1] * 10)
        self.assert_logs_whole()

    def test_what_waits_on_a_killed_node_goes_on_on_the_others(self):
        asks = self.at(0).begin("ask").id
        parents = [self.at(0, agent="family").begin('{"all": [{"ask": "which?"}]%s}' % wait)
                   for wait in ("", ', "wait": true')]
        later = self.at(0).send("end", metadata=start_in(1)).id
        self.nodes[0].kill()
        self.assertEqual(self.at(1).answer(asks, "this").texts, ["answered: this"])
        self.wait_end(later, index=2)
        for parent in parents:
            self.assertEqual(self.at(2, agent="family").get(parent.id).said, ["which?"])
            self.at(2, agent="family").send("that", task=parent.id, wait=False)
            self.assertEqual(self.wait_end(parent.id, index=1, agent="family").texts, ["that"])
        self.assert_logs_whole()

    def test_a_send_whose_node_is_killed_is_the_same_task_when_it_is_sent_again(self):
        name, context = client.new_id(), client.new_id()
        sent, killed = self.at_once(lambda: self.at(0).send("wait", message_id=name, context=context),
                                    lambda: self.kill_once_begun(context))
        self.assertIsInstance(sent, (OSError, http.client.HTTPException), "nobody was told")
        self.nodes.gate("player", "all")
        again = self.through().send("wait", message_id=name, context=context)
        self.assertEqual((again.state, again.texts), ("completed", ["waited"]))
        self.assertEqual((self.at(2).list(contextId=context)["totalSize"], again.id), (1, killed))

    def kill_once_begun(self, context):
        """Kills the first node. Returns the task it was working on."""
        begun = harness.wait_for(lambda: self.at(2).list(contextId=context, status="TASK_STATE_WORKING")["tasks"], 20,
                                 "the turn to begin")
        self.nodes[0].kill()
        return begun[0]["id"]


class Joining(nodes.NodesCase):
    """Nodes join and leave while others serve."""

    FIRST = 1

    def test_a_node_that_joins_shows_what_was_acknowledged_before_and_its_own_to_the_others(self):
        kept = [self.at(0).begin("ask").id for _ in range(3)]
        long = self.at(0).begin_long().id
        for index in (1, 2):
            self.nodes.start([self.nodes[index]])
            self.assertEqual({self.at(index).get(task).state for task in kept}, {"input-required"})
            self.assertEqual(self.at(index).answer(kept.pop(), "this").state, "completed")
            there = [task["id"] for task in self.at(index).list(pageSize=100)["tasks"]]
            self.assertEqual([task["id"] for task in self.at(0).list(pageSize=100)["tasks"]], there)
            sent = self.at(index).send("end").id
            self.assertEqual(self.at(0).get(sent).state, "completed")
        following = self.at(2).subscribe(long)
        following.first()
        self.nodes.gate("player", long)
        self.assertEqual(following.rest()[-1].state, "completed")
        self.assertEqual(self.nodes.attempt(long), 1)

    def test_a_node_whose_connections_take_as_long_as_its_lease_joins(self):
        url = self.nodes.database.url
        gate = gates.DatabaseGate(urllib.parse.urlsplit(url).port, connect_s=1.5)
        self.addCleanup(gate.end)
        self.nodes[1].database = nodes.GatedDatabase(gate, url)
        self.nodes.start([self.nodes[1]])
        self.assertEqual(self.at(0).get(self.at(1).send("end").id).state, "completed")

    def test_a_node_that_is_alone_again_has_what_the_others_did(self):
        for _ in range(2):
            self.nodes.start([self.nodes[1]])
            task = self.at(0).begin("ask").id
            self.assertEqual(self.at(1).answer(task, "ask").state, "input-required")
            self.assertEqual(self.nodes[1].stop(), 0)
            self.assertEqual(self.at(0).get(task).state, "input-required")
            self.assertEqual(self.at(0).answer(task, "this").texts, ["answered: this"])
        self.assert_logs_whole()


if __name__ == "__main__":
    unittest.main()
