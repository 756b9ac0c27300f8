"""What thousands of idle streams on each of several nodes cost: memory, and statements to the database."""
import concurrent.futures
import contextlib
import time

import a2a
import cluster
import load
from samples import number, table
from servers import settled_kib
from suites.crowds import held_task
from suites.node_deaths import Node
from wire import Wire

WANTED_KIB, WANTED_STATEMENTS = 4, 1


def one_task(nodes):
    """The bodies of streams that follow one task, whose turn is the first node's."""
    with a2a.Caller(nodes[0], "1.0") as caller:
        task = held_task(caller)
    return [a2a.subscribe("1.0", task)] * len(nodes)


def own_tasks(nodes):
    """Of streams that have a task of their own each, with a turn at the node that is asked."""
    for index, node in enumerate(nodes):
        with a2a.Caller(node, "1.0") as caller:
            caller.task(a2a.send("1.0", "Hello", message_id=f"warm-{index}"))
    return [a2a.send("1.0", "hold", stream=True)] * len(nodes)


def at_once(work, *items):
    with concurrent.futures.ThreadPoolExecutor(len(items[0])) as threads:
        return list(threads.map(work, *items))


def statements(wires, seconds):
    """A second, of each."""
    before = [wire.count() for wire in wires]
    time.sleep(seconds)
    return [(wire.count() - count) / seconds for wire, count in zip(wires, before)]


def measure(context, bodies_of, count):
    """A row for each node."""
    seconds = context.scaled(60, 3)  # what is followed is said anew every 20 seconds
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(cluster.fresh_database())
        wires = [stack.enter_context(Wire(url)) for _ in range(context.nodes)]
        nodes = [Node(context.places, f"node-{index}", wire.url) for index, wire in enumerate(wires)]
        for node in nodes:
            stack.callback(lambda node=node: (node.end(), node.discard()))
            node.start()
        bodies = bodies_of(nodes)
        before = at_once(settled_kib, nodes)
        still = statements(wires, context.scaled(10, 2))
        crowds = [stack.enter_context(crowd)
                  for crowd in at_once(load.Crowd, nodes, bodies, [count] * len(nodes))]
        at_once(lambda crowd: crowd.await_events(1), crowds)  # the task as it is
        resident = at_once(settled_kib, nodes)
        asked = statements(wires, seconds)
        for node, crowd in zip(nodes, crowds):
            if crowd.lost:
                raise RuntimeError(f"{node.name} lost {crowd.lost} of {count} streams")
    return [{"node": node.name, "kib": (after - kib) / count, "still": idle, "asked": busy, "more": busy - idle}
            for node, kib, after, idle, busy in zip(nodes, before, resident, still, asked)]


def run(context):
    count, rows = context.scaled(10_000, 100), []
    for title, bodies_of in (("all on one task of node-0", one_task), ("each on a task of its own", own_tasks)):
        context.say(f"{count} idle streams on each of {context.nodes} nodes, {title}")
        found = measure(context, bodies_of, count)
        rows += [[title, one["node"], number(one["kib"]), number(one["still"]), number(one["asked"]), number(one["more"])]
                 for one in found]
        for figure, what, unit, wanted in (("kib", "memory each", "KiB", WANTED_KIB),
                                           ("more", "statements for them, a second and node", "", WANTED_STATEMENTS)):
            most = max(one[figure] for one in found)
            context.target(f"{count:,} idle streams on each of {context.nodes} nodes, {title}: {what}",
                           f"at most {wanted} {unit}".strip(), f"{number(most)} {unit}".strip(), most <= wanted)
    context.section(
        f"{count:,} idle streams on each of {context.nodes} nodes",
        "Statements that each node sends to PostgreSQL, counted between the two, a second: before there are any streams, and "
        "with them. Memory is the program's own, without its agents.",
        table(["streams", "node", "KiB each", "statements/s without", "with", "for them"], rows))
