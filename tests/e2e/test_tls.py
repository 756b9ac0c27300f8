"""TLS of the listeners, as clients see it: curl, OpenSSL's s_client, Python's ssl and gRPC."""
import calendar
import http.client
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

import client
import harness

OPERATOR = "otto-token"


class Authority:
    """A folder with a CA and the certificates that it has signed: NAME.pem and NAME.key."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="baton-tls-"))
        self.ca = self.folder / "ca.pem"
        self._openssl("req", "-x509", *self._new_key("ca"), "-out", self.ca, "-days", "30", "-subj", "/CN=Test CA",
                      "-addext", "keyUsage=keyCertSign")

    def _openssl(self, *words):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, cwd=self.folder)

    @staticmethod
    def _new_key(name):
        return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key"]

    def issue(self, name, *hosts, begin="-1d", days=30):
        """Signs a certificate for these hosts and 127.0.0.1. Each file changes at one moment."""
        names = ",".join([*(f"DNS:{host}" for host in hosts), "IP:127.0.0.1"])
        new = f"{name}-new"
        self._openssl("req", *self._new_key(new), "-out", f"{new}.csr", "-subj", f"/CN={name}", "-addext",
                      f"subjectAltName={names}")
        start = time.time() + int(begin[:-1]) * 86_400
        def stamp(at): return time.strftime("%Y%m%d%H%M%SZ", time.gmtime(at))
        (self.folder / "index").write_text("", encoding="ascii")
        (self.folder / "ca.conf").write_text(
            "[ca]\ndefault_ca=it\n[it]\ndatabase=index\nnew_certs_dir=.\nrand_serial=yes\ndefault_md=sha256\n"
            "policy=any\ncopy_extensions=copy\nunique_subject=no\n[any]\ncommonName=supplied\n", encoding="ascii")
        self._openssl("ca", "-batch", "-notext", "-config", "ca.conf", "-cert", "ca.pem", "-keyfile", "ca.key", "-in",
                      f"{new}.csr", "-out", f"{new}.pem", "-startdate", stamp(start), "-enddate",
                      stamp(start + days * 86_400))
        for kind in ("pem", "key"):
            (self.folder / f"{new}.{kind}").chmod(0o600)
            os.replace(self.folder / f"{new}.{kind}", self.folder / f"{name}.{kind}")
        return self

    def client(self, name, extension):
        """Signs a client's certificate with this subjectAltName. Returns its two files."""
        self._openssl("req", *self._new_key(name), "-out", f"{name}.csr", "-subj", f"/CN={name}", "-addext",
                      f"subjectAltName={extension}")
        self._openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                      "-days", "1", "-copy_extensions", "copy", "-out", f"{name}.pem")
        return self.folder / f"{name}.pem", self.folder / f"{name}.key"

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class Server(harness.Server):
    """A server with the certificates of these names. Its calls go over TLS and trust the authority only."""

    def __init__(self, authority, names=("a",), tls=None, **more):
        self.authority = authority
        self.context = ssl.create_default_context(cafile=authority.ca)
        config = {"tls": {"certificates": [str(authority.folder / f"{name}.pem") for name in names],
                          "keys": [str(authority.folder / f"{name}.key") for name in names], **(tls or {})},
                  **more.pop("config", {})}
        super().__init__(["slow", "player"], config, ["--grpc-port", "0"] if client.has_grpc() else [], **more)

    def connect(self, seconds=60):
        return http.client.HTTPSConnection(self.host, self.port, timeout=client.scaled(seconds), context=self.context)

    def printed(self, what):
        """Returns the address that the program has printed for another listener."""
        def look():
            return next((line.split(f"{what} listening on ")[1] for line in self.lines if f"{what} listening" in line),
                        None)
        return harness.wait_for(look, what=f"the address of {what}")

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def logged(self, text):
        harness.wait_for(lambda: text in self.log_text(), what=f"{text!r} in the log")

    def shown(self, host=None):
        """Returns the first name in the certificate that a new connection gets."""
        with self.secure(host) as connection:
            return connection.getpeercert()["subjectAltName"][0][1]

    def secure(self, host=None, context=None, session=None):
        context = context or self.trusting()
        plain = socket.create_connection((self.host, self.port), timeout=client.scaled())
        return context.wrap_socket(plain, server_hostname=host, session=session)

    def trusting(self, version=None):
        context = ssl.create_default_context(cafile=self.authority.ca)
        context.check_hostname = False
        if version:
            context.minimum_version = context.maximum_version = version
        return context


def ask(connection, path="/readyz", method="GET"):
    """Returns the whole answer to one request."""
    connection.sendall(f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
    return b"".join(iter(lambda: connection.recv(65_536), b"")).decode()


class Tls(unittest.TestCase):
    def setUp(self):
        self.authority = Authority().issue("a", "a.test").issue("b", "b.test", "*.wild.test")
        self.addCleanup(self.authority.remove)

    def serve(self, *words, **more):
        server = Server(self.authority, *words, **more)
        self.addCleanup(server.discard)
        return server.start()

    def test_clients_get_the_versions_protocol_and_certificate_that_are_served(self):
        server = self.serve(("a", "b"))

        def talk(*words, typed=b"", port=None):
            """Returns the output of s_client."""
            done = subprocess.run(
                ["openssl", "s_client", "-connect", f"127.0.0.1:{port or server.port}", "-CAfile", self.authority.ca,
                 *words], input=typed, capture_output=True, timeout=client.scaled(), check=False)
            return (done.stdout + done.stderr).decode("utf-8", "replace")

        weak = ("-cipher", "ALL@SECLEVEL=0")
        for version, served in (("-tls1", False), ("-tls1_1", False), ("-tls1_2", True), ("-tls1_3", True)):
            with self.subTest(version):
                said = talk(version, *([] if version == "-tls1_3" else weak))
                self.assertEqual("Verify return code: 0 (ok)" in said and "Cipher is (NONE)" not in said, served, said)
        for cipher in ("AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA256"):  # no forward secrecy; CBC
            self.assertIn("Cipher is (NONE)", talk("-tls1_2", "-cipher", f"{cipher}@SECLEVEL=0"))
        self.assertIn("ALPN protocol: http/1.1", talk("-alpn", "h2,http/1.1"))
        self.assertIn("no application protocol", talk("-alpn", "h2"))
        said = talk("-tls1_2", typed=b"R\n" + b"Q\n")
        self.assertIn("no renegotiation", said)
        self.assertIn("Early data was not sent", talk("-tls1_3"))
        for host, name in ((None, "a.test"), ("b.test", "b.test"), ("x.wild.test", "b.test"), ("c.test", "a.test")):
            self.assertEqual(server.shown(host), name, host)

        curl = ["curl", "-s", "--cacert", str(self.authority.ca)]
        for more in ((), ("--http1.1",), ("--tls-max", "1.2")):
            read = subprocess.run([*curl, *more, f"https://127.0.0.1:{server.port}/readyz"], capture_output=True,
                                  timeout=client.scaled(), check=True).stdout.decode()
            self.assertTrue(read.startswith("ready\n"), read)
        for method in ("GET", "DELETE"):
            with socket.create_connection((server.host, server.port), timeout=client.scaled()) as plain:
                answer = ask(plain, method=method)
                self.assertTrue(answer.startswith("HTTP/1.1 400 "), answer)
                self.assertIn("this port speaks TLS", answer)
        card = server.http("GET", "/.well-known/agent-card.json", headers={"Host": "localhost:444"}).body
        self.assertTrue(card["url"].startswith("https://localhost:444/"), card["url"])
        task = server.send("hello", agent="player")
        self.assertEqual(task["status"]["state"], "completed")
        # A body and an answer of many records.
        big = "end " + "x" * 2_000_000
        self.assertIn(big, client.text_of(server.send(big, agent="player")["artifacts"][0]))

    def test_operators_and_gRPC_speak_tls_unless_they_are_told_not_to(self):
        tokens = [{"caller": "otto", "token": OPERATOR, "role": "operator"}]
        for tls, scheme in (({}, "https://"), ({"operate": False, "grpc": False}, "http://")):
            server = self.serve(tls=tls, config={"operate": {"port": 0}, "tokens": tokens})
            address = server.printed("operate")
            self.assertTrue(address.startswith(scheme), address)
            answer = subprocess.run(
                ["curl", "-s", "--cacert", str(self.authority.ca), "-H", f"Authorization: Bearer {OPERATOR}",
                 address + "/operate/v1/me"], capture_output=True, timeout=client.scaled(), check=True)
            self.assertIn(b'"otto"', answer.stdout)
            if client.has_grpc():
                self.assertEqual(server.printed("grpc").startswith("https://"), scheme == "https://")

    def test_sessions_survive_a_reload_and_a_restart_with_the_same_secret(self):
        secret = self.authority.folder / "secret"
        secret.write_text("s" * 40, encoding="ascii")
        secret.chmod(0o600)
        server = self.serve(tls={"ticket_secret_file": str(secret)})
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = server.trusting(version)
            with server.secure("a.test", context) as connection:
                ask(connection)  # TLS 1.3 sends tickets after the handshake
                session = connection.session
            def resumes():
                with server.secure("a.test", context, session) as again:
                    return again.session_reused
            self.assertTrue(resumes())
            before = server.log_text().count("is valid until")
            server.reload()
            harness.wait_for(lambda: server.log_text().count("is valid until") > before, what="the reload")
            self.assertTrue(resumes())
            server.stop()
            server.start()
            self.assertTrue(resumes())

    def test_changed_files_are_taken_if_they_fit_and_open_streams_go_on(self):
        server = self.serve()
        task = client.new_id()
        stream = server.open("tasks/sendSubscribe", {"id": task, "message": client.text_message("x"),
                                                     "metadata": client.EVERY_NUMBER}, agent="slow")
        stream.until(lambda block: block.status and block.status["state"] == "working")
        failures, stopped = [], threading.Event()

        def load():
            while not stopped.wait(0.02):  # without a pause the handshakes would take all processors
                try:
                    with server.secure() as connection:
                        if "ready" not in ask(connection):
                            failures.append("no answer")
                except OSError as error:
                    failures.append(error)

        loads = [threading.Thread(target=load) for _ in range(3)]
        for each in loads:
            each.start()
        self.authority.issue("a", "second.test")
        harness.wait_for(lambda: server.shown() == "second.test", what="the new certificate")
        # The key of another certificate: refused, and the old one goes on being served.
        shutil.copy(self.authority.folder / "b.key", self.authority.folder / "a.key")
        server.logged("does not belong to the certificate")
        self.assertEqual(server.shown(), "second.test")
        # One that has expired: refused as well, also if an operator asks for it.
        self.authority.issue("a", "old.test", begin="-9d", days=3)
        server.logged("a.pem: it has expired")
        server.reload()
        server.logged("reloaded")
        self.assertEqual(server.shown(), "second.test")
        self.authority.issue("a", "third.test")
        harness.wait_for(lambda: server.shown() == "third.test", what="the third certificate")
        stopped.set()
        for each in loads:
            each.join()
        self.assertEqual(failures, [])
        server.gate("slow", task)
        self.assertTrue(stream.rest()[-1].final)
        self.assertIn("certificate for third.test: valid until ", server.http("GET", "/readyz").raw.decode())
        expiry = server.metric('baton_tls_certificate_expiry_seconds{place="1",name="third.test"}')
        self.assertAlmostEqual(expiry, time.time() + 29 * 86_400, delta=3600)
        self.assertNotIn("PRIVATE", server.log_text())

    def test_an_expired_certificate_is_served_and_shown_and_a_wrong_pair_stops_the_start(self):
        self.authority.issue("a", "a.test", begin="-9d", days=3)
        server = self.serve()
        server.logged("has expired at")
        server.context.check_hostname, server.context.verify_mode = False, ssl.CERT_NONE
        self.assertRegex(server.http("GET", "/readyz").raw.decode(), "ready\ncertificate for a.test: expired at 20")
        self.assertLess(server.metric('baton_tls_certificate_expiry_seconds{place="1",name="a.test"}'), time.time())
        with self.assertRaisesRegex(ssl.SSLCertVerificationError, "certificate has expired"):
            server.shown()
        shutil.copy(self.authority.folder / "b.key", self.authority.folder / "a.key")
        wrong = Server(self.authority)
        self.addCleanup(wrong.discard)
        with self.assertRaisesRegex(AssertionError, "tls: .*a.key: its private key does not belong to the certificate"):
            wrong.start()
        wrong.process = wrong.log.close()

    def test_unfinished_handshakes_are_bounded_and_do_not_disturb_streams(self):
        server = self.serve(tls={"handshakes_max": 8, "handshake_time_s": 60})
        task = client.new_id()
        stream = server.open("tasks/sendSubscribe", {"id": task, "message": client.text_message("x"),
                                                     "metadata": client.EVERY_NUMBER}, agent="slow")
        stream.until(lambda block: block.status and block.status["state"] == "working")
        # Some send nothing, some half a greeting.
        greeting = ssl.MemoryBIO()
        half = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), greeting, server_hostname="a.test")
        with self.assertRaises(ssl.SSLWantReadError):
            half.do_handshake()
        first = greeting.read()[:100]
        server.http("GET", "/readyz")  # opens the connection for the metrics below
        waiting = [socket.create_connection((server.host, server.port)) for _ in range(40)]
        for each in waiting[::2]:
            each.sendall(first)
        # While all places are taken a handshake has a second, so others get in.
        def gets_in():
            try:
                return server.shown() == "a.test"
            except OSError:
                return False  # on a slow machine this handshake may take longer
        harness.wait_for(gets_in, what="another client to get in")
        server.gate("slow", task)
        self.assertTrue(stream.rest()[-1].final)
        ended = 'baton_tls_handshakes_total{outcome="timed_out"}'
        harness.wait_for(lambda: server.metric(ended) >= 8, what="handshakes that took too long")
        self.assertLessEqual(server.metric("baton_tls_handshakes_open"), 8)
        for each in waiting:
            each.close()
        harness.wait_for(lambda: server.metric("baton_tls_handshakes_open") == 0, what="the end of the handshakes")

    def test_a_client_certificate_names_its_caller_unless_a_token_does(self):
        ann = self.authority.client("ann", "URI:spiffe://test/ann")
        otto = self.authority.client("otto", "DNS:otto.test,email:otto@test")
        nobody = self.authority.client("nobody", "DNS:nobody.test")
        strange = Authority()
        self.addCleanup(strange.remove)
        tokens = [{"caller": "ann", "certificate": "URI:spiffe://test/ann", "agents": ["player"]},
                  {"caller": "otto", "certificate": "email:otto@test", "role": "operator"},
                  {"caller": "bob", "token": "bob-token"}]
        asking = {"client_authorities_file": str(self.authority.ca)}
        server = self.serve(tls=asking, config={"tokens": tokens})

        def use(files):
            server.close()
            server.context = ssl.create_default_context(cafile=self.authority.ca)
            if files:
                server.context.load_cert_chain(*files)

        def send(**how):
            task = client.new_id()
            return task, server.rpc("tasks/send", {"id": task, "message": client.text_message("end")},
                                    agent="player", **how).status

        for files, status in ((None, 401), (nobody, 401), (ann, 200), (otto, 200)):
            use(files)
            self.assertEqual(send()[1], status, files)
        use(ann)
        task = send()[0]
        self.assertEqual(server.get(task, agent="player")["id"], task)
        self.assertEqual(server.rpc("tasks/send", {"id": "x", "message": client.text_message("x")}).status, 403)
        with self.assertRaises(client.RpcError):
            server.get(task, agent="player", token="bob-token")
        self.assertEqual(send(token="bob-token")[1], 200)
        # It makes tokens for pages, for an hour at most.
        asked = server.http("POST", "/tokens", b'{"user":"u","seconds":86400}', server.headers_of(None, {})).body
        end = calendar.timegm(time.strptime(asked["expiresAt"], "%Y-%m-%dT%H:%M:%S.000Z"))
        self.assertLessEqual(end, time.time() + 3_600)
        self.assertGreater(end, time.time() + 1_800)
        use(None)
        self.assertEqual(send(token=asked["token"])[1], 200)
        self.assertEqual(server.rpc("tasks/get", {"id": "x"}, token=asked["token"]).status, 403)
        use(ann)
        self.assertEqual(send(token="wrong")[1], 401)
        # Browsers send certificates unasked, also for pages of other origins.
        self.assertEqual(send(headers={"Origin": "http://localhost:1234"})[1], 401)
        self.assertEqual(send(headers={"Origin": f"https://127.0.0.1:{server.port}"})[1], 200)
        big = server.rpc("tasks/send", {"id": client.new_id(), "message": client.text_message("end " + "x" * 100_000)},
                         agent="player")
        self.assertEqual(big.status, 200)
        self.assertEqual(server.http("GET", "/operate/v1/me").status, 403)
        use(otto)
        self.assertIn(b'"otto"', server.http("GET", "/operate/v1/me").raw)
        use(strange.client("ann", "URI:spiffe://test/ann"))
        with self.assertRaises(OSError):
            server.http("GET", "/readyz")
        if client.has_grpc():
            import grpc  # only there if the program was built with it
            target = server.printed("grpc").removeprefix("https://")
            for files, code in ((ann, grpc.StatusCode.NOT_FOUND), (nobody, grpc.StatusCode.UNAUTHENTICATED)):
                chain, key = (file.read_bytes() for file in files)
                credentials = grpc.ssl_channel_credentials(self.authority.ca.read_bytes(), key, chain)
                with grpc.secure_channel(target, credentials) as channel:
                    call = channel.unary_unary("/lf.a2a.v1.A2AService/GetTask")
                    with self.assertRaises(grpc.RpcError) as refused:
                        call(b"\x12\x04none", timeout=client.scaled(), metadata=[("baton-agent", "player")])
                    self.assertEqual(refused.exception.code(), code)
        needing = self.serve(tls={**asking, "client_certificate_required": True}, config={"tokens": tokens})
        with self.assertRaises(OSError):
            needing.http("GET", "/readyz")
        needing.context.load_cert_chain(*nobody)
        self.assertEqual(needing.http("GET", "/readyz").status, 200)

    def test_settings_that_make_no_sense_are_refused_with_their_names(self):
        folder = self.authority.folder
        exposed = folder / "exposed.key"
        shutil.copy(folder / "a.key", exposed)
        exposed.chmod(0o644)
        short = folder / "short"
        short.write_text("short", encoding="ascii")
        short.chmod(0o600)
        for tls, said in (({"keys": []}, "a.pem: has no private key"),
                          ({"keys": ["x", "y"]}, "/tls/keys|tls.keys: must name one file for each"),
                          ({"keys": [str(exposed)]}, "exposed.key: contains a secret and can be read by every user"),
                          ({"certificates": ["none.pem"]}, "none.pem: cannot be read: No such file"),
                          ({"ticket_secret_file": str(short)}, "short: must have at least 32 bytes"),
                          ({"certificates": [], "keys": [], "ticket_secret_file": str(short)},
                           "tls.ticket_secret_file: has no use")):
            with self.subTest(said):
                server = Server(self.authority, tls=tls)
                self.addCleanup(server.discard)
                with self.assertRaises(AssertionError) as refused:
                    server.start()
                server.process = server.log.close()
                self.assertRegex(str(refused.exception), re.compile(said))


@client.only_if(client.has_grpc())
class GrpcTls(unittest.TestCase):
    def test_gRPC_serves_the_certificates_that_fit_and_takes_new_ones(self):
        import grpc  # only there if the program was built with it
        authority = Authority().issue("a", "a.test").issue("b", "b.test")
        self.addCleanup(authority.remove)
        tokens = [{"caller": "otto", "token": OPERATOR, "role": "operator"}, {"caller": "ann", "token": "ann-token"}]
        server = Server(authority, ("a", "b"), config={"tokens": tokens, "hosts": ["*"]})
        self.addCleanup(server.discard)
        server.start()
        address = server.printed("grpc")
        self.assertTrue(address.startswith("https://"))
        target = address.removeprefix("https://")
        roots = authority.ca.read_bytes()

        def code(host):
            """Returns the status of a call that is refused for its token, once the certificate has been accepted."""
            options = [("grpc.ssl_target_name_override", host)]
            with grpc.secure_channel(target, grpc.ssl_channel_credentials(roots), options) as channel:
                call = channel.unary_unary("/lf.a2a.v1.A2AService/GetTask")
                try:
                    call(b"", timeout=client.scaled())
                except grpc.RpcError as error:
                    return error.code()
            return None

        refused, lost = grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.UNAVAILABLE
        self.assertEqual(code("a.test"), refused)
        self.assertEqual(code("b.test"), refused)
        self.assertEqual(code("c.test"), lost)
        authority.issue("a", "c.test")
        server.logged("for c.test")
        self.assertEqual((code("c.test"), code("a.test")), (refused, lost))
        shutil.copy(authority.folder / "b.key", authority.folder / "a.key")
        server.logged("does not belong to the certificate")
        self.assertEqual(code("c.test"), refused)
        card = server.http("GET", "/.well-known/agent-card.json", headers={"A2A-Version": "1.0"}).body
        self.assertIn(f"https://127.0.0.1:{target.rsplit(':', 1)[1]}",
                      [each["url"] for each in card["supportedInterfaces"]])
        # The program's own calls, from the playground.
        body = (b'{"agent":"player","stream":false,"message":{"messageId":"m","role":"ROLE_USER",'
                b'"parts":[{"text":"end"}]}}')
        opened = server.open_http("POST", "/operate/v1/playground/grpc", body, {
            "Authorization": f"Bearer {OPERATOR}", "Content-Type": "application/json"}, check=lambda frame: None)
        self.assertEqual(opened.rest()[-1].frame["status"], {"status": "OK"})

    def test_the_client_trusts_over_gRPC_what_it_trusts_over_http(self):
        authority, other = Authority().issue("a", "a.test"), Authority()
        for each in (authority, other):
            self.addCleanup(each.remove)
        server = Server(authority)
        self.addCleanup(server.discard)
        server.start()

        def send(trusted):
            """Returns the exit code of a command that trusts this authority only, and what it complained about."""
            environment = {**harness.program_environment(), "SSL_CERT_FILE": str(trusted.ca), "SSL_CERT_DIR": "/none"}
            environment.pop("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", None)  # gRPC's own variable counts first
            done = subprocess.run(
                [harness.PROGRAM, "send", "end", "--agent", "player", "--transport", "grpc", "--endpoint",
                 server.printed("grpc"), "--url", f"https://127.0.0.1:{server.port}"],
                capture_output=True, text=True, check=False, timeout=client.scaled(60), env=environment)
            return done.returncode, done.stderr

        code, complaints = send(authority)
        self.assertEqual(code, 0, complaints)
        self.assertNotEqual(send(other)[0], 0)


if __name__ == "__main__":
    unittest.main()
