"""Delegates its message to the agent named in it and reports the child's end."""
import json
import sys


def say(**line):
    print(json.dumps(line, ensure_ascii=False), flush=True)


turn = json.loads(sys.stdin.readline())
name = turn["message"]["parts"][0]["text"]
say(type="delegate", id="d1", agent=name, message={"role": "ROLE_USER", "parts": [{"text": "告诉我一个笑话"}]})
for line in sys.stdin:
    result = json.loads(line)
    if result["type"] == "delegate-result":
        break
    if result["type"] == "cancel":
        sys.exit()
child = result.get("task")
if not child:
    say(type="fail", error="no child: " + str(result.get("error")))
    sys.exit()
say(type="artifact", artifact={"name": "child", "parts": [{"data": {"id": result["id"], "task": child, "attempt": turn["attempt"]}}]})
say(type="done")
