"""Table report: statistics of each column of a CSV table, and a chart."""

import json
import os
import signal
import sys
from binascii import b2a_base64
from pathlib import Path

from chart import bar_chart
from columns import MEDIAN_VALUES_MAX, Column, harmless
from inbox import Inbox
from problem import Cancelled, TableProblem
from source import Source, open_source
from table import Table

PROGRESS_STEP = 0.1  # at most eleven status lines


def send(line_type: str, **members: object) -> None:
    print(json.dumps({"type": line_type, **members}, allow_nan=False), flush=True)


def allowed_directory() -> Path:
    """What file: URIs may name: TABLE_REPORT_DIR, relative to this folder."""
    return (Path(__file__).parent / (os.environ.get("TABLE_REPORT_DIR") or "data")).resolve()


def read_columns(source: Source, inbox: Inbox) -> tuple[Table, list[Column]]:
    """Reads the whole table, tells the progress, and stops where Baton says so."""
    table = Table(source.stream)
    columns = [Column(name, len(table.header)) for name in table.header]
    rows, told = 0, 0.0
    send("status", message="Reading the table", progress=0.0)
    for batch in table.batches():
        if inbox.cancelled():
            raise Cancelled
        for column, cells in zip(columns, zip(*batch)):
            column.add(cells)
        rows += len(batch)
        progress = min(table.bytes_read / max(source.size, 1), 1.0)
        if progress >= told + PROGRESS_STEP and progress < 1.0:
            told = progress
            send("status", message=f"Read {rows:,} rows", progress=round(progress, 2))
    send("status", message=f"Read all {rows:,} rows", progress=1.0)
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


def send_artifact(turn: dict, name: str, part: dict) -> None:
    # The turn's id stays the same when Baton runs the turn again: the artifact replaces the earlier one.
    artifact = {"artifactId": f"{turn['turn']}-{name}", "name": name, "parts": [part]}
    send("artifact", artifact=artifact, lastChunk=True)


def report(turn: dict, inbox: Inbox) -> None:
    source = open_source(turn["message"]["parts"], allowed_directory())
    table, columns = read_columns(source, inbox)
    data = statistics(source.name, table, columns)
    if not data["rows"]:
        raise TableProblem("The table has a header but no rows.")
    send_artifact(turn, "statistics", {"data": data, "mediaType": "application/json"})
    svg = b2a_base64(chart(columns).encode(), newline=False).decode()
    send_artifact(turn, "chart", {"raw": svg, "filename": "chart.svg", "mediaType": "image/svg+xml"})
    send("done", message=f"{data['table']}: {data['rows']:,} rows, {len(columns):,} columns.")


def main() -> None:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Baton is gone: end without a word
    inbox = Inbox()
    try:
        report(inbox.turn(), inbox)
    except TableProblem as problem:
        send("fail", error=str(problem))
    except Cancelled:
        send("fail", error="The turn was cancelled.")
    except OSError as problem:
        print(f"table-report: {problem!r}", file=sys.stderr)
        send("fail", error="The file could not be read.")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
        print(f"table-report: the turn was not understood: {problem!r}", file=sys.stderr)
        send("fail", error="The turn was not understood.")


if __name__ == "__main__":
    main()
