#!/usr/bin/python3
"""Where a server under test keeps its tasks: in a SQLite file in its folder or, with BATON_TEST_STORE=postgres, in a
database of its own in the cluster that BATON_TEST_POSTGRES names (scripts/with_postgres). It is kept over restarts of
that server and dropped with it. BATON_TEST_POSTGRES_ALLOW is passed on as `postgres.allow`.

For tests in other languages:
    databases.py make FOLDER     prints the words for `baton serve`, as a JSON list
    databases.py drop URL
"""
import contextlib
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import uuid

import client

ON_POSTGRES = os.environ.get("BATON_TEST_STORE", "sqlite") == "postgres"


def needs_sqlite(why):
    """Removes a test, or all tests of a class, on PostgreSQL. `why`: which property of the SQLite file it tests."""
    assert why

    def left(tests):
        if not ON_POSTGRES:
            return tests
        return client.only_if(False)(tests) if isinstance(tests, type) else None
    return left


class SqliteFile:
    def __init__(self, folder):
        self.path = pathlib.Path(folder) / "baton.db"
        self.shown = str(self.path)  # in the program's log

    def words(self):
        """The words for `baton serve`."""
        return ["--db", str(self.path)]

    def query(self, sql):
        """Returns the rows, as tuples. The server may run."""
        with contextlib.closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as database:
            return database.execute(sql).fetchall()

    def change(self, sql):
        """Returns how many rows were changed. The server must not run."""
        with contextlib.closing(sqlite3.connect(self.path)) as database, database:
            return database.execute(sql).rowcount

    def drop(self):
        """Does nothing: the file is removed with its folder."""


def psql(url, sql):
    done = subprocess.run(["psql", "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set=ON_ERROR_STOP=1", url],
                          input=sql, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"psql: {done.stderr}\n{sql}")
    return done.stdout


class PostgresDatabase:
    def __init__(self, url=None):
        self.cluster = os.environ["BATON_TEST_POSTGRES"]
        base = self.cluster.rsplit("/", 1)[0]
        self.name = url.rsplit("/", 1)[1] if url else f"baton_{uuid.uuid4().hex[:16]}"
        self.url = self.shown = f"{base}/{self.name}"
        if not url:
            psql(self.cluster, f"CREATE DATABASE {self.name}")

    def words(self):
        allow = os.environ.get("BATON_TEST_POSTGRES_ALLOW")
        return ["--db", self.url, *(["--postgres-allow", allow] if allow else [])]

    def query(self, sql):
        rows = psql(self.url, f"SELECT to_json(found) FROM ({sql}) AS found").splitlines()
        return [tuple(json.loads(row).values()) for row in rows]

    def change(self, sql):
        return int(psql(self.url, f"WITH changed AS ({sql} RETURNING 1) SELECT count(*) FROM changed"))

    def drop(self):
        """Drops the database, and ends connections that a killed server has left."""
        # Not WITH (FORCE): that fails while autovacuum works on the database.
        psql(self.cluster, "DO $$ BEGIN PERFORM pg_terminate_backend(pid) FROM pg_stat_activity "
                           f"WHERE datname = '{self.name}' AND usename = current_user; END $$")
        psql(self.cluster, f"DROP DATABASE IF EXISTS {self.name}")


def of_folder(folder):
    return PostgresDatabase() if ON_POSTGRES else SqliteFile(folder)


def main():
    match sys.argv[1:]:
        case ["make", folder]:
            print(json.dumps(of_folder(folder).words()))
        case ["drop", url]:
            PostgresDatabase(url).drop()
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
