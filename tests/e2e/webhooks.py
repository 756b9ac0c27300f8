"""A webhook receiver on a free loopback port that keeps its deliveries."""
import http.server
import json
import threading

import client


class Delivery:
    def __init__(self, path, headers, body):
        self.path, self.headers, self.body = path, headers, body
        self.raw = body
        self.task = json.loads(body)  # or, since A2A 1.0, one item of a stream
        update = self.task.get("statusUpdate") or self.task.get("task") or self.task
        self.state = update.get("status", {}).get("state")


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, headers = self.server.owner.take(self.path, self.headers, body)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST  # a redirect that is followed would come as one

    def log_message(self, *_):
        pass


class Receiver:
    """`answer(path, count)` returns the status, or (status, headers), for the count-th request to a path."""

    def __init__(self, answer=lambda path, count: 200):
        self.answer = answer
        self.changed = threading.Condition()
        self.deliveries = []  # answered with 2xx
        self.refused = []     # answered otherwise
        self.counts = {}
        http.server.ThreadingHTTPServer.request_queue_size = 128
        self.httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self.httpd.daemon_threads = True
        self.httpd.owner = self
        threading.Thread(target=self.httpd.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.httpd.shutdown()
        self.httpd.server_close()

    def url(self, path="/hook"):
        return f"http://127.0.0.1:{self.httpd.server_port}{path}"

    def take(self, path, headers, body):
        with self.changed:
            self.counts[path] = self.counts.get(path, 0) + 1
            answer = self.answer(path, self.counts[path])
            status, more = answer if isinstance(answer, tuple) else (answer, {})
            kept = self.deliveries if 200 <= status < 300 else self.refused
            kept.append(Delivery(path, headers, body))
            self.changed.notify_all()
        return status, more

    def of(self, path="/hook"):
        with self.changed:
            return [delivery for delivery in self.deliveries if delivery.path == path]

    def wait(self, condition, seconds=client.PATIENCE_S, what="deliveries"):
        """Waits until condition(self) is true."""
        with self.changed:
            if not self.changed.wait_for(lambda: condition(self), client.scaled(seconds)):
                got = [(d.path, d.state) for d in self.deliveries]
                raise AssertionError(f"waited in vain for {what}; delivered {got}, refused {len(self.refused)}")

    def wait_state(self, *states, path="/hook", seconds=client.PATIENCE_S):
        """Waits until a task in one of these states has been delivered to the path."""
        self.wait(lambda _: any(d.state in states for d in self.deliveries if d.path == path), seconds,
                  f"{states} at {path}")
