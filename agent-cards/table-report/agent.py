"""Table report: statistics of each column of a CSV table, and a chart."""

import os
import sys
from pathlib import Path
from typing import NoReturn

from baton import Turn, agent

from chart import bar_chart
from columns import MEDIAN_VALUES_MAX, Column, harmless
from problem import TableProblem
from source import Source, open_source
from table import Table

PROGRESS_STEP = 0.1  # at most eleven status lines


def allowed_directory() -> Path:
    """Returns the directory that file: URIs may name: TABLE_REPORT_DIR, relative to this folder."""
    return (Path(__file__).parent / (os.environ.get("TABLE_REPORT_DIR") or "data")).resolve()


def read_columns(turn: Turn, source: Source) -> tuple[Table, list[Column]]:
    """Reads the whole table and reports the progress. Stops if the turn is canceled."""
    table = Table(source.stream)
    columns = [Column(name, len(table.header)) for name in table.header]
    rows, told = 0, 0.0
    turn.progress(0.0, "Reading the table")
    for batch in table.batches():
        turn.check()
        for column, cells in zip(columns, zip(*batch)):
            column.add(cells)
        rows += len(batch)
        progress = min(table.bytes_read / max(source.size, 1), 1.0)
        if progress >= told + PROGRESS_STEP and progress < 1.0:
            told = progress
            turn.progress(round(progress, 2), f"Read {rows:,} rows")
    turn.progress(1.0, f"Read all {rows:,} rows")
    return table, columns


def statistics(name: str, table: Table, columns: list[Column]) -> dict:
    reports = [column.report() for column in columns]
    notes = []
    if any("distinctAtLeast" in report for report in reports):
        notes.append("distinctAtLeast: there are at least so many distinct values; they were not counted further.")
    if any("mean" in report and "median" not in report for report in reports):
        notes.append("The median is left out where there are too many values to keep: more than "
                     f"{MEDIAN_VALUES_MAX:,} in a column, or fewer in a table of more than ten columns.")
    return {
        "table": harmless(name),
        "delimiter": table.delimiter,
        "rows": columns[0].count + columns[0].missing,
        "columns": reports,
        "notes": notes,
    }


def chart(columns: list[Column]) -> str:
    means = [(column.name, column.numbers.mean) for column in columns if column.count and column.numbers]
    if means:
        return bar_chart("Mean of each column of numbers", means)
    return bar_chart("Values in each column", [(column.name, float(column.count)) for column in columns])


def report(turn: Turn) -> NoReturn:
    source = open_source(turn.message["parts"], allowed_directory())
    table, columns = read_columns(turn, source)
    data = statistics(source.name, table, columns)
    if not data["rows"]:
        raise TableProblem("The table has a header but no rows.")
    turn.artifact("statistics", data, media_type="application/json", last_chunk=True)
    turn.artifact("chart", chart(columns).encode(), filename="chart.svg", media_type="image/svg+xml", last_chunk=True)
    turn.done(f"{data['table']}: {data['rows']:,} rows, {len(columns):,} columns.")


@agent
def answer(turn: Turn) -> None:
    try:
        report(turn)
    except OSError as problem:
        print(f"table-report: {problem!r}", file=sys.stderr)
        raise TableProblem("The file could not be read.") from None


if __name__ == "__main__":
    answer.run()
