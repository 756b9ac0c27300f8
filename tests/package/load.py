"""Sends tasks to the agent echo until SIGTERM, then checks each that was acknowledged: it has ended well, with the text
that was sent. Of what is refused or broken off the same message is sent again.

usage: load.py URL

Ends with a line of what was done; fails if a task was lost or is another one than was sent, or if nothing had to be
sent again (then nothing was interrupted)."""
import http.client
import json
import signal
import sys
import threading
import time
import urllib.parse
import uuid

SENDERS, PAUSE_S, RETRY_S, OUTAGE_MAX_S, LAST_S = 8, 0.02, 0.1, 60, 60
# So that turns are under way when the program is asked to stop.
TURN_WORDS, WORD_MS = 3, 50


class Refused(Exception):
    """Not now."""


class Caller:
    """One connection; it is opened anew after a failure."""

    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)

    def call(self, method, params):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        try:
            self.connection.request("POST", "/agents/echo", body, {"Content-Type": "application/json", "A2A-Version": "0.3"})
            response = self.connection.getresponse()
            answer = response.read()
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            raise Refused from error
        if response.status != 200 or "result" not in (read := json.loads(answer)):
            self.connection.close()
            raise Refused(answer)
        return read["result"]


class Load:
    def __init__(self, url):
        self.url, self.going, self.lock = url, True, threading.Lock()
        self.acknowledged, self.retries, self.outage_s, self.errors = {}, 0, 0.0, []

    def send_all(self):
        caller = Caller(self.url)
        while self.going:
            identifier = str(uuid.uuid4())
            text = f"{identifier} " + "word " * TURN_WORDS
            message = {"kind": "message", "messageId": identifier, "role": "user", "parts": [{"kind": "text", "text": text}],
                       "metadata": {"delay_ms": WORD_MS}}
            try:
                task = self.send_one(caller, {"message": message, "configuration": {"blocking": False}})
            except Refused:
                self.errors.append(f"{identifier} was refused for {OUTAGE_MAX_S} s")
                return
            with self.lock:
                self.acknowledged[task["id"]] = text
            time.sleep(PAUSE_S)

    def send_one(self, caller, params):
        began = time.monotonic()
        while True:
            try:
                return caller.call("message/send", params)
            except Refused:
                if time.monotonic() - began > OUTAGE_MAX_S:
                    raise
                time.sleep(RETRY_S)
                with self.lock:
                    self.retries += 1
                    self.outage_s = max(self.outage_s, time.monotonic() - began)

    def check_all(self):
        caller, end = Caller(self.url), time.monotonic() + LAST_S
        for identifier, text in self.acknowledged.items():
            while True:
                task = caller.call("tasks/get", {"id": identifier})
                if task["status"]["state"] not in ("submitted", "working") or time.monotonic() > end:
                    break
                time.sleep(0.05)
            said = "".join(part["text"] for artifact in task.get("artifacts", []) for part in artifact["parts"])
            if task["status"]["state"] != "completed" or said != text:
                self.errors.append(f"{identifier} is {task['status']['state']} and says {said!r}")


def main():
    load = Load(sys.argv[1])
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    senders = [threading.Thread(target=load.send_all, daemon=True) for _ in range(SENDERS)]
    for sender in senders:
        sender.start()
    while not stopped.wait(0.5) and any(sender.is_alive() for sender in senders):
        pass
    load.going = False
    for sender in senders:
        sender.join(OUTAGE_MAX_S)
    load.check_all()
    print(f"{len(load.acknowledged)} tasks acknowledged, {len(load.errors)} of them lost or wrong; "
          f"{load.retries} tries again, over {load.outage_s:.1f} s at most")
    for error in load.errors[:5]:
        print(error)
    sys.exit(0 if load.acknowledged and load.retries and not load.errors else 1)


main()
