"""Access tokens of authorization servers: who they make a caller, which are refused, and where clients get one."""
import json
import re
import signal
import threading
import time
import unittest

import authorization_server
import harness

STATIC = "the-shops-own-token-is-long-enough"


class Tokens(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.issuer = authorization_server.AuthorizationServer()
        cls.issuer.__enter__()
        cls.issuer.add_key("rsa", "RS256")
        cls.server = harness.Server(["joke", "slow"], {
            "tokens": [{"caller": "shop", "token": STATIC}],
            "issuers": [{"issuer": cls.issuer.issuer, "audience": "baton", "operator_roles": ["boss"],
                         "viewer_roles": "watcher"}]}).start()
        cls.issuer.wait_for_keys(cls.server)

    @classmethod
    def tearDownClass(cls):
        cls.server.discard()
        cls.issuer.__exit__(None, None, None)

    def status(self, token, agent=None):
        return self.server.rpc("tasks/get", {"id": "none"}, agent=agent, token=token).status

    def test_a_token_makes_its_issuer_and_subject_the_caller(self):
        token = self.issuer.token()
        task = self.server.send("x", token=token)["id"]
        self.assertEqual(self.server.get(task, token=self.issuer.token(key="rsa"))["id"], task)
        for other in (self.issuer.token(sub="bob"), STATIC):
            self.assertEqual(self.server.rpc("tasks/get", {"id": task}, token=other).body["error"]["code"], -32001)
        listed = self.server.http("GET", "/agents", headers={"Authorization": f"Bearer {token}"}).body
        self.assertEqual(listed["caller"], f"{self.issuer.issuer}\x01ann")

    def test_wrong_tokens_are_refused_alike_and_the_log_says_why(self):
        stranger = authorization_server.Key(self.issuer.folder, "first", "ES256")
        good = self.issuer.token()
        now = int(time.time())
        self.server.rpc("tasks/get", {"id": "none"}, token=good)
        wrong = [self.issuer.token(exp=now - 61), self.issuer.token(exp=None), self.issuer.token(nbf=now + 600),
                 self.issuer.token(aud="shop"), self.issuer.token(iss="http://127.0.0.1:1"), self.issuer.token(sub=""),
                 self.issuer.token(key=stranger), self.issuer.token(header={"typ": "JWT"}),
                 self.issuer.token(header={"alg": "none"}), self.issuer.token(header={"alg": "HS256"}),
                 self.issuer.token(header={"crit": ["exp"]}), self.issuer.token(header={"kid": "rsa"}),
                 good[:-1] + ("A" if good[-1] != "A" else "B"), good + ".x", good.rsplit(".", 1)[0] + "."]
        seen = set()
        for token in wrong:
            answer = self.server.rpc("tasks/get", {"id": "none"}, token=token)
            seen.add((answer.status, answer.raw, answer.headers["WWW-Authenticate"]))
        self.assertEqual(len(seen), 1, seen)
        self.assertEqual(next(iter(seen))[0], 401)
        self.assertIn('error="invalid_token"', next(iter(seen))[2])
        log = self.server.log_text()
        self.assertRegex(log, "refused an invalid token: [a-z ]+")
        for token in wrong:
            self.assertNotIn(token.split(".")[1], log)

    def test_roles_come_from_claims(self):
        def me(**claims):
            token = self.issuer.token(**claims)
            return self.server.http("GET", "/operate/v1/me", headers={"Authorization": f"Bearer {token}"})
        self.assertEqual(me().status, 403)
        self.assertEqual(me(roles=["boss"], scope="read operate").body["role"], "operator")
        self.assertEqual(me(roles=["watcher"]).body["role"], "viewer")
        self.assertEqual(me(roles=["Boss", "xwatcher"]).status, 403)

    def test_a_client_without_a_token_learns_where_to_get_one(self):
        at = f"http://{self.server.host}:{self.server.port}"
        for path, resource in (("/", ""), ("/mcp", "/mcp"), ("/agents/joke/", "/agents/joke"),
                               ("/agents/joke/mcp", "/agents/joke/mcp"), ("/agents/joke/v1/tasks/t", "/agents/joke")):
            with self.subTest(path):
                answer = self.server.http("GET" if "tasks" in path else "POST", path, b"{}",
                                          {"Content-Type": "application/json"})
                self.assertEqual(answer.status, 401, answer.raw)
                place = re.search('resource_metadata="([^"]+)"', answer.headers["WWW-Authenticate"]).group(1)
                self.assertNotIn("error=", answer.headers["WWW-Authenticate"])
                self.assertEqual(place, f"{at}/.well-known/oauth-protected-resource{resource}")
                found = self.server.http("GET", place.removeprefix(at), headers={"Origin": "https://page.example"})
                self.assertEqual(found.body["resource"], at + resource)
                self.assertEqual(found.body["authorization_servers"], [self.issuer.issuer])
                self.assertEqual(found.body["scopes_supported"],
                                 ["cancel", "read", "send"] if resource else ["cancel", "operate", "read", "send"])
                self.assertEqual(found.body["bearer_methods_supported"], ["header"])
                self.assertEqual(found.headers["Access-Control-Allow-Origin"], "*")
                self.assertIn("max-age", found.headers["Cache-Control"])
        for path in ("/mcp", "/agents/joke/mcp"):  # where Gemini CLI looks first
            head = self.server.http("HEAD", path)
            self.assertEqual(head.status, 401)
            self.assertIn(f'resource_metadata="{at}/.well-known/oauth-protected-resource{path}"',
                          head.headers["WWW-Authenticate"])
        for path in ("/agents", "/agents/none", "/agents/joke/x", "/x", "/mcp/"):
            self.assertEqual(self.server.http("GET", f"/.well-known/oauth-protected-resource{path}").status, 404, path)

    def test_cards_declare_the_issuer_in_the_words_of_each_version(self):
        url = f"{self.issuer.issuer}/.well-known/openid-configuration"
        old = self.server.http("GET", "/.well-known/agent-card.json").body
        self.assertEqual(old["securitySchemes"]["openId"], {
            "type": "openIdConnect", "openIdConnectUrl": url, "openIdConnectSecurityScheme": {"openIdConnectUrl": url}})
        self.assertEqual(old["security"], [{"bearer": []}, {"openId": []}])
        new = self.server.http("GET", "/.well-known/agent-card.json", headers={"A2A-Version": "1.0"}).body
        self.assertEqual(new["securitySchemes"]["openId"],
                         {"openIdConnectSecurityScheme": {"openIdConnectUrl": url}})


class Keys(unittest.TestCase):
    def setUp(self):
        self.issuer = authorization_server.AuthorizationServer()
        self.issuer.__enter__()
        self.addCleanup(self.issuer.__exit__, None, None, None)

    def start(self, **entry):
        server = harness.Server(["joke"], {"issuers": [{"issuer": self.issuer.issuer, "audience": "baton", **entry}]})
        self.addCleanup(server.discard)
        return server.start()

    def test_a_request_waits_for_the_first_keys_and_delays_no_other(self):
        # It waits for two seconds, in which a busy machine may not answer the others.
        harness.wait_for(self.first_request_waits, what="a request that is answered once the keys have come")

    def first_request_waits(self):
        """Starts a server. Returns whether a request waits for its answer until the server has the issuer's keys."""
        self.issuer.hold, before = threading.Event(), self.issuer.key_fetches()
        server, answers = self.start(), []
        token = self.issuer.token()
        asking = threading.Thread(target=lambda: answers.append(server.rpc("tasks/get", {"id": "none"}, token=token)))
        asking.start()
        harness.wait_for(lambda: self.issuer.key_fetches() > before, what="the fetch")
        for _ in range(20):
            self.assertEqual(server.http("GET", "/readyz").status, 200)
        has_waited = not answers
        self.issuer.hold.set()
        asking.join()
        return has_waited and answers[0].status == 200 and answers[0].body["error"]["code"] == -32001

    def test_without_keys_the_answer_is_503_and_an_unknown_key_is_fetched_once(self):
        self.issuer.down = True
        server = self.start()
        token = self.issuer.token()
        refused = server.rpc("tasks/get", {"id": "none"}, token=token)
        self.assertEqual((refused.status, refused.headers["Retry-After"]), (503, "5"))
        self.issuer.down = False
        harness.wait_for(lambda: server.rpc("tasks/get", {"id": "none"}, token=token).status == 200,
                         what="the keys")
        fetches = self.issuer.key_fetches()
        rotated = self.issuer.token(key=self.issuer.add_key("second", "RS256"))
        flood = [self.issuer.token(header={"kid": f"k{i}"}) for i in range(5)]
        statuses = [server.rpc("tasks/get", {"id": "none"}, token=one).status for one in [rotated, *flood]]
        self.assertTrue(set(statuses) <= {200, 401}, statuses)
        self.assertLessEqual(self.issuer.key_fetches(), fetches + 1)

    def test_a_key_file_is_read_again_on_reload(self):
        file = self.issuer.folder / "keys.json"
        file.write_text(json.dumps({"keys": [self.issuer.keys["first"].jwk()]}))
        server = self.start(keys=str(file))
        token = self.issuer.token()
        self.assertEqual(server.rpc("tasks/get", {"id": "none"}, token=token).status, 200)
        self.assertEqual(self.issuer.asked, [])
        second = self.issuer.add_key("second", "ES256")
        file.write_text(json.dumps({"keys": [second.jwk()]}))
        server.process.send_signal(signal.SIGHUP)
        rotated = self.issuer.token(key="second")
        harness.wait_for(lambda: server.rpc("tasks/get", {"id": "none"}, token=rotated).status == 200,
                         what="the reload")
        self.assertEqual(server.rpc("tasks/get", {"id": "none"}, token=token).status, 401)

    def test_a_discovery_document_of_another_issuer_is_not_believed(self):
        self.issuer.issuer += "/"  # it names itself so; the configuration below does not
        server = harness.Server(["joke"], {"issuers": [{"issuer": self.issuer.url.rstrip("/"), "audience": "baton"}]})
        self.addCleanup(server.discard)
        server.start()
        harness.wait_for(lambda: "names another issuer" in server.log_text(), what="the log")
        self.assertEqual(self.issuer.key_fetches(), 0)


if __name__ == "__main__":
    unittest.main()
