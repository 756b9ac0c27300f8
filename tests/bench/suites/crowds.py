"""The cost of thousands of open streams, or thousands of waiting sends."""
import time

import a2a
import load
from samples import number, table, times
from servers import Baton, Sdk13, settled_kib


def servers(places):
    yield Baton(places, agent="deeds")
    yield Sdk13(places)


def held_task(caller):
    """Returns a task that runs and is silent."""
    task = caller.task(a2a.send("1.0", "hold", waits=False, message_id="hold"))["id"]
    deadline = time.monotonic() + 30
    while caller.task(a2a.get("1.0", task))["status"]["state"] != "TASK_STATE_WORKING":
        if time.monotonic() > deadline:
            raise RuntimeError("the task does not begin")
        time.sleep(0.01)
    return task


def idle_streams(server, count):
    """Opens streams on one task, and sends one event to all of them."""
    with a2a.Caller(server, "1.0") as caller:
        task = held_task(caller)
        before = settled_kib(server)
        with load.Crowd(server, a2a.subscribe("1.0", task), count) as crowd:
            crowd.await_events(1)  # the task as it is
            resident, threads = settled_kib(server), server.threads()
            crowd.open_gate("event")
            told = crowd.await_events(2)
            crowd.open_gate("end")
            crowd.await_ends()
    return {"kib_each": (resident - before) / count, "before_mib": before / 1024, "mib": resident / 1024,
            "threads": threads, "open_ms": crowd.opened["open_ms"], "told_ms": told["last_ms"],
            "lost": crowd.lost}


def own_streams(server, count):
    """Opens streams, each on its own silent task."""
    with a2a.Caller(server, "1.0") as caller:
        caller.task(a2a.send("1.0", "Hello", message_id="warm"))
    before = settled_kib(server)
    with load.Crowd(server, a2a.send("1.0", "hold", stream=True), count) as crowd:
        crowd.await_events(1)  # the task as it is
        resident, threads = settled_kib(server), server.threads()
        crowd.open_gate("end")
        ended = crowd.await_ends()
    return {"kib_each": (resident - before) / count, "before_mib": before / 1024, "mib": resident / 1024,
            "threads": threads, "open_ms": crowd.opened["open_ms"], "told_ms": ended["last_ms"],
            "lost": crowd.lost}


def await_taken(server, count):
    """Waits until every send has become a task. The SDK's server does not report that."""
    deadline = time.monotonic() + 60
    while isinstance(server, Baton) and time.monotonic() < deadline:
        if server.metric("baton_turns_queued") + server.metric("baton_turns_running") >= count:
            return
        time.sleep(0.1)
    if isinstance(server, Baton):
        raise RuntimeError(f"not all of {count} sends became tasks")
    time.sleep(2)


def waiting_sends(server, count):
    with a2a.Caller(server, "1.0") as caller:
        caller.task(a2a.send("1.0", "Hello", message_id="warm"))
    before = settled_kib(server)
    with load.Crowd(server, a2a.send("1.0", "hold"), count) as crowd:
        await_taken(server, count)
        resident, threads = settled_kib(server), server.threads()
        crowd.open_gate("end")
        ended = crowd.await_ends()
    return {"kib_each": (resident - before) / count, "before_mib": before / 1024, "mib": resident / 1024,
            "threads": threads, "open_ms": crowd.opened["open_ms"], "told_ms": ended["last_ms"],
            "lost": crowd.lost}


def row(server, count, found):
    return [f"{count:,}", server.name, number(found["before_mib"]), number(found["mib"]), number(found["kib_each"]),
            found["threads"], number(found["open_ms"]), number(found["told_ms"]), found["lost"]]


def head(last):
    return ["how many", "server", "MiB before", "MiB with all", "KiB each", "threads", "ms to open all", last,
            "connections lost"]


def measure(context, what, one, last, title, row_of_readme):
    rows = []
    for count in context.scaled((1000, 10_000), (200,)):
        for server in servers(context.places):
            context.say(f"{count} {what}, {server.name}")
            with server:
                found = one(server, count)
            rows.append(row(server, count, found))
            if server.name == "Baton":
                mine = found
            else:
                other = found
                if found["lost"]:
                    raise RuntimeError(f"Baton lost {found['lost']} of {count} connections")
    context.section(title, table(head(last), rows))
    context.target(f"{rows[-1][0]} {what}: memory each", "at most 4 KiB", f"{number(mine['kib_each'])} KiB",
                   mine["kib_each"] <= 4)
    context.target(f"{rows[-1][0]} {what}: threads", "fewer than 16", str(mine["threads"]), mine["threads"] < 16)
    singular, ran, told_what = row_of_readme
    context.figure(f"{singular}, of {count:,}", ran, f"{count:,}",
                   f"{number(mine['kib_each'])} KiB, {mine['threads']} threads", f"{number(other['kib_each'])} KiB",
                   f"1/{number(other['kib_each'] / mine['kib_each'])}")
    if told_what:
        context.figure(f"{told_what} to {count:,} streams", ran, f"{count:,}", f"{number(mine['told_ms'])} ms",
                       f"{number(other['told_ms'])} ms", times(other["told_ms"] / mine["told_ms"]))
    return mine


def run_idle(context):
    mine = measure(context, "idle streams", idle_streams, "ms until all had one event", "Idle streams on one task",
                   ("an idle stream", "one task that all follow", "one event"))
    measure(context, "idle streams, each on a task of its own", own_streams, "ms from the end to that of the last",
            "Idle streams, each on a task of its own", ("an idle stream with its task", "a task for each stream", ""))
    context.target("one event to all of them", "under 150 ms", f"{number(mine['told_ms'])} ms", mine["told_ms"] < 150)


def run_waiting(context):
    measure(context, "waiting sends", waiting_sends, "ms from the end of the wait to the last answer", "Waiting sends",
            ("a waiting send with its task", "a task for each send", ""))
