"""Lists tickets as JSON if the request asked for an array of them; ends when its gate opens."""
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
schema = turn["message"]["parts"][0].get("metadata", {}).get("schema", {})
if set(schema.get("items", {}).get("properties", {})) != {"ticketNumber", "description"}:
    say(type="fail", error="the schema did not come along")
    sys.exit()
tickets = [{"ticketNumber": "REQ12312", "description": "请求 VPN 访问权限"},
           {"ticketNumber": "REQ23422", "description": "添加到 DL - team-gcp-onboarding"}]
say(type="status", message=json.dumps(tickets, ensure_ascii=False, separators=(",", ":")))
wait_for_gate(turn["task"]["id"])
say(type="done")
