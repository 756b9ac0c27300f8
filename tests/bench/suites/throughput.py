"""Sends, gets, cards and whole streams, each with several numbers of connections. Baton and the SDKs' servers
alternate, round after round, so that a drift of the machine affects all of them."""
import contextlib
import time

import a2a
import load
from samples import Samples, number, rate_with_spread, table, times
from servers import Baton, EmbeddedBaton, GroupCommit, Responder, Sdk03, Sdk13

TEXT = "Hello, world"
INSIDE, SHIPPED, SDK13, SDK03 = "Baton, agent inside", "Baton, shipped echo", "JS SDK 1.3.0", "JS SDK 0.3.14"
CASES = {
    "send": "Blocking sends",
    "send-at-once": "Sends that are answered at once",
    "get": "Gets",
    "card": "Cards",
    "stream": "Streams, from the send to the end",
}


def contenders(places, case):
    yield EmbeddedBaton(places)
    if case not in ("get", "card"):
        yield Baton(places, name=SHIPPED)
    yield Sdk13(places)
    yield Sdk03(places)
    if case == "send":
        yield GroupCommit(places, 4)
        yield GroupCommit(places, 1)
        yield Responder(places)


class Case:
    """One kind of request, to one server."""

    def __init__(self, name, server):
        self.name, self.server = name, server
        self.is_limit = server.name.startswith("limit")
        self.ids_file = None
        version = server.version
        bodies = {
            "send": lambda: a2a.send(version, TEXT),
            "send-at-once": lambda: a2a.send(version, TEXT, waits=False),
            "stream": lambda: a2a.send(version, TEXT, stream=True),
            "get": lambda: a2a.get(version),
            "card": lambda: None,
        }
        self.body = bodies[name]()
        self.size = 0 if name == "stream" or self.is_limit else self._probe()

    def _probe(self):
        """Determines the size of a correct answer."""
        with a2a.Caller(self.server, self.server.version) as caller:
            if self.name == "get":
                ids = [caller.task(a2a.send(self.server.version, TEXT, message_id=f"get-{number}"))["id"]
                       for number in range(100)]
                path = self.server.folder / "ids"
                path.write_text("\n".join(ids), encoding="ascii")
                self.ids_file = str(path)
                return len(caller.answer(self.body.replace("@TASK@", ids[0]))[0])
            return len(caller.answer(self.body and self.body.replace("@ID@", "a-probe-of-the-right-length-000001"))[0])

    def measure(self, connections, seconds):
        server = self.server
        cpu = server.cpu_seconds()
        if self.name == "stream":
            found = load.churn(server, self.body, connections, seconds)
            self._check_stream(found)
        else:
            path = a2a.CARD if self.name == "card" else None
            # Sends that do not wait may come faster than turns end; above a limit they are refused.
            found = load.wrk(server, self.body, connections, seconds, self.ids_file, path,
                             counts_refusals=self.name == "send-at-once")
            found["count"] -= found["refused"]
            self._check_size(found)
            self._drain()
        if found["failures"]:
            raise RuntimeError(f"{server.name}: {found['failures']} requests failed {found.get('why', '')}")
        return found | {"rate": found.rate, "resident_mib": server.resident_kib() / 1024,
                        "threads": server.threads(), "refused": found.get("refused", 0),
                        "cpu_us": (server.cpu_seconds() - cpu) * 1e6 / max(1, found["count"])}

    def _check_size(self, found):
        if found["count"] < 100:
            raise RuntimeError(f"{self.server.name}: {found['refused']} sends refused, {found['count']} taken")
        if found["refused"]:
            return
        mean = found["bytes"] / max(1, found["count"])
        if not 0.85 * self.size <= mean <= self.size * 1.15 + 1500 and self.size:
            raise RuntimeError(f"{self.server.name}: answers of {mean:.0f} bytes, a right one has {self.size}")

    def _drain(self):
        """Waits for the end of the turns of sends that did not wait."""
        if self.name != "send-at-once" or not self.server.name.startswith("Baton"):
            return
        deadline = time.monotonic() + 120
        while self.server.metric("baton_turns_queued") + self.server.metric("baton_turns_running") > 0:
            if time.monotonic() > deadline:
                raise RuntimeError("the turns do not end")
            time.sleep(0.05)

    def _check_stream(self, found):
        """Checks that streams have their events: the task, working, the reply, completed."""
        if found["events"] < 3 * found["count"]:
            raise RuntimeError(f"{self.server.name}: {found['events']} events in {found['count']} streams")


def measured(context, name, servers=None):
    """{(connections, server): Samples}, of these servers or of those that are usual for the case."""
    found = {}
    with contextlib.ExitStack() as stack:
        servers = servers or contenders(context.places, name)
        cases = [Case(name, stack.enter_context(server)) for server in servers]
        for case in cases:  # warms up JIT compilers, caches and the database's pages
            case.measure(16, 1 if context.quick else 3)
        for connections in context.scaled((1, 16, 64, 256), (1, 64)):
            for number_of_round in range(context.rounds):
                context.say(f"{name}, {connections} connections, round {number_of_round + 1}")
                for case in cases:
                    samples = found.setdefault((connections, case.server.name), Samples())
                    samples.append(case.measure(connections, context.seconds))
    return found


def rows_of(found):
    for (connections, server), samples in found.items():
        base = found.get((connections, SDK13))
        ratio = p99 = ""
        if base is not None and server.startswith("Baton"):
            ratio = times(samples.median("rate") / base.median("rate"))
            p99 = f"1/{number(base.median('p99_ms') / samples.median('p99_ms'))}"
        yield [connections, server, rate_with_spread(samples), number(samples.median("p50_ms")),
               number(samples.median("p99_ms")), ratio, p99, number(samples.median("cpu_us")),
               number(max(samples.of("resident_mib"))), int(max(samples.of("threads"))),
               sum(samples.of("refused")) or ""]


HEAD = ["connections", "server", "per second", "p50 ms", "p99 ms", "rate, to SDK 1.3.0", "p99, to SDK 1.3.0",
        "CPU µs each", "resident MiB", "threads", "refused"]


# The numbers of connections that scripts/SIZING.md shows, beside 64.
SHOWN = {"send": (1, 64), "stream": (64, 256)}
RAN = {INSIDE: "an agent inside the program", SHIPPED: "the shipped echo, in Python"}


def report_figures(context, name, found):
    for connections in SHOWN.get(name, (64,)):
        for server, ran in RAN.items():
            mine, other = found.get((connections, server)), found.get((connections, SDK13))
            if mine is None or other is None:
                continue

            def cell(samples):
                return (f"{number(samples.median('rate'))}/s, p50 {number(samples.median('p50_ms'))} ms, "
                        f"p99 {number(samples.median('p99_ms'))} ms")
            context.figure(CASES[name].lower(), ran if name not in ("get", "card") else "no agent", connections,
                           cell(mine), cell(other), times(mine.median("rate") / other.median("rate")))
    if name == "send":
        mine, other = (max(found[64, server].of("resident_mib")) for server in (INSIDE, SDK13))
        context.figure("resident memory after the sends", RAN[INSIDE], 64, f"{number(mine)} MiB", f"{number(other)} MiB",
                       f"1/{number(other / mine)}")
        limit = found[64, "limit: 4 commits"].median("rate")
        context.figure("the limit of this disk and machine with four commits for each send, one after the other",
                       "a bare SQLite", 64, f"{number(limit)}/s; Baton has "
                                            f"{found[64, INSIDE].median('rate') / limit:.0%}")


def run(context, name):
    found = measured(context, name)
    context.section(CASES[name], table(HEAD, rows_of(found)))
    def median(server, figure="rate"):
        return found[64, server].median(figure)
    ratio = median(INSIDE) / median(SDK13)
    report_figures(context, name, found)
    wanted = {"send": 10, "get": 12, "card": 9, "stream": 8}.get(name)
    if wanted:
        context.target(f"{CASES[name].lower()}, 64 connections, to SDK 1.3.0", f"at least {wanted}x", times(ratio),
                       ratio >= wanted)
    if name == "send":
        tail = median(SDK13, "p99_ms") / median(INSIDE, "p99_ms")
        context.target("their p99", "at most 1/20", f"1/{number(tail)}", tail >= 20)
        share = median(INSIDE) / median("limit: 4 commits")
        context.target("to the limit of 4 dependent commits", "at least 70 %", f"{share:.0%}", share >= 0.7)


def run_slow_disk(context):
    """Measures blocking sends with slower flushes."""
    rows = []
    for delay in context.flush_delays_ms:
        with contextlib.ExitStack() as stack:
            servers = [EmbeddedBaton(context.places, slow_flush_ms=delay),
                       GroupCommit(context.places, 4, slow_flush_ms=delay),
                       GroupCommit(context.places, 1, slow_flush_ms=delay)]
            cases = [Case("send", stack.enter_context(server)) for server in servers]
            for connections in (64, 256):
                found = {case.server.name: Samples() for case in cases}
                for _ in range(context.rounds):
                    context.say(f"flushes that take {delay:g} ms longer, {connections} connections")
                    for case in cases:
                        found[case.server.name].append(case.measure(connections, context.seconds))
                for server, samples in found.items():
                    if connections == 64 and server != "limit: 1 commit":
                        ran = "a bare SQLite, four commits" if server.startswith("limit") else RAN[INSIDE]
                        context.figure(f"blocking sends where each flush takes {delay:g} ms more", ran, connections,
                                       f"{number(samples.median('rate'))}/s")
                    rows.append([f"{delay:g} ms", connections, server, rate_with_spread(samples),
                                 number(samples.median("p50_ms")), number(samples.median("p99_ms"))])
    context.section("Blocking sends on slower disks",
                    "Each flush takes so much longer (a library in front of `fsync` and `fdatasync`).",
                    table(["each flush", "connections", "server", "per second", "p50 ms", "p99 ms"], rows))
