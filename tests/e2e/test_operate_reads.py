"""What operators see: lists, one task, its log in windows and live, agents. Every answer is checked against the
description of the API (operate_case.py)."""
import json

import client
import harness
import model_server
import operate_case
import rings
import webhooks
from model_server import call, calls, said, streamed
from operate_case import CALLER, VIEWER
from test_remote_agents import Front


class Lists(operate_case.OperateCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        one = cls()
        cls.joke = one.key_of(one.send("x", "joke"))
        cls.asking = one.key_of(one.send("x", "phone"))
        cls.failed = one.key_of(one.send("complain", "bad"))

    def keys(self, query):
        return [row["key"] for row in self.read("/tasks?" + query)["tasks"]]

    def test_filters_narrow(self):
        self.assertEqual(self.keys("state=input-required"), [self.asking])
        self.assertEqual(self.keys("agent=joke&state=completed"), [self.joke])
        self.assertEqual(set(self.keys("state=failed,input-required")), {self.failed, self.asking})
        self.assertEqual(set(self.keys("state=failed&state=completed")), {self.failed, self.joke})
        self.assertEqual(self.keys("caller=nobody"), [])
        self.assertEqual(set(self.keys("caller=ann")), {self.joke, self.asking, self.failed})
        self.assertEqual(self.keys("age_min_s=3600"), [])
        self.assertEqual(self.keys("error=SEE%20THE%20LOG"), [self.failed])
        context = self.read(f"/tasks/{self.joke}")["task"]["context"]
        self.assertEqual(self.keys(f"context={context}"), [self.joke])

    def test_rows_have_words_where_they_are_asked_for(self):
        rows = {row["key"]: row for row in self.read("/tasks?words=all")["tasks"]}
        self.assertEqual(rows[self.joke]["request"], "x")
        self.assertNotIn("result", rows[self.failed])
        self.assertNotIn("request", self.read("/tasks")["tasks"][0])

    def test_standard_error_of_a_failed_task_is_for_operators(self):
        key = self.failed
        failed = self.wait_row(key, "failed")
        self.assertEqual(self.ask("GET", f"/tasks/{key}").body["stderr"], "no such table: accounts")
        self.assertNotIn("stderr", self.read(f"/tasks/{key}"))
        shown = self.read(f"/tasks/{key}/events")["events"]
        self.assertEqual([event["bytes"] for event in shown if event["type"] == "stderr"], [23])
        turn = self.read(f"/tasks/{key}/trace")["turns"][0]
        self.assertEqual((turn["state"], turn["request"]["text"]), ("failed", "complain"))
        self.assertIn(turn["reason"][:8], failed["text"])

    @rings.everything("contract/operator_store_test.cpp")
    def test_pages_follow_each_other_in_both_orders(self):
        for order in ("newest", "oldest"):
            all_at_once = self.keys(f"order={order}")
            page, seen = self.read(f"/tasks?order={order}&limit=1"), []
            while True:
                seen += [row["key"] for row in page["tasks"]]
                if "next" not in page:
                    break
                page = self.read(f"/tasks?order={order}&limit=1&cursor={page['next']}")
            self.assertEqual(seen, all_at_once)
        self.assertEqual(self.keys("order=oldest"), self.keys("order=newest")[::-1])

    @rings.everything("contract/operator_store_test.cpp")
    def test_counts_are_exact_where_they_are_kept(self):
        self.assertEqual(self.read("/tasks?state=failed&limit=1")["count"], {"tasks": 1, "exact": True})

    def test_what_is_wrong_with_a_query_is_said(self):
        for query in ("state=great", "limit=0", "limit=201", "cursor=x", "agent=a&agent=b", "parent=-1", "order=up"):
            with self.subTest(query):
                self.assert_api_error(self.ask("GET", "/tasks?" + query), 400, "invalid_argument")

    def test_overview_agents_and_schedules(self):
        overview = self.read("/overview")
        self.assertEqual(overview["states"]["input-required"], {"tasks": 1, "exact": True})
        self.assertEqual(overview["oldestQuestion"]["key"], self.asking)
        self.assertEqual(overview["agents"]["all"], 4)
        rows = {row["name"]: row for row in self.read("/agents")["agents"]}
        self.assertEqual(rows["joke"]["ended"]["completed"], 1)
        self.assertEqual(rows["bad"]["ended"]["failed"], 1)
        self.assertEqual(rows["bad"]["errorRate"], 1)
        self.assertEqual(rows["bad"]["stderr"], ["no such table: accounts"])
        self.assertEqual(rows["slow"]["kind"], "command")
        self.assertEqual(self.read("/schedules")["schedules"], [])

    def test_tree_has_keys(self):
        self.assertEqual(self.read(f"/tasks/{self.joke}/tree")["root"]["key"], self.joke)

    def test_pictures_are_of_plans_alone(self):
        self.assert_api_error(self.ask("GET", f"/tasks/{self.joke}/plan.svg"), 404, "not_found")
        self.assert_api_error(self.ask("GET", "/agents/joke/plan.svg"), 404, "not_found")


class ScheduleRows(operate_case.OperateCase):
    AGENTS = ["joke"]

    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server(cls.AGENTS, cls.CONFIG, cls.OPTIONS)
        path = cls.server.agents_folder / "joke" / "card.json"
        card = json.loads(path.read_text(encoding="utf-8"))
        card["baton"]["schedule"] = [{"cron": "30 4 * * mon", "timezone": "Europe/Berlin", "message": "tidy up"},
                                     {"cron": "@yearly", "message": "rest"}]
        path.write_text(json.dumps(card), encoding="utf-8")
        cls.server.start()

    def test_rows_say_when_as_the_card_does(self):
        rows = {row["text"]: row for row in self.read("/schedules")["schedules"]}
        self.assertEqual((rows["tidy up"]["cron"], rows["tidy up"]["timezone"]), ("30 4 * * mon", "Europe/Berlin"))
        self.assertEqual((rows["rest"]["cron"], rows["rest"]["timezone"]), ("@yearly", "UTC"))


@rings.everything("contract/operator_store_test.cpp: a caller is found with all its tenants, and within one of them")
class Tenants(operate_case.OperateCase):
    AGENTS = ["joke"]

    def test_caller_is_found_with_all_its_tenants_and_within_one(self):
        self.send("x", "joke")
        message = {"messageId": client.new_id(), "role": "ROLE_USER", "parts": [{"text": "x"}]}
        body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message, "tenant": "north"}}
        headers = {"Authorization": f"Bearer {CALLER}", "Content-Type": "application/json", "A2A-Version": "1.0"}
        sent = self.server.http("POST", "/agents/joke", json.dumps(body).encode(), headers)
        context = sent.body["result"]["task"]["contextId"]
        self.assertEqual(len(self.read("/tasks?caller=ann")["tasks"]), 2)
        self.assertEqual(self.read("/tasks?caller=ann&limit=1")["count"], {"tasks": 2, "exact": True})
        inside = self.read("/tasks?caller=ann&tenant=north")["tasks"]
        self.assertEqual([(row["caller"], row["tenant"], row["context"]) for row in inside], [("ann", "north", context)])
        self.assertEqual(self.read("/tasks?caller=ann&tenant=south")["tasks"], [])
        self.assert_api_error(self.ask("GET", "/tasks?tenant=north"), 400, "invalid_argument")
        names = f"agent=joke&caller=ann&context={context}"
        self.assert_api_error(self.ask("DELETE", f"/contexts?{names}", {"reason": "x"}), 404, "not_found")
        self.assertEqual(self.ask("DELETE", f"/contexts?{names}&tenant=north", {"reason": "x"}).body,
                         {"tasks": 1, "left": 0})
        self.assertEqual(len(self.read("/tasks?caller=ann")["tasks"]), 1)


class Description(operate_case.OperateCase):
    def test_every_path_of_the_description_is_served(self):
        self.assertEqual(self.read("/openapi.json"), operate_case.description())
        for path, operations in operate_case.description()["paths"].items():
            allowed = {method.upper() for method in operations}
            answer = self.ask("PUT", path.replace("{key}", "1").replace("{name}", "joke"))
            self.assertEqual(answer.status, 405, path)
            self.assertEqual(set(answer.headers["Allow"].split(", ")), allowed, path)


class OneTask(operate_case.OperateCase):
    def test_question_with_its_event_and_words(self):
        key = self.key_of(self.send("x", "phone"))
        view = self.read(f"/tasks/{key}")
        self.assertEqual(view["task"]["state"], "input-required")
        self.assertTrue(view["question"]["text"])
        self.assertEqual(view["task"]["text"], view["question"]["text"][:300])
        self.assertEqual((view["children"], view["deliveries"], view["configs"]), ([], [], []))

    def test_hostile_text_is_text(self):
        key = self.key_of(self.send(operate_case.HOSTILE, "joke"))
        answer = self.ask("GET", f"/tasks/{key}/events")
        self.assertEqual(answer.headers["Content-Type"], "application/json")
        self.assertEqual(answer.headers["X-Content-Type-Options"], "nosniff")
        texts = [part.get("text") for event in answer.body["events"] if event["type"] == "message"
                 for part in event["message"]["parts"]]
        self.assertIn(operate_case.HOSTILE, texts)

    def test_large_content_is_cut_and_counted(self):
        key = self.key_of(self.send("ü" * 20_000, "joke"))
        event = next(one for one in self.read(f"/tasks/{key}/events")["events"] if one["type"] == "message")
        kept = event["message"]["parts"][0]["text"]
        self.assertEqual(len(kept.encode()) + event["cutBytes"], 40_000)
        self.assertEqual(len(kept), 8_192)

    def test_windows_go_both_ways(self):
        key = self.key_of(self.send("x", "joke"))
        whole = self.read(f"/tasks/{key}/events")
        numbers = [event["number"] for event in whole["events"]]
        self.assertEqual(numbers, list(range(1, whole["last"] + 1)))
        self.assertEqual(whole["first"], 1)
        after = self.read(f"/tasks/{key}/events?after=1&limit=1")
        self.assertEqual([event["number"] for event in after["events"]], [2])
        before = self.read(f"/tasks/{key}/events?before={whole['last'] + 1}&limit=2")
        self.assertEqual([event["number"] for event in before["events"]], numbers[-2:])
        self.assertEqual(self.read(f"/tasks/{key}/events?before=1")["events"], [])
        self.assert_api_error(self.ask("GET", f"/tasks/{key}/events?before=1&after=1"), 400, "invalid_argument")

    def test_webhook_secrets_are_shown_to_nobody(self):
        with webhooks.Receiver() as receiver:
            url = receiver.url("/hook") + "?key=url-secret"
            config = {"url": url, "token": "hook-secret", "authentication": {"schemes": ["Bearer"],
                                                                           "credentials": "cred-secret"}}
            key = self.key_of(self.send("x", "phone", pushNotification=config))
            for token in (VIEWER, operate_case.OPERATOR):
                answer = self.ask("GET", f"/tasks/{key}", token=token)
                self.assertNotIn(b"hook-secret", answer.raw)
                self.assertNotIn(b"cred-secret", answer.raw)
                shown = answer.body["configs"][0]["url"]
                self.assertEqual(shown, url if token != VIEWER else url.split("?")[0])


class Live(operate_case.OperateCase):
    def test_log_is_followed_to_its_end_and_resumed_without_a_gap(self):
        task, key = self.begin("x", "slow")
        first = operate_case.Timeline(self.server, key)
        seen = []
        for number, event in first:
            seen.append(number)
            if event["type"] == "status" and event.get("message"):
                break
        first.close()
        resumed = operate_case.Timeline(self.server, key, last_id=seen[-1])
        self.server.gate("slow", task)
        events = list(resumed)
        numbers = seen + [number for number, _ in events]
        self.assertEqual(numbers, list(range(1, numbers[-1] + 1)))
        self.assertEqual(events[-1][1]["state"], "completed")
        self.assertEqual([event for _, event in operate_case.Timeline(self.server, key, after=seen[-1])],
                         [event for _, event in events])

    def test_stream_of_nothing_new_ends_at_once(self):
        key = self.key_of(self.send("x", "joke"))
        last = self.read(f"/tasks/{key}")["task"]["lastEvent"]
        self.assertEqual(list(operate_case.Timeline(self.server, key, after=last)), [])

    def test_wrong_number_is_refused(self):
        key = self.key_of(self.send("x", "joke"))
        stream = operate_case.Timeline(self.server, key, last_id="x")
        self.assertEqual(stream.response.status, 400)
        stream.close()


class ModelTraces(operate_case.OperateCase):
    """The trace of a turn of a language model that calls an agent."""

    @classmethod
    def setUpClass(cls):
        cls.model = model_server.ModelServer().__enter__()
        cls.addClassCleanup(cls.model.__exit__, None, None, None)
        origin = cls.model.url.rstrip("/")
        cls.server = Front({}, [origin], ["joke", "bad"], more_config={"tokens": operate_case.TOKENS})
        cls.server.change_card("bad", turn_timeout_s=600)
        cls.server.write_card("brain", {"executor": "openai", "url": f"{origin}/v1", "model": {
            "name": "tiny", "system": "Be careful.", "tools": ["joke"]}})
        cls.server.start()

    def test_what_a_model_was_told_and_did_is_kept_over_a_restart(self):
        self.model.script(streamed(*calls(call("joke", {"message": "ping"}, index=0, id="c1"))), said("it said ping"))
        key = self.key_of(self.send("What is it?", "brain"))
        bad = self.key_of(self.send("complain", "bad"))
        self.wait_row(key, "completed")
        self.wait_row(bad, "failed")
        self.server.stop()
        self.server.start()
        turn = self.ask("GET", f"/tasks/{key}/trace").body["turns"][0]
        self.assertEqual([(one["role"], one["text"]) for one in turn["told"]["messages"]],
                         [("system", "Be careful."), ("user", "What is it?")])
        self.assertEqual(turn["told"]["tools"], ["joke"])
        models = [step for step in turn["steps"] if step["kind"] == "model"]
        self.assertEqual([model.get("calls", []) for model in models], [['joke {"message": "ping"}'], []])
        self.assertEqual(models[1]["answer"]["text"], "it said ping")
        child = next(step for step in turn["steps"] if step["kind"] == "agent")
        self.assertEqual((child["name"], child["given"]["text"]), ("joke", "ping"))
        self.assertNotIn("told", self.read(f"/tasks/{key}/trace")["turns"][0])
        self.assertEqual(self.ask("GET", f"/tasks/{bad}").body["stderr"], "no such table: accounts")
