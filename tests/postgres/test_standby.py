"""A second Baton on the same PostgreSQL database waits, and takes over when the first is gone: killed, stopped, frozen,
or cut off from the database. Nothing acknowledged is lost, and no turn's output is duplicated."""
import contextlib
import pathlib
import signal
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import client
import databases
import harness
import new_generations

CONFIG = {"engine": {"drain_grace_s": 0.2}}


class Standby(harness.Server):
    """Started while another server has the database. `await_turn` returns once it waits."""

    def __init__(self, first):
        super().__init__(["player"], CONFIG, ["--postgres-standby"])
        self.database.drop()
        self.database = first.database
        self.starting = None

    def await_turn(self):
        self.starting = threading.Thread(target=self.start_quietly)
        self.starting.start()
        harness.wait_for(lambda: "standby: waiting" in self.log_text(), 20, "the standby to wait")
        return self

    def start_quietly(self):
        with contextlib.suppress(AssertionError):  # it was stopped first
            self.start()

    def await_service(self):
        """Waits until it serves. Returns that time."""
        self.starting.join(client.scaled(30))
        assert self.port, self.log_text()
        return time.monotonic()

    def log_text(self):
        return super().log_text() if (self.folder / "log").exists() else ""


class TakeOver(unittest.TestCase):
    def setUp(self):
        self.first = harness.Server(["player"], CONFIG, ["--postgres-standby"]).start()
        self.second = Standby(self.first).await_turn()
        self.at_first = new_generations.Rpc10(self.first)

    def tearDown(self):
        if self.first.running():
            self.first.process.kill()
            self.first.process.wait()
        self.second.starting.join()
        self.second.discard()

    def assert_goes_on(self, done, long, numbers):
        """Asserts that everything the first one acknowledged is there, and that its running turn runs again."""
        there = new_generations.Rpc10(self.second)
        self.assertEqual(there.get(done).state, "completed")
        following = there.subscribe(long)
        following.first()
        self.second.gate("player", long)
        self.assertEqual(following.rest()[-1].state, "completed")
        self.assertEqual(there.get(long).texts, ["waited"])
        events = self.second.database.query(f"SELECT event_key & 268435455 AS number FROM events e JOIN tasks t ON "
                                            f"e.event_key >> 28 = t.task_key WHERE t.public_id = '{long}' ORDER BY 1")
        self.assertEqual([number for number, in events], list(range(1, len(events) + 1)))
        self.assertGreater(len(events), numbers)

    def begun(self):
        """Makes a completed task, and one whose turn runs."""
        done = self.at_first.send("end").id
        long = self.at_first.begin_long().id
        count = self.first.database.query("SELECT max(last_event) AS most FROM tasks")[0][0]
        return done, long, count

    def test_a_killed_server_is_replaced_at_once(self):
        begun = self.begun()
        self.first.process.kill()
        killed = time.monotonic()
        took = self.second.await_service() - killed
        self.assertLess(took, client.scaled(4))
        self.assert_goes_on(*begun)

    def test_a_stopped_server_is_replaced_at_once(self):
        begun = self.begun()
        self.assertEqual(self.first.stop(), 0)
        self.second.await_service()
        self.assert_goes_on(*begun)

    def test_a_frozen_server_is_replaced_when_its_lease_is_over_and_ends_when_it_thaws(self):
        begun = self.begun()
        self.first.process.send_signal(signal.SIGSTOP)
        self.second.await_service()
        self.assert_goes_on(*begun)
        before = self.second.database.query("SELECT count(*) AS n FROM events")
        self.first.process.send_signal(signal.SIGCONT)
        self.assertNotEqual(self.first.process.wait(client.scaled(20)), 0)
        self.assertIn("another Baton has taken over", self.first.log_text())
        self.assertEqual(self.second.database.query("SELECT count(*) AS n FROM events"), before)

    def test_a_server_whose_connections_the_database_ends_stays(self):
        done, long, _ = self.begun()
        for _ in range(3):
            databases.psql(self.first.database.url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                                                    "pid <> pg_backend_pid() AND datname = current_database()")
            self.assertEqual(self.at_first.send("end").state, "completed")
        self.assertEqual(self.at_first.get(done).state, "completed")
        self.assertEqual(self.second.port, 0)
        self.first.gate("player", long)
        harness.wait_for(lambda: self.at_first.get(long).state == "completed", 20, "the turn to end")
        self.assertEqual(self.first.stop(), 0)
        self.second.await_service()

    def test_a_standby_that_is_told_to_stop_stops(self):
        self.second.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.second.process.wait(client.scaled(10)), 0)


if __name__ == "__main__":
    unittest.main()
