"""Large tasks: their size is bounded; answers that would be too large contain links to their largest parts, and the
links lead to the bytes; unread answers do not fill the memory."""
import base64
import json
import os
import pathlib
import socket
import urllib.parse

import a2a_case
import client
import harness
import webhooks

KIB, MIB = 1 << 10, 1 << 20


def raw_part(size, byte=b"\xf5", **more):
    return {"raw": base64.b64encode(byte * size).decode(), **more}


def links_in(value):
    """Returns every URL part below a value of 1.0 or 0.3."""
    if isinstance(value, list):
        return [link for item in value for link in links_in(item)]
    if not isinstance(value, dict):
        return []
    own = [value[name] for name in ("url", "uri") if isinstance(value.get(name), str)]
    return own + [link for item in value.values() for link in links_in(item)]


class LargeCase(a2a_case.A2aCase):
    def message(self, text, *parts, task=None, context=None):
        message = {"messageId": client.new_id(), "role": "ROLE_USER", "parts": [{"text": text}, *parts]}
        message |= {"taskId": task} if task else {}
        return message | ({"contextId": context} if context else {})

    def send(self, text, *parts, **where):
        """Sends with SendMessage. Returns the Answer."""
        return self.post("SendMessage", {"message": self.message(text, *parts, **where)}, version="1.0")

    def sent(self, *args, **where):
        answer = self.send(*args, **where)
        self.assertIn("result", answer.body, answer.raw[:500])
        return answer.body["result"]["task"]

    def get(self, task, **params):
        answer = self.post("GetTask", {"id": task, **params}, version="1.0")
        self.assertIn("result", answer.body, answer.raw[:500])
        return answer

    def fetch(self, url, headers=None, method="GET"):
        parts = urllib.parse.urlsplit(url)
        self.assertEqual(parts.netloc, f"{self.server.host}:{self.server.port}")
        return self.server.http(method, parts.path, headers=headers)


class Sizes(LargeCase):
    CONFIG = {**a2a_case.A2aCase.CONFIG,
              "limits": {"task_max": 6 * MIB, "answer_max": 2 * MIB, "answers_max": 16 * MIB}}

    def test_a_message_past_a_tasks_size_is_refused_and_the_task_stays_as_it_was(self):
        task = self.sent("ask", raw_part(3 * MIB))["id"]
        refused = self.send("ask", raw_part(3 * MIB), task=task)
        self.assertIn("6291456 bytes", json.dumps(refused.body["error"]), refused.raw[:500])
        now = self.get(task).body["result"]
        self.assertEqual(now["status"]["state"], "TASK_STATE_INPUT_REQUIRED")
        self.assertEqual(self.sent("end", task=task)["status"]["state"], "TASK_STATE_COMPLETED")

    def test_output_past_a_tasks_size_fails_the_turn(self):
        task = self.sent("mirror", raw_part(2 * MIB), raw_part(1 * MIB))
        self.assertEqual(task["status"]["state"], "TASK_STATE_FAILED")
        self.assertIn("6291456 bytes", json.dumps(task["status"]["message"]))
        self.assertEqual(task.get("artifacts", []), [])

    def large_task(self):
        """Makes a completed task of 4 MiB: two files in its history, and the same two in its artifact."""
        task = self.sent("mirror", raw_part(900 * KIB, b"a", filename="a.pdf", mediaType="application/pdf"),
                         raw_part(400 * KIB, b"b", mediaType="text/html", metadata={"kept": True}))
        self.assertEqual(task["status"]["state"], "TASK_STATE_COMPLETED")
        return task["id"]

    def test_the_largest_parts_of_a_large_answer_are_links_to_their_bytes(self):
        answer = self.get(self.large_task())
        self.assertLessEqual(len(answer.raw), 2 * MIB + 64 * KIB)
        task = answer.body["result"]
        first, second = task["artifacts"][0]["parts"]
        self.assertEqual((first["filename"], first["mediaType"]), ("a.pdf", "application/pdf"))
        self.assertIn("raw", second, "what fits stays")
        self.assertEqual(second["metadata"], {"kept": True})
        links = links_in(task)
        self.assertEqual(len(links), 2, links)
        for link in links:
            with self.subTest(link):
                self.assertEqual(self.fetch(link).raw, b"a" * 900 * KIB)

    def test_links_stand_in_lists_streams_webhooks_and_every_version(self):
        task = self.large_task()
        context = self.get(task).body["result"]["contextId"]
        answers = {"0.1": self.post("tasks/get", {"id": task, "historyLength": 9}, version="0.1"),
                   "0.3": self.post("tasks/get", {"id": task}, version="0.3"),
                   "0.3 REST": self.rest("GET", f"/v1/tasks/{task}?historyLength=9"),
                   "1.0 REST": self.rest("GET", f"/tasks/{task}"),
                   "list": self.post("ListTasks", {"contextId": context, "includeArtifacts": True,
                                                   "historyLength": 9}, version="1.0"),
                   "snapshot": self.post("tasks/resubscribe", {"id": task, "historyLength": 9}, version="0.3")}
        for name, answer in answers.items():
            with self.subTest(name):
                self.assertEqual(answer.status, 200, answer.raw[:300])
                self.assertLessEqual(len(answer.raw), 2 * MIB + 64 * KIB)
                self.assertIn(f"/agents/player/tasks/{task}/".encode(), answer.raw)
        with self.subTest("webhook"), webhooks.Receiver() as receiver:
            parts = [{"kind": "file", "file": {"bytes": raw_part(900 * KIB)["raw"]}} for _ in range(2)]
            sent = self.post("message/send", {
                "message": {"messageId": client.new_id(), "role": "user",
                            "parts": [{"kind": "text", "text": "mirror"}, *parts]},
                "configuration": {"blocking": True, "pushNotificationConfig": {"url": receiver.url()}}},
                version="0.3").body["result"]
            harness.wait_for(lambda: [one for one in receiver.deliveries if one.state == "completed"])
            links = links_in(receiver.deliveries[-1].task["artifacts"])
            self.assertEqual(len(links), 1)
            self.assertIn(f"/agents/player/tasks/{sent['id']}/artifacts/", links[0])
            self.assertEqual(len(self.fetch(links[0]).raw), 900 * KIB)


class Bytes(LargeCase):
    CONFIG = {**a2a_case.A2aCase.CONFIG,
              "tokens": [{"token": "a" * 32, "caller": "alice"}, {"token": "b" * 32, "caller": "bob"}]}

    def post(self, method, params, version=None, headers=None, **more):
        return super().post(method, params, version, {"Authorization": "Bearer " + "a" * 32, **(headers or {})}, **more)

    def path(self, *parts):
        task = self.sent("mirror", *parts)
        return f"/agents/player/tasks/{task['id']}/artifacts/{task['artifacts'][0]['artifactId']}"

    def bytes_at(self, path, method="GET", token="a", **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.server.http(method, path, headers={"Authorization": f"Bearer {token * 32}", **headers})

    def test_a_part_of_four_mebibytes_is_four_mebibytes_of_content(self):
        path = self.path(raw_part(4 * MIB, b"z"))
        self.assertEqual(self.bytes_at(path).raw, b"z" * 4 * MIB)
        refused = self.send("end", raw_part(4 * MIB + 1))
        self.assertIn("4194304 bytes", json.dumps(refused.body["error"]))

    def test_an_artifact_is_its_parts_one_after_the_other_and_each_has_its_own_url(self):
        path = self.path({"text": "head\n"}, raw_part(3, b"\0"), {"data": {"a": 1}})
        self.assertEqual(self.bytes_at(path).raw, b"head\n\0\0\0" + b'{"a": 1}')
        self.assertEqual(self.bytes_at(path).headers["Content-Type"], "text/plain; charset=utf-8")
        self.assertEqual(self.bytes_at(path + "/parts/1").raw, b"\0\0\0")
        self.assertEqual(self.bytes_at(path + "/parts/1").headers["Content-Type"], "application/octet-stream")
        head = self.bytes_at(path, "HEAD")
        self.assertEqual((head.status, head.raw, head.headers["Content-Length"]), (200, b"", "16"))
        for wrong in ("/parts/3", "/parts/x", "/parts/", "x", "/parts/1/2"):
            with self.subTest(wrong):
                self.assertEqual(self.bytes_at(path + wrong).status, 404)
        self.assertEqual(self.bytes_at(path, "POST").status, 405)

    def test_bytes_are_for_the_tasks_caller_alone(self):
        path = self.path({"text": "secret"})
        self.assertEqual(self.bytes_at(path, token="b").status, 404)
        self.assertEqual(self.server.http("GET", path).status, 401)

    def test_hostile_bytes_are_an_attachment_in_a_sandbox_with_a_safe_type(self):
        hostile = [("text/html", "x.html"), ("image/svg+xml", "x.svg"), ("application/xhtml+xml", None),
                   ("text/javascript", "../../x.js"), ("text/html;charset=utf-8", 'a"\r\nX-Evil: 1\r\n\r\n'),
                   ("image/png\r\nX-Evil: 1", "\u202egnp.exe"), ("TEXT/HTML", "x")]
        for media_type, name in hostile:
            with self.subTest(media_type=media_type, name=name):
                part = {"text": "<script>alert(1)</script>", "mediaType": media_type}
                answer = self.bytes_at(self.path(part | ({"filename": name} if name else {})))
                self.assertEqual(answer.status, 200)
                self.assertEqual(answer.headers["Content-Type"], "application/octet-stream")
                self.assertEqual(answer.headers["X-Content-Type-Options"], "nosniff")
                self.assertEqual(answer.headers["Content-Security-Policy"], "sandbox; default-src 'none'")
                self.assertTrue(answer.headers["Content-Disposition"].startswith("attachment"))
                self.assertNotIn("/", answer.headers["Content-Disposition"])
                self.assertIsNone(answer.headers["X-Evil"])
        png = self.bytes_at(self.path(raw_part(3, mediaType="Image/PNG; q=1", filename="\u00fc.png")))
        self.assertEqual(png.headers["Content-Type"], "image/png")
        self.assertIn("filename*=UTF-8''%C3%BC.png", png.headers["Content-Disposition"])

    def test_ranges_are_answered_as_they_were_asked_for(self):
        path = self.path(raw_part(1, b"a"), {"text": "bcdefghij"})
        etag = self.bytes_at(path).headers["ETag"]
        for asked, status, got, where in (("bytes=0-3", 206, b"abcd", "bytes 0-3/10"), ("bytes=8-", 206, b"ij", "bytes 8-9/10"),
                                          ("bytes=-2", 206, b"ij", "bytes 8-9/10"), ("bytes=-99", 206, b"abcdefghij", "bytes 0-9/10"),
                                          ("bytes=5-99", 206, b"fghij", "bytes 5-9/10"), ("bytes=10-", 416, b"", "bytes */10"),
                                          ("bytes=0-1,3-4", 200, b"abcdefghij", None), ("bytes=4-2", 200, b"abcdefghij", None),
                                          ("lines=1-2", 200, b"abcdefghij", None), ("bytes=x", 200, b"abcdefghij", None)):
            with self.subTest(asked):
                answer = self.bytes_at(path, Range=asked)
                self.assertEqual((answer.status, answer.raw, answer.headers["Content-Range"]), (status, got, where))
        self.assertEqual(self.bytes_at(path, Range="bytes=0-3", If_Range=etag).status, 206)
        self.assertEqual(self.bytes_at(path, Range="bytes=0-3", If_Range='"other"').status, 200)

    def test_a_link_is_never_followed(self):
        with socket.create_server(("127.0.0.1", 0)) as trap:
            trap.settimeout(0.2)
            path = self.path({"url": f"http://127.0.0.1:{trap.getsockname()[1]}/x"})
            answer = self.bytes_at(path)
            self.assertEqual(answer.status, 404)
            self.assertIn(b"link", answer.raw)
            with self.assertRaises(TimeoutError):
                trap.accept()


def resident(pid):
    """Returns the resident memory in MiB."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(text.split("VmRSS:")[1].split()[0]) / KIB


class Unread(LargeCase):
    READERS = 10
    RESIDENT_MAX = 300

    def unread(self, path, content, **headers):
        """Sends a request and does not read the answer."""
        body = json.dumps(content).encode()
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items()).replace("_", "-")
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect((self.server.host, self.server.port))
        connection.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{lines}"
                           f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        self.addCleanup(connection.close)
        return connection

    def assert_memory_stays(self, before):
        """Asserts that memory stays below the bound while others are served."""
        peak = before
        for _ in range(20):
            self.assertEqual(self.server.http("GET", "/healthz").status, 200)
            self.sent("end")
            peak = max(peak, resident(self.server.pid))
        print(f"\n{os.path.basename(harness.PROGRAM)}: {before:.0f} MiB before, {peak:.0f} MiB at most")
        # A sanitizer keeps freed memory for a while, and records of all memory.
        self.assertLess(peak, before + 3 * self.RESIDENT_MAX if client.is_sanitized() else self.RESIDENT_MAX)

    def test_conversations_that_nobody_reads_stay_below_300_mib(self):
        context = client.new_id()
        self.sent("end", {"text": "x" * 3900 * KIB}, context=context)
        run = {"threadId": context, "runId": "r", "messages": [], "tools": [], "context": [], "state": {},
               "forwardedProps": {}}
        whole = self.server.http("POST", "/agents/player/ag-ui", json.dumps(run).encode(),
                                 {"Content-Type": "application/json", "Accept": "text/event-stream"})
        self.assertGreater(len(whole.raw), 3900 * KIB)
        before = resident(self.server.pid)
        for _ in range(10 * self.READERS):
            self.unread("/agents/player/ag-ui", run, Accept="text/event-stream")
        self.assert_memory_stays(before)

    def largest_task(self):
        """Makes a task as large as possible: each send adds 7.6 MiB and an artifact of them, until one is refused. Its
        first client is one of the tasks era, which may continue a task that has ended."""
        task = client.new_id()
        parts = [{"type": "text", "text": text} for text in ("keep", "x" * 3900 * KIB, "y" * 3900 * KIB)]
        for _ in range(8):
            answer = self.post("tasks/send", {"id": task, "message": {"role": "user", "parts": parts}}, version="0.1")
            if "result" not in answer.body:
                self.assertIn("67108864 bytes", json.dumps(answer.body["error"]))
                break
        return task

    def test_answers_that_nobody_reads_stay_below_300_mib(self):
        task = self.largest_task()
        before = resident(self.server.pid)
        get = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": task}}
        sockets = [self.unread("/agents/player", get, A2A_Version="1.0") for _ in range(self.READERS)]
        self.assert_memory_stays(before)
        for connection in sockets[1:]:
            connection.close()
        # The first answer still arrives, and is whole.
        first = sockets[0]
        first.settimeout(client.scaled(60))
        first.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, MIB)  # otherwise only some kilobytes arrive at a time
        head = b""
        while b"\r\n\r\n" not in head:
            head += first.recv(4096)
        head, _, rest = head.partition(b"\r\n\r\n")
        rest = bytearray(rest)
        length = int(next(line.split(b":")[1] for line in head.split(b"\r\n") if line.startswith(b"Content-Length")))
        self.assertLessEqual(length, 32 * MIB + MIB)
        while len(rest) < length:
            piece = first.recv(1 << 20)
            self.assertTrue(piece, "the answer broke off")
            rest += piece
        answer = json.loads(rest)
        self.assertNotIn("error", answer)
        self.assertEqual(answer["result"]["id"], task)
