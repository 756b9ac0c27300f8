"""How long tasks are kept: by state, by agent, by the reason for waiting; and how many of one caller."""
import json

import a2a_case
import client
import databases
import harness
import plan_case

DAY_MS = 86_400_000


def is_gone(server, task):
    answer = server.rpc("tasks/get", {"id": task})
    return answer.body.get("error", {}).get("code") == -32001


def make_older(server, days):
    """Changes the stopped server's database as if everything in it had happened `days` days earlier."""
    by = days * DAY_MS
    server.database.change(f"UPDATE tasks SET status_ms = status_ms - {by}, created_ms = created_ms - {by}")


class Ages(a2a_case.A2aCase):
    CONFIG = {"retention": {"completed_s": 0.5, "waiting_s": 1}}

    def test_a_task_goes_with_all_its_rows_once_its_time_is_over(self):
        task = client.new_id()
        stream = self.server.stream("wait with a secret", task)
        stream.until(lambda block: block.status and block.status.get("message"))
        rows = self.server.database.query
        ((key,),) = rows(f"SELECT task_key FROM tasks WHERE public_id = '{task}'")
        self.server.gate("player", task)
        self.assertEqual(stream.rest()[-1].status["state"], "completed")
        harness.wait_for(lambda: is_gone(self.server, task), what="the task to go")
        for table in ("turn_requests", "task_metadata", "artifacts", "push_configs", "tasks"):
            self.assertEqual(rows(f"SELECT count(*) FROM {table} WHERE task_key = {key}"), [(0,)])
        self.assertEqual(rows(f"SELECT count(*) FROM events WHERE event_key >> 28 = {key}"), [(0,)])

    def test_a_task_that_ended_otherwise_stays(self):
        failed = self.server.send("fail it is wrong")["id"]
        done = self.server.send("end")["id"]
        harness.wait_for(lambda: is_gone(self.server, done), what="the other task to go")
        self.assertEqual(self.server.get(failed)["status"]["state"], "failed")

    def test_a_task_that_waits_too_long_for_people_is_canceled_with_the_reason(self):
        asked = self.server.send("ask")
        self.assertEqual(asked["status"]["state"], "input-required")
        canceled = self.wait_state(asked["id"], "canceled")
        self.assertIn("nobody answered for 1 second", json.dumps(canceled["status"]))

    def test_a_repeated_send_of_a_task_that_is_gone_finds_none_and_makes_none(self):
        message = client.new_id()
        sent = self.g4.send("end", message_id=message)
        harness.wait_for(lambda: is_gone(self.server, sent.id), what="the task to go")
        self.assert_refused(-32001, self.g4.send, "end", message_id=message)
        # Its id is free again.
        self.assertEqual(self.server.send("end", sent.id)["status"]["state"], "completed")

    def test_a_stream_of_a_task_that_is_gone_ends(self):
        task = self.server.send("end")["id"]
        harness.wait_for(lambda: is_gone(self.server, task), what="the task to go")
        with self.assertRaises(client.RpcError) as caught:
            self.server.resubscribe(task)
        self.assertEqual(caught.exception.code, -32001)


class Space(a2a_case.A2aCase):
    CONFIG = {"retention": {"completed_s": 0.3}}

    @databases.needs_sqlite("PostgreSQL's files are its own to shrink")
    def test_the_file_shrinks_as_tasks_go(self):
        for _ in range(20):
            self.server.send("end " + "x" * 300_000)
        rows = self.server.database.query
        harness.wait_for(lambda: rows("SELECT count(*) FROM tasks") == [(0,)], what="all to go")
        harness.wait_for(lambda: rows("SELECT count(*) FROM removed_logs") == [(0,)] and
                         rows("PRAGMA freelist_count")[0][0] <= 256, what="the pages to be given back")
        self.server.stop()
        self.assertLess(self.server.database.path.stat().st_size, 2_000_000)
        self.server.start()


class OfAnAgent(a2a_case.A2aCase):
    CONFIG = {"retention": {"completed_s": 0.3}}

    @classmethod
    def change_cards(cls):
        cls.change_card("player", baton={"retention": {"completed_s": 0, "failed_s": 0.3}})

    def test_an_agent_s_own_times_count(self):
        kept = self.server.send("end")["id"]
        gone = self.server.send("fail")["id"]
        harness.wait_for(lambda: is_gone(self.server, gone), what="the failed task to go")
        self.assertEqual(self.server.get(kept)["status"]["state"], "completed")


class Before(a2a_case.A2aCase):
    def test_a_database_from_before_keeps_everything_until_retention_is_set(self):
        server = self.server
        task = server.send("end")["id"]
        asks = server.send("ask")["id"]
        server.stop()
        make_older(server, 100)
        server.database.change("UPDATE retention SET kept_before = 1")
        server.start()
        said = "would now delete tasks=1 and cancel waiting tasks=1"
        harness.wait_for(lambda: said in server.log_text(), what="the log")
        self.assertEqual(server.get(task)["status"]["state"], "completed")
        self.assertEqual(server.get(asks)["status"]["state"], "input-required")
        server.stop()
        server.config["retention"] = {"failed_s": 1000 * 86_400}
        server.start()
        harness.wait_for(lambda: is_gone(server, task), what="the task to go")
        self.assertEqual(self.wait_state(asks, "canceled")["status"]["state"], "canceled")


class Caps(a2a_case.A2aCase):
    CONFIG = {"limits": {"caller_tasks_max": 4, "caller_bytes_max": "64KiB"},
              "retention": {"completed_s": 0.5}}

    def test_a_caller_at_its_cap_is_refused_until_tasks_have_gone(self):
        # Tasks that ask stay until they are answered.
        asks = [self.server.send("ask")["id"] for _ in range(4)]
        refused = self.rest("POST", "/message:send", {
            "message": {"messageId": client.new_id(), "role": "ROLE_USER", "parts": [{"text": "end"}]}},
            version="1.0")
        self.assertEqual(refused.status, 429, refused.raw)
        self.assertIn("Retry-After", refused.headers)
        self.assertIn("stores at most 4 tasks per caller", refused.raw.decode())
        # A message that continues a task makes no new one.
        for task in asks:
            self.assertEqual(self.server.send("yes", task)["status"]["state"], "completed")

        def takes_again():
            return "result" in self.server.rpc("tasks/send", {
                "id": client.new_id(), "message": client.text_message("end")}).body
        harness.wait_for(takes_again, what="room")

        harness.wait_for(lambda: self.server.database.query("SELECT count(*) FROM tasks") == [(0,)], what="all to go")
        self.server.send("ask " + "x" * 70_000)
        refused = self.server.rpc("tasks/send", {"id": client.new_id(), "message": client.text_message("end")})
        self.assertIn("stores at most 65536 bytes per caller", refused.raw.decode())


class Trees(plan_case.PlanCase):
    CONFIG = {"retention": {"completed_s": 1}}
    PLANS = {"two": {"sequence": [plan_case.hand("say a"), plan_case.hand("say b")]},
             "holds": {"sequence": [plan_case.hand("say c"), plan_case.hand("hold h-1 d")]}}

    def of_tree(self):
        return self.server.database.query("SELECT agent, state FROM tasks ORDER BY task_key")

    def test_a_tree_goes_as_a_whole_and_not_before_its_root_has_ended(self):
        held = self.begin("holds")
        harness.wait_for(lambda: ("hand", "completed") in self.of_tree(), what="the first step")
        self.assertEqual(self.server.send("go", agent="two")["status"]["state"], "completed")
        # By the time the other tree is removed, the first step is older than that tree was.
        harness.wait_for(lambda: len(self.of_tree()) == 3, what="the other tree to go")
        self.assertIn(("hand", "completed"), self.of_tree())
        stream = self.server.resubscribe(held, agent="holds")
        self.server.gate("hand", "h-1")
        self.assertEqual(stream.rest()[-1].status["state"], "completed")
        harness.wait_for(lambda: not self.of_tree(), what="the tree to go")
