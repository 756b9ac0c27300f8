"""The database on disk: its size for each task, and the time to start and to read with a million tasks."""
import os
import pathlib
import sqlite3
import time

import a2a
import load
import many_tasks
from samples import Samples, number, table, times
from servers import Baton, EmbeddedBaton

LOAD = {"get": 16, "list": 4}  # connections
WARM_UP_S = {"get": 5, "list": 1}


def run_disk(context):
    """Sends echoes of a short text, and reports the growth of the database for each."""
    places = context.places
    server = EmbeddedBaton(places)
    with server:
        server.stop()
        empty = server.database.stat().st_size
        server.start()
        context.say("bytes on disk")
        load.wrk(server, a2a.send("1.0", "Hello, world"), 64, context.seconds)
        server.stop()
        full = server.database.stat().st_size
        database = sqlite3.connect(server.database)
        tasks, events = (database.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in ("tasks", "events"))
        database.close()
    each = (full - empty) / tasks
    context.section("On disk", f"{tasks:,} echoes of \"Hello, world\" with {events / tasks:.1f} events each: "
                               f"**{each:,.0f} bytes a task**, indexes included.")
    context.figure(f"a task on disk (echo, {events / tasks:.0f} events, indexes included)", "an agent inside the program",
                   64, f"{each:,.0f} bytes")
    context.target("cost of an echo on disk", "under 2 KB", f"{each:,.0f} bytes", each < 2000)


def filled(context, count):
    """Returns a stopped server whose database has `count` finished echoes, and a file of their ids."""
    server = Baton(context.places, name=f"{count:,} tasks")
    server.start()
    with a2a.Caller(server, "1.0") as caller:
        caller.task(a2a.send("1.0", "Hello, world", message_id="the-first"))
    server.stop()
    began = time.monotonic()
    ids = many_tasks.fill(server.database, count)
    # The rows that were copied have no slices yet (schema/TABLES.md): made once, at the first start.
    server.start()
    server.stop()
    context.say(f"a database of {count:,} tasks, made in {time.monotonic() - began:.0f} s")
    (server.folder / "ids").write_text("\n".join(ids), encoding="ascii")
    return server


def readiness(server):
    """Returns the milliseconds until the server prints that it is ready."""
    drop_from_cache(server.database)
    began = time.perf_counter()
    server.start()
    if not server.is_ready():
        raise RuntimeError("it listens but is not ready")
    return (time.perf_counter() - began) * 1000


def drop_from_cache(path):
    """Drops a file from the page cache, so that the start reads from the disk like after a reboot."""
    file = os.open(path, os.O_RDONLY)
    os.fdatasync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


def measure_start(context, server, found):
    found["ready_ms"].append(readiness(server))
    bodies = {"get": a2a.get("1.0"), "list": a2a.list_tasks()}
    ids = str(server.folder / "ids")
    for name, body in bodies.items():
        # Warms up until the data is in the page cache again, because the disk's speed is not measured here.
        load.wrk(server, body, LOAD[name], WARM_UP_S[name], ids)
        result = load.wrk(server, body, LOAD[name], 2 * context.seconds, ids)
        if result["failures"] or result["bytes"] < 300 * result["count"]:
            raise RuntimeError(f"{server.name}: {name} fails: {result}")
        found[name].append(result | {"rate": result.rate})
    found["resident_mib"].append(server.resident_kib() / 1024)
    server.stop()


def run_start(context):
    few, many = 1000, context.scaled(1_000_000, 20_000)
    servers = [filled(context, few), filled(context, many)]
    try:
        found = {server.name: {"ready_ms": [], "get": Samples(), "list": Samples(), "resident_mib": []}
                 for server in servers}
        for _ in range(context.rounds):
            for server in servers:
                context.say(f"start with {server.name}")
                measure_start(context, server, found[server.name])
        report_start(context, servers, found)
    finally:
        for server in servers:
            server.discard()


def report_start(context, servers, found):
    rows = []
    for server in servers:
        figures = found[server.name]
        rows.append([server.name, f"{pathlib.Path(server.database).stat().st_size / (1 << 20):,.0f} MiB",
                     number(sorted(figures["ready_ms"])[len(figures["ready_ms"]) // 2]),
                     *(number(figures[name].median(figure)) for name in ("get", "list")
                       for figure in ("rate", "p50_ms", "p99_ms")), number(max(figures["resident_mib"]))])
    context.section("Start and reads with many tasks of one caller", table(
        ["database", "size", "ms to readiness", "gets/s", "p50 ms", "p99 ms", "lists/s", "p50 ms", "p99 ms",
         "resident MiB"], rows))
    few, many = (found[server.name] for server in servers)
    slowest = max(many["ready_ms"])
    context.figure(f"with {servers[1].name} of one caller: start", "a cold disk", "", f"{number(slowest / 1000)} s")
    for name, connections in LOAD.items():
        context.figure(f"with {servers[1].name} of one caller: {name}", "no agent", connections,
                       f"{number(many[name].median('rate'))}/s, p99 {number(many[name].median('p99_ms'))} ms")
    context.target(f"start with {servers[1].name}", "under 1 s", f"{number(slowest)} ms", slowest < 1000)
    for name in ("get", "list"):
        growth = many[name].median("p99_ms") / few[name].median("p99_ms")
        context.target(f"p99 of {name} with {servers[1].name} to {servers[0].name}", "at most 1.5x", times(growth),
                       growth <= 1.5)
