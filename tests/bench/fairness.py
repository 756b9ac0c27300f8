#!/usr/bin/env python3
"""Measures the effect of a caller that floods the server on a polite caller, in two parts.

1. While ann sends 10,000 tasks to a slow agent, whose own limit leaves slots to others, bob sends to the echo, one
   after the other: how long his sends take, with and without the flood. The difference is what they waited in queues.
2. Ann and bob keep the same agent busy, ann over eight times as many connections: the rate of each.

BATON_PROGRAM names the program. Prints one JSON object.
"""
import json
import pathlib
import statistics
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import client  # pylint: disable=wrong-import-position
import harness  # pylint: disable=wrong-import-position

FLOOD, POLITE, SECONDS, SLOW_TURNS = 10_000, 500, 5, 64
CONFIG = {"tokens": [{"caller": "ann", "token": "a"}, {"caller": "bob", "token": "b"}],
          "engine": {"drain_grace_s": 0.1}}


def talker(server):
    return client.Client(server.host, server.port)


def flood(server, count, answers):
    """Sends as ann without waiting. Counts the accepted and the refused sends."""
    ann = talker(server)
    for _ in range(count):
        params = {"message": {"messageId": client.new_id(), "kind": "message", **client.text_message("x")},
                  "configuration": {"blocking": False}}
        params["message"]["parts"] = [{"kind": "text", "text": "x"}]
        body = ann.rpc("message/send", params, agent="slow", token="a", headers={"A2A-Version": "0.3"}).body
        answers["refused" if "error" in body else "taken"] += 1
    ann.close()


def polite(server):
    """Returns the time of each of bob's sends, in milliseconds."""
    bob, took = talker(server), []
    for _ in range(POLITE):
        begin = time.perf_counter()
        bob.send("x", agent="echo", token="b")
        took.append((time.perf_counter() - begin) * 1000)
    bob.close()
    return took


def figures(took):
    return {"p50_ms": round(statistics.median(took), 2), "p99_ms": round(statistics.quantiles(took, n=100)[98], 2)}


def queue_wait(server):
    polite(server)
    alone = polite(server)
    answers = {"taken": 0, "refused": 0}
    threads = [threading.Thread(target=flood, args=(server, FLOOD // 4, answers)) for _ in range(4)]
    for thread in threads:
        thread.start()
    harness.wait_for(lambda: answers["taken"] > 500, what="the flood")
    during = polite(server)
    for thread in threads:
        thread.join()
    after = polite(server)  # ann's tasks are still queued
    return {"flood": answers, "alone": figures(alone), "while_ann_sends": figures(during),
            "while_anns_tasks_wait": figures(after)}


def shares(server):
    until = time.monotonic() + SECONDS
    done = {"a": 0, "b": 0}
    lock = threading.Lock()

    def keep_busy(token):
        caller, count = talker(server), 0
        while time.monotonic() < until:
            caller.send("x", agent="echo", token=token)
            count += 1
        with lock:
            done[token] += count

    threads = [threading.Thread(target=keep_busy, args=(token,)) for token in "a" * 32 + "b" * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"ann_per_s": done["a"] / SECONDS, "ann_connections": 32, "bob_per_s": done["b"] / SECONDS,
            "bob_connections": 4}


def main():
    server = harness.Server(["echo", "slow"], CONFIG)
    path = server.agents_folder / "slow" / "card.json"
    card = json.loads(path.read_text(encoding="utf-8"))
    card["baton"]["concurrency"] = SLOW_TURNS
    path.write_text(json.dumps(card), encoding="utf-8")
    with server:
        waits = queue_wait(server)
        server.gate("slow", "all")
    with harness.Server(["echo"], {**CONFIG, "engine": {**CONFIG["engine"], "slots": 2}}) as server:
        print(json.dumps({"queue_wait": waits, "under_full_load": shares(server)}, indent=2))


if __name__ == "__main__":
    main()
