"""`baton db copy`: a whole database goes from a SQLite file to PostgreSQL and back, and a server continues on the
copy."""
import contextlib
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import unittest

import client
import databases
import harness
import new_generations
import plan_case
import webhooks

SECRET = "sEcReT"
OPERATOR = "otto-secret"
ALLOW = ["--postgres-allow", os.environ.get("BATON_TEST_POSTGRES_ALLOW") or "nothing"]
# Tables that each database has for itself, and those for the keys of sends in a file.
OWN_TABLES = {"migrations", "send_slices", "send_slice_pages"}


def command(*words):
    return [harness.PROGRAM, "db", "copy", "--json", *map(str, words)]


def copy(*words, **variables):
    """Runs the copy. Returns exit code, standard output, standard error."""
    done = subprocess.run(command(*words), env={**harness.program_environment(), **variables}, capture_output=True,
                          text=True, timeout=client.scaled(120), check=False)
    return done.returncode, done.stdout, done.stderr


def content_of(path):
    """Returns each table's rows of a SQLite file."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        content = {}
        for table in sorted(set(tables) - OWN_TABLES):
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})") if row[1] != "send_key"]
            rows = database.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()
            content[table] = sorted(rows, key=repr)
        return content


class Refused(unittest.TestCase):
    def test_what_can_be_told_from_the_command_line_alone(self):
        url = f"postgresql://baton:{SECRET}@127.0.0.1:1/tasks"
        with tempfile.TemporaryDirectory(prefix="baton-copy-") as folder:
            file = pathlib.Path(folder) / "url"
            file.write_text(url + "\n", encoding="ascii")
            file.chmod(0o644)
            for words, code, said in (
                    ((), 2, "name the database"), (("baton.db",), 2, "name the database"),
                    (("a.db", url), 2, "--to-file"), ((url, "a.db"), 2, "--from-file"),
                    (("a.db", "b.db"), 2, "baton db backup"), (("a.db", "mysql://h/d"), 2, "postgresql://"),
                    (("postgresql://h/a", "postgres://h/b"), 2, "pg_dump"), ((":memory:", "a.db"), 2, "in-memory"),
                    (("a.db", "--to-file", file), 2, "chmod 600"), (("a.db", "--to-file", "none"), 2, "cannot read"),
                    ((f"{folder}/none.db", "postgresql://127.0.0.1:1/d"), 4, "file not found")):
                with self.subTest(words):
                    got, out, err = copy(*words)
                    self.assertEqual((got, out), (code, ""), err)
                    self.assertIn(said, err)
                    self.assertNotIn(SECRET, err)


class CopyCase(unittest.TestCase):
    """Has a server whose tasks are in a file at first."""
    PLANS = {"two": {"sequence": [plan_case.hand("say a"), plan_case.hand("say b")]}}

    def setUp(self):
        self.server = harness.Server(
            ["player", "slow", "hand"],
            {"tokens": [{"caller": "otto", "token": OPERATOR, "role": "operator"}], "engine": {"drain_grace_s": 0.2},
             "api_keys": True, "allow_anonymous": True},
            ["--allow-private-webhooks"])
        self.addCleanup(self.server.discard)
        for name, plan in self.PLANS.items():
            plan_case.write_plan(self.server, name, plan)
        self.change_card("slow", concurrency=1)
        self.change_card("player", schedule={"cron": "0 * * * *", "message": "end", "missed": "once"})
        self.on_server = self.server.database
        self.file = self.server.database = databases.SqliteFile(self.server.folder)
        self.addCleanup(self.on_server.drop)
        self.player = new_generations.Rpc10(self.server)

    def change_card(self, agent, **members):
        path = self.server.agents_folder / agent / "card.json"
        card = json.loads(path.read_text(encoding="utf-8"))
        card["baton"] |= members
        path.write_text(json.dumps(card), encoding="utf-8")

    def start(self, **webhooks_config):
        self.server.config["webhooks"] = {"retry_first_s": 0.05, "retry_max_s": 0.1, **webhooks_config}
        self.server.start()

    def assert_copied(self, *words):
        """Copies, and asserts that all tables are equal. Returns the number of rows of each."""
        code, out, err = copy(*words, *ALLOW)
        self.assertEqual((code, err), (0, ""), out)
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertTrue(all(line["equal"] for line in lines))
        return {line["table"]: line["rows"] for line in lines}

    def assert_not_served(self, words, said):
        done = subprocess.run([harness.PROGRAM, "serve", "--port", "0", "--agents", str(self.server.agents_folder), *words],
                              env=harness.program_environment(), capture_output=True, text=True,
                              timeout=client.scaled(60), check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(said, done.stdout + done.stderr)


@client.only_if(databases.ON_POSTGRES)
class GoesOn(CopyCase):
    def test_a_server_goes_on_with_every_kind_of_task_and_so_it_does_after_the_way_back(self):
        down = []
        with webhooks.Receiver(lambda path, count: 200 if path == "/well" or not down else 500) as receiver:
            down.append(True)
            made = self.make_tasks(receiver)
            self.server.kill()
            rows = self.assert_copied(self.file.path, self.on_server.url)
            for table in ("contexts", "tasks", "events", "landmarks", "artifacts", "conversation", "sends", "task_metadata",
                          "push_configs", "deliveries", "scheduled_tasks", "audit", "agent_controls", "api_keys",
                          "task_totals"):
                self.assertGreater(rows[table], 0, table)

            back = self.server.folder / "back.db"
            self.assertEqual(self.assert_copied(self.on_server.url, back), rows)
            self.assertEqual(content_of(back), content_of(self.file.path))
            self.assertEqual(back.stat().st_mode & 0o777, 0o600)

            self.server.database = self.on_server
            self.start()
            self.look_at_all(made)
            down.clear()
            receiver.wait_state("TASK_STATE_COMPLETED", path="/pending")
            self.assertEqual(self.on_server.query("SELECT state FROM deliveries d JOIN push_configs c ON c.config_key = "
                                                  "d.config_key WHERE url LIKE '%/given-up' AND state = 'waiting'"), [])
            self.continue_with(made)
            new = self.player.send("ask", message_id="made-there")
            self.assertEqual(self.server.stop(), 0)

            again = databases.SqliteFile(self.server.folder / "again")
            again.path.parent.mkdir()
            self.assert_copied(self.on_server.url, again.path)
            done = subprocess.run([harness.PROGRAM, "db", "check", str(again.path)], env=harness.program_environment(),
                                  capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, f"{again.path}: no faults\n"))
            self.server.database = again
            self.start()
            self.look_at_all({**made, "ask": None})
            self.assertEqual(self.player.send("ask", message_id="made-there").id, new.id)
            self.assertEqual(self.player.answer(new.id, "so").texts, ["answered: so"])

    def make_tasks(self, receiver):
        """Makes the tasks, then kills the server. Returns the tasks at rest as they are shown, and the ids of the
        others."""
        self.start(give_up_after_s=0.2)
        player = self.player
        player.send("end", push=player.webhook(receiver.url("/given-up")))
        harness.wait_for(lambda: self.file.query("SELECT 1 FROM deliveries WHERE state = 'given-up'"), what="giving up")
        self.server.stop()
        # As if the server had been down for two hours, during which the schedule was due.
        self.file.change("UPDATE tasks SET status_ms = status_ms - 7200000 WHERE hidden = 1")
        self.start()
        harness.wait_for(lambda: self.file.query("SELECT 1 FROM scheduled_tasks"), what="what the schedule makes")
        context = client.new_id()
        rest = [player.send("end", message_id="end-1", metadata={"a": "ä\u0001"}), player.send("count 20", context=context),
                player.send("say all", context=context), player.send("fail so", context=context),
                player.send("end", push=player.webhook(receiver.url("/well")))]
        asked = player.begin("ask", message_id="ask-1", context=context)
        slow = new_generations.Rpc10(self.server, agent="slow")
        waits = player.begin_long()
        running, queued = slow.begin_long("x"), slow.send("y", wait=False)
        two = new_generations.Rpc10(self.server, agent="two")
        plan = two.send("go")
        made = self.server.http("POST", "/operate/v1/keys", json.dumps({"caller": "ann", "reason": "a test"}).encode(),
                                {"Authorization": f"Bearer {OPERATOR}"})
        self.assertEqual(made.status, 201, made.raw)
        for what in ("pause", "resume"):
            answer = self.server.http("POST", f"/operate/v1/agents/hand/{what}", json.dumps({"reason": "a test"}).encode(),
                                      {"Authorization": f"Bearer {OPERATOR}"})
            self.assertEqual(answer.status, 200, answer.raw)
        player.send("end", push=player.webhook(receiver.url("/pending")))
        receiver.wait(lambda r: any(d.path == "/pending" for d in r.refused), what="a first attempt")
        shown = {task.id: player.get(task.id).raw for task in [*rest, asked]}
        shown_two = {plan.id: two.get(plan.id).raw}
        return {"key": made.body["apiKey"], "shown": shown, "plans": shown_two, "first": rest[0].id, "ask": asked.id, "waits": waits.id,
                "slow": [running.id, queued.id]}

    def look_at_all(self, made):
        """Asserts that the tasks at rest are shown as before, and that repeated sends are recognized."""
        for task, raw in made["shown"].items():
            if made["ask"] or task != self.answered:
                self.assertEqual(self.player.get(task).raw, raw)
        two = new_generations.Rpc10(self.server, agent="two")
        for task, raw in made["plans"].items():
            self.assertEqual(two.get(task).raw, raw)
        tree = self.server.http("GET", f"/agents/two/tasks/{next(iter(made['plans']))}/tree")
        self.assertEqual(len(tree.body["root"]["children"]), 2)
        self.assertEqual(self.player.send("end", message_id="end-1", metadata={"a": "ä\u0001"}).id, made["first"])
        listed = self.server.http("GET", "/agents", headers={"Authorization": f"Bearer {made['key']}"})
        self.assertEqual((listed.status, listed.body["caller"]), (200, "ann"))
        audit = self.server.http("GET", "/operate/v1/audit", headers={"Authorization": f"Bearer {OPERATOR}"}).body
        self.assertEqual([row["action"] for row in audit["rows"]][:2], ["resume", "pause"])

    def continue_with(self, made):
        """Brings the tasks that waited, ran and were queued to their end."""
        self.assertEqual(self.player.answer(made["ask"], "so").texts, ["answered: so"])
        self.answered = made["ask"]
        self.server.gate("player", made["waits"])
        slow = new_generations.Rpc10(self.server, agent="slow")
        for task in made["slow"]:
            self.server.gate("slow", task)
            harness.wait_for(lambda one=task: slow.get(one).state == "completed", what="what was queued")
        harness.wait_for(lambda: self.player.get(made["waits"]).state == "completed", what="what was running")


@client.only_if(databases.ON_POSTGRES)
class Killed(CopyCase):
    EVENTS = 200_000

    def setUp(self):
        super().setUp()
        self.start()
        self.player.send("end")
        self.server.stop()
        # Adds logs of removed tasks, as a long log exists for a while.
        self.file.change(f"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {self.EVENTS}) "
                         "INSERT INTO events SELECT (5 << 28) + i, 3, 7, '{\"x\": ' || i || '}' FROM n")
        self.file.change("INSERT INTO removed_logs VALUES (5, 0)")
        self.file.change("UPDATE retention SET last_task = 5")

    def kill_in_the_middle(self, source, target, done):
        """Kills a copy once `done()` rows are there and more are to come."""
        with subprocess.Popen(command(source, target, *ALLOW), env=harness.program_environment(),
                              stdout=subprocess.DEVNULL) as process:
            rows = harness.wait_for(done, what="the first rows")
            process.kill()
            self.assertEqual(process.wait(), -9, "the copy had ended before it was killed")
        self.assertLess(rows, self.EVENTS)

    def rows_on_server(self, which="true"):
        try:
            return self.on_server.query(f"SELECT sum(table_rows)::bigint AS s FROM copied_tables WHERE {which}")[0][0]
        except AssertionError:  # the table is not there yet
            return 0

    def test_a_copy_that_was_killed_is_served_by_nobody_and_goes_on(self):
        self.kill_in_the_middle(self.file.path, self.on_server.url, self.rows_on_server)
        finish = "running `baton db copy` with the same two databases"
        self.assert_not_served(self.on_server.words(), f"an unfinished copy of {self.file.path}: finish it by {finish}")
        self.assertIn(self.rows_on_server(), range(1, self.EVENTS))
        self.assertEqual(self.assert_copied(self.file.path, self.on_server.url)["removed_logs"], 1)

        back = databases.SqliteFile(self.server.folder / "back")
        back.path.parent.mkdir()

        def of_file():
            try:
                return back.query("SELECT sum(table_rows) FROM copied_tables")[0][0]
            except sqlite3.OperationalError:
                return 0

        self.kill_in_the_middle(self.on_server.url, back.path, of_file)
        self.assert_not_served(back.words(), finish)
        self.assert_copied(self.on_server.url, back.path)
        self.assertEqual(content_of(back.path), content_of(self.file.path))

    def test_what_became_of_a_row_meanwhile_is_found(self):
        self.kill_in_the_middle(self.file.path, self.on_server.url, lambda: self.rows_on_server("name = 'events'"))
        self.assertEqual(self.on_server.change("UPDATE events SET at_ms = at_ms + 1 WHERE event_key = 1342177281"), 1)
        for _ in range(2):
            code, out, err = copy(self.file.path, self.on_server.url, *ALLOW)
            self.assertEqual(code, 1, err)
            self.assertIn("the copy differs from its source in events:", err)
            self.assertEqual([line["table"] for line in map(json.loads, out.splitlines()) if not line["equal"]], ["events"])
            self.assert_not_served(self.on_server.words(), "an unfinished copy")

    def test_what_a_server_has_open_or_has_used_is_not_copied_to_or_from(self):
        self.server.start()
        code, _, err = copy(self.file.path, self.on_server.url, *ALLOW)
        self.assertEqual(code, 4)
        self.assertIn("in use by another Baton", err)
        self.server.stop()

        self.server.database = self.on_server
        self.server.start()
        code, _, err = copy(self.file.path, self.on_server.url, *ALLOW)
        self.assertEqual(code, 4)
        self.assertIn("the database is in use by another Baton", err)
        code, _, err = copy(self.on_server.url, self.server.folder / "other.db")
        self.assertEqual(code, 4)
        self.assertIn("the database is in use by another Baton", err)
        self.player.send("end")
        self.server.stop()
        code, _, err = copy(self.file.path, self.on_server.url, *ALLOW)
        self.assertEqual(code, 4)
        self.assertIn("is not empty", err)
        self.assertFalse((self.server.folder / "other.db").exists())

    def test_a_url_with_a_password_comes_from_a_file(self):
        password = pathlib.Path(os.environ["PGPASSFILE"]).read_text(encoding="ascii").strip().rsplit(":", 1)[1]
        file = self.server.folder / "url"
        file.touch(mode=0o600)
        file.write_text(self.on_server.url.replace("@", f":{password}@") + "\n", encoding="ascii")
        back = self.server.folder / "back.db"
        for words in ((self.file.path, "--to-file", file), ("--from-file", file, back)):
            code, out, err = copy(*words, *ALLOW, PGPASSFILE="")
            self.assertEqual((code, err), (0, ""))
            self.assertNotIn(password, out)
        self.assertEqual(content_of(back), content_of(self.file.path))
