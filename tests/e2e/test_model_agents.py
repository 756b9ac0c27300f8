"""Language models as agents (executor openai), against a scripted server."""
import base64
import json
import os
import time

import client
import harness
from chat_doors import AgUi
from model_case import ModelCase
from model_server import chunk, plain, said, stops, streamed, words

KEY = "sk-not-for-everybody"
PNG = base64.b64encode(b"\x89PNG").decode()


class Answers(ModelCase):
    """The forms in which servers answer."""

    def test_a_stream_becomes_the_reply(self):
        self.model.script(said("It ", "is ", "sunny."))
        self.assertEqual(self.reply(self.run_task("how is it?")), "It is sunny.")
        self.assertEqual(self.model.paths, ["/v1/chat/completions"])
        request = self.model.requests[0]
        self.assertEqual(request["messages"], [{"role": "user", "content": "how is it?"}])
        self.assertEqual((request["model"], request["stream"], request["stream_options"]),
                         ("tiny", True, {"include_usage": True}))

    def test_chunks_without_choices_are_passed_over(self):
        self.model.script(streamed({"id": "c", "choices": []}, *words("a"), {"choices": [], "usage": None}))
        self.assertEqual(self.reply(self.run_task()), "a")

    def test_a_whole_answer_at_once_in_place_of_a_stream(self):
        self.model.script(plain({"object": "chat.completion", "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "all of it"}, "finish_reason": "stop"}]}))
        self.assertEqual(self.reply(self.run_task()), "all of it")

    def test_a_whole_answer_in_one_chunk(self):
        self.model.script(streamed(chunk({"role": "assistant", "content": "at once"}, "stop")))
        self.assertEqual(self.reply(self.run_task()), "at once")

    def test_a_stream_without_done_ends_with_its_finish_reason(self):
        self.model.script(streamed(*words("enough"), done=False))
        self.assertEqual(self.reply(self.run_task()), "enough")
        self.assertEqual(len(self.model.requests), 1)

    def test_usage_only_in_the_last_chunk_is_kept(self):
        counts = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}
        self.model.script(streamed(*words("a"), {"choices": [], "usage": counts}))
        door = AgUi(self.server, agent="plain")
        run = door.run(door.say("hi"))
        self.assertEqual((run.ending, run.text), ("completed", "a"))
        self.assertEqual(run.frames[-1].body["usage"],
                         [{"provider": "openai", "model": "tiny-1", "inputTokens": 11, "outputTokens": 5,
                           "totalTokens": 16}])

    def test_reasoning_is_not_part_of_the_reply(self):
        self.model.script(streamed(chunk({"reasoning_content": "hm"}), chunk({"reasoning": "well"}), *words("yes")))
        self.assertEqual(self.reply(self.run_task()), "yes")


class Trouble(ModelCase):
    """Servers that are busy, wrong or down."""
    MODELS = {"plain": {}, "patient": {"cancel_grace_s": 600}, "hasty": {"turn_timeout_s": 30},
              "small": {"output_max_bytes": 2048}, "once": {"recovery": "fail"},
              "locked": {"auth": {"type": "bearer", "secret_env": "KEY_THAT_IS_NOT_SET"}}}

    @classmethod
    def prepare(cls):
        # The same server under a name that the settings do not allow.
        cls.server.write_card("inside", {"executor": "openai", "url": f"http://localhost:{cls.model.port}/v1",
                                         "model": {"name": "tiny"}})

    def test_a_busy_server_is_asked_again_after_the_time_it_says(self):
        for status in (425, 429, 503, 529):
            with self.subTest(status):
                busy = plain({"error": {"message": "slow down"}}, status, Retry_After="1")
                self.model.script(busy, said("now"))
                begun = time.monotonic()
                self.assertEqual(self.reply(self.run_task()), "now")
                self.assertGreaterEqual(time.monotonic() - begun, 1)
                self.assertEqual(len(self.model.requests), 2)

    def test_a_server_that_does_not_answer_is_told_of_while_it_is_asked_again(self):
        self.model.script(lambda handler: None, said("now"))
        task = self.run_task()
        log = json.dumps(self.server.http("GET", f"/agents/plain/tasks/{task['id']}/log").body)
        self.assertEqual(log.count("The model is unavailable. Retrying."), 1)
        self.assertNotIn(f":{self.model.port}", log)

    def test_a_busy_server_is_not_waited_for_past_the_deadline(self):
        self.model.script(plain({"error": {"message": "slow down"}}, 429, Retry_After="60"))
        self.assertIn("429: slow down", self.reason(self.run_task(agent="hasty", state="failed")))
        self.assertEqual(len(self.model.requests), 1)

    def test_an_empty_account_is_not_asked_again(self):
        self.model.script(plain({"error": {"message": "pay first", "code": "insufficient_quota"}}, 429))
        self.assertIn("pay first", self.reason(self.run_task(state="failed")))
        self.assertEqual(len(self.model.requests), 1)

    def test_an_error_in_an_answer_with_status_200_fails_the_task(self):
        for error in ({"message": "no such model", "code": "model_not_found"}, "no such model"):
            for answer in (plain({"error": error}), streamed({"error": error})):
                with self.subTest(error):
                    self.model.script(answer)
                    self.assertIn("no such model", self.reason(self.run_task(state="failed")))
                    self.assertEqual(len(self.model.requests), 1)

    def test_a_busy_error_in_an_answer_with_status_200_is_tried_again(self):
        self.model.script(plain({"error": {"message": "later", "code": 503}}), said("now"))
        self.assertEqual(self.reply(self.run_task()), "now")

    def test_a_stream_that_stops_is_withdrawn_and_begins_again(self):
        for broken in (stops(chunk({"content": "wrong"})), streamed(chunk({"content": "wrong"}), done=False)):
            self.model.script(broken, said("right"))
            self.assertEqual(self.reply(self.run_task()), "right")
            self.assertEqual(len(self.model.requests), 2)

    def test_an_error_in_the_middle_of_a_stream_begins_it_again(self):
        self.model.script(streamed(chunk({"content": "wrong"}), {"error": {"message": "oops"}}), said("right"))
        self.assertEqual(self.reply(self.run_task()), "right")

    def test_a_stream_that_stops_each_time_fails_the_task(self):
        self.model.script(stops(chunk({"content": "wrong"})))
        self.assertIn("cannot answer", self.reason(self.run_task(state="failed")))
        self.assertEqual(len(self.model.requests), 4)

    def test_a_stream_that_stops_fails_a_task_whose_work_is_not_repeated(self):
        self.model.script(stops(chunk({"content": "wrong"})))
        self.run_task(agent="once", state="failed")
        self.assertEqual(len(self.model.requests), 1)

    def test_a_connection_lost_before_the_first_word_is_tried_again(self):
        self.model.script(lambda handler: None, said("now"))
        self.assertEqual(self.reply(self.run_task()), "now")

    def test_an_answer_larger_than_the_card_allows_fails_the_task(self):
        self.model.script(said("x" * 4000))
        self.assertIn("larger", self.reason(self.run_task(agent="small", state="failed")))

    def test_an_answer_that_is_not_of_the_protocol_fails_the_task(self):
        self.model.script(streamed([1]))
        self.assertIn("is invalid", self.reason(self.run_task(state="failed")))

    def test_a_cancel_ends_the_request(self):
        answer, ended = self.model.silent_after(chunk({"content": "well"}))
        self.model.script(answer)
        task = client.new_id()
        self.server.stream("hi", task, agent="patient").close()
        harness.wait_for(lambda: self.reply(self.server.get(task, agent="patient")), what="the first word")
        self.server.rpc("tasks/cancel", {"id": task}, agent="patient")
        self.stopped(task, "patient", "canceled")
        self.assertTrue(ended.wait(client.scaled(60)), "the request goes on")

    def test_a_cancel_ends_the_wait_for_a_busy_server(self):
        self.model.script(plain({}, 503, Retry_After="60"))
        task = client.new_id()
        self.server.stream("hi", task, agent="patient").close()
        harness.wait_for(lambda: self.model.requests, what="the request")
        self.server.rpc("tasks/cancel", {"id": task}, agent="patient")
        self.stopped(task, "patient", "canceled")

    def test_a_turn_whose_recovery_is_fail_fails_over_a_restart(self):
        answer, _ = self.model.silent_after(chunk({"content": "wrong"}))
        self.model.script(answer, said("right"))
        task = client.new_id()
        self.server.stream("hi", task, agent="once").close()
        harness.wait_for(lambda: self.reply(self.server.get(task, agent="once")), what="the first word")
        self.server.kill()
        self.server.start()
        self.stopped(task, "once", "failed")
        self.assertEqual(len(self.model.requests), 1)

    def test_a_redirect_is_followed_within_its_origin_only(self):
        self.model.script(plain({}, 307, Location="/elsewhere"), said("there"))
        self.assertEqual(self.reply(self.run_task()), "there")
        self.assertEqual(self.model.paths, ["/v1/chat/completions", "/elsewhere"])
        other = f"http://localhost:{self.model.port}/elsewhere"
        self.model.script(plain({}, 307, Location=other))
        self.assertIn(f"307: it has moved to {other}", self.reason(self.run_task(state="failed")))
        self.assertEqual(len(self.model.requests), 1)

    def test_keep_alives_of_relays_are_passed_over(self):
        for piece in ("data: \n\n", "event: ping\ndata: {\"type\":\"ping\"}\n\n", "data: {\"id\":\"c\"}\n\n"):
            with self.subTest(piece):
                self.model.script(streamed(chunk({"content": "a"}), piece, *words("b")))
                self.assertEqual(self.reply(self.run_task()), "ab")

    def test_a_server_that_keeps_the_connection_after_its_end_does_not_hold_the_turn(self):
        answer, ended = self.model.silent_after(*words("enough"))
        self.model.script(answer)
        self.assertEqual(self.reply(self.run_task()), "enough")
        harness.wait_for(ended.is_set, what="the end of the connection")

    def test_a_server_that_sends_comments_after_its_end_does_not_hold_the_turn(self):
        answer, ended = self.model.silent_after(*words("enough"), comments=True)
        self.model.script(answer)
        self.assertEqual(self.reply(self.run_task()), "enough")
        harness.wait_for(ended.is_set, what="the end of the connection")

    def test_an_end_that_is_not_known_is_asked_again(self):
        for reason in ("abort", "insufficient_system_resource"):
            self.model.script(streamed(chunk({"content": "wrong"}, reason)), said("right"))
            self.assertEqual(self.reply(self.run_task()), "right")

    def test_an_answer_that_is_cut_off_says_so(self):
        self.model.script(streamed(chunk({"content": "half"}, "length")))
        task = self.run_task()
        self.assertEqual(self.reply(task), "half")
        self.assertIn("reached its length limit (length)", self.reason(task))

    def test_an_answer_without_a_word_is_asked_for_once_more_and_then_an_error(self):
        self.model.script(said(""), said("now"))
        self.assertEqual(self.reply(self.run_task()), "now")
        self.model.script(said(""))
        self.assertIn("an empty answer twice", self.reason(self.run_task(state="failed")))
        self.assertEqual(len(self.model.requests), 2)

    def test_a_missing_key_fails_the_task_and_nothing_is_sent(self):
        self.model.script(said("hi"))
        self.assertIn("key is missing", self.reason(self.run_task(agent="locked", state="failed")))
        self.assertEqual(self.model.requests, [])

    def test_an_address_that_is_not_allowed_is_not_reached(self):
        self.model.script(said("hi"))
        self.run_task(agent="inside", state="failed")
        self.assertEqual(self.model.requests, [])

    def test_a_turn_runs_again_after_a_restart(self):
        answer, _ = self.model.silent_after(chunk({"content": "wrong"}))
        self.model.script(answer, said("right"))
        task = client.new_id()
        self.server.stream("hi", task, agent="plain").close()
        harness.wait_for(lambda: self.reply(self.server.get(task, agent="plain")), what="the first word")
        self.server.kill()
        self.server.start()
        self.assertEqual(self.reply(self.stopped(task)), "right")


class Told(ModelCase):
    """The model's input."""
    MODELS = {"plain": {},
              "set": {"model": {"system_file": "prompt.txt", "parameters": {"temperature": 0.5, "seed": 7}},
                      "auth": {"type": "bearer", "secret_env": "MODEL_KEY"}},
              "keyed": {"auth": {"type": "api_key", "header": "api-key", "secret_file": "key"}},
              "brief": {"model": {"system": "Be brief.", "history": {"messages": 2}}},
              "tiny": {"model": {"history": {"tokens": 4}}}}

    @classmethod
    def prepare(cls):
        os.environ["MODEL_KEY"] = KEY
        cls.addClassCleanup(os.environ.pop, "MODEL_KEY")
        (cls.server.agents_folder / "set" / "prompt.txt").write_text("You are kind.", encoding="utf-8")
        (cls.server.agents_folder / "keyed" / "key").write_text(KEY + "\n", encoding="utf-8")

    def test_system_prompt_parameters_and_key(self):
        self.model.script(said("yes"))
        self.run_task("hi", agent="set")
        request = self.model.requests[0]
        self.assertEqual(request["messages"][0], {"role": "system", "content": "You are kind."})
        self.assertEqual((request["temperature"], request["seed"]), (0.5, 7))
        self.assertEqual(self.model.headers[0]["Authorization"], "Bearer " + KEY)
        self.run_task("hi", agent="keyed")
        headers = {name.lower(): value for name, value in self.model.headers[1].items()}
        self.assertEqual(headers["api-key"], KEY)

    def test_a_key_is_in_no_error_and_no_log(self):
        for status in (400, 401):
            self.model.script(plain({"error": {"message": f"bad key {KEY} here"}}, status))
            failed = self.run_task("hi", agent="set", state="failed")
            self.assertNotIn(KEY, json.dumps(failed))
        self.assertNotIn(KEY, self.server.log_text())

    def talk(self, agent, *texts):
        """Sends messages of one conversation. The model answers each with its text and "!"."""
        context = client.new_id()
        for text in texts:
            self.model.script(said(text + "!"))
            task = client.new_id()
            self.server.send(text, task, agent=agent, sessionId=context)
            self.stopped(task, agent)
        return [(one["role"], one["content"]) for one in self.model.messages()]

    def test_the_history_is_told(self):
        self.assertEqual(self.talk("plain", "one", "two", "three"),
                         [("user", "one"), ("assistant", "one!"), ("user", "two"), ("assistant", "two!"),
                          ("user", "three")])

    def test_the_history_is_bounded_in_messages_and_tokens(self):
        self.assertEqual(self.talk("brief", "one", "two", "three"),
                         [("system", "Be brief."), ("user", "two"), ("assistant", "two!"), ("user", "three")])
        self.assertEqual(self.talk("tiny", "a message of many words", "two", "three"),
                         [("user", "two"), ("assistant", "two!"), ("user", "three")])

    def test_images_files_and_data(self):
        self.model.script(said("I see"))
        self.run_task("look", parts=[
            {"type": "text", "text": "look"},
            {"type": "file", "file": {"bytes": PNG, "mimeType": "image/png"}},
            {"type": "file", "file": {"uri": "https://example.com/a.jpg", "mimeType": "image/jpeg"}},
            {"type": "file", "file": {"bytes": base64.b64encode(b"a,b").decode(), "name": "t.csv", "mimeType": "text/csv"}},
            {"type": "file", "file": {"bytes": "AAAA", "name": "x.bin", "mimeType": "application/octet-stream"}},
            {"type": "data", "data": {"n": 1}}])
        self.assertEqual(self.model.messages()[0]["content"], [
            {"type": "text", "text": "look"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64," + PNG}},
            {"type": "image_url", "image_url": {"url": "https://example.com/a.jpg"}},
            {"type": "text", "text": "File t.csv:\na,b"},
            {"type": "text", "text": "[File x.bin, application/octet-stream, 3 bytes, not shown]"},
            {"type": "text", "text": '{"n": 1}'}])


if __name__ == "__main__":
    harness.unittest.main()
