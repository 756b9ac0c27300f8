"""The content of a message: text, data and files."""

from __future__ import annotations

from baton._ends import Reject

TYPE_CHECKING = False
if TYPE_CHECKING:
    import builtins
    from collections.abc import Iterable
    from typing import Any

    from baton._shapes import Message, Part


class File:
    """A file of a message. Its methods raise Reject, with a reason for the caller, if they cannot read the file."""

    def __init__(self, part: Part) -> None:
        self.name: str = part.get("filename", "")
        self.media_type: str = part.get("mediaType", "")
        # The address of the file, if the caller sent no bytes. The library does not fetch it.
        self.url: str | None = part.get("url")
        self._raw = part.get("raw")

    def bytes(self) -> builtins.bytes:
        if self._raw is None:
            raise Reject(f"{self._shown} came as a URL. Send the file itself.")
        from binascii import a2b_base64

        return a2b_base64(self._raw)

    def text(self) -> str:
        try:
            return self.bytes().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise Reject(f"{self._shown} is not text in UTF-8.") from None

    def json(self) -> Any:
        import json

        try:
            return json.loads(self.text())
        except (ValueError, RecursionError) as problem:
            where = f" (line {problem.lineno}, column {problem.colno})" if isinstance(problem, json.JSONDecodeError) else ""
            raise Reject(f"{self._shown} is not JSON{where}.") from None

    @property
    def _shown(self) -> str:
        return self.name or "The file"


def text_of(message: Message | None) -> str:
    """Returns the message's texts, joined by line ends."""
    return "\n".join(part["text"] for part in message["parts"] if "text" in part) if message else ""


def data_of(parts: Iterable[Part]) -> Any:
    """Returns the first data, or None."""
    return next((part["data"] for part in parts if "data" in part), None)


def files_of(parts: Iterable[Part]) -> list[File]:
    return [File(part) for part in parts if "raw" in part or "url" in part]


class Request:
    """A message and its content. `turn.request` is the message that began the task."""

    def __init__(self, message: Message) -> None:
        self.message = message

    @property
    def text(self) -> str:
        """The message's texts, joined by line ends."""
        return text_of(self.message)

    @property
    def data(self) -> Any:
        """The message's first data, any JSON, or None."""
        return data_of(self.message["parts"])

    @property
    def files(self) -> list[File]:
        """The message's files."""
        return files_of(self.message["parts"])
