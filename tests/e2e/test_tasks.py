"""tasks/send, tasks/get and tasks/cancel, as a caller sees them."""
import base64
import json

import client
import harness
import rings


class Tasks(harness.ServerCase):
    AGENTS = ["mirror", "phone", "slow", "stubborn", "cat", "chief", "joke"]

    def told(self, task):
        """Returns the turn line and the parts that the mirror agent received."""
        artifacts = {artifact["name"]: artifact for artifact in task["artifacts"]}
        return artifacts["told"]["parts"][0]["data"], artifacts["parts"]["parts"]

    def test_send_without_session_makes_one(self):
        first, second = self.server.send("a"), self.server.send("b")
        self.assertTrue(first["sessionId"])
        self.assertNotEqual(first["sessionId"], second["sessionId"])

    def test_session_of_the_client_is_kept(self):
        session = client.new_id()
        self.assertEqual(self.server.send("a", sessionId=session)["sessionId"], session)

    def test_agent_hears_what_was_said_before_in_the_session(self):
        session = client.new_id()
        self.server.send("my name is Ada", sessionId=session)
        told, _ = self.told(self.server.send("who am I", sessionId=session))
        said = [part.get("text") for message in told["history"] for part in message["parts"]]
        self.assertIn("my name is Ada", said)
        self.assertNotIn("who am I", said)
        self.assertEqual(told["task"]["contextId"], session)

    def test_all_part_kinds_reach_the_agent_and_come_back(self):
        raw = base64.b64encode(bytes(range(256))).decode()
        parts = [
            {"type": "text", "text": "ünï \u0000\u001f \"quoted\" \\ 𝄞 线", "metadata": {"n": 1}},
            {"type": "file", "file": {"name": "a.bin", "mimeType": "application/octet-stream", "bytes": raw}},
            {"type": "file", "file": {"name": "b.txt", "mimeType": "text/plain", "uri": "https://example.com/b?x=1#y"}},
            {"type": "data", "data": {"deep": [{"a": [1, 2.5, -3e10, None, True, "x"]}], "": {}},
             "metadata": {"k": [1]}},
        ]
        task = self.server.call("tasks/send", {"id": client.new_id(), "message": {"role": "user", "parts": parts}})
        _, returned = self.told(task)
        self.assertEqual(returned, parts)
        history = self.server.get(task["id"], historyLength=5)["history"]
        self.assertEqual(history[0], {"role": "user", "parts": parts})

    def test_metadata_is_kept_byte_for_byte(self):
        # Order, spacing, number texts and escapes belong to the caller.
        metadata = b'{ "z" : 1.0,"a":1e2 , "big":123456789012345678901234567890,\t"s":"\\u00e9\\/", "n":{"b":[ ]} }'
        data = b'{"y" : 0.10,"x":[1 ,2]}'
        task = client.new_id().encode()
        sent = self.server.post(
            b'{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":"' + task + b'","metadata":' + metadata +
            b',"message":{"role":"user","metadata":' + metadata + b',"parts":[{"type":"data","data":' + data +
            b',"metadata":' + metadata + b'}]}}}', method="tasks/send")
        self.assertEqual(sent.body["result"]["status"]["state"], "completed")
        self.assertIn(metadata, sent.raw)
        got = self.server.rpc("tasks/get", {"id": task.decode(), "historyLength": 1})
        self.assertEqual(got.raw.count(metadata), 3, "the task's, the message's, its part's")
        self.assertIn(b'"data":' + data, got.raw)

    def test_request_metadata_reaches_the_agent(self):
        told, _ = self.told(self.server.send("x", metadata={"delay": 5}))
        self.assertEqual(told["task"]["metadata"], {"delay": 5})
        self.assertEqual(told["metadata"], {"delay": 5})

    def test_history_length(self):
        task = client.new_id()
        for word in ("one", "two", "three"):
            self.server.send(word, task)
        texts = lambda **how: [client.text_of(m) for m in self.server.get(task, **how).get("history", [])
                               if m["role"] == "user"]
        self.assertEqual(texts(), [])
        self.assertEqual(texts(historyLength=0), [])
        self.assertEqual(texts(historyLength=1), ["three"])
        self.assertEqual(texts(historyLength=2), ["two", "three"])
        self.assertEqual(texts(historyLength=100), ["one", "two", "three"])
        answer = self.server.rpc("tasks/get", {"id": task, "historyLength": -1})
        self.assert_error(answer, -32602)
        sent = self.server.send("four", task, historyLength=2)
        self.assertEqual([client.text_of(m) for m in sent["history"]][-1], "four")

    def test_a_finished_task_is_reopened_by_a_send(self):
        task = client.new_id()
        first = self.server.send("one", task)
        self.assertEqual(first["status"]["state"], "completed")
        again = self.server.send("two", task, sessionId=first["sessionId"])
        self.assertEqual(again["status"]["state"], "completed")
        self.assertEqual(again["sessionId"], first["sessionId"])
        told, parts = self.told(again)
        self.assertEqual(parts, [{"type": "text", "text": "two"}])

    def test_send_with_another_session_than_the_tasks_stays_in_the_tasks(self):
        task = client.new_id()
        first = self.server.send("one", task)
        again = self.server.send("two", task, sessionId=client.new_id())
        self.assertEqual(again["sessionId"], first["sessionId"])

    def test_input_required_then_answer(self):
        task = client.new_id()
        asked = self.server.send("为我购买一部新手机", task, agent="phone")
        self.assertEqual(asked["status"]["state"], "input-required")
        self.assertEqual(self.server.get(task, agent="phone")["status"], asked["status"])
        done = self.server.send("iPhone", task, agent="phone")
        self.assertEqual(done["status"]["state"], "completed")
        self.assertIn("iPhone", client.text_of(done["artifacts"][0]))

    def test_tasks_of_two_agents_are_apart(self):
        task = client.new_id()
        self.server.send("x", task, agent="mirror")
        self.assert_error(self.server.rpc("tasks/get", {"id": task}, agent="joke"), -32001)
        self.assertEqual(client.text_of(self.server.send("x", task, agent="joke")["artifacts"][0])[:2], "为什")

    def test_strange_but_legal_task_ids(self):
        for task in ("1", "a:b:c", "with space", "../../etc", "线-𝄞", "x" * 200, "tasks/1", "%41", "'; DROP TABLE"):
            with self.subTest(task):
                self.assertEqual(self.server.send("x", task)["id"], task)
                self.assertEqual(self.server.get(task)["id"], task)

    def test_unknown_task(self):
        for method, more in (("tasks/get", {}), ("tasks/cancel", {}), ("tasks/resubscribe", {}),
                             ("tasks/pushNotification/get", {})):
            with self.subTest(method):
                self.assert_error(self.server.rpc(method, {"id": client.new_id(), **more}), -32001)

    def test_cancel_of_a_running_task(self):
        task = client.new_id()
        stream = self.server.stream("x", task, agent="slow")
        stream.until(lambda block: block.status and block.status.get("message"))
        canceled = self.server.call("tasks/cancel", {"id": task}, agent="slow")
        self.assertEqual(canceled["status"]["state"], "canceled")
        last = stream.rest()[-1]
        self.assertEqual((last.status["state"], last.final), ("canceled", True))
        self.assertEqual(self.server.get(task, agent="slow")["status"]["state"], "canceled")

    def test_cancel_of_an_agent_that_does_not_listen_is_forced(self):
        task = client.new_id()
        stream = self.server.stream("x", task, agent="stubborn")
        stream.until(lambda block: block.status and block.status.get("message"))
        canceled = self.server.call("tasks/cancel", {"id": task}, agent="stubborn")
        self.assertIn(canceled["status"]["state"], ("canceled", "working"))
        self.assertEqual(stream.rest()[-1].status["state"], "canceled")
        self.wait_state(task, "canceled", agent="stubborn")

    def test_cancel_of_an_ended_task_is_refused(self):
        task = self.server.send("x")["id"]
        self.assert_error(self.server.rpc("tasks/cancel", {"id": task}), -32002)
        self.assertEqual(self.server.get(task)["status"]["state"], "completed")

    def test_plain_program_as_agent(self):
        done = self.server.send("line one\nline two ünï", agent="cat")
        self.assertEqual(done["status"]["state"], "completed")
        self.assertEqual(len(done["artifacts"]), 1)
        self.assertEqual(done["artifacts"][0]["parts"], [{"type": "text", "text": "line one\nline two ünï\n"}])

    def test_delegation_to_another_agent(self):
        done = self.server.send("joke", agent="chief")
        self.assertEqual(done["status"]["state"], "completed", done["status"])
        report = done["artifacts"][0]["parts"][0]["data"]
        self.assertEqual(report["id"], "d1")
        self.assertEqual(report["task"]["status"]["state"], "TASK_STATE_COMPLETED")
        self.assertIn("为什么鸡要过马路", json.dumps(report["task"], ensure_ascii=False))

    def test_cancel_goes_down_to_the_delegated_task(self):
        task = client.new_id()
        stream = self.server.stream("slow", task, agent="chief")
        stream.until(lambda block: block.status and block.status["state"] == "working")
        self.server.call("tasks/cancel", {"id": task}, agent="chief")
        self.assertEqual(stream.rest()[-1].status["state"], "canceled")

    def test_delegation_to_an_unknown_agent_fails_with_a_reason(self):
        done = self.server.send("nobody", agent="chief")
        self.assertEqual(done["status"]["state"], "failed")
        self.assertIn("no child", client.text_of(done["status"]["message"]))

    def test_output_modes_that_do_not_meet_are_refused(self):
        answer = self.server.rpc("tasks/send", {"id": client.new_id(), "message": client.text_message("x"),
                                                "acceptedOutputModes": ["video/mp4"]})
        self.assert_error(answer, -32005)


@rings.everything("unit/protocol/a2a/v0_1_test.cpp: the shapes of hand-written clients are read")
class Tolerance(harness.ServerCase):
    """Shapes that never matched the schema but that early clients send."""
    AGENTS = ["mirror"]

    def parts_of(self, message, **params):
        task = self.server.call("tasks/send", {"id": client.new_id(), "message": message, **params})
        return [a for a in task["artifacts"] if a["name"] == "parts"][0]["parts"]

    def test_message_content_under_data(self):
        parts = [{"type": "text", "text": "x"}]
        self.assertEqual(self.parts_of({"role": "user", "data": parts}), parts)

    def test_file_payload_under_data(self):
        self.assertEqual(
            self.parts_of({"role": "user", "parts": [{"type": "file", "file": {"mimeType": "a/b", "data": "aGk="}}]}),
            [{"type": "file", "file": {"mimeType": "a/b", "bytes": "aGk="}}])

    def test_parts_without_type_or_with_kind(self):
        self.assertEqual(
            self.parts_of({"role": "user", "parts": [{"text": "a"}, {"kind": "text", "text": "b"},
                                                     {"data": {"c": 1}}, {"file": {"uri": "https://e.example/"}}]}),
            [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, {"type": "data", "data": {"c": 1}},
             {"type": "file", "file": {"uri": "https://e.example/"}}])

    def test_schemes_as_a_bare_string(self):
        task = client.new_id()
        self.server.send("x", task, pushNotification={"url": "https://example.com/h",
                                                      "authentication": {"schemes": "Bearer"}})
        config = self.server.call("tasks/pushNotification/get", {"id": task})["pushNotificationConfig"]
        self.assertEqual(config["authentication"]["schemes"], ["Bearer"])

    def test_explicit_nulls_count_as_absent(self):
        self.assertEqual(
            self.parts_of({"role": "user", "metadata": None, "parts": [{"type": "text", "text": "x", "metadata": None}]},
                          sessionId=None, historyLength=None, metadata=None, pushNotification=None),
            [{"type": "text", "text": "x"}])


class Callers(harness.ServerCase):
    """Another caller's task is not found, on every path."""
    AGENTS = ["phone", "slow"]
    CONFIG = {"tokens": [{"caller": "ann", "token": "secret-of-ann"}, {"caller": "bob", "token": "secret-of-bob"},
                         {"caller": "cy", "token": "secret-of-cy", "agents": ["slow"]}]}
    ANN, BOB, CY = "secret-of-ann", "secret-of-bob", "secret-of-cy"

    def test_no_or_a_wrong_token_is_refused(self):
        for token in (None, "wrong", "secret-of-an", "secret-of-annn"):
            with self.subTest(token):
                answer = self.server.rpc("tasks/get", {"id": "x"}, token=token)
                self.assertEqual(answer.status, 401)
                self.assertIn("Bearer", answer.headers["WWW-Authenticate"])

    def test_card_needs_no_token_and_says_that_calls_do(self):
        answer = self.server.http("GET", "/.well-known/agent.json")
        self.assertEqual(answer.status, 200)
        schemes = [scheme.lower() for scheme in answer.body["authentication"]["schemes"]]
        self.assertIn("bearer", schemes)

    def test_another_callers_task_is_not_found_on_every_path(self):
        task = client.new_id()
        asked = self.server.send("为我购买一部新手机", task, token=self.ANN)
        self.assertEqual(asked["status"]["state"], "input-required")
        config = {"url": "https://example.com/hook"}
        for method, params in (
                ("tasks/get", {"id": task}), ("tasks/cancel", {"id": task}), ("tasks/resubscribe", {"id": task}),
                ("tasks/pushNotification/get", {"id": task}),
                ("tasks/resubscribe", {"id": task, "metadata": {"lastEventId": 1}})):
            with self.subTest(method):
                self.assert_error(self.server.rpc(method, params, token=self.BOB), -32001)
        for path in ("", "/events"):
            with self.subTest(f"the conversation{path}"):
                of_it = f"/agents/phone/conversations/{asked['sessionId']}{path}"
                for token, status in ((self.BOB, 404), (self.CY, 403)):
                    self.assertEqual(self.server.http("GET", of_it, headers={"Authorization": f"Bearer {token}"}).status,
                                     status)
        for method, path in (("GET", ""), ("GET", "?stream=true"), ("POST", "/cancel"), ("DELETE", ""), ("GET", "/input_items")):
            with self.subTest(f"OpenAI's {method} {path}"):
                for token in (self.BOB, self.CY):
                    answer = self.server.http(method, f"/v1/responses/resp_{task}{path}",
                                              headers={"Authorization": f"Bearer {token}"})
                    self.assertEqual((answer.status, answer.body["error"]["code"]), (404, "not_found"))
        with self.subTest("OpenAI's previous_response_id"):
            body = json.dumps({"model": "phone", "input": "iPhone", "previous_response_id": f"resp_{task}"})
            answer = self.server.http("POST", "/v1/responses", body.encode(),
                                      {"Authorization": f"Bearer {self.BOB}", "Content-Type": "application/json"})
            self.assertEqual((answer.status, answer.body["error"]["code"]), (404, "previous_response_not_found"))
        self.server.rpc("tasks/pushNotification/set", {"id": task, "pushNotificationConfig": config}, token=self.BOB)
        with self.subTest("a send to it is a new task of one's own"):
            bobs = self.server.send("为我购买一部新手机", task, token=self.BOB)
            self.assertEqual(bobs["status"]["state"], "input-required")
            self.assertNotEqual(bobs["sessionId"], asked["sessionId"])
            self.server.call("tasks/cancel", {"id": task}, token=self.BOB)
        mine = self.server.get(task, token=self.ANN, historyLength=10)
        self.assertEqual(mine["status"], asked["status"])
        self.assertEqual(mine["sessionId"], asked["sessionId"])
        answer = self.server.rpc("tasks/pushNotification/get", {"id": task}, token=self.ANN)
        self.assertIn("error", answer.body, "Bob's webhook is not Ann's")

    def test_another_callers_session_tells_nothing(self):
        session = client.new_id()
        self.server.send("为我购买一部新手机", sessionId=session, token=self.ANN)
        task = client.new_id()
        self.server.send("other words", task, sessionId=session, token=self.BOB)
        done = self.server.send("iPhone", task, token=self.BOB)
        self.assertEqual(done["status"]["state"], "failed", "the phone shop looks for Ann's words in the history")

    def test_a_token_may_be_good_for_some_agents_only(self):
        allowed = self.server.rpc("tasks/get", {"id": "x"}, agent="slow", token=self.CY)
        self.assert_error(allowed, -32001)
        refused = self.server.rpc("tasks/get", {"id": "x"}, agent="phone", token=self.CY)
        self.assertIn(refused.status, (403, 404))

    def test_tokens_are_never_logged(self):
        self.server.send("为我购买一部新手机", token=self.ANN)
        log = self.server.log_text() + "\n".join(self.server.lines)
        self.assertNotIn(self.ANN, log)
