"""A worker that serves well, dies, hangs, or talks about turns that are not its own, as each message says."""
import json
import os
import sys
import time


def say(**line):
    print(json.dumps(line), flush=True)


for line in sys.stdin:
    order = json.loads(line)
    if order["type"] != "turn":
        continue
    turn, way = order["turn"], order["message"]["parts"][0]["text"]
    if way == "die":
        os._exit(5)
    if way == "hang":
        time.sleep(3600)
    if way == "other turn":
        say(type="done", turn="nobody's", message="not mine")
    say(type="text", turn=turn, delta="served")
    say(type="done", turn=turn)
