"""This checkout next to another one (--against), in pairs: the servers of both take turns, measurement after
measurement, so that a drift of the machine affects both alike. A row is the median of the pairs' ratios."""
import contextlib
import statistics

from machine import first_line
from samples import Samples, number, table
from servers import Baton, EmbeddedBaton
from suites import models
from suites.throughput import CASES, INSIDE, SHIPPED, Case

# A case, its server, and the connections.
ROWS = [("send", INSIDE, 1), ("send", INSIDE, 16), ("send", INSIDE, 64), ("send", SHIPPED, 1), ("send", SHIPPED, 64),
        ("get", INSIDE, 64), ("card", INSIDE, 64), ("stream", INSIDE, 64), ("stream", SHIPPED, 64)]
SLOW_FLUSH_MS = 1
MODELS = [(100, 10), (500, 10)]


def ratios(mine, others, name):
    return [a[name] / b[name] for a, b in zip(mine, others, strict=True) if b[name]]


def spread(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})" if values else "-"


def paired(context, what, measures):
    """Returns the samples of both sides. `measures`: this checkout's function and the other's."""
    found = (Samples(), Samples())
    for nth in range(context.rounds):
        context.say(f"{what}, pair {nth + 1} of {context.rounds}")
        for side in ((0, 1), (1, 0))[nth % 2]:
            found[side].append(measures[side]())
    return found


def throughput_row(context, name, server, connections, slow_flush_ms=0.0):
    kind = EmbeddedBaton if server == INSIDE else Baton
    with contextlib.ExitStack() as stack:
        cases = [Case(name, stack.enter_context(kind(places, name=server, slow_flush_ms=slow_flush_ms)))
                 for places in (context.places, context.other)]
        for case in cases:
            case.measure(min(connections, 16), 1 if context.quick else 3)
        what = f"{CASES[name].lower()}, {server}" + (f", each flush {slow_flush_ms:g} ms longer" if slow_flush_ms else "")
        mine, others = paired(context, f"{what}, {connections}",
                              [lambda case=case: case.measure(connections, context.seconds) for case in cases])
    return [what, connections, f"{number(mine.median('rate'))}/s", spread(ratios(mine, others, "rate")),
            spread(ratios(mine, others, "cpu_us")), spread(ratios(mine, others, "p99_ms"))]


def model_row(context, turns, pace):
    mine, others = paired(context, f"models, {turns} turns",
                          [lambda places=places: models.measure(context, turns, pace, places=places)
                           for places in (context.places, context.other)])
    return [f"tokens of {turns} turns of a model", turns, f"{number(mine.median('us'))} µs", "",
            spread(ratios(mine, others, "us")), spread(ratios(mine, others, "p99_ms"))]


def run(context):
    rows = [throughput_row(context, *row) for row in context.scaled(ROWS, ROWS[:1])]
    if not context.quick:
        rows.append(throughput_row(context, "send", INSIDE, 64, SLOW_FLUSH_MS))
    rows += [model_row(context, *row) for row in context.scaled(MODELS, [])]
    commit = first_line("git", "-C", str(context.other.root), "rev-parse", "--short", "HEAD")
    context.section(f"This checkout, to commit {commit}", table(
        ["what", "connections or turns", "here", "rate, to the other", "CPU of each", "p99"], rows))
