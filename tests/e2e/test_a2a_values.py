"""The meaning and the encoding of values, in every version of A2A."""
import json

import a2a_case
import client
import generations
import rings
import shapes
import webhooks

# Numbers beyond the range of a double, and spellings that ProtoJSON would not keep.
NUMBERS = '{"big": 9007199254740993, "one": 1.0, "deep": [1e400, -0.0]}'


class Values(a2a_case.A2aCase):
    @rings.everything("unit/protocol/a2a/v1_0_test.cpp")
    def test_nothing_that_only_the_summary_names(self):
        """shapes.py knows none of createdAt, lastModified, configId, taskStatusUpdate, index."""
        for caller in (self.g4, self.g4_rest):
            with self.subTest(caller.name):
                task = caller.send("count 2")
                self.assertLessEqual(set(task.raw), {"id", "contextId", "status", "artifacts", "history", "metadata"})
                for item in caller.stream("count 1").rest():
                    self.assertIn(item.kind, ("task", "status", "artifact"))
                config = caller.set_push(caller.begin("ask").id, {"url": "http://127.0.0.1:65535/"})
                self.assertLessEqual(set(config), {"id", "taskId", "url", "token", "authentication", "tenant"})

    @rings.everything("unit/protocol/a2a/errors_test.cpp")
    def test_rest_errors_are_google_rpc_status(self):
        answer = self.rest("GET", "/tasks/unknown", version="1.0")
        self.assertNotEqual(answer.headers.get_content_type(), "application/problem+json")
        self.assertEqual(answer.body, {"error": {
            "code": 404, "status": "NOT_FOUND", "message": answer.body["error"]["message"], "details": [{
                "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND",
                "domain": "a2a-protocol.org", "metadata": {"taskId": "unknown"}}]}})

    def test_send_waits_by_default(self):
        for caller in self.all:
            with self.subTest(caller.name):
                self.assertEqual(caller.send("count 3").state, "completed")

    @rings.everything("unit/protocol/a2a: v1_0, v0_3_rest, traps_before_v1 and dual_test.cpp; one case of it is in "
                      "test_a2a_negotiation")
    def test_history_length_of_nought(self):
        for caller in self.all:
            with self.subTest(caller.name):
                task = caller.begin("ask").id
                caller.answer(task, "ask")
                self.assertEqual(caller.answer(task, "third").state, "completed")
                length = {what: len(caller.get(task, history=what).raw.get("history", []))
                          for what in ("absent", 0, 1, 2, 100)}
                everything = length[100]
                self.assertGreaterEqual(everything, 3)
                self.assertEqual((length[1], length[2]), (1, 2))
                shared = caller in (self.g1, self.g2, self.g3)  # tasks/get without a version: as 0.1 has it? see below
                if not shared:
                    self.assertEqual(length["absent"], everything)
                    self.assertEqual(length[0], everything if caller is self.g3_rest else 0)
                    self.assertEqual("history" in caller.get(task, history=0).raw, caller is self.g3_rest)
        for version, absent in (("0.1", 0), ("0.2", everything), ("0.3", everything)):
            for params, expected in (({}, absent), ({"historyLength": 0}, 0), ({"historyLength": 2}, 2),
                                     ({"historyLength": None}, absent)):
                with self.subTest(version=version, params=params):
                    got = self.post("tasks/get", {"id": task, **params}, version=version)
                    self.assertEqual(len(got.body["result"].get("history", [])), expected)

    @rings.everything("unit/protocol/a2a: v1_0, v0_3_rest and traps_before_v1_test.cpp; one case of it is in "
                      "test_a2a_negotiation")
    def test_history_length_of_a_send(self):
        for caller in self.all:
            with self.subTest(caller.name):
                first = caller.begin("ask").id
                for what, old, rest, new in (("absent", 3, 3, 3), (0, 0, 3, 0), (1, 1, 1, 1)):
                    task = caller.begin("ask").id
                    got = caller.answer(task, "done", history=what).raw.get("history", [])
                    expected = rest if caller is self.g3_rest else new if caller.shape == "1.0" else old
                    if caller is self.g1 and what == "absent":
                        expected = 0
                    self.assertEqual(len(got), expected, what)
                caller.cancel(first)

    @rings.everything("unit/protocol/a2a: v0_1, v1_0, v0_3_rest and traps_before_v1_test.cpp")
    def test_negative_history_length_is_refused(self):
        for caller in self.all:
            with self.subTest(caller.name):
                self.assert_refused(-32602, caller.get, caller.send("end").id, history=-1)

    @rings.everything("unit/protocol/a2a: v0_3_rest and traps_before_v1_test.cpp")
    def test_absent_blocking_in_proto_json(self):
        """In 0.3 REST, a request without a configuration waits; one whose configuration has no `blocking` does not."""
        self.assertEqual(self.g3_rest.send("end").state, "completed")
        for configuration, waits in (({}, False), ({"historyLength": 1}, False), ({"blocking": False}, False),
                                     ({"blocking": True}, True)):
            with self.subTest(configuration):
                text = "end" if waits else "wait"
                body = {"message": self.g3_rest.message(text), "configuration": configuration}
                got = generations.Task(self.g3_rest.call("POST", "/v1/message:send", body)["task"])
                self.assertEqual(got.state in generations.STOPPED, waits)
        for caller in (self.g2, self.g3, self.g4, self.g4_rest):
            with self.subTest(caller.name):
                self.assertEqual(caller.send("end", configuration={"acceptedOutputModes": []}).state, "completed")

    def test_config_without_its_id(self):
        for caller in (self.g2, self.g3):
            with self.subTest(caller.name):
                task = caller.begin("ask").id
                caller.set_push(task, {"url": "http://127.0.0.1:65535/first", "id": "first"})
                self.assertEqual(caller.push_id(caller.get_push(task)), "first", "the only one")
                caller.set_push(task, {"url": "http://127.0.0.1:65535/default"})
                self.assertEqual(caller.push_id(caller.get_push(task)), task, "the one with the task's id")

    def test_missing_config(self):
        for caller in (self.g2, self.g3, self.g3_rest, self.g4, self.g4_rest):
            with self.subTest(caller.name):
                task = caller.begin("ask").id
                self.assert_refused(-32001, caller.get_push, task, "nothing")
                caller.delete_push(task, "nothing")
                self.assert_refused(-32001, caller.delete_push, "no-task", "nothing")
                self.assert_refused(-32001, caller.list_push, "no-task")

    def test_send_to_a_task_that_has_ended(self):
        for end in ("end", "fail", "reject"):
            for caller in (self.g2, self.g3, self.g3_rest, self.g4, self.g4_rest):
                with self.subTest(caller.name):
                    task = self.g4.send(end).id
                    code = -32004 if caller.shape == "1.0" else -32602
                    self.assert_refused(code, caller.send, "more", task=task)
                    self.assert_refused(code, caller.stream, "more", task=task)
        for caller in (self.g4, self.g4_rest):
            with self.subTest(caller.name):
                self.assert_refused(-32004, caller.subscribe, caller.send("end").id)

    @rings.everything("unit/protocol/rpc/json_rpc_test.cpp")
    def test_wrong_envelopes(self):
        for envelope in ({"jsonrpc": "1.0"}, {"method": 5}, {"method": None}, {"id": {}}, {"jsonrpc": None}):
            for version in (None, "1.0"):
                with self.subTest(envelope=envelope, version=version):
                    body = {"jsonrpc": "2.0", "id": 7, "method": "GetTask", "params": {"id": "x"}, **envelope}
                    headers = {"Content-Type": "application/json"} | ({"A2A-Version": version} if version else {})
                    answer = self.server.http("POST", "/agents/player/", json.dumps(body).encode(), headers)
                    self.assertEqual((answer.status, answer.body["error"]["code"]), (200, -32600), answer.raw)
        batch = self.server.http("POST", "/agents/player/", b"[]", {"Content-Type": "application/json"})
        self.assertEqual(batch.body["error"]["code"], -32600)

    @rings.everything("unit/protocol/a2a: v1_0 and traps_before_v1_test.cpp")
    def test_unknown_members_are_ignored(self):
        for caller in self.all:
            with self.subTest(caller.name):
                params = caller.params("end")
                params["whatever"] = params["message"]["unheardOf"] = {"deep": [None]}
                name = "content" if "content" in params["message"] else "parts"
                params["message"][name][0]["unknown"] = 1
                if caller.binding == "JSON-RPC":
                    caller.call("send", params)
                else:
                    caller.call("POST", "/v1/message:send" if caller is self.g3_rest else "/message:send", params)

    @rings.everything("unit/protocol/a2a/v1_0_test.cpp")
    def test_snake_case_and_numbers_are_taken_in_proto_json(self):
        for caller in (self.g4, self.g4_rest):
            with self.subTest(caller.name):
                message = {"message_id": client.new_id(), "role": 1, "parts": [{"text": "mirror"},
                           {"text": "x", "media_type": "text/markdown"}], "context_id": "snake"}
                params = {"message": message, "configuration": {"return_immediately": False, "history_length": 1}}
                operation = ("send",) if caller is self.g4 else ("POST", "/message:send")
                got = caller.call(*operation, params)
                self.assertEqual(got["task"]["contextId"], "snake")
                self.assertEqual(got["task"]["artifacts"][0]["parts"], [{"text": "x", "mediaType": "text/markdown"}])

    @rings.everything("unit/protocol/a2a: v0_1, v0_3_rest, v1_0 and traps_before_v1_test.cpp")
    def test_data_that_is_no_object(self):
        new = [["a", 1, None], None, 7, {"an": "object"}]
        for caller in self.all:
            with self.subTest(caller.name):
                parts = caller.send("data").raw["artifacts"][0]["parts"]
                data = [part["data"] for part in parts]
                if caller.shape == "1.0":
                    self.assertEqual(data, new)
                    continue
                data = [part["data"] for part in data] if caller is self.g3_rest else data
                self.assertEqual(data, [{"value": value} for value in new[:3]] + new[3:])
                if caller is not self.g1:  # 0.1 has no such marker
                    self.assertEqual([part.get("metadata", {}).get("data_part_compat") for part in parts],
                                     [True, True, True, None])
        # The reverse: unwrapped only if there is the marker and no other member.
        for caller in (self.g3,):
            with self.subTest(caller.name):
                marked = {"kind": "data", "data": {"value": 5}, "metadata": {"data_part_compat": True}}
                bare = {"kind": "data", "data": {"value": 5}}
                task = caller.send("", parts=[{"kind": "text", "text": "mirror"}, marked, bare])
                self.assertEqual([part["data"] for part in self.g4.get(task.id).raw["artifacts"][0]["parts"]],
                                 [5, {"value": 5}])

    def test_numbers_are_kept_as_they_came(self):
        for caller in self.all:
            with self.subTest(caller.name):
                data = {"data": {"data": "NUMBERS"}} if caller is self.g3_rest else {"data": "NUMBERS"}
                tag = {self.g1: {"type": "data"}, self.g2: {"kind": "data"}, self.g3: {"kind": "data"}}.get(caller, {})
                params = caller.params("", parts=[caller.part("end"), {**tag, **data}], history=1, metadata="NUMBERS")
                path = {self.g3_rest: "/v1/message:send", self.g4_rest: "/message:send"}.get(caller, "")
                if caller.binding == "JSON-RPC":
                    params = {"jsonrpc": "2.0", "id": 7, "method": caller.METHODS["send"], "params": params}
                body = json.dumps(params).replace('"NUMBERS"', NUMBERS).encode()
                answer = self.server.http("POST", caller.url + path, body, caller.headers)
                self.assertEqual(answer.status, 200, answer.raw)
                for number in (b"9007199254740993", b'"one": 1.0', b"1e400", b"-0.0"):
                    self.assertEqual(answer.raw.count(number), 2, "in the history and in the task's metadata")

    @rings.everything("unit/protocol/a2a: v0_3_rest, v1_0 and traps_before_v1_test.cpp")
    def test_base64_of_every_kind(self):
        """ProtoJSON accepts URL-safe and unpadded text; answers use the standard alphabet with padding."""
        for given in ("-_8", "+/8=", "-_8=", "+/8"):
            for caller in (self.g4, self.g4_rest):
                with self.subTest(caller.name):
                    task = caller.send("", parts=[{"text": "mirror"}, {"raw": given}])
                    self.assertEqual(task.raw["artifacts"][0]["parts"], [{"raw": "+/8="}])
            task = self.g3_rest.send("", parts=[{"text": "mirror"}, {"file": {"fileWithBytes": given}}])
            self.assertEqual(task.raw["artifacts"][0]["parts"], [{"file": {"fileWithBytes": "+/8="}}])
        self.assert_refused(-32602, self.g4.send, "", parts=[{"raw": "no base64!"}])

    @rings.everything("unit/base/rfc3339_test.cpp and unit/protocol/a2a, where each version's shapes have a time")
    def test_times_have_a_zone(self):
        for caller in self.all:
            with self.subTest(caller.name):
                stamp = caller.send("end").raw["status"]["timestamp"]
                self.assertTrue(shapes.TIME.fullmatch(stamp), stamp)
        for caller in (self.g4, self.g4_rest):
            with self.subTest(caller.name):
                task = caller.send("end")
                stamp = task.raw["status"]["timestamp"]
                for since in (stamp.removesuffix("Z"), stamp):
                    listed = caller.list(contextId=task.context, statusTimestampAfter=since)
                    self.assertEqual(listed["totalSize"], 1, f"{since} is read as UTC")

    def test_the_task_of_the_path_wins(self):
        task, other = self.g4_rest.begin("ask").id, self.g4_rest.begin("ask").id
        made = self.g4_rest.set_push(task, {"url": "http://127.0.0.1:65535/", "taskId": other})
        self.assertEqual(made["taskId"], task)
        self.assertEqual(self.g4_rest.list_push(other), [])
        made = self.g3_rest.call("POST", f"/v1/tasks/{task}/pushNotificationConfigs", {
            "parent": f"tasks/{other}", "configId": "c", "config": {"name": f"tasks/{other}/pushNotificationConfigs/c",
            "pushNotificationConfig": {"url": "http://127.0.0.1:65535/"}}})
        self.assertEqual(made["name"], f"tasks/{task}/pushNotificationConfigs/c")
        self.assertEqual(self.g4_rest.list_push(other), [])


class Webhooks(a2a_case.A2aCase):
    def test_each_webhook_gets_its_generations_body(self):
        with webhooks.Receiver() as receiver:
            task = self.g3.begin("ask").id
            others = [caller for caller in self.all if caller is not self.g1]
            for number, caller in enumerate(others):
                caller.set_push(task, caller.webhook(receiver.url(f"/{number}"), id=f"config-{number}"))
            self.g3.answer(task, "done")
            for number, caller in enumerate(others):
                with self.subTest(caller.name):
                    receiver.wait_state("completed", "TASK_STATE_COMPLETED", path=f"/{number}")
                    got = receiver.of(f"/{number}")
                    for delivery in got:
                        caller.check_webhook(delivery.task)
                    types = {delivery.headers.get_content_type() for delivery in got}
                    self.assertEqual(types, {"application/a2a+json" if caller.shape == "1.0" else "application/json"})
                    artifacts = [delivery for delivery in got if "artifactUpdate" in delivery.task]
                    self.assertEqual(bool(artifacts), caller.shape == "1.0", "every event in 1.0, else each state")
                    if caller.shape != "1.0":
                        self.assertEqual(list(generations.texts_in(got[-1].task["artifacts"])), ["answered: done"])

    def test_token_and_credentials_both(self):
        with webhooks.Receiver() as receiver:
            for number, caller in enumerate(self.all):
                with self.subTest(caller.name):
                    scheme = {"scheme": "Bearer"} if caller.shape == "1.0" else {"schemes": ["Bearer", "Basic"]}
                    caller.send("end", push=caller.webhook(receiver.url(f"/{number}"), token="tok",
                                                          authentication={**scheme, "credentials": "cre.den"}))
                    receiver.wait_state("completed", "TASK_STATE_COMPLETED", path=f"/{number}")
                    for delivery in receiver.of(f"/{number}"):
                        self.assertEqual(delivery.headers["Authorization"], "Bearer cre.den")
                        self.assertEqual(delivery.headers["X-A2A-Notification-Token"], "tok")
        self.assertNotIn("cre.den", self.server.log_text())
