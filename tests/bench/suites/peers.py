"""The same work by alternatives to Baton, on the same PostgreSQL: a job for each request on graphile-worker and
pg-boss, a plan of three steps on DBOS. Database, servers and load share the machine's cores, so only ratios, CPU and
commits per task are meaningful."""
import contextlib
import json
import subprocess
import urllib.request

import a2a
import cluster
import load
import machine
from cluster import ask, children, cpu_seconds, fresh_database
from samples import Samples, number, rate_with_spread, table, times
from servers import EmbeddedBaton, Server
from suites.plan import Planned

TEXT = "Hello, world"
INSIDE, PLANS, DBOS = "Baton, agent inside", "Baton, three steps of the shipped echo", "DBOS, three steps"
WANTED_RATIO = 5
FIGURES = ("p50_ms", "p99_ms", "cpu_us", "database_us", "commits", "wal_kib")

JOBS = {
    "graphile-worker": ("graphile_worker.mjs", {}),
    "graphile-worker, adds gathered": ("graphile_worker.mjs", {"BENCH_GATHER": "1"}),
    "pg-boss, polling": ("pg_boss.mjs", {}),
    "pg-boss, woken": ("pg_boss.mjs", {"BENCH_NOTIFY": "1"}),
    "pg-boss, woken, inserts gathered": ("pg_boss.mjs", {"BENCH_NOTIFY": "1", "BENCH_GATHER": "1"}),
}

DONE = """What an answer means, and what is kept then:

- Baton: the task's last event is committed. Kept: the request, every event, the artifacts, and for a plan a task
  for each step, to be read, listed and followed later. A send that is repeated with its message id gets the same task.
- DBOS: the workflow's result is committed. Kept: input, output of each step, result. A workflow started again with its
  id gets the same result (not used here: DBOS chose the ids).
- graphile-worker: the job was added by a committed transaction and its task has run; that it has ended is committed
  with others afterwards, and the job is deleted then. No result is kept.
- pg-boss: the job was inserted by a committed transaction and its handler has run; that it has ended is committed
  with its batch afterwards. Kept: the job's data, without a result for batches."""

SETTINGS = """How each is set up:

- {postgres}, `fsync` {fsync}, `synchronous_commit` {synchronous_commit}, `wal_sync_method` {wal_sync_method}. Each
  server is one process, on a database of its own in one cluster, by TCP on loopback. All of a table run all the time,
  and are measured in turn.
- The peers run on Node.js {node} under `node:http` with kept connections and `NODE_ENV=production`, their jobs and
  steps in the same process. Each job and step returns the text that it was given.
- Baton: default settings. The agent inside echoes in the same process; the plan's three steps are turns of two Python
  workers, whose CPU is counted.
- @dbos-inc/dbos-sdk {dbos}: default settings (10 connections; 20, 32 and 64 gained nothing here), log level `error`.
- graphile-worker {graphile}: as its guide to performance has it: `concurrentJobs: 24`, `maxPoolSize: 25`,
  `localQueue.size: 500`, `completeJobBatchDelay: 0`, `failJobBatchDelay: 0`. "Adds gathered": requests that come while
  jobs are being added are added together (`addJobs`), which this benchmark's server does, not the package.
- pg-boss {boss}: default settings (10 connections), `burstWhenBatchFull`. "Polling": 16 workers of batches of 8,
  `pollingIntervalSeconds: 0.5`, the least it takes: a job that finds no worker at a full batch waits for the next look,
  which is what one connection shows. "Woken": `useListenNotify` and `notify`, one worker of batches of 64. "Inserts
  gathered": as above, by `insert`.
- CPU: of the server with its agents, and of its connections to PostgreSQL. Commits: transactions that wrote. These and
  the WAL are the whole cluster's, so what the others write while they wait is among them.
- Answers other than 200, errors and time-outs are in "failed", and not in the rate."""


def node(places):
    """Returns the Node.js of the packages, which need a newer one than Debian's; otherwise the machine's."""
    found = sorted(places.bench.glob("node_modules/node-linux-*/bin/node"))
    return found[0] if found else "node"


class Peer(Server):
    def __init__(self, places, name, database, program, settings):
        super().__init__(places, name, database=database)
        self.program, self.settings = program, settings

    def command(self):
        return [node(self.places), "--no-deprecation", self.places.bench / "servers" / self.program]

    def environment(self):
        return super().environment() | {"BENCH_DATABASE": self.database} | self.settings


def written():
    """Returns the number of writing transactions, and the bytes of WAL, in the cluster."""
    return map(int, ask(cluster.server(), "SELECT pg_snapshot_xmax(pg_current_snapshot()), pg_current_wal_lsn() - '0/0'"))


def with_children(pid):
    found = [pid]
    for parent in found:
        found += children(parent)
    return found


def grown(before, after):
    return sum(value - before.get(pid, 0.0) for pid, value in after.items())


class Contender:
    """A server on its own database, and the request for it. `trouble` is the reason why it is left out from then on."""

    def __init__(self, server, body):
        self.server, self.body = server, body
        self.size = 0
        self.trouble = None

    def start(self):
        self.server.start()
        request = urllib.request.Request(self.server.url(), self.body.replace("@ID@", "a-probe").encode(),
                                         a2a.HEADERS["1.0"])
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
        if b"completed" not in text.lower():
            raise RuntimeError(f"{self.server.name} answers {text[:500]}")
        self.size = len(text)

    def processes(self):
        database = self.server.database.rsplit("/", 1)[1]
        backends = ask(cluster.server(), f"SELECT pid FROM pg_stat_activity WHERE datname = '{database}'")
        return cpu_seconds(with_children(self.server.process.pid)), cpu_seconds(map(int, backends))

    def measure(self, connections, seconds):
        cpu, before = self.processes(), written()
        found = load.wrk(self.server, self.body, connections, seconds)
        commits, wal = (now - then for then, now in zip(before, written()))
        used, used_by_database = map(grown, cpu, self.processes())
        if not found["failures"] and found["bytes"] < 0.85 * self.size * found["count"]:
            raise RuntimeError(f"answers of {found['bytes'] / found['count']:.0f} bytes, a right one has {self.size}")
        done = max(0, found["count"] - found["failures"])
        each = 1 / max(1, done)
        return found | {"rate": done / found["seconds"], "cpu_us": used * 1e6 * each,
                        "database_us": used_by_database * 1e6 * each, "commits": commits * each,
                        "wal_kib": wal / 1024 * each}


class Comparison:
    """Measures contenders in turn, round after round. found: {(connections, name): Samples}"""

    def __init__(self, context, title):
        self.context, self.title, self.contenders, self.found = context, title, [], {}

    def attempt(self, contender, what):
        """Runs a step. A peer that fails is left out, and reported; Baton must not fail."""
        try:
            return what()
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            if not isinstance(contender.server, Peer):
                raise
            self.context.say(f"{contender.server.name} does not work: {error}")
            contender.trouble = error
            return None

    def start(self, stack, contender):
        stack.callback(contender.server.discard)
        self.contenders.append(contender)
        self.attempt(contender, contender.start)

    def measure(self):
        for contender in self.contenders:
            if not contender.trouble:
                self.attempt(contender, lambda: contender.measure(16, self.context.scaled(3, 1)))
        for connections in (1, 64):
            for number_of_round in range(self.context.rounds):
                self.context.say(f"{self.title}, {connections} connections, round {number_of_round + 1}")
                for contender in self.contenders:
                    if contender.trouble:
                        continue
                    sample = self.attempt(contender, lambda: contender.measure(connections, self.context.seconds))
                    if sample:
                        self.found.setdefault((connections, contender.server.name), Samples()).append(sample)

    def rows(self):
        for (connections, name), samples in self.found.items():
            yield [connections, name, rate_with_spread(samples),
                   *(number(samples.median(figure)) for figure in FIGURES), sum(samples.of("failures"))]

    def section(self, *paragraphs):
        head = ["connections", "server", "per second", "p50 ms", "p99 ms", "CPU µs each", "PostgreSQL's CPU µs each",
                "commits each", "WAL KiB each", "failed"]
        left_out = [f"**{contender.server.name} is left out: {' '.join(str(contender.trouble).split())[:500]}**"
                    for contender in self.contenders if contender.trouble]
        self.context.section(self.title, table(head, self.rows()), *left_out, *paragraphs)


def compare_jobs(context):
    comparison = Comparison(context, "One task, or one durable job, a request")
    with contextlib.ExitStack() as stack:
        def add(make, body):
            comparison.start(stack, Contender(make(stack.enter_context(fresh_database())), body))
        add(lambda url: EmbeddedBaton(context.places, name=INSIDE, database=url), a2a.send("1.0", TEXT))
        for name, (program, settings) in JOBS.items():
            add(lambda url: Peer(context.places, name, url, program, settings), json.dumps({"text": TEXT}))
        comparison.measure()
    comparison.section()


def compare_plans(context):
    comparison = Comparison(context, "Plans of three steps")
    with contextlib.ExitStack() as stack:
        def add(make, body):
            comparison.start(stack, Contender(make(stack.enter_context(fresh_database())), body))

        def planned(url):
            server = Planned(context.places, name=PLANS, database=url)
            server.path = "/agents/three/"
            return server
        add(planned, a2a.send("1.0", "go"))
        add(lambda url: Peer(context.places, DBOS, url, "dbos.mjs", {}), json.dumps({"text": TEXT}))
        comparison.measure()
    comparison.section()
    mine, other = (comparison.found.get((64, name)) for name in (PLANS, DBOS))
    ratio = mine.median("rate") / other.median("rate") if other and other.median("rate") else 0.0
    context.target("three-step plans on PostgreSQL, 64 connections, to DBOS", f"at least {WANTED_RATIO}x",
                   times(ratio) if ratio else "DBOS was not measured", ratio >= WANTED_RATIO)


def run(context):
    compare_jobs(context)
    compare_plans(context)
    server = cluster.server()
    shown = {name: ask(server, f"SHOW {name}")[0] for name in ("fsync", "synchronous_commit", "wal_sync_method")}
    versions = {key: machine.package_version(context.places, name) for key, name in
                (("dbos", "@dbos-inc/dbos-sdk"), ("graphile", "graphile-worker"), ("boss", "pg-boss"))}
    context.section("What was compared", DONE,
                    SETTINGS.format(postgres=f"PostgreSQL {ask(server, 'SHOW server_version')[0]}",
                                    node=machine.first_line(str(node(context.places)), "--version"),
                                    **shown, **versions))
