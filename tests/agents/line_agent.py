"""Drives a shipped agent through pipes like Baton: runs its card's command in its folder, with the helper libraries on
the path, and exchanges one JSON object per line."""

import base64
import json
import os
import select
import signal
import subprocess
import time
import unittest
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import IO

AGENTS = Path(__file__).resolve().parents[2] / "agent-cards"
LIBRARIES = {"PYTHONPATH": str(AGENTS / "lib/python"), "NODE_PATH": str(AGENTS / "lib/node")}
LINE_WAIT_S = 60 * float(os.environ.get("BATON_TIME_SCALE", "1"))  # only a broken agent takes so long
ENDINGS = ("done", "fail", "reject", "ask", "auth", "wait")


class LineAgent:
    def __init__(self, name: str, env: dict[str, str] | None = None) -> None:
        folder = AGENTS / name
        baton = json.loads((folder / "card.json").read_text("utf-8"))["baton"]
        self.run(baton["command"], folder, {**baton.get("env", {}), **(env or {})})

    def run(self, command: list[str], folder: Path, env: dict[str, str], errors: int | IO[bytes] = subprocess.DEVNULL) -> None:
        self.process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **LIBRARIES, **env}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=errors)
        self.memory_max_kib = 0
        self._input = self.process.stdin.fileno()
        self._output = self.process.stdout.fileno()
        os.set_blocking(self._input, False)
        self._lines: deque[bytes] = deque()
        self._begun: list[bytes] = []  # pieces of the line that has not ended yet

    def send(self, line: dict | bytes) -> None:
        data = line if isinstance(line, bytes) else json.dumps(line, ensure_ascii=False).encode()
        waiting = memoryview(data + b"\n")
        # Reads while it writes, like Baton: otherwise both sides could wait for room in a full pipe.
        while waiting:
            readable, writable, _ = select.select([self._output], [self._input], [], LINE_WAIT_S)
            if not readable and not writable:
                raise TimeoutError("the agent does not read")
            if readable and not self._read():
                return
            if writable:
                waiting = waiting[os.write(self._input, waiting) :]

    def line(self) -> dict | None:
        """Returns the agent's next line; None if it has closed its output."""
        end = time.monotonic() + LINE_WAIT_S
        while not self._lines:
            if not select.select([self._output], [], [], max(end - time.monotonic(), 0))[0]:
                raise TimeoutError("the agent wrote no line")
            if not self._read():
                return None
        return json.loads(self._lines.popleft())

    def until_end(self, turn: str | None = None, tools: Sequence[str] = ()) -> list[dict]:
        """Returns all lines up to the one that ends the turn, which may be a call of a client's tool."""
        lines = []
        while (line := self.line()) is not None:
            if turn is None or line.get("turn") == turn:
                lines.append(line)
                if line["type"] in ENDINGS or (line["type"] == "tool-call" and line["name"] in tools):
                    break
        return lines

    def end_input(self) -> None:
        """Ends the process like Baton after the last line of a turn with its own process."""
        self.process.stdin.close()

    def wait(self) -> int:
        """Waits, for a limited time, until the process ends by itself. Returns its exit status."""
        end = time.monotonic() + LINE_WAIT_S
        while (found := os.wait4(self.process.pid, os.WNOHANG))[0] == 0:
            if time.monotonic() > end:
                raise TimeoutError("the agent did not end")
            select.select([], [], [], 0.005)
        self.memory_max_kib = found[2].ru_maxrss
        self.process.returncode = os.waitstatus_to_exitcode(found[1])
        return self.process.returncode

    def _read(self) -> bool:
        data = os.read(self._output, 1 << 20)
        *ended, rest = data.split(b"\n")
        for line in ended:
            self._lines.append(b"".join([*self._begun, line]))
            self._begun.clear()
        self._begun.append(rest)
        return bool(data)

    def close(self) -> None:
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            try:
                pipe.close()
            except BrokenPipeError:
                pass


class AgentTest(unittest.TestCase):
    """Base of the agents' tests: `agent` is the folder's name."""

    agent = ""

    def start(self, env: dict[str, str] | None = None) -> LineAgent:
        running = LineAgent(self.agent, env)
        self.addCleanup(running.close)
        return running

    def run_turn(self, turn_line: dict | bytes, env: dict[str, str] | None = None) -> list[dict]:
        """Runs one turn of an agent in `turn` mode."""
        running = self.start(env)
        running.send(turn_line)
        tools = turn_line.get("tools", []) if isinstance(turn_line, dict) else []
        lines = running.until_end(tools=[tool["name"] for tool in tools if isinstance(tool, dict) and "name" in tool])
        running.end_input()
        self.assertIsNone(running.line(), "a line after the end")
        self.assertEqual(running.wait(), 0)
        return lines


def turn(*parts: dict, turn_id: str = "t1", **members: object) -> dict:
    """Returns a turn line as Baton writes it."""
    message = {"messageId": "m1", "role": "ROLE_USER", "parts": list(parts), "taskId": "k1", "contextId": "c1"}
    metadata = members.pop("message_metadata", None)
    if metadata is not None:
        message["metadata"] = metadata
    return {
        "type": "turn", "protocol": 1, "turn": turn_id, "attempt": 1, "agent": "a",
        "task": {"id": "k1", "contextId": "c1", "state": "TASK_STATE_WORKING"},
        "message": message, "history": [], "artifacts": [], **members,
    }


def text(content: str) -> dict:
    return {"text": content}


def raw(content: bytes, filename: str = "table.csv") -> dict:
    return {"raw": base64.b64encode(content).decode(), "filename": filename, "mediaType": "text/csv"}


def of_type(lines: list[dict], kind: str) -> list[dict]:
    return [line for line in lines if line["type"] == kind]


def reply(lines: list[dict]) -> str:
    return "".join(line["delta"] for line in of_type(lines, "text"))
