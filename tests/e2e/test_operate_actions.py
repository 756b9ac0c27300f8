"""Operators' actions: each makes the change it promises, and leaves a row in the audit and an event in the log."""
import urllib.parse

import client
import harness
import operate_case
import rings
import webhooks
from operate_case import CALLER


class Actions(operate_case.OperateCase):
    def assert_recorded(self, key, action, reason):
        row = self.audit_of(key)[0]
        self.assertEqual((row["actor"], row["action"], row["reason"], row["outcome"]), ("otto", action, reason, "done"))
        events = self.read(f"/tasks/{key}/events")["events"]
        told = [event for event in events if event["type"] == "intervention"]
        self.assertEqual((told[-1]["actor"], told[-1]["action"], told[-1]["reason"]), ("otto", action, reason))

    def test_cancel(self):
        task, key = self.begin("x", "slow")
        self.act(f"/tasks/{key}/cancel", "it hangs")
        self.wait_row(key, "canceled")
        self.assertEqual(self.server.get(task, agent="slow", token=CALLER)["status"]["state"], "canceled")
        self.assert_recorded(key, "cancel", "it hangs")

    def test_cancel_of_an_ended_task_is_a_conflict_with_a_row(self):
        key = self.key_of(self.send("x", "joke"))
        self.assert_api_error(self.ask("POST", f"/tasks/{key}/cancel", {"reason": "late"}), 409, "conflict")
        self.assertNotEqual(self.audit_of(key)[0]["outcome"], "done")

    def test_retry_is_a_new_task_of_the_same_caller(self):
        key = self.key_of(self.send("complain", "bad"))
        made = self.act(f"/tasks/{key}/retry", "again")["task"]
        self.assertNotEqual(made["key"], key)
        self.assertEqual((made["agent"], made["caller"]), ("bad", "ann"))
        self.wait_row(made["key"], "failed")
        self.assert_recorded(key, "retry", "again")

    def test_retry_with_an_edited_message(self):
        key = self.key_of(self.send("complain", "bad"))
        message = {"messageId": "edited", "role": "ROLE_USER", "parts": [{"text": "close input"}]}
        made = self.act(f"/tasks/{key}/retry", "with other words", message=message)["task"]
        self.wait_row(made["key"], "completed")

    def test_the_view_names_the_message_that_a_retry_sends(self):
        for text in ("close input", "close input, again"):  # the second one reopens the task
            params = {"id": "reopened-by-name", "message": client.text_message(text)}
            self.server.rpc("tasks/send", params, agent="bad", token=operate_case.CALLER)
        key = self.key_of("reopened-by-name")
        request = self.read(f"/tasks/{key}")["requestEvent"]
        event = self.read(f"/tasks/{key}/events?after={request - 1}&limit=1")["events"][0]
        self.assertEqual(event["message"]["parts"], [{"text": "close input, again"}])

    def test_answer_goes_on_with_the_task(self):
        key = self.key_of(self.send("x", "phone"))
        asked = self.read(f"/tasks/{key}")["question"]["event"]
        self.act(f"/tasks/{key}/answer", "the caller is away", text="Android")
        harness.wait_for(lambda: self.read(f"/tasks/{key}")["task"]["lastEvent"] > asked + 1)
        self.assert_recorded(key, "answer", "the caller is away")

    def test_requeue_begins_another_attempt(self):
        task, key = self.begin("x", "slow")
        self.act(f"/tasks/{key}/requeue", "it looks stuck")
        harness.wait_for(lambda: self.read(f"/tasks/{key}")["task"]["attempt"] == 2)
        self.server.gate("slow", task)
        self.wait_row(key, "completed")
        self.assert_recorded(key, "requeue", "it looks stuck")

    def test_reason_is_needed_and_bounded(self):
        key = self.key_of(self.send("x", "phone"))
        for body in ({}, {"reason": ""}, {"reason": "  "}, {"reason": "x" * 501}, {"reason": "x", "odd": 1}, []):
            with self.subTest(body):
                answer = self.ask("POST", f"/tasks/{key}/cancel", body)
                self.assert_api_error(answer, 400, "invalid_argument")
        self.assertEqual(self.audit_of(key), [])

    def test_protocols_show_no_intervention(self):
        task, key = self.begin("x", "slow")
        self.act(f"/tasks/{key}/requeue", "hidden-reason")
        self.server.gate("slow", task)
        self.wait_row(key, "completed")
        shown = self.server.rpc("tasks/get", {"id": task, "historyLength": 100}, agent="slow", token=CALLER)
        self.assertNotIn(b"hidden-reason", shown.raw)
        stream = self.server.resubscribe(task, 0, agent="slow", token=CALLER)
        self.assertNotIn("hidden-reason", str([block.frame for block in stream]))


class Deliveries(operate_case.OperateCase):
    def undelivered(self, receiver):
        """Makes a delivery that was given up, because its receiver refuses. Returns its key."""
        key = self.key_of(self.send("x", "joke", pushNotification={"url": receiver.url("/gone")}))

        def look():
            rows = self.read(f"/deliveries?state=given-up&task={key}")["deliveries"]
            return rows or None
        return harness.wait_for(look, what="a delivery that was given up")[-1], key

    def test_resend_delivers_what_was_given_up(self):
        with webhooks.Receiver() as receiver:
            receiver.answer = lambda path, count: 500
            row, key = self.undelivered(receiver)
            self.assertTrue(row["error"])
            self.assertIn(key, [one["key"] for one in self.read("/tasks?undelivered=1")["tasks"]])
            receiver.answer = lambda path, count: 200
            self.act(f"/deliveries/{row['key']}/resend", "they are back")
            harness.wait_for(lambda: row["key"] not in [
                one["key"] for one in self.read(f"/deliveries?state=given-up&task={key}")["deliveries"]])
            self.assertEqual(self.audit_of(key)[0]["action"], "resend")


class WaitingDeliveries(operate_case.OperateCase):
    CONFIG = {**operate_case.OperateCase.CONFIG, "webhooks": {"retry_first_s": 3600, "retry_max_s": 3600}}

    def test_bulk_skip_gives_up_all_that_wait(self):
        with webhooks.Receiver(lambda path, count: 500) as receiver:
            keys = {self.key_of(self.send("x", "joke", pushNotification={"url": receiver.url()})) for _ in range(2)}
            receiver.wait(lambda now: len(now.refused) == 2)
            job = self.ask("POST", "/bulk", {"action": "skip", "filter": {"undelivered": True}, "expected": 2,
                                             "reason": "it is gone"}).body["job"]
            done = harness.wait_for(lambda: (found := self.read(f"/bulk/{job}"))["state"] == "done" and found)
            self.assertEqual({(item["task"], item["outcome"]) for item in done["items"]},
                             {(key, "done") for key in keys})
            self.assertEqual(self.read("/deliveries?state=waiting")["deliveries"], [])
            for key in keys:
                rows = self.read(f"/deliveries?task={key}")["deliveries"]
                self.assertGreater(len(rows), 1)
                self.assertEqual({(row["state"], row["error"]) for row in rows},
                                 {("given-up", "skipped by an operator")})


class LeftOut(operate_case.OperateCase):
    AGENTS = ["joke", "slow"]

    def test_requeue_of_a_task_whose_agent_is_left_out_is_a_conflict_and_the_task_keeps_its_turn(self):
        task, key = self.begin("x", "slow")
        card = self.server.agents_folder / "slow/card.json"
        whole = card.read_text(encoding="utf-8")
        self.server.kill()
        card.write_text("{", encoding="utf-8")
        self.server.start()
        refused = self.ask("POST", f"/tasks/{key}/requeue", {"reason": "it looks stuck"})
        self.assert_api_error(refused, 409, "conflict")
        self.assertIn("not served", refused.body["error"]["message"])
        self.assertEqual([row["outcome"] for row in self.audit_of(key)], ["conflict"])
        self.assertEqual(self.read(f"/tasks/{key}")["task"]["state"], "working")
        self.server.kill()
        card.write_text(whole, encoding="utf-8")
        self.server.start()
        self.server.gate("slow", task)
        self.wait_row(key, "completed")


class Erasures(operate_case.OperateCase):
    def test_task_is_gone_for_good_and_the_audit_stays(self):
        task = self.send("x", "joke")
        key = self.key_of(task)
        gone = self.ask("DELETE", f"/tasks/{key}", {"reason": "asked by its owner"})
        self.assertEqual((gone.status, gone.body["tasks"]), (200, 1), gone.raw)
        self.assert_api_error(self.ask("GET", f"/tasks/{key}"), 404, "not_found")
        answer = self.server.rpc("tasks/get", {"id": task}, agent="joke", token=CALLER)
        self.assertEqual(answer.body["error"]["code"], -32001)
        self.assertIn("asked by its owner", [row["reason"] for row in self.read("/audit?actor=otto")["rows"]])

    def test_task_at_work_stays(self):
        task, key = self.begin("x", "slow")
        self.assert_api_error(self.ask("DELETE", f"/tasks/{key}", {"reason": "x"}), 409, "conflict")
        self.server.gate("slow", task)
        self.wait_row(key, "completed")

    def test_context_is_gone_and_the_caller_s_others_stay(self):
        context = client.new_id()
        inside = [self.send("x", "joke", sessionId=context) for _ in range(2)]
        outside = self.send("x", "joke")
        row = self.read(f"/tasks/{self.key_of(inside[0])}")["task"]
        names = urllib.parse.urlencode({"agent": "joke", "caller": "ann", "context": row["context"]})
        gone = self.ask("DELETE", f"/contexts?{names}", {"reason": "asked by its owner"})
        self.assertEqual((gone.status, gone.body), (200, {"tasks": 2, "left": 0}), gone.raw)
        for task in inside:
            answer = self.server.rpc("tasks/get", {"id": task}, agent="joke", token=CALLER)
            self.assertEqual(answer.body["error"]["code"], -32001)
        self.assertEqual(self.read(f"/tasks?context={row['context']}")["tasks"], [])
        self.assertEqual(self.server.get(outside, agent="joke", token=CALLER)["id"], outside)
        self.assert_api_error(self.ask("DELETE", f"/contexts?{names}", {"reason": "again"}), 404, "not_found")
        self.assertIn("delete-context", [row["action"] for row in self.read("/audit?actor=otto")["rows"]])

    def test_caller_is_gone_at_all_agents_and_others_stay(self):
        mine = [self.server.rpc("tasks/send", {"id": client.new_id(), "message": client.text_message("x")}, agent=agent,
                                token=operate_case.OPERATOR).body["result"]["id"] for agent in ("joke", "bad")]
        other = self.send("x", "joke")
        self.assertEqual(len(self.read("/tasks?caller=otto")["tasks"]), 2)
        gone = self.ask("DELETE", "/callers/otto", {"reason": "has left"})
        self.assertEqual((gone.status, gone.body), (200, {"tasks": 2, "left": 0}), gone.raw)
        self.assertEqual(self.read("/tasks?caller=otto")["tasks"], [])
        for task, agent in zip(mine, ("joke", "bad")):
            answer = self.server.rpc("tasks/get", {"id": task}, agent=agent, token=operate_case.OPERATOR)
            self.assertEqual(answer.body["error"]["code"], -32001)
        self.assertEqual(self.server.get(other, agent="joke", token=CALLER)["id"], other)
        self.assert_api_error(self.ask("DELETE", "/callers/nobody", {"reason": "x"}), 404, "not_found")

    def test_context_needs_all_its_names(self):
        self.assert_api_error(self.ask("DELETE", "/contexts?context=c", {"reason": "x"}), 400, "invalid_argument")


class Agents(operate_case.OperateCase):
    AGENTS = ["joke", "echo"]

    def row(self, name):
        return next(row for row in self.read("/agents")["agents"] if row["name"] == name)

    def test_paused_agent_begins_nothing_until_it_is_resumed(self):
        self.assertTrue(self.act("/agents/joke/pause", "upgrade")["agent"]["paused"])
        task = client.new_id()
        stream = self.server.stream("x", task, agent="joke", token=CALLER)
        key = self.key_of(task)
        self.assertEqual(self.read(f"/tasks/{key}")["task"]["turnState"], "queued")
        self.assertEqual(self.read("/overview")["agents"]["paused"], 1)
        self.assertNotIn("paused", self.act("/agents/joke/resume", "upgraded")["agent"])
        stream.rest()
        actions = [row["action"] for row in self.read("/audit?actor=otto")["rows"]]
        self.assertEqual(actions[:2], ["resume", "pause"])

    def test_scaled_agent_keeps_as_many_processes_and_runs_as_many_turns(self):
        card = self.row("echo")
        scaled = self.act("/agents/echo/scale", "a rush", workers=3, concurrency=6)["agent"]
        self.assertEqual((scaled["workers"], scaled["concurrency"], scaled["scaled"]), (3, 6, True))
        self.send("x", "echo")
        again = self.act("/agents/echo/scale", "it is over", workers=0, concurrency=0)["agent"]
        self.assertEqual((again["workers"], again["concurrency"]), (card["workers"], card["concurrency"]))
        self.assertNotIn("scaled", again)
        self.assertEqual([row["detail"] for row in self.read("/audit?action=scale")["rows"]][:2],
                         ["workers as in the card, concurrency as in the card", "workers 3, concurrency 6"])

    def test_scale_is_refused_where_it_makes_no_sense(self):
        for body, status, code in (({}, 400, "invalid_argument"), ({"workers": "2"}, 400, "invalid_argument"),
                                   ({"concurrency": 10001}, 400, "invalid_argument"), ({"workers": 2}, 409, "conflict")):
            with self.subTest(body):
                answer = self.ask("POST", "/agents/joke/scale", {"reason": "x", **body})
                self.assert_api_error(answer, status, code)
        self.assert_api_error(self.ask("POST", "/agents/nobody/scale", {"reason": "x", "workers": 2}), 404, "not_found")

    def test_unknown_agent_is_not_found(self):
        self.assert_api_error(self.ask("POST", "/agents/nobody/pause", {"reason": "x"}), 404, "not_found")


class Bulk(operate_case.OperateCase):
    def test_job_acts_on_what_the_filter_finds_if_that_is_as_expected(self):
        keys = {self.key_of(self.send("x", "phone")) for _ in range(3)}
        request = {"action": "cancel", "filter": {"state": ["input-required"], "agent": "phone"}, "reason": "cleaning"}
        wrong = self.ask("POST", "/bulk", {**request, "expected": 2})
        self.assert_api_error(wrong, 409, "conflict")
        self.assertEqual(wrong.body["error"]["count"], 3)
        begun = self.ask("POST", "/bulk", {**request, "expected": 3})
        self.assertEqual(begun.status, 202, begun.raw)
        job = begun.body["job"]
        done = harness.wait_for(lambda: (found := self.read(f"/bulk/{job}"))["state"] == "done" and found)
        self.assertEqual((done["done"], done["refused"]), (3, 0))
        self.assertEqual({item["task"] for item in done["items"]}, keys)
        for key in keys:
            self.assertEqual(self.read(f"/tasks/{key}")["task"]["state"], "canceled")
            self.assertEqual(self.audit_of(key)[0]["reason"], "cleaning")
        self.assertEqual(self.read("/bulk")["jobs"][0]["job"], job)

    def test_misspelt_filter_finds_nothing_but_an_error(self):
        for wrong in ({"agnet": "phone"}, {"state": "great"}, [], {"agent": {}}):
            with self.subTest(wrong):
                answer = self.ask("POST", "/bulk", {"action": "cancel", "filter": wrong, "expected": 0, "reason": "x"})
                self.assert_api_error(answer, 400, "invalid_argument")

    def test_deleting_all_that_a_filter_finds(self):
        ended = [self.key_of(self.send("x", "joke")) for _ in range(3)]
        asks = self.key_of(self.send("x", "phone"))
        job = self.ask("POST", "/bulk", {"action": "delete", "filter": {"caller": "ann"}, "reason": "has left",
                                         "expected": len(self.read("/tasks?caller=ann&limit=200")["tasks"])}).body["job"]
        done = harness.wait_for(lambda: (found := self.read(f"/bulk/{job}?limit=200"))["state"] == "done" and found)
        outcomes = {item["task"]: item["outcome"] for item in done["items"]}
        self.assertEqual([outcomes[key] for key in ended], ["done"] * 3)
        self.assertEqual(outcomes[asks], "conflict")
        for key in ended:
            self.assert_api_error(self.ask("GET", f"/tasks/{key}"), 404, "not_found")
        self.act(f"/tasks/{asks}/cancel")


class BulkOverKill(operate_case.OperateCase):
    """Jobs interrupted by a kill continue where they were: each task is acted on once."""

    AGENTS = ["echo"]
    TASKS = 100 if rings.WHOLE else 300
    deleted = 0

    def break_off(self, action, expected):
        """Begins a job on all tasks of ann's and kills the server in the middle of it. Returns its key, and how many
        tasks were left."""
        body = {"action": action, "filter": {"caller": "ann", "agent": "echo"}, "expected": expected, "reason": "a storm"}
        begun = self.ask("POST", "/bulk", body)
        self.assertEqual(begun.status, 202, begun.raw)
        self.server.kill()
        ((left,),) = self.server.database.query(
            f"SELECT count(*) FROM bulk_items WHERE job_key = {int(begun.body['job'])} AND outcome = ''")
        self.server.start()
        return begun.body["job"], left

    def finished(self, job):
        return harness.wait_for(lambda: (found := self.read(f"/bulk/{job}?limit=1"))["state"] == "done" and found)

    def test_each_task_is_acted_on_once(self):
        harness.wait_for(self.both_jobs, what="a job that was not over before the kill")

    def both_jobs(self):
        """Creates tasks, retries them and deletes all. Returns how many were left at the kills."""
        for _ in range(self.TASKS):
            self.send("x", "echo")
        job, left = self.break_off("retry", self.TASKS)
        done = self.finished(job)
        self.assertEqual((done["done"], done["refused"]), (self.TASKS, 0))
        all_tasks = 2 * self.TASKS
        count = self.read("/tasks?caller=ann&limit=1")["count"]
        self.assertEqual(count, {"tasks": all_tasks, "exact": True})

        harness.wait_for(lambda: self.read("/tasks?caller=ann&state=completed&limit=1")["count"]["tasks"] == all_tasks)
        job, left_then = self.break_off("delete", all_tasks)
        done = self.finished(job)
        self.assertEqual((done["done"], done["refused"]), (all_tasks, 0))
        self.assertEqual(self.read("/tasks?caller=ann")["tasks"], [])
        rows, before = 0, ""
        while True:
            page = self.read(f"/audit?action=delete&limit=200{before}")
            rows += len(page["rows"])
            if "next" not in page:
                break
            before = f"&cursor={page['next']}"
        self.deleted += all_tasks
        self.assertEqual(rows, self.deleted)
        return left + left_then
