"""Tokens that a page's server makes for its users: one user's tasks, one agent, a short time."""
import json
import time
import unittest
import urllib.parse

import authorization_server
import client
import harness


class PageTokens(harness.ServerCase):
    AGENTS = ["joke", "slow"]
    OWN, OTHER = "the-shops-own-token-is-long-enough", "the-desks-own-token-is-long-enough"
    CONFIG = {"tokens": [{"caller": "shop", "token": OWN}, {"caller": "desk", "token": OTHER, "agents": ["joke"]}]}

    def made(self, token=OWN, **asked):
        return self.server.http("POST", "/tokens", json.dumps(asked).encode(), self.server.headers_of(token, {}))

    def token(self, user, **asked):
        return self.made(user=user, **asked).body["token"]

    def test_users_have_tasks_of_their_own_that_the_server_finds_in_their_tenant(self):
        ann, bob = self.token("ann"), self.token("bob")
        task = self.server.send("x", token=ann)["id"]
        self.assertEqual(self.server.get(task, token=ann)["id"], task)
        for other in (bob, self.OWN, self.OTHER):
            self.assertEqual(self.server.rpc("tasks/get", {"id": task}, token=other).body["error"]["code"], -32001)
        in_tenant = {"id": task, "tenant": "ann"}
        found = self.server.rpc("GetTask", in_tenant, token=self.OWN, headers={"A2A-Version": "1.0"})
        self.assertEqual(found.body["result"]["id"], task)
        refused = self.server.rpc("GetTask", in_tenant, token=bob, headers={"A2A-Version": "1.0"})
        self.assertEqual(refused.body["error"]["code"], 403)

    def test_a_token_for_an_agent_opens_no_other_one_and_names_its_end(self):
        answer = self.made(user="ann", agent="joke", seconds=60)
        self.assertEqual((answer.status, answer.headers["Cache-Control"]), (200, "no-store"))
        self.assertRegex(answer.body["expiresAt"], r"\A20\d\d-.*Z\Z")
        token = answer.body["token"]
        self.server.send("x", token=token)
        self.assertEqual(self.server.rpc("tasks/get", {"id": "t"}, agent="slow", token=token).status, 403)

    def test_a_token_whose_time_is_over_is_refused(self):
        token = self.token("ann", seconds=1)
        def refused():
            return self.server.rpc("tasks/get", {"id": "t"}, token=token).status == 401
        harness.wait_for(refused, what="the token's end")

    def test_only_a_callers_own_token_makes_one(self):
        self.assertEqual(self.made(token=None, user="ann").status, 401)
        self.assertEqual(self.made(token=self.token("ann"), user="bob").status, 401)
        self.assertEqual(self.made(token=self.OTHER, user="ann", agent="slow").status, 400)
        page = self.server.http("POST", "/tokens", b'{"user":"ann"}',
                                self.server.headers_of(self.OWN, {"Origin": "http://localhost:3000"}))
        self.assertEqual(page.status, 403)
        self.assertEqual(self.server.http("GET", "/tokens").status, 405)

    def test_a_stream_takes_it_in_its_url_and_no_log_shows_it(self):
        token = self.token("ann")
        task = client.new_id()
        self.server.send("x", task, token=token)
        at = f"/agents/joke/v1/tasks/{task}?access_token={urllib.parse.quote(token)}"
        self.assertEqual(self.server.http("GET", at).body["id"], task)
        own = f"/agents/joke/v1/tasks/{task}?access_token={urllib.parse.quote(self.OWN)}"
        self.assertEqual(self.server.http("GET", own).status, 401)
        self.assertNotIn(token, self.server.log_text())


class OtherCallers(unittest.TestCase):
    """Page tokens that are made from API keys and JWTs: they have the same rights, and end with what they are from."""

    @classmethod
    def setUpClass(cls):
        cls.issuer = authorization_server.AuthorizationServer()
        cls.issuer.__enter__()
        cls.addClassCleanup(cls.issuer.__exit__, None, None, None)
        cls.server = harness.Server(["joke", "slow"], {
            "tokens": [{"caller": "ops", "token": "the-operators-token", "role": "operator"}], "api_keys": True,
            "issuers": [{"issuer": cls.issuer.issuer, "audience": "baton", "operator_roles": ["boss"]}]}).start()
        cls.addClassCleanup(cls.server.discard)

    def made(self, token, **asked):
        return self.server.http("POST", "/tokens", json.dumps(asked).encode(), self.server.headers_of(token, {}))

    def operate(self, method, path, **body):
        answer = self.server.http(method, f"/operate/v1{path}", json.dumps(body).encode(),
                                  self.server.headers_of("the-operators-token", {}))
        self.assertIn(answer.status, (200, 201), answer.raw)
        return answer.body

    def status(self, token, agent="joke"):
        return self.server.rpc("tasks/get", {"id": "none"}, agent=agent, token=token).status

    def test_one_of_an_api_key_has_its_agents_and_ends_when_it_is_revoked(self):
        made = self.operate("POST", "/keys", caller="shop", agents=["joke"], reason="r")
        key, place = made["apiKey"], f"/keys/{made['key']['id']}/revoke"
        page = self.made(key, user="ann").body["token"]
        task = self.server.send("x", client.new_id(), agent="joke", token=page)["id"]
        found = self.server.rpc("GetTask", {"id": task, "tenant": "ann"}, agent="joke", token=key,
                                headers={"A2A-Version": "1.0"})
        self.assertEqual(found.body["result"]["id"], task)
        self.assertEqual((self.status(page), self.status(page, "slow")), (200, 403))
        self.assertEqual(self.made(key).status, 400)  # a user is required
        self.assertEqual(self.made(page, user="bob").status, 401)
        self.operate("POST", place, reason="r")
        self.assertEqual((self.status(page), self.made(key, user="ann").status), (401, 401))

    def test_one_of_a_jwt_has_its_scopes_and_ends_with_it(self):
        now = int(time.time())
        end = now + 600
        answer = self.made(self.issuer.token(exp=end, scope="read"), user="ann", seconds=86400).body
        self.assertEqual(answer["expiresAt"], time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(end)))
        page = answer["token"]
        self.assertEqual(self.status(page), 200)
        self.assertEqual(self.server.rpc("tasks/send", {"id": client.new_id(), "message": client.text_message("x")},
                                         token=page).status, 403)

        def brief_token():
            brief = self.issuer.token(exp=int(time.time()) + 3)  # on a slow machine this may be too short
            return self.made(brief, user="ann").body.get("token")
        brief = harness.wait_for(brief_token, what="a token for a short time")
        harness.wait_for(lambda: self.status(brief) == 401, what="the token's end")
        late = self.made(self.issuer.token(exp=now - 30), user="ann")  # its clock may differ
        self.assertEqual(late.status, 401)

    def test_an_operators_token_makes_none(self):
        for token in ("the-operators-token", self.issuer.token(roles=["boss"])):
            self.assertEqual(self.made(token, user="ann").status, 403)
