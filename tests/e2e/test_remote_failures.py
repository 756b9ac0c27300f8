"""Agents elsewhere that do not answer, answer nonsense, or are at a forbidden address: every case ends with a clear
error, nothing is sent twice unless that is safe, and no secret goes where it does not belong."""
import contextlib
import json
import threading

import client
import harness
import relay
import rings
from test_remote_agents import Front


class Elsewhere:
    """A 1.0 agent without a memory. `plan`: the answers to the sends, in order; the last applies to all further ones.
    "drop": the connection ends without an answer. "busy": 503 with Retry-After. A list: events of a stream. A dict: the
    result. `task_now`: the answer to GetTask, if the task is known."""

    def __init__(self, plan, extensions=(), far_interface=None, streaming=True, task_now=None):
        owner = self
        self.plan, self.sends, self.calls, self.headers, self.requests = list(plan), [], [], [], []
        self.lock = threading.Lock()

        class Handler(relay.Handler):
            def do_GET(self):
                owner.headers.append(dict(self.headers))
                card = relay.card_for(far_interface or owner.site.url, streaming=streaming)
                card["capabilities"]["extensions"] = list(extensions)
                self.say(json.dumps(card).encode())

            def do_POST(self):
                request = json.loads(self.body())
                with owner.lock:
                    owner.headers.append(dict(self.headers))
                    owner.calls.append(request["method"])
                    owner.requests.append(request)
                    if request["method"] == "GetTask" and task_now:
                        return self.result(request, task_now)
                    if not request["method"].startswith("Send"):
                        return self.error(request, -32001, "Task not found")
                    owner.sends.append(request["params"]["message"])
                    deed = owner.plan[min(len(owner.sends), len(owner.plan)) - 1]
                if deed == "drop":
                    return self.close()
                if deed == "busy":
                    return self.busy()
                if isinstance(deed, dict):
                    return self.result(request, deed)
                self.stream(request, deed)

            def close(self):
                self.close_connection = True

            def busy(self):
                self.send_response(503)
                self.send_header("Retry-After", "1")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def result(self, request, result):
                self.say(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode())

            def error(self, request, code, text):
                self.say(json.dumps({"jsonrpc": "2.0", "id": request["id"],
                                     "error": {"code": code, "message": text}}).encode())

            def stream(self, request, events):
                blocks = [event if isinstance(event, str) else
                          json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": event}) for event in events]
                self.say("".join(f"data: {block}\n\n" for block in blocks).encode(), content_type="text/event-stream")

        self.site = relay.Site(Handler)

    def __enter__(self):
        self.site.__enter__()
        return self

    def __exit__(self, *_):
        self.site.__exit__()

    @property
    def origin(self):
        return self.site.url.rstrip("/")


def status(state, text=None):
    message = {"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]}} if text else {}
    return {"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": f"TASK_STATE_{state}", **message}}}


TASK = {"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}}
DONE = [TASK, status("COMPLETED", "done there")]


class ForgetsNothing:
    """A 0.1 agent without streams: asks, and works on the answer while its sender waits. A message to a task that has
    ended begins the task again, as 0.1 has no message ids."""

    def __init__(self):
        owner = self
        self.sends, self.task = [], {}
        self.has_answer, self.goes_on = threading.Event(), threading.Event()

        class Handler(relay.Handler):
            def do_GET(self):
                self.say(json.dumps(relay.card_for(owner.site.url, (("JSONRPC", "0.1"),))).encode())

            def do_POST(self):
                request = json.loads(self.body())
                if request["method"] == "tasks/send":
                    owner.take(request["params"])
                if owner.has_answer.is_set():
                    owner.goes_on.wait(client.scaled(60))
                with contextlib.suppress(BrokenPipeError):  # the waiting client was killed
                    self.say(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": owner.task}).encode())

        self.site = relay.Site(Handler)

    def take(self, params):
        self.sends.append(params["message"]["parts"][0]["text"])
        is_answered = self.task.get("status", {}).get("state") == "input-required"
        said = {"role": "agent", "parts": [{"type": "text", "text": "It is a boat." if is_answered else "What is it?"}]}
        self.task = {"id": params["id"], "sessionId": "s", "status": {
            "state": "completed" if is_answered else "input-required", "message": said,
            "timestamp": "2026-01-01T00:00:00Z"}}
        if is_answered:
            self.has_answer.set()


class RemoteFailures(harness.unittest.TestCase):
    def run_with(self, there, origins=None, text="hello", **baton):
        """Sends one message through a Baton in front and returns it with the task."""
        front = Front({"far": {"url": there.site.url, **baton}}, [there.origin] if origins is None else origins)
        self.addCleanup(front.discard)
        front.start()
        self.front = front
        return front.send(text, client.new_id(), agent="far")

    def failed(self, task):
        self.assertEqual(task["status"]["state"], "failed", task)
        return client.text_of(task["status"]["message"])

    def completed(self, task):
        self.assertEqual(task["status"]["state"], "completed", task)
        self.assertEqual(client.text_of(task["status"]["message"]), "done there")

    def test_a_send_without_an_answer_is_repeated_with_the_same_message(self):
        with Elsewhere(["drop", "drop", DONE]) as there:
            self.completed(self.run_with(there))
            self.assertEqual(len(there.sends), 3)
            self.assertEqual(there.sends[0], there.sends[1])
            self.assertEqual(there.sends[0], there.sends[2])

    def test_an_answer_that_arrived_before_a_kill_does_not_begin_the_ended_task_anew(self):
        there = ForgetsNothing()
        with there.site:
            self.addCleanup(there.goes_on.set)
            way = {"version": "0.1", "transport": "jsonrpc"}
            front = Front({"far": {"url": there.site.url, "a2a": way}}, [there.site.url.rstrip("/")])
            self.addCleanup(front.discard)
            front.start()
            task = front.send("this", client.new_id(), agent="far")
            self.assertEqual(task["status"]["state"], "input-required", task)
            front.stream("a boat", task["id"], agent="far").close()
            self.assertTrue(there.has_answer.wait(client.scaled(60)))
            front.kill()
            there.goes_on.set()
            front.start()
            done = harness.wait_for(lambda: (now := front.get(task["id"], agent="far"))["status"]["state"] in (
                "completed", "input-required", "failed") and now, what="the task to stop")
            self.assertEqual(done["status"]["state"], "completed", done)
            self.assertEqual(client.text_of(done["status"]["message"]), "It is a boat.")
            self.assertEqual(there.sends, ["this", "a boat"])

    def test_a_send_without_an_answer_is_not_repeated_where_the_card_says_so(self):
        for rules in ({"on_unknown": "fail"}, {"recovery": "fail"}):
            with self.subTest(rules=rules), Elsewhere(["drop", DONE]) as there:
                said = self.failed(self.run_with(there, **rules))
                self.assertEqual(said, "the remote agent may or may not have received the message")
                self.assertEqual(len(there.sends), 1)

    def test_a_peer_without_streams_gets_no_message_twice_either(self):
        with Elsewhere(["drop"], streaming=False) as there:
            said = self.failed(self.run_with(there, on_unknown="fail"))
            self.assertEqual(said, "the remote agent may or may not have received the message")
            self.assertEqual(there.calls, ["SendMessage"])

    def test_a_task_without_a_stream_is_looked_at_until_it_ends(self):
        task = {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}
        with Elsewhere([[TASK]], task_now=task) as there:
            front = Front({"far": {"url": there.site.url}}, [there.origin])
            self.addCleanup(front.discard)
            front.start()
            sent = threading.Thread(target=lambda: setattr(self, "ended", front.send("hi", "t1", agent="far")))
            sent.start()
            harness.wait_for(lambda: there.calls.count("GetTask") > 1, what="a second look")
            task["status"] = {"state": "TASK_STATE_COMPLETED", "message": {
                "messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "done there"}]}}
            sent.join()
            self.completed(self.ended)
            self.assertEqual(len(there.sends), 1)

    def test_a_peer_that_shows_the_answered_question_at_first_does_not_ask_again(self):
        def said(state, text):
            return {"state": f"TASK_STATE_{state}", "timestamp": "2026-01-01T00:00:00Z",
                    "message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]}}
        task = {"id": "t", "contextId": "c", "status": said("INPUT_REQUIRED", "which one?")}
        with Elsewhere([{"task": task}], streaming=False, task_now=task) as there:
            asked = self.run_with(there)
            self.assertEqual(asked["status"]["state"], "input-required")
            sent = threading.Thread(
                target=lambda: setattr(self, "ended", self.front.send("this", asked["id"], agent="far")))
            sent.start()
            harness.wait_for(lambda: there.calls.count("GetTask") > 1 or not sent.is_alive(), what="a second look")
            task["status"] = said("COMPLETED", "done there")
            sent.join()
            self.completed(self.ended)
            self.assertEqual(len(there.sends), 2)

    def test_a_peer_that_recognises_repetitions_gets_one_whatever_the_card_says(self):
        safe = {"uri": client.EXTENSION, "params": {"idempotentSend": True}}
        with Elsewhere(["drop", DONE], extensions=[safe]) as there:
            self.completed(self.run_with(there, on_unknown="fail"))
            self.assertEqual(there.sends[0], there.sends[1])

    def test_the_caller_decides_whether_a_message_is_sent_again(self):
        for answer, sends in (("resend", 2), ("no, leave it", 1)):
            with self.subTest(answer=answer), Elsewhere(["drop", DONE]) as there:
                asked = self.run_with(there, on_unknown="ask")
                self.assertEqual(asked["status"]["state"], "input-required")
                ended = self.front.send(answer, asked["id"], agent="far")
                self.completed(ended) if sends == 2 else self.failed(ended)
                self.assertEqual(len(there.sends), sends)
                self.assertEqual(there.sends[0], there.sends[-1], "the first message, not the answer")

    def test_a_peer_that_is_busy_gets_the_message_when_it_says(self):
        with Elsewhere(["busy", DONE]) as there:
            self.completed(self.run_with(there, on_unknown="fail"))
            self.assertEqual(len(there.sends), 2)

    def test_a_stream_that_breaks_off_is_no_end(self):
        with Elsewhere([[TASK], [TASK], DONE]) as there:
            self.completed(self.run_with(there))
            self.assertIn("SubscribeToTask", there.calls)

    def test_a_peer_that_forgets_its_task_each_time_fails_it(self):
        with Elsewhere([[TASK]]) as there:
            self.assertEqual(self.failed(self.run_with(there)), "the remote agent repeatedly forgot its tasks")

    def test_nonsense_fails_the_task_with_a_reason(self):
        # unit/protocol/a2a/client/client_dialect_test.cpp has more nonsense.
        for nonsense in rings.some((["{"], [{"what": {}}], ["[]"], [{"task": 7}],
                                    [{"statusUpdate": {"status": "x"}}]), 2):
            with self.subTest(nonsense=nonsense), Elsewhere([nonsense]) as there:
                self.assertTrue(self.failed(self.run_with(there)).startswith("the remote agent"))

    def test_more_than_a_task_may_hold_fails_it(self):
        piece = {"artifactUpdate": {"taskId": "t", "contextId": "c", "append": True, "artifact": {
            "artifactId": "a", "name": "a", "parts": [{"text": "x" * 1_000_000}]}}}
        with Elsewhere([[TASK] + [piece] * 8 + DONE[1:]]) as there:
            front = Front({"far": {"url": there.site.url}}, [there.origin])
            self.addCleanup(front.discard)
            front.config["limits"] = {"task_max": 6 << 20}
            front.start()
            self.assertIn("6291456 bytes", self.failed(front.send("hello", client.new_id(), agent="far")))

    def test_a_private_address_is_refused_unless_its_origin_is_allowed(self):
        with Elsewhere([DONE]) as there:
            self.assertIn("cannot be reached", self.failed(self.run_with(there, origins=[])))
            self.assertEqual((there.headers, there.sends), ([], []))
            self.assertIn(f"the setting outbound.origins does not allow {there.origin}", self.front.log_text())

    def test_the_log_says_which_server_is_not_there(self):
        with Elsewhere([DONE]) as there:
            origin = there.origin
            front = Front({"far": {"url": there.site.url, "turn_timeout_s": 2}}, [origin])
            self.addCleanup(front.discard)
        front.start()
        self.failed(front.send("hello", client.new_id(), agent="far"))
        said = f"cannot fetch the agent card from {origin}"
        harness.wait_for(lambda: said in front.log_text(), what="the log")
        self.assertEqual(front.log_text().count(said), 1)

    def test_the_card_cannot_send_baton_to_another_private_address(self):
        with Elsewhere([DONE]) as inner, Elsewhere([DONE], far_interface=inner.site.url) as there:
            self.failed(self.run_with(there))
            self.assertEqual(inner.headers, [])

    def test_an_origin_that_is_open_for_one_card_is_not_open_for_anothers_answer(self):
        with Elsewhere([DONE]) as inner, Elsewhere([DONE], far_interface=inner.site.url) as there:
            both = [there.origin, inner.origin]
            self.failed(self.run_with(there, both))
            self.assertEqual(inner.headers, [])
            self.assertIn("does not (a2a.endpoint)", self.front.log_text())
            self.completed(self.run_with(there, both, a2a={"endpoint": inner.site.url}))

    def test_the_secret_goes_to_the_cards_origin_and_no_other(self):
        with Elsewhere([DONE]) as inner, Elsewhere([DONE], far_interface=inner.site.url) as there:
            front = Front({"far": {"url": there.site.url, "auth": {"type": "bearer", "secret_file": "token"}}},
                          [])
            front.config["webhooks"] = {"allow_private": True}
            self.addCleanup(front.discard)
            (front.agents_folder / "far" / "token").write_text("s3cret\n", encoding="utf-8")
            front.start()
            self.completed(front.send("hello", client.new_id(), agent="far"))
            self.assertTrue(all(one.get("Authorization") == "Bearer s3cret" for one in there.headers))
            self.assertTrue(inner.headers)
            self.assertNotIn("s3cret", json.dumps(inner.headers) + front.log_text())

    def test_an_api_key_goes_into_its_header(self):
        with Elsewhere([DONE]) as there:
            front = Front({"far": {"url": there.site.url, "auth": {"type": "api_key", "header": "X-Key",
                                                                   "secret_file": "key"}}}, [there.origin])
            self.addCleanup(front.discard)
            (front.agents_folder / "far" / "key").write_text("k1", encoding="utf-8")
            front.start()
            self.completed(front.send("hello", client.new_id(), agent="far"))
            self.assertEqual({one.get("X-Key") for one in there.headers}, {"k1"})
            self.assertNotIn("Authorization", json.dumps(there.headers))

    def test_a_request_that_comes_back_after_a_restart_is_refused(self):
        with Elsewhere([DONE]) as there:
            self.completed(self.run_with(there))
            self.front.kill()
            self.front.start()
            hops = there.requests[-1]["params"]["metadata"][client.EXTENSION]["hops"]
            message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hello"}]}
            params = {"message": message, "metadata": {client.EXTENSION: {"hops": hops}}}
            # Not checked against the schema of the tasks era, whose errors have a text without a reason.
            answer = self.front.http("POST", "/agents/far/", self.front.envelope("SendMessage", params, 1),
                                     {"A2A-Version": "1.0", "A2A-Extensions": client.EXTENSION,
                                      "Content-Type": "application/json"})
            self.assertIn("the request loops", json.dumps(answer.body["error"]))
            self.assertEqual(len(there.sends), 1)

    def test_without_its_secret_the_agent_says_so_and_calls_nobody(self):
        with Elsewhere([DONE]) as there:
            said = self.failed(self.run_with(there, auth={"type": "bearer", "secret_env": "NOT_SET_ANYWHERE"}))
            self.assertEqual(said, "the credentials for the remote agent are missing")
            self.assertEqual(there.headers, [])


if __name__ == "__main__":
    harness.unittest.main()
