"""Several Batons on one PostgreSQL compared with one, and an estimate for larger numbers. The database, the nodes and
the load share the machine's cores, so only ratios, CPU and bytes per task are meaningful."""
import concurrent.futures
import contextlib
import os
import statistics
import time

import cluster
import load
from samples import Samples, number, rate_with_spread, table, times
from servers import EmbeddedBaton
from suites.throughput import Case

CONNECTIONS = 64
WANTED_CPU = 1.15
MAX_RATE = "nodes: most sends a second"  # in Context.known, for later suites


class Group:
    """Nodes with the agent inside, on their own database."""

    def __init__(self, places, stack, count):
        self.url = stack.enter_context(cluster.fresh_database())
        self.nodes = [stack.enter_context(EmbeddedBaton(places, name=f"node {index + 1}", database=self.url))
                      for index in range(count)]
        self.cases = [Case("send", node) for node in self.nodes]

    def send(self, case, each, seconds, pause_ms):
        used = case.server.cpu_seconds()
        found = load.wrk(case.server, case.body, each, seconds, pause_ms=pause_ms)
        if found["failures"] or found["bytes"] < 0.85 * case.size * found["count"]:
            raise RuntimeError(f"{case.server.name}: {found['failures']} of {found['count']} sends failed, or are small")
        return found | {"rate": found.rate, "cpu_s": case.server.cpu_seconds() - used}

    def measure(self, meter, each, seconds, pause_ms=None):
        """Measures blocking sends over `each` connections at each node. For the pause see load.wrk."""
        before = meter.read()
        with concurrent.futures.ThreadPoolExecutor(len(self.cases)) as threads:
            found = list(threads.map(lambda case: self.send(case, each, seconds, pause_ms), self.cases))
        used, count = meter.since(before), sum(one["count"] for one in found)
        return {"count": count, "rate": sum(one["rate"] for one in found),
                "p50_ms": sum(one["p50_ms"] * one["count"] for one in found) / count,
                "p99_ms": max(one["p99_ms"] for one in found),
                "cpu_us": sum(one["cpu_s"] for one in found) * 1e6 / count,
                "database_us": used["cpu_s"] * 1e6 / count, "wal": used["wal"] / count,
                "connections": cluster.connections(meter.session, self.url) / len(self.nodes)}

    def pace(self, meter, rate):
        """Returns the connections at each node, and the pause (see `measure`), for a total rate of sends per second."""
        cycle_ms = 100
        each = max(1, round(rate / len(self.nodes) * cycle_ms / 1000))
        pause = cycle_ms - 10
        answered = each * len(self.nodes) * 1000 / self.measure(meter, each, 2, pause)["rate"] - pause
        return each, max(1, round(cycle_ms - answered))


def idle(meter, group, seconds):
    """Returns the resources that a node and its part of the cluster use per second without requests."""
    own, before = [node.cpu_seconds() for node in group.nodes], meter.read()
    time.sleep(seconds)
    used, each = meter.since(before), 1 / seconds / len(group.nodes)
    return {"cpu": (sum(node.cpu_seconds() for node in group.nodes) - sum(own)) * each,
            "database_cpu": used["cpu_s"] * each, "wal": used["wal"] * each}


def size(session, url):
    return int(session.ask(f"SELECT pg_database_size('{url.rsplit('/', 1)[1]}')")[0])


def measured(context, meter, one, several):
    """Returns {(nodes, connections at each): Samples}, and the bytes of a task in the database."""
    cases = [(one, CONNECTIONS), (several, CONNECTIONS), (several, max(1, CONNECTIONS // context.nodes))]
    for group, each in cases[:2]:
        group.measure(meter, each, context.scaled(3, 1))
    found, before, tasks = {}, size(meter.session, several.url), 0
    for number_of_round in range(context.scaled(max(9, context.rounds), 1)):
        context.say(f"{context.nodes} nodes and one, round {number_of_round + 1}")
        for group, each in cases:
            sample = group.measure(meter, each, context.seconds)
            found.setdefault((len(group.nodes), each), Samples()).append(sample)
            tasks += sample["count"] if group is several else 0
    return found, (size(meter.session, several.url) - before) / tasks


def ratio(found, of, to, figure):
    """Returns the median of the ratios of each round."""
    return statistics.median(mine[figure] / other[figure] for mine, other in zip(found[of], found[to]))


def report_sends(context, found):
    one, full, shared = found
    rows = [[nodes, each, rate_with_spread(samples),
             *(number(samples.median(figure)) for figure in ("p50_ms", "p99_ms", "cpu_us", "database_us", "wal")),
             number(max(samples.of("connections"))), times(ratio(found, (nodes, each), one, "cpu_us")),
             times(ratio(found, (nodes, each), one, "database_us"))]
            for (nodes, each), samples in found.items()]
    context.section(
        f"{context.nodes} nodes and one",
        "Blocking sends to an agent inside the program. CPU of Baton: of all nodes. PostgreSQL's CPU and the WAL are the "
        "whole cluster's. p50 is the mean of the nodes', p99 the highest of them. Ratios are to one node, medians of the "
        "rounds'.",
        table(["nodes", "connections at each", "per second, all", "p50 ms", "p99 ms", "Baton's CPU µs a task",
               "PostgreSQL's CPU µs a task", "WAL bytes a task", "connections to PostgreSQL, each",
               "Baton's CPU to one node", "PostgreSQL's CPU to one node"], rows))
    full_ratio, shared_ratio = (ratio(found, of, one, "cpu_us") for of in (full, shared))
    context.target(f"{context.nodes} nodes to one, {CONNECTIONS} connections at each: Baton's CPU a task",
                   f"at most {WANTED_CPU}x", times(full_ratio), full_ratio <= WANTED_CPU)
    context.say(f"CPU to one node: {full_ratio:.3f}, with the same connections in all: {shared_ratio:.3f}")
    context.known[MAX_RATE] = max(found[full].median("rate"), found[shared].median("rate"))


UNPROVEN = " \\*"
ASSUMED = """Computed for each number of nodes from what {nodes} nodes used at about that rate each (measured: {rates}
sends a second in all; CPU µs a task: Baton {cpu}, PostgreSQL {database_cpu}):

- A task is a blocking send of a short text that is answered at once, by one agent's turn with one artifact. More events,
  longer texts and webhooks cost more; how long an agent takes does not matter.
- A task costs the same with more nodes, and PostgreSQL takes it. Each stream is read at the node that took the send; for
  followers elsewhere there is one `NOTIFY` more for all that is committed at a time.
- A node costs {idle_cpu} % of a core of its own, {idle_database_cpu} % of PostgreSQL's and {idle_wal} bytes of WAL a
  second just by being there, as {nodes} idle nodes do. That is in the rows above.
- Cores are time that is used, on this machine's, without agents, TLS and a proxy: have twice as many. The fewer tasks a
  second, the fewer share a commit, and the more each costs.
- WAL is {wal} KB a task with many of them between two checkpoints. Just after a checkpoint, while pages are written as a
  whole when they are first changed and autovacuum is at work, it was up to {wal_most} KB at these rates;
  PostgreSQL's CPU is of that time. A standby or an archive gets as much. Connections were counted under load.
- {unproven}: more tasks a second than {most}, the most that was measured here, with everything on {cores} cores. One
  PostgreSQL may or may not take them: measure on yours before you rely on it."""


def sizing(context, meter, group, disk, still, wal):
    rows, paced = [], []
    for rate in (100, 1_000):
        context.say(f"{context.nodes} nodes, {rate} sends a second each")
        connections, pause = group.pace(meter, rate * len(group.nodes))
        meter.checkpoint()
        samples = Samples(group.measure(meter, connections, context.scaled(2 * context.seconds, 1), pause)
                          for _ in range(context.rounds))
        each = {figure: samples.median(figure) for figure in ("rate", "cpu_us", "database_us", "connections")}
        each["wal"] = max(samples.of("wal"))
        paced.append(each)
        for nodes in (3, 10, 30):
            tasks = rate * nodes
            rows.append([nodes, f"{rate:,}", f"{tasks:,}" + ("" if tasks <= context.known[MAX_RATE] else UNPROVEN),
                         number(rate * each["cpu_us"] / 1e6), number(tasks * each["database_us"] / 1e6),
                         number(tasks * wal / 1e6), number(tasks * disk * 86_400 / 1e9),
                         f"{nodes * each['connections']:,.0f}"])
    assumed = ASSUMED.format(
        wal=number(wal / 1e3), wal_most=listed(paced, "wal", 1e3), unproven=UNPROVEN.strip(),
        nodes=context.nodes, rates=listed(paced, "rate"), cpu=listed(paced, "cpu_us"),
        database_cpu=listed(paced, "database_us"), idle_cpu=number(still["cpu"] * 100),
        idle_database_cpu=number(still["database_cpu"] * 100), idle_wal=number(still["wal"]),
        most=f"{context.known[MAX_RATE]:,.0f}", cores=os.cpu_count())
    context.section("Sizing", table(["nodes", "tasks a second, each", "all", "cores of each node", "cores of PostgreSQL",
                                     "WAL MB/s", "GB a day, if all is kept", "connections to PostgreSQL"],
                                    rows), assumed)


def listed(samples, figure, unit=1):
    return " and ".join(number(sample[figure] / unit) for sample in samples)


def run(context):
    with contextlib.ExitStack() as stack:
        meter = cluster.Meter(stack.enter_context(cluster.Session(cluster.server())))
        several = Group(context.places, stack, context.nodes)
        still = idle(meter, several, context.scaled(10, 1))
        one = Group(context.places, stack, 1)
        found, disk = measured(context, meter, one, several)
        report_sends(context, found)
        sizing(context, meter, several, disk, still, found[context.nodes, CONNECTIONS].median("wal"))
