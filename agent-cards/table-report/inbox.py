"""Standard input as Baton writes it: one line with the turn, and perhaps later one that cancels it."""

import json
import os
import select


class Inbox:
    def __init__(self, handle: int = 0) -> None:
        self._handle = handle
        self._bytes = bytearray()
        self._open = True

    def turn(self) -> dict:
        """Waits for the first line."""
        while b"\n" not in self._bytes and self._open:
            self._read()
        line, _, rest = bytes(self._bytes).partition(b"\n")
        self._bytes = bytearray(rest)
        return json.loads(line)

    def cancelled(self) -> bool:
        """Whether a line to cancel has come; does not wait."""
        while self._open and select.select([self._handle], [], [], 0)[0]:
            self._read()
        return any(self._cancels(line) for line in self._bytes.splitlines())

    def _read(self) -> None:
        data = os.read(self._handle, 1 << 16)
        self._bytes += data
        self._open = bool(data)

    @staticmethod
    def _cancels(line: bytes) -> bool:
        try:
            return json.loads(line)["type"] == "cancel"
        except (ValueError, TypeError, KeyError):
            return False
