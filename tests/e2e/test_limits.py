"""Limits: waiting takes no thread, and excess requests get an answer."""
import json
import selectors
import socket
import threading

import client
import harness

MANY = 1000
POOLED = 8  # threads of the pools, which are started on demand


class ManyWaiting(harness.ServerCase):
    AGENTS = ["slow", "joke"]
    CONFIG = {"engine": {"slots": 2000}}

    def ask(self, task):
        """Sends tasks/send for a long task on a connection of its own, and does not wait."""
        body = self.server.envelope("tasks/send", {"id": task, "message": client.text_message("x")}, 1)
        connection = socket.create_connection((self.server.host, self.server.port))
        connection.sendall(b"POST /agents/slow HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                           b"Content-Length: %d\r\n\r\n" % len(body) + body)
        return connection

    def test_a_thousand_waiting_sends_cost_no_thread(self):
        self.server.send("warm", agent="joke")
        threads = self.server.threads() + POOLED
        tasks = [client.new_id() for _ in range(MANY)]
        connections = [self.ask(task) for task in tasks]
        try:
            for task in (tasks[0], tasks[-1]):
                self.wait_state(task, "working", agent="slow")
            self.assertLessEqual(self.server.threads(), threads)
            self.assertEqual(self.server.send("x", agent="joke")["status"]["state"], "completed")
            self.server.gate("slow", "all")
            self.assertEqual(self.answers(connections), MANY)
            self.assertLessEqual(self.server.threads(), threads)
        finally:
            for connection in connections:
                connection.close()

    def answers(self, connections):
        """Reads every answer. Returns how many show a completed task."""
        selector = selectors.DefaultSelector()
        read = dict.fromkeys(connections, b"")
        for connection in connections:
            selector.register(connection, selectors.EVENT_READ)
        complete = 0
        while selector.get_map():
            ready = selector.select(client.scaled(60))
            self.assertTrue(ready, f"only {complete} answers")
            for key, _ in ready:
                piece = key.fileobj.recv(65536)
                read[key.fileobj] += piece
                if not piece or b'"completed"' in read[key.fileobj]:
                    selector.unregister(key.fileobj)
                    complete += b'"completed"' in read[key.fileobj]
        return complete


class Full(harness.ServerCase):
    AGENTS = ["slow"]
    CONFIG = {"engine": {"slots": 1, "queue_max": 2}, "http": {"streams_max": 3},
              "limits": {"history_max": 4, "webhooks_max": 1}}

    def test_full_queue_is_answered_and_leaves_no_task(self):
        tasks = [client.new_id() for _ in range(3)]
        streams = [self.server.stream("x", task) for task in tasks]
        streams[0].until(lambda block: block.status and "begun" in str(block.status.get("message")))
        more = client.new_id()
        harness.wait_for(lambda: self.server.rpc("tasks/get", {"id": tasks[2]}).body.get("result"))
        answer = self.server.rpc("tasks/send", {"id": more, "message": client.text_message("x")})
        self.assertEqual(answer.status, 200)
        self.assertEqual((answer.body["error"]["code"], answer.body["error"]["message"]), (429, "Too many requests"))
        self.assertGreater(answer.body["error"]["data"]["retryAfter"], 0)
        self.assertGreater(int(answer.headers["Retry-After"]), 0)
        for path, version in (("/v1/message:send", None), ("/message:send", "1.0")):
            message = {"messageId": more + path, "role": "ROLE_USER"}
            message["parts" if version else "content"] = [{"text": "x"}]
            answer = self.server.http("POST", path, json.dumps({"message": message}).encode(), {
                "Content-Type": "application/json", **({"A2A-Version": version} if version else {})})
            self.assertEqual(answer.status, 429, answer.raw)
            self.assertGreater(int(answer.headers["Retry-After"]), 0)
            told = answer.body["error"]["details"] if version else answer.body
            self.assertIn("RetryInfo" if version else "retryAfter", json.dumps(told))
        self.assert_error(self.server.rpc("tasks/get", {"id": more}), -32001)
        with self.subTest("too many streams"):
            answer = self.server.rpc("tasks/resubscribe", {"id": tasks[0]})
            self.assertEqual(answer.status, 503)
            self.assertGreater(int(answer.headers["Retry-After"]), 0)
        for task in tasks:
            self.server.gate("slow", task)
        for stream in streams:
            self.assertEqual(stream.rest()[-1].status["state"], "completed")
        self.assertEqual(self.server.rpc("tasks/get", {"id": tasks[0]}).status, 200)


class OneTurnAtATime(harness.ServerCase):
    AGENTS = ["slow"]

    def test_messages_to_a_running_task_wait_for_their_turn(self):
        task = client.new_id()
        first = self.server.stream("first", task)
        first.until(lambda block: block.status and "begun" in str(block.status.get("message")))
        done = []
        second = threading.Thread(target=lambda: done.append(self.server.send("second", task)))
        second.start()
        harness.wait_for(lambda: len(self.server.get(task, historyLength=10)["history"]) >= 2,
                         what="the second message to be stored")
        self.server.gate("slow", task)
        second.join(client.scaled(60))
        self.assertEqual(done[0]["status"]["state"], "completed")
        said = [client.text_of(message) for message in self.server.get(task, historyLength=10)["history"]
                if message["role"] == "user"]
        self.assertEqual(said, ["first", "second"])
