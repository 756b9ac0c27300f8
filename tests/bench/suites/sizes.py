"""Large things: messages, artifacts of many chunks, long histories. Nothing may cost more because the task is long."""
import contextlib

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
    context.section("Echo of 1 MiB", table(
        ["connections", "server", "per second", "p50 ms", "p99 ms", "resident MiB"], rows))


def check_megabyte(server, result):
    if result["failures"] or result["bytes"] < result["count"] * (1 << 20):
        raise RuntimeError(f"{server.name}: {result} for messages of 1 MiB")


def pace(arrivals, first, last):
    """Milliseconds from event `first` to event `last`."""
    return arrivals[last] - arrivals[first]


def chunk_stream(server, count):
    """All arrivals of a stream whose artifact has so many chunks."""
    body = a2a.send(server.version, f"chunks {count}", stream=True).replace("@ID@", "@ID@-chunks")
    arrivals = load.series(server, body)
    if len(arrivals) < count:
        raise RuntimeError(f"{server.name}: {len(arrivals)} events for {count} chunks")
    return arrivals


def chunk_servers(places):
    return [EmbeddedBaton(places), Baton(places, name="Baton, Python worker", agent="deeds"), Sdk13(places),
            Sdk03(places)]


def run_chunks(context):
    long = context.scaled(10_000, 3_000)
    tenth = long // 10
    rows = []
    for server in chunk_servers(context.places):
        found = Samples()
        with server:
            chunk_stream(server, 100)
            for _ in range(context.rounds):
                context.say(f"artifacts in chunks, {server.name}")
                short, arrivals = chunk_stream(server, 1000), chunk_stream(server, long)
                found.append({"short": short[-1], "long": arrivals[-1], "begin": pace(arrivals, 1, 1 + tenth),
                              "end": pace(arrivals, -1 - tenth, -1)})
        growth = found.median("end") / max(found.median("begin"), 0.001)
        rows.append([server.name, number(found.median("short")), number(found.median("long")),
                     number(found.median("begin")), number(found.median("end")), times(growth)])
        if isinstance(server, EmbeddedBaton):
            context.target(f"the last {tenth:,} of {long:,} chunks to the first", "at most 1.2x", times(growth),
                           growth <= 1.2)
    context.section("Artifacts in chunks, one stream", table(
        ["server", "ms for 1,000 chunks", f"ms for {long:,}", f"ms for its first {tenth:,}",
         f"ms for its last {tenth:,}", "last to first"], rows))


def conversation(caller, messages):
    """A task with so many messages, half of them the agent's: a question and an answer in turn."""
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
