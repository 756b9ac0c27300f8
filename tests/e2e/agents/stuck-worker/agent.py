"""A worker that says "begun" for each turn. "poison" is never ended, whatever Baton says; "hold" is ended with the
worker's pid and the turn's attempt once gate-<task id> is there; anything else at once; "mute" says nothing."""
import json
import os
import pathlib
import select
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
held = {}  # turn: (task, attempt)


def say(**line):
    sys.stdout.write(json.dumps(line) + "\n")


def done(turn, attempt):
    say(type="text", turn=turn, delta=f"{os.getpid()} {attempt}")
    say(type="done", turn=turn)


def begin(order):
    turn, attempt, text = order["turn"], order["attempt"], order["message"]["parts"][0]["text"]
    if text == "mute":
        return
    say(type="status", turn=turn, message="begun")
    if text == "hold":
        say(type="artifact", turn=turn, artifact={"artifactId": f"by-{os.getpid()}", "parts": [{"text": "draft"}]})
        held[turn] = (order["task"]["id"], attempt)
    elif text != "poison":
        done(turn, attempt)


rest = b""
while True:
    if select.select([0], [], [], 0.02)[0]:
        read = os.read(0, 1 << 20)
        if not read:
            sys.exit()
        *lines, rest = (rest + read).split(b"\n")
        for line in lines:
            order = json.loads(line)
            if order["type"] == "turn":
                begin(order)
    for turn, (task, attempt) in list(held.items()):
        if (FOLDER / f"gate-{task}").exists():
            del held[turn]
            done(turn, attempt)
    sys.stdout.flush()
