"""Statistics of one column, from batches of cells, in bounded memory.

Functions written in C (map, min, max, fsum, dist) do the work on each cell, so a table of 100 MB takes seconds.
"""

from array import array
from collections.abc import Sequence
from math import dist, fsum, isnan, sqrt

MISSING = frozenset(("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None"))
DISTINCT_MAX = 10_000  # for one column
DISTINCT_ALL_MAX = 200_000  # for all columns together
MEDIAN_VALUES_MAX = 100_000
MEDIAN_VALUES_ALL_MAX = 1_000_000
NUMBER_MAX = 1e140  # so that the sum of many squares is finite
EXACT_INTEGER_MAX = 2.0**53
TEXT_SHOWN_MAX = 100


def harmless(text: str) -> str:
    """Returns a text of the table, shortened, and with a ' before it if a spreadsheet would run it as a formula."""
    shown = text if len(text) <= TEXT_SHOWN_MAX else text[:TEXT_SHOWN_MAX] + "…"
    return "'" + shown if shown.startswith(("=", "+", "-", "@", "\t", "\r")) else shown


class Column:
    def __init__(self, name: str, columns: int) -> None:
        self.name = harmless(name)
        self.count = 0
        self.missing = 0
        self.numbers: Numbers | None = Numbers(min(MEDIAN_VALUES_MAX, MEDIAN_VALUES_ALL_MAX // columns))
        self._distinct_max = min(DISTINCT_MAX, DISTINCT_ALL_MAX // columns)
        self._hashes: set[int] | None = set()  # hashes of cells, because cells may be long
        self._first: str | None = None  # the least cell, by its characters
        self._last = ""

    def add(self, cells: Sequence[str]) -> None:
        present = list(map(str.strip, cells))
        if not MISSING.isdisjoint(present):
            present = [cell for cell in present if cell not in MISSING]
            self.missing += len(cells) - len(present)
        if not present:
            return
        self.count += len(present)
        self._add_texts(present)
        if self.numbers and not self.numbers.add(present):
            self.numbers = None

    def report(self) -> dict:
        report = {"name": self.name, "type": self._type(), "count": self.count, "missing": self.missing}
        if self._hashes is None:
            report["distinctAtLeast"] = self._distinct_max
        else:
            report["distinct"] = len(self._hashes)
        if self.count and self.numbers:
            report |= self.numbers.report()
        elif self.count:
            report |= {"min": harmless(self._first or ""), "max": harmless(self._last)}
        return report

    def _add_texts(self, present: list[str]) -> None:
        if self._hashes is not None:
            self._hashes.update(map(hash, present))
            if len(self._hashes) > self._distinct_max:
                self._hashes = None
        first = min(present)
        self._first = first if self._first is None else min(first, self._first)
        self._last = max(self._last, max(present))

    def _type(self) -> str:
        if not self.count:
            return "empty"
        if not self.numbers:
            return "text"
        return "integer" if self.numbers.whole else "number"


class Numbers:
    """Mean and deviation by Welford's method, for batches (the form of Chan, Golub and LeVeque)."""

    def __init__(self, values_max: int) -> None:
        self.whole = True
        self.mean = 0.0
        self._count = 0
        self._squares = 0.0  # the sum of the squared distances from the mean
        self._min = float("inf")
        self._max = float("-inf")
        self._values: array | None = array("d")  # for the median; None once there are too many
        self._values_max = values_max

    def add(self, cells: list[str]) -> bool:
        """Adds a batch. Returns False if a cell is no number; the object must not be used after that."""
        try:
            values = list(map(float, cells))
            total = fsum(values)
        except (ValueError, OverflowError):
            return False
        low, high = min(values), max(values)
        # float() also accepts "inf", "nan" and "1_000", which are texts in a table.
        if low < -NUMBER_MAX or high > NUMBER_MAX or isnan(total) or any("_" in cell for cell in cells):
            return False
        self._merge(values, total / len(values))
        self._min, self._max = min(low, self._min), max(high, self._max)
        self.whole = self.whole and all(map(float.is_integer, values))
        return True

    def report(self) -> dict:
        report = {"min": self._shown(self._min), "max": self._shown(self._max), "mean": self.mean}
        if self._count > 1:
            report["standardDeviation"] = sqrt(self._squares / (self._count - 1))
        if self._values is not None:
            report["median"] = self._median()
        return report

    def _shown(self, value: float) -> int | float:
        return int(value) if self.whole and abs(value) <= EXACT_INTEGER_MAX else value

    def _merge(self, values: list[float], mean: float) -> None:
        size = len(values)
        count = self._count + size
        distance = mean - self.mean
        self._squares += dist(values, [mean] * size) ** 2 + distance * distance * self._count * size / count
        self.mean += distance * size / count
        self._count = count
        if self._values is not None:
            self._values.extend(values)
            if count > self._values_max:
                self._values = None

    def _median(self) -> float:
        ordered = sorted(self._values)
        middle = len(ordered) // 2
        return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
