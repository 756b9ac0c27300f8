"""Standard output as Baton reads it: one JSON object a line."""

from __future__ import annotations

import json
import os
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO, Protocol

    class Lines(Protocol):
        """Takes the lines of turns; a test may have its own."""

        def write(self, line: dict[str, object]) -> None: ...

# Not the words Infinity and NaN, which are no JSON: they are a ValueError.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


class LineTooLong(ValueError):
    """What was to be said does not fit into one line. A file this large is sent by its URL."""


def encoded(line: dict[str, object]) -> bytes:
    text = _encode(line)
    try:
        return text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which UTF-8 cannot have; pairs become characters
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


class Output:
    """Writes whole lines, from any thread."""

    def __init__(self, stream: BinaryIO, line_max_bytes: int) -> None:
        self._stream = stream
        self._line_max_bytes = line_max_bytes
        self._lock = threading.Lock()

    def write(self, line: dict[str, object]) -> None:
        """Raises ValueError or TypeError, and writes nothing, for what is no JSON or too long."""
        data = encoded(line)
        if len(data) > self._line_max_bytes:
            raise LineTooLong(f"a line of {len(data):,} bytes ({line.get('type')}); {self._line_max_bytes:,} is the most")
        with self._lock:
            try:
                self._stream.write(data + b"\n")
                self._stream.flush()
            except BrokenPipeError:  # Baton is gone: end without a word
                os._exit(0)
