"""Standard output as Baton reads it: one JSON object a line."""

from __future__ import annotations

import json
import os
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO, Protocol

    class Lines(Protocol):
        """Receives the lines of turns. Tests may pass their own."""

        def write(self, line: dict[str, object]) -> None: ...

# JSON has no Infinity and NaN, so these values raise ValueError.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


class LineTooLong(ValueError):
    """A line of output is longer than the limit. Send a file of that size by its URL."""


def encoded(line: dict[str, object]) -> bytes:
    text = _encode(line)
    try:
        return text.encode()
    except UnicodeEncodeError:  # UTF-8 cannot hold half a surrogate pair: it becomes U+FFFD, and a pair its character
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


class Output:
    """Writes whole lines, from any thread."""

    def __init__(self, stream: BinaryIO, line_max_bytes: int) -> None:
        self._stream = stream
        self._line_max_bytes = line_max_bytes
        self._lock = threading.Lock()

    def write(self, line: dict[str, object]) -> None:
        """Writes one line. Raises ValueError or TypeError, and writes nothing, if it is not JSON or is too long."""
        data = encoded(line)
        if len(data) > self._line_max_bytes:
            raise LineTooLong(f"a line of {len(data):,} bytes ({line.get('type')}) is longer than the limit of {self._line_max_bytes:,}")
        with self._lock:
            try:
                self._stream.write(data + b"\n")
                self._stream.flush()
            except BrokenPipeError:  # Baton has ended: exit silently
                os._exit(0)
