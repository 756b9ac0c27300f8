"""A worker that takes one turn after another. "wait TEXT" and "keep TEXT" delegate TEXT to this very agent: the first
ends its turn until the result is there, the second keeps reading until it comes. "both TEXT" does the first, then the
second. Any other message is echoed."""
import json
import sys


def say(turn, **line):
    print(json.dumps({"turn": turn["turn"], **line}, ensure_ascii=False), flush=True)


def report(turn, result):
    say(turn, type="text", delta="got: " + result["task"]["artifacts"][0]["parts"][0]["text"])
    say(turn, type="done", message=str(turn["attempt"]))


def result_of(turn):
    """Returns the child's result, or None if the turn was canceled."""
    for line in sys.stdin:
        order = json.loads(line)
        assert order["turn"] == turn["turn"], "another turn in a place that is taken"
        if order["type"] == "cancel":
            return None
        if order["type"] == "delegate-result":
            return order


for line in sys.stdin:
    turn = json.loads(line)
    if turn["type"] != "turn":
        continue
    how, _, rest = turn["message"]["parts"][0]["text"].partition(" ")
    results = turn.get("resume", {}).get("results", [])
    waits = how == "wait" or (how == "both" and not results)
    if how not in ("wait", "keep", "both"):
        say(turn, type="text", delta=turn["message"]["parts"][0]["text"])
        say(turn, type="done")
    elif how == "wait" and results:
        report(turn, results[0])
    else:
        say(turn, type="text", delta="I ask. ")
        say(turn, type="delegate", id="d1" if waits or how == "keep" else "d2", agent=turn["agent"], message=rest)
        if waits:
            say(turn, type="wait")
            continue
        result = result_of(turn)
        if result:
            report(turn, result)
        else:
            say(turn, type="fail", error="stopped")
