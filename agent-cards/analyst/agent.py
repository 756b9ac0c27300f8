"""Analyst: compares tables, finds outliers and makes a page, from the statistics that table-report makes of each table.

The first word of the message selects the work. Its data part is {"tables": [...]} with the statistics of each table.
For a page it is {"title", "texts": [{"title", "text"}]}, and the charts are SVG files.
"""

from html import escape
from typing import Any

from baton import Fail, Message, Turn, agent

OUTLIER_DEVIATIONS = 3.0
TABLES_MAX, COLUMNS_MAX = 1000, 1000


def tables_in(message: Message) -> list[dict[str, Any]]:
    data: dict[str, Any] = next((part["data"] for part in message["parts"] if isinstance(part.get("data"), dict)), {})
    tables = data.get("tables")
    if not isinstance(tables, list):
        raise Fail('There is no data part {"tables": [...]}.')
    found = [table["data"] if isinstance(table.get("data"), dict) else table for table in tables if isinstance(table, dict)]
    return [table for table in found if isinstance(table.get("columns"), list)][:TABLES_MAX]


def number_columns(table: dict[str, Any]) -> list[dict[str, Any]]:
    columns = [column for column in table["columns"] if isinstance(column, dict)]
    return [column for column in columns if isinstance(column.get("mean"), (int, float))][:COLUMNS_MAX]


def name_of(table: dict[str, Any]) -> str:
    return str(table.get("table", "a table"))


def compare(message: Message) -> tuple[str, dict[str, Any]]:
    means: dict[str, list[tuple[str, float]]] = {}
    for table in tables_in(message):
        for column in number_columns(table):
            means.setdefault(str(column["name"]), []).append((name_of(table), float(column["mean"])))
    lines, facts = [], []
    for column, values in means.items():
        low, high = min(values, key=lambda one: one[1]), max(values, key=lambda one: one[1])
        facts.append({"column": column, "lowest": low[1], "in": low[0], "highest": high[1], "at": high[0]})
        if len(values) == 1:
            lines.append(f"{column}: {low[1]:g} on average, in one table only.")
        else:
            lines.append(f"{column}: from {low[1]:g} ({low[0]}) to {high[1]:g} ({high[0]}) on average.")
    return "\n".join(lines) or "No column has numbers.", {"columns": facts}


def outliers(message: Message) -> tuple[str, dict[str, Any]]:
    found = []
    for table in tables_in(message):
        for column in number_columns(table):
            deviation = column.get("standardDeviation", column.get("stddev", 0)) or 0
            for end in ("min", "max"):
                value = column.get(end)
                if not isinstance(value, (int, float)) or not deviation:
                    continue
                away = abs(value - column["mean"]) / deviation
                if away > OUTLIER_DEVIATIONS:
                    found.append(f"{name_of(table)}: {column['name']} reaches {value:g}, {away:.1f} standard deviations "
                                 f"from its mean of {column['mean']:g}.")
    return "\n".join(found) or "Nothing stands out.", {"found": len(found)}


def page(message: Message) -> str:
    data: dict[str, Any] = next((part["data"] for part in message["parts"] if isinstance(part.get("data"), dict)), {})
    charts = [part for part in message["parts"] if part.get("mediaType") == "image/svg+xml" and "raw" in part]
    title = escape(str(data.get("title", "Report")))
    body = [f"<h1>{title}</h1>"]
    for one in data.get("texts", []):
        body.append(f"<h2>{escape(str(one.get('title', '')))}</h2>")
        body += [f"<p>{escape(line)}</p>" for line in str(one.get("text", "")).splitlines() if line]
    if charts:
        body.append("<h2>Charts</h2>")
    # Charts are images, so that no script in them runs.
    body += [f'<p><img alt="{escape(str(chart.get("filename", "chart")))}" src="data:image/svg+xml;base64,'
             f'{escape(chart["raw"])}"></p>' for chart in charts]
    return ("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
            f"<title>{title}</title>\n<style>body {{ font-family: sans-serif; max-width: 60em; margin: 2em auto; }}"
            " img { max-width: 100%; }</style></head>\n<body>\n" + "\n".join(body) + "\n</body></html>\n")


@agent
def answer(turn: Turn) -> str | None:
    words = turn.text.split()
    wish = words[0] if words else ""
    if wish in ("compare", "outliers"):
        text, facts = compare(turn.message) if wish == "compare" else outliers(turn.message)
        turn.artifact(wish, facts, media_type="application/json")
        return text
    if wish == "page":
        turn.artifact("report.html", page(turn.message).encode(), media_type="text/html", last_chunk=True)
        return None
    raise Fail("The first word must be compare, outliers or page.")


if __name__ == "__main__":
    answer.run()
