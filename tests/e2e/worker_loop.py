"""Shared by test agents that are workers and wait for gates. harness.py copies it into their folders."""
import json
import os
import pathlib
import select
import sys

FOLDER = pathlib.Path(__file__).resolve().parent


def say(turn, **line):
    sys.stdout.write(json.dumps({"turn": turn, **line}, ensure_ascii=False) + "\n")


def gates():
    """Returns the names of the open gates: those of the files gate-<name>."""
    return {name[len("gate-"):] for name in os.listdir(FOLDER) if name.startswith("gate-")}


def serve(begin, look_at_gates, waiting=None):
    """Gives each turn to `begin`, and calls `look_at_gates` again and again, but not while `waiting`, the turns that
    wait for a gate, is empty. A turn in it that is canceled is removed from it and fails. Returns when no more turns
    will come."""
    begun = []  # pieces of a line, which may be long
    while True:
        is_idle = waiting is not None and not waiting
        if select.select([0], [], [], None if is_idle else 0.02)[0]:
            read = os.read(0, 1 << 20)
            if not read:
                return
            *ends, rest = read.split(b"\n")
            for end in ends:
                order = json.loads(b"".join([*begun, end]))
                begun = []
                if order["type"] == "turn":
                    begin(order)
                elif order["type"] == "cancel" and waiting and waiting.pop(order["turn"], None):
                    say(order["turn"], type="fail", error="stopped")
            begun.append(rest)
        look_at_gates()
        sys.stdout.flush()
