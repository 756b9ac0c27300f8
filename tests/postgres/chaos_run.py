"""Three nodes behind a proxy and a database behind a gate, under all faults of chaos.py, while clients of all
generations continue: nothing acknowledged is lost, no output is duplicated, no stream has a gap, no task has two ends,
and every webhook is in order.

scripts/soak sets BATON_SOAK_MINUTES and BATON_SOAK_NODES; without them the run is short.
"""
import os
import pathlib
import random
import sys
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import chaos
import chaos_clients
import client
import failover

SECONDS = float(os.environ.get("BATON_SOAK_MINUTES", "0")) * 60
SHORT_S = 20
NODES = int(os.environ.get("BATON_SOAK_NODES", "3"))
SEED = int(os.environ.get("BATON_SEED", str(random.randrange(1 << 32))))
SUBSCRIBERS, SENDERS = (40, 3) if SECONDS else (24, 2)  # senders: for each protocol
CONFIG = {"webhooks": {"retry_first_s": 0.05, "retry_max_s": 0.5, "timeout_s": 5, "senders": 16,
                       "senders_per_host": 8},
          "engine": {"quarantine": False},  # no turn is to blame for these kills
          "log": {"level": "warn"}}
FAULTS = ("kills", "freezes", "cut clients", "cut database connections", "half-open clients",
          "half-open database connections", "terminated backends", "database restarts", "full disks")


def say(text):
    print(f"   chaos: {text}", flush=True)


class ChaosTest(unittest.TestCase):
    def test_nothing_acknowledged_is_lost_doubled_or_out_of_order_under_all_faults(self):
        seconds = SECONDS or client.scaled(SHORT_S)
        say(f"{NODES} nodes, {seconds:.0f} s, seed {SEED}")
        self.random = random.Random(SEED)
        # A killed server keeps everything it has written, so the short run needs no flushes.
        inside = pathlib.Path(failover.OUTER).parent if failover.OUTER else None
        self.cluster = chaos.Cluster(fast=not SECONDS, inside=inside)
        self.addCleanup(self.cluster.remove)
        self.cluster.start()
        patch = unittest.mock.patch.dict(os.environ, self.cluster.environment())
        patch.start()
        self.addCleanup(patch.stop)
        self.chaos = chaos.Chaos(self.cluster, NODES, chaos_clients.AGENTS, CONFIG, self.random, seconds)
        self.addCleanup(self.chaos.close)
        self.chaos.start()
        self.run_all(seconds)

    def run_all(self, seconds):
        subscribers = chaos_clients.Subscribers(self, self.chaos.proxy, self.random, SUBSCRIBERS)
        senders = chaos_clients.Senders(self.chaos.proxy, SENDERS)
        try:
            self.chaos.begin()
            self.chaos.over.wait(seconds)
            self.chaos.settle()
        except AssertionError:
            print(self.chaos.evidence())
            raise
        finally:
            senders.finish()
            subscribers.finish()
        done = self.chaos.done + subscribers.done + senders.done
        say(", ".join(f"{count} {name}" for name, count in done.items()))
        wrong = self.chaos.wrong + subscribers.wrong + senders.wrong
        self.assertEqual(len(wrong), 0, "as said above")
        self.check_rows(subscribers.book | senders.book)
        for fault in FAULTS:
            if fault == "full disks" and self.cluster.why_not:
                say(f"no full disk: {self.cluster.why_not}")
            else:
                self.assertGreater(done[fault], 0, fault)
        self.assertGreater(done["streams resumed"], 0)
        self.assertGreater(done["deliveries"], done["tasks"] / 2)

    def check_rows(self, book):
        """Checks that the database has all tasks of the book, in their last known states, with whole logs, and one task
        for each message."""
        rows = self.chaos.nodes.query("SELECT public_id, state FROM tasks")
        states = dict(rows)
        self.assertEqual(len(states), len(rows))
        wrong = {task: (state, states.get(task)) for task, state in book.items()
                 if task not in states or state and states[task] != state}
        self.assertEqual(wrong, {})
        self.assertEqual(self.chaos.nodes.query(
            "SELECT t.public_id, t.last_event, count(*) AS many FROM tasks t JOIN events e ON "
            "e.event_key >> 28 = t.task_key GROUP BY t.task_key, t.public_id, t.last_event HAVING "
            "count(*) <> t.last_event OR min(e.event_key & 268435455) <> 1 OR "
            "max(e.event_key & 268435455) <> t.last_event"), [])
        self.assertEqual(self.chaos.nodes.query(
            "SELECT c.public_id, count(*) AS tasks FROM tasks t JOIN contexts c USING (context_key) "
            "WHERE context_key <> 0 GROUP BY c.public_id HAVING count(*) > 1"), [])


if __name__ == "__main__":
    unittest.main()
