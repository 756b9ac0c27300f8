"""A worker that says "begun" for each turn. It never ends "poison", whatever Baton sends; it ends "hold" with the
worker's pid and the turn's attempt once gate-<task id> is open; it ends anything else at once; "mute" says nothing."""
import os

from worker_loop import gates, say, serve

held = {}  # turn: (task, attempt)


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


def look_at_gates():
    opened = gates()
    for turn, (task, attempt) in list(held.items()):
        if task in opened:
            del held[turn]
            done(turn, attempt)


serve(begin, look_at_gates)
