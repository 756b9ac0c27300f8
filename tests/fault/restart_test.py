"""Restarts the server ten times within a minute under load, as upgrades do, and counts the errors of clients that retry
three times, after 1, 2 and 4 seconds: there are none.

BATON_RESTARTS and BATON_RESTART_CLIENTS set the number of restarts and of clients. In the ring "whole" there are four
restarts, at the same pace.
"""
import asyncio
import json
import os
import pathlib
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import aclient
import client
import harness
import rings

RESTARTS = int(os.environ.get("BATON_RESTARTS", "4" if rings.WHOLE else "10"))
CLIENTS = int(os.environ.get("BATON_RESTART_CLIENTS", "32"))
PAUSES = (1, 2, 4)
SECONDS = 24 if rings.WHOLE else 60
# Turns of `counter` take a while: some are running when the program is asked to stop.
AGENTS = ["echo", "counter", "cat"]


def say(text):
    print(f"   restart test: {text}", flush=True)


class Unwell(Exception):
    """The server answered that it is not available now."""


class RestartTest(unittest.TestCase):
    def test_clients_with_three_retries_see_no_error_over_ten_restarts_a_minute(self):
        self.server = harness.Server(AGENTS, {"log": {"level": "warn"}})
        self.addCleanup(self.server.discard)
        self.server.start()
        asyncio.run(self.run_all())

    async def run_all(self):
        self.going, self.errors, self.retries, self.tasks, self.slowest = True, [], 0, {}, 0
        clients = [asyncio.create_task(self.keep_sending(number)) for number in range(CLIENTS)]
        begin = time.monotonic()
        for number in range(RESTARTS):
            # At a steady pace: ten in a minute.
            await asyncio.sleep(max(0, begin + (number + 0.5) * SECONDS / RESTARTS - time.monotonic()))
            await asyncio.to_thread(self.restart)
        took = time.monotonic() - begin
        await asyncio.sleep(1)
        self.going = False
        await asyncio.gather(*clients)
        say(f"{RESTARTS} restarts in {took:.0f} s, each of {self.slowest:.1f} s at most; {len(self.tasks)} sends by "
            f"{CLIENTS} clients, {self.retries} tries again, {len(self.errors)} errors")
        self.assertEqual(self.errors[:5], [])
        self.assertGreater(self.retries, 0, "the restarts were not under load")
        self.assertLess(took, client.scaled(SECONDS * 1.5))
        # Each message became one task, however often it was sent.
        self.assertEqual(len(set(self.tasks.values())), len(self.tasks))

    def restart(self):
        begin = time.monotonic()
        self.server.close()
        self.assertEqual(self.server.stop(), 0)
        self.server.start()
        self.slowest = max(self.slowest, time.monotonic() - begin)

    async def keep_sending(self, number):
        count = 0
        while self.going:
            count += 1
            message = {"messageId": f"m-{number}-{count}", "role": "ROLE_USER", "parts": [{"text": "2"}]}
            agent = AGENTS[count % len(AGENTS)]
            sent = await self.with_retries(agent, "SendMessage", {"message": message})
            if sent is None:
                continue
            task = sent["task"]["id"]
            self.tasks[message["messageId"]] = task
            got = await self.with_retries(agent, "GetTask", {"id": task})
            if got is not None and got["id"] != task:
                self.errors.append(f"another task came: {got}")

    async def with_retries(self, agent, method, params):
        for pause in (*PAUSES, None):
            try:
                return await self.once(agent, method, params)
            except (aclient.Lost, Unwell, asyncio.TimeoutError, ValueError) as problem:
                if pause is None:
                    self.errors.append(f"{method}: {type(problem).__name__} {problem}")
                    return None
                self.retries += 1
                await asyncio.sleep(client.scaled(pause))

    async def once(self, agent, method, params):
        async def answer_of():
            body = aclient.envelope(method, params)
            async with aclient.Connection(self.server.port, f"/agents/{agent}", body,
                                          {"A2A-Version": "1.0"}) as connection:
                return connection.status, b"".join([piece async for piece in connection.pieces()])
        status, raw = await asyncio.wait_for(answer_of(), client.scaled(30))
        if status != 200:
            raise Unwell(f"HTTP {status} {raw[:200]}")
        answer = json.loads(raw)
        if "error" in answer:
            raise Unwell(str(answer["error"]))
        return answer["result"]
