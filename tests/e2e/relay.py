"""Servers that the program is a client of. Relay stands in front of a server, with a card of its own, forwards requests
and can lose connections. Elsewhere answers by itself."""
import http.client
import http.server
import json
import threading

import client


def card_for(url, interfaces=(("JSONRPC", "1.0"),), name="Elsewhere", streaming=False):
    """Returns a card whose interfaces, pairs of binding and version, are all at `url`."""
    return {"name": name, "description": "d", "version": "1", "capabilities": {"streaming": streaming},
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
            "skills": [{"id": "s", "name": "s", "description": "d", "tags": ["t"]}],
            "supportedInterfaces": [{"url": url, "protocolBinding": binding, "protocolVersion": version}
                                    for binding, version in interfaces]}


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def say(self, content, status=200, content_type="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class Listener(http.server.ThreadingHTTPServer):
    request_queue_size = 128  # connections that are not accepted yet; beyond it one may take seconds


class Site:
    """Serves with `handler` on a free loopback port, as a context manager."""

    def __init__(self, handler):
        self.http = Listener(("127.0.0.1", 0), handler)
        self.port = self.http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/"

    def __enter__(self):
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,))  # its end may take that long
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


class Elsewhere(Site):
    """Keeps the headers of its requests, and answers each POST with a message."""

    def __init__(self, card=None):
        outer, self.headers, self.card = self, [], card

        class Answering(Handler):
            def do_GET(self):
                outer.headers.append(dict(self.headers))
                self.say(json.dumps(outer.card).encode())

            def do_POST(self):
                outer.headers.append(dict(self.headers))
                self.body()
                self.say(json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"message": {
                    "messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "hi"}]}}}).encode())

        super().__init__(Answering)

    def authorizations(self):
        return [headers.get("Authorization") for headers in self.headers]


class Relay(Site):
    """`interfaces`: (binding, version) pairs of the card, whose URLs are this relay's. `lose`: how many POSTs are
    forwarded but their answers lost."""

    def __init__(self, server, interfaces, agent="echo", lose=0, streaming=True):
        self.server, self.agent, self.lose, self.bodies = server, agent, lose, []
        self.paths = []
        outer = self

        class Passing(Handler):
            def do_GET(self):
                if self.path.startswith("/.well-known/"):
                    return self.say(outer.card_text())
                return self.pass_on("GET", None)

            def do_POST(self):
                body = self.body()
                outer.bodies.append(json.loads(body) if body else None)
                self.pass_on("POST", body)

            def pass_on(self, method, body):
                outer.paths.append(self.path)
                connection = http.client.HTTPConnection("127.0.0.1", outer.server.port, timeout=client.scaled())
                headers = {name: value for name, value in self.headers.items()
                           if name.lower() not in ("host", "connection", "content-length")}
                path = f"/agents/{outer.agent}" + ("" if self.path == "/" else self.path)
                connection.request(method, path, body, headers)
                answer = connection.getresponse()
                content = answer.read()
                connection.close()
                if method == "POST" and outer.lose > 0:
                    outer.lose -= 1
                    self.close_connection = True
                    return
                self.say(content, answer.status, answer.headers.get("Content-Type"))

        super().__init__(Passing)
        self.card = card_for(self.url, interfaces, "Relay", streaming)

    def repeat_safely(self):
        """Declares that a repeated message is recognised."""
        self.card["capabilities"]["extensions"] = [{"uri": client.EXTENSION, "params": {"idempotentSend": True}}]
        return self

    def card_text(self):
        return json.dumps(self.card).encode()
