"""Cuts the power: kills the program and gives its files only the content that the disk had flushed; in a second round,
also any part of a write that was under way. Everything acknowledged is there, and complete. The order in which a
checkpoint flushes log and database is checked on the way.

BATON_POWER_CUTS sets the number of cuts in each test (4, or 2 in the ring "whole"); scripts/soak sets 100.
"""
import http.client
import os
import pathlib
import random
import shutil
import sqlite3
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import client
import databases
import harness
import preload_library
import rings

CUTS = int(os.environ.get("BATON_POWER_CUTS") or (2 if rings.WHOLE else 4))
SENDERS = 8
TEXT = "x" * 20_000


@databases.needs_sqlite("cuts the power of the disk that the file is on")
class PowerCut(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="baton-power-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.library = preload_library.build("power_cut", self.folder)
        self.disk = self.folder / "disk"
        self.disk.mkdir()

    def serve(self, **variables):
        variables = {"POWER_CUT_FOLDER": str(self.disk), **variables}
        # A worker, because a program started for each of these thousand turns takes more time than all else.
        self.server = preload_library.Server(self.library, variables, ["echo"],
                                             {"log": {"level": "warn"}, "engine": {"quarantine": False}})
        self.addCleanup(self.server.discard)
        self.server.start()

    def cut_power(self):
        self.server.kill()
        for name in ("baton.db", "baton.db-wal"):
            shutil.copyfile(self.disk / name, self.server.folder / name)
        (self.server.folder / "baton.db-shm").unlink(missing_ok=True)  # memory

    def send_until(self, stop, acknowledged):
        while not stop.is_set():
            task = client.new_id()
            try:
                self.server.send(f"{task} {TEXT}", task)
            except (OSError, http.client.HTTPException, AssertionError):
                continue
            acknowledged.append(task)

    def send_and_cut(self, least):
        """Sends from several threads until `least` tasks are acknowledged, then cuts the power. Returns the
        acknowledged tasks."""
        acknowledged, stop = [], threading.Event()
        senders = [threading.Thread(target=self.send_until, args=(stop, acknowledged), daemon=True)
                   for _ in range(SENDERS)]
        for sender in senders:
            sender.start()
        harness.wait_for(lambda: len(acknowledged) >= least, 300, what=f"{least} answers")
        known = list(acknowledged)
        self.cut_power()
        stop.set()
        for sender in senders:
            sender.join(client.scaled(30))
        return known

    def missing(self, tasks):
        answers = {task: self.server.rpc("tasks/get", {"id": task}).body for task in tasks}
        return [task for task, answer in answers.items()
                if answer.get("result", {}).get("status", {}).get("state") != "completed"]

    def check_database(self):
        """Checks that the database is consistent."""
        self.server.stop()
        database = sqlite3.connect(self.server.folder / "baton.db")
        self.addCleanup(database.close)
        self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])

    def cut_often(self, **variables):
        self.serve(**variables)
        tasks = []
        for cut in range(CUTS):
            # The last cuts come after checkpoints, which happen every 16 MiB.
            known = self.send_and_cut(least=60 if cut < CUTS - 1 else 500)
            self.server.start()
            tasks += known
            # Looks at all of them only after the last cut; looking each time would take quadratic time.
            looked_at = known + random.sample(tasks, min(len(tasks), 100)) if cut < CUTS - 1 else tasks
            self.assertEqual(self.missing(looked_at), [], "acknowledged and gone, or not complete")
        self.check_database()
        notes = (self.disk / "notes").read_text(encoding="ascii").splitlines()
        self.assertEqual([note for note in notes if note.startswith("violation")], [])
        self.assertGreaterEqual(notes.count("log begins anew"), 1, "there was no checkpoint to watch")

    def test_what_was_acknowledged_survives_a_disk_that_has_only_what_was_flushed(self):
        self.cut_often()

    def test_what_was_acknowledged_survives_a_disk_that_has_any_part_of_the_rest(self):
        self.cut_often(POWER_CUT_KEEP="50")

    def test_a_cut_takes_what_was_not_flushed(self):
        """Tests the test: on a disk that pretends to flush, acknowledged tasks are lost."""
        self.serve()
        self.server.stop()
        self.server.variables["POWER_CUT_LIE"] = "1"
        self.server.start()
        tasks = self.send_and_cut(least=20)
        self.server.start()
        self.assertNotEqual(self.missing(tasks), [])


if __name__ == "__main__":
    unittest.main()
