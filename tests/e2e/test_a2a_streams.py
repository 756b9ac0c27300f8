"""Streams of all generations on the same task, at the same time."""
import a2a_case
import client


class Streams(a2a_case.A2aCase):
    def test_input_required_says_final(self):
        for caller in (self.g1, self.g2, self.g3, self.g3_rest):
            with self.subTest(caller.name):
                shown = caller.stream("ask").rest()
                self.assertEqual((shown[-1].kind, shown[-1].state, shown[-1].final), ("status", "input-required", True))
                self.assertFalse(any(item.final for item in shown[:-1]))
                shown = caller.stream("end").rest()
                self.assertEqual((shown[-1].state, shown[-1].final), ("completed", True))
                self.assertFalse(any(item.final for item in shown[:-1]))
        for caller in (self.g4, self.g4_rest):
            with self.subTest(caller.name):
                self.assertTrue(all(item.final is None for item in caller.stream("ask").rest()))

    def test_where_a_stream_of_1_0_ends(self):
        for caller in (self.g4, self.g4_rest):
            with self.subTest(caller.name):
                following = caller.stream("ask")
                task = following.first().raw["id"]
                self.assertEqual(following.rest()[-1].state, "input-required")
                subscribed = caller.subscribe(task)
                self.assertEqual(subscribed.first().state, "input-required")
                self.assertEqual(caller.answer(task, "auth again").state, "auth-required")
                self.assertEqual(caller.answer(task, "in").state, "completed")
                self.assertEqual(subscribed.rest()[-1].state, "completed", "it stayed open while the task waited")
                following = caller.stream("auth")
                following.until("auth-required")
                caller.answer(following.shown()[0].raw["id"], "in")
                self.assertEqual(following.rest()[-1].state, "completed", "open at auth-required")

    def test_subscription_stays_open_over_two_questions(self):
        """`final`, where it exists, is true only at the end of the task."""
        for caller in self.all:
            with self.subTest(caller.name):
                task = caller.begin("ask").id
                subscribed = caller.subscribe(task)
                subscribed.first()
                self.assertEqual(caller.answer(task, "ask").state, "input-required")
                self.assertEqual(caller.answer(task, "done").state, "completed")
                shown = subscribed.rest()
                self.assertEqual([item.state for item in shown if item.state in ("input-required", "completed")],
                                 ["input-required", "input-required", "completed"])
                if caller.shows_final:
                    self.assertEqual([bool(i.final) for i in shown[1:] if i.kind == "status"],
                                     [False] * (len([i for i in shown[1:] if i.kind == "status"]) - 1) + [True])

    def test_subscribe_by_get_and_by_post(self):
        for caller in (self.g3_rest, self.g4_rest):
            with self.subTest(caller.name):
                task = caller.begin("ask").id
                streams = [caller.subscribe(task, method=method) for method in ("GET", "POST")]
                for stream in streams:
                    self.assertEqual((stream.first().kind, stream.items[0].state), ("task", "input-required"))
                caller.cancel(task)
                for stream in streams:
                    self.assertEqual(stream.rest()[-1].state, "canceled")

    def test_first_item_is_a_task_but_in_0_1(self):
        for caller in self.all:
            with self.subTest(caller.name):
                shown = caller.stream("end").rest()
                self.assertEqual([item.kind for item in shown].index("task") if caller.streams_task_first else
                                 [item.kind for item in shown].count("task"), 0)
                self.assertEqual(len([item for item in shown if item.kind == "task"]), int(caller.streams_task_first))

    def test_errors_before_the_first_event_are_plain_json(self):
        accept = {"Accept": "application/json, text/event-stream"}
        for method, version in (("message/stream", None), ("SendStreamingMessage", "1.0"),
                                ("SubscribeToTask", "1.0"), ("tasks/resubscribe", None), ("tasks/sendSubscribe", None)):
            answer = self.post(method, {"id": "unknown"}, version=version, headers=accept)
            self.assertEqual((answer.status, answer.headers.get_content_type()), (200, "application/json"), method)
            self.assertEqual(answer.body["error"]["code"], -32001 if "ubscri" in method and "send" not in method
                             else -32602)
        for path, version, body, status in (("/v1/message:stream", None, {}, 400), ("/message:stream", "1.0", {}, 400),
                                            ("/v1/tasks/unknown:subscribe", None, {}, 404),
                                            ("/tasks/unknown:subscribe", "1.0", {}, 404)):
            answer = self.rest("POST", path, body, version, accept)
            self.assertEqual(answer.status, status, answer.raw)
            self.assertIn("json", answer.headers.get_content_type())

    def test_a_client_that_reads_streams_only_is_refused_in_one(self):
        # EventSource libraries and the SDKs of 1.0 for Go and C# send the first value. The Python SDK 0.3.26 adds the
        # second to its own. Lists, weights and a wildcard mean the same.
        for accept in ("text/event-stream", "*/*, text/event-stream", "application/json;q=0.5,text/event-stream;q=0.9",
                       "text/event-stream; charset=utf-8"):
            for caller in self.each(self.g3, self.g4):
                with self.subTest(accept):
                    shown = caller.open("subscribe", {"id": "unknown"}, {"Accept": accept}).rest()
                    self.assertEqual([(item.kind, item.raw["code"]) for item in shown], [("error", -32001)])
        reserved = {**self.g4.params("end"), "tenant": "v1"}
        shown = self.g4.open("stream", reserved, {"Accept": "text/event-stream"}).rest()
        self.assertEqual([(item.kind, item.raw["code"]) for item in shown], [("error", -32602)])

    def test_accept_that_prefers_json_or_leaves_it_open_is_refused_plainly(self):
        for accept in ("*/*", "text/event-stream;q=0.5, */*", "text/event-stream, application/json",
                       "text/event-stream;q=0, application/json"):
            with self.subTest(accept):
                answer = self.post("message/stream", {"message": {}}, headers={"Accept": accept})
                self.assertEqual(answer.headers.get_content_type(), "application/json", answer.raw)

    def test_appending_to_an_unknown_artifact_adds_it(self):
        for caller in self.all:
            with self.subTest(caller.name):
                self.assertEqual(caller.send("unknown").texts, ["begun"])
                chunks = [item.raw["artifact"] for item in caller.stream("unknown").rest() if item.kind == "artifact"]
                self.assertEqual(len(chunks), 1)


class SameTask(a2a_case.A2aCase):
    """All generations watch one task, each in its own shape, with the same numbers."""

    def test_every_generation_sees_the_same_log(self):
        sender = self.g4.stream("ask one")
        task = sender.first().raw["id"]
        sender.rest()
        watching = [caller.subscribe(task, after=0) for caller in self.all]
        self.g3.answer(task, "count 2")
        numbers = [[item.number for item in stream] for stream in watching]
        self.assertEqual(numbers[0], sorted(set(numbers[0])), "they rise")
        for caller, stream, seen in zip(self.all, watching, numbers):
            with self.subTest(caller.name):
                self.assertEqual(seen, numbers[0])
                self.assertEqual(stream.shown()[-1].state, "completed")
                self.assertEqual([item.state for item in stream.shown() if item.kind == "status"],
                                 [item.state for item in watching[0].shown() if item.kind == "status"])

    def test_a_cut_stream_is_taken_up_after_its_number(self):
        for caller in self.all:
            with self.subTest(caller.name):
                following = caller.stream("wait")
                following.until("working")
                cut = following.items[-1].number
                task = following.shown()[0].raw.get("id") or following.shown()[0].raw["taskId"]
                following.close()
                whole, rest = caller.subscribe(task, after=0), caller.subscribe(task, after=cut)
                self.server.gate("player", task)
                self.assertEqual(whole.rest()[-1].state, "completed")
                rest.rest()
                self.assertEqual([item.raw for item in rest.items],
                                 [item.raw for item in whole.items if item.number > cut])

    def test_a_task_with_a_name_of_the_callers_own(self):
        task = client.new_id()
        self.assertEqual(self.g1.send("end", task=task).id, task)
        for caller in self.all:
            with self.subTest(caller.name):
                self.assertEqual(caller.get(task).state, "completed")
