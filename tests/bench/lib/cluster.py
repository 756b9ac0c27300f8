"""The PostgreSQL cluster of scripts/with_postgres: its databases, queries, and its use of resources."""
import contextlib
import itertools
import os
import pathlib
import subprocess

TICK = os.sysconf("SC_CLK_TCK")
PSQL = ["psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--field-separator= ", "--set=ON_ERROR_STOP=1"]

counter = itertools.count(1)


def server():
    """Returns the URL of the cluster's first database."""
    return os.environ["BATON_TEST_POSTGRES"]


def ask(url, statement):
    """Runs a statement, and returns the words of its result."""
    run = subprocess.run([*PSQL, f"--dbname={url}", "-c", statement], capture_output=True, text=True, timeout=60,
                         check=True)
    return run.stdout.split()


@contextlib.contextmanager
def fresh_database():
    """Creates a database and yields its URL."""
    name = f"bench_{next(counter)}"
    ask(server(), f"CREATE DATABASE {name}")
    try:
        yield f"{server().rsplit('/', 1)[0]}/{name}"
    finally:
        # Does not use WITH (FORCE), which fails while autovacuum runs in the database.
        ask(server(), "DO $$ BEGIN PERFORM pg_terminate_backend(pid) FROM pg_stat_activity "
                      f"WHERE datname = '{name}' AND usename = current_user; END $$")
        ask(server(), f"DROP DATABASE {name}")


class Session:
    """One connection, for repeated queries. Threads: one."""

    END = "end of the answer"

    def __init__(self, url):
        self.psql = subprocess.Popen([*PSQL, f"--dbname={url}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.psql.stdin.close()
        self.psql.wait(30)
        self.psql.stdout.close()

    def ask(self, statement):
        """Runs a statement, and returns the words of its result."""
        self.psql.stdin.write(f"{statement};\n\\echo {self.END}\n")
        self.psql.stdin.flush()
        words = []
        for line in self.psql.stdout:
            if line.strip() == self.END:
                return words
            words += line.split()
        raise RuntimeError(f"psql has ended at: {statement}")


def cpu_seconds(pids):
    """Returns {pid: seconds} for the processes that exist."""
    used = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
            used[pid] = (int(fields[11]) + int(fields[12])) / TICK
    return used


def children(pid):
    found = []
    for thread in pathlib.Path("/proc", str(pid), "task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(child) for child in thread.read_text(encoding="ascii").split()]
    return found


class Meter:
    """Measures the resources that the whole cluster uses, for all of its clients."""

    def __init__(self, session):
        self.session = session
        backend = int(session.ask("SELECT pg_backend_pid()")[0])
        self.postmaster = int(self._stat(backend)[1])

    def _stat(self, pid):
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()

    def checkpoint(self):
        """Makes a checkpoint as the superuser, over the socket next to the server's data."""
        folder = pathlib.Path(f"/proc/{self.postmaster}/cwd").resolve().parent
        port = self.session.ask("SHOW port")[0]
        ask(f"host={folder} port={port} user=postgres dbname=postgres", "CHECKPOINT")

    def read(self):
        """Returns CPU seconds, including ended processes, and bytes of WAL, both since the cluster's start."""
        ended = sum(map(int, self._stat(self.postmaster)[13:15])) / TICK
        cpu = ended + sum(cpu_seconds([self.postmaster, *children(self.postmaster)]).values())
        wal = int(self.session.ask("SELECT pg_current_wal_lsn() - '0/0'")[0])
        return {"cpu_s": cpu, "wal": wal}

    def since(self, before):
        return {name: value - before[name] for name, value in self.read().items()}


def connections(session, url):
    """Returns the number of connections to that database, which must not be the session's own."""
    name = url.rsplit("/", 1)[1]
    return int(session.ask(f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}' AND "
                           "backend_type = 'client backend'")[0])
