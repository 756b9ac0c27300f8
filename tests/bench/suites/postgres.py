"""Baton on PostgreSQL, compared with Baton on SQLite and with the maximum rate of the same rows on that PostgreSQL. The
database, Baton and the load share the machine's cores, so only ratios and CPU per task are meaningful."""
import contextlib
import json
import pathlib
import signal
import statistics
import subprocess
import threading
import time

import a2a
from cluster import ask, fresh_database
from samples import Samples, number, rate_with_spread, table, times
from servers import Baton, EmbeddedBaton
from suites.throughput import Case

INSIDE, SHIPPED, SQLITE = "PostgreSQL, agent inside", "PostgreSQL, shipped echo", "SQLite, agent inside"
# The numbers of concurrent groups and of tasks in each: as many as the connections could fill, and the best ones.
LIMITS = {"limit: postgres, 1 lane of 32": (1, 32), "limit: postgres, 2 lanes of 128": (2, 128)}
COMMITTING = ("engine-flush", "checkpoint")  # SQLite's threads that only commit
WANTED_RATE, WANTED_P99_MS, WANTED_GETS, WANTED_STREAMS = 6_000, 80, 12_000, 4_000


def threads_cpu_us(pid, names):
    used = 0.0
    for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # the thread has ended
            if (thread / "comm").read_text(encoding="ascii").strip() in names:
                used += int((thread / "schedstat").read_text(encoding="ascii").split()[0]) / 1000
    return used


def measure(case, connections, seconds):
    before = threads_cpu_us(case.server.process.pid, COMMITTING)
    found = case.measure(connections, seconds)
    commits = threads_cpu_us(case.server.process.pid, COMMITTING) - before
    return found | {"commit_us": commits / max(1, found["count"])}


def limit(context, url, lanes, batch):
    run = subprocess.run([context.places.program("baton_bench_postgres"), url, str(lanes), str(batch),
                          str(context.seconds)], capture_output=True, text=True, timeout=120, check=True)
    found = json.loads(run.stdout)
    return {"rate": found["count"] / found["seconds"], "groups": found["groups"]}


class Round:
    """The servers, each on its own database, and the limits on another one."""

    def __init__(self, context, stack, name):
        self.context, self.name = context, name
        first, second = (stack.enter_context(fresh_database()) for _ in range(2))
        servers = [EmbeddedBaton(context.places, name=INSIDE, database=first),
                   EmbeddedBaton(context.places, name=SQLITE)]
        if name != "get":
            servers.insert(1, Baton(context.places, name=SHIPPED, database=second))
        self.limit_url = first  # has the tables, and its tasks disturb no measurement
        self.cases = [Case(name, stack.enter_context(server)) for server in servers]
        for case in self.cases:
            case.measure(16, context.scaled(3, 1))

    def measure(self, connections, found):
        for number_of_round in range(self.context.rounds):
            self.context.say(f"{self.name} on PostgreSQL, {connections} connections, round {number_of_round + 1}")
            for case in self.cases:
                found.setdefault((connections, case.server.name), Samples()).append(
                    measure(case, connections, self.context.seconds))
            for name, (lanes, batch) in LIMITS.items() if self.name == "send" else ():
                found.setdefault((connections, name), Samples()).append(
                    limit(self.context, self.limit_url, lanes, batch))


def rows_of(found):
    for (connections, server), samples in found.items():
        if server in LIMITS:
            yield [connections, server, rate_with_spread(samples), "", "", ""]
        else:
            yield [connections, server, rate_with_spread(samples), number(samples.median("p50_ms")),
                   number(samples.median("p99_ms")), number(samples.median("cpu_us"))]


def report_sends(context, found):
    for connections in context.scaled((64, 256), (64,)):
        rate = found[connections, INSIDE].median("rate")
        context.target(f"blocking sends on PostgreSQL, {connections} connections", f"at least {WANTED_RATE:,}/s",
                       f"{number(rate)}/s", rate >= WANTED_RATE)
    most = max(connections for connections, _ in found)
    p99 = found[most, INSIDE].median("p99_ms")
    context.target(f"their p99, {most} connections", f"at most {WANTED_P99_MS} ms", f"{number(p99)} ms",
                   p99 <= WANTED_P99_MS)
    best = max(found[most, name].median("rate") for name in LIMITS)
    share = found[most, INSIDE].median("rate") / best
    context.target("to the limit of the same rows as sets", "at least 60 %", f"{share:.0%}", share >= 0.6)
    sqlite = found[64, SQLITE]
    bare = sqlite.median("cpu_us") - sqlite.median("commit_us")
    ratio = found[64, INSIDE].median("cpu_us") / bare
    context.target("CPU of a send, to SQLite's without its commit's threads", "at most 1.3x", times(ratio), ratio <= 1.3)


class Standby(Baton):
    def __init__(self, places, database):
        super().__init__(places, "standby", agent="deeds", database=database)

    def command(self):
        return super().command() + ["--postgres-standby"]

    def has_said(self, text):
        return text in (self.folder / "log").read_text(encoding="utf-8", errors="replace")


def attempts(url):
    """Returns the attempt of the only turn."""
    found = ask(url, "SELECT attempt FROM tasks WHERE turn_state = 'running'")
    return int(found[0]) if found else 0


def await_true(what, look, seconds=60, pause=0.02):
    deadline = time.monotonic() + seconds
    while not look():
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what} does not come about")
        time.sleep(pause)


def take_over(context, end_first):
    """Returns the seconds from the end of the server with a running turn until the standby runs the turn again."""
    with fresh_database() as url:
        first, second = Standby(context.places, url), Standby(context.places, url)
        starting = None
        try:
            first.start()
            with a2a.Caller(first, "1.0") as caller:
                caller.task(a2a.send("1.0", "hold", waits=False, message_id="hold"))
            await_true("the turn", lambda: attempts(url) == 1)
            starting = threading.Thread(target=second.start)
            starting.start()
            await_true("the wait", lambda: (second.folder / "log").exists() and second.has_said("standby: waiting"))
            began = time.monotonic()
            end_first(first.process)
            await_true("the second attempt", lambda: attempts(url) == 2, pause=0.01)
            return time.monotonic() - began
        finally:
            first.process.kill()
            if starting:
                starting.join()
            (second.folder / "gate.end").touch()
            for server in (first, second):
                server.discard()


ENDS = {  # how the server ends, and the limit until the turn runs again
    "killed": (lambda process: process.kill(), 2),
    "frozen": (lambda process: process.send_signal(signal.SIGSTOP), 7),
    "told to stop": (lambda process: process.terminate(), None),
}


def run_take_over(context):
    rows = []
    for name, (end_first, wanted) in ENDS.items():
        found = []
        for number_of_round in range(context.scaled((5 if wanted else 1) * context.rounds, 1)):
            context.say(f"a server that is {name}, round {number_of_round + 1}")
            found.append(take_over(context, end_first))
        rows.append([name, len(found), number(statistics.median(found)), number(max(found))])
        if wanted:
            context.target(f"a server {name}: its turn runs again on the standby", f"within {wanted} s",
                           f"{number(max(found))} s", max(found) <= wanted)
    context.section("Taking over", "From the end of a server, in which a turn runs, to the second attempt of that turn in "
                                   "the database, on a standby that was waiting. A server that is told to stop first gives "
                                   "its turns ten seconds.",
                    table(["the server is", "rounds", "median s", "longest s"], rows))


def run(context):
    run_take_over(context)
    for name, title in (("send", "Blocking sends"), ("get", "Gets"), ("stream", "Streams, from the send to the end")):
        found = {}
        with contextlib.ExitStack() as stack:
            measured = Round(context, stack, name)
            for connections in context.scaled((64, 256) if name == "send" else (64,), (64,)):
                measured.measure(connections, found)
        context.section(f"{title} on PostgreSQL",
                        table(["connections", "server", "per second", "p50 ms", "p99 ms", "CPU µs each"], rows_of(found)))
        if name == "send":
            report_sends(context, found)
            continue
        wanted = WANTED_GETS if name == "get" else WANTED_STREAMS
        rate = found[64, INSIDE].median("rate")
        context.target(f"{name}s on PostgreSQL, 64 connections", f"at least {wanted:,}/s", f"{number(rate)}/s",
                       rate >= wanted)
