"""How Baton authenticates to servers elsewhere without a secret, and for its callers: signed assertions, exchanges of the
caller's own access token, and what it asks a caller for. Nothing that a caller sent reaches a server unasked."""
import contextlib
import json
import shutil
import threading
import time
import unittest
import urllib.parse

import authorization_server
import client
import harness
import model_server
import test_agui_failures
import tool_server
import webhooks
from model_server import call, calls, said, streamed
from test_remote_agents import Front
from test_remote_failures import DONE, Elsewhere

STATIC = "the-shops-own-token-is-long-enough"
VERSION = {"A2A-Version": "0.3"}
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"


class TokenIssuer(authorization_server.AuthorizationServer):
    """Also gives tokens, "for-<subject>-<number>", to the client with the key `client`. `forms`: the requests for them;
    `refusal`: a status and a body instead."""

    def __init__(self):
        super().__init__()
        outer, base = self, self.http.RequestHandlerClass
        self.forms, self.refusal, self.client = [], None, authorization_server.Key(self.folder, "client", "ES256")
        lock = threading.Lock()

        class Handler(base):
            def say(self, *what, **how):
                with contextlib.suppress(ConnectionError):  # the program was killed meanwhile
                    super().say(*what, **how)

            def do_POST(self):
                form = dict(urllib.parse.parse_qsl(self.body().decode(), strict_parsing=True))
                with lock:
                    outer.forms.append(form)
                    nth = len(outer.forms)
                claims = outer.client.claims_in(form["client_assertion"])
                assert claims["iss"] == claims["sub"] == form["client_id"] == "baton", claims
                assert claims["aud"] == outer.url + "token" and claims["jti"], claims
                assert 0 < claims["exp"] - time.time() <= 300, claims
                if outer.refusal:
                    status, body = outer.refusal
                    return self.say(json.dumps(body).encode(), status=status)
                subject = form.get("subject_token")
                name = outer.keys["first"].claims_in(subject)["sub"] if subject else "baton"
                self.say(json.dumps({"access_token": f"for-{name}-{nth}", "token_type": "Bearer", "expires_in": 900,
                                     "issued_token_type": "urn:ietf:params:oauth:token-type:access_token"}).encode())

        self.http.RequestHandlerClass = Handler


class OutboundAuth(unittest.TestCase):
    """All executors that call servers: `a2a`, `ag-ui`, `openai`, and `tools`, a model with tools of an MCP server."""

    def setUp(self):
        self.issuer = self.entered(TokenIssuer())
        self.there = Elsewhere([DONE])
        self.endpoint, self.model = model_server.ModelServer(), model_server.ModelServer()
        self.endpoint.script(test_agui_failures.run(*test_agui_failures.text("hello")))
        self.tools = tool_server.ToolServer()
        self.tools.tools = [tool_server.tool("look")]
        self.tools.calls["look"] = lambda params, handler: tool_server.text("seen")
        self.sites = {"a2a": self.entered(self.there.site), "ag-ui": self.entered(self.endpoint),
                      "openai": self.entered(self.model), "tools": self.entered(self.tools)}
        self.seen = {"a2a": self.there.headers, "ag-ui": self.endpoint.headers, "openai": self.model.headers,
                     "tools": self.tools.heads}

    def entered(self, site):
        site.__enter__()
        self.addCleanup(site.__exit__, None, None, None)
        return site

    def start(self, auth=None, more=None, options=()):
        def with_auth(members):
            return {**members, "auth": {"type": "oauth", "token_url": self.issuer.url + "token", "client_id": "baton",
                                        "private_key_file": "key.pem", **auth}} if auth is not None else members
        url = {name: site.url for name, site in self.sites.items()}
        mcp = with_auth({"url": url["tools"] + "mcp"})
        cards = {"a2a": with_auth({"url": url["a2a"]}),
                 "ag-ui": with_auth({"executor": "ag-ui", "url": url["ag-ui"]}),
                 "openai": with_auth({"executor": "openai", "url": url["openai"], "model": {"name": "tiny"}}),
                 "tools": {"executor": "openai", "url": url["openai"], "model": {"name": "tiny", "mcp": [mcp]}},
                 "plan": {"executor": "workflow", "plan": {"id": "it", "agent": "a2a", "input": "{{/message/text}}"}}}
        origins = [site.url.rstrip("/") for site in (*self.sites.values(), self.issuer)]
        self.server = Front(cards, origins, more_config={
            "tokens": [{"caller": "shop", "token": STATIC}],
            "issuers": [{"issuer": self.issuer.issuer, "audience": "baton"}], **(more or {})}, options=options)
        self.addCleanup(self.server.discard)
        for name in cards:
            shutil.copy(self.issuer.client.file, self.server.agents_folder / name / "key.pem")
        self.server.start()
        harness.wait_for(lambda: self.there.headers, what="the card to be fetched")

    def send(self, agent, token, text="hello", task=None, headers=(), **params):
        if agent in ("openai", "tools") and task is None:
            self.model.script(*([streamed(*calls(call("look", {}, id="c1")))] if agent == "tools" else []), said("hi"))
        message = {"messageId": client.new_id(), "role": "user", "parts": [{"kind": "text", "text": text}],
                   **({"taskId": task} if task else {})}
        found = self.server.call("message/send", {"message": message, **params}, agent=agent, token=token,
                                 headers={**VERSION, **dict(headers)})
        return found

    def state(self, agent, token, task):
        found = self.server.http("GET", f"/agents/{agent}/v1/tasks/{task}", headers=self.server.headers_of(token, VERSION))
        return found.body["status"]["state"]

    def done(self, agent, token, **how):
        task = self.send(agent, token, **how)
        self.assertEqual(task["status"]["state"], "completed", task["status"])
        return task

    def authorizations(self, agent):
        found = {headers.get("Authorization") for headers in self.seen[agent]}
        self.seen[agent].clear()
        return found

    def test_an_assertion_takes_the_place_of_a_secret(self):
        for algorithm in ("ES256", "RS256"):
            self.issuer.client = authorization_server.Key(self.issuer.folder, "client", algorithm)
            self.start({"resource": "https://them.example/mcp", "scope": "a b", "key_id": "ours"})
            for agent in self.sites:
                with self.subTest(algorithm=algorithm, agent=agent):
                    self.done(agent, STATIC)
                    form = self.issuer.forms[-1]
                    self.assertEqual(form["grant_type"], "client_credentials")
                    self.assertEqual((form["resource"], form["scope"]), ("https://them.example/mcp", "a b"))
                    header = self.issuer.client.header_in(form["client_assertion"])
                    self.assertEqual((header["alg"], header["kid"]), (algorithm, "ours"))
                    self.assertEqual(self.authorizations(agent), {f"Bearer for-baton-{len(self.issuer.forms)}"})
            log = self.server.log_text()
            for secret in ("for-baton", *(form["client_assertion"] for form in self.issuer.forms)):
                self.assertNotIn(secret, log)
            self.server.discard()

    def test_agents_act_for_each_caller_with_a_token_of_its_own(self):
        self.start({"exchange": "token", "actor": True, "audience": "them"})
        ann, bob = self.issuer.token(), self.issuer.token(sub="bob")
        self.seen["a2a"].clear()
        for agent in self.sites:
            for name, token in (("ann", ann), ("bob", bob)):
                with self.subTest(agent=agent, name=name):
                    before = len(self.issuer.forms)
                    self.done(agent, token)
                    self.assertEqual(len(self.issuer.forms), before + 1)
                    form = self.issuer.forms[-1]
                    self.assertEqual((form["grant_type"], form["subject_token"], form["audience"]),
                                     (EXCHANGE, token, "them"))
                    self.assertEqual(self.issuer.client.claims_in(form["actor_token"])["sub"], "baton")
                    mine = f"Bearer for-{name}-{before + 1}"
                    # Cards are asked for without a token.
                    self.assertEqual(self.authorizations(agent) - {None}, {mine})
                    self.done(agent, token)
                    self.assertEqual(len(self.issuer.forms), before + 1, "it is kept")
                    self.assertEqual(self.authorizations(agent) - {None}, {mine})
        # Another token of the same caller is another right.
        self.done("a2a", self.issuer.token(jti="2"))
        self.assertEqual(len(self.issuer.forms), 2 * len(self.sites) + 1)
        for secret in (ann, bob, "for-ann", "for-bob"):
            self.assertNotIn(secret, self.server.log_text())

    def test_a_caller_without_an_access_token_is_refused(self):
        self.start({"exchange": "token"})
        for agent in self.sites:
            with self.subTest(agent=agent):
                task = self.send(agent, STATIC)
                self.assertEqual(task["status"]["state"], "failed", task)
                self.assertIn("access token", json.dumps(task["status"]))
        self.assertEqual(self.issuer.forms, [])

    def test_a_refused_exchange_waits_for_the_callers_consent(self):
        page = "https://id.example/consent"
        self.start({"exchange": "token", "authorize_url": page})
        for agent in self.sites:
            with self.subTest(agent=agent):
                token = self.issuer.token()
                self.seen[agent].clear()
                self.issuer.refusal = 400, {"error": "invalid_grant", "error_description": f"no consent for {token}"}
                task = self.send(agent, token)
                status = task["status"]
                self.assertEqual(status["state"], "auth-required", status)
                self.assertIn("no consent", json.dumps(status))
                self.assertNotIn(token, json.dumps(status))
                self.assertIn({"kind": "file", "file": {"uri": page}}, [
                    {"kind": part["kind"], "file": {"uri": part["file"]["uri"]}}
                    for part in status["message"]["parts"] if part["kind"] == "file"])
                self.assertEqual(self.authorizations(agent) - {None}, set())
                self.issuer.refusal = None
                if agent in ("openai", "tools"):
                    self.model.script(*([streamed(*calls(call("look", {}, id="c1")))] if agent == "tools" else []),
                                      said("hi"))
                self.done(agent, token, text="I have agreed", task=task["id"])
                self.assertEqual(len(self.authorizations(agent) - {None}), 1)
        # The first message was sent, not the answer.
        self.assertEqual([part["text"] for part in self.there.sends[-1]["parts"]], ["hello"])
        self.assertEqual(self.model.messages()[0], {"role": "user", "content": "hello"})
        # A child's question is its parent's, and the parent's answer brings the child the token, too.
        self.issuer.refusal = 400, {"error": "consent_required"}
        token = self.issuer.token(jti="plan")
        task = self.send("plan", token)
        self.assertEqual(task["status"]["state"], "auth-required", task["status"])
        self.issuer.refusal = None
        self.done("plan", self.issuer.token(jti="new"), text="I have agreed", task=task["id"])
        self.assertEqual(self.authorizations("a2a") - {None}, {f"Bearer for-ann-{len(self.issuer.forms)}"})
        self.issuer.refusal = 401, {"error": "invalid_client"}
        task = self.send("a2a", self.issuer.token())
        self.assertEqual(task["status"]["state"], "failed", task["status"])

    def test_a_server_that_refuses_a_new_token_too_asks_the_caller(self):
        page = "https://id.example/consent"
        self.start({"exchange": "token", "authorize_url": page})
        token = self.issuer.token()
        for agent, site in self.sites.items():
            with self.subTest(agent=agent):
                refused, answering = [], site.http.RequestHandlerClass

                class Refusing(answering):
                    def do_POST(self, refused=refused):
                        self.body()
                        refused.append(self.headers.get("Authorization"))
                        self.say(b"{}", status=401)

                site.http.RequestHandlerClass = Refusing
                task = self.send(agent, token)
                self.assertEqual(task["status"]["state"], "auth-required", task["status"])
                self.assertIn(page, json.dumps(task["status"]))
                self.assertEqual(len(set(refused)), 2, refused)
                site.http.RequestHandlerClass = answering
                self.done(agent, token, text="I have agreed", task=task["id"])

    def test_a_token_that_a_restart_has_lost_is_asked_for(self):
        self.start({"exchange": "token"})
        self.issuer.refusal = 503, {}
        for agent in self.sites:
            with self.subTest(agent=agent):
                before, token = len(self.issuer.forms), self.issuer.token()
                task = self.send(agent, token, configuration={"blocking": False})["id"]
                harness.wait_for(lambda: len(self.issuer.forms) > before, what="the exchange")
                self.server.kill()
                self.server.start()

                harness.wait_for(lambda: self.state(agent, token, task) == "TASK_STATE_AUTH_REQUIRED", what="the question")
                self.issuer.refusal = None
                self.done(agent, token, text="here it is", task=task)
                self.issuer.refusal = 503, {}

    def test_nothing_that_a_caller_sent_is_passed_on_unasked(self):
        token = self.issuer.token()
        secrets = {"X-API-Key": "callers-api-key-1234", "Cookie": "session=callers-cookie-1234",
                   "Proxy-Authorization": "Basic callers-proxy-1234", "X-Forwarded-User": "callers-user-1234",
                   "X-Custom": "callers-custom-1234"}
        for auth in (None, {}):
            self.start(auth, options=["--allow-private-webhooks"])
            with webhooks.Receiver() as receiver:
                for agent in self.sites:
                    self.done(agent, token, headers=secrets, configuration={
                        "blocking": True, "pushNotificationConfig": {"url": receiver.url(f"/{agent}")}})
                    receiver.wait_state("completed", path=f"/{agent}")
                told = [(dict(each.headers), each.raw.decode()) for each in receiver.deliveries]
            self.assertGreaterEqual(len(told), len(self.sites))
            everything = json.dumps([self.seen, self.issuer.forms, told, self.model.requests, self.endpoint.requests,
                                     self.there.requests, self.tools.seen])
            for secret in (token, token.split(".")[1], *secrets.values()):
                self.assertNotIn(secret, everything)
            self.server.discard()


if __name__ == "__main__":
    harness.unittest.main()
