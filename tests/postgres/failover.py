"""Shared by the tests of failovers: clusters of their own, a server on them, and clients with a book of everything
acknowledged. These clusters flush to disk, unlike the others."""
import collections
import http.client
import itertools
import os
import pathlib
import re
import sys
import threading
import time
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/e2e"), str(ROOT / "scripts")]

import client
import databases
import generations
import harness
import new_generations
import nodes
import postgres_cluster

CONFIG = {"engine": {"drain_grace_s": 0.2}}
OUTER = os.environ.get("PGPASSFILE", "")  # scripts/with_postgres
UNAVAILABLE = 503
LOST = "the database lost changes that it had confirmed"
READ_WRITE = "?target_session_attrs=read-write"


def is_unavailable(refused):
    """JSON-RPC has the code in its error, with HTTP status 200. An error before the request is read has only the HTTP
    status."""
    return UNAVAILABLE in (refused.code, refused.answer.status)


class Book:
    """Clients that send one task after another, each waiting for its end, and the answers they got."""

    def __init__(self, server, clients=4):
        self.server = server
        self.acknowledged = {}  # task id: the text sent
        self.at, self.refused, self.wrong = [], [], []
        self.cut = []  # connections that the server has closed
        self.ending = threading.Event()
        self.threads = [threading.Thread(target=self.work, args=(number,)) for number in range(clients)]
        for thread in self.threads:
            thread.start()

    def work(self, name):
        at = new_generations.Rpc10(self.server)
        for number in itertools.count():
            if self.ending.is_set():
                return
            text = f"end {name}-{number};"
            try:
                task = at.send(text)
            except generations.Refused as refused:
                self.refused.append(refused)
            except (OSError, http.client.HTTPException) as error:
                self.cut.append(f"{text} {error!r}")
                return
            except Exception as error:  # any error is a failure of the test
                if str(error).startswith("HTTP 502"):  # from the proxy: no node is left
                    self.cut.append(f"{text} {error!r}")
                    return
                self.wrong.append(f"{text} {error!r}")
                return
            else:
                if (task.state, task.texts) != ("completed", [f"played: {text}"]):
                    self.wrong.append(f"{text} {task}")
                self.acknowledged[task.id] = text
                self.at.append(time.monotonic())

    def await_more(self, count=20):
        most = len(self.at) + count
        harness.wait_for(lambda: self.wrong or len(self.at) >= most, 40, f"{count} more tasks")

    def first_after(self, moment):
        """Returns the time of the first acknowledgement after `moment`."""
        harness.wait_for(lambda: self.wrong or self.at and self.at[-1] > moment, 40, "a task to be acknowledged")
        return min((at for at in list(self.at) if at > moment), default=float("inf"))

    def close(self):
        self.ending.set()
        for thread in self.threads:
            thread.join()
        return self


class Case(unittest.TestCase):
    """Has a cluster `primary` and, after `follow`, a cluster `standby` that follows it."""

    nodes = None

    def setUp(self):
        self.primary = self.cluster()
        self.primary.start()
        self.use(f"127.0.0.1:{self.primary.port}")

    def cluster(self):
        # Inside the folder of the cluster that all tests share, so that it is always removed.
        made = postgres_cluster.Cluster(fast=False, inside=pathlib.Path(OUTER).parent)
        self.addCleanup(made.remove)
        return made

    def use(self, hosts):
        """Makes later servers use databases at these hosts."""
        variables = self.primary.environment() | {
            "BATON_TEST_POSTGRES": f"postgresql://baton@{hosts}/baton{READ_WRITE}"}
        patch = unittest.mock.patch.dict(os.environ, variables)
        patch.start()
        self.addCleanup(patch.stop)

    def follow(self, is_synchronous):
        self.standby = self.cluster()
        self.standby.start_as_standby(self.primary)
        # The future primary comes last, so that every client has to pass the other one.
        self.use(f"127.0.0.1:{self.primary.port},127.0.0.1:{self.standby.port}")
        if is_synchronous:
            self.primary.administer("ALTER SYSTEM SET synchronous_standby_names = 'standby'",
                                    "SELECT pg_reload_conf()")
            harness.wait_for(lambda: self.primary.administer("SELECT sync_state FROM pg_stat_replication").strip() ==
                             "sync", 20, "the standby to be synchronous")

    def await_standby(self):
        """Returns when the standby has replayed everything."""
        there = self.primary.administer("SELECT pg_current_wal_lsn()").strip()
        harness.wait_for(lambda: self.standby.administer(
            f"SELECT pg_last_wal_replay_lsn() >= '{there}'").strip() == "t", 20, "the standby to have all")

    def waiting(self):
        """Returns the pids of primary backends that wait for the standby to receive a group."""
        return self.primary.administer("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND "
                                       "application_name = 'baton'").split()

    def promote(self):
        """Promotes the standby. Returns the time when it accepts writes."""
        self.standby.promote()
        while self.standby.administer("SELECT pg_is_in_recovery()").strip() != "f":
            pass
        return time.monotonic()

    def made(self, server):
        server.database.url += READ_WRITE
        server.database.drop = lambda: None  # it is removed with its cluster
        self.addCleanup(server.discard)
        return server

    def serve(self, options=()):
        self.server = self.made(harness.Server(["player"], CONFIG, options)).start()
        self.at = new_generations.Rpc10(self.server)
        return self.server

    def serve_nodes(self, count=3):
        """Serves nodes behind a proxy, which `self.at` and the book use."""
        database = databases.PostgresDatabase()
        database.url += READ_WRITE
        database.drop = lambda: None  # it is removed with its cluster
        self.nodes = nodes.Nodes(count, ["player"], CONFIG, [], database=database)
        self.addCleanup(self.nodes.close)
        self.nodes.start()
        self.server = self.nodes[0]
        self.at = new_generations.Rpc10(self.nodes.proxy)
        return self.nodes

    def load(self):
        book = Book(self.at.server)
        self.addCleanup(book.close)
        return book

    def assert_kept(self, book):
        """Asserts that every acknowledged task is there once and as acknowledged, and that every refusal was
        `unavailable`."""
        self.assertEqual(book.wrong + book.cut, [])
        self.assertEqual([str(refused) for refused in book.refused if not is_unavailable(refused)], [])
        for task, text in book.acknowledged.items():
            got = self.at.get(task)
            self.assertEqual((got.state, got.texts), ("completed", [f"played: {text}"]))
        bodies = self.server.database.query("SELECT body FROM events WHERE body LIKE '%played: %'")
        times = collections.Counter(text for body, in bodies for text in re.findall(r"played: (end \d+-\d+;)", body))
        self.assertEqual([text for text, count in times.items() if count != 1], [])
        self.assertLessEqual(set(book.acknowledged.values()), set(times))
        self.assertEqual(self.server.database.query(
            "SELECT t.public_id, t.last_event, count(*) FROM tasks t JOIN events e ON e.event_key >> 28 = t.task_key "
            "GROUP BY t.task_key, t.public_id, t.last_event HAVING count(*) <> t.last_event OR "
            "min(e.event_key & 268435455) <> 1 OR max(e.event_key & 268435455) <> t.last_event"), [])

    def assert_ends_well(self, long, following, number):
        """Asserts that a long task at work throughout was not interrupted, and that both streams show its end."""
        again = self.at.subscribe(long, after=number)
        (self.nodes or self.server).gate("player", long)
        for stream in (following, again):
            self.assertEqual(stream.rest()[-1].state, "completed")
        numbers = [item.number for item in again.items]
        self.assertEqual(numbers, list(range(number + 1, number + 1 + len(numbers))), again.items)
        self.assertEqual(self.at.get(long).texts, ["waited"])
        self.assertEqual(self.server.database.query(f"SELECT attempt FROM tasks WHERE public_id = '{long}'"), [(1,)])

    def follow_long(self):
        """Begins a long task. Returns it, a stream of it, and the number of its last event."""
        long = self.at.begin_long().id
        following = self.at.subscribe(long)
        following.until("working")
        harness.wait_for(lambda: "begun" in self.at.get(long).said, 20, "the agent to have said something")
        number, = self.server.database.query(f"SELECT last_event FROM tasks WHERE public_id = '{long}'")[0]
        return long, following, number

    def assert_ends_of_loss(self):
        self.assertNotEqual(self.server.process.wait(client.scaled(20)), 0)
        self.assertIn(LOST, self.server.log_text())
