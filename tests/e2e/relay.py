"""Something between the program as a client and a server: it serves a card of its own, passes requests on, and can
lose connections."""
import http.client
import http.server
import json
import threading


class Relay:
    """`interfaces`: (binding, version) pairs of the card, whose URLs are this relay's. `lose`: so many POSTs are
    passed on, but their answers are lost."""

    def __init__(self, server, interfaces, agent="echo", lose=0, streaming=True):
        self.server, self.agent, self.lose, self.bodies = server, agent, lose, []
        self.paths = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                if self.path.startswith("/.well-known/"):
                    return self.say(200, "application/json", outer.card_text())
                return self.pass_on("GET", None)

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                outer.bodies.append(json.loads(body) if body else None)
                self.pass_on("POST", body)

            def pass_on(self, method, body):
                outer.paths.append(self.path)
                connection = http.client.HTTPConnection("127.0.0.1", outer.server.port, timeout=60)
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
                self.say(answer.status, answer.headers.get("Content-Type"), content)

            def say(self, status, content_type, content):
                self.send_response(status)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/"
        self.card = {
            "name": "Relay", "description": "d", "version": "1", "capabilities": {"streaming": streaming},
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
            "skills": [{"id": "s", "name": "s", "description": "d", "tags": ["t"]}],
            "supportedInterfaces": [{"url": self.url, "protocolBinding": binding, "protocolVersion": version}
                                    for binding, version in interfaces]}

    def card_text(self):
        return json.dumps(self.card).encode()

    def __enter__(self):
        self.thread = threading.Thread(target=self.http.serve_forever)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()
