"""Agent cards and the operator's URLs."""
import harness
import validation


PATHS = ("/.well-known/agent-card.json", "/.well-known/agent.json")
SHIPPED = ("echo", "tools", "approval", "table-report", "analyst", "quarterly", "assistant")


class ShippedCards(harness.ServerCase):
    CONFIG = {"hosts": ["agents.example", "other.example"], "cors": {"origins": ["http://page.example"]}}

    def card(self, path, headers=None):
        """Returns the card for clients without a version: valid as 0.1, 0.2 and 0.3 at once."""
        answer = self.server.http("GET", path, headers=headers or {})
        self.assertEqual(answer.status, 200, path)
        self.assertTrue(answer.headers.get_content_type() == "application/json")
        for file in validation.FILES["dual"]:
            validation.check("AgentCard", answer.body, file)
        return answer.body

    def test_both_well_known_paths_have_the_card(self):
        for prefix in ("", "/agents/tools"):
            cards = [self.card(prefix + path) for path in PATHS]
            self.assertEqual(cards[0], cards[1])

    def test_clients_of_1_0_get_a_card_without_the_past(self):
        for name in SHIPPED:
            with self.subTest(name):
                path = f"/agents/{name}" + PATHS[0]
                pure = self.server.http("GET", path, headers={"A2A-Version": "1.0"})
                validation.check_object("1.0", "Card", pure.body)
                by_query = self.server.http("GET", path + "?A2A-Version=1.0")
                self.assertEqual(by_query.raw, pure.raw)
                self.assertEqual(pure.body["supportedInterfaces"], self.card(path)["supportedInterfaces"])
                self.assertIn("A2A-Version", pure.headers["Vary"])

    def test_head_has_the_headers_alone(self):
        whole = self.server.http("GET", PATHS[0])
        head = self.server.http("HEAD", PATHS[0])
        self.assertEqual((head.status, head.raw), (200, b""))
        for name in ("Content-Type", "Content-Length", "ETag", "Last-Modified", "Cache-Control"):
            self.assertEqual(head.headers[name], whole.headers[name], name)

    def test_card_that_has_not_changed_is_not_sent_again(self):
        first = self.server.http("GET", PATHS[0])
        for headers in ({"If-None-Match": first.headers["ETag"]},
                        {"If-Modified-Since": first.headers["Last-Modified"]}):
            again = self.server.http("GET", PATHS[0], headers=headers)
            self.assertEqual((again.status, again.raw), (304, b""), headers)
        elsewhere = {"If-None-Match": first.headers["ETag"], "Host": "other.example"}
        self.assertEqual(self.server.http("GET", PATHS[0], headers=elsewhere).status, 200)

    def test_default_card_at_the_root(self):
        card = self.card("/.well-known/agent.json")
        self.assertEqual(card["name"], "Echo")
        self.assertTrue(card["url"].startswith(f"http://127.0.0.1:{self.server.port}"))
        self.assertEqual(card["capabilities"]["streaming"], True)
        self.assertEqual(card["capabilities"]["pushNotifications"], True)

    def test_every_shipped_agent_has_a_card_with_a_url_that_answers(self):
        for name in SHIPPED:
            with self.subTest(name):
                card = self.card(f"/agents/{name}/.well-known/agent.json")
                self.assertIn(f"/agents/{name}", card["url"])
                path = card["url"].split(str(self.server.port), 1)[1]
                answer = self.server.http("POST", path, self.server.envelope("tasks/get", {"id": "x"}, 1),
                                         self.server.headers_of(None, None))
                self.assert_error(answer, -32001)

    def test_card_says_nothing_of_how_the_agent_runs(self):
        answer = self.server.http("GET", "/.well-known/agent.json")
        self.assertNotIn(b"agent.py", answer.raw)
        self.assertNotIn("baton", answer.body)

    def test_card_shows_the_host_the_caller_used(self):
        card = self.card("/.well-known/agent.json", {"Host": "agents.example:81"})
        self.assertTrue(card["url"].startswith("http://agents.example:81"), card["url"])

    def test_card_can_be_read_by_browsers(self):
        answer = self.server.http("GET", "/.well-known/agent.json", headers={"Origin": "http://page.example"})
        self.assertIn(answer.headers["Access-Control-Allow-Origin"], ("*", "http://page.example"))

    def test_browser_preflight(self):
        answer = self.server.http("OPTIONS", "/", headers={
            "Origin": "http://page.example", "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type, last-event-id"})
        self.assertIn(answer.status, (200, 204))
        self.assertIn("POST", answer.headers["Access-Control-Allow-Methods"])
        allowed = answer.headers["Access-Control-Allow-Headers"].lower()
        self.assertTrue(allowed == "*" or ("content-type" in allowed and "last-event-id" in allowed), allowed)

    def test_unknown_agent_has_no_card(self):
        self.assertEqual(self.server.http("GET", "/agents/nobody/.well-known/agent.json").status, 404)

    def test_health_and_metrics(self):
        self.assertEqual(self.server.http("GET", "/healthz").status, 200)
        self.assertEqual(self.server.http("GET", "/readyz").status, 200)
        self.server.send("count me")
        metrics = self.server.http("GET", "/metrics")
        self.assertEqual(metrics.status, 200)
        self.assertEqual(metrics.headers.get_content_type(), "text/plain")
        figures = {}
        for line in metrics.raw.decode().splitlines():
            if line and not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                figures[name] = float(value)
        self.assertTrue(any(name.startswith("baton_") and value > 0 for name, value in figures.items()), figures)


class GuardedCards(harness.ServerCase):
    AGENTS = ["joke"]
    CONFIG = {"tokens": [{"caller": "ann", "token": "secret-of-ann"}], "allow_anonymous": False}

    def test_anybody_may_read_what_it_takes_to_call(self):
        superset = self.server.http("GET", PATHS[0]).body
        self.assertEqual(superset["authentication"], {"schemes": ["bearer"]})
        self.assertEqual(superset["security"], [{"bearer": []}])
        self.assertEqual(superset["securitySchemes"]["bearer"]["type"], "http")
        pure = self.server.http("GET", PATHS[0], headers={"A2A-Version": "1.0"}).body
        self.assertEqual(pure["securityRequirements"], [{"schemes": {"bearer": {"list": []}}}])
        self.assertEqual(pure["securitySchemes"], {"bearer": {"httpAuthSecurityScheme": {"scheme": "bearer"}}})
        validation.check_object("1.0", "Card", pure)


class CardSettings(harness.ServerCase):
    AGENTS = ["joke"]
    CONFIG = {"public_url": "https://agents.example/base", "webhooks": {"enabled": False},
              "cors": {"origins": ["https://page.example"]}}

    def test_public_url_stands_in_the_card(self):
        card = self.server.http("GET", "/.well-known/agent.json").body
        self.assertTrue(card["url"].startswith("https://agents.example/base"), card["url"])

    def test_card_does_not_claim_what_is_switched_off(self):
        card = self.server.http("GET", "/.well-known/agent.json").body
        self.assertFalse(card["capabilities"].get("pushNotifications", False))
        task = self.server.send("x")["id"]
        for method, params in (("tasks/pushNotification/get", {"id": task}),
                               ("tasks/pushNotification/set",
                                {"id": task, "pushNotificationConfig": {"url": "https://example.com/"}})):
            self.assert_error(self.server.rpc(method, params), -32003)

    def test_other_origins_get_no_leave(self):
        for origin, allowed in (("https://page.example", "https://page.example"), ("https://other.example", None)):
            answer = self.server.http("GET", "/.well-known/agent.json", headers={"Origin": origin})
            self.assertEqual(answer.headers["Access-Control-Allow-Origin"], allowed)
