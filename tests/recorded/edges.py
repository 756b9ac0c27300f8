"""Requests that are odd or wrong before any protocol reads them, and cards, on a server without tokens."""
import json

from recorded.steps import http, raw, rpc

GOOD = {"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"id": "x"}}
PAGE = {"Origin": "http://localhost:3000"}
EVIL = {"Origin": "https://elsewhere.example"}
PATHS = ("/", "/message:send", "/v1/message:send", "/tasks", "/v1/tasks/x", "/ag-ui", "/process", "/conversations",
         "/agents", "/.well-known/agent-card.json", "/nothing")


def lines(first, *more):
    return [first.encode(), b"Host: localhost", b"Connection: close", *(one.encode() for one in more)]


def scenes():
    yield "JSON-RPC that is wrong", [
        *(rpc("", body, agent=None, name=body.decode("utf-8", "replace")[:40]) for body in (
            b"", b"{", b"[]", b"5", b"null", b'{"a":1,}', b"{} x", b'{"jsonrpc":"2.0","id":1,"method":"\xff"}',
            b"[" * 20000, b'[{"jsonrpc":"2.0"}]')),
        *(http("POST", "/", {**GOOD, **change}, name=json.dumps(change)) for change in (
            {"jsonrpc": "1.0"}, {"jsonrpc": 2}, {"method": None}, {"method": "tasks/sen"}, {"method": ""}, {"id": None},
            {"id": "text"}, {"id": 1.5}, {"id": []}, {"id": True}, {"params": []}, {"params": None}, {"params": {}},
            {"params": {"id": 5}}, {"params": {"id": ""}}, {"method": "GetTask"}, {"method": "message/send"},
            {"method": "rpc.discover"})),
        http("POST", "/", {"jsonrpc": "2.0", "method": "tasks/get", "params": {"id": "x"}}, name="without an id"),
        http("POST", "/", {"jsonrpc": "2.0", "id": 1, "params": {}}, name="without a method"),
        *(http("POST", "/", {**GOOD, "method": method}, v=version, name=method) for method, version in (
            ("GetTask", "0.3"), ("GetTask", "1.0.5"), ("GetTask", "2.0"), ("tasks/get", "1.0"), ("tasks/get", "0.2"),
            ("tasks/get", "0.3"), ("tasks/send", "0.3"), ("nothing", "1.0"), ("GetTask", "x"), ("tasks/get", ""))),
        http("POST", "/?A2A-Version=1.0", {**GOOD, "method": "GetTask"}),
        http("POST", "/", b'{"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"id": "x"}}',
        name="with spaces")]
    yield "content types and methods", [
        *(http("POST", path, GOOD, headers={"Content-Type": kind}) for path in ("/", "/message:send",
        "/v1/message:send", "/ag-ui")
          for kind in (None, "text/plain", "application/a2a+json")),
        *(http(method, path) for path in PATHS for method in ("PUT", "HEAD")),
        *(http("GET", path, v="1.0") for path in PATHS), http("TRACE", "/"), http("DELETE", "/"),
        http("PATCH", "/tasks/x", {}),
        *(http("GET", "/tasks/x", v="1.0", headers={"Accept": kind}) for kind in ("application/json",
        "application/a2a+json", "text/html")),
        http("GET", "/tasks/x", v="2.0"), http("GET", "/v1/tasks/x", v="1.0"), http("GET", "/tasks/x", v="0.3"),
        http("GET", "/tasks/x?A2A-Version=1.0")]
    yield "paths", [http("GET", path) for path in (
        "/agents/nobody", "/agents/nobody/tasks", "/agents/player", "/agents/player/", "/agents/Player/",
        "/agents/pl%61yer/tasks/x",
        "/agents/../healthz", "/agents//", "/v1", "/v1/", "/v1/nothing", "/tasks/", "/tasks/a/b", "/tasks/%ff",
        "/tasks/%zz",
        "/tasks/a%2fb", "/v1/tasks/a:subscribe", "/tasks/x:subscribe", "/tasks/x:dance", "/v1/card",
        "/extendedAgentCard",
        "/agent/authenticatedExtendedCard", "/v1/tasks/x/pushNotificationConfigs", "/v1/aibot/bots/player/send-message",
        "/plan.svg", "/favicon.ico", "/robots.txt", "/operate", "/operate/v1/me", "/console", "/chat/none")]
    yield "pages of other origins", [
        *(http("OPTIONS", path, headers={**PAGE, "Access-Control-Request-Method": "POST",
                                         "Access-Control-Request-Headers": "content-type, a2a-version"})
                                         for path in PATHS[:5]),
        http("OPTIONS", "/", headers={**EVIL, "Access-Control-Request-Method": "POST"}), http("OPTIONS", "/"),
        http("OPTIONS", "*"),
        *(http("POST", path, GOOD, headers=PAGE) for path in ("/", "/message:send")),
        *(http("POST", path, GOOD, headers=EVIL) for path in ("/", "/message:send", "/v1/message:send", "/ag-ui")),
        http("POST", "/", GOOD, headers={"Origin": "null"}), http("GET", "/agents", headers=EVIL),
        http("GET", "/agents", headers=PAGE),
        http("POST", "/", GOOD, headers={"Host": "rebound.example"}),
        http("GET", "/tasks", headers={"Host": "rebound.example"}),
        http("OPTIONS", "/", headers={"Host": "rebound.example"})]
    body = json.dumps(GOOD).encode()
    length = f"Content-Length: {len(body)}"
    kind = "Content-Type: application/json"
    yield "HTTP that is wrong", [
        raw("no HTTP", b"hello"), raw("no host", b"GET / HTTP/1.1", b"Connection: close"),
        raw("HTTP/1.0", b"GET /healthz HTTP/1.0"), raw("HTTP/3.0", b"GET /healthz HTTP/3.0", b"Host: localhost"),
        raw("two hosts", *lines("GET /healthz HTTP/1.1", "Host: other")),
        raw("two lengths", *lines("POST / HTTP/1.1", kind, length, "Content-Length: 1"), body=body),
        raw("length and chunks", *lines("POST / HTTP/1.1", kind, length, "Transfer-Encoding: chunked"), body=body),
        raw("no length", *lines("POST / HTTP/1.1", kind)), raw("a length that is none",
        *lines("POST / HTTP/1.1", kind, "Content-Length: x")),
        raw("chunks", *lines("POST / HTTP/1.1", kind, "Transfer-Encoding: chunked"),
        body=b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)),
        raw("wrong chunks", *lines("POST / HTTP/1.1", kind, "Transfer-Encoding: chunked"), body=b"zz\r\n"),
        raw("another coding", *lines("POST / HTTP/1.1", kind, "Transfer-Encoding: gzip"), body=body),
        raw("compressed", *lines("POST / HTTP/1.1", kind, length, "Content-Encoding: gzip"), body=body),
        raw("two tokens", *lines("POST / HTTP/1.1", kind, length, "Authorization: Bearer a",
        "Authorization: Bearer a"), body=body),
        raw("a folded line", *lines("GET /healthz HTTP/1.1", "X: a", " b")),
        raw("a bad name", *lines("GET /healthz HTTP/1.1", "X y: a")),
        raw("a zero byte", *lines("GET /healthz\0 HTTP/1.1")),
        raw("an absolute path", *lines("GET http://localhost/healthz HTTP/1.1")),
        raw("no path", *lines("GET healthz HTTP/1.1")), raw("expects",
        *lines("POST / HTTP/1.1", kind, length, "Expect: a miracle"), body=body),
        raw("continue", *lines("POST / HTTP/1.1", kind, length, "Expect: 100-continue"), body=body),
        raw("two in a row", b"GET /healthz HTTP/1.1", b"Host: localhost",
        body=b"\r\n".join(lines("GET /health HTTP/1.1")) + b"\r\n\r\n"),
        raw("a long path", *lines("GET /" + "x" * 70000 + " HTTP/1.1")),
        raw("many lines", *lines("GET / HTTP/1.1", *["X: y"] * 300))]
    yield "bodies that are too big", [
        http("POST", path, b"{" + b" " * 70000 + b"}", name="(70 KB)") for path in (
            "/", "/message:send", "/v1/message:send", "/tasks/x:cancel", "/ag-ui", "/process", "/tokens",
            "/conversations/x", "/nothing",
            "/agents/nobody/")]
    card = "/.well-known/agent-card.json"
    yield "cards", [
        *(http("GET", f"/agents/player{path}", v=version) for path in (card, "/.well-known/agent.json")
        for version in (None, "1.0", "9")),
        http("GET", card), http("GET", card, headers={"If-None-Match": "$etag"}),
        http("GET", card, headers={"If-None-Match": "*"}),
        http("HEAD", card), http("POST", card, {}),
        http("GET", card, headers={"X-Forwarded-Host": "agents.example", "X-Forwarded-Proto": "https"}),
        http("GET", "/agents/nobody" + card), http("GET", "/agents"), http("GET", "/agents/"), http("HEAD", "/agents"),
        http("POST", "/agents", {}),
        *(http("GET", "/agents/extended" + path, v=version) for path, version in (
            (card, None), (card, "1.0"), ("/v1/card", None), ("/extendedAgentCard", "1.0"),
            ("/agent/authenticatedExtendedCard", None))),
        rpc("agent/getAuthenticatedExtendedCard", {}, agent="extended"),
        rpc("GetExtendedAgentCard", {}, agent="extended", v="1.0"),
        http("GET", "/agents/quiet" + card), http("GET", "/agents/quiet" + card, v="1.0"),
        rpc("message/stream", {"message": {"messageId": "q", "role": "user",
        "parts": [{"kind": "text", "text": "end"}]}}, agent="quiet"),
        rpc("tasks/pushNotificationConfig/set", {"taskId": "x",
        "pushNotificationConfig": {"url": "https://example.com/"}}, agent="quiet"),
        http("GET", "/agents/two/plan.svg"), http("HEAD", "/agents/two/plan.svg"),
        http("POST", "/agents/two/plan.svg", {}),
        http("GET", "/agents/player/plan.svg")]


def proxied():
    """A server behind a proxy, with a public URL and origins of its own, whose chat page is off."""
    card = "/.well-known/agent.json"
    yield "a server behind a proxy", [
        http("GET", card), http("GET", card, v="1.0"),
        http("GET", card, headers={"X-Forwarded-Host": "agents.example", "X-Forwarded-Proto": "https"}),
        http("GET", card, headers={"X-Forwarded-Host": "elsewhere.example"}),
        http("GET", card, headers={"Host": "agents.example"}), http("GET", card, headers={"Host": "elsewhere.example"}),
        *(http("OPTIONS", "/", headers={"Origin": origin, "Access-Control-Request-Method": "POST"})
          for origin in ("https://chat.example", "http://localhost:1", "null")),
        http("POST", "/", GOOD, headers={"Origin": "https://chat.example"}), http("GET", "/chat"),
        http("GET", "/agents"),
        http("POST", "/", {**GOOD, "method": "GetTask"}, name="GetTask, whose name is trusted"),
        http("POST", "/tasks/x/pushNotificationConfigs", {"url": "https://example.com/"}, v="1.0"),
        http("GET", "/readyz")]
