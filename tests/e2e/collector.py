"""A strict receiver of OpenTelemetry's traces over HTTP in JSON: it refuses bodies that opentelemetry-proto would not
have written. Its answers can be scripted to simulate a collector in trouble."""
import http.server
import json
import re
import threading

import client

HEX = {"traceId": re.compile(r"[0-9a-f]{32}\Z"), "spanId": re.compile(r"[0-9a-f]{16}\Z")}
DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)\Z")
CAMEL = re.compile(r"[a-z][a-zA-Z0-9]*\Z")
SPAN = {"traceId", "spanId", "parentSpanId", "name", "kind", "flags", "startTimeUnixNano", "endTimeUnixNano",
        "attributes", "links", "status", "traceState", "events"}


class Wrong(Exception):
    """The body is not OTLP."""


def need(condition, what):
    if not condition:
        raise Wrong(str(what)[:300])


def check_names(value):
    """Checks that every member of the messages is in lowerCamelCase; attributes' own names are values."""
    if isinstance(value, dict):
        for name, member in value.items():
            need(CAMEL.match(name), name)
            check_names(member)
    for member in value if isinstance(value, list) else []:
        check_names(member)


def check_id(place, name):
    value = place.get(name)
    need(isinstance(value, str) and HEX["traceId" if name == "traceId" else "spanId"].match(value), (name, value))
    need(value.strip("0"), f"{name} of zeros")


def value_of(attribute):
    need(set(attribute) == {"key", "value"} and len(attribute["value"]) == 1, attribute)
    (kind, value), = attribute["value"].items()
    if kind == "intValue":
        need(isinstance(value, str) and DECIMAL.match(value), attribute)
        return int(value)
    need(kind in ("stringValue", "boolValue", "doubleValue"), attribute)
    return value


def attributes_of(place):
    names = [one["key"] for one in place.get("attributes", [])]
    need(len(names) == len(set(names)), names)
    return {one["key"]: value_of(one) for one in place.get("attributes", [])}


class Span:
    def __init__(self, raw):
        need(set(raw) <= SPAN, set(raw) - SPAN)
        for name in ("traceId", "spanId"):
            check_id(raw, name)
        if "parentSpanId" in raw:
            check_id(raw, "parentSpanId")
        need(type(raw["kind"]) is int and 1 <= raw["kind"] <= 5, raw["kind"])
        for name in ("startTimeUnixNano", "endTimeUnixNano"):
            need(isinstance(raw[name], str) and DECIMAL.match(raw[name]), raw[name])
        self.begin, self.end = int(raw["startTimeUnixNano"]), int(raw["endTimeUnixNano"])
        need(0 < self.begin <= self.end, raw)
        self.trace, self.id, self.parent = raw["traceId"], raw["spanId"], raw.get("parentSpanId")
        self.name, self.kind, self.attributes = raw["name"], raw["kind"], attributes_of(raw)
        self.links = raw.get("links", [])
        for link in self.links:
            check_id(link, "traceId")
            check_id(link, "spanId")
        status = raw.get("status", {})
        need(type(status.get("code", 0)) is int and status.get("code", 0) in (0, 1, 2), status)
        self.failed = status.get("code") == 2

    def __repr__(self):
        return f"<{self.name} {self.id} below {self.parent} {self.attributes}>"


class Collector:
    """`answer(count)` returns (status, headers, body) for request number `count`, or None to hang."""

    def __init__(self, answer=lambda count: (200, {}, b"{}")):
        self.answer = answer
        self.changed = threading.Condition()
        self.spans, self.wrong, self.heads, self.resources, self.bodies, self.count = [], [], [], [], [], 0
        self.free = threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with outer.changed:
                    outer.count += 1
                    outer.heads.append(dict(self.headers))
                    outer.bodies.append(body)
                    answer = outer.answer(outer.count)
                    outer.changed.notify_all()
                if answer is None:
                    outer.free.wait(client.scaled())
                    self.close_connection = True
                    return
                status, headers, text = answer
                if status == 200:
                    outer.take(body)
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.httpd.daemon_threads = True
        threading.Thread(target=self.httpd.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.httpd.server_port}/v1/traces"

    def close(self):
        self.free.set()
        self.httpd.shutdown()
        self.httpd.server_close()

    def take(self, body):
        with self.changed:
            try:
                document = json.loads(body)
                check_names(document)
                for resource in document["resourceSpans"]:
                    self.resources.append(attributes_of(resource["resource"]))
                    for scope in resource["scopeSpans"]:
                        need(scope["scope"]["name"] == "baton" and scope["schemaUrl"].startswith("https://"), scope)
                        self.spans += [Span(raw) for raw in scope["spans"]]
            except (Wrong, KeyError, TypeError, ValueError) as problem:
                self.wrong.append(f"{type(problem).__name__}: {problem}")
            self.changed.notify_all()

    def wait(self, condition, seconds=client.PATIENCE_S, what="spans"):
        """Waits until condition(spans) is true. Returns its result."""
        with self.changed:
            found = self.changed.wait_for(lambda: self.wrong or condition(self.spans), client.scaled(seconds))
            if self.wrong or not found:
                raise AssertionError(f"waited in vain for {what}: {self.wrong} {self.spans}")
            return found
