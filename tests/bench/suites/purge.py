"""Sends beside a purge: a million expired tasks are removed from the database while 64 connections send."""
import contextlib
import sqlite3
import time

import a2a
import load
import many_tasks
from samples import Samples, number, rate_with_spread, table, times
from servers import Baton

CONNECTIONS = 64
SPARE_PAGES = 256  # free pages that the server keeps
FOR_EVER = ["--retention-completed-s", "0"]
DEFAULT = ["--retention-completed-s", "2592000"]


class Keeping(Baton):
    """The program with these flags on an existing database."""

    def __init__(self, places, flags, **how):
        super().__init__(places, agent="deeds", **how)
        self.flags = flags

    def command(self):
        return super().command() + self.flags


def make_old(path):
    """Sets the times of all tasks to long ago, in order of creation."""
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE tasks SET created_ms = task_key, status_ms = task_key")


def old_tasks(path):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        return database.execute("SELECT count(*) FROM tasks WHERE created_ms < 100000000").fetchone()[0]


def free_pages(path):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        return database.execute("PRAGMA freelist_count").fetchone()[0]


def sends(context, server, found):
    result = load.wrk(server, a2a.send("1.0", "Hello, world"), CONNECTIONS, context.seconds)
    if result["failures"]:
        raise RuntimeError(f"sends fail: {result}")
    found.append(result | {"rate": result.rate})


def run(context):
    count = context.scaled(1_000_000, 20_000)
    server = Keeping(context.places, FOR_EVER, name="nothing goes")
    before, during = Samples(), Samples()
    try:
        server.start()
        with a2a.Caller(server, "1.0") as caller:
            caller.task(a2a.send("1.0", "Hello, world", message_id="the-first"))
        server.stop()
        many_tasks.fill(server.database, count)
        make_old(server.database)
        size = server.database.stat().st_size
        server.start()
        sends(context, server, Samples())
        for _ in range(context.rounds):
            context.say("sends while nothing goes")
            sends(context, server, before)
        server.stop()
        server.flags = DEFAULT
        server.start()
        begun = time.monotonic()
        while old_tasks(server.database) == count:
            time.sleep(0.1)
        for _ in range(context.rounds):
            context.say(f"sends beside the purge, {old_tasks(server.database):,} tasks left")
            sends(context, server, during)
            if old_tasks(server.database) == 0 and not context.quick:
                raise RuntimeError("the purge was over before the sends were")
        while old_tasks(server.database) > 0:
            time.sleep(0.5)
        took = time.monotonic() - begun
        while free_pages(server.database) > SPARE_PAGES:
            time.sleep(0.5)
        server.stop()
        report(context, count, before, during, took, (size, server.database.stat().st_size))
    finally:
        server.discard()


def report(context, count, before, during, took, sizes):
    rows = [[name, rate_with_spread(found), number(found.median("p50_ms")), number(found.median("p99_ms")),
             number(max(one["max_ms"] for one in found))] for name, found in (("no", before), ("yes", during))]
    context.section(f"Sends beside a purge of {count:,} tasks",
                    table(["purge", "sends/s", "p50 ms", "p99 ms", "longest ms"], rows),
                    f"The purge took {number(took)} s in all; the file went from {sizes[0] >> 20:,} to "
                    f"{sizes[1] >> 20:,} MiB.")
    share = during.median("rate") / before.median("rate")
    longest = max(one["max_ms"] for one in during)
    context.target(f"sends beside a purge of {count:,} tasks to sends without", "at least 0.8x", times(share), share >= 0.8)
    context.target("the longest send beside a purge", "at most 100 ms", f"{number(longest)} ms", longest <= 100)
