"""Things that look alike in several versions of A2A but differ."""
import json

import a2a_case
import client
import rings
import validation
import webhooks


class LookAlikes(a2a_case.A2aCase):
    def test_shared_method_names(self):
        """Without a version, one answer fits 0.1, 0.2 and 0.3; with a version, the answer is in its shape alone."""
        for version, shape in ((None, "dual"), ("0.1", "0.1"), ("0.2", "0.2"), ("0.3", "0.3"), ("", "dual")):
            with self.subTest(version):
                task = self.g3.send("count 2").id
                headers = {} if version is None else {"A2A-Version": version}
                got = self.post("tasks/get", {"id": task, "historyLength": 5}, headers=headers).body["result"]
                validation.check_object(shape, "Task", got)
                self.assertEqual(len(got["history"]), 1)
                self.assertEqual([len(artifact["parts"]) for artifact in got["artifacts"]], [2, 1])
                long = self.g3.begin_long().id
                stream = self.server.open_http(
                    "POST", "/agents/player/", self.server.envelope("tasks/resubscribe", {"id": long}, 1),
                    {"Content-Type": "application/json", **headers}, lambda frame: None)
                canceled = self.post("tasks/cancel", {"id": long}, headers=headers).body["result"]
                validation.check_object(shape, "Task", canceled)
                first, *later = [block.result for block in stream.rest() if block.frame]
                validation.check_object(shape, "FirstItem" if shape in ("0.1", "dual") else "Task", first)
                for update in later:
                    validation.check_object(shape, "StatusUpdate", update)
                self.assertTrue(later[-1]["final"])

    @rings.everything("unit/protocol/a2a: v0_3_rest and traps_before_v1_test.cpp")
    def test_type_or_kind_or_neither(self):
        parts = [{"type": "text", "text": "a"}, {"kind": "text", "text": "b"}, {"text": "c"},
                 {"type": "data", "data": {"d": 1}}, {"kind": "file", "file": {"bytes": "ZQ==", "name": "e"}},
                 {"file": {"uri": "http://example.com/f"}}]
        for caller in (self.g1, self.g2, self.g3):
            with self.subTest(caller.name):
                got = caller.send("", parts=[{"text": "mirror"}, *parts])
                mirrored = got.raw["artifacts"][0]["parts"]
                self.assertEqual([part["text"] for part in mirrored[:3]], ["a", "b", "c"])
                self.assertEqual(mirrored[3]["data"], {"d": 1})
                self.assertEqual(mirrored[4]["file"], {"bytes": "ZQ==", "name": "e"})
                self.assertEqual(mirrored[5]["file"], {"uri": "http://example.com/f"})
        for member in ("parts", "content"):  # REST takes the JSON-RPC shape too
            with self.subTest("0.3 REST", member=member):
                message = {"messageId": client.new_id(), "role": "user", "kind": "message",
                           member: [{"kind": "text", "text": "mirror"}, *parts]}
                answer = self.rest("POST", "/v1/message:send", {"message": message})
                self.assertEqual(answer.status, 200, answer.raw)
                validation.check_object("0.3 REST", "Sent", answer.body)
                mirrored = answer.body["task"]["artifacts"][0]["parts"]
                self.assertEqual([part.get("text") for part in mirrored[:3]], ["a", "b", "c"])
                self.assertEqual(mirrored[3]["data"], {"data": {"d": 1}})
                self.assertEqual(mirrored[4]["file"], {"fileWithBytes": "ZQ==", "name": "e"})

    @rings.everything("unit/server/a2a/rest_test.cpp")
    def test_v1_in_a_path_is_the_old_protocol(self):
        old = self.rest("POST", "/v1/message:send", {"message": self.g3_rest.message("end")})
        validation.check_object("0.3 REST", "Sent", old.body)
        new = self.rest("POST", "/message:send", {"message": self.g4_rest.message("end")})
        validation.check_object("1.0", "Sent", new.body)
        path = f"/tasks/{old.body['task']['id']}"
        self.assertIn("content", self.rest("GET", "/v1" + path).body["history"][0])
        self.assertIn("parts", self.rest("GET", path).body["history"][0])

    @rings.everything("unit/protocol/a2a/v0_3_rest_test.cpp")
    def test_cancelled_and_canceled(self):
        words = {"0.3 REST": "TASK_STATE_CANCELLED", "1.0": "TASK_STATE_CANCELED"}
        for caller in self.all:
            with self.subTest(caller.name):
                task = caller.begin_long().id
                self.assertEqual(caller.cancel(task).raw["status"]["state"], words.get(caller.shape, "canceled"))
                self.assertEqual(caller.get(task).raw["status"]["state"], words.get(caller.shape, "canceled"))

    @rings.everything("unit/protocol/a2a: v0_3_rest, v1_0 and traps_before_v1_test.cpp")
    def test_blocking_is_return_immediately_turned_round(self):
        for caller in (self.g2, self.g3, self.g3_rest, self.g4, self.g4_rest):
            with self.subTest(caller.name):
                self.assertEqual(caller.send("end", wait=True).state, "completed")
                early = caller.send("wait", wait=False)
                self.assertIn(early.state, ("submitted", "working"))
                caller.cancel(early.id)
        # Each ignores the other's names as unknown members.
        self.assertEqual(self.g4.send("end", configuration={"blocking": False}).state, "completed")
        self.assertEqual(self.g3.send("end", configuration={"returnImmediately": True}).state, "completed")

    @rings.everything("unit/protocol/a2a: v1_0 and traps_before_v1_test.cpp")
    def test_several_schemes(self):
        task = self.g3.begin("ask").id
        config = {"id": "both", "url": "http://127.0.0.1:65535/", "authentication": {
            "schemes": ["Custom", "Bearer"], "credentials": "c"}}
        self.g3.set_push(task, config)
        for caller in (self.g2, self.g3, self.g3_rest):
            with self.subTest(caller.name):
                got = caller.get_push(task, "both")["pushNotificationConfig"]["authentication"]
                self.assertEqual(got["schemes"], ["Custom", "Bearer"])
        for caller in (self.g4, self.g4_rest):
            with self.subTest(caller.name):
                self.assertEqual(caller.get_push(task, "both")["authentication"]["scheme"], "Custom")
        self.g4.set_push(task, {"id": "one", "url": "http://127.0.0.1:65535/", "authentication": {"scheme": "Bearer"}})
        got = self.g3.get_push(task, "one")["pushNotificationConfig"]["authentication"]
        self.assertEqual(got["schemes"], ["Bearer"])
        self.g4.cancel(task)

    @rings.everything("unit/protocol/a2a: v0_3_rest, v1_0 and traps_before_v1_test.cpp")
    def test_flags_of_chunks_and_identity(self):
        for caller in self.all:
            with self.subTest(caller.name):
                items = [item.raw for item in caller.stream("count 3").rest() if item.kind == "artifact"]
                self.assertEqual(len(items), 4)
                holders = [item["artifact"] for item in items] if caller is self.g1 else items
                self.assertEqual([bool(holder.get("append")) for holder in holders], [False, False, True, True])
                self.assertEqual([bool(holder.get("lastChunk")) for holder in holders], [False, True, False, True])
                if caller is self.g1:
                    self.assertEqual([item["artifact"].get("index", 0) for item in items], [0, 1, 0, 0])
                else:
                    names = [item["artifact"]["artifactId"] for item in items]
                    self.assertEqual((names[0], names[0]), (names[2], names[3]))
                    self.assertNotEqual(names[0], names[1])

    def test_numbers_with_more_than_one_meaning(self):
        """-32006 to -32009 have their meaning of 0.3 and later, or are not used."""
        self.assertEqual(self.post("agent/getAuthenticatedExtendedCard", None, version="0.3").body["error"]["code"],
                         -32007)
        reopened = self.g1.send("end", task=self.g1.send("end").id)
        self.assertEqual(reopened.state, "completed", "-32009 is not InvalidTaskState")
        self.assertEqual(self.post("tasks/send", {}, version="7.0").body["error"]["code"], -32009)

    def test_both_card_paths(self):
        for prefix in ("", "/agents/player"):
            old, new = (self.server.http("GET", f"{prefix}/.well-known/{name}.json")
                        for name in ("agent", "agent-card"))
            self.assertEqual((old.status, new.status), (200, 200))
            self.assertEqual(old.body, new.body)

    @rings.everything("unit/protocol/a2a: v1_0 and traps_before_v1_test.cpp")
    def test_id_of_a_task_or_of_a_config(self):
        task = self.g3.begin("ask").id
        config = {"url": "http://127.0.0.1:65535/", "id": "c"}
        self.assert_refused(-32602, self.g3.call, "set_push", {"id": task, "pushNotificationConfig": config})
        self.g3.call("set_push", {"taskId": task, "pushNotificationConfig": config})
        self.assertEqual(self.g3.call("get_push", {"id": task, "pushNotificationConfigId": "c"})["taskId"], task)
        self.assertEqual(self.g4.call("get_push", {"taskId": task, "id": "c"})["id"], "c")
        self.assert_refused(-32001, self.g4.call, "get_push", {"taskId": "c", "id": task})
        self.g4.cancel(task)

    @rings.everything("unit/protocol/a2a: v0_3_rest, v1_0 and traps_before_v1_test.cpp")
    def test_lists_of_configs(self):
        task = self.g3.begin("ask").id
        self.g3.set_push(task, {"url": "http://127.0.0.1:65535/", "id": "one"})
        self.assertIsInstance(self.g3.call("list_push", {"id": task}), list)
        for answer in (self.rest("GET", f"/v1/tasks/{task}/pushNotificationConfigs"),
                       self.rest("GET", f"/tasks/{task}/pushNotificationConfigs", version="1.0")):
            self.assertEqual(len(answer.body["configs"]), 1)
        self.assertEqual(len(self.g4.call("list_push", {"taskId": task})["configs"]), 1)
        self.g4.cancel(task)

    @rings.everything("unit/protocol/a2a: v0_3_rest, v1_0 and traps_before_v1_test.cpp")
    def test_bare_and_wrapped_results(self):
        for caller in (self.g2, self.g3):
            with self.subTest(caller.name):
                self.assertEqual(caller.call("send", caller.params("end"))["kind"], "task")
        self.assertEqual(list(self.g4.call("send", self.g4.params("end"))), ["task"])
        for caller, path in ((self.g3_rest, "/v1/message:send"), (self.g4_rest, "/message:send")):
            self.assertEqual(list(caller.call("POST", path, caller.params("end"))), ["task"])
        for caller in self.all:
            with self.subTest(caller.name):
                self.assertIn("status", caller.get(caller.send("end").id).raw)

    @rings.everything("unit/protocol/a2a/v0_3_rest_test.cpp")
    def test_rest_of_0_3_has_json_of_its_own(self):
        parts = [{"text": "mirror"}, {"data": {"data": {"deep": [1]}}}, {"file": {"fileWithBytes": "aGk="}}]
        task = self.g3_rest.send("", parts=parts)
        self.assertEqual(task.raw["artifacts"][0]["parts"], parts[1:])
        self.assertEqual(task.raw["history"][0]["content"], parts)
        self.assertEqual(self.g4.get(task.id).raw["artifacts"][0]["parts"], [{"data": {"deep": [1]}}, {"raw": "aGk="}])
        self.assertEqual([part.get("data") for part in self.g3.get(task.id).raw["artifacts"][0]["parts"]],
                         [{"deep": [1]}, None])

    def test_every_push_request_has_its_tenant(self):
        """The member's number only matters to gRPC; the member itself to every binding."""
        for kind in (self.g4, self.g4_rest):
            with self.subTest(kind.name):
                inside = type(kind)(self.server, tenant="north")
                task = inside.begin("ask").id
                config = inside.push_id(inside.set_push(task, {"url": "http://127.0.0.1:65535/"}))
                self.assertEqual(inside.get_push(task, config)["id"], config)
                self.assertEqual(len(inside.list_push(task)), 1)
                for act in (lambda: kind.list_push(task), lambda: kind.get_push(task, config),
                            lambda: kind.delete_push(task, config),
                            lambda: kind.set_push(task, {"url": "http://127.0.0.1:65535/"})):
                    self.assert_refused(-32001, act)
                inside.delete_push(task, config)
                self.assertEqual(inside.list_push(task), [])
                inside.cancel(task)

    def test_auth_required_ends_a_wait_and_input_required_a_stream_too(self):
        for caller in (self.g2, self.g3, self.g3_rest, self.g4, self.g4_rest):
            with self.subTest(caller.name):
                task = caller.send("auth who are you?")
                self.assertEqual((task.state, task.said), ("auth-required", ["who are you?"]))
                self.assertEqual(caller.answer(task.id, "me").state, "completed")
                self.assertEqual(caller.stream("ask").rest()[-1].state, "input-required")
                following = caller.stream("auth")
                waiting = following.until("auth-required")
                self.assertFalse(waiting.final)
                caller.answer(following.shown()[0].raw["id"], "me")
                self.assertEqual(following.rest()[-1].state, "completed")
        last = self.g1.stream("auth").rest()[-1]
        self.assertEqual((last.state, last.final), ("input-required", True))

    def test_text_is_text_plain(self):
        for modes in (["text"], ["text/plain"], ["image/png", "text"], ["application/json"], [],
                      ["Text/Plain; charset=utf-8"], ["text/*"]):
            for caller in (self.g3, self.g3_rest, self.g4, self.g4_rest):
                with self.subTest(caller.name):
                    self.assertEqual(caller.send("end", wait=True, configuration={"acceptedOutputModes": modes}).state,
                                     "completed")
        for caller in (self.g3, self.g3_rest, self.g4, self.g4_rest):
            with self.subTest(caller.name):
                self.assert_refused(-32005, caller.send, "end", configuration={"acceptedOutputModes": ["image/png"]})
        params = {**self.g1.params("end"), "acceptedOutputModes": ["text"]}
        self.assertEqual(self.g1.call("send", params)["status"]["state"], "completed")


@rings.everything("unit/protocol/card/views_test.cpp and unit/protocol/a2a, where each version's shapes have a context")
class FilledIn(a2a_case.A2aCase):
    @classmethod
    def change_cards(cls):
        cls.change_card("player", provider={"organization": "Us", "url": "https://us.example"})

    def test_what_was_optional_is_filled_in(self):
        """Every generation accepts the card, and every task has a context, even if its caller named none."""
        card = self.server.http("GET", "/.well-known/agent.json").body
        for file in ("a2a-tasks-era", "a2a-v0.2.0", "a2a-v0.2.6", "a2a-v0.3.0"):
            validation.check("AgentCard", card, file)
        self.assertTrue(card["provider"]["url"])
        self.assertTrue(all(skill["description"] and skill["tags"] for skill in card["skills"]))
        for caller in self.all:
            with self.subTest(caller.name):
                self.assertTrue(caller.send("end").context)
        with webhooks.Receiver() as receiver:
            self.g1.send("end", push={"url": receiver.url()})
            receiver.wait_state("completed")
            self.assertTrue(json.loads(receiver.of()[-1].raw)["sessionId"])
