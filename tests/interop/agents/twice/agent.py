"""Twice: asks two questions under the same id and returns the answers."""

import json
import sys

SCHEMA = {"type": "object", "properties": {"approved": {"type": "boolean"}}, "required": ["approved"]}
answers: dict[str, list[str]] = {}  # by task


def send(turn: str, kind: str, **members: object) -> None:
    print(json.dumps({"type": kind, "turn": turn, **members}), flush=True)


for line in sys.stdin:
    order = json.loads(line)
    if order["type"] != "turn":
        continue
    turn, given = order["turn"], answers.setdefault(order["task"]["id"], [])
    if order.get("resume"):
        data = [part["data"] for part in order["message"]["parts"] if "data" in part]
        given.append("yes" if data and data[0].get("approved") else "no")
    if len(given) < 2:
        send(turn, "ask", id="question", message=["First?", "Second?"][len(given)], schema=SCHEMA)
    else:
        send(turn, "text", delta=", ".join(given))
        send(turn, "done")
