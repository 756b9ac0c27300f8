"""Turns that wait for other agents: across a kill, and in a worker that runs one turn at a time."""
import json

import client
import harness


class WaitingTurns(harness.ServerCase):
    AGENTS = ["chief", "slow", "patron"]

    def done(self, task, agent):
        done = self.wait_state(task, "completed", "failed", "canceled", agent=agent)
        self.assertEqual(done["status"]["state"], "completed", done["status"])
        return done

    def begin(self, text, agent):
        task = client.new_id()
        self.server.stream(text, task, agent=agent).close()
        return task

    def tasks_of(self, agent):
        return self.server.call("ListTasks", {}, agent=agent, headers={"A2A-Version": "1.0"})["tasks"]

    def test_a_parent_that_waits_over_a_kill_gets_its_childs_result(self):
        task = self.begin("slow", "chief")
        harness.wait_for(lambda: any("message" in child["status"] for child in self.tasks_of("slow")),
                         what="the child's first word")
        self.server.kill()
        self.server.start()
        self.assertEqual(self.server.get(task, agent="chief")["status"]["state"], "working")
        self.server.gate("slow", "all")
        done = self.done(task, "chief")
        self.assertEqual(len(done["artifacts"]), 1)
        report = done["artifacts"][0]["parts"][0]["data"]
        self.assertEqual(report["attempt"], 1)
        self.assertEqual(report["task"]["status"]["state"], "TASK_STATE_COMPLETED")
        self.assertIn("finished", json.dumps(report["task"]))

    def test_a_turn_that_waits_leaves_its_only_place_to_its_child(self):
        done = self.done(self.begin("wait wait hello", "patron"), "patron")
        self.assertEqual([client.text_of(artifact) for artifact in done["artifacts"]],
                         ["I ask. ", "got: I ask. "])

    def test_a_turn_that_does_not_say_that_it_waits_makes_room_and_begins_again(self):
        done = self.done(self.begin("keep hello", "patron"), "patron")
        self.assertEqual([client.text_of(artifact) for artifact in done["artifacts"]], ["I ask. got: hello"])
        self.assertEqual(client.text_of(done["status"]["message"]), "1", "its attempt")

    def test_a_turn_that_went_on_after_waiting_makes_room_like_another(self):
        done = self.done(self.begin("both hello", "patron"), "patron")
        self.assertEqual(client.text_of(done["artifacts"][-1]), "I ask. got: hello")
