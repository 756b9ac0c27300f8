"""Cancels tasks at random moments around their completion: each has exactly one end, and every client was shown that
one. BATON_CANCEL_TASKS sets the number of tasks."""
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
        with harness.Server(["echo", "counter"], {"log": {"level": "warn"}}) as server:
            self.port = server.port
            asyncio.run(self.race())

    async def race(self):
        self.random = random.Random(SEED)
        self.durations = {"echo": [], "counter": []}
        await asyncio.gather(*(self.timed(self.sent_end, agent, self.params(agent))
                               for agent in self.durations for _ in range(AT_ONCE // 2)))
        self.ends = {"completed": 0, "canceled": 0}
        todo = iter(range(TASKS))

        async def actor():
            for number in todo:
                await self.one("echo" if number % 4 < 3 else "counter", by_stream=number % 2 == 0)
        await asyncio.gather(*(actor() for _ in range(AT_ONCE)))
        print(f"   cancel race: {self.ends}", flush=True)
        self.assertEqual(sum(self.ends.values()), TASKS)
        for state, count in self.ends.items():
            self.assertGreaterEqual(count, TASKS // 20, f"too few {state}: the moments were not around completion")

    @staticmethod
    def params(agent):
        """Returns the params of a short task, for an agent that reacts to a cancel or for one that is done before it
        would."""
        text = {"echo": "a b c d e", "counter": "20"}[agent]
        message = {"role": "user", "parts": [{"type": "text", "text": text}], "metadata": {"delay_ms": 4}}
        return {"id": str(uuid.uuid4()), "message": message}

    async def timed(self, send, agent, params):
        began = time.monotonic()
        end = await send(agent, params)
        if end == "completed":
            self.durations[agent].append(time.monotonic() - began)
        return end

    async def one(self, agent, by_stream):
        params = self.params(agent)
        sending = asyncio.create_task(self.timed(self.streamed_end if by_stream else self.sent_end, agent, params))
        # Concurrent tasks slow each other down, so the moment is drawn from the durations of the latest ones, and moved
        # towards the end that has been rarer.
        lean = min(2 * (self.ends["canceled"] + 1) / (self.ends["completed"] + 1), 4)
        await asyncio.sleep(self.random.uniform(0, lean * statistics.median(self.durations[agent][-20:])))
        answer = await aclient.call(self.port, agent, "tasks/cancel", {"id": params["id"]})
        if answer.get("error", {}).get("code") == -32001:  # it had not arrived yet
            await asyncio.sleep(0)
            answer = await self.cancel_until_known(agent, params["id"])
        told = await sending
        end = await self.only_end(agent, params["id"])
        self.ends[end] += 1
        self.assertEqual(told, end, "what the sender was told")
        if "result" in answer:
            self.assertEqual(answer["result"]["status"]["state"], end, "what the canceller was told")
            self.assertEqual(end, "canceled")
        else:
            self.assertEqual(answer["error"]["code"], -32002)
            self.assertEqual(end, "completed")

    async def cancel_until_known(self, agent, task):
        while True:
            answer = await aclient.call(self.port, agent, "tasks/cancel", {"id": task})
            if answer.get("error", {}).get("code") != -32001:
                return answer

    async def sent_end(self, agent, params):
        answer = await aclient.call(self.port, agent, "tasks/send", params)
        return answer["result"]["status"]["state"]

    async def streamed_end(self, agent, params):
        blocks = [block async for block in aclient.stream(self.port, agent, "tasks/sendSubscribe", params)]
        self.assertTrue(blocks[-1][1]["final"])
        return blocks[-1][1]["status"]["state"]

    async def only_end(self, agent, task):
        """Returns the state of the task's terminal event. Asserts that there is one, at the end of its log."""
        blocks = [block async for block in
                  aclient.stream(self.port, agent, "tasks/resubscribe", {"id": task}, 0)]
        self.assertEqual(aclient.covered(blocks), list(range(1, blocks[-1][0] + 1)))
        ends = [(number, result["status"]["state"]) for number, result in blocks
                if result and result.get("status", {}).get("state") in ENDED]
        self.assertEqual(len(ends), 1, ends)
        got = await aclient.call(self.port, agent, "tasks/get", {"id": task})
        self.assertEqual(got["result"]["status"]["state"], ends[0][1])
        return ends[0][1]


if __name__ == "__main__":
    unittest.main()
