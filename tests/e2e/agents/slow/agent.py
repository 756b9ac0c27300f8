"""A worker that says "begun" for each turn and works on it until its gate, gate-<task id> or gate-all, is
there, or until it is told to stop. A message "progress N" gives N status updates first."""
import json
import os
import pathlib
import select
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
turns = {}  # turn: task


def say(**line):
    sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")


def begin(order):
    turns[order["turn"]] = order["task"]["id"]
    words = order["message"]["parts"][0].get("text", "").split()
    say(type="status", turn=order["turn"], message="begun")
    for number in range(int(words[1]) if words[:1] == ["progress"] else 0):
        say(type="status", turn=order["turn"], message=f"step {number}")


def look_at_gates():
    gates = {name[len("gate-"):] for name in os.listdir(FOLDER) if name.startswith("gate-")}
    for turn in [turn for turn, task in turns.items() if "all" in gates or task in gates]:
        del turns[turn]
        say(type="artifact", turn=turn, artifact={"name": "result", "parts": [{"text": "finished"}]})
        say(type="done", turn=turn, message="finished")


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
            elif order["type"] == "cancel" and turns.pop(order["turn"], None):
                say(type="fail", turn=order["turn"], error="stopped")
    look_at_gates()
    sys.stdout.flush()
