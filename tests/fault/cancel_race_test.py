"""Cancels tasks at random moments around their completion: each has exactly one end, and everybody was told
that one. BATON_CANCEL_TASKS sets how many."""
import asyncio
import os
import pathlib
import random
import statistics
import sys
import time
import unittest
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import aclient
import harness

TASKS = int(os.environ.get("BATON_CANCEL_TASKS", "1000"))
AT_ONCE = 20
SEED = int(os.environ.get("BATON_SEED", str(random.randrange(1 << 32))))
ENDED = ("completed", "canceled", "failed")


class CancelRace(unittest.TestCase):
    def test_each_task_has_one_end_and_everybody_was_told_it(self):
        print(f"   cancel race: {TASKS} tasks, seed {SEED}", flush=True)
        with harness.Server(["counter"], {"log": {"level": "warn"}}) as server:
            self.port = server.port
            asyncio.run(self.race())

    async def race(self):
        self.random = random.Random(SEED)
        self.durations = [await self.duration() for _ in range(10)]
        self.ends = {"completed": 0, "canceled": 0}
        todo = iter(range(TASKS))

        async def actor():
            for number in todo:
                await self.one(by_stream=number % 2 == 0)
        await asyncio.gather(*(actor() for _ in range(AT_ONCE)))
        print(f"   cancel race: {self.ends}", flush=True)
        self.assertEqual(sum(self.ends.values()), TASKS)
        for state, count in self.ends.items():
            self.assertGreaterEqual(count, TASKS // 50, f"too few {state}: the moments were not around completion")

    @staticmethod
    def params():
        return {"id": str(uuid.uuid4()), "message": {"role": "user", "parts": [{"type": "text", "text": "20"}]}}

    async def duration(self):
        began = time.monotonic()
        await aclient.call(self.port, "counter", "tasks/send", self.params())
        return time.monotonic() - began

    async def one(self, by_stream):
        params = self.params()
        began = time.monotonic()
        sending = asyncio.create_task(self.streamed_end(params) if by_stream else self.sent_end(params))
        # Tasks disturb each other: what counts is how long the last ones took.
        await asyncio.sleep(self.random.uniform(0, 2 * statistics.median(self.durations[-20:])))
        answer = await aclient.call(self.port, "counter", "tasks/cancel", {"id": params["id"]})
        if answer.get("error", {}).get("code") == -32001:  # it had not even arrived
            await asyncio.sleep(0)
            answer = await self.cancel_until_known(params["id"])
        told = await sending
        self.durations.append(time.monotonic() - began)
        end = await self.only_end(params["id"])
        self.ends[end] += 1
        self.assertEqual(told, end, "what the sender was told")
        if "result" in answer:
            self.assertEqual(answer["result"]["status"]["state"], end, "what the canceller was told")
            self.assertEqual(end, "canceled")
        else:
            self.assertEqual(answer["error"]["code"], -32002)
            self.assertEqual(end, "completed")

    async def cancel_until_known(self, task):
        while True:
            answer = await aclient.call(self.port, "counter", "tasks/cancel", {"id": task})
            if answer.get("error", {}).get("code") != -32001:
                return answer

    async def sent_end(self, params):
        answer = await aclient.call(self.port, "counter", "tasks/send", params)
        return answer["result"]["status"]["state"]

    async def streamed_end(self, params):
        blocks = [block async for block in aclient.stream(self.port, "counter", "tasks/sendSubscribe", params)]
        self.assertTrue(blocks[-1][1]["final"])
        return blocks[-1][1]["status"]["state"]

    async def only_end(self, task):
        """The task's terminal event, of which there must be one, at the end of its log."""
        blocks = [block async for block in
                  aclient.stream(self.port, "counter", "tasks/resubscribe", {"id": task}, 0)]
        self.assertEqual([number for number, _ in blocks], list(range(1, len(blocks) + 1)))
        ends = [(number, result["status"]["state"]) for number, result in blocks
                if result and result.get("status", {}).get("state") in ENDED]
        self.assertEqual(len(ends), 1, ends)
        got = await aclient.call(self.port, "counter", "tasks/get", {"id": task})
        self.assertEqual(got["result"]["status"]["state"], ends[0][1])
        return ends[0][1]


if __name__ == "__main__":
    unittest.main()
