"""The loop: reads the lines that Baton writes, and runs each turn in a thread."""

from __future__ import annotations

import json
import os
import re
import sys
import threading

from baton._children import Result
from baton._ends import Canceled, Ended, Fail, Reject
from baton._output import Output
from baton._turn import Turn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, BinaryIO, NoReturn

LINE_MAX_BYTES = (8 << 20) + (256 << 10)  # Baton's limit, unless the card sets another `line_max_bytes`

# Matches the beginning of a turn line: Baton's own members, which come before all content from callers.
_TURN = re.compile(rb'\{"type": ?"turn", ?"protocol": ?\d+, ?"turn": ?("[^"\\]*")')


class Agent:
    """A function that answers turns. Calling the Agent calls the function."""

    def __init__(self, answer: Callable[[Turn], Any]) -> None:
        self.answer = answer

    def __call__(self, turn: Turn) -> Any:
        return self.answer(turn)

    def run(self, *, line_max_bytes: int = LINE_MAX_BYTES) -> None:
        """Answers turns until Baton closes the agent's input, each in a thread of its own.

        Reserves standard input and output for the protocol. Output that the agent and its processes print goes to
        standard error, which is Baton's log. Their standard input is empty.
        """
        source, sink = _standard_streams()
        _Loop(self.answer, Output(sink, line_max_bytes)).run(source)


def agent(answer: Callable[[Turn], Any]) -> Agent:
    """Makes an agent of a function that takes a Turn. README.md lists the values that it may return."""
    return Agent(answer)


def _standard_streams() -> tuple[BinaryIO, BinaryIO]:
    source = open(os.dup(0), "rb", buffering=1 << 16)
    sink = open(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return source, sink


class _Loop:
    def __init__(self, answer: Callable[[Turn], Any], output: Output) -> None:
        self._answer = answer
        self._output = output
        self._turns: dict[str, Turn] = {}
        self._threads: set[threading.Thread] = set()

    def run(self, source: BinaryIO) -> None:
        for line in source:
            try:
                self._take(line)
            except Exception as problem:  # any error: fail this turn, and keep serving the others
                detail = f"a line was not understood: {problem!r}"[:500]
                print(detail, file=sys.stderr, flush=True)
                self._refuse(line, detail)
        for turn in list(self._turns.values()):
            turn._hear_no_more()
        # Once the main thread has ended, Python starts no more threads for executors, which asyncio needs, too.
        for thread in list(self._threads):
            thread.join()

    def _take(self, line: bytes) -> None:
        order = json.loads(line)
        kind = order["type"]
        if kind == "turn":
            self._begin(Turn(order, self._output))
        elif (turn := self._turns.get(order["turn"])) is not None:
            if kind == "cancel":
                turn._cancel()
            elif kind == "delegate-result":
                turn._hear(Result(order))
            # A `tool-result` needs no action: the turn's message has the same content.

    def _begin(self, turn: Turn) -> None:
        thread = threading.Thread(target=self._perform, args=(turn,), name=turn.id)
        self._turns[turn.id] = turn
        self._threads.add(thread)
        try:
            thread.start()
        except Exception:  # the system has no thread left
            self._threads.discard(thread)
            del self._turns[turn.id]
            raise

    def _refuse(self, line: bytes, detail: str) -> None:
        """Fails the turn of a line that cannot be read, because Baton waits until every turn has ended.

        JSON from a caller may exceed Python's limits: an integer of 5,000 digits does.
        """
        found = _TURN.match(line)
        if found is not None:
            self._output.write({"type": "fail", "turn": json.loads(found[1]), "error": "This agent cannot read the message.",
                                "detail": detail})

    def _perform(self, turn: Turn) -> None:
        try:
            self._answer_and_end(turn)
        except Ended:
            pass
        except BaseException as problem:
            self._fail(turn, problem)
        # Baton may have started another attempt under the same name in the meantime.
        if self._turns.get(turn.id) is turn:
            del self._turns[turn.id]
        self._threads.discard(threading.current_thread())

    def _fail(self, turn: Turn, problem: BaseException) -> None:
        from baton._failure import report

        task = turn.task.get("id", "")
        try:
            detail = report(f"turn {turn.id} of task {task} failed:", problem, self._answer)
        except Exception as another:  # such as a second MemoryError; the turn must still end
            detail = f"{type(problem).__name__}; its report failed, too: {type(another).__name__}"
        try:
            turn._end("fail", error=f"The agent failed; for details, see the log for task {task}.", detail=detail)
        except Ended:
            pass

    def _answer_and_end(self, turn: Turn) -> NoReturn:
        try:
            give(turn, self._answer(turn))
        except Canceled:
            turn.fail("The turn was canceled.")
        except Reject as refusal:
            turn.reject(str(refusal))
        except Fail as failure:
            turn.fail(str(failure))
        turn.done()


def give(turn: Turn, answer: Any) -> None:
    """Sends the value that the function returned, as README.md describes."""
    if answer is None:
        return
    if isinstance(answer, str):
        turn.say(answer)
    elif isinstance(answer, dict):
        turn.artifact("result", answer)
    elif hasattr(answer, "__dataclass_fields__") and not isinstance(answer, type):
        from dataclasses import asdict

        turn.artifact("result", asdict(answer))
    elif hasattr(answer, "model_dump") and not isinstance(answer, type):  # a model of pydantic, which is iterable, too
        turn.artifact("result", answer.model_dump(mode="json"))
    elif hasattr(answer, "keys") and not isinstance(answer, type):  # a mapping, which is iterable, too
        turn.artifact("result", dict(answer))
    elif hasattr(answer, "__await__") or hasattr(answer, "__aiter__"):
        from baton._async import give_async

        give_async(turn, answer)
    elif hasattr(answer, "__iter__") and not isinstance(answer, (bytes, bytearray, memoryview, type)):
        _give_pieces(turn, iter(answer))
    else:
        import reprlib

        raise TypeError(f"an agent cannot return or yield {reprlib.repr(answer)} ({type(answer).__name__}); it may be a str, a "
                        "dict, a dataclass, a model of pydantic, None, or something to iterate over with these in it")


def _give_pieces(turn: Turn, pieces: Any) -> None:
    """Sends each piece, and a generator's return value. A piece of a wrong type raises at its `yield`."""
    try:
        while True:
            try:
                piece = next(pieces)
            except StopIteration as end:
                return give(turn, end.value)
            turn.check()
            try:
                give(turn, piece)
            except Exception as problem:
                if hasattr(pieces, "throw"):
                    try:
                        pieces.throw(problem)
                    except StopIteration:  # it has caught the problem and returned
                        pass
                raise
    finally:
        if hasattr(pieces, "close"):  # lets a generator clean up before the turn ends
            pieces.close()
