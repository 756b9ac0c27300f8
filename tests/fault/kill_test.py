"""Kills the server at random moments while an external client keeps many tasks going. Then checks that everything
acknowledged is there, in one order, with one end, and was delivered to the webhooks.

BATON_KILLS and BATON_KILL_TASKS set the number of kills and of concurrent tasks; scripts/soak sets both high.
"""
import asyncio
import os
import pathlib
import random
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import aclient
import client
import harness
import rings
from subscriber import Subscriber

KILLS = int(os.environ.get("BATON_KILLS", "3" if rings.WHOLE else "6"))
TASKS = int(os.environ.get("BATON_KILL_TASKS", "60"))
SEED = int(os.environ.get("BATON_SEED", str(random.randrange(1 << 32))))
CONFIG = {
    "webhooks": {"allow_private": True, "retry_first_s": 0.05, "retry_max_s": 0.5, "timeout_s": 5, "senders": 16},
    "log": {"level": "warn"},
    "engine": {"quarantine": False},  # no turn is to blame for these kills
}
AGENTS = ["echo", "counter", "joke", "phone", "cat"]


def say(text):
    print(f"   kill test: {text}", flush=True)


class KillTest(unittest.TestCase):
    def test_nothing_acknowledged_is_lost_by_kills(self):
        say(f"{TASKS} tasks at once, {KILLS} kills, seed {SEED}")
        self.server = harness.Server(AGENTS, CONFIG)
        self.addCleanup(self.server.discard)
        self.server.start()
        asyncio.run(self.run_all())

    async def run_all(self):
        self.random = random.Random(SEED)
        self.receiver = await aclient.Receiver(lambda: self.random.random() < 0.05).start()
        self.going = True
        self.subscribers, self.failures = [], []
        actors = [asyncio.create_task(self.keep_going()) for _ in range(TASKS)]
        await self.kill_often()
        self.going = False
        bound = client.scaled(120)
        done, late = await asyncio.wait(actors, timeout=bound)
        for actor in done:
            actor.result()
        stuck = [vars(subscriber) for subscriber in self.subscribers if not subscriber.over]
        self.assertFalse(late, f"{len(late)} tasks came to no end: {stuck[:3]}")
        await self.check_all()

    async def keep_going(self):
        while self.going:
            subscriber = Subscriber(self.server.port, self.random, self.receiver)
            self.subscribers.append(subscriber)
            await subscriber.run()

    async def kill_often(self):
        for _ in range(KILLS):
            await asyncio.sleep(client.scaled(self.random.uniform(0.2, 2.5)))
            await asyncio.to_thread(self.server.kill)
            await asyncio.sleep(self.random.uniform(0, 0.3))
            began = time.monotonic()
            await asyncio.to_thread(self.server.start)
            self.assertLess(time.monotonic() - began, client.scaled(30))
        await asyncio.sleep(client.scaled(1))

    async def check_all(self):
        acknowledged = [s for s in self.subscribers if s.acknowledged]
        resumed = sum(s.resumed for s in acknowledged)
        ends = {}
        for subscriber in acknowledged:
            state = await subscriber.check(self)
            # All these agents' turns run again after a kill (`"recovery": "resume"`, the default).
            if state == "failed":
                self.failures.append(f"{subscriber.agent} {subscriber.task}: {subscriber.statuses()[-1]}")
            ends[state] = ends.get(state, 0) + 1
        await self.check_webhooks(acknowledged)
        deliveries = sum(len(taken) for taken in self.receiver.taken.values())
        say(f"{len(acknowledged)} tasks acknowledged of {len(self.subscribers)}, ended {ends}, "
            f"{resumed} streams resumed, {deliveries} deliveries, {self.receiver.refused} refused")
        for failure in self.failures[:5]:
            say(failure)
        self.assertEqual(self.failures, [], "tasks that a kill made fail")
        self.assertGreaterEqual(len(acknowledged), TASKS + 5 * KILLS, "too few requests got through")
        self.assertGreaterEqual(ends.get("completed", 0), len(acknowledged) // 3, ends)
        self.assertGreaterEqual(resumed, 2 * KILLS, "the kills hit too few streams")
        orphans = await asyncio.to_thread(self.orphans)
        self.assertEqual(orphans, [], "processes of killed servers stay")

    def orphans(self):
        self.assertEqual(self.server.stop(), 0)
        folder = str(self.server.agents_folder)

        def at_work():
            found = []
            for entry in pathlib.Path("/proc").iterdir():
                try:
                    if entry.name.isdigit() and os.readlink(entry / "cwd").startswith(folder):
                        found.append(int(entry.name))
                except OSError:
                    continue
            return found
        deadline = time.monotonic() + client.scaled(10)
        while at_work() and time.monotonic() < deadline:
            time.sleep(0.05)
        return at_work()

    async def check_webhooks(self, acknowledged):
        """Checks that each receiver got every status change at least once, in order."""
        def missing():
            return [s for s in acknowledged if s.statuses() != s.heard()]
        deadline = time.monotonic() + client.scaled(60)
        while missing() and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
        for subscriber in missing()[:3]:
            self.assertEqual(subscriber.heard(), subscriber.statuses(), subscriber.task)


if __name__ == "__main__":
    unittest.main()
