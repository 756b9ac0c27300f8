"""OpenTelemetry's traces: Baton's work becomes spans of one trace, which a strict collector accepts."""
import json
import time

import client
import collector
import harness
import model_server
import rings
import webhooks
from test_remote_agents import Front

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SAMPLED, UNSAMPLED = f"00-{TRACE}-{PARENT}-01", f"00-{TRACE}-{PARENT}-00"
SERVER, CLIENT, INTERNAL, PRODUCER = 2, 3, 1, 4


def traces(url, **more):
    return {"endpoint": url, "batch_s": 0.05} | more


class TraceCase(harness.ServerCase):
    AGENTS = ["tracer", "bad"]
    RATIO = 0.0

    @classmethod
    def setUpClass(cls):
        cls.collector = collector.Collector()
        cls.addClassCleanup(cls.collector.close)
        cls.CONFIG = {"traces": traces(cls.collector.url, ratio=cls.RATIO), "webhooks": {"allow_private": True}}
        super().setUpClass()

    def send(self, text, trace=None, agent="tracer", server=None, **more):
        message = {"messageId": client.new_id(), "role": "ROLE_USER", "parts": [{"text": text}], **more.pop("message", {})}
        headers = {"A2A-Version": "1.0", **({"traceparent": trace} if trace else {})}
        return (server or self.server).call("SendMessage", {"message": message, **more}, agent=agent,
                                            headers=headers)["task"]

    def spans_of(self, task, count, seconds=client.PATIENCE_S):
        """Returns the spans that name the task, once there are `count`."""
        def found(spans):
            mine = [one for one in spans if one.attributes.get("a2a.task.id") == task]
            return mine if len(mine) >= count else None
        return self.collector.wait(found, seconds, f"{count} spans of {task}")

    @staticmethod
    def told(task):
        return json.loads(task["artifacts"][0]["parts"][0]["text"])

    @staticmethod
    def one(spans, name):
        found = [span for span in spans if span.name == name]
        if len(found) != 1:
            raise AssertionError(f"{len(found)} spans are called {name}: {spans}")
        return found[0]


class SampledByTheCaller(TraceCase):
    def test_request_and_turn_are_spans_of_the_callers_trace(self):
        task = self.send("tell", SAMPLED)
        spans = self.spans_of(task["id"], 2)
        request, turn = self.one(spans, "SendMessage"), self.one(spans, "invoke_agent tracer")
        self.assertEqual({request.trace, turn.trace}, {TRACE})
        self.assertEqual((request.parent, request.kind), (PARENT, SERVER))
        self.assertEqual((turn.parent, turn.kind), (request.id, INTERNAL))
        # The turn's span is the one that the agent received.
        self.assertEqual(self.told(task)["line"], f"00-{TRACE}-{turn.id}-01")
        self.assertEqual(turn.attributes["gen_ai.operation.name"], "invoke_agent")
        self.assertEqual(turn.attributes["gen_ai.agent.name"], "tracer")
        self.assertEqual(turn.attributes["gen_ai.conversation.id"], task["contextId"])
        self.assertEqual(turn.attributes["baton.turn"], 1)
        self.assertEqual(request.attributes["http.response.status_code"], 200)
        self.assertEqual(request.attributes["baton.protocol"], "a2a-jsonrpc")
        resource = self.collector.resources[0]
        self.assertEqual(resource["service.name"], "baton")
        self.assertTrue(resource["service.instance.id"])

    def test_a_child_is_below_its_submission_below_its_parents_turn(self):
        task = self.send("delegate tracer tell", SAMPLED)
        parent = self.one(self.spans_of(task["id"], 2), "invoke_agent tracer")
        submit = self.collector.wait(
            lambda spans: next((s for s in spans if s.name == "submit tracer" and s.parent == parent.id), None))
        child = self.one(self.spans_of(submit.attributes["a2a.task.id"], 2), "invoke_agent tracer")
        self.assertEqual((child.parent, submit.kind), (submit.id, PRODUCER))

    def test_a_webhooks_attempt_is_the_span_that_the_receiver_is_told(self):
        with webhooks.Receiver(lambda path, count: 500 if count == 1 else 200) as receiver:
            task = self.send("tell", SAMPLED, configuration={"taskPushNotificationConfig": {"url": receiver.url()}})
            receiver.wait(lambda got: got.deliveries)
            told = [one.headers["traceparent"].split("-")[2] for one in receiver.refused + receiver.deliveries]
        attempts = self.collector.wait(lambda spans: (found := [
            one for one in spans if one.name == "webhook" and one.attributes["a2a.task.id"] == task["id"]
        ]) and {one.id for one in found} >= set(told) and found)
        self.assertEqual([one.failed for one in attempts if one.id == told[0]], [True])
        self.assertEqual({one.kind for one in attempts}, {CLIENT})

    def test_a_later_turn_refers_to_the_first_and_no_span_stays_open(self):
        task = self.send("ask", SAMPLED)
        first = self.one(self.spans_of(task["id"], 2), "SendMessage")
        other = "0af7651916cd43dd8448eb211c80319c"
        self.send("tell", f"00-{other}-{PARENT}-01", message={"taskId": task["id"]})
        later = [one for one in self.spans_of(task["id"], 4) if one.attributes.get("baton.turn") == 2]
        self.assertEqual([one.trace for one in later], [other])
        self.assertEqual([(link["traceId"], link["spanId"]) for link in later[0].links], [(TRACE, first.id)])

    def test_calls_of_an_agents_own_tools_are_spans_below_its_turn(self):
        task = self.send("tools something-secret", SAMPLED)
        turn = self.one(self.spans_of(task["id"], 2), "invoke_agent tracer")
        calls = self.collector.wait(lambda spans: (found := [
            one for one in spans if one.name.startswith("execute_tool ") and one.parent == turn.id
        ]) and len(found) == 3 and found)
        self.assertEqual({one.name: one.failed for one in calls},
                         {"execute_tool works": False, "execute_tool fails": True, "execute_tool hangs": True})
        works = self.one(calls, "execute_tool works")
        self.assertEqual((works.kind, works.attributes["gen_ai.tool.name"], works.attributes["gen_ai.tool.call.id"]),
                         (INTERNAL, "works", "call-works"))
        self.assertNotIn("something-secret", str(calls))

    def test_a_call_that_is_open_when_the_engine_ends_the_turn_is_an_unfinished_span(self):
        task = self.send("hang in a tool", SAMPLED, agent="bad")
        self.assertEqual(task["status"]["state"], "TASK_STATE_FAILED")
        turn = self.one(self.spans_of(task["id"], 2), "invoke_agent bad")
        call = self.collector.wait(lambda spans: next((one for one in spans if one.name == "execute_tool dig"), None))
        self.assertEqual((call.parent, call.failed, call.attributes["error.type"]), (turn.id, True, "unfinished"))

    def test_content_is_in_no_span(self):
        task = self.send("tell something-secret", SAMPLED)
        self.assertNotIn("something-secret", str(self.spans_of(task["id"], 2)))


class NotSampled(TraceCase):
    def test_what_goes_well_is_not_sent_and_the_trace_goes_on_as_it_came(self):
        for trace in (None, UNSAMPLED):
            task = self.send("tell", trace)
            line = self.told(task)["line"]
            self.assertEqual(line and line.endswith("-00"), trace and True)
        failed = self.send("exit 3", agent="bad")
        self.spans_of(failed["id"], 1)
        self.assertNotIn("invoke_agent tracer", [one.name for one in self.collector.spans])

    def test_a_turn_that_failed_is_sent_with_the_callers_trace_or_one_of_its_own(self):
        for trace, same in ((UNSAMPLED, True), (None, False)):
            failed = self.send("exit 3", trace, agent="bad")
            turn = self.one(self.spans_of(failed["id"], 1), "invoke_agent bad")
            self.assertTrue(turn.failed)
            self.assertEqual(turn.trace == TRACE, same)


class BegunHere(TraceCase):
    RATIO = 1.0

    def test_a_request_without_a_trace_begins_one(self):
        task = self.send("tell")
        spans = self.spans_of(task["id"], 2)
        request, turn = self.one(spans, "SendMessage"), self.one(spans, "invoke_agent tracer")
        self.assertIsNone(request.parent)
        self.assertEqual((turn.trace, turn.parent), (request.trace, request.id))
        self.assertEqual(self.told(task)["line"], f"00-{request.trace}-{turn.id}-01")

    def test_the_message_may_have_the_trace_in_its_metadata(self):
        task = self.send("tell", message={"metadata": {"traceparent": SAMPLED}})
        request = self.one(self.spans_of(task["id"], 2), "SendMessage")
        self.assertEqual((request.trace, request.parent), (TRACE, PARENT))


class OverSeveralServers(TraceCase):
    """A Baton whose agents are elsewhere: another Baton's, and a language model."""

    AGENTS = ["tracer"]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.model = model_server.ModelServer().__enter__()
        cls.addClassCleanup(cls.model.__exit__, None, None, None)
        origin = cls.model.url.rstrip("/")
        far = f"http://127.0.0.1:{cls.server.port}"
        cls.front = Front({"far": {"url": f"{far}/agents/tracer"},
                           "model": {"executor": "openai", "url": f"{origin}/v1", "model": {"name": "tiny"}}},
                          [far, origin])
        cls.front.config["traces"] = traces(cls.collector.url)
        cls.addClassCleanup(cls.front.discard)
        cls.front.start()

    def test_the_remote_servers_spans_are_below_the_call(self):
        task = self.send("tell", SAMPLED, agent="far", server=self.front)
        turn = self.one(self.spans_of(task["id"], 2), "invoke_agent far")
        def far_request(spans):
            calls = {one.id for one in spans if one.name == "a2a.client" and one.parent == turn.id}
            return next((one for one in spans if one.kind == SERVER and one.parent in calls), None)
        request = self.collector.wait(far_request)
        self.assertEqual(request.trace, TRACE)
        far_turn = self.collector.wait(
            lambda spans: next((one for one in spans if one.parent == request.id), None))
        self.assertEqual(far_turn.name, "invoke_agent tracer")

    def test_a_models_call_is_a_span_with_its_name(self):
        task = self.send("hi", SAMPLED, agent="model", server=self.front)
        turn = self.one(self.spans_of(task["id"], 2), "invoke_agent model")
        call = self.collector.wait(lambda spans: next((one for one in spans if one.parent == turn.id), None))
        self.assertEqual((call.name, call.kind), ("chat tiny", CLIENT))
        self.assertEqual(call.attributes["gen_ai.request.model"], "tiny")


class CollectorInTrouble(harness.ServerCase):
    AGENTS = ["echo"]

    def served(self, answer, **more):
        receiver = collector.Collector(answer)
        self.addCleanup(receiver.close)
        server = harness.Server(["echo"], {"traces": traces(receiver.url, ratio=1, **more)})
        self.addCleanup(server.discard)
        return receiver, server.start()

    @classmethod
    def setUpClass(cls):
        pass

    @classmethod
    def tearDownClass(cls):
        pass

    def send(self, server):
        message = {"messageId": client.new_id(), "role": "ROLE_USER", "parts": [{"text": "hello"}]}
        return server.call("SendMessage", {"message": message}, agent="echo", headers={"A2A-Version": "1.0"})

    def test_a_busy_collector_gets_the_batch_again_after_the_time_it_asks_for(self):
        for status in rings.some((429, 503)):
            with self.subTest(status):
                times = []
                def answer(count, times=times, status=status):
                    times.append(time.monotonic())
                    return (status, {"Retry-After": "1"}, b"") if count == 1 else (200, {}, b"{}")
                receiver, server = self.served(answer)
                self.send(server)
                receiver.wait(lambda spans: len(spans) >= 2)
                self.assertGreaterEqual(times[1] - times[0], 0.9)
                harness.wait_for(lambda: server.metric('baton_spans_total{outcome="sent"}') >= 2)
                self.assertEqual(server.metric('baton_spans_total{outcome="lost"}'), 0)

    def test_a_refused_batch_is_lost_and_counted(self):
        receiver, server = self.served(lambda count: (400, {}, b""))
        self.send(server)
        harness.wait_for(lambda: server.metric('baton_spans_total{outcome="lost"}') >= 2)
        sent = [span["spanId"] for body in receiver.bodies for resource in json.loads(body)["resourceSpans"]
                for scope in resource["scopeSpans"] for span in scope["spans"]]
        self.assertEqual(len(sent), len(set(sent)), "no batch is sent again")

    def test_partial_success_is_counted(self):
        answer = json.dumps({"partialSuccess": {"rejectedSpans": "1", "errorMessage": "too old"}}).encode()
        _, server = self.served(lambda count: (200, {}, answer if count == 1 else b"{}"))
        self.send(server)
        harness.wait_for(lambda: server.metric('baton_spans_total{outcome="rejected"}') == 1)

    def test_a_collector_that_hangs_costs_callers_nothing_and_drops_are_counted(self):
        receiver, server = self.served(lambda count: None)
        self.send(server)
        harness.wait_for(lambda: receiver.count == 1)
        times = []
        for _ in range(1_300):
            begin = time.monotonic()
            self.send(server)
            times.append(time.monotonic() - begin)
        # If spans that find no place held up callers, hundreds would wait; a busy machine may hold up a few.
        self.assertLess(sorted(times)[-100], client.scaled(3))
        self.assertGreater(server.metric('baton_spans_total{outcome="dropped"}'), 0)
        begin = time.monotonic()
        self.assertEqual(server.stop(), 0)
        self.assertLess(time.monotonic() - begin, client.scaled(10))

    def test_headers_come_from_a_file_and_agents_do_not_see_the_variable(self):
        receiver = collector.Collector()
        self.addCleanup(receiver.close)
        server = harness.Server(["echo"], {"traces": traces(receiver.url, ratio=1)})
        self.addCleanup(server.discard)
        secret = server.folder / "headers"
        secret.touch(mode=0o600)
        secret.write_text("Authorization: Bearer hidden\nX-Tenant: a\n", encoding="utf-8")
        server.config["traces"]["headers_file"] = str(secret)
        server.start()
        self.send(server)
        receiver.wait(lambda spans: spans)
        self.assertEqual(receiver.heads[0]["Authorization"], "Bearer hidden")
        self.assertEqual(receiver.heads[0]["X-Tenant"], "a")
        self.assertNotIn("hidden", server.log_text())

    def test_what_is_left_is_sent_at_the_end(self):
        receiver, server = self.served(lambda count: (200, {}, b"{}"))
        self.send(server)
        self.assertEqual(server.stop(), 0)
        receiver.wait(lambda spans: len(spans) >= 2)


class AccessLog(harness.ServerCase):
    AGENTS = ["tracer"]
    CONFIG = {"log": {"access": True}, "tokens": [{"token": "s3cret-of-ann", "caller": "ann"}]}

    def lines(self, path):
        found = [json.loads(line) for line in self.server.log_text().splitlines() if '"access"' in line]
        return [line for line in found if line.get("path") == path]

    def lines_of(self, task):
        return [line for line in self.lines("/agents/tracer") if line.get("task") == task]

    def test_each_request_has_a_line_with_who_what_and_how_long(self):
        message = {"messageId": client.new_id(), "role": "ROLE_USER", "parts": [{"text": "tell"}]}
        sent = self.server.call("SendMessage", {"message": message}, agent="tracer", token="s3cret-of-ann",
                                headers={"A2A-Version": "1.0", "traceparent": SAMPLED})
        line = harness.wait_for(lambda: self.lines_of(sent["task"]["id"]))[0]
        self.assertEqual((line["method"], line["call"], line["agent"], line["caller"], line["status"]),
                         ("POST", "SendMessage", "tracer", "ann", "200"))
        self.assertEqual(line["trace"], TRACE)
        self.assertGreater(int(line["bytes"]), 100)
        self.assertGreater(int(line["us"]), 0)

    def test_a_streams_line_has_the_task(self):
        task = client.new_id()
        for _ in self.server.stream("tell", task, agent="tracer", token="s3cret-of-ann"):
            pass
        for _ in self.server.resubscribe(task, after=0, agent="tracer", token="s3cret-of-ann"):
            pass
        harness.wait_for(lambda: len(self.lines_of(task)) == 2)

    def test_neither_query_nor_secret_is_in_it(self):
        self.server.http("GET", "/agents?token=s3cret-of-ann", headers={"Authorization": "Bearer s3cret-of-ann"})
        self.server.http("GET", "/nowhere?token=s3cret-of-ann")
        harness.wait_for(lambda: self.lines("/nowhere"))
        self.assertEqual(self.lines("/nowhere")[0]["status"], "404")
        self.assertNotIn("s3cret", self.server.log_text())

    def test_refusals_are_logged_once_for_each_address_and_minute(self):
        for _ in range(5):
            answer = self.server.http("POST", "/agents/tracer", body=b"{}",
                                      headers={"Content-Type": "application/json"})
            self.assertEqual(answer.status, 401)
        lines = harness.wait_for(lambda: [line for line in self.server.log_text().splitlines()
                                          if "has no valid token" in line])
        self.assertEqual(len(lines), 1, lines)

    def test_without_the_setting_there_are_no_lines(self):
        with harness.Server(["tracer"]) as server:
            server.http("GET", "/agents")
            self.assertNotIn('"access"', server.log_text())
