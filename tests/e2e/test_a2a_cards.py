"""Cards of every generation, their caching, and the extended card."""
import json

import a2a_case
import generation_list
import client
import rings
import validation

OLD_SCHEMAS = ("a2a-tasks-era", "a2a-v0.2.0", "a2a-v0.2.6", "a2a-v0.3.0")
SIGNATURE = {"protected": "eyJhbGciOiJub25lIn0", "signature": "AAAA"}


class Cards(a2a_case.A2aCase):
    @classmethod
    def change_cards(cls):
        cls.change_card("player", signatures=[SIGNATURE], description="Spielt, was man ihm sagt: größer als groß.",
                        iconUrl="https://us.example/icon.png")

    def card(self, version=None, path="/agents/player/.well-known/agent-card.json", **headers):
        headers |= {"A2A-Version": version} if version else {}
        answer = self.server.http("GET", path, headers=headers)
        self.assertEqual(answer.status, 200, answer.raw)
        return answer

    def test_nothing_empty_where_a_signature_would_count_it(self):
        """Only required members may be empty."""
        card = self.card("1.0").body
        for name, value in card.items():
            self.assertNotIn(value, ("", [], {}), name)

    def test_utf_8_as_it_is(self):
        for version in (None, "1.0"):
            self.assertIn("größer".encode(), self.card(version).raw)

    def test_pure_card_for_1_0_and_superset_for_all_others(self):
        pure, superset = self.card("1.0").body, self.card().body
        validation.check_object("1.0", "Card", pure)
        for name in ("url", "protocolVersion", "preferredTransport", "additionalInterfaces", "security"):
            self.assertNotIn(name, pure)
        for file in OLD_SCHEMAS:
            validation.check("AgentCard", superset, file)
        self.assertEqual({name: superset[name] for name in pure if name not in ("securitySchemes", "capabilities")},
                         {name: pure[name] for name in pure if name not in ("securitySchemes", "capabilities")})

    def test_signatures_over_another_text_are_dropped(self):
        for version in (None, "1.0", "0.3"):
            self.assertNotIn("signatures", self.card(version).body)
        self.assertNotIn("signatures", self.rest("GET", "/v1/card").body)

    @rings.everything("unit/protocol/card/views_test.cpp")
    def test_no_flag_for_what_is_not_there(self):
        superset = self.card().body
        self.assertNotIn("supportsAuthenticatedExtendedCard", superset)
        self.assertFalse(self.card("1.0").body["capabilities"].get("extendedAgentCard", False))

    @rings.everything("unit/protocol/card/views_test.cpp")
    def test_every_binding_once_for_each_version(self):
        base = f"http://127.0.0.1:{self.server.port}/agents/player"
        card = self.card().body
        listed = [(entry["protocolBinding"], entry["protocolVersion"], entry["url"])
                  for entry in card["supportedInterfaces"] if entry["protocolBinding"] != "GRPC"]
        for version in ("1.0", "0.3"):
            self.assertIn(("JSONRPC", version, base + "/"), listed)
            self.assertIn(("HTTP+JSON", version, base), listed)
        self.assertEqual(listed[0][1], "1.0", "the newest first")
        self.assertEqual((card["url"], card["preferredTransport"], card["protocolVersion"]),
                         (base + "/", "JSONRPC", "0.3.0"))
        claims = {(entry["transport"], entry["url"]) for entry in card["additionalInterfaces"]}
        self.assertLessEqual({("JSONRPC", base + "/"), ("HTTP+JSON", base)}, claims)
        urls = [url for _, url in claims]
        self.assertEqual(len(urls), len(set(urls)), "one URL does not claim two transports")

    def test_urls_of_the_card_answer(self):
        for entry in self.card("1.0").body["supportedInterfaces"]:
            path = entry["url"].split(str(self.server.port), 1)[-1]
            if entry["protocolBinding"] == "JSONRPC":
                method = "GetTask" if entry["protocolVersion"] == "1.0" else "tasks/get"
                body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"id": "x"}}
                answer = self.server.http("POST", path, json.dumps(body).encode(), {
                    "Content-Type": "application/json", "A2A-Version": entry["protocolVersion"]})
                self.assertEqual(answer.body["error"]["code"], -32001)
            elif entry["protocolBinding"] == "HTTP+JSON":
                prefix = "/v1" if entry["protocolVersion"] == "0.3" else ""
                self.assertEqual(self.server.http("GET", f"{path}{prefix}/tasks/x").status, 404)

    def test_root_and_agent_urls(self):
        at_root = self.card(path="/.well-known/agent-card.json").body
        self.assertEqual(at_root["name"], self.card().body["name"])
        for prefix in ("", "/agents/player"):
            for path, version, params in (("/v1/message:send", None, self.g3_rest.params("end")),
                                          ("/message:send", "1.0", self.g4_rest.params("end"))):
                answer = self.server.http("POST", prefix + path, json.dumps(params).encode(),
                                          {"Content-Type": "application/json"} |
                                          ({"A2A-Version": version} if version else {}))
                self.assertEqual(answer.status, 200, answer.raw)

    @rings.everything("unit/server/a2a/cards_test.cpp and unit/server/conditional_test.cpp")
    def test_caching(self):
        tags = set()
        for version in (None, "1.0"):
            first = self.card(version)
            self.assertIn("max-age", first.headers["Cache-Control"])
            self.assertTrue(first.headers["Last-Modified"])
            tag = first.headers["ETag"]
            tags.add(tag)
            headers = {"A2A-Version": version} if version else {}
            path = "/agents/player/.well-known/agent-card.json"
            for given in (tag, f'"other", {tag}', "*", "W/" + tag.removeprefix("W/")):
                again = self.server.http("GET", path, headers={"If-None-Match": given, **headers})
                self.assertEqual((again.status, again.raw, again.headers["ETag"]), (304, b"", tag), given)
            self.assertEqual(self.card(version, **{"If-None-Match": '"other"'}).raw, first.raw)
        self.assertEqual(len(tags), 2)

    @rings.everything("unit/server/a2a/cards_test.cpp")
    def test_no_extended_card(self):
        self.assertEqual(self.post("agent/getAuthenticatedExtendedCard", None).body["error"]["code"], -32007)
        self.assert_refused(-32004, self.g4.extended_card)
        self.assert_refused(-32004, self.g4_rest.extended_card)
        self.assertEqual(self.server.http("GET", "/agents/player/agent/authenticatedExtendedCard").status, 404)


class ExtendedCards(a2a_case.A2aCase):
    OPTIONS = [*a2a_case.A2aCase.OPTIONS, *generation_list.OPTIONS]
    CONFIG = {"tokens": [{"caller": "ann", "token": "secret-of-ann"}], "allow_anonymous": True}

    @classmethod
    def change_cards(cls):
        secret = {"id": "secret", "name": "Secret", "description": "For those who said who they are.",
                  "tags": ["hidden"]}
        cls.change_card("player", baton={"extended": {"description": "The whole of it.", "skills": [secret]}})

    @rings.everything("unit/server/a2a/cards_test.cpp and unit/protocol/card/views_test.cpp")
    def test_it_is_announced(self):
        for version, flag in (("1.0", lambda card: card["capabilities"]["extendedAgentCard"]),
                              (None, lambda card: card["supportsAuthenticatedExtendedCard"])):
            answer = self.server.http("GET", "/agents/player/.well-known/agent-card.json",
                                      headers={"A2A-Version": version} if version else {})
            self.assertTrue(flag(answer.body))
            self.assertNotIn(b"Secret", answer.raw)

    def test_who_says_who_they_are_gets_it(self):
        ann = {"Authorization": "Bearer secret-of-ann"}
        for caller in (type(self.g4)(self.server, headers=ann), type(self.g4_rest)(self.server, headers=ann)):
            card = caller.extended_card()
            self.assertEqual(card["description"], "The whole of it.")
            self.assertEqual([skill["id"] for skill in card["skills"]], ["player", "secret"])
        old = self.post("agent/getAuthenticatedExtendedCard", None, headers=ann).body["result"]
        plain = self.server.http("GET", "/agents/player/agent/authenticatedExtendedCard", headers=ann).body
        for card in (old, plain):
            validation.check("AgentCard", card, "a2a-v0.3.0")
            self.assertIn("secret", [skill["id"] for skill in card["skills"]])
        rest = self.rest("GET", "/v1/card", headers=ann)
        self.assertEqual(rest.status, 200)
        self.assertIn(b"Secret", rest.raw)

    def test_nobody_else_does(self):
        for answer in (self.post("agent/getAuthenticatedExtendedCard", None),
                       self.post("GetExtendedAgentCard", None, version="1.0"),
                       self.rest("GET", "/extendedAgentCard", version="1.0"), self.rest("GET", "/v1/card"),
                       self.server.http("GET", "/agents/player/agent/authenticatedExtendedCard")):
            self.assertEqual(answer.status, 401, answer.raw)
            self.assertIn("WWW-Authenticate", answer.headers)
            self.assertNotIn(b"Secret", answer.raw)

    def test_0_3_says_that_a_token_is_missing_in_the_words_of_its_binding(self):
        rpc = self.post("agent/getAuthenticatedExtendedCard", None).body
        self.assertEqual((rpc["jsonrpc"], rpc["id"], rpc["error"]["code"]), ("2.0", 7, 401))
        self.assertEqual(rpc["error"]["message"], "Authentication required")
        rest = self.rest("GET", "/v1/card").body
        self.assertEqual((rest["code"], rest["message"]), (401, "Authentication required"))
        for kind in generation_list.GENERATIONS:
            if kind.name == "0.3 gRPC":
                self.assertEqual(kind(self.server).ask("GET", "/v1/card").status, "UNAUTHENTICATED")

    def test_a_wrong_token_is_refused_in_the_words_of_the_binding(self):
        headers = {"Authorization": "Bearer wrong"}
        for version in (None, "1.0"):
            answer = self.post("GetTask", {"id": "x"}, version, headers)
            self.assertEqual((answer.status, answer.body["error"]["code"]), (401, 401), answer.raw)
            self.assertEqual(isinstance(answer.body["error"]["data"], list), version == "1.0")


class FirstGeneration(a2a_case.A2aCase):
    """Numbers and ids in the forms of early clients and servers."""

    @classmethod
    def change_cards(cls):
        cls.change_card("player", capabilities={"streaming": False})

    def test_unsupported_operation_has_one_name(self):
        for caller in (self.g1, self.g2, self.g3):
            answer = self.assert_refused(-32004, caller.stream, "end")
            self.assertEqual(answer.body["error"]["message"], client.ERROR_TEXTS[-32004])
            self.assertEqual(answer.body["error"]["message"], "This operation is not supported")

    def test_no_streams_where_the_card_says_so(self):
        task = self.g4.begin("ask").id
        for caller in (self.g3_rest, self.g4, self.g4_rest):
            with self.subTest(caller.name):
                self.assert_refused(-32004, caller.stream, "end")
                self.assert_refused(-32004, caller.subscribe, task)
        card = self.server.http("GET", "/.well-known/agent-card.json", headers={"A2A-Version": "1.0"}).body
        self.assertFalse(card["capabilities"].get("streaming", False))

    def test_a_request_without_id_is_answered(self):
        body = {"jsonrpc": "2.0", "method": "tasks/send", "params": self.g1.params("end")}
        answer = self.server.http("POST", "/agents/player/", json.dumps(body).encode(),
                                  {"Content-Type": "application/json"})
        self.assertEqual((answer.status, answer.body["id"]), (200, None))
        self.assertEqual(answer.body["result"]["status"]["state"], "completed")
