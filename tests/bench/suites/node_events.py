"""The time until an event stored by one node arrives at streams on other nodes."""
import concurrent.futures
import contextlib
import os
import pathlib
import re
import selectors
import socket
import statistics
import struct
import time

import a2a
import cluster
from samples import number, table
from suites.nodes import CONNECTIONS, MAX_RATE, Group

WANTED_P50_MS, WANTED_P99_MS = 1, 10
PAUSE_MS = 20
ARRIVED = 35  # SO_TIMESTAMPNS: the kernel reports when data arrived, even if this program reads it late
TASK = re.compile(rb'"task":\{"id":"([0-9a-f-]+)"')
TICK = re.compile(rb'"text":"tick (\d+) "')


class Stream:
    """A request whose answer is a stream, and the arrival times of its ticks."""

    def __init__(self, node, body):
        self.socket = socket.create_connection(("127.0.0.1", node.port), timeout=30)
        headers = "".join(f"{name}: {value}\r\n" for name, value in a2a.HEADERS["1.0"].items())
        head = f"POST {node.path} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
        self.socket.setsockopt(socket.SOL_SOCKET, ARRIVED, 1)
        self.socket.sendall((head + body).encode())
        self.seen, self.came = b"", {}

    def read(self):
        """Reads the available bytes, at least one."""
        got, said, _, _ = self.socket.recvmsg(1 << 16, 64)
        if not got:
            raise RuntimeError(f"a stream broke off: {self.seen[-300:]}")
        seconds, nanoseconds = next(struct.unpack("qq", data) for _, kind, data in said if kind == ARRIVED)
        self.seen += got
        end = 0
        for tick in TICK.finditer(self.seen):
            self.came[int(tick[1])] = seconds + nanoseconds / 1e9
            end = tick.end()
        self.seen = self.seen[end:]

    def await_task(self):
        while not (found := TASK.search(self.seen)):
            self.read()
        return found[1].decode()


def begin(group, count):
    """Starts a task of ticks at each node. Returns [(stream, followers)]: its stream there, and those at all others."""
    watched = []
    for index, node in enumerate(group.nodes):
        first = Stream(node, a2a.send("1.0", f"ticks {count} {PAUSE_MS}", stream=True,
                                      message_id=f"ticks-{time.time_ns()}-{index}"))
        task = first.await_task()
        followers = [Stream(other, a2a.subscribe("1.0", task)) for other in group.nodes if other is not node]
        for follower in followers:
            follower.await_task()
        watched.append((first, followers))
    return watched


def delays_ms(group, count):
    """Returns the delays of every tick at every follower, after its arrival in the writing node's stream."""
    with contextlib.ExitStack() as stack, selectors.DefaultSelector() as selector:
        watched = begin(group, count)
        streams = [stream for first, followers in watched for stream in (first, *followers)]
        for stream in streams:
            stack.enter_context(stream.socket)
            selector.register(stream.socket, selectors.EVENT_READ, stream)
        deadline = time.monotonic() + 30 + count * PAUSE_MS / 1000
        while any(count not in stream.came for stream in streams):
            if time.monotonic() > deadline:
                raise RuntimeError("a tick does not come")
            for key, _ in selector.select(1):
                key.data.read()
        for stream in streams:
            if len(stream.came) != count:
                raise RuntimeError(f"{len(stream.came)} ticks of {count} came")
        return [(follower.came[tick] - at) * 1000
                for first, followers in watched for follower in followers for tick, at in first.came.items()]


def busy_s():
    """Returns the CPU seconds of all processes of the machine."""
    spent = list(map(int, pathlib.Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]))
    return (sum(spent) - spent[3] - spent[4]) / cluster.TICK


def loaded_delays_ms(group, meter, pace, count):
    """Returns the delays beside sends (see Group.pace), the rate of the sends, and the share of the cores in use."""
    seconds = count * PAUSE_MS // 1000 + 3
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        sending = thread.submit(group.measure, meter, pace[0], seconds, pace[1])
        time.sleep(0.5)  # lets the load start before the first tick
        began, busy = time.monotonic(), busy_s()
        found = delays_ms(group, count)
        used = (busy_s() - busy) / (time.monotonic() - began) / os.cpu_count()
        return found, sending.result()["rate"], used


def row(name, rounds, rates=(0,), used=None):
    found = [sorted(one) for one in rounds]
    p50, p99 = (statistics.median(one[int(len(one) * share)] for one in found) for share in (0.5, 0.99))
    most = max(one[-1] for one in found)
    return p50, p99, [name, number(statistics.median(rates)), f"{statistics.median(used):.0%}" if used else "", len(found),
                      sum(map(len, found)), number(p50), number(p99), number(most)]


def run(context):
    rounds, count = context.scaled(max(5, context.rounds), 1), context.scaled(150, 25)
    with contextlib.ExitStack() as stack:
        meter = cluster.Meter(stack.enter_context(cluster.Session(cluster.server())))
        group = Group(context.places, stack, context.nodes)
        most = context.known.get(MAX_RATE) or group.measure(meter, CONNECTIONS, context.scaled(5, 1))["rate"]
        context.say(f"events on other nodes, idle; {most:.0f} sends a second at most")
        rows = [row("nothing else", [delays_ms(group, count) for _ in range(rounds)])[2]]
        for name, share in (("a quarter of the load", 0.25), ("half load", 0.5)):
            context.say(f"events on other nodes, {name}")
            pace = group.pace(meter, most * share)
            p50, p99, shown = row(name, *zip(*(loaded_delays_ms(group, meter, pace, count) for _ in range(rounds))))
            rows.append(shown)
    context.section(
        "An event on another node",
        f"Each of {context.nodes} nodes runs a task that says something every {PAUSE_MS} ms, which is followed on all "
        "others. From when the node that has stored the event sends it in the stream of the send, to when the follower's "
        f"does, by the time of their packets. Half load: sends at half the rate of the most, which is {most:,.0f}/s. "
        "Figures are medians of the rounds'; the longest is of all.",
        table(["beside", "sends a second", "cores in use", "rounds", "events", "p50 ms", "p99 ms", "longest ms"], rows))
    context.target("an event on another node, half load: p50", f"at most {WANTED_P50_MS} ms", f"{number(p50)} ms",
                   p50 <= WANTED_P50_MS)
    context.target("its p99", f"at most {WANTED_P99_MS} ms", f"{number(p99)} ms", p99 <= WANTED_P99_MS)
