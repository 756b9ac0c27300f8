"""Opens many tasks/sendSubscribe streams on one server, lets all tasks end, and checks that every stream got every
event. Measures the server process on the way."""
import asyncio
import pathlib
import resource
import sys
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import aclient
import harness

STEPS = 5


def raise_file_limit(needed):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < needed:
        limit = needed if hard == resource.RLIM_INFINITY else min(hard, max(needed, soft))
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
        soft = limit
    if soft < needed:
        raise SystemExit(f"{needed} open files are needed, {soft} are allowed (ulimit -n)")


class Stream:
    def __init__(self, port):
        self.port = port
        self.task = str(uuid.uuid4())
        self.blocks = []
        self.begun = asyncio.Event()

    async def run(self):
        message = {"role": "user", "parts": [{"type": "text", "text": f"progress {STEPS}"}]}
        async for number, result in aclient.stream(self.port, "slow", "tasks/sendSubscribe",
                                                   {"id": self.task, "message": message}):
            self.blocks.append((number, result))
            if result and f"step {STEPS - 1}" in str(result.get("status", {}).get("message")):
                self.begun.set()

    def is_complete(self):
        """True if the numbers are 1..N without gap or repeat, with every step and one end."""
        if aclient.covered(self.blocks) != list(range(1, self.blocks[-1][0] + 1)):
            return False
        shown = [result for _, result in self.blocks]
        steps = [str(result["status"].get("message")) for result in shown if "status" in result]
        told = [number for number in range(STEPS) if any(f"step {number}'" in step for step in steps)]
        return told == list(range(STEPS)) and shown[-1]["status"]["state"] == "completed" and shown[-1]["final"]


def figures(server):
    return {"threads": server.threads(), "resident_mib": server.resident_kib() // 1024}


async def open_and_finish(server, count):
    found = {"before": figures(server)}
    streams = [Stream(server.port) for _ in range(count)]
    began = time.monotonic()
    running = []
    for first in range(0, count, 250):  # in batches, so that the listener's backlog is not measured
        batch = streams[first:first + 250]
        running += [asyncio.create_task(stream.run()) for stream in batch]
        await asyncio.gather(*(stream.begun.wait() for stream in batch))
    found["open_s"] = round(time.monotonic() - began, 1)
    found["all_open"] = figures(server)
    began = time.monotonic()
    server.gate("slow", "all")
    await asyncio.gather(*running)
    found["finish_s"] = round(time.monotonic() - began, 1)
    found["after"] = figures(server)
    found["complete"] = sum(stream.is_complete() for stream in streams)
    found["events"] = sum(len(stream.blocks) for stream in streams)
    return found


def run(count):
    raise_file_limit(2 * count + 500)
    config = {"engine": {"slots": count + 10, "queue_max": count + 10}, "log": {"level": "warn"}}
    with harness.Server(["slow"], config) as server:
        return asyncio.run(asyncio.wait_for(open_and_finish(server, count), harness.client.scaled(300)))
