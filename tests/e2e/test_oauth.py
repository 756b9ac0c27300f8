"""Agents elsewhere and language models that need a token: Baton gets it with the card's own secret, keeps it while it
is valid, and renews it once if it is refused. The secret goes to the token endpoint and nowhere else."""
import base64
import json
import threading

import client
import harness
import model_server
import test_agui_failures
import token_server
from test_remote_agents import Front
from test_remote_failures import DONE, Elsewhere

REFUSED = {"error": {"message": "no"}}


class Guarded:
    """Makes a handler answer 401 to any token in `bad`, and keeps the tokens it has seen."""

    def __init__(self, site):
        outer, base = self, site.http.RequestHandlerClass
        self.bad, self.seen, self.echoes = set(), [], False

        class Handler(base):
            def parse_request(self):
                if not super().parse_request():
                    return False
                token = self.headers.get("Authorization")
                outer.seen.append(token)
                if outer.echoes and self.command == "POST":
                    self.body()
                    encoded = base64.b64encode(f"all: {outer.seen}".encode()).decode()
                    error = {"code": -32000, "message": f"no {token} {encoded}"}
                    self.say(json.dumps({"jsonrpc": "2.0", "id": 1, "error": error}).encode(), status=400)
                    return False
                if token in outer.bad or "all" in outer.bad:
                    self.body()
                    self.say(json.dumps(REFUSED).encode(), status=401)
                    return False
                return True

        site.http.RequestHandlerClass = Handler


class OAuth(harness.ServerCase):
    """All executors that use tokens: `a2a`, `openai` and `ag-ui`."""

    def setUp(self):
        self.tokens = self.entered(token_server.TokenServer())
        self.there = Elsewhere([DONE])
        self.model = model_server.ModelServer()
        self.endpoint = model_server.ModelServer()
        self.endpoint.script(test_agui_failures.run(*test_agui_failures.text("hello")))
        self.sites = {"a2a": self.entered(self.there.site), "openai": self.entered(self.model),
                      "ag-ui": self.entered(self.endpoint)}
        self.guards = {name: Guarded(site) for name, site in self.sites.items()}
        self.server = None

    @classmethod
    def setUpClass(cls):
        pass

    @classmethod
    def tearDownClass(cls):
        pass

    def entered(self, site):
        self.addCleanup(site.__exit__)
        return site.__enter__()

    def start(self, **auth):
        auth = self.tokens.auth(**auth)
        origins = [site.url.rstrip("/") for site in (*self.sites.values(), self.tokens)]
        more = {"openai": {"executor": "openai", "model": {"name": "tiny"}}, "a2a": {}, "ag-ui": {"executor": "ag-ui"}}
        cards = {name: {"url": site.url, "auth": auth, **more[name]} for name, site in self.sites.items()}
        self.server = Front(cards, origins)
        self.addCleanup(self.server.discard)
        for name in cards:
            (self.server.agents_folder / name / "secret").write_text("s3cret&\n", encoding="utf-8")
        self.server.start()
        # The remote agent's card is fetched at start.
        harness.wait_for(lambda: self.guards["a2a"].seen, what="the card to be fetched")

    def run_task(self, agent, state="completed"):
        task = self.server.send("hello", client.new_id(), agent=agent)
        self.assertEqual(task["status"]["state"], state, task)
        return client.text_of(task["status"]["message"]) if state == "failed" else ""

    def test_the_token_goes_along_and_the_secret_only_to_the_token_endpoint(self):
        self.start(scope="tasks read", audience="them")
        for agent, guard in self.guards.items():
            with self.subTest(agent=agent):
                self.run_task(agent)
                token = f"Bearer token-{self.tokens.asked}"
                self.assertEqual(set(guard.seen), {token})
                self.assertEqual(self.tokens.headers[-1]["Authorization"], token_server.BASIC)
                self.assertEqual(self.tokens.forms[-1], {"grant_type": "client_credentials", "scope": "tasks read",
                                                         "audience": "them"})
        everything = json.dumps([guard.seen for guard in self.guards.values()]) + self.server.log_text()
        for secret in ("s3cret", token_server.BASIC):
            self.assertNotIn(secret, everything)
        self.assertNotIn("token-", self.server.log_text())

    def test_client_and_secret_go_in_the_body_where_the_card_says_so(self):
        self.start(client_auth="post")
        self.run_task("a2a")
        self.assertEqual(self.tokens.forms[-1], {"grant_type": "client_credentials", "client_id": "baton:1",
                                                 "client_secret": "s3cret&"})
        self.assertNotIn("Authorization", self.tokens.headers[-1])

    def test_a_token_serves_until_it_expires_and_then_another_one_does(self):
        self.start()
        for agent, guard in self.guards.items():
            with self.subTest(agent=agent):
                self.tokens.life = 3600
                self.run_task(agent)
                before = self.tokens.asked
                for _ in range(3):
                    self.run_task(agent)
                self.assertEqual(self.tokens.asked, before)
                # A refused token causes the next one to be fetched, which expires at once.
                self.tokens.life = 0
                guard.bad.add(f"Bearer token-{self.tokens.asked}")
                self.run_task(agent)
                before = self.tokens.asked
                self.run_task(agent)
                self.assertGreater(self.tokens.asked, before)

    def test_a_refused_token_is_renewed_once(self):
        self.start()
        for agent, guard in self.guards.items():
            with self.subTest(agent=agent):
                self.run_task(agent)
                old, before = f"Bearer token-{self.tokens.asked}", self.tokens.asked
                guard.bad.add(old)
                guard.seen.clear()
                self.run_task(agent)
                self.assertEqual(self.tokens.asked, before + 1)
                self.assertEqual(guard.seen[:2], [old, f"Bearer token-{before + 1}"])
                guard.bad.add("all")
                before = self.tokens.asked
                self.assertIn("HTTP status 401", self.run_task(agent, "failed"))
                self.assertEqual(self.tokens.asked, before + 1, "not again and again")

    def test_a_server_that_echoes_tokens_old_and_new_shows_none(self):
        self.start()
        for agent, guard in self.guards.items():
            with self.subTest(agent=agent):
                self.run_task(agent)
                guard.bad.add(f"Bearer token-{self.tokens.asked}")
                self.run_task(agent)
                guard.seen.append(token_server.BASIC)
                guard.echoes = True
                said = self.run_task(agent, "failed")
                self.assertIn("no Bearer *** ", said)
                encoded = base64.b64decode(said.split("***", 1)[1].split()[0] + "==", validate=False)
                for secret in (b"token-", b"s3cret", token_server.BASIC.encode()):
                    self.assertNotIn(secret, encoded)
        self.assertNotIn("token-", self.server.log_text())

    def test_many_turns_that_want_a_token_share_one(self):
        self.start()
        before = self.tokens.asked
        self.tokens.hold = threading.Event()
        tasks = [client.new_id() for _ in range(8)]
        for task in tasks:
            self.server.stream("hello", task, agent="openai").close()
        harness.wait_for(lambda: self.tokens.asked > before, what="the first request for a token")
        self.tokens.hold.set()
        for task in tasks:
            self.wait_state(task, "completed", agent="openai")
        self.assertEqual(self.tokens.asked, before + 1)

    def test_a_token_endpoint_that_is_down_is_waited_for(self):
        self.tokens.life = 0
        self.start()
        for agent in self.guards:
            with self.subTest(agent=agent):
                self.tokens.down = True
                before, task = self.tokens.asked, client.new_id()
                self.server.stream("hello", task, agent=agent).close()
                harness.wait_for(lambda: self.tokens.asked > before + 1, what="a second try")
                self.tokens.down = False
                self.wait_state(task, "completed", agent=agent)

    def test_a_token_endpoint_that_refuses_or_makes_no_sense_fails_the_task_with_a_reason(self):
        self.tokens.life = 0
        self.start()
        for guard in self.guards.values():
            guard.seen.clear()
        for status, body, reason in ((401, {"error": "invalid_client", "error_description": "s3cret& is wrong"},
                                      "its token endpoint refused the request: HTTP status 401: invalid_client: *** is wrong"),
                                     (400, {"error": "because of s3cret&"},
                                      "its token endpoint refused the request: HTTP status 400: because of ***"),
                                     (200, {}, "its token endpoint returned an invalid answer"),
                                     (200, {"access_token": "a\r\nb"}, "its token endpoint returned an invalid answer"),
                                     (200, {"access_token": "a", "token_type": "mac"},
                                      "its token endpoint returned an invalid answer")):
            for agent, guard in self.guards.items():
                with self.subTest(agent=agent, body=body):
                    self.tokens.answer = status, body
                    said = self.run_task(agent, "failed")
                    self.assertTrue(said.endswith(reason), said)
                    self.assertEqual(guard.seen, [])

    def test_a_private_token_endpoint_that_is_not_allowed_is_not_asked(self):
        auth = self.tokens.auth()
        self.server = Front({"a2a": {"url": self.there.site.url, "auth": auth}}, [self.there.origin])
        self.addCleanup(self.server.discard)
        (self.server.agents_folder / "a2a" / "secret").write_text("s3cret&\n", encoding="utf-8")
        self.server.start()
        self.assertIn("token endpoint", self.run_task("a2a", "failed"))
        self.assertEqual((self.tokens.asked, self.guards["a2a"].seen), (0, []))


if __name__ == "__main__":
    harness.unittest.main()
