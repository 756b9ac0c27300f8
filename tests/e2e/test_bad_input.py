"""Malformed requests, one test for each: the right error, and the server keeps serving."""
import itertools
import json
import socket
import threading

import bad_bodies
import client
import harness
import rings

CRLF = b"\r\n"
JSON = b"Content-Type: application/json"
ORIGIN = b"Origin: http://localhost:3000"
BODY = b'{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"nobody"}}'


def head(*lines, first=b"POST / HTTP/1.1"):
    """A request's head; the connection is closed after the answer."""
    return CRLF.join([first, b"Host: localhost", b"Connection: close", *lines]) + CRLF * 2


def with_length(length, body=b"{}"):
    return head(b"Content-Type: application/json", b"Content-Length: " + length) + body


def chunked(*chunks):
    return head(b"Content-Type: application/json", b"Transfer-Encoding: chunked") + b"".join(chunks)


# Name, bytes, correct statuses; 0 means that the connection is closed without an answer.
HTTP_ROWS = [
    ("garbage", b"\x00\x01\x02\x03" * 20 + CRLF * 2, {400, 0}),
    ("one word", b"HELLO" + CRLF * 2, {400}),
    ("a TLS hello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200) + CRLF * 2, {400, 0}),
    ("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400, 405, 505}),
    ("no version", b"POST /\r\nHost: x\r\n\r\n", {400}),
    ("version 3", head(first=b"POST / HTTP/3.0"), {400, 505}),
    ("version x", head(first=b"POST / HTTP/x.y"), {400, 505}),
    ("no path", head(first=b"POST HTTP/1.1"), {400}),
    ("four words", head(first=b"POST / / HTTP/1.1"), {400}),
    ("unknown method", head(b"Content-Length: 0", first=b"BREW / HTTP/1.1"), {400, 404, 405, 501}),
    ("small letters", head(b"Content-Length: 0", first=b"post / HTTP/1.1"), {400, 404, 405, 501}),
    ("CONNECT", head(first=b"CONNECT example.com:443 HTTP/1.1"), {400, 404, 405, 501}),
    ("header without colon", head(b"no colon here"), {400}),
    ("header without name", head(b": value"), {400}),
    ("space before the colon", head(b"Content-Length : 2") + b"{}", {400}),
    ("folded header", head(b"X-A: one", b"  two", b"Content-Length: 2") + b"{}", {400}),
    ("zero byte in a header", head(b"X-A: a\0b", b"Content-Length: 2") + b"{}", {400}),
    ("control byte in a header", head(b"X-A: a\x07b", b"Content-Length: 2") + b"{}", {400}),
    ("bare CR in a header", head(b"X-A: a\rb", b"Content-Length: 2") + b"{}", {400}),
    ("space in a header's name", head(b"X A: b", b"Content-Length: 2") + b"{}", {400}),
    ("negative length", with_length(b"-1"), {400}),
    ("length in words", with_length(b"two"), {400}),
    ("length with sign", with_length(b"+2"), {400}),
    ("length in hex", with_length(b"0x2"), {400}),
    ("length with fraction", with_length(b"2.0"), {400}),
    ("empty length", with_length(b""), {400}),
    ("two numbers as length", with_length(b"2 2"), {400}),
    ("endless length", with_length(b"9" * 40), {400, 413}),
    ("length just over a word", with_length(b"18446744073709551618"), {400, 413}),
    ("body over the limit", with_length(b"8388609"), {413}),
    ("two different lengths", head(b"Content-Length: 2", b"Content-Length: 3") + b"{}x", {400}),
    ("length and chunks", head(b"Content-Length: 2", b"Transfer-Encoding: chunked") + b"2\r\n{}\r\n0\r\n\r\n", {400}),
    ("unknown transfer coding", head(b"Transfer-Encoding: gzip", b"Content-Length: 2") + b"{}", {400, 501}),
    ("chunked not last", head(b"Transfer-Encoding: chunked, gzip") + b"0\r\n\r\n", {400, 501}),
    ("chunk of size x", chunked(b"xyz\r\n{}\r\n0\r\n\r\n"), {400}),
    ("chunk of negative size", chunked(b"-2\r\n{}\r\n0\r\n\r\n"), {400}),
    ("chunk without size", chunked(b"\r\n{}\r\n0\r\n\r\n"), {400}),
    ("chunk of endless size", chunked(b"f" * 20 + b"\r\n{}\r\n0\r\n\r\n"), {400, 413}),
    ("chunk longer than its size", chunked(b"1\r\n{}\r\n0\r\n\r\n"), {400}),
    ("chunks over the limit", chunked(*[b"100000\r\n" + b" " * 0x100000 + CRLF] * 9, b"0\r\n\r\n"), {413}),
    ("endless chunk extension", chunked(b"2;" + b"x" * 100000 + b"\r\n{}\r\n0\r\n\r\n"), {400, 413, 431}),
    ("many trailers", chunked(b"2\r\n{}\r\n0\r\n" + b"X: y\r\n" * 20000 + CRLF), {400, 413, 431}),
    ("no length", head(b"Content-Type: application/json"), {400, 411}),
    ("long path", head(first=b"GET /" + b"a" * 40000 + b" HTTP/1.1"), {400, 414, 431}),
    ("long header", head(b"X-A: " + b"a" * 40000), {431}),
    ("long header name", head(b"a" * 40000 + b": x"), {431}),
    ("many headers", head(*[b"X-%d: y" % n for n in range(200)]), {431}),
    ("endless head", b"GET / HTTP/1.1\r\n" + b"X-A: y\r\n" * 20000, {431}),
    ("path upwards", head(first=b"GET /../../../etc/passwd HTTP/1.1"), {400, 404}),
    ("path upwards in percent", head(first=b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1"), {400, 404}),
    ("agent upwards", head(first=b"GET /agents/../../etc/passwd HTTP/1.1"), {400, 404}),
    ("broken percent", head(first=b"GET /%zz HTTP/1.1"), {400, 404}),
    ("zero in the path", head(first=b"GET /a%00b HTTP/1.1"), {400, 404}),
    ("raw bytes in the path", head(first=b"GET /\xff\xfe HTTP/1.1"), {400, 404}),
    ("fragment", head(first=b"GET /nowhere#x HTTP/1.1"), {400}),
    ("absolute target", head(first=b"GET http://localhost/nowhere HTTP/1.1"), {404}),
    ("absolute target of another host", head(first=b"GET http://127.0.0.1/nowhere HTTP/1.1"), {400}),
    ("unknown path", head(first=b"GET /nowhere HTTP/1.1"), {404}),
    ("post to an unknown path", head(b"Content-Length: 2", first=b"POST /nowhere HTTP/1.1") + b"{}", {404, 405}),
    ("post to a card", head(b"Content-Length: 2", first=b"POST /.well-known/agent.json HTTP/1.1") + b"{}", {404, 405}),
    ("body shorter than its length", with_length(b"10"), {400, 408, 0}),
    ("other content type", head(b"Content-Type: text/plain", b"Content-Length: %d" % len(BODY)) + BODY, {415}),
    ("a form", head(b"Content-Type: multipart/form-data; boundary=x", b"Content-Length: %d" % len(BODY)) + BODY, {415}),
    ("only line ends", CRLF * 50, {400, 408, 0}),
    ("nothing at all", b"", {0}),
]
# Unusual but correct: answered like any request.
GOOD_ROWS = [
    ("range on a post", head(JSON, b"Range: bytes=0-1", b"Content-Length: %d" % len(BODY)) + BODY),
    ("expectation", head(JSON, b"Expect: 100-continue", b"Content-Length: %d" % len(BODY)) + BODY),
    ("accepts encodings", head(JSON, b"Accept-Encoding: gzip, br", b"Content-Length: %d" % len(BODY)) + BODY),
    ("same length twice in capitals", head(JSON, b"CONTENT-LENGTH: %d" % len(BODY)) + BODY),
    ("chunks", chunked(b"%x\r\n" % len(BODY) + BODY + b"\r\n0\r\n\r\n")),
    ("small chunks with extensions and a trailer",
     chunked(*[b"1;x=y\r\n%c\r\n" % byte for byte in BODY], b"0\r\nX: y\r\n\r\n")),
    ("small letters in names", head(b"content-type: application/json", b"content-length: %d" % len(BODY)) + BODY),
    ("HTTP/1.0", head(JSON, b"Content-Length: %d" % len(BODY), first=b"POST / HTTP/1.0") + BODY),
]


def exchange(port, data, half_close=True, seconds=60):
    """Sends the bytes, closes the sending side, and returns everything that comes back."""
    with socket.create_connection(("127.0.0.1", port), client.scaled(seconds)) as connection:
        try:
            connection.sendall(data)
            if half_close:
                connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the server has seen enough
        answer = b""
        try:
            while piece := connection.recv(65536):
                answer += piece
        except ConnectionResetError:
            pass
        return answer


def status_of(answer):
    """Returns the status of the last answer other than 100 Continue; 0 if there is none."""
    while answer.startswith(b"HTTP/1.1 100"):
        answer = answer.split(CRLF * 2, 1)[1]
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.") else 0


class SlowInput(harness.ServerCase):
    """Requests that never end. The limits are short, so other tests have a server of their own."""
    AGENTS = ["mirror"]
    CONFIG = {"http": {"header_time_s": 1, "body_grace_s": 1, "body_rate_min": 1024}}

    def tearDown(self):
        self.assertEqual(self.server.http("GET", "/healthz").status, 200)

    @rings.everything("unit/http/http_server_limits_test.cpp")
    def test_slow_head(self):
        for name, first, pieces in (("drip", b"", [b"POST / HT", b"TP/1.1\r\nX", b"-A: ", b"y"]),
                                    ("silence", b"POST", [])):
            with self.subTest(name):
                self.assertIn(self.drip(first, pieces), (408, 0))

    @rings.everything("unit/http/http_server_limits_test.cpp")
    def test_slow_body(self):
        for name, pieces in (("drip", [b"x"]), ("silence", [])):
            with self.subTest(name):
                self.assertIn(self.drip(with_length(b"5000", b""), pieces), (408, 0))

    def drip(self, first, pieces):
        """Sends `first`, and then one of the pieces every 50 ms, over and over, until the server answers or closes.
        Returns the status of its answer."""
        with socket.create_connection(("127.0.0.1", self.server.port), client.scaled(60)) as connection:
            answer = []
            reader = threading.Thread(target=lambda: answer.append(self.read_all(connection)))
            reader.start()
            for piece in itertools.chain([first], itertools.islice(itertools.cycle(pieces), 1000)):
                try:
                    connection.sendall(piece)
                except OSError:
                    break
                reader.join(0.05)
                if not reader.is_alive():
                    break
            else:
                self.assertFalse(pieces, "the server still waits")
            reader.join(client.scaled(60))
            self.assertTrue(answer, "the server still waits")
        return status_of(answer[0])

    @staticmethod
    def read_all(connection):
        """Returns what comes until the server closes; fails if it does not."""
        data = b""
        try:
            while piece := connection.recv(65536):
                data += piece
        except ConnectionError:
            pass
        return data


class BadInput(harness.ServerCase):
    AGENTS = ["mirror"]

    def tearDown(self):
        self.assertEqual(self.server.http("GET", "/healthz").status, 200)

    def test_part_over_the_limit(self):
        text = "x" * (4 * 2**20 + 1)
        answer = self.server.rpc("tasks/send", {"id": client.new_id(), "message": client.text_message(text)})
        self.assert_error(answer, -32602)

    def test_metadata_with_huge_numbers_is_no_error(self):
        answer = self.server.post(bad_bodies.GOOD.replace(b'"\xe7\xba\xbf"', b"1e999"), method="tasks/send")
        self.assertIn(b"1e999", answer.raw)

    def test_half_a_surrogate_pair_becomes_a_replacement_character(self):
        for escaped in (b"\\ud83d", b"\\udc00"):
            with self.subTest(escaped):
                body = json.loads(bad_bodies.GOOD)
                body["params"] |= {"id": client.new_id(), "historyLength": 1, "metadata": {"k": "HALF"},
                                   "message": client.text_message("aHALF")}
                body = json.dumps(body).encode().replace(b"HALF", escaped)
                task = json.loads(self.server.post(body, method="tasks/send").raw.decode())["result"]
                self.assertEqual(task["metadata"]["k"], "\ufffd")
                self.assertEqual(task["history"][0]["parts"][0]["text"], "a\ufffd")

    def test_an_early_refusal_has_the_form_of_its_protocol_and_may_be_read_by_its_page(self):
        for form, request in ((b'{"jsonrpc":"2.0","id":null,"error":', head(JSON, b"Content-Length: 9999999", ORIGIN)),
                              (b'{"error":{"code":431,', head(ORIGIN, b"X: " + b"a" * 70000,
                                                              first=b"POST /message:send HTTP/1.1"))):
            answer = exchange(self.server.port, request, half_close=False)
            self.assertIn(b"\r\nAccess-Control-Allow-Origin: http://localhost:3000\r\n", answer)
            self.assertTrue(answer.split(CRLF * 2, 1)[1].startswith(form), answer)

    def test_pipelined_requests_are_all_answered(self):
        one = CRLF.join([b"POST / HTTP/1.1", b"Host: localhost", b"Content-Type: application/json",
                         b"Content-Length: %d" % len(BODY), b"", BODY])
        answer = exchange(self.server.port, one * 9 + with_length(b"%d" % len(BODY), BODY), False)
        self.assertEqual(answer.count(b"HTTP/1.1 200"), 10)
        self.assertEqual(answer.count(b'"code":-32001'), 10)


def add_body_row(number, name, body, code, first_of_code):
    def test(self):
        answer = self.server.post(body)
        self.assert_error(answer, code, status=400 if code == bad_bodies.PARSE else 200)
    test.__doc__ = name
    if code != bad_bodies.PARSE and not first_of_code:
        test = rings.everything("unit/protocol/rpc/json_rpc_test.cpp and unit/protocol/a2a/v0_1_test.cpp")(test)
    setattr(BadInput, f"test_body_{number:03d}", test)


def add_http_row(number, name, data, statuses):
    def test(self):
        answer = exchange(self.server.port, data)
        self.assertIn(status_of(answer), statuses, (name, answer[:300]))
    test.__doc__ = name
    setattr(BadInput, f"test_http_{number:03d}", test)


def add_good_row(number, name, data):
    def test(self):
        answer = exchange(self.server.port, data)
        self.assertEqual(status_of(answer), 200, (name, answer[:300]))
        self.assertIn(b'"code":-32001', answer)
    test.__doc__ = name
    setattr(BadInput, f"test_unusual_{number:03d}", test)


BODY_ROWS = list(bad_bodies.rows())
for number, row in enumerate(BODY_ROWS):
    add_body_row(number, *row, row[-1] not in [before[-1] for before in BODY_ROWS[:number]])
for number, row in enumerate(HTTP_ROWS):
    add_http_row(number, *row)
for number, row in enumerate(GOOD_ROWS):
    add_good_row(number, *row)


class Table(harness.unittest.TestCase):
    def test_it_is_long_enough(self):
        self.assertGreaterEqual(len({row[1] for row in BODY_ROWS}) + len(HTTP_ROWS), 200)
