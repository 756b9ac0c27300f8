"""The cost of traces for a send: its CPU if a tenth of the traces goes to a collector, compared with no traces."""
import contextlib
import statistics

import a2a
import collector
import load
from samples import number, table
from servers import Baton

CONNECTIONS = 64


class Traced(Baton):
    """The program, sending its spans to a collector."""

    def __init__(self, places, endpoint, **how):
        super().__init__(places, name="Baton, traced", **how)
        self.endpoint = endpoint

    def command(self):
        return super().command() + ["--traces-endpoint", self.endpoint, "--traces-ratio", "0.1"]


def cpu_of_send(context, servers):
    """Returns the CPU microseconds of each server per send. They alternate, so that other load affects both."""
    used, sent = ({server: 0.0 for server in servers} for _ in range(2))
    for server in (servers + servers[::-1]) * context.scaled(2, 1):
        before = server.cpu_seconds()
        result = load.wrk(server, a2a.send("1.0", "Hello, world"), CONNECTIONS, 1)
        if result["failures"]:
            raise RuntimeError(f"{server.name}: sends fail: {result}")
        used[server] += server.cpu_seconds() - before
        sent[server] += result["count"]
    return [used[server] / sent[server] * 1e6 for server in servers]


def run(context):
    pairs = context.scaled(9, 1)
    # With 202 the collector does not look at the spans it accepts.
    forgetful = collector.Collector(lambda count: (202, {}, b"{}"))
    with (contextlib.closing(forgetful), Baton(context.places) as plain,
          Traced(context.places, forgetful.url) as traced):
        cpu_of_send(context, [plain, traced])  # warms up
        found = []
        for nth in range(pairs):
            context.say(f"sends with and without traces, pair {nth + 1} of {pairs}")
            found.append(cpu_of_send(context, [plain, traced]))
        sent = traced.metric('baton_spans_total{outcome="sent"}')
    if sent == 0:
        raise RuntimeError("the traced server has sent no span")
    report(context, found, sent)


def report(context, found, sent):
    plain, traced = (statistics.median(pair[i] for pair in found) for i in (0, 1))
    more = statistics.median(pair[1] / pair[0] for pair in found) - 1
    context.section("CPU of a send with traces",
                    table(["traces", "CPU µs a send"], [["none", number(plain)], ["a tenth", number(traced)]]),
                    f"Medians of {len(found)} pairs, in each of which the servers took turns; {sent:,.0f} spans.")
    context.target("CPU of a send with a tenth of the traces kept", "at most 3 % more", f"{more:+.1%}", more <= 0.03)
