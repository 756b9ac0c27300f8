"""AG-UI endpoints elsewhere that break off, answer nonsense or are down: each case ends with a clear error, and nothing
is run twice unless that is safe. The endpoint is scripted."""
import json

import client
import harness
import model_server
import rings
from model_server import plain
from test_remote_agents import Front

START = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
END = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}


def text(*deltas, message="m"):
    return [{"type": "TEXT_MESSAGE_START", "messageId": message, "role": "assistant"},
            *({"type": "TEXT_MESSAGE_CONTENT", "messageId": message, "delta": delta} for delta in deltas),
            {"type": "TEXT_MESSAGE_END", "messageId": message}]


def stream(*events):
    """Answers with a stream of these events, each a value or the text of a frame."""
    def answer(handler):
        frames = [event if isinstance(event, str) else json.dumps(event) for event in events]
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        handler.wfile.write("".join(f"data: {frame}\n\n" for frame in frames).encode())
    return answer


def run(*events):
    return stream(START, *events, END)


def drop(handler):
    handler.close_connection = True


class AguiFailures(harness.ServerCase):
    CARDS = {"plain": {}, "fails": {"on_unknown": "fail"}, "asks": {"on_unknown": "ask"}, "old": {"ag_ui": {"version": "0.0"}},
             "secret": {"auth": {"type": "bearer", "secret_file": "secret"}},
             "small": {"line_max_bytes": 2000, "output_max_bytes": 20_000}}

    @classmethod
    def setUpClass(cls):
        cls.there = model_server.ModelServer().__enter__()
        cls.addClassCleanup(cls.there.__exit__, None, None, None)
        origin = cls.there.url.rstrip("/")
        cls.server = Front({}, [origin])
        for name, members in cls.CARDS.items():
            cls.server.write_card(name, {"executor": "ag-ui", "url": f"{origin}/run", **members})
        cls.server.write_card("hidden", {"executor": "ag-ui", "url": "http://127.0.0.1:9/run"})
        (cls.server.agents_folder / "secret" / "secret").write_text("s3cret\n", encoding="utf-8")
        cls.server.start()

    def run_task(self, agent="plain", state="completed", task=None, said="hello"):
        task = self.server.send(said, task or client.new_id(), agent=agent)
        self.assertEqual(task["status"]["state"], state, task)
        return task

    def reply(self, task):
        return "".join(client.text_of(artifact) for artifact in task.get("artifacts", []))

    def reason(self, task):
        return client.text_of(task["status"]["message"])

    def failed(self, agent="plain"):
        return self.reason(self.run_task(agent, "failed"))

    def test_the_request_has_what_servers_of_every_version_want(self):
        self.there.script(run(*text("hi")))
        self.assertEqual(self.reply(self.run_task()), "hi")
        asked = self.there.requests[0]
        self.assertEqual([(one["role"], one["content"]) for one in asked["messages"]], [("user", "hello")])
        self.assertEqual((asked["state"], asked["tools"], asked["context"], asked["protocolVersion"]), ({}, [], [], "1.0"))
        self.assertTrue(asked["threadId"] and asked["runId"] and asked["messages"][0]["id"])
        self.assertEqual(self.there.headers[0]["Accept"], "text/event-stream")
        self.there.script(run(*text("hi")))
        self.run_task("old")
        self.assertNotIn("protocolVersion", self.there.requests[0])

    @rings.everything("unit/protocol/agui/run_reader_test.cpp")
    def test_each_message_is_a_reply_and_others_words_are_not_said(self):
        self.there.script(run(*text("one", message="a"), *text("two ", "three", message="b"),
                              {"type": "TEXT_MESSAGE_START", "messageId": "u", "role": "user"},
                              {"type": "TEXT_MESSAGE_CONTENT", "messageId": "u", "delta": "what I was told"},
                              {"type": "TEXT_MESSAGE_CHUNK", "messageId": "c", "delta": "four"},
                              {"type": "TEXT_MESSAGE_CHUNK", "delta": " five"}))
        replies = [client.text_of(artifact) for artifact in self.run_task()["artifacts"]]
        self.assertEqual(replies, ["one", "two three", "four five"])

    @rings.everything("unit/protocol/agui/run_reader_test.cpp")
    def test_a_result_is_the_data_of_the_answer(self):
        self.there.script(stream(START, {**END, "result": {"n": 1}}))
        self.assertEqual(self.run_task()["status"]["message"]["parts"][0]["data"], {"n": 1})

    def test_events_out_of_place_are_left_out_and_open_ones_closed(self):
        self.there.script(run({"type": "STEP_FINISHED", "stepName": "never"}, {"type": "STEP_STARTED", "stepName": "s"},
                              {"type": "TOOL_CALL_END", "toolCallId": "none"},
                              {"type": "TOOL_CALL_RESULT", "toolCallId": "none", "content": "x", "messageId": "q"},
                              {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "look"},
                              {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "{no json"},
                              {"type": "STATE_DELTA", "delta": [{"op": "add"}]}, {"type": "ACTIVITY_SNAPSHOT"},
                              {"type": "UNKNOWN"}, {"type": "RAW", "event": {}}, {"type": "CUSTOM"},
                              {"type": "MESSAGES_SNAPSHOT", "messages": 7}, *text("done")))
        self.assertEqual(self.reply(self.run_task()), "done")

    def test_nonsense_fails_the_task_with_a_reason(self):
        for frame in ("{", "[]", "7", json.dumps({"no": "type"}), json.dumps({"type": 7})):
            with self.subTest(frame=frame):
                self.there.script(stream(START, frame))
                self.assertTrue(self.failed().startswith("the remote agent's answer is invalid"))
        self.there.script(plain({"answer": 42}))
        self.assertEqual(self.failed(), "the remote agent did not answer with an event stream")
        self.assertEqual(len(self.there.requests), 1)

    @rings.everything("unit/protocol/agui/run_reader_test.cpp")
    def test_what_comes_after_the_end_is_ignored(self):
        self.there.script(stream(START, *text("hi"), END, "[DONE]", *text("more", message="n")))
        self.assertEqual(self.reply(self.run_task()), "hi")

    def test_a_stream_that_ends_before_the_run_is_run_again_and_what_was_shown_is_withdrawn(self):
        self.there.script(stream(START, *text("wrong")), run(*text("right")))
        self.assertEqual(self.reply(self.run_task()), "right")
        first, second = self.there.requests
        self.assertEqual(first, second, "the same run")

    def test_a_run_without_an_end_is_given_up_in_the_end(self):
        self.there.script(stream(START))
        self.assertEqual(self.failed(), "the remote agent's stream ended before its run did")
        self.assertEqual(len(self.there.requests), 5)

    def test_a_connection_that_is_lost_before_an_answer_never_ends_a_turn(self):
        self.there.script(*[drop] * 3, plain({}, 502), drop, run(*text("hi")))
        self.assertEqual(self.reply(self.run_task()), "hi")
        self.assertEqual(len(self.there.requests), 6)
        self.there.script(*[plain({"message": "oh"}, 500)] * 5)
        self.assertEqual(self.failed(), "the remote agent answered with HTTP status 500: oh")

    def test_a_run_is_not_made_twice_where_the_card_says_so(self):
        self.there.script(stream(START, *text("half")), run(*text("late")))
        self.assertEqual(self.failed("fails"), "the connection to the remote agent was lost in the middle of its answer")
        self.assertEqual(len(self.there.requests), 1)
        self.there.script(drop, run(*text("late")))
        self.assertEqual(self.failed("fails"), "the remote agent may or may not have received the message")
        self.assertEqual(len(self.there.requests), 1)

    def test_the_caller_decides_whether_it_is_run_again(self):
        for answer, state, count in (("resend", "completed", 2), ("no, leave it", "failed", 1)):
            with self.subTest(answer=answer):
                self.there.script(drop, run(*text("late")))
                asked = self.run_task("asks", "input-required")
                self.run_task("asks", state, asked["id"], answer)
                self.assertEqual(len(self.there.requests), count)
                self.assertEqual(self.there.requests[0], self.there.requests[-1], "the first message, not the answer")

    def test_a_busy_server_gets_the_run_when_it_says_and_a_refusal_fails(self):
        self.there.script(plain({}, 429, Retry_After="1"), plain({}, 503), run(*text("hi")))
        self.assertEqual(self.reply(self.run_task("fails")), "hi")
        self.there.script(plain({"detail": "no\nsuch thread s3cret"}, 422))
        self.assertEqual(self.failed("secret"), "the remote agent answered with HTTP status 422: no such thread ***")
        self.assertEqual(self.there.headers[0]["Authorization"], "Bearer s3cret")
        self.assertEqual(len(self.there.requests), 1)

    def test_an_error_of_the_run_is_its_reason(self):
        self.there.script(stream(START, *text("half"), {"type": "RUN_ERROR", "message": "it\nbroke", "code": "x"}))
        self.assertEqual(self.failed(), "it broke")
        self.there.script(stream(START, {"type": "RUN_ERROR"}))
        self.assertEqual(self.failed(), "the remote agent failed")
        self.there.script(stream(START, {**END, "outcome": {"type": "cancelled"}}))
        self.assertEqual(self.failed(), "the remote agent canceled the run")

    def test_an_interrupt_whose_schema_has_a_fault_is_asked_without_it(self):
        for schema in ({"$ref": "#"}, {"anyOf": ["x", 3]}, {"properties": [1]}):
            interrupts = [{"id": "i", "message": "One?", "responseSchema": schema}]
            self.there.script(stream(START, {**END, "outcome": {"type": "interrupt", "interrupts": interrupts}}),
                              run(*text("so")))
            asked = self.run_task(state="input-required")
            self.assertEqual(asked["status"]["message"]["parts"], [{"type": "text", "text": "One?"}])
            self.run_task(task=asked["id"], said="yes")
        self.assertIn("the question's schema is invalid, so the question is shown without it: /properties must be an object",
                      self.server.log_text())

    def test_several_interrupts_are_one_question_and_its_answer_is_for_all(self):
        interrupts = [{"id": "a,b/c", "message": "One?"}, {"id": "ü", "message": "Two?"}]
        self.there.script(stream(START, {**END, "outcome": {"type": "interrupt", "interrupts": interrupts}}),
                          run(*text("thanks")))
        asked = self.run_task(state="input-required")
        self.assertEqual(self.reason(asked), "One?\nTwo?")
        self.run_task(task=asked["id"], said="yes")
        self.assertEqual(self.there.requests[1]["resume"], [
            {"interruptId": "a,b/c", "status": "resolved", "payload": "yes"},
            {"interruptId": "ü", "status": "resolved", "payload": "yes"}])
        self.assertEqual(self.there.requests[0]["threadId"], self.there.requests[1]["threadId"])
        self.assertNotEqual(self.there.requests[0]["runId"], self.there.requests[1]["runId"])
        self.there.script(stream(START, {**END, "outcome": {"type": "interrupt", "interrupts": [{"id": "x" * 3000}]}}))
        self.assertEqual(self.failed(), "the remote agent asks too many questions at once")

    def test_what_is_too_large_fails_the_task(self):
        self.there.script(run(*text("x" * 3000)))
        self.assertEqual(self.failed("small"), "an event of the remote agent is larger than its card allows (line_max_bytes)")
        self.there.script(run(*text(*["x" * 1000] * 30)))
        self.assertEqual(self.failed("small"), "the remote agent's answer is larger than its card allows (output_max_bytes)")

    def test_a_private_address_is_refused_unless_its_origin_is_allowed(self):
        self.assertIn("cannot be reached", self.failed("hidden"))


if __name__ == "__main__":
    harness.unittest.main()
