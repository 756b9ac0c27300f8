"""Opens the table: a part of the message becomes a stream of bytes with a size and a name."""

import binascii
import os
import stat
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple
from urllib.parse import unquote, urlsplit

from baton import Part

from problem import TableProblem


class Source(NamedTuple):
    name: str
    size: int
    stream: BinaryIO


def open_source(parts: list[Part], allowed: Path) -> Source:
    """Opens the table among the parts: a file by bytes or by URI, or else the text."""
    files = [part for part in parts if "raw" in part or "url" in part]
    if len(files) > 1:
        raise TableProblem(f"One table at a time, please: the message has {len(files)} files.")
    if files:
        return _from_bytes(files[0]) if "raw" in files[0] else _from_uri(files[0], allowed)
    texts = [part["text"] for part in parts if "text" in part]
    if not texts:
        raise TableProblem("The message has no table: send a CSV as a file, as text, or as a file: URI.")
    content = "\n".join(texts).encode("utf-8", "surrogatepass")
    return Source("table", len(content), BytesIO(content))


def _from_bytes(part: Part) -> Source:
    try:
        content = binascii.a2b_base64(part["raw"], strict_mode=True)
    except ValueError:  # binascii.Error is one
        raise TableProblem("The file's bytes are not valid base64.") from None
    return Source(part.get("filename") or "table", len(content), BytesIO(content))


def _from_uri(part: Part, allowed: Path) -> Source:
    path = _path_of(part["url"], allowed)
    try:
        # O_NOFOLLOW: the path is resolved, so a link here was made after that. O_NONBLOCK: do not wait for a pipe.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        raise TableProblem("There is no readable file of that name.") from None
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise TableProblem("The URI does not name a regular file.")
    return Source(part.get("filename") or path.name, status.st_size, os.fdopen(handle, "rb", buffering=0))


def _path_of(uri: str, allowed: Path) -> Path:
    try:
        parsed = urlsplit(uri)
    except ValueError:
        raise TableProblem("The file's URI is not valid.") from None
    if parsed.scheme != "file":
        raise TableProblem(f"Only URIs that begin with file: are read, not {parsed.scheme[:20] or 'bare paths'}.")
    if parsed.netloc not in ("", "localhost") or parsed.query or parsed.fragment:
        raise TableProblem("A file: URI must have a path and nothing else: file:///directory/table.csv.")
    try:
        # A relative path is below the allowed directory. resolve() follows links and `..` before the check.
        path = (allowed / unquote(parsed.path, errors="strict")).resolve()
    except (OSError, ValueError, RuntimeError):  # NUL, not UTF-8, a ring of links
        raise TableProblem("The file's URI is not valid.") from None
    if not path.is_relative_to(allowed):
        raise TableProblem("That file is outside the directory that this agent may read.")
    return path
