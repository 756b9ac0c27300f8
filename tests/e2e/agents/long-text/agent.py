"""Three sections of one artifact; the second and third wait for their gates."""
import json
import pathlib
import sys
import time


def say(**line):
    print(json.dumps(line, ensure_ascii=False), flush=True)


def wait_for_gate(name):
    """Waits until the test opens this task's gate (Server.gate)."""
    gate = pathlib.Path(__file__).resolve().parent / f"gate-{name}"
    while not gate.exists():
        time.sleep(0.01)


turn = json.loads(sys.stdin.readline())
if not any(part.get("raw") for part in turn["message"]["parts"]):
    say(type="fail", error="no picture came along")
    sys.exit()
for number in (1, 2, 3):
    if number > 1:
        wait_for_gate(f"{turn['task']['id']}-{number}")
    say(type="artifact", append=number > 1, lastChunk=number == 3,
        artifact={"artifactId": "description", "parts": [{"text": f"<section {number}...>"}]})
say(type="done")
