"""Stage: executes the lines of the message, one after another.

A line that is a JSON object is a line of the protocol and is sent as it is. The others:
  say TEXT             streams the text word by word
  hold GATE            waits until there is a file gate-GATE, or until the turn is canceled
  note NAME            adds a line to the file note-NAME
  told MEMBER          streams this member of the turn line, as JSON
  delegate AGENT TEXT  delegates to another agent and streams its result
Then the turn is done, unless a line ended it. The answer to a question is returned as JSON.
"""

import json
import re
import sys
import threading
from pathlib import Path

ENDS = {"ask", "auth", "done", "fail", "reject"}
LOOK_S = 0.02

speaking = threading.Lock()
running: dict[str, "Turn"] = {}


class Turn:
    def __init__(self, order: dict) -> None:
        self.order = order
        self.canceled = threading.Event()
        self.delegated = threading.Event()
        self.child: dict = {}
        self.ended = False

    def send(self, line: dict) -> None:
        with speaking:
            print(json.dumps({**line, "turn": self.order["turn"]}), flush=True)

    def text(self, delta: str) -> None:
        self.send({"type": "text", "delta": delta})

    def perform(self) -> None:
        for line in self.script():
            self.do(line)
            if self.ended:
                return
        self.send({"type": "done"})

    def script(self) -> list[str]:
        parts = self.order["message"]["parts"]
        if self.order.get("resume"):
            return [f"say The answer was {json.dumps([self.answer_in(part) for part in parts])}"]
        text = "\n".join(part["text"] for part in parts if "text" in part)
        return [line for line in text.split("\n") if line.strip()]

    def answer_in(self, part: dict) -> object:
        """Returns the answer in a part; for the result of a client's tool also the id of the call."""
        data = part.get("data")
        if isinstance(data, dict) and "toolResult" in data:
            return {"call": self.order["resume"]["ask"], "content": data["toolResult"]["content"]}
        return part.get("text", data)

    def do(self, line: str) -> None:
        if line.startswith("{"):
            self.say_line(json.loads(line))
            return
        verb, _, rest = line.partition(" ")
        deed = getattr(self, f"do_{verb}", None)
        if deed is None:
            self.say_line({"type": "fail", "error": f"What is {verb}?"})
        else:
            deed(rest)

    def say_line(self, line: dict) -> None:
        self.send(line)
        offered = {tool.get("name") for tool in self.order.get("tools") or []}
        by_client = line["type"] == "tool-call" and line["name"] in offered
        self.ended = by_client or line["type"] in ENDS

    def do_say(self, text: str) -> None:
        for word in re.findall(r"\S+\s*", text):
            self.text(word)

    def do_hold(self, gate: str) -> None:
        while not Path(f"gate-{gate}").exists():
            if self.canceled.wait(LOOK_S):
                self.say_line({"type": "fail", "error": "stopped"})
                return

    def do_note(self, name: str) -> None:
        with Path(f"note-{name}").open("a", encoding="utf-8") as file:
            file.write("noted\n")

    def do_told(self, member: str) -> None:
        self.text(json.dumps(self.order.get(member)))

    def do_delegate(self, rest: str) -> None:
        agent, _, text = rest.partition(" ")
        self.send({"type": "delegate", "id": "d1", "agent": agent, "message": {"parts": [{"text": text}]}})
        self.delegated.wait()
        task = self.child.get("task") or {}
        self.text(f"{agent}: {(task.get('status') or {}).get('state', self.child.get('error'))}")


def begin(order: dict) -> None:
    turn = running[order["turn"]] = Turn(order)
    try:
        turn.perform()
    except Exception as problem:  # any error ends the turn
        turn.send({"type": "fail", "error": repr(problem)})
    finally:
        del running[order["turn"]]


def main() -> None:
    for text in sys.stdin:
        line = json.loads(text)
        turn = running.get(line.get("turn"))
        if line["type"] == "turn":
            threading.Thread(target=begin, args=(line,), daemon=True).start()
        elif line["type"] == "cancel" and turn:
            turn.canceled.set()
        elif line["type"] == "delegate-result" and turn:
            turn.child = line
            turn.delegated.set()


if __name__ == "__main__":
    main()
