"""The program's memory stays bounded whatever hostile agents elsewhere send, all at the same time, and its shared
threads stay free."""
import contextlib
import json
import os
import pathlib
import threading
import time
import unittest

import client
import harness
import relay
from test_remote_agents import Front, free_port

MIB = 1 << 20
HOSTILE = 90 * MIB
FINE = 8 * MIB
BEGIN = '{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"},'
LIST = '"artifacts":[{"artifactId":"a","name":"n","parts":['


def repeated(element, size, before, after):
    """Yields pieces of about `size` bytes in total: the element repeated, with commas."""
    yield before
    block = (element + ",") * (MIB // (len(element) + 1))
    for _ in range(size // len(block)):
        yield block
    yield element + after


def task(members, size, element):
    return repeated(element, size, BEGIN + members[0], members[1] + "}}}")


def long_text(size):
    yield BEGIN + '"artifacts":[{"artifactId":"a","name":"n","parts":[{"text":"'
    for _ in range(size // MIB):
        yield "x" * MIB
    yield '"}]}]}}}'


PARTS = (LIST, "]}]")
# Each agent's answer, in pieces of JSON, and whether it is refused.
ANSWERS = {
    "text": (lambda: long_text(HOSTILE), True),
    "artifacts": (lambda: task(('"artifacts":[', "]"), HOSTILE, '{"artifactId":"a","parts":[]}'), True),
    "parts": (lambda: task(PARTS, HOSTILE, '{"text":"x"}'), True),
    "few-parts": (lambda: task(PARTS, FINE, '{"text":"x"}'), True),
    "history": (lambda: task(('"history":[', "]"), HOSTILE, '{"messageId":"m","parts":[{"text":"x"}]}'), True),
    "numbers": (lambda: task((LIST + '{"data":[', "]}]}]"), HOSTILE, "1"), True),
    "fine": (lambda: long_text(FINE), False),
    "fine-too": (lambda: long_text(FINE), False),
}
# An endless run of each endpoint: its first event, and the event that it repeats.
RUNS = {
    "words": (None, {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "x" * 60_000}),
    "arguments": ({"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f"},
                  {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "x" * 60_000}),
    "steps": (None, {"type": "CUSTOM", "name": "n", "value": "x" * 60_000}),
    "event": (None, None),
}


class Handler(relay.Handler):
    """The path names the agent: /NAME or, without streams, /plain/NAME."""

    def do_GET(self):
        place = self.path.split("/.well-known/")[0]
        url = f"http://127.0.0.1:{self.server.server_address[1]}{place}"
        self.say(json.dumps(relay.card_for(url, streaming="/plain/" not in place)).encode())

    def do_POST(self):
        self.body()
        name = self.path.rsplit("/", 1)[1]
        streams = "/plain/" not in self.path
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if streams else "application/json")
        self.end_headers()
        self.close_connection = True
        with contextlib.suppress(ConnectionError):
            if name in RUNS:
                return self.run(*RUNS[name])
            if streams:
                self.wfile.write(b"data: ")
            for piece in ANSWERS[name][0]():
                self.wfile.write(piece.encode())
            self.server.may_end.wait(client.scaled())
            self.wfile.write(b"\n\n")

    def run(self, first, event):
        self.wfile.write(f"data: {json.dumps({'type': 'RUN_STARTED', 'threadId': 't', 'runId': 'r'})}\n\n".encode())
        if first:
            self.wfile.write(f"data: {json.dumps(first)}\n\n".encode())
        for _ in range(20_000):
            text = json.dumps(event)
            self.wfile.write((f"data: {text}\n\n" if event else "data: " + "x" * 60_000).encode())


class Hostile(harness.ServerCase):
    @classmethod
    def setUpClass(cls):
        cls.site = relay.Site(Handler).__enter__()
        cls.site.http.may_end = threading.Event()
        cls.addClassCleanup(cls.site.__exit__)
        origin = cls.site.url.rstrip("/")
        cls.server = Front({}, [origin], agents=["echo"])
        cls.server.config["limits"] = {"task_max": 16 * MIB}  # endless runs end here
        for name in ANSWERS:
            place = "plain/" if name in ("history", "fine-too") else ""
            cls.server.write_card(name, {"url": f"{origin}/{place}{name}", "turn_timeout_s": client.scaled(120)})
        for name in RUNS:
            cls.server.write_card(name, {"executor": "ag-ui", "url": f"{origin}/{name}", "on_unknown": "fail"})
        cls.server.start()

    def send(self, agent):
        message = {"messageId": client.new_id(), "role": "ROLE_USER", "parts": [{"text": "go"}]}
        params = {"message": message, "configuration": {"returnImmediately": True}}
        answer = self.server.call("SendMessage", params, agent=agent, headers={"A2A-Version": "1.0"})
        return answer["task"]["id"]

    def most_resident(self):
        status = pathlib.Path(f"/proc/{self.server.pid}/status").read_text(encoding="ascii")
        return int(status.split("VmHWM:")[1].split()[0]) / 1024

    def ending(self, agent, task):
        ended = self.wait_state(task, "completed", "failed", "canceled", "rejected", agent=agent, seconds=240)
        status = ended["status"]
        return status["state"], client.text_of(status["message"]) if "message" in status else ""

    @unittest.skipIf(os.environ.get("BATON_SANITIZER"), "sanitizers take memory of their own")
    def test_memory_and_shared_threads(self):
        began = time.monotonic()
        tasks = {agent: self.send(agent) for agent in [*ANSWERS, *RUNS]}
        # Other agents are served meanwhile. No answer ends before `may_end` is set.
        self.assertEqual(self.server.send("hi", client.new_id(), agent="echo")["status"]["state"], "completed")
        self.site.http.may_end.set()
        ends = {agent: self.ending(agent, task) for agent, task in tasks.items()}
        resident = self.most_resident()
        # No thread was busy longer than this at a time. On a slow machine everything takes longer.
        most = max(client.scaled(1), (time.monotonic() - began) / 10)
        for thread in ("engine", "engine-flush", "http-loop", "agents"):
            busy = self.server.metric(f'baton_thread_busy_seconds{{thread="{thread}"}}')
            self.assertLess(busy, most, thread)
        harness.wait_for(lambda: self.server.metric("baton_outbound_bytes") == 0, what="the answers to be freed")
        for agent, (_, is_refused) in ANSWERS.items():
            self.assertEqual(ends[agent][0], "failed" if is_refused else "completed", (agent, ends[agent]))
        self.assertIn("outbound.task_bytes_max", ends["text"][1])
        self.assertIn("artifacts, messages and parts", ends["few-parts"][1])
        self.assertIn("outbound.tool_arguments_max", ends["arguments"][1])
        self.assertEqual({ends[agent][0] for agent in RUNS}, {"failed"}, ends)
        self.assertLess(resident, 600, "MiB")


@unittest.skipUnless(client.has_grpc(), "built without gRPC")
class OverGrpc(harness.ServerCase):
    """A message over gRPC has the same limit, and is not requested again."""

    @classmethod
    def setUpClass(cls):
        port = free_port()
        cls.far = harness.Server(["mirror"], options=("--grpc-port", str(port))).start()
        cls.addClassCleanup(cls.far.discard)
        origins = [f"http://127.0.0.1:{at}" for at in (cls.far.port, port)]
        way = {"version": "1.0", "transport": "grpc", "agent": "mirror", "endpoint": origins[1]}
        cls.server = Front({"far": {"url": origins[0], "a2a": way}}, origins)
        cls.server.config["outbound"]["task_bytes_max"] = "1MiB"
        cls.server.start()

    def test_a_message_past_the_limit_fails_the_task(self):
        task = self.server.send("x" * 1000, client.new_id(), agent="far")
        self.assertEqual(task["status"]["state"], "completed", task["status"])
        task = self.server.send("x" * (2 * MIB), client.new_id(), agent="far")
        self.assertEqual(task["status"]["state"], "failed")
        self.assertIn("the answer is larger than allowed", client.text_of(task["status"]["message"]))


if __name__ == "__main__":
    unittest.main()
