"""Reports as JSON which trace its turn belongs to: by its line, by its environment, and by what the agents it called
reported. "delegate NAME TEXT" delegates TEXT to that agent; "ask" asks; "tools" calls one tool that works, one that
fails and one without a result; "hold" shows the trace and waits for the gate gate-all. Any other message is answered at
once."""
import json
import os
import pathlib
import sys
import time


def say(**line):
    print(json.dumps(line, ensure_ascii=False), flush=True)


turn = json.loads(sys.stdin.readline())
word, _, rest = turn["message"]["parts"][0]["text"].partition(" ")
told = {"line": turn.get("traceparent"), "environment": os.environ.get("TRACEPARENT"), "attempt": turn["attempt"]}
if "ask" in turn.get("resume", {}):
    word = "tell"
if word == "ask":
    say(type="ask", message=json.dumps(told))
    sys.exit()
if word == "hold":
    say(type="status", message=json.dumps(told))
    while not (pathlib.Path(__file__).parent / "gate-all").exists():
        time.sleep(0.02)
if word == "tools":
    for name in ("works", "fails", "hangs"):
        say(type="tool-call", id=f"call-{name}", name=name, arguments={"secret": rest})
    say(type="tool-result", id="call-works", content={"secret": rest})
    say(type="tool-result", id="call-fails", error="no such file")
if word == "delegate":
    name, _, text = rest.partition(" ")
    say(type="delegate", id="d", agent=name, message=text)
    result = json.loads(sys.stdin.readline())
    said = "".join(part.get("text", "") for artifact in result.get("task", {}).get("artifacts", [])
                   for part in artifact["parts"])
    told["below"] = json.loads(said) if said.startswith("{") else said or result.get("error")
say(type="text", delta=json.dumps(told))
say(type="done")
