"""The time until a turn runs again on another node after its own is killed, freezes or drains."""
import concurrent.futures
import contextlib
import itertools
import signal
import statistics
import time

import a2a
import cluster
from samples import number, table
from servers import Baton

WANTED_DEATHS = 50
LEASE_S = 5
ENDS = {  # how a node ends, the limit until its turn runs again, and the number of node groups measured at once
    "killed": (lambda process: process.kill(), 2, 4),
    "frozen": (lambda process: process.send_signal(signal.SIGSTOP), 7, 4),
    "drained": (lambda process: process.terminate(), 0.3, 1),
}
PAUSE_S = 0.005

numbers = itertools.count(1)


class Node(Baton):
    """A node that gives up its turns immediately when it drains."""

    def __init__(self, places, name, database):
        super().__init__(places, name, agent="deeds", database=database)

    def command(self):
        return super().command() + ["--node-name", self.name, "--engine-drain-grace-s", "0"]

    def end(self):
        """Kills the process in any state."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Group:
    """Nodes that share a database. Each of them is the victim in turn."""

    def __init__(self, context, stack):
        self.url = stack.enter_context(cluster.fresh_database())
        self.session = stack.enter_context(cluster.Session(self.url))
        self.nodes = [Node(context.places, f"node-{index}", self.url) for index in range(context.nodes)]
        for node in self.nodes:
            stack.callback(node.discard)
            node.start()
        self.await_true("the database to be up longer than a lease", lambda: self.session.ask(
            f"SELECT 1 WHERE clock_timestamp() - pg_postmaster_start_time() > interval '{LEASE_S + 1} s'"))

    def await_true(self, what, look):
        deadline = time.monotonic() + 60
        while not look():
            if time.monotonic() > deadline:
                raise RuntimeError(f"still no end of waiting for {what}")
            time.sleep(PAUSE_S)

    def has_begun(self, task, attempt):
        return self.session.ask(f"SELECT 1 FROM tasks WHERE public_id = '{task}' AND turn_state = 'running' "
                                f"AND attempt = {attempt}")

    def death(self, victim, survivor, end):
        """Returns the seconds from the end of a node with a running turn until the turn runs again."""
        with a2a.Caller(victim, "1.0") as caller:
            task = caller.task(a2a.send("1.0", "hold", waits=False, message_id=f"hold-{next(numbers)}"))["id"]
        self.await_true("the turn to begin", lambda: self.has_begun(task, 1))
        began = time.monotonic()
        end(victim.process)
        self.await_true("the second attempt", lambda: self.has_begun(task, 2))
        took = time.monotonic() - began
        with a2a.Caller(survivor, "1.0") as caller:
            caller.task(a2a.cancel("1.0", task))
        victim.end()
        victim.start()
        return took

    def deaths(self, count, end):
        return [self.death(self.nodes[number % len(self.nodes)], self.nodes[(number + 1) % len(self.nodes)], end)
                for number in range(count)]


def run(context):
    most = context.scaled(max(groups for _, _, groups in ENDS.values()), 1)
    rows = []
    with contextlib.ExitStack() as stack:
        all_groups = [Group(context, stack) for _ in range(most)]
        for name, (end, wanted, at_once) in ENDS.items():
            groups = all_groups[:at_once]
            each = context.scaled(-(-WANTED_DEATHS // len(groups)), 1)
            context.say(f"{each * len(groups)} nodes that are {name}")
            with concurrent.futures.ThreadPoolExecutor(len(groups)) as threads:
                found = sorted(itertools.chain(*threads.map(lambda group: group.deaths(each, end), groups)))
            p99 = found[min(len(found) - 1, int(len(found) * 0.99))]
            rows.append([name, len(found), number(statistics.median(found)), number(p99), number(found[-1])])
            context.target(f"a node is {name}: its turn runs again, p99 of {len(found)}", f"within {wanted:g} s",
                           f"{number(p99)} s", p99 <= wanted)
    context.section(
        "The end of a node",
        f"One of {context.nodes} nodes that serve, in which a turn runs. From its end to the second attempt of that turn "
        "in the database, on another node. Drained: by SIGTERM, without a grace for its turns, which is ten seconds by "
        "default. Each time another one ends, which then starts anew. Killed and frozen: in several such groups at once.",
        table(["the node is", "deaths", "median s", "p99 s", "longest s"], rows))
