"""`baton ops`, as used by a script: JSON lines and exit codes."""
import json
import subprocess

import client
import databases
import harness
import operate_case

DONE, USAGE, NO_ANSWER, CANCELED = 0, 2, 4, 5


class Ops(operate_case.OperateCase):
    AGENTS = [*operate_case.OperateCase.AGENTS, "chat"]

    def ops(self, *words, token=operate_case.OPERATOR):
        """Runs a command. Returns its exit code, the JSON of each line it printed, and its error output."""
        environment = {**harness.program_environment(), "BATON_TOKEN": token,
                       "BATON_URL": f"http://127.0.0.1:{self.server.port}"}
        done = subprocess.run([harness.PROGRAM, "ops", *words, "--json"], capture_output=True, text=True, check=False,
                              timeout=client.scaled(60), env=environment, cwd=self.server.folder)
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def good(self, *words):
        code, lines, complaints = self.ops(*words)
        self.assertEqual(code, DONE, complaints)
        return lines

    def test_tasks_and_show(self):
        key = self.key_of(self.send("x", "phone"))
        rows = self.good("tasks", "--state", "input-required", "--agent", "phone", "--all")
        self.assertIn(key, [row["key"] for row in rows])
        view, *events = self.good("show", key)
        self.assertEqual(view["task"]["key"], key)
        self.assertEqual([event["number"] for event in events], list(range(1, view["task"]["lastEvent"] + 1)))
        whole = view["task"]["id"]
        for named in (whole, whole[-12:], whole[:23]):
            if named.isdigit():  # that would be a key
                continue
            self.assertEqual(self.good("show", named, "--events", "0")[0]["task"]["key"], key)
            self.assertEqual([row["key"] for row in self.good("tasks", "--id", named)], [key])
        self.assertEqual(self.good("tasks", "--parent", whole), [])
        alike = f"alike-{whole[:8]}"
        for end in ("-a", "-b"):
            self.server.rpc("tasks/send", {"id": alike + end, "message": client.text_message("y")}, agent="phone", token=operate_case.CALLER)
        for named, complaint in ((alike, f"{self.key_of(alike + '-b')} ({alike}-b of "), ("no-such-task", "no task has the key"), ("abcde", "at least 6")):
            code, lines, complaints = self.ops("cancel", named, "--reason", "mistaken")
            self.assertEqual((code, lines), (USAGE, []))
            self.assertIn(complaint, complaints)
        code, _, complaints = self.ops("taskz")
        self.assertEqual((code, complaints), (USAGE, "baton: unknown: taskz; did you mean tasks?\n"))

    def test_actions_and_audit(self):
        key = self.key_of(self.send("x", "phone"))
        self.assertEqual(self.good("cancel", key, "--reason", "not wanted")[0]["task"]["state"], "canceled")
        self.assertEqual(self.ops("show", key, "--follow", "--events", "0")[0], CANCELED)
        made = self.good("retry", key, "--reason", "wanted", "--text", "x")[0]["task"]["key"]
        self.wait_row(made, "input-required")
        self.good("answer", self.read(f"/tasks/{made}")["task"]["id"], "Android", "--reason", "for the caller")
        self.assertEqual({row["action"] for row in self.good("audit", "--task", key)}, {"cancel", "retry"})

    def test_answer_as_data(self):
        ask = "lines " + json.dumps([{"type": "ask", "message": "how many?", "schema": {
            "type": "object", "required": ["n", "m"], "properties": {"n": {"type": "integer"}, "m": {"type": "integer"}}}}])
        key = self.key_of(self.send(ask, "chat"))
        self.wait_row(key, "input-required")
        code, _, complaints = self.ops("answer", key, "--data", '{"n": "x", "m": 1}', "--reason", "wrong")
        self.assertEqual(code, NO_ANSWER)
        self.assertIn("/n must be an integer", complaints)
        for words in (("--data", "{"), ()):
            self.assertEqual(self.ops("answer", key, *words, "--reason", "wrong")[0], 2)
        self.wait_row(key, "input-required")
        self.good("answer", key, "--data", '{"n": 1, "m": 2}', "--reason", "for the caller")
        self.wait_row(key, "completed")

    def test_question_with_several_schemas_shows_the_one_that_answers_must_fit(self):
        schemas = [{"type": "boolean"}, {"type": "string"}]
        parts = [{"text": "well?"}, *({"data": {"schema": schema}} for schema in schemas)]
        key = self.key_of(self.send("lines " + json.dumps([{"type": "ask", "message": {"parts": parts}}]), "chat"))
        self.wait_row(key, "input-required")
        self.assertEqual(self.read(f"/tasks/{key}")["question"]["schema"], schemas[-1])

    def test_drain_and_resume(self):
        self.good("drain", "joke", "--reason", "upgrade")
        row = next(row for row in self.good("agents") if row["name"] == "joke")
        self.assertTrue(row["paused"])
        self.assertEqual(row["running"], 0)
        self.good("resume", "joke", "--reason", "upgraded")

    def test_only_node_is_the_one_that_answers(self):
        node, = self.good("nodes")
        self.assertTrue(node["self"])
        self.assertTrue(node["name"])
        self.assertEqual(node["state"], "serving")
        self.assertEqual({agent["name"] for agent in node["agents"]}, set(self.AGENTS))
        self.assertEqual(self.read("/nodes")["differences"], [])

    @databases.needs_sqlite("nobody shares it")
    def test_node_is_not_drained_where_nobody_shares_its_store(self):
        code, _, complaints = self.ops("drain-node", "1", "--reason", "upgrade")
        self.assertEqual(code, NO_ANSWER)
        self.assertIn("stop the server", complaints)
        self.assertEqual(self.good("audit", "--action", "drain")[0]["outcome"], "conflict")

    def test_scale(self):
        row = self.good("scale", "joke", "--concurrency", "3", "--reason", "a rush")[0]["agent"]
        self.assertEqual((row["concurrency"], row["scaled"]), (3, True))
        code, _, complaints = self.ops("scale", "joke", "2", "--reason", "a rush")
        self.assertEqual(code, NO_ANSWER)
        self.assertIn("has no worker processes", complaints)
        self.good("scale", "joke", "--concurrency", "0", "--reason", "it is over")

    def test_bulk_needs_the_number(self):
        keys = [self.key_of(self.send("bulk", "phone")) for _ in range(2)]
        words = ("bulk", "cancel", "--agent", "phone", "--state", "input-required", "--reason", "cleaning")
        code, _, complaints = self.ops(*words)
        self.assertEqual(code, USAGE)
        number = complaints.split(" tasks")[0].split()[-1]
        code, _, complaints = self.ops(*words, "--expected", str(int(number) + 1))
        self.assertEqual((code, complaints.count(f"the filter finds {number} tasks, ")), (NO_ANSWER, 1))
        self.assertEqual(complaints.count("the filter finds"), 1)
        items = self.good(*words, "--expected", number)
        self.assertLessEqual(set(keys), {item["task"] for item in items if item["outcome"] == "done"})

    def test_bulk_refuses_an_empty_filter_value(self):
        before = self.read("/bulk")["jobs"]
        code, _, complaints = self.ops("bulk", "cancel", "--caller", "", "--reason", "cleaning")
        self.assertEqual(code, USAGE)
        self.assertIn("caller must not be empty", complaints)
        self.assertEqual(self.read("/bulk")["jobs"], before)

    def test_bulk_acts_on_what_was_counted_once_its_number_is_confirmed(self):
        keys = {self.key_of(self.send("bulk", "phone")) for _ in range(2)}
        filters = ("--agent", "phone", "--state", "input-required", "--turn", "none")
        code, _, complaints = self.ops("bulk", "cancel", *filters, "--reason", "cleaning")
        self.assertEqual(code, USAGE)
        self.assertRegex(complaints, r"job \d+ has \d+ tasks; ")
        words = complaints.split("`")[1].split()
        self.assertEqual(words[:3], ["baton", "ops", "confirm"])
        late = self.key_of(self.send("bulk", "phone"))
        self.assertEqual(self.ops(*words[2:-1], "0")[0], NO_ANSWER)
        items = self.good(*words[2:])
        self.assertLessEqual(keys, {item["task"] for item in items if item["outcome"] == "done"})
        self.assertEqual(self.read(f"/tasks/{late}")["task"]["state"], "input-required")
        self.ops("bulk", "cancel", *filters, "--reason", "cleaning")
        job = self.read("/bulk")["jobs"][0]["job"]
        self.good("abandon", job)
        self.assertEqual(self.ops("confirm", job, "--expected", "1")[0], NO_ANSWER)
        self.good("cancel", late, "--reason", "cleaning")

    def test_retry_sends_other_data_and_files(self):
        key = self.key_of(self.send("x", "phone"))
        self.good("cancel", key, "--reason", "wrong input")
        plan = self.server.folder / "plan.csv"
        plan.write_text("a,b\n", encoding="utf-8")
        made = self.good("retry", key, "--reason", "mended", "--data", '{"rows": [1, 2]}', "--file", str(plan))
        made = made[0]["task"]["key"]
        file, data = self.message_of(made)["parts"]
        self.assertEqual(data["data"], {"rows": [1, 2]})
        self.assertEqual((file["filename"], file["mediaType"]), ("plan.csv", "text/csv"))
        self.assertEqual(self.read(f"/tasks/{key}")["task"]["retriedAs"], made)
        # A part of the task's own message is referred to by its index.
        message = {"parts": [{"data": {"rows": []}}, {"part": 0}]}
        again = self.good("retry", made, "--reason", "once more", "--message", json.dumps(message))[0]["task"]["key"]
        self.assertEqual(self.message_of(again)["parts"], [{"data": {"rows": []}}, file])
        self.assertEqual(self.ops("retry", made, "--reason", "x", "--message", "{")[0], USAGE)
        message["parts"][1]["part"] = 2
        code, _, complaints = self.ops("retry", made, "--reason", "x", "--message", json.dumps(message))
        self.assertEqual(code, NO_ANSWER)
        self.assertIn("no part 2", complaints)
        for left in (made, again):
            self.good("cancel", left, "--reason", "done")

    def message_of(self, key):
        events = self.read(f"/tasks/{key}/events?after=0")["events"]
        return next(event["message"] for event in events if event["type"] == "message")

    def test_delete_needs_yes(self):
        key = self.key_of(self.send("x", "joke"))
        code, _, complaints = self.ops("delete", key, "--reason", "not needed")
        self.assertEqual(code, USAGE)
        self.assertIn("repeat with --yes to delete", complaints)
        self.assertEqual(self.good("delete", key, "--yes", "--reason", "not needed"), [{"tasks": 1, "left": 0}])
        self.assert_api_error(self.ask("GET", f"/tasks/{key}"), 404, "not_found")
        self.assertEqual(self.ops("delete", "--reason", "x", "--yes")[0], USAGE)
        self.assertEqual(self.ops("delete", key, "--caller", "ann", "--reason", "x", "--yes")[0], USAGE)

    def test_delete_of_a_context_and_of_a_caller(self):
        row = self.read(f"/tasks/{self.key_of(self.send('x', 'joke'))}")["task"]
        words = ("delete", "--context", row["context"], "--agent", "joke", "--caller", "ann", "--reason", "x")
        self.assertEqual(self.ops(*words)[0], USAGE)
        nothing = ("delete", "--context", "", *words[3:])  # as from a variable that is not set
        self.assertEqual(self.ops(*nothing, "--yes")[0], USAGE)
        self.assertEqual(self.good(*words, "--yes"), [{"tasks": 1, "left": 0}])
        self.server.send("x", agent="joke", token=operate_case.OPERATOR)
        code, _, complaints = self.ops("delete", "--caller", "otto", "--reason", "x")
        self.assertEqual(code, USAGE)
        self.assertIn("1 task,", complaints)
        self.assertEqual(self.good("delete", "--caller", "otto", "--reason", "x", "--yes"), [{"tasks": 1, "left": 0}])

    def test_deliveries(self):
        self.assertEqual(self.good("deliveries"), [])

    def test_refusals_say_why(self):
        code, _, complaints = self.ops("tasks", token="wrong")
        self.assertEqual(code, NO_ANSWER)
        self.assertIn("BATON_TOKEN", complaints)
        code, _, complaints = self.ops("cancel", "999999", "--reason", "x", token=operate_case.VIEWER)
        self.assertEqual(code, NO_ANSWER)
        self.assertIn("read-only", complaints)
        self.assertEqual(self.ops("cancel", "1")[0], USAGE)
