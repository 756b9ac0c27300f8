"""`baton db`: backups of a database in use, checks, figures, and export and import of tasks."""
import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import threading
import urllib.parse

import a2a_case
import client
import databases
import harness
import plan_case


def db(*words):
    """Runs `baton db`. Returns exit code, standard output, standard error."""
    done = subprocess.run([harness.PROGRAM, "db", *map(str, words)], env=harness.program_environment(),
                          capture_output=True, text=True, timeout=client.scaled(120), check=False)
    return done.returncode, done.stdout, done.stderr


def change(path, sql):
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute(sql)


def logs_of(path):
    """Returns each task's events by its public id, without the keys of children."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        found = {}
        for task, kind, at, body in database.execute(
                "SELECT public_id, kind, at_ms, body FROM tasks JOIN events ON event_key >> 28 = task_key "
                "ORDER BY event_key"):
            event = json.loads(body)
            if kind == 14:
                event.pop("k", None)
            found.setdefault(task, []).append((kind, at, event))
        return found


@databases.needs_sqlite("copies and checks the file")
class Backup(a2a_case.A2aCase):
    CALLERS = 64

    def test_a_backup_made_while_64_callers_send_is_whole_and_serves(self):
        self.server.send("end first")
        copy = self.server.folder / "copy.db"
        stop = threading.Event()
        sent, failed = [], []

        def keep_sending():
            caller = client.Client(self.server.host, self.server.port)
            while not stop.is_set():
                try:
                    sent.append(caller.send("end")["id"])
                except (OSError, client.RpcError) as problem:
                    failed.append(problem)
                    return

        callers = [threading.Thread(target=keep_sending) for _ in range(self.CALLERS)]
        for caller in callers:
            caller.start()
        harness.wait_for(lambda: len(sent) > 200, what="many sends")
        before = list(sent)
        code, out, err = db("backup", "--db", self.server.folder / "baton.db", copy)
        stop.set()
        for caller in callers:
            caller.join()
        self.assertEqual((code, err, failed), (0, "", []), out)
        self.assertEqual(copy.stat().st_mode & 0o777, 0o600)
        self.assertEqual(db("check", copy), (0, f"{copy}: no faults\n", ""))
        self.assertEqual(db("check", "--db", self.server.folder / "baton.db")[0], 0)

        restored = harness.Server(self.AGENTS)
        shutil.copy(copy, restored.folder / "baton.db")
        with restored:
            for task in before:
                self.assertEqual(restored.get(task)["status"]["state"], "completed")
            self.assertEqual(restored.send("end")["status"]["state"], "completed")

    def test_a_backup_never_replaces_a_file_and_takes_only_databases_of_baton(self):
        there = self.server.folder / "there"
        there.write_text("mine", encoding="utf-8")
        code, _, err = db("backup", "--db", self.server.folder / "baton.db", there)
        self.assertEqual((code, there.read_text(encoding="utf-8")), (4, "mine"))
        self.assertIn("already exists and is not replaced", err)
        self.assertEqual(db("backup", "--db", self.server.folder / "none.db", self.server.folder / "a")[0], 4)
        other = self.server.folder / "other.db"
        change(other, "CREATE TABLE mine (x)")
        code, _, err = db("backup", "--db", other, self.server.folder / "a")
        self.assertEqual(code, 4)
        self.assertIn("is not a Baton database", err)
        self.assertFalse((self.server.folder / "a").exists())

    def test_check_finds_what_breaks_a_promise(self):
        self.server.send("end")
        whole = self.server.folder / "whole.db"
        db("backup", "--db", self.server.folder / "baton.db", whole)
        for name, sql, said in (
                ("event", "DELETE FROM events WHERE event_key IN (SELECT min(event_key) + 1 FROM events)",
                 "its events are not numbered from 1 to last_event"),
                ("total", "UPDATE task_totals SET tasks = tasks + 1", "is not the number of tasks"),
                ("stray", "INSERT INTO events VALUES (99 << 40, 1, 0, '{}')", "events without it"),
                ("bytes", "UPDATE tasks SET bytes = bytes + 1", "bytes is not the size of its events"),
                ("parent", "UPDATE tasks SET parent_key = 12345", "refers to a row of tasks that does not exist")):
            with self.subTest(name):
                copy = self.server.folder / f"{name}.db"
                shutil.copy(whole, copy)
                change(copy, sql)
                code, out, _ = db("check", copy)
                self.assertEqual(code, 1, out)
                self.assertIn(said, out)

    def test_a_database_of_an_earlier_version_is_copied_and_otherwise_refused_with_what_to_do(self):
        old, copy = self.server.folder / "old.db", self.server.folder / "old-copy.db"
        self.server.send("end")
        self.assertEqual(db("backup", "--db", self.server.folder / "baton.db", old)[0], 0)
        change(old, "DROP TABLE titles")
        change(old, "PRAGMA user_version = 14")
        self.assertEqual(db("backup", "--db", old, copy)[0], 0)
        for words in (["check", copy], ["stats", "--db", copy], ["export", "--db", copy]):
            with self.subTest(words[0]):
                code, out, err = db(*words)
                self.assertEqual((code, out), (4, ""), err)
                self.assertIn("old-copy.db: has the tables of an earlier version", err)

    def test_stats_count_what_is_there(self):
        self.server.send("end")
        code, out, _ = db("stats", "--json", "--db", self.server.folder / "baton.db")
        figures = json.loads(out)
        self.assertEqual(code, 0)
        self.assertGreater(figures["tasks_completed"], 0)
        self.assertEqual(figures["tasks"], figures["tasks_completed"] + figures.get("tasks_input-required", 0))
        self.assertIn("free_pages", db("stats", "--db", self.server.folder / "baton.db")[1])


@databases.needs_sqlite("exports read the file, imports write one")
class Move(a2a_case.A2aCase):
    def test_tasks_move_to_another_database_with_equal_logs(self):
        server = self.server
        first = self.g4.send("end").raw
        self.g4.send("count 20", context=first["contextId"])
        server.send("ask")
        open_stream = self.g4.begin_long()
        export = server.folder / "tasks.jsonl"
        code, _, err = db("export", "--db", server.folder / "baton.db", "--out", export)
        self.assertEqual(code, 0, err)
        self.assertIn("1 task has not come to rest and is left out", err)
        self.assertEqual(export.stat().st_mode & 0o777, 0o600)
        server.gate("player", "all")
        del open_stream

        moved = server.folder / "moved.db"
        self.assertEqual(db("import", "--db", moved, export)[:2], (0, "3 tasks imported\n"))
        self.assertEqual(db("check", moved), (0, f"{moved}: no faults\n", ""))
        source, target = logs_of(server.folder / "baton.db"), logs_of(moved)
        self.assertEqual(target, {task: source[task] for task in target})
        self.assertEqual(os.stat(moved).st_mode & 0o777, 0o600)

        # Imports all or none of them, and leaves existing tasks as they are.
        code, _, err = db("import", "--db", moved, export)
        self.assertEqual(code, 4)
        self.assertIn("already exists", err)
        self.assertEqual(logs_of(moved), target)

        other = harness.Server(self.AGENTS)
        shutil.copy(moved, other.folder / "baton.db")
        with other:
            code, _, err = db("import", "--db", other.folder / "baton.db", export)
            self.assertEqual(code, 4)
            self.assertIn("in use", err)
            self.assertEqual(other.get(first["id"])["status"]["state"], "completed")
            self.assertEqual(other.send("end", first["id"] + "-next")["status"]["state"], "completed")

    def test_titles_of_conversations_move_with_their_tasks(self):
        server = self.server
        own = self.g4.send("end").raw["contextId"]  # of a task that is alone in it
        shared = self.g4.send("end", context="the trip").raw["contextId"]
        self.g4.send("end", context="nameless")
        for context, title in ((own, "Alone ☂"), (shared, "Rome")):
            renamed = server.http("PATCH", f"/agents/player/conversations/{urllib.parse.quote(context)}",
                                  json.dumps({"title": title}).encode())
            self.assertEqual(renamed.status, 200, renamed.raw)
        export, moved = server.folder / "titles.jsonl", server.folder / "titles.db"
        self.assertEqual(db("export", "--db", server.folder / "baton.db", "--out", export)[0], 0)
        self.assertEqual(db("import", "--db", moved, export)[0], 0)
        self.assertEqual(db("check", moved), (0, f"{moved}: no faults\n", ""))
        with contextlib.closing(sqlite3.connect(moved)) as database:
            titles = dict(database.execute("SELECT context, title FROM titles"))
        self.assertEqual(titles, {own: "Alone ☂", shared: "Rome"})

    def test_an_export_that_fails_leaves_no_file(self):
        out = self.server.folder / "none.jsonl"
        self.assertEqual(db("export", "--db", self.server.folder / "none.db", "--out", out)[0], 4)
        self.assertFalse(out.exists())

    def test_what_no_export_has_written_is_refused_with_its_line(self):
        for lines, said in (("nonsense", "line 1"), ('{"baton": 1}\n{"event": {"task": 3}}', "line 2"),
                            ('{"baton": 9}', "version 9"), ('{"task": {"key": 1, "turn_state": "running"}}', "a turn that has not ended")):
            with self.subTest(said):
                path = self.server.folder / "wrong.jsonl"
                path.write_text(lines, encoding="utf-8")
                code, _, err = db("import", "--db", self.server.folder / "fresh.db", path)
                self.assertEqual(code, 4, err)
                self.assertIn(said, err)


@databases.needs_sqlite("exports read the file, imports write one")
class MoveTrees(plan_case.PlanCase):
    HANDS = ["hand"]
    PLANS = {"two": {"sequence": [plan_case.hand("say a"), plan_case.hand("say b")]}}

    def test_a_tree_moves_with_its_parents_and_children(self):
        task = client.new_id()
        self.server.stream("go", task, agent="two").close()
        self.ended(task, "two", "completed")
        export = self.server.folder / "tree.jsonl"
        code, _, err = db("export", "--db", self.server.folder / "baton.db", "--task", task, "--out", export)
        self.assertEqual((code, err), (0, "3 tasks exported\n"))
        moved = self.server.folder / "moved.db"
        self.assertEqual(db("import", "--db", moved, export)[0], 0)
        self.assertEqual(db("check", moved)[0], 0)
        with contextlib.closing(sqlite3.connect(moved)) as database:
            parents = database.execute(
                "SELECT p.public_id, count(*) FROM tasks c JOIN tasks p ON p.task_key = c.parent_key "
                "GROUP BY 1").fetchall()
            self.assertEqual(parents, [(task, 2)])
            named = {json.loads(body)["k"] for (body,) in database.execute(
                "SELECT body FROM events WHERE kind = 14 AND json_extract(body, '$.k') > 0")}
            children = {key for (key,) in database.execute("SELECT task_key FROM tasks WHERE parent_key > 0")}
            self.assertEqual(named, children)
