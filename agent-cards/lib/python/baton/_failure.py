"""Describes an error in the agent to its author. Imported only when an error occurs."""

from __future__ import annotations

import os
import sys
import traceback

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_LIBRARY = os.path.dirname(os.path.abspath(__file__)) + os.sep
_PYTHON = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_DETAIL_MAX = 2000


def report(heading: str, problem: BaseException, answer: Callable[..., Any]) -> str:
    """Prints the traceback to standard error. Returns the error's words, with the author's file and line.

    Frames of this library are left out. If there are no others, the function has returned a wrong value, and the
    place is that of its return statements.
    """
    shown = traceback.TracebackException.from_exception(problem)
    frames = [frame for frame in shown.stack if not _file(frame).startswith(_LIBRARY)]
    while frames and _rank(frames[0]) == 0:  # Python's own, such as asyncio, which calls the agent
        frames.pop(0)
    shown.stack = traceback.StackSummary.from_list(frames)
    place = _place(frames) if frames else _place_of_return(answer)
    # The source of a SyntaxError stands before this line, and notes after it.
    words = next(line for line in shown.format_exception_only() if not line.startswith(" "))
    last = words.strip() + (f" ({place})" if place else "")
    text = "".join(shown.format()) if frames else last + "\n"
    print(heading + "\n" + text, end="", file=sys.stderr, flush=True)
    return last[:_DETAIL_MAX]


def _file(frame: traceback.FrameSummary) -> str:
    return os.path.abspath(frame.filename)


def _rank(frame: traceback.FrameSummary) -> int:
    """Returns 2 for the agent's folder, 1 for installed packages, 0 for Python itself."""
    file = _file(frame)
    if "site-packages" not in file and file.startswith(os.getcwd() + os.sep):
        return 2
    return 0 if file.startswith(_PYTHON) and "site-packages" not in file else 1


def _place(frames: list[traceback.FrameSummary]) -> str:
    """Returns the innermost line in the agent's folder, or else the innermost that is not Python's own."""
    best = max(_rank(frame) for frame in frames)
    frame = [frame for frame in frames if _rank(frame) == best][-1]
    return _shown(_file(frame), frame.lineno)


def _shown(file: str, line: int | None) -> str:
    folder = os.getcwd() + os.sep
    return f"{file[len(folder):] if file.startswith(folder) else file}:{line}"


def _place_of_return(answer: Callable[..., Any]) -> str:
    """Returns the lines of the function's return statements."""
    import dis
    import inspect

    code = getattr(inspect.unwrap(answer), "__code__", None)
    if code is None:
        return ""
    places: list[str] = []
    line, value = code.co_firstlineno, object()
    for step in dis.get_instructions(code):
        line = _line_of(step) or line
        if step.opname.startswith("RETURN_"):
            returned = step.argval if step.opname == "RETURN_CONST" else value
            place = _shown(os.path.abspath(code.co_filename), line)
            if returned is not None and place not in places:
                places.append(place)
        value = step.argval if step.opname == "LOAD_CONST" else object()
    return " or ".join(places)


def _line_of(step: Any) -> int | None:
    """Returns the line number of an instruction. Since Python 3.13 `starts_line` is a bool."""
    line = getattr(step, "line_number", None) if isinstance(step.starts_line, bool) else step.starts_line
    return int(line) if line is not None else None
