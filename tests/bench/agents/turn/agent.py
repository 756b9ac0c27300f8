"""Echoes the message of its one turn."""
import json
import sys

turn = json.loads(sys.stdin.readline())
text = "".join(part.get("text", "") for part in turn["message"]["parts"])
print(json.dumps({"type": "text", "delta": text}))
print(json.dumps({"type": "done"}))
