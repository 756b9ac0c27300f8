"""A scripted server of MCP tools on a free loopback port, in one revision, and a door to another server."""
import http.client
import json
import queue
import threading
import urllib.parse

import client
import relay

MODERN = "2026-07-28"


def text(words, **more):
    """Returns a tool's result."""
    return {"content": [{"type": "text", "text": words}], **more}


def tool(name, description="d", properties=None, **annotations):
    return {"name": name, "description": description, "annotations": annotations,
            "inputSchema": {"type": "object", "properties": properties or {}}}


class ToolServer(relay.Site):
    """`tools`: what it lists. `calls`: by a tool's name, a function of (arguments, handler) that returns a result, or
    None if it has answered itself. `methods`, `seen` and `heads`: what has come. `asks`: requests that it puts into the
    stream of a call, before it waits for their answers and keeps them, with their sessions, in `answers`."""

    def __init__(self, version=MODERN, streams=False):
        outer = self
        self.version, self.streams, self.tools, self.calls = version, streams, [], {}
        self.methods, self.seen, self.heads, self.sessions = [], [], [], set()
        self.asks, self.answers, self.replies = [], [], queue.SimpleQueue()
        self.lock = threading.Lock()

        class Answering(relay.Handler):
            def do_POST(self):
                request = json.loads(self.body())
                if "method" not in request:
                    outer.replies.put((self.headers.get("Mcp-Session-Id"), request))
                    return self.say(b"", 202)
                with outer.lock:
                    outer.methods.append(request["method"])
                    outer.heads.append(dict(self.headers))
                return outer.answer(self, request)

        super().__init__(Answering)

    def answer(self, handler, request):
        method, session = request["method"], handler.headers.get("Mcp-Session-Id")
        if self.version == MODERN:
            assert request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == MODERN, request
            if method == "server/discover":
                return self.give(handler, request, {"supportedVersions": [MODERN], "capabilities": {"tools": {}}})
        elif method == "initialize":
            with self.lock:
                session = f"s{len(self.sessions) + 1}"
                self.sessions.add(session)
            return self.give(handler, request, {"protocolVersion": self.version, "capabilities": {}}, session)
        elif session not in self.sessions:
            return handler.say(b"", 404 if session else 400)
        if method.startswith("notifications/"):
            return handler.say(b"", 202)
        if method == "tools/list":
            return self.give(handler, request, {"tools": self.tools})
        self.seen.append(request["params"])
        result = self.calls[request["params"]["name"]](request["params"], handler)
        if result is not None:
            self.give(handler, request, result)

    def give(self, handler, request, result, session=None):
        if self.version == MODERN:
            result = {"resultType": "complete", **result}
        body = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result})
        handler.send_response(200)
        if session:
            handler.send_header("Mcp-Session-Id", session)
        handler.send_header("Content-Type", "text/event-stream" if self.streams else "application/json")
        handler.end_headers()
        if self.streams:
            note = json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}})
            body = f"id: 1\ndata: \n\ndata: {note}\n\nid: 2\ndata: {body}\n\n"
            for ask in self.asks if request["method"] == "tools/call" else []:
                handler.wfile.write(f"data: {json.dumps(ask)}\n\n".encode())
                self.answers.append(self.replies.get(timeout=client.scaled(60)))
        handler.wfile.write(body.encode())


class Door(relay.Site):
    """Forwards to the server at `url`; with `is_old`, as one that has never heard of 2026-07-28. `methods`: what has
    come."""

    def __init__(self, url, is_old=False):
        outer, place, self.methods = self, urllib.parse.urlsplit(url), []

        class Forwarding(relay.Handler):
            def do_POST(self):
                body = self.body()
                outer.methods.append(json.loads(body)["method"])
                if is_old and self.headers.get("MCP-Protocol-Version") == MODERN:
                    return self.say(b"Bad Request: Server not initialized", 400, "text/plain")
                far = http.client.HTTPConnection(place.hostname, place.port, timeout=client.scaled())
                head = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
                far.request("POST", place.path, body, head)
                answer = far.getresponse()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() in ("content-type", "mcp-session-id"):
                        self.send_header(name, value)
                self.end_headers()
                while piece := answer.read1(65536):
                    self.wfile.write(piece)
                    self.wfile.flush()
                far.close()
                return None

        super().__init__(Forwarding)
