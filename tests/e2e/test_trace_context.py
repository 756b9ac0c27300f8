"""W3C Trace Context: the `traceparent` of a request is passed to the turn that answers it, and from there to children,
remote agents, models and webhooks. The trace stays the same; each turn is a span of its own."""
import json
import re

import chat_doors
import client
import generation_list
import harness
import model_server
import new_generations
import relay
import webhooks
from test_remote_agents import WAYS, Front, RemoteCase, name_of

TRACE, OTHER = "4bf92f3577b34da6a3ce929d0e0e4736", "0af7651916cd43dd8448eb211c80319c"
PARENT = "00f067aa0ba902b7"
GOOD, ANOTHER = f"00-{TRACE}-{PARENT}-01", f"00-{OTHER}-{PARENT}-00"
FORM = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})\Z")


class TraceCase(harness.ServerCase):
    AGENTS = ["tracer"]

    @classmethod
    def client_of(cls, server, agent="tracer"):
        return new_generations.Rpc10(server, agent)

    def told(self, text="tell", agent="tracer", headers=None, **how):
        """Returns the agent's report about its turn."""
        task = self.client_of(self.server, agent).send(text, headers=headers, **how)
        self.assertEqual(task.state, "completed", task)
        return json.loads(task.texts[0])

    def span_of(self, traceparent, trace=TRACE, flags="01"):
        """Returns the parent id of a value that belongs to the trace, and is not the caller's own."""
        self.assertIsNotNone(traceparent, "there is no traceparent")
        found = FORM.match(traceparent)
        self.assertTrue(found, traceparent)
        self.assertEqual((found[1], found[3]), (trace, flags))
        self.assertNotIn(found[2], (PARENT, "0" * 16))
        return found[2]

    def assert_spans_differ(self, *spans):
        self.assertEqual(len(set(spans)), len(spans), spans)


class ComesIn(TraceCase):
    OPTIONS = generation_list.OPTIONS

    def test_every_generation_and_binding_takes_it_to_the_turn(self):
        spans = []
        for generation in generation_list.GENERATIONS:
            with self.subTest(generation.name):
                # Header names are case-insensitive; those of gRPC's metadata are in lower case.
                name = "traceparent" if "gRPC" in generation.name else "TraceParent"
                task = generation(self.server, "tracer").send("tell", headers={name: GOOD})
                told = json.loads(task.texts[0])
                spans.append(self.span_of(told["line"]))
                self.assertEqual(told["environment"], told["line"])
        self.assertEqual(len(spans), len(generation_list.GENERATIONS))
        self.assert_spans_differ(*spans)

    def test_a_stream_takes_it_to_the_turn(self):
        following = self.client_of(self.server).stream("tell", headers={"traceparent": GOOD})
        texts = json.dumps([item.raw for item in following.rest()])
        self.assertIn(f"00-{TRACE}-", texts)
        self.assertNotIn(PARENT, texts)

    def test_every_chat_protocol_takes_it_to_the_turn(self):
        spans = []
        for make in chat_doors.ALL_DOORS:
            with self.subTest(make.name):
                door = make(self.server, "tracer")
                run = door.run(door.say("tell"), headers={"traceparent": GOOD})
                spans.append(self.span_of(json.loads(run.text)["line"]))
        self.assert_spans_differ(*spans)

    def test_invalid_values_are_ignored_and_the_request_is_served(self):
        for value in (f"ff-{TRACE}-{PARENT}-01", f"00-{'0' * 32}-{PARENT}-01", f"00-{TRACE}-{'0' * 16}-01",
                      GOOD.upper(), GOOD + "-more", GOOD[:-1], "nonsense", ""):
            with self.subTest(value):
                told = self.told(headers={"traceparent": value})
                self.assertEqual((told["line"], told["environment"]), (None, None))

    def test_a_version_to_come_is_read_by_its_first_fields(self):
        self.span_of(self.told(headers={"traceparent": f"cc-{TRACE}-{PARENT}-01-what-comes"})["line"])

    def test_of_two_headers_none_counts(self):
        for count in (1, 2):
            with self.subTest(count):
                message = {"messageId": client.new_id(), "role": "ROLE_USER", "parts": [{"text": "tell"}]}
                body = self.server.envelope("SendMessage", {"message": message}, 1)
                connection = self.server.connect(20)
                connection.putrequest("POST", "/agents/tracer")
                for name, value in (("Content-Type", "application/json"), ("A2A-Version", "1.0"),
                                    ("Content-Length", str(len(body))), *[("traceparent", GOOD)] * count):
                    connection.putheader(name, value)
                connection.endheaders(body)
                answer = connection.getresponse()
                raw = answer.read().decode()
                connection.close()
                self.assertEqual(answer.status, 200, raw)
                self.assertIn("COMPLETED", raw)
                self.assertEqual(f"00-{TRACE}" in raw, count == 1, raw)

    def test_without_a_header_the_message_may_have_it_in_its_metadata(self):
        metadata = {"traceparent": GOOD, "more": 1}
        message = {"messageId": client.new_id(), "role": "ROLE_USER", "parts": [{"text": "tell"}], "metadata": metadata}
        for headers, trace, flags in (({}, TRACE, "01"), ({"traceparent": ANOTHER}, OTHER, "00")):
            with self.subTest(headers):
                sent = self.server.call("SendMessage", {"message": message | {"messageId": client.new_id()}},
                                        agent="tracer", headers={"A2A-Version": "1.0", **headers})
                told = json.loads(sent["task"]["artifacts"][0]["parts"][0]["text"])
                self.span_of(told["line"], trace, flags)
        for wrong in (7, None, {"a": GOOD}, "nonsense"):
            with self.subTest(wrong):
                sent = self.server.call(
                    "SendMessage", {"message": message | {"messageId": client.new_id(),
                                                          "metadata": {"traceparent": wrong}}},
                    agent="tracer", headers={"A2A-Version": "1.0"})
                told = json.loads(sent["task"]["artifacts"][0]["parts"][0]["text"])
                self.assertIsNone(told["line"])

    def test_a_card_may_set_the_environment_itself(self):
        server = Front({"own": {"executor": "command", "command": ["/usr/bin/printenv", "TRACEPARENT"], "io": "text",
                                "env": {"TRACEPARENT": "mine"}},
                        "text": {"executor": "command", "command": ["/usr/bin/printenv", "TRACEPARENT"], "io": "text"}},
                       [])
        with server:
            said = [self.client_of(server, name).send("x", headers={"traceparent": GOOD}).texts[0].strip()
                    for name in ("own", "text")]
        self.assertEqual(said[0], "mine")
        self.span_of(said[1])


class GoesOut(RemoteCase):
    """`server` is in front, with a tracer of its own; its remote agents are the tracer of `far`."""
    FAR = ["tracer"]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.discard()
        cls.model = model_server.ModelServer().__enter__()
        cls.addClassCleanup(cls.model.__exit__, None, None, None)
        cls.there = relay.Elsewhere()
        cls.there.__enter__()
        cls.addClassCleanup(cls.there.__exit__, None, None, None)
        cls.there.card = relay.card_for(cls.there.url)
        model, there = cls.model.url.rstrip("/"), cls.there.url.rstrip("/")
        cls.server = Front({**cls.cards(),
                            "agui": {"executor": "ag-ui", "url": f"{cls.origins()[0]}/agents/tracer/ag-ui"},
                            "model": {"executor": "openai", "url": f"{model}/v1", "model": {"name": "tiny"}},
                            "there": {"executor": "a2a", "url": there}},
                           [*cls.origins(), model, there], ["tracer"]).start()

    told, span_of, assert_spans_differ = TraceCase.told, TraceCase.span_of, TraceCase.assert_spans_differ
    client_of = TraceCase.client_of

    def test_one_trace_over_child_remote_agent_and_its_turn(self):
        for way in WAYS:
            with self.subTest(way=way):
                agent = name_of("tracer", *way)
                told = self.told(f"delegate {agent} delegate tracer tell", headers={"traceparent": GOOD})
                far, below = told["below"], told["below"]["below"]
                self.assert_spans_differ(*map(self.span_of, (told["line"], far["line"], below["line"])))

    def test_children_side_by_side_are_spans_of_their_own(self):
        told = self.told("delegate tracer delegate tracer tell", headers={"traceparent": GOOD})
        self.assert_spans_differ(*(self.span_of(one["line"])
                                   for one in (told, told["below"], told["below"]["below"])))

    def test_an_ag_ui_endpoint_elsewhere_gets_it(self):
        task = self.client_of(self.server, "agui").send("tell", headers={"traceparent": GOOD})
        self.span_of(json.loads("".join(task.texts))["line"])

    def test_a_call_of_a_remote_agent_has_the_header(self):
        self.there.headers.clear()
        self.client_of(self.server, "there").send("hi", headers={"traceparent": GOOD})
        self.span_of(self.there.headers[-1].get("traceparent"))

    def test_a_model_gets_it(self):
        self.model.script(model_server.said("hello"))
        self.client_of(self.server, "model").send("hi", headers={"traceparent": GOOD})
        self.span_of(self.model.headers[-1].get("traceparent"))

    def test_where_none_comes_in_none_goes_out(self):
        self.model.script(model_server.said("hello"))
        self.there.headers.clear()
        for agent in ("model", "there"):
            self.client_of(self.server, agent).send("hi")
        self.assertTrue(self.model.headers and self.there.headers)
        for headers in (*self.model.headers, *self.there.headers):
            self.assertNotIn("traceparent", {name.lower() for name in headers})
        told = self.told(f"delegate {name_of('tracer', '1.0', 'jsonrpc')} tell")
        self.assertEqual((told["line"], told["environment"], told["below"]["line"]), (None, None, None))


class Webhooks(TraceCase):
    OPTIONS = ["--allow-private-webhooks"]

    def test_each_attempt_is_a_span_of_the_tasks_trace(self):
        with webhooks.Receiver(lambda path, count: 503 if count == 1 else 200) as receiver:
            a2a = self.client_of(self.server)
            a2a.send("tell", headers={"traceparent": GOOD}, push={"url": receiver.url()})
            receiver.wait(lambda it: any("COMPLETED" in str(one.state) for one in it.deliveries))
            attempts = [*receiver.refused, *receiver.deliveries]
            self.assertGreater(len(attempts), 2)
            self.assert_spans_differ(*(self.span_of(one.headers.get("traceparent")) for one in attempts))

    def test_a_webhook_goes_by_the_last_message_that_had_one(self):
        with webhooks.Receiver() as receiver:
            a2a = self.client_of(self.server)
            asked = a2a.send("ask", headers={"traceparent": GOOD}, push={"url": receiver.url()})
            receiver.wait(lambda it: any("INPUT_REQUIRED" in str(one.state) for one in it.deliveries))
            first = len(receiver.deliveries)
            a2a.send("now", task=asked.id, headers={"traceparent": ANOTHER})
            receiver.wait(lambda it: any("COMPLETED" in str(one.state) for one in it.deliveries))
        for one in receiver.deliveries[:first]:
            self.span_of(one.headers.get("traceparent"))
        self.span_of(receiver.deliveries[-1].headers.get("traceparent"), OTHER, "00")

    def test_a_task_without_a_trace_has_webhooks_without_one(self):
        with webhooks.Receiver() as receiver:
            self.client_of(self.server).send("tell", push={"url": receiver.url()})
            receiver.wait(lambda it: any("COMPLETED" in str(one.state) for one in it.deliveries))
        self.assertEqual({one.headers.get("traceparent") for one in receiver.deliveries}, {None})


class IsKept(TraceCase):
    def held(self, task):
        """Returns the report of the newest attempt of a turn that waits for the gate."""
        def look():
            said = self.client_of(self.server).get(task).said
            return json.loads(said[0]) if said and said[0].startswith("{") else None
        return look

    def test_another_attempt_after_a_kill_has_the_trace_and_is_another_span(self):
        a2a = self.client_of(self.server)
        task = a2a.send("hold", wait=False, headers={"traceparent": GOOD})
        look = self.held(task.id)
        first = harness.wait_for(look, what="the first attempt")
        self.server.kill()
        self.server.start()
        second = harness.wait_for(lambda: (look() or {}).get("attempt", 1) > 1 and look(), what="the second attempt")
        self.assert_spans_differ(self.span_of(first["line"]), self.span_of(second["line"]))
        self.server.gate("tracer", "all")
        harness.wait_for(lambda: a2a.get(task.id).state == "completed", what="the end")

    def test_the_answer_after_a_kill_has_its_own_trace_and_a_child_is_told(self):
        for text, depth in (("ask", 0), ("delegate tracer ask", 1)):
            with self.subTest(text):
                a2a = self.client_of(self.server)
                asked = a2a.send(text, headers={"traceparent": GOOD})
                self.assertEqual(asked.state, "input-required", asked)
                self.span_of(json.loads(asked.said[0])["line"])
                self.server.kill()
                self.server.start()
                task = a2a.send("now", task=asked.id, headers={"traceparent": ANOTHER})
                harness.wait_for(lambda: a2a.get(task.id).state == "completed", what="the end")
                told = json.loads(a2a.get(task.id).texts[-1])
                answered = told["below"] if depth else told
                self.span_of(answered["line"], OTHER, "00")
                if depth:
                    self.span_of(told["line"])  # the parent's turn is still about the first message

    def test_a_message_sent_again_keeps_the_trace_of_the_first(self):
        message = {"messageId": client.new_id(), "role": "ROLE_USER", "parts": [{"text": "tell"}]}
        sent = [self.server.call("SendMessage", {"message": message}, agent="tracer",
                                 headers={"A2A-Version": "1.0", "traceparent": trace})["task"]
                for trace in (GOOD, ANOTHER)]
        self.assertEqual(sent[0]["id"], sent[1]["id"])
        for task in sent:
            self.span_of(json.loads(task["artifacts"][0]["parts"][0]["text"])["line"])
