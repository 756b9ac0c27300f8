"""Which version of A2A a request is answered in."""
import json

import a2a_case
import client
import rings
import validation

AUTHENTICATED = "agent/getAuthenticatedExtendedCard"


class Negotiation(a2a_case.A2aCase):
    def send(self, text="end"):
        return {"message": self.g4.message(text)}

    @rings.everything("unit/server/a2a/cards_test.cpp; one case of it is in test_a2a_cards")
    def test_superset_card_unless_1_0_is_asked_for(self):
        for name in ("agent", "agent-card"):
            path = f"/agents/player/.well-known/{name}.json"
            for headers in ({}, {"A2A-Version": "0.3"}, {"A2A-Version": ""}):
                card = self.server.http("GET", path, headers=headers)
                self.assertEqual(card.status, 200)
                for file in ("a2a-tasks-era", "a2a-v0.2.0", "a2a-v0.2.6", "a2a-v0.3.0"):
                    validation.check("AgentCard", card.body, file)
                self.assertTrue(card.body["supportedInterfaces"])
                self.assertIn("a2a-version", card.headers["Vary"].lower())
            pure = self.server.http("GET", path, headers={"A2A-Version": "1.0"})
            validation.check_object("1.0", "Card", pure.body)
            self.assertIn("a2a-version", pure.headers["Vary"].lower())
            self.assertNotEqual(pure.headers["ETag"], card.headers["ETag"])

    def test_pascal_case_without_a_version_is_refused(self):
        for headers in ({}, {"A2A-Version": ""}, {"A2A-Version": "0.3"}):
            answer = self.post("SendMessage", self.send(), headers=headers)
            self.assertEqual((answer.status, answer.body["error"]["code"]), (200, -32009), answer.raw)
            self.assertEqual(answer.body["error"]["data"][0]["reason"], "VERSION_NOT_SUPPORTED")

    @rings.everything("unit/server/a2a/negotiation_test.cpp")
    def test_patch_is_ignored_and_the_rest_compared(self):
        for version in ("1.0", "1.0.0", "1.0.1", " 1.0 "):
            answer = self.post("SendMessage", self.send(), version=version)
            self.assertIn("result", answer.body, version)
        for version in ("0.3", "0.3.0", "0.2", "0.2.6"):
            answer = self.post("message/send", self.g3.params("end"), version=version)
            self.assertIn("result", answer.body, version)
        self.assertIn("result", self.post("tasks/send", self.g1.params("end"), version="0.1.0").body)
        for version in ("0.9", "1.7", "7.0", "1", "v1.0", "0.4", "1.0, 0.3", "x", "2.0"):
            for method, params in (("SendMessage", self.send()), ("message/send", self.g3.params("end")),
                                   ("tasks/get", {"id": "x"})):
                with self.subTest(version=version, method=method):
                    answer = self.post(method, params, version=version)
                    self.assertEqual((answer.status, answer.body["error"]["code"]), (200, -32009), answer.raw)
            for path in ("/v1/tasks/x", "/tasks/x"):
                answer = self.rest("GET", path, version=version)
                self.assertEqual(answer.status, 400, answer.raw)

    def test_absent_history_length_without_a_version_is_what_the_client_that_made_the_task_means(self):
        for maker, shown in ((self.g1, 0), (self.g2, 2), (self.g3, 2), (self.g4, 2)):
            with self.subTest(maker.name):
                task = maker.begin("ask what?").id
                history = lambda raw: len(raw.get("history", []))
                self.assertEqual(history(self.g3.get(task).raw), shown)
                self.assertEqual(history(self.g3.get(task, history=1).raw), 1)
                self.assertEqual(history(self.g3.get(task, history=0).raw), 0)
                following = self.g3.subscribe(task)
                self.assertEqual(history(following.first().raw), shown)
                following.close()
                self.assertEqual(history(self.post("tasks/get", {"id": task}, version="0.3").body["result"]), 2)
                self.assertEqual(history(self.post("tasks/get", {"id": task}, version="0.1").body["result"]), 0)
                self.assertEqual(history(self.g3.cancel(task).raw), shown)

    @rings.everything("unit/protocol/a2a: v1_0, v0_3_rest and traps_before_v1_test.cpp")
    def test_empty_parts_are_refused(self):
        for caller in (self.g2, self.g3, self.g3_rest, self.g4, self.g4_rest):
            with self.subTest(caller.name):
                empty = caller.params("x")
                for member in ("parts", "content"):
                    if member in empty["message"]:
                        empty["message"][member] = []
                if caller.binding == "JSON-RPC":
                    self.assert_refused(-32602, caller.call, "send", empty)
                else:
                    path = "/v1/message:send" if caller is self.g3_rest else "/message:send"
                    self.assert_refused(-32602, caller.call, "POST", path, empty, status=400)

    def test_version_as_a_query_parameter(self):
        task = self.g4.send("end").id
        for path, headers, status in (
                (f"/tasks/{task}?A2A-Version=1.0", {}, 200), (f"/tasks/{task}", {}, 200),
                (f"/tasks/{task}?A2A-Version=0.3", {}, 400), (f"/v1/tasks/{task}?A2A-Version=0.3", {}, 200),
                (f"/v1/tasks/{task}?A2A-Version=1.0", {}, 400),
                (f"/tasks/{task}?A2A-Version=7.0", {"A2A-Version": "1.0"}, 200),
                (f"/tasks/{task}?A2A-Version=1.0", {"A2A-Version": "7.0"}, 400)):
            with self.subTest(path=path, headers=headers):
                answer = self.rest("GET", path, headers=headers)
                self.assertEqual(answer.status, status, answer.raw)

    def test_old_method_with_a_new_header(self):
        for method, params in (("message/send", self.g3.params("end")), ("tasks/get", {"id": "x"}),
                               (AUTHENTICATED, None), ("tasks/send", self.g1.params("end"))):
            error = self.post(method, params, version="1.0").body["error"]
            self.assertEqual(error["code"], -32009)
            self.assertNotIsInstance(error.get("data"), list, "the shape of the method's generation")
        for method, version in (("tasks/send", "0.3"), ("message/send", "0.1"), ("GetTask", "0.2"),
                                (AUTHENTICATED, "0.2")):
            self.assertEqual(self.post(method, {"id": "x"}, version=version).body["error"]["code"], -32009)
        self.assertEqual(self.post("tasks/get", {"id": "x"}, version="0.3").body["error"]["code"], -32001)

    def test_errors_of_json_rpc_are_200(self):
        for answer in (self.post("GetTask", {"id": "x"}, version="1.0"), self.post("nothing", {}),
                       self.post("SendMessage", {}, version="1.0"), self.post("GetTask", {}, version="9.9"),
                       self.post("message/send", {}), self.post("tasks/get", {"id": "x"})):
            self.assertEqual(answer.status, 200, answer.raw)
            self.assertIn("error", answer.body)
        for version in ({}, {"A2A-Version": "1.0"}):
            answer = self.server.http("POST", "/agents/player/", b"{", {"Content-Type": "application/json", **version})
            self.assertEqual((answer.status, answer.body["error"]["code"], answer.body["id"]), (400, -32700, None))

    def test_v1_is_no_tenant(self):
        answer = self.rest("POST", "/v1/message:send", self.send(), version="1.0")
        self.assertEqual(answer.status, 400, answer.raw)
        self.assertEqual(self.g3_rest.code_of(answer), -32009, "the path decides")
        answer = self.post("SendMessage", {**self.send(), "tenant": "v1"}, version="1.0")
        self.assertEqual(answer.body.get("error", {}).get("code"), -32602, answer.raw)

    def test_ids_with_colons(self):
        for name in ("a:b:c", "x:cancel", "y:subscribe", "z:", ":z", "urn:uuid:1:2"):
            task = self.g1.begin("ask", task=name + client.new_id()[:8] + ":end").id
            for other in (self.g3_rest, self.g4_rest):
                with self.subTest(task=task, caller=other.name):
                    self.assertEqual(other.get(task).id, task)
                    prefix = "/v1" if other is self.g3_rest else ""
                    raw = self.rest("GET", f"{prefix}/tasks/{task}")
                    self.assertEqual((raw.status, (raw.body or {}).get("id")), (200, task), "as it is, not encoded")
                    self.assertEqual(other.subscribe(task).first().raw["id"], task)
            answer = self.rest("POST", f"/tasks/{task}:cancel", {}, version="1.0")
            self.assertEqual((answer.status, (answer.body or {}).get("id")), (200, task), answer.raw)
        answer = self.rest("POST", "/tasks/a:b:frobnicate", {}, version="1.0")
        self.assertEqual(answer.status, 405, "no verb: a task of that name, which is read by GET")


class Trusting(a2a_case.A2aCase):
    CONFIG = {"a2a": {"trust_method_names": True}}

    def test_a_setting_trusts_the_method_name(self):
        answer = self.post("SendMessage", {"message": self.g4.message("end")})
        validation.check_object("1.0", "Sent", answer.body["result"])
        answer = self.post("SendMessage", {"message": self.g4.message("end")}, version="0.3")
        self.assertEqual(answer.body["error"]["code"], -32009, "a version that contradicts is refused all the same")


class NoSkills(a2a_case.A2aCase):
    @classmethod
    def change_cards(cls):
        cls.change_card("player", skills=[])

    def test_empty_skills_are_fine(self):
        card = self.server.http("GET", "/.well-known/agent-card.json", headers={"A2A-Version": "1.0"})
        self.assertEqual((card.status, json.loads(card.raw).get("skills")), (200, []), card.raw)
