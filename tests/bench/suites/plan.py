"""What plans cost: three steps in a row, a hundred at the same time, plans that wait, and a large map.
Published elsewhere: three activities of Temporal in about 850 ms (265 ms at best), three steps of Restate in about
50 ms."""
import json
import time

import a2a
import load
from samples import Samples, number, rate_with_spread, table
from servers import Baton, settled_kib

ECHO = {"agent": "echo", "input": "Hello, world"}
PLANS = {
    "three": {"sequence": [ECHO, ECHO, ECHO]},
    "hundred": {"map": ECHO, "over": list(range(100)), "concurrency": 100},
    "wait": {"wait": {"seconds": 3600}},
    "thousand": {"map": ECHO, "over": list(range(1000)), "concurrency": 50},
}
THREE_MS, HUNDRED_MS, PLANS_A_SECOND, WAIT_KIB = 15, 80, 2000, 8


class Planned(Baton):
    """A Baton whose agents are also plans over its echo."""

    def __init__(self, places):
        super().__init__(places, name="plans")
        for name, plan in PLANS.items():
            folder = self.agents / name
            folder.mkdir()
            card = json.loads((self.agents / "echo/card.json").read_text(encoding="utf-8"))
            card["baton"] = {"executor": "workflow", "plan": {**plan, "show_results": False}}
            (folder / "card.json").write_text(json.dumps(card), encoding="utf-8")


def measured(context, server, agent, connections):
    samples = Samples()
    for _ in range(context.rounds):
        context.say(f"plan {agent}, {connections} connections")
        result = load.wrk(server, a2a.send("1.0", "go"), connections, context.seconds, path=f"/agents/{agent}/")
        if result["failures"]:
            raise RuntimeError(f"plans fail: {result}")
        samples.append(result | {"rate": result.rate})
    return samples


def waiting_kib(server, count):
    """Memory of each of many plans that wait."""
    with a2a.Caller(server, "1.0") as caller:
        caller.path = "/agents/wait/"
        before = settled_kib(server)
        for index in range(count):
            caller.task(a2a.send("1.0", "go", waits=False, message_id=f"wait-{index}"))
        return (settled_kib(server) - before) / count


def run(context):
    rows = []
    with Planned(context.places) as server:
        for agent, connections in (("three", 1), ("three", 64), ("hundred", 1)):
            samples = measured(context, server, agent, connections)
            p50, rate = samples.median("p50_ms"), samples.median("rate")
            rows.append([agent, connections, rate_with_spread(samples), number(p50), number(samples.median("p99_ms"))])
            if (agent, connections) == ("three", 1):
                context.target("a plan of three local steps, p50", f"at most {THREE_MS} ms", f"{number(p50)} ms",
                               p50 <= THREE_MS)
            elif agent == "three":
                context.target("plans of three steps a second, 64 connections", f"at least {PLANS_A_SECOND}",
                               number(rate), rate >= PLANS_A_SECOND)
            else:
                context.target("a hundred steps at the same time and their join, p50", f"at most {HUNDRED_MS} ms",
                               f"{number(p50)} ms", p50 <= HUNDRED_MS)
        begun = time.monotonic()
        with a2a.Caller(server, "1.0") as caller:
            caller.path = "/agents/thousand/"
            caller.task(a2a.send("1.0", "go", message_id="thousand"))
        rows.append(["thousand, 50 at once", 1, "", number((time.monotonic() - begun) * 1000), ""])
        count = context.scaled(10_000, 200)
        kib = waiting_kib(server, count)
        context.target(f"memory of each of {count} plans that wait", f"at most {WAIT_KIB} KiB", f"{number(kib)} KiB",
                       kib <= WAIT_KIB)
    context.section("Plans", table(["plan", "connections", "per second", "p50 ms", "p99 ms"], rows))
