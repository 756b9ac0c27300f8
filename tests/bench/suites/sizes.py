"""Large messages, artifacts of many chunks, and long histories. No operation may cost more because the task is long."""
import contextlib
import json
import subprocess

import a2a
import load
from samples import Samples, number, rate_with_spread, table, times
from servers import Baton, EmbeddedBaton, Sdk03, Sdk13

MEBIBYTE = "0123456789abcdef" * (1 << 16)


def run_megabyte(context):
    rows = []
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(kind(context.places)) for kind in (EmbeddedBaton, Sdk13, Sdk03)]
        for connections in (1, 16):
            found = {server.name: Samples() for server in servers}
            for _ in range(context.rounds):
                for server in servers:
                    context.say(f"messages of 1 MiB, {connections} connections, {server.name}")
                    result = load.wrk(server, a2a.send(server.version, MEBIBYTE), connections, context.seconds)
                    check_megabyte(server, result)
                    found[server.name].append(result | {"rate": result.rate,
                                                        "resident_mib": server.resident_kib() / 1024})
            rows += [[connections, name, rate_with_spread(samples), number(samples.median("p50_ms")),
                      number(samples.median("p99_ms")), number(max(samples.of("resident_mib")))]
                     for name, samples in found.items()]
        if connections == 1:
            mine, other = (found[server.name].median("rate") for server in servers[:2])
            context.figure("echo of 1 MiB, one after the other", "an agent inside the program", 1, f"{number(mine)}/s",
                           f"{number(other)}/s", times(mine / other))
    context.section("Echo of 1 MiB", table(
        ["connections", "server", "per second", "p50 ms", "p99 ms", "resident MiB"], rows))


def check_megabyte(server, result):
    if result["failures"] or result["bytes"] < result["count"] * (1 << 20):
        raise RuntimeError(f"{server.name}: {result} for messages of 1 MiB")


def chunk_stream(server, count):
    """Returns the milliseconds until the end of a stream whose artifact has `count` chunks."""
    arrivals = load.series(server, a2a.send(server.version, f"chunks {count}", stream=True))
    if len(arrivals) < count:
        raise RuntimeError(f"{server.name}: {len(arrivals)} events for {count} chunks")
    return arrivals[-1]


def chunk_servers(places):
    return [EmbeddedBaton(places), Baton(places, name="Baton, Python worker", agent="deeds"), Sdk13(places),
            Sdk03(places)]


def run_chunks(context):
    few, many = 1000, context.scaled(10_000, 3_000)
    rows = []
    for server in chunk_servers(context.places):
        found = Samples()
        with server:
            chunk_stream(server, 100)
            for _ in range(context.rounds):
                context.say(f"artifacts in chunks, {server.name}")
                # On the SDKs' servers each chunk costs more than the previous one, so this would take minutes.
                long = chunk_stream(server, many) if isinstance(server, (EmbeddedBaton, Baton)) else 0.0
                found.append({"few": chunk_stream(server, few), "many": long})
        growth = found.median("many") / many / (found.median("few") / few)
        rows.append([server.name, rate_with_spread(found, "few"),
                     *([rate_with_spread(found, "many"), times(growth)] if growth else ["not measured", ""])])
    # Alternates, because the speed of the disk varies from second to second.
    appends = Samples()
    for _ in range(context.rounds):
        appends.append({"first": append_ms(context, 0), "last": append_ms(context, 10_000)})
    first, last = appends.median("first"), appends.median("last")
    context.section("Artifacts in chunks, one stream", table(
        ["server", f"ms for {few:,} chunks", f"ms for {many:,}", "time of one, to that of fewer"], rows),
        f"The store alone, one chunk a commit: {number(first)} ms for the first chunks of an artifact, "
        f"{number(last)} ms for those after the 10,000th.")
    context.target("append of the 10,000th chunk to the first", "at most 1.2x", times(last / first),
                   last / first <= 1.2)


def append_ms(context, after):
    """Returns the time to append one chunk, with a flush, to an artifact that has `after` chunks (micro/store.cpp)."""
    places = context.places
    context.say(f"append to {after:,} chunks")
    run = subprocess.run([places.program("baton_benchmarks"), f"--benchmark_filter=append_chunk/{after}/",
                          "--benchmark_format=json"],
                         cwd=places.work, capture_output=True, text=True, timeout=300, check=True)
    return json.loads(run.stdout)["benchmarks"][0]["real_time"] / 1e6


def conversation(caller, messages):
    """Creates a task with this number of messages, questions of the agent and answers in turn."""
    task = caller.task(a2a.send("1.0", "ask", message_id=f"ask-{messages}"))["id"]
    for count in range(1, messages // 2):
        caller.task(a2a.send("1.0", "ask", task=task, message_id=f"ask-{messages}-{count}"))
    return task


def run_history(context):
    long = context.scaled(10_000, 500)
    found, rows = {}, []
    with EmbeddedBaton(context.places) as server, a2a.Caller(server, "1.0") as caller:
        context.say(f"a history of {long:,} messages")
        tasks = {10: conversation(caller, 10), long: conversation(caller, long)}
        held = len(caller.task(a2a.get("1.0", tasks[long]))["history"])
        if held != long:
            raise RuntimeError(f"the history has {held} messages, not {long}")
        lengths = [(10, 10), (long, 10), (long, 100), (long, None)]
        for _ in range(context.rounds):
            for messages, length in lengths:
                result = load.wrk(server, a2a.get("1.0", tasks[messages], length), 1, context.seconds)
                found.setdefault((messages, length), Samples()).append(result | {"rate": result.rate})
    for (messages, length), samples in found.items():
        rows.append([f"{messages:,}", "all" if length is None else length, rate_with_spread(samples),
                     number(samples.median("p50_ms")), number(samples.median("p99_ms"))])
    growth = found[long, 10].median("p50_ms") / found[10, 10].median("p50_ms")
    context.section("The end of a long history", table(
        ["messages in the task", "historyLength", "gets per second", "p50 ms", "p99 ms"], rows))
    context.target(f"get with historyLength 10 on {long:,} messages to 10", "at most 2x", times(growth), growth <= 2)
