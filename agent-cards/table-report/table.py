"""Reads a CSV table as batches of rows, in bounded memory. An error names the broken row."""

import csv
from collections.abc import Iterator
from io import StringIO
from itertools import chain, islice
from typing import BinaryIO

from problem import TableProblem

CHUNK_BYTES = 256 * 1024  # read at a time; a batch of rows is about as large
RECORD_BYTES_MAX = 1024 * 1024
COLUMNS_MAX = 1000
DELIMITERS = ",;\t|"
SAMPLE_LINES = 20

# Never reached: the reader refuses so long a record earlier, with a better message.
csv.field_size_limit(RECORD_BYTES_MAX + 4 * CHUNK_BYTES)

Row = list[str]


class Table:
    """Has the `header`, then `batches()`. A TableProblem names the row. Row 1 is the header."""

    def __init__(self, stream: BinaryIO) -> None:
        self.bytes_read = 0
        self.rows_read = 0
        chunks = _Chunks(stream, self)
        first = chunks.first()
        self.delimiter = detect_delimiter(first)
        lines = chain.from_iterable(StringIO(text, newline="") for text in chain([first], chunks))
        self._reader = csv.reader(lines, delimiter=self.delimiter, strict=True)
        self.header = self._read_header()

    def batches(self) -> Iterator[list[Row]]:
        """Yields all rows after the header, about a chunk at a time. Skips blank lines."""
        width = len(self.header)
        batch: list[Row] = []
        batch_end = self.bytes_read
        for row in self._rows():
            if len(row) != width:
                raise TableProblem(f"Row {self.rows_read} has {_cells(len(row))}, but the header has {width}.")
            batch.append(row)
            if self.bytes_read != batch_end:
                yield batch
                batch = []
                batch_end = self.bytes_read
        if batch:
            yield batch

    def _read_header(self) -> Row:
        header = next(self._rows(), None)
        if header is None:
            raise TableProblem("The table is empty.")
        if len(header) > COLUMNS_MAX:
            raise TableProblem(f"The table has {len(header)} columns, more than the {COLUMNS_MAX} that are read.")
        return [name.strip() or f"column {number}" for number, name in enumerate(header, start=1)]

    def _rows(self) -> Iterator[Row]:
        try:
            for row in self._reader:
                self.rows_read += 1
                if row:
                    yield row
        except csv.Error as error:
            raise TableProblem(f"Row {self.rows_read + 1}: {_reason(error)}.") from None
        except _Broken as error:
            raise TableProblem(f"Row {self.rows_read + 1}: {error}.") from None


class _Broken(Exception):
    """The reason why the bytes are no table. Table adds the number of the row."""


class _Chunks:
    """The stream as pieces of text that end at a line end. Raises _Broken after all lines before the broken one."""

    def __init__(self, stream: BinaryIO, table: Table) -> None:
        self._stream = stream
        self._table = table
        self._carry = b""  # the beginning of a line whose end is not read yet
        self._broken: _Broken | None = None
        self._rows_before = 0
        self._bytes_since_row = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def first(self) -> str:
        """Returns the first piece without its byte order mark. Empty if the stream is empty."""
        text = next(self, "")
        return text.removeprefix("\ufeff")

    def __next__(self) -> str:
        if self._broken:
            raise self._broken
        whole_lines = self._read_lines()
        if not whole_lines and not self._broken:
            raise StopIteration
        text, broken = decode(whole_lines)
        self._broken = self._broken or broken
        return text

    def _read_lines(self) -> bytes:
        while data := self._stream.read(CHUNK_BYTES):
            if self._record_too_long(len(data)):
                self._broken = _Broken("longer than 1 MiB; is a quoted cell not closed?")
                return b""
            data = self._carry + data
            # A CR at the very end may be half of a CR LF.
            end = data.rfind(b"\n") + 1 or data.rfind(b"\r", 0, -1) + 1
            self._carry = data[end:]
            if end:
                return data[:end]
        rest, self._carry = self._carry, b""
        return rest

    def _record_too_long(self, size: int) -> bool:
        """Returns True for a record that has not ended within its limit, before it fills the memory."""
        self._table.bytes_read += size
        if self._table.rows_read != self._rows_before:
            self._rows_before = self._table.rows_read
            self._bytes_since_row = 0
        self._bytes_since_row += size
        return self._bytes_since_row > RECORD_BYTES_MAX + CHUNK_BYTES


def decode(lines: bytes) -> tuple[str, _Broken | None]:
    """Returns the text; or the whole lines before the first byte that cannot be in a table, and the reason."""
    bad = lines.find(b"\0")
    try:
        text = lines.decode("utf-8")
    except UnicodeDecodeError as error:
        bad = error.start if bad < 0 else min(bad, error.start)
    else:
        if bad < 0:
            return text, None
    good = lines[: max(lines.rfind(b"\n", 0, bad), lines.rfind(b"\r", 0, bad)) + 1]
    if lines.startswith((b"\xff\xfe", b"\xfe\xff")):
        reason = "UTF-16 text; save the table as UTF-8"
    elif lines[bad] == 0:
        reason = "a NUL byte; this is no text"
    else:
        reason = f"not UTF-8 text (byte 0x{lines[bad]:02x})"
    return good.decode("utf-8"), _Broken(reason)


def detect_delimiter(text: str) -> str:
    """Returns the delimiter of the table, found in its first lines.

    Prefers one that splits the header; then one with which most lines have as many cells as the header; then one that
    gives the most cells.
    """
    lines = list(islice(StringIO(text, newline=""), SAMPLE_LINES))

    def score(delimiter: str) -> tuple[bool, float, int]:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        width = widths[0] if widths else 0
        return width > 1, widths.count(width) / max(len(widths), 1), width

    return max(DELIMITERS, key=score)


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"


def _reason(error: csv.Error) -> str:
    text = str(error)
    if "unexpected end of data" in text:
        return "a quoted cell is not closed"
    if "expected after" in text:
        return "text follows the closing quote of a cell"
    return text
