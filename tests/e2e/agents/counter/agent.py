"""A worker that takes one turn after another. Each turn counts to the number in its message."""
import json
import sys


def say(**line):
    print(json.dumps(line, ensure_ascii=False), flush=True)


for line in sys.stdin:
    order = json.loads(line)
    if order["type"] != "turn":
        continue
    turn = order["turn"]
    for number in range(1, int(order["message"]["parts"][0]["text"]) + 1):
        say(type="status", turn=turn, message=f"step {number}")
    say(type="artifact", turn=turn, artifact={"name": "count", "parts": [{"data": {"counted": number}}]})
    say(type="done", turn=turn)
