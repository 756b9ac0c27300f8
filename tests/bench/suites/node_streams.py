"""The cost of thousands of idle streams on each of several nodes: memory, and statements to the database."""
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

WANTED_KIB, WANTED_QUERIES = 4, 1
FIGURES = ("kib", "still", "asked", "queries", "notices")
NOTICE = b"pg_notify("
TOGETHER = 500


def one_task(nodes):
    """Returns the bodies of streams that follow one task, whose turn runs on the first node."""
    with a2a.Caller(nodes[0], "1.0") as caller:
        task = held_task(caller)
    return [a2a.subscribe("1.0", task)] * len(nodes)


def own_tasks(nodes):
    """Returns the bodies of streams that each have their own task, with a turn on the stream's node."""
    for index, node in enumerate(nodes):
        with a2a.Caller(node, "1.0") as caller:
            caller.task(a2a.send("1.0", "Hello", message_id=f"warm-{index}"))
    return [a2a.send("1.0", "hold", stream=True)] * len(nodes)


def at_once(work, *items):
    with concurrent.futures.ThreadPoolExecutor(len(items[0])) as threads:
        return list(threads.map(work, *items))


def open_streams(stack, node, body, count):
    """Opens streams in batches so small that none is refused, because each begins with a read of the database."""
    for first in range(0, count, TOGETHER):
        crowd = stack.enter_context(load.Crowd(node, body, min(TOGETHER, count - first)))
        crowd.await_events(1)  # the task as it is
        if crowd.lost:
            raise RuntimeError(f"{node.name} lost {crowd.lost} of {crowd.count} streams")


def asked_during(wires, seconds):
    """Returns the number of each statement, for each node."""
    before = [wire.asked() for wire in wires]
    time.sleep(seconds)
    return [wire.asked() - asked for wire, asked in zip(wires, before)]


def more(still, still_s, asked, asked_s):
    """Returns (queries, notices) a second that are new or more frequent than before. Ignores statements that became
    rarer, and differences that two measurements of the same load may have."""
    found = [0.0, 0.0]
    for text, count in asked.items():
        # A statement that comes once a second may come once more than there are seconds.
        grown = (count - 1) / asked_s - still[text] / still_s
        if NOTICE in text or grown > 2 / still_s:
            found[NOTICE in text] += max(0.0, grown)
    return found


def measure(context, bodies_of, count):
    """Returns a row for each node."""
    still_s, asked_s = context.scaled((20, 60), (1, 2))  # nodes repeat which tasks they follow every 20 seconds
    memory = context.scaled(settled_kib, Node.resident_kib)
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(cluster.fresh_database())
        wires = [stack.enter_context(Wire(url)) for _ in range(context.nodes)]
        nodes = [Node(context.places, f"node-{index}", wire.url) for index, wire in enumerate(wires)]
        for node in nodes:
            stack.callback(lambda node=node: (node.end(), node.discard()))
            node.start()
        bodies = bodies_of(nodes)
        before = at_once(memory, nodes)
        still = asked_during(wires, still_s)
        at_once(lambda node, body: open_streams(stack, node, body, count), nodes, bodies)
        resident = at_once(memory, nodes)
        asked = asked_during(wires, asked_s)
    rows = []
    for node, kib, after, idle, busy in zip(nodes, before, resident, still, asked):
        queries, notices = more(idle, still_s, busy, asked_s)
        rows.append({"node": node.name, "kib": (after - kib) / count, "still": idle.total() / still_s,
                     "asked": busy.total() / asked_s, "queries": queries, "notices": notices})
    return rows


def run(context):
    count, rows = context.scaled(10_000, 100), []
    for title, bodies_of in (("all on one task of node-0", one_task), ("each on a task of its own", own_tasks)):
        context.say(f"{count} idle streams on each of {context.nodes} nodes, {title}")
        found = measure(context, bodies_of, count)
        rows += [[title, one["node"], *(number(one[figure]) for figure in FIGURES)] for one in found]
        kib, queries, notices = (max(one[figure] for one in found) for figure in ("kib", "queries", "notices"))
        about = f"{count:,} idle streams on each of {context.nodes} nodes, {title}"
        context.target(f"{about}: memory each", f"at most {WANTED_KIB} KiB", f"{number(kib)} KiB", kib <= WANTED_KIB)
        context.target(f"{about}: queries for them, a second and node", f"at most {WANTED_QUERIES}",
                       f"{number(queries)}, and {number(notices)} NOTIFY", queries < WANTED_QUERIES + 0.005)
    context.section(
        f"{count:,} idle streams on each of {context.nodes} nodes",
        "Statements a second that each node sends to PostgreSQL, but for those that begin and end transactions, counted "
        "between the two: before there are any streams, and with them. For them: each kind of statement that came more "
        "often, whatever came less. Memory is the program's own, without its agents.",
        table(["streams", "node", "KiB each", "statements/s without", "with", "queries for them", "NOTIFY for them"], rows))
