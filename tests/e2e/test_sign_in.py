"""People who sign in to the console and the chat page at an authorization server."""
import copy
import http.client
import json
import pathlib
import re
import tempfile
import time
import unittest
import urllib.parse

import authorization_server
import client
import harness
import test_access_table

SECRET = "the-clients-secret: %x"
SETTINGS = {"client_id": "baton-console", "caller_roles": ["staff"]}


class Browser:
    """A browser at the server's own origin: it keeps cookies, and sends Strict ones except to a page that another site
    has sent it to."""

    def __init__(self, server):
        self.server, self.cookies, self.csrf, self.proxy = server, {}, None, {}
        self.origin = f"http://{server.host}:{server.port}"

    def ask(self, method, path, body=None, headers=(), strict=True):
        connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=client.scaled())
        sent = {name: value for name, (value, attributes) in self.cookies.items()
                if strict or "SameSite=Strict" not in attributes}
        head = {"Cookie": "; ".join(f"{name}={value}" for name, value in sent.items()), **self.proxy,
                **dict(headers)}
        connection.request(method, path, body, {name: value for name, value in head.items() if value})
        answer = connection.getresponse()
        answer.text = answer.read().decode()
        connection.close()
        for line in answer.headers.get_all("Set-Cookie") or []:
            (name, value), attributes = line.split(";")[0].split("=", 1), line.split("; ")[1:]
            self.cookies[name] = (value, attributes)
            if "Max-Age=0" in attributes:
                del self.cookies[name]
        return answer

    def session(self):
        return json.loads(self.ask("GET", "/sign-in/session", headers={"Sec-Fetch-Site": "same-origin"}).text)

    def begin(self, to="/console"):
        """Returns the path at which the authorization server sends the browser back."""
        answer = self.ask("GET", f"/sign-in?to={urllib.parse.quote(to)}", headers={"Sec-Fetch-Site": "same-origin"})
        assert answer.status == 303, (answer.status, answer.text)
        there = urllib.parse.urlsplit(answer.headers["Location"])
        connection = http.client.HTTPConnection(there.netloc, timeout=client.scaled())
        connection.request("GET", f"{there.path}?{there.query}")
        back = connection.getresponse()
        back.read()
        connection.close()
        return back.headers["Location"].removeprefix(self.origin)

    def come_back(self, path):
        return self.ask("GET", path, headers={"Sec-Fetch-Site": "cross-site"}, strict=False)

    def sign_in(self, to="/console"):
        answer = self.come_back(self.begin(to))
        assert answer.status == 200, (answer.status, answer.text)
        self.csrf = self.session()["csrf"]
        return answer

    def act(self, method, path, body=None, **changed):
        """A request of the console's page. `changed`: headers, by their names with underscores; None leaves one out."""
        headers = {"Origin": self.origin, "Sec-Fetch-Site": "same-origin", "X-CSRF-Token": self.csrf,
                   "Content-Type": "application/json"}
        for name, value in changed.items():
            headers[name.replace("_", "-")] = value
        return self.ask(method, path, body, headers)

    def me(self, path="/operate/v1/me"):
        return self.ask("GET", path, headers={"Sec-Fetch-Site": "same-origin"})


class SignIn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.issuer = authorization_server.AuthorizationServer()
        cls.issuer.__enter__()
        cls.issuer.client_secret = urllib.parse.quote(SECRET, safe="")
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="baton-sign-in-"))
        for name, text in (("client", SECRET), ("tokens", "0123456789abcdef" * 4)):
            (cls.folder / name).write_text(text + "\n")
            (cls.folder / name).chmod(0o600)
        cls.config = {
            "issuers": [{"issuer": cls.issuer.issuer, "audience": "baton", "operator_roles": ["boss"],
                         "viewer_roles": ["watcher"]}],
            "tokens": [{"caller": "shop", "token": "the-shops-own-token-is-long-enough"},
                       {"caller": "ops", "token": "the-operators-token", "role": "operator"}],
            "sign_in": {"issuer": cls.issuer.issuer, "client_secret_file": str(cls.folder / "client"), **SETTINGS},
            "token_secret_file": str(cls.folder / "tokens")}
        cls.server = harness.Server(["joke", "slow"], cls.config).start()

    @classmethod
    def tearDownClass(cls):
        cls.server.discard()
        cls.issuer.__exit__(None, None, None)

    def setUp(self):
        self.issuer.person = {"sub": "ann", "roles": ["boss"], "email": "ann@example.com"}
        self.issuer.refusal = None

    def browser(self, **person):
        self.issuer.person.update(person)
        return Browser(self.server)

    def test_an_operator_signs_in_reads_acts_and_signs_out(self):
        browser = self.browser()
        self.assertEqual(browser.session(), {"signIn": True, "issuer": self.issuer.issuer})
        self.assertEqual(browser.me().status, 401)
        landing = browser.sign_in("/console/tasks?agent=joke")
        self.assertIn('http-equiv="refresh" content="0;url=/console/tasks?agent=joke"', landing.text)
        self.assertIn("default-src 'none'", landing.headers["Content-Security-Policy"])
        (name, (value, attributes)), = browser.cookies.items()
        self.assertEqual((name, sorted(attributes)[:3]), ("baton-session", ["HttpOnly", "Max-Age=" + attributes[-1][8:],
                                                                            "Path=/"]))
        self.assertIn("SameSite=Strict", attributes)
        self.assertLessEqual(int(attributes[-1][8:]), 600)  # the token's time
        session = browser.session()
        self.assertEqual((session["name"], session["role"]), ("ann@example.com", "operator"))
        me = json.loads(browser.me().text)
        self.assertEqual((me["role"], me["actor"]), ("operator", f"{self.issuer.issuer}\x01ann"))
        self.assertEqual(browser.act("POST", "/operate/v1/agents/slow/pause", '{"reason":"r"}').status, 200)
        self.assertEqual(browser.act("POST", "/operate/v1/agents/slow/resume", '{"reason":"r"}').status, 200)
        self.assertIn("ann", json.loads(browser.me("/operate/v1/audit").text)["rows"][0]["actor"])
        kept = dict(browser.cookies)
        self.assertEqual(browser.act("DELETE", "/sign-in/session").status, 204)
        self.assertEqual(browser.cookies, {})
        browser.cookies = kept  # a copy is of no use here, either
        self.assertEqual(browser.me().status, 401)
        log = self.server.log_text()
        for secret in (value, SECRET, session["csrf"]):
            self.assertNotIn(secret, log)

    def test_a_chat_page_gets_a_token_that_ends_with_the_session(self):
        browser = self.browser(roles=["staff"])
        browser.sign_in("/chat")
        for changed in ({"Origin": None}, {"X_CSRF_Token": None}, {"Origin": "http://localhost:3000"}):
            self.assertEqual(browser.act("POST", "/tokens", "{}", **changed).status, 403)
        made = json.loads(browser.act("POST", "/tokens", '{"seconds":86400}').text)
        self.assertLessEqual(made["expiresAt"], browser.session()["expiresAt"])
        task = self.server.send("x", client.new_id(), token=made["token"])["id"]
        # The person has the same tasks with an access token.
        self.assertEqual(self.server.get(task, token=self.issuer.token(sub="ann"))["id"], task)
        listed = self.server.http("GET", "/agents", headers={"Authorization": f"Bearer {made['token']}"}).body
        self.assertEqual(listed["caller"], f"{self.issuer.issuer}\x01ann")
        self.assertEqual(browser.ask("GET", "/operate/v1/me", headers={"Authorization": f"Bearer {made['token']}"}).status,
                         401)
        watcher = self.browser(roles=["watcher"])
        watcher.sign_in()
        refused = watcher.act("POST", "/tokens", "{}")
        self.assertEqual(refused.status, 403)
        self.assertIn("as a viewer, who may not call agents", refused.text)
        self.assertEqual(browser.act("DELETE", "/sign-in/session").status, 204)
        self.assertEqual(self.server.rpc("tasks/get", {"id": task}, token=made["token"]).status, 401)

    def test_what_changes_something_needs_our_origin_and_the_csrf_token(self):
        browser, pause = self.browser(), ("POST", "/operate/v1/agents/slow/pause", '{"reason":"r"}')
        browser.sign_in()
        other = self.browser(sub="bob")
        other.sign_in()
        for changed in ({"Origin": None}, {"Origin": "http://localhost:3000"}, {"Origin": "null"},
                        {"X_CSRF_Token": None}, {"X_CSRF_Token": "x"}, {"X_CSRF_Token": other.csrf},
                        {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}):
            with self.subTest(changed):
                self.assertEqual(browser.act(*pause, **changed).status, 403)
                self.assertEqual(browser.act("DELETE", "/sign-in/session", **changed).status, 403)
        self.assertEqual(browser.ask("GET", "/operate/v1/me", headers={"Sec-Fetch-Site": "same-site"}).status, 403)
        self.assertEqual(browser.ask("GET", "/sign-in/session", headers={"Origin": "http://localhost:3000"}).status, 403)
        # A token decides if there is one, and needs neither.
        self.assertEqual(browser.me().status, 200)
        self.assertEqual(browser.ask("GET", "/operate/v1/me", headers={"Authorization": "Bearer no"}).status, 401)
        token = {"Authorization": "Bearer the-operators-token"}
        self.assertEqual(json.loads(browser.ask("GET", "/operate/v1/me", headers=token).text)["actor"], "ops")

    def test_the_cookie_opens_no_operation_of_any_protocol(self):
        browser, signed_in = self.browser(), copy.copy(self.server)
        browser.sign_in()
        value = browser.cookies["baton-session"][0]
        proof = {"Cookie": f"baton-session={value}", "X-CSRF-Token": browser.csrf, "Sec-Fetch-Site": "same-origin"}
        signed_in.http = lambda method, path, body=None, headers=None: self.server.http(
            method, path, body, {**(headers or {}), **proof})
        self.assertEqual(signed_in.http("GET", "/operate/v1/me").status, 200)
        for name, _, operation, *_ in test_access_table.OPERATIONS:
            self.assertEqual(operation(signed_in, None, client.new_id()).status, 401, name)
        self.assertEqual(signed_in.http("GET", "/agents").status, 401)

    def test_roles_come_from_claims_and_others_are_not_let_in(self):
        watcher = self.browser(roles=["watcher"])
        watcher.sign_in()
        self.assertEqual(json.loads(watcher.me().text)["role"], "viewer")
        self.assertEqual(watcher.act("POST", "/operate/v1/agents/slow/pause", '{"reason":"r"}').status, 403)
        staff = self.browser(roles=["staff"])
        staff.sign_in("/chat")
        self.assertEqual(staff.session()["role"], "caller")
        self.assertEqual(staff.me().status, 403)
        for roles in (["guest"], None):
            guest = self.browser(roles=roles)
            answer = guest.come_back(guest.begin())
            self.assertEqual((answer.status, guest.cookies), (403, {}))
            self.assertIn("none of the roles", answer.text)

    def test_a_return_that_this_browser_did_not_begin_is_400_and_sets_nothing(self):
        browser, other = self.browser(), self.browser()
        back = browser.begin()
        for answer in (other.come_back(back), browser.come_back(re.sub("state=[^&]*", "state=x", back)),
                       browser.come_back("/sign-in/callback"), browser.come_back(re.sub("state=[^&]*&", "", back))):
            self.assertEqual((answer.status, answer.headers.get_all("Set-Cookie")), (400, None))
        self.assertEqual(browser.come_back(back).status, 200)
        kept = dict(browser.cookies)
        self.assertEqual(browser.come_back(back).status, 400)  # once only
        self.assertEqual(browser.cookies, kept)

    def test_wrong_answers_of_the_authorization_server_make_no_session(self):
        now = int(time.time())
        for wrong in ({"nonce": "other"}, {"aud": "shop"}, {"aud": ["baton-console", "shop"]}, {"azp": "shop"},
                      {"exp": now - 1}, {"iss": "http://127.0.0.1:1"}, {"header": {"typ": "at+jwt"}},
                      {"header": {"alg": "none"}}, {"key": authorization_server.Key(self.issuer.folder, "first", "ES256")}):
            with self.subTest(wrong):
                browser = self.browser()
                self.issuer.person = {"sub": "ann", "roles": ["boss"], **wrong}
                answer = browser.come_back(browser.begin())
                self.assertEqual((answer.status, browser.cookies), (502, {}))
        self.setUp()
        browser = self.browser()
        back = browser.begin()
        self.issuer.codes.clear()
        self.assertEqual((browser.come_back(back).status, browser.cookies), (502, {}))
        back = browser.begin()
        mixed = browser.come_back(re.sub("iss=[^&]*", "iss=https%3A%2F%2Fother.example", back))
        self.assertEqual((mixed.status, browser.cookies), (400, {}))
        self.issuer.refusal = ("access_denied", "<b>no</b>")
        answer = browser.come_back(browser.begin("/chat"))
        self.assertEqual((answer.status, browser.cookies), (400, {}))
        self.assertIn("refused the sign-in: access_denied: &lt;b&gt;no&lt;/b&gt;", answer.text)

    def test_a_sign_in_leads_only_to_our_pages(self):
        for place in ("//evil.example", "https://evil.example", "/agents", "/consolex", "/console/../agents", "/console//x",
                      "/chat#token=x", "/chat#agent=joke&%74oken=x", "/console\\x", "/chat\n", "/chat\"", "console", "/" + "console/" + "x" * 600):
            answer = self.browser().ask("GET", f"/sign-in?to={urllib.parse.quote(place, safe='')}")
            self.assertEqual((answer.status, answer.headers.get_all("Set-Cookie")), (400, None), place)
        self.assertEqual(self.browser().ask("POST", "/sign-in").status, 405)

    def test_a_reload_with_another_secret_keeps_the_earlier_one_and_says_so(self):
        browser, file = self.browser(), self.folder / "tokens"
        browser.sign_in()
        kept = file.read_text()
        self.addCleanup(file.write_text, kept)
        file.write_text("f" * 64 + "\n")
        self.server.process.send_signal(harness.signal.SIGHUP)
        harness.wait_for(lambda: "token_secret_file has changed" in self.server.log_text(), what="the warning")
        harness.wait_for(lambda: "reloaded: " in self.server.log_text(), what="the reload")
        self.assertEqual(browser.me().status, 200)

    def test_a_session_survives_a_restart_and_ends_when_its_token_does(self):
        browser = self.browser()
        browser.sign_in()
        self.server.stop()
        self.server.start()
        browser.origin = f"http://{self.server.host}:{self.server.port}"
        self.assertEqual(browser.me().status, 200)

        def signed_in():
            short = self.browser(exp=int(time.time()) + 5)  # on a slow machine this may be too short
            return short.come_back(short.begin()).status == 200 and short
        short = harness.wait_for(signed_in, what="a session for a short time")
        harness.wait_for(lambda: short.me().status == 401, what="the session's end")
        self.assertNotIn("name", short.session())


class BehindProxy(unittest.TestCase):
    def test_over_https_the_cookies_belong_to_this_host_alone(self):
        issuer = authorization_server.AuthorizationServer()
        issuer.__enter__()
        self.addCleanup(issuer.__exit__, None, None, None)
        server = harness.Server(["joke"], {
            "issuers": [{"issuer": issuer.issuer, "audience": "baton"}], "proxies": ["127.0.0.1"],
            "sign_in": {"issuer": issuer.issuer, **SETTINGS, "caller_roles": ["*"]}, "hosts": ["agents.example.org"]})
        self.addCleanup(server.discard)
        browser = Browser(server.start())
        browser.proxy = {"X-Forwarded-Host": "agents.example.org"}
        self.assertEqual(browser.ask("GET", "/sign-in").status, 400)  # its cookie could be read on the way
        browser.proxy["X-Forwarded-Proto"] = "https"
        browser.origin = "https://agents.example.org"
        landing = browser.sign_in("/chat#agent=joke")
        self.assertIn("url=/chat#agent=joke", landing.text)
        (name, (_, attributes)), = browser.cookies.items()
        self.assertEqual((name, "Secure" in attributes, "Path=/" in attributes), ("__Host-baton-session", True, True))
        self.assertEqual(browser.act("POST", "/tokens", "{}").status, 200)
        browser.cookies = {"baton-session": browser.cookies[name]}  # as another host of the domain could set it
        self.assertNotIn("name", browser.session())


class Settings(unittest.TestCase):
    def test_an_authorization_server_that_was_down_is_asked_again_soon(self):
        issuer = authorization_server.AuthorizationServer()
        issuer.__enter__()
        self.addCleanup(issuer.__exit__, None, None, None)
        server = harness.Server(["joke"], {"issuers": [{"issuer": issuer.issuer, "audience": "baton"}],
                                           "sign_in": {"issuer": issuer.issuer, **SETTINGS}})
        self.addCleanup(server.discard)
        issuer.down = True
        browser = Browser(server.start())
        for _ in range(2):
            self.assertEqual(browser.ask("GET", "/sign-in").status, 503)
        issuer.down = False
        harness.wait_for(lambda: browser.ask("GET", "/sign-in").status == 303, what="another look")
        issuer.down = True
        self.assertEqual(browser.ask("GET", "/sign-in").status, 303)

    def test_without_sign_in_the_pages_learn_so(self):
        server = harness.Server(["joke"]).start()
        self.addCleanup(server.discard)
        self.assertEqual(Browser(server).session(), {"signIn": False})
        self.assertEqual(Browser(server).ask("GET", "/sign-in").status, 404)


if __name__ == "__main__":
    unittest.main()
