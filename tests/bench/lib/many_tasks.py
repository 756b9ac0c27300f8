"""Fills a database with as many tasks as wanted, in seconds: the rows of the one task that Baton itself stored
there are copied, each time with keys and ids of their own (schema/TABLES.md says what they mean). Tables and columns
are read from the database, so a newer schema is filled as well."""
import sqlite3

# Columns that name a row's task or context, or that must differ from row to row.
KEYS = {"task_key", "context_key", "send_key", "event_key"}
BATCH = 100_000


def _columns(database, name):
    return [row[1] for row in database.execute(f"PRAGMA table_info({name})")]


def _copied(table, column, count):
    """Returns the SQL for this column in copy number n, counted from 1."""
    if column == "context_key":
        return "iif(context_key = 0, 0, context_key + n)"  # 0: a context without rows
    if column == "event_key":
        return f"{column} + (n << 28)"
    if column in KEYS:
        return f"{column} + n"
    if column.endswith("_ms"):
        return f"{column} - n"  # each copy is older
    if column.startswith("digest_"):
        return f"{column} + n * 2654435761"
    if column == "public_id" and table in ("tasks", "contexts"):
        return f"substr({column}, 1, 24) || printf('%012x', n)"  # as long as an id
    return column


def fill(path, count):
    """Returns the ids of the created tasks, or a sample if there are many."""
    database = sqlite3.connect(path, isolation_level=None)
    database.executescript("PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY; PRAGMA cache_size=-262144;")
    one, = database.execute("SELECT count(*) FROM tasks").fetchone()
    if one != 1:
        raise RuntimeError(f"the database has {one} tasks, not 1")
    tables = [name for name, in database.execute("SELECT name FROM sqlite_schema WHERE type='table'")
              if KEYS & set(_columns(database, name))]
    database.execute("BEGIN")
    for name in tables:
        columns = _columns(database, name)
        database.execute(f"CREATE TEMP TABLE copied_{name} AS SELECT * FROM {name}"
                         + (" WHERE context_key <> 0" if name == "contexts" else ""))
        made = ", ".join(_copied(name, column, count) for column in columns)
        for first in range(1, count, BATCH):
            last = min(first + BATCH, count) - 1
            database.execute(
                f"WITH RECURSIVE numbers(n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM numbers WHERE n < {last}) "
                f"INSERT INTO {name} ({', '.join(columns)}) SELECT {made} FROM numbers, copied_{name} ORDER BY n")
    database.execute("COMMIT")
    database.execute("PRAGMA journal_mode=WAL")
    step = max(1, count // 20_000)
    ids = [found for found, in database.execute("SELECT public_id FROM tasks WHERE task_key % ? = 0", (step,))]
    database.close()
    return ids
