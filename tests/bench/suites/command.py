"""Agents that are programs: workers that run many turns, and a process for each turn, compared with the bare start of
that process."""
import json
import subprocess

import a2a
import load
from samples import Samples, number, rate_with_spread, table, times
from servers import Baton

LINE = json.dumps({"type": "turn", "message": {"parts": [{"text": "Hello, world"}]}})


def bare_starts(context, parallel):
    places = context.places
    folder = places.bench / "agents/turn"
    command = json.loads((folder / "card.json").read_text(encoding="utf-8"))["baton"]["command"]
    run = subprocess.run([places.program("baton_bench_process_start"), str(parallel), str(context.seconds), folder,
                          LINE, *command], capture_output=True, text=True, timeout=120, check=True)
    found = load.Result(json.loads(run.stdout))
    if found["failures"]:
        raise RuntimeError(f"{found['failures']} processes failed")
    return found | {"rate": found.rate}


def turns(context, server, connections):
    found = load.wrk(server, a2a.send("1.0", "Hello, world"), connections, context.seconds)
    if found["failures"] or found["bytes"] < 300 * found["count"]:
        raise RuntimeError(f"{server.name}: turns fail: {found}")
    return found | {"rate": found.rate}


def run_workers(context):
    rows = []
    with Baton(context.places, name="shipped echo, word by word") as shipped, \
            Baton(context.places, name="plain echo", agent="deeds") as plain:
        for connections in (64, 256):
            found = {server.name: Samples() for server in (shipped, plain)}
            for _ in range(context.rounds):
                for server in (shipped, plain):
                    context.say(f"workers, {connections} connections, {server.name}")
                    found[server.name].append(turns(context, server, connections))
            rows += [[name, connections, rate_with_spread(samples), number(samples.median("p50_ms")),
                      number(samples.median("p99_ms"))] for name, samples in found.items()]
            if connections == 64:
                for name, samples in found.items():
                    context.figure("turns by 2 workers in Python", name, connections,
                                   f"{number(samples.median('rate'))}/s, p99 {number(samples.median('p99_ms'))} ms")
                best = found[shipped.name].median("rate")
                context.target("turns of the shipped echo, Python, 2 workers", "at least 4,000/s", f"{number(best)}/s",
                               best >= 4000)
    context.section("Turns by 2 workers in Python", table(["agent", "connections", "per second", "p50 ms", "p99 ms"],
                                                          rows))


def run_processes(context):
    rows, worst = [], 0.0
    with Baton(context.places, agent="turn") as server:
        for parallel in (2, 8):
            bare, mine = Samples(), Samples()
            for _ in range(context.rounds):
                context.say(f"a process for each turn, {parallel} side by side")
                bare.append(bare_starts(context, parallel))
                mine.append(turns(context, server, parallel))
            ratio = bare.median("rate") / mine.median("rate")
            worst = max(worst, ratio)
            rows.append([parallel, rate_with_spread(bare), rate_with_spread(mine), times(ratio)])
    context.section("A Python process for each turn", table(
        ["side by side", "bare processes per second", "turns per second", "time of a turn to a bare process"], rows))
    context.target("a turn in a process of its own to the bare process", "at most 1.3x", times(worst), worst <= 1.3)


def run(context):
    run_workers(context)
    run_processes(context)
