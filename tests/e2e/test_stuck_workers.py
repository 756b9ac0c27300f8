"""A worker with a turn that does not stop: the other turns lose nothing."""
import json

import client
import harness
from test_bad_agents import processes_of


class StuckWorkers(harness.ServerCase):
    """Each test has a server of its own, because it uses up workers."""

    AGENTS = ["stuck-worker"]

    def setUp(self):
        self.server = harness.Server(self.AGENTS)
        path = self.server.agents_folder / "stuck-worker" / "card.json"
        card = json.loads(path.read_text(encoding="utf-8"))
        card["baton"].update(self.card_members())
        path.write_text(json.dumps(card), encoding="utf-8")
        self.server.start()
        self.addCleanup(self.server.discard)

    setUpClass = tearDownClass = classmethod(lambda cls: None)

    def card_members(self):
        return {}

    def begin(self, text):
        """Begins a turn and waits until its worker has begun it. Returns the task."""
        task = client.new_id()
        stream = self.server.stream(text, task, agent="stuck-worker")
        stream.until(lambda block: block.status and "message" in block.status)
        stream.close()
        return task

    def poison(self):
        """Cancels a turn that does not stop. Returns its task, which has ended; its worker is being replaced."""
        task = self.begin("poison")
        ended = self.server.call("tasks/cancel", {"id": task}, agent="stuck-worker")
        self.assertEqual(ended["status"]["state"], "canceled")
        return task

    def open_gate(self, task):
        self.server.gate("stuck-worker", task)

    def answer(self, task):
        done = self.wait_state(task, "completed", "failed", "canceled", agent="stuck-worker")
        self.assertEqual(done["status"]["state"], "completed", done["status"])
        return done["artifacts"]

    def pid_and_attempt(self, artifacts):
        return client.text_of(artifacts[-1]).split()


class DrainedWorkers(StuckWorkers):
    def test_a_turn_that_does_not_stop_costs_its_neighbours_nothing(self):
        neighbour = self.begin("hold")
        self.poison()
        served = self.server.send("x", agent="stuck-worker")
        self.open_gate(neighbour)
        new_pid, _ = self.pid_and_attempt(served["artifacts"])
        old_pid, attempt = self.pid_and_attempt(self.answer(neighbour))
        self.assertNotEqual(new_pid, old_pid, "a replacement takes new turns")
        self.assertEqual(attempt, "1")
        harness.wait_for(lambda: len(processes_of(self.server.pid)) == 1, what="the end of the old worker")

    def test_the_stuck_turn_has_one_end_and_does_not_run_again(self):
        neighbour = self.begin("hold")
        task = self.poison()
        self.open_gate(neighbour)
        self.answer(neighbour)
        harness.wait_for(lambda: len(processes_of(self.server.pid)) == 1, what="the end of the old worker")
        self.assertEqual(self.server.get(task, agent="stuck-worker")["status"]["state"], "canceled")
        begun = [event for event in self.server.resubscribe(task, 0, agent="stuck-worker").rest()
                 if event.status and "message" in event.status]
        self.assertEqual(len(begun), 1)

    def test_there_are_at_most_twice_as_many_processes(self):
        neighbours = []
        for _ in range(4):
            neighbours.append(self.begin("hold"))
            self.poison()
            self.assertLessEqual(len(processes_of(self.server.pid)), 2)
        for neighbour in neighbours:
            self.open_gate(neighbour)
        for neighbour in neighbours:
            self.answer(neighbour)


class BrokenOffTurns(StuckWorkers):
    def card_members(self):
        return {"worker_drain_s": 0.2}

    def test_a_neighbour_that_does_not_finish_runs_again_as_the_same_attempt(self):
        neighbour = self.begin("hold")
        following = self.server.resubscribe(neighbour, 0, agent="stuck-worker")
        self.addCleanup(following.close)
        self.poison()
        for _ in range(2):
            following.until(lambda block: block.status and "message" in block.status)
        self.open_gate(neighbour)
        artifacts = self.answer(neighbour)
        self.assertEqual(len(artifacts), 2, "the first draft is withdrawn, the second stays")
        self.assertEqual(self.pid_and_attempt(artifacts)[1], "1")


class BrokenOffForGood(StuckWorkers):
    def card_members(self):
        return {"worker_drain_s": 0.2, "recovery": "fail"}

    def test_where_work_must_not_be_done_twice_the_neighbour_fails_with_the_reason(self):
        neighbour = self.begin("hold")
        self.poison()
        ended = self.wait_state(neighbour, "failed", agent="stuck-worker")
        self.assertIn("another turn did not stop", client.text_of(ended["status"]["message"]))


class SilentAgents(StuckWorkers):
    def card_members(self):
        return {"first_output_s": 3}

    def test_a_turn_about_which_nothing_is_said_fails_with_the_reason(self):
        # The start of the worker may take that long on a slow machine.
        harness.wait_for(lambda: self.server.send("x", agent="stuck-worker")["status"]["state"] == "completed",
                         what="a worker that runs")
        neighbour = self.begin("hold")
        ended = self.server.send("mute", agent="stuck-worker")
        self.assertEqual(ended["status"]["state"], "failed")
        self.assertIn("printed nothing for 3 seconds", client.text_of(ended["status"]["message"]))
        self.open_gate(neighbour)
        self.answer(neighbour)
