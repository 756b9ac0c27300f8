"""The cost of plans: three steps in a row, a hundred plans at the same time, waiting plans, a large map, and a small
task beside two hundred large maps on one of two CPUs.
Published elsewhere: three activities of Temporal in about 850 ms (265 ms at best), three steps of Restate in about
50 ms."""
import json
import statistics
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
THREE_MS, HUNDRED_MS, PLANS_A_SECOND, WAIT_KIB, BESIDE_MS = 15, 80, 2000, 8, 20


class Planned(Baton):
    """A Baton with additional agents that are plans over its echo."""

    def __init__(self, places, name="plans", **how):
        super().__init__(places, name, **how)
        for name, plan in PLANS.items():
            folder = self.agents / name
            folder.mkdir()
            card = json.loads((self.agents / "echo/card.json").read_text(encoding="utf-8"))
            card["baton"] = {"executor": "workflow", "plan": {**plan, "show_results": False}}
            (folder / "card.json").write_text(json.dumps(card), encoding="utf-8")


class HalfPlanned(Planned):
    """The same Baton on one of the machine's CPUs."""

    def command(self):
        return ["taskset", "--cpu-list", "0", *super().command()]


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
    """Returns the memory of each of many waiting plans, in a server that has not handled large tasks."""
    with a2a.Caller(server, "1.0") as caller:
        caller.path = "/agents/wait/"
        for index in range(50):
            caller.task(a2a.send("1.0", "go", waits=False, message_id=f"first-{index}"))
        before = settled_kib(server)
        for index in range(count):
            caller.task(a2a.send("1.0", "go", waits=False, message_id=f"wait-{index}"))
        return (settled_kib(server) - before) / count


def beside_parents(server, parents):
    """Returns, for small tasks of the same caller beside many large plans, the milliseconds until the turn begins (by
    the task's stream) and until the task is done."""
    begins, ends = [], []
    with a2a.Caller(server, "1.0") as caller:
        caller.path = "/agents/thousand/"
        for index in range(parents):
            caller.task(a2a.send("1.0", "go", waits=False, message_id=f"parent-{index}"))
        caller.path = server.path
        while server.metric('baton_tasks_total{state="completed"}') < parents * 500:
            sent = time.perf_counter()
            stream = caller.stream(a2a.send("1.0", "Hello, world", stream=True, message_id=f"small-{len(ends)}"))
            states = {state: (time.perf_counter() - sent) * 1000 for state in stream}
            begins.append(states["TASK_STATE_WORKING"])
            ends.append(states["TASK_STATE_COMPLETED"])
            time.sleep(0.005)
    return begins, ends


def run_plans(context):
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
    return rows


def run(context):
    rows = run_plans(context)
    with Planned(context.places) as server:
        count = context.scaled(10_000, 200)
        kib = waiting_kib(server, count)
        context.target(f"memory of each of {count} plans that wait", f"at most {WAIT_KIB} KiB", f"{number(kib)} KiB",
                       kib <= WAIT_KIB)
    with HalfPlanned(context.places) as server:
        parents = context.scaled(200, 4)
        context.say(f"a small task beside {parents} plans of a thousand children")
        begins, ends = beside_parents(server, parents)
        for name, took in (("begins", begins), ("is done", ends)):
            rows.append([f"echo beside {parents} plans of a thousand children, one CPU, until it {name}", 1, "",
                         number(statistics.median(took)), number(statistics.quantiles(took, n=100)[98])])
        p99 = statistics.quantiles(begins, n=100)[98]
        context.target(f"beside {parents} plans of a thousand children, one CPU: a small task's wait, p99",
                       f"at most {BESIDE_MS} ms", f"{number(p99)} ms", p99 <= BESIDE_MS)
    context.section("Plans", table(["plan", "connections", "per second", "p50 ms", "p99 ms"], rows))
