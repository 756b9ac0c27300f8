"""Access: pages, hosts, proxies, tokens, and the share of one caller."""
import datetime
import itertools
import json
import pathlib
import resource
import signal
import socket

import client
import databases
import harness

SEND = {"id": "x", "message": client.text_message("x")}
DOORS = ("/", "/message:send", "/v1/message:send", "/ag-ui", "/send-message", "/process", "/stream")


class LocalDoor(harness.ServerCase):
    """A server without configuration."""
    AGENTS = ["joke"]

    def post(self, path, **headers):
        body = self.server.envelope("tasks/send", SEND, 1)
        return self.server.http("POST", path, body, {name.replace("_", "-"): value for name, value in headers.items()})

    def test_a_page_of_another_site_may_not_call(self):
        for origin in ("https://evil.example", "null", "http://localhost.evil.example"):
            for path in DOORS:
                with self.subTest(path, origin=origin):
                    answer = self.post(path, Content_Type="application/json", Origin=origin)
                    self.assertEqual(answer.status, 403, answer.raw)
                    self.assertIsNone(answer.headers["Access-Control-Allow-Origin"])
            asked = self.server.http("OPTIONS", "/", headers={"Origin": origin, "Access-Control-Request-Method": "POST"})
            self.assertIsNone(asked.headers["Access-Control-Allow-Origin"])

    def test_a_page_of_this_machine_may_call(self):
        for origin in ("http://127.0.0.1:8000", "http://localhost:3000", "https://[::1]"):
            answer = self.post("/", Content_Type="application/json", Origin=origin)
            self.assertEqual(answer.status, 200, answer.raw)
            self.assertEqual(answer.headers["Access-Control-Allow-Origin"], origin)

    def test_a_name_that_was_made_to_lead_here_is_not_served(self):
        host = f"evil.example:{self.server.port}"
        for method, path in [("POST", path) for path in DOORS] + [
                ("GET", "/.well-known/agent-card.json"), ("GET", "/metrics"), ("GET", "/tasks"), ("OPTIONS", "/")]:
            with self.subTest(method + path):
                body = self.server.envelope("tasks/send", SEND, 1) if method == "POST" else None
                answer = self.server.http(method, path, body, {"Host": host, "Content-Type": "application/json"})
                self.assertEqual(answer.status, 403, answer.raw)
                self.assertNotIn(b"evil.example", answer.raw)
        for path in ("/healthz", "/readyz"):
            self.assertEqual(self.server.http("GET", path, headers={"Host": host}).status, 200)

    def test_loopback_names_are_served(self):
        for host in ("localhost", "LOCALHOST:1", "127.0.0.1:99", "127.8.8.8", "[::1]:80", "agent.localhost"):
            answer = self.server.http("GET", "/.well-known/agent-card.json", headers={"Host": host})
            self.assertEqual(answer.status, 200, host)
            self.assertIn("Host", answer.headers["Vary"])

    def test_a_body_must_say_that_it_is_json(self):
        for path in DOORS:
            for headers in ({}, {"Content_Type": "text/plain"}, {"Content_Type": "multipart/form-data"}):
                with self.subTest(path, headers=headers):
                    answer = self.post(path, **headers)
                    self.assertEqual(answer.status, 415, answer.raw)
                    self.assertTrue("error" in answer.body or "code" in answer.body, answer.raw)

    def test_what_a_proxy_may_say_is_not_believed_of_others(self):
        headers = {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"}
        card = self.server.http("GET", "/.well-known/agent.json", headers=headers).body
        self.assertTrue(card["url"].startswith(f"http://127.0.0.1:{self.server.port}"), card["url"])

    def test_answers_are_what_they_say(self):
        for path in ("/.well-known/agent-card.json", "/metrics", "/healthz", "/nothing"):
            self.assertEqual(self.server.http("GET", path).headers["X-Content-Type-Options"], "nosniff")
        stream = self.server.stream("x")
        self.assertEqual(stream.response.headers["X-Content-Type-Options"], "nosniff")
        stream.close()

    def test_ambiguous_or_unreadable_requests_are_refused(self):
        for lines, status in ((b"Authorization: Bearer a\r\nAuthorization: Bearer a\r\n", 400),
                              (b"Content-Encoding: gzip\r\n", 415), (b"Content-Encoding: identity\r\n", 200)):
            with self.subTest(lines), socket.create_connection((self.server.host, self.server.port)) as connection:
                body = self.server.envelope("tasks/send", SEND, 1)
                connection.settimeout(client.scaled(60))
                connection.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + lines +
                                   b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
                self.assertEqual(int(connection.makefile("rb").readline().split()[1]), status)

    def test_many_small_values_do_not_take_many_times_their_size(self):
        def peak_kib():
            status = pathlib.Path(f"/proc/{self.server.pid}/status").read_text(encoding="ascii")
            return int(status.split("VmHWM:")[1].split()[0])
        before = peak_kib()
        numbers = b"[" + b"1," * ((7 << 20) // 2) + b"1]"
        body = b'{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"unknown","metadata":{"m":' + numbers + b"}}}"
        self.assert_error(self.server.post(body), -32001)
        # Text, read buffer and nodes: 7 MiB of text are at most 56 MiB of nodes. Sanitizers keep records of all memory.
        books = 8 if client.is_sanitized() else 1
        self.assertLess(peak_kib() - before, books * (110 << 10))


class Proxies(harness.ServerCase):
    AGENTS = ["joke"]
    CONFIG = {"proxies": ["127.0.0.0/8"], "hosts": ["agents.example"]}

    def card(self, **headers):
        return self.server.http("GET", "/.well-known/agent.json",
                                headers={name.replace("_", "-"): value for name, value in headers.items()})

    def test_a_trusted_proxy_says_where_the_client_came(self):
        answer = self.card(X_Forwarded_Host="agents.example", X_Forwarded_Proto="https")
        self.assertEqual(answer.body["url"], "https://agents.example/")
        for name in ("Host", "X-Forwarded-Host", "X-Forwarded-Proto"):
            self.assertIn(name, answer.headers["Vary"])

    def test_it_opens_no_other_host(self):
        self.assertEqual(self.card(X_Forwarded_Host="evil.example").status, 403)
        self.assertEqual(self.card(Host="evil.example", X_Forwarded_Host="agents.example").status, 403)


class Tokens(harness.ServerCase):
    AGENTS = ["joke"]
    CONFIG = {"tokens": [{"caller": "ann", "token": "secret-of-ann"}, {"caller": "bob", "token": "secret-of-bob"}]}

    def head(self, *lines, length=1 << 20):
        """Sends only a head and no body. Returns the status of the answer."""
        with socket.create_connection((self.server.host, self.server.port)) as connection:
            connection.settimeout(client.scaled(60))
            connection.sendall(b"\r\n".join([b"POST / HTTP/1.1", b"Host: localhost", b"Content-Type: application/json",
                                             b"Content-Length: %d" % length, *lines, b"", b""]))
            return int(connection.makefile("rb").readline().split()[1])

    def test_a_large_body_is_not_taken_from_a_stranger(self):
        for lines in ((), (b"Authorization: Bearer wrong",), (b"Authorization: Basic secret-of-ann",)):
            with self.subTest(lines):
                self.assertEqual(self.head(*lines), 401)
        self.assertEqual(self.head(b"Authorization: Bearer secret-of-ann", b"Expect: 100-continue"), 100)
        text = "x" * 100_000
        self.assertEqual(self.server.send(text, token="secret-of-ann")["status"]["state"], "completed")
        small = self.server.rpc("tasks/send", SEND)
        self.assertEqual((small.status, "error" in small.body), (401, True))

    def test_wrong_tokens_are_logged_once_a_minute_and_right_ones_not_held_up(self):
        for number in range(7):
            self.assertEqual(self.server.rpc("tasks/get", {"id": "x"}, token=f"guess-{number}").status, 401)
        self.assert_error(self.server.rpc("tasks/get", {"id": "x"}, token="secret-of-bob"), -32001)
        lines = [json.loads(line) for line in self.server.log_text().splitlines()]
        told = [datetime.datetime.fromisoformat(line["time"]) for line in lines
                if line.get("address") == "127.0.0.1" and "refused an invalid token" in line["message"]]
        self.assertTrue(told)
        for earlier, later in itertools.pairwise(told):
            self.assertGreater((later - earlier).total_seconds(), 59)
        self.assertNotIn("guess", self.server.log_text())


class Shares(harness.ServerCase):
    AGENTS = ["slow"]
    CONFIG = {"tokens": [{"caller": "ann", "token": "a"}, {"caller": "bob", "token": "b"}],
              "engine": {"slots": 1, "queue_max": 8, "drain_grace_s": 0.2}, "http": {"streams_max": 8}}

    def send(self, token, tenant=None):
        params = {"message": {"messageId": client.new_id(), "role": "ROLE_USER", "parts": [{"text": "x"}]},
                  "configuration": {"returnImmediately": True}, **({"tenant": tenant} if tenant else {})}
        return self.server.rpc("SendMessage", params, token=token, headers={"A2A-Version": "1.0"}).body

    def test_one_caller_cannot_take_all_places(self):
        refused = ["error" in self.send("a") for _ in range(5)]
        # Two wait, which is a quarter of the queue, and one may run.
        self.assertIn(refused.index(True), (2, 3), refused)
        self.assertEqual(refused, sorted(refused))
        self.assertIn("error", self.send("a", tenant="another"), "a tenant is no other caller")
        self.assertIn("result", self.send("b"))

    def test_one_caller_cannot_have_all_streams(self):
        task = client.new_id()
        self.assertIn("result", self.send("b"))
        task = self.server.call("ListTasks", {}, token="b", headers={"A2A-Version": "1.0"})["tasks"][0]["id"]
        streams = [self.server.resubscribe(task, token="b") for _ in range(2)]
        for stream in streams:
            next(iter(stream))
        with self.assertRaises(client.RpcError):
            self.server.resubscribe(task, token="b")
        streams.pop().close()
        def again():
            try:
                return self.server.resubscribe(task, token="b")
            except client.RpcError:
                return None
        streams.append(harness.wait_for(again, what="the place of a stream that was closed"))
        for stream in streams:
            stream.close()


class Secrets(harness.unittest.TestCase):
    def start(self, mode, *options):
        server = harness.Server(["joke"])
        self.addCleanup(server.discard)
        token = server.folder / "ann.token"
        token.write_text("secret-of-ann\n", encoding="ascii")
        token.chmod(mode)
        server.config = {"tokens": [{"caller": "ann", "token_file": str(token)}]}
        server.options = list(options)
        return server

    def test_a_token_that_every_user_can_read_is_refused(self):
        with self.assertRaises(AssertionError) as refused:
            self.start(0o644).start()
        self.assertIn("ann.token", str(refused.exception))
        self.assertIn("--allow-readable-secrets", str(refused.exception))
        self.assertEqual(self.start(0o640).start().stop(), 0)
        self.assertEqual(self.start(0o644, "--allow-readable-secrets").start().stop(), 0)


class Reload(harness.unittest.TestCase):
    def server(self):
        server = harness.Server(["joke", "cat"], {"tokens": [{"caller": "ann", "token": "first"}]}).start()
        self.addCleanup(server.discard)
        return server

    def hang_up(self, server):
        """Returns the log from the signal on, once the files have been read again."""
        before = len(server.log_text())
        server.process.send_signal(signal.SIGHUP)
        def told():
            said = server.log_text()[before:]
            return ("nothing was changed" in said or "reloaded: tokens=" in said) and said
        return harness.wait_for(told, what="the reload")

    def status(self, server, token, agent=None):
        return server.rpc("tasks/get", {"id": "x"}, agent=agent, token=token).status

    def test_tokens_are_read_again(self):
        server = self.server()
        server.config = {"tokens": [{"caller": "ann", "token": "second"}]}
        server.command()  # writes the file
        self.hang_up(server)
        self.assertEqual((self.status(server, "first"), self.status(server, "second")), (401, 200))
        (server.folder / "baton.json").write_text("{", encoding="ascii")
        self.assertIn("baton.json", self.hang_up(server))
        self.assertEqual(self.status(server, "second"), 200)

    def test_cards_are_read_again(self):
        server = self.server()
        path = server.agents_folder / "joke" / "card.json"
        card = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**card, "description": "Another one."}), encoding="utf-8")
        (server.agents_folder / "cat").rename(server.agents_folder / "dog")
        self.hang_up(server)
        shown = server.http("GET", "/agents/joke/.well-known/agent-card.json").body
        self.assertEqual(shown["description"], "Another one.")
        self.assertEqual(server.http("GET", "/agents/cat/.well-known/agent-card.json").status, 404)
        self.assertEqual(server.send("x", agent="dog", token="first")["status"]["state"], "completed")
        self.assertEqual(server.send("x", agent="joke", token="first")["status"]["state"], "completed")
        path.write_text(json.dumps({**card, "baton": {"executor": "magic"}}), encoding="utf-8")
        said = self.hang_up(server)
        self.assertIn("/baton/executor", said)
        self.assertEqual(server.send("x", agent="joke", token="first")["status"]["state"], "completed")


class Disk(harness.unittest.TestCase):
    @databases.needs_sqlite("the program's own file may not grow")
    def test_not_ready_while_the_disk_refuses_writes(self):
        server = harness.Server(["joke"]).start()
        self.addCleanup(server.discard)
        self.assertEqual(server.http("GET", "/readyz").status, 200)
        soft, hard = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (1, hard))
        self.assertIn("error", server.rpc("tasks/send", SEND).body)
        for _ in range(3):
            self.assertEqual(server.http("GET", "/readyz").status, 503)
        self.assertEqual(server.http("GET", "/healthz").status, 200)
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (soft, hard))
        harness.wait_for(lambda: server.http("GET", "/readyz").status == 200, what="the server to be ready again")
        self.assertEqual(server.send("x")["status"]["state"], "completed")
