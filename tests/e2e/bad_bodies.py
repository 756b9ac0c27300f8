"""Malformed JSON-RPC bodies, each with the error code it must get: rows of (name, body, code)."""
import json

PARSE, REQUEST, METHOD, PARAMS, NOT_FOUND = -32700, -32600, -32601, -32602, -32001
TEXT = [{"type": "text", "text": "x"}]
MESSAGE = {"role": "user", "parts": TEXT}
GOOD = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tasks/send",
                   "params": {"id": "t", "message": MESSAGE, "metadata": {"k": "\u7ebf"}}},
                  ensure_ascii=False).encode()


def not_json():
    texts = ["", " ", "{", "}", "[", "]", "nul", "True", "undefined", "{'a':1}", '{"a":1,}', "[1,]", '{"a" 1}', "{a:1}",
             '{"a":}', '{"a":1 "b":2}', '{:1}', '{"a":01}', '{"a":+1}', '{"a":.5}', '{"a":1.}', '{"a":1e}', '{"a":0x1}',
             '{"a":NaN}', '{"a":Infinity}', '{"a":-}', '{"a":--1}', '{"a":"\x01"}', '{"a":"\n"}', '{"a":"\\x"}',
             '{"a":"\\u12"}', '{"a":"\\u12G4"}', '{"a":"', '{"a', '{} x', '{}{}', '{},', '/*c*/{}', '{}//c', '# {}',
             "jsonrpc=2.0&method=tasks/get", "<?xml version='1.0'?><methodCall/>"]
    for text in texts:
        yield f"not JSON: {text[:30]!r}", text.encode()
    for cut in range(10, len(GOOD) - 1, 14):
        yield f"a request cut off at byte {cut}", GOOD[:cut]
    for name, piece in (("overlong slash", b"\xc0\xaf"), ("overlong zero", b"\xe0\x80\x80"), ("surrogate", b"\xed\xa0\x80"),
                        ("beyond Unicode", b"\xf4\x90\x80\x80"), ("no such byte", b"\xff"), ("lone continuation", b"\x80"),
                        ("cut character", b"\xe7\xba"), ("five bytes", b"\xf8\x88\x80\x80\x80")):
        yield f"wrong UTF-8: {name}", GOOD.replace("\u7ebf".encode(), piece)
        yield f"wrong UTF-8 in a name: {name}", GOOD.replace(b'"k"', b'"' + piece + b'"')
    yield "UTF-16", GOOD.decode().encode("utf-16")
    yield "a zero byte at the end", GOOD + b"\0"
    yield "compressed", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03" + bytes(30)
    for name, deep in (("lists", b"[" * 50000), ("closed lists", b"[" * 50000 + b"]" * 50000),
                       ("objects", b'{"a":' * 50000), ("closed objects", b'{"a":' * 50000 + b"1" + b"}" * 50000)):
        yield f"deep {name}", deep
        yield f"deep {name} inside a request", GOOD.replace(b'{"k": "\xe7\xba\xbf"}', b'{"k":' + deep + b"}")


def not_a_request():
    good = json.loads(GOOD)
    for value in (1, "x", None, True, [], [1], [[]], [good], {}, {"jsonrpc": "2.0"}, {"id": 1}, {"result": 1}):
        yield f"no request: {json.dumps(value)[:30]}", value
    for version in ("1.0", "2", "", 2, 2.0, True, [], {}):
        yield f"jsonrpc {version!r}", {**good, "jsonrpc": version}
    for method in (None, 5, True, [], {}, ["tasks/send"]):
        yield f"method {method!r}", {**good, "method": method}
    yield "no method", {key: value for key, value in good.items() if key != "method"}
    for request_id in (True, False, [], {}, [1], {"a": 1}):
        yield f"id {request_id!r}", {**good, "id": request_id}


def unknown_methods():
    for method in ("", " ", "tasks", "tasks/", "tasks/sen", "tasks/send ", "TASKS/SEND", "Tasks/Send", "tasks.send",
                   "/tasks/send", "tasks/send/", "rpc.discover", "tasks/list", "tasks/pushNotification",
                   "tasks/pushNotification/delete", "\u0000", "x" * 5000, "__proto__", "tasks\\send"):
        yield f"method {method[:30]!r}", {**json.loads(GOOD), "method": method}


METHODS = ("tasks/send", "tasks/sendSubscribe", "tasks/get", "tasks/cancel", "tasks/resubscribe",
           "tasks/pushNotification/set", "tasks/pushNotification/get")


def wrong_params():
    """Yields rows of (name, method, params)."""
    config = {"url": "https://example.com/"}
    good = {"id": "t", "message": MESSAGE, "pushNotificationConfig": config}
    for method in METHODS:
        for params in (None, {}, [], [good], "x", 5, True):
            yield f"{method} params {json.dumps(params)[:20]}", method, params
        for task in (None, "", True, [], {}, 1.5, "x" * 5000):
            yield f"{method} id {str(task)[:10]!r}", method, {**good, "id": task}
        yield f"{method} without id", method, {"message": MESSAGE, "pushNotificationConfig": config}
        for metadata in ("x", 5, [], True) if method != "tasks/pushNotification/set" else ():
            yield f"{method} metadata {metadata!r}", method, {**good, "metadata": metadata}
    send = "tasks/send"
    for message in (None, "x", 5, [], {}, True):
        yield f"message {message!r}", send, {"id": "t", "message": message}
    for role in (5, "", "User", "system", "assistant", [], {}):
        yield f"role {role!r}", send, {"id": "t", "message": {"role": role, "parts": TEXT}}
    for parts in (None, {}, "x", 5, [], [None], ["x"], [[]], [{}], [5], TEXT + [None]):
        yield f"parts {json.dumps(parts)[:20]}", send, {"id": "t", "message": {"role": "user", "parts": parts}}
    yield "no parts", send, {"id": "t", "message": {"role": "user"}}
    for part in wrong_parts():
        yield f"part {json.dumps(part)[:50]}", send, {"id": "t", "message": {"role": "user", "parts": [part]}}
    yield "message metadata", send, {"id": "t", "message": {**MESSAGE, "metadata": "x"}}
    for session in (5, True, [], {}, "x" * 5000):
        yield f"sessionId {str(session)[:10]!r}", send, {**good, "id": "s", "sessionId": session}
    for length in (-1, -2**63, "3", 1.5, True, [], {}, 2**64):
        for method in ("tasks/send", "tasks/get"):
            yield f"{method} historyLength {length!r}", method, {**good, "historyLength": length}
    for modes in ("text", 5, {}, [5], [None], [["text"]]):
        yield f"acceptedOutputModes {modes!r}", send, {**good, "acceptedOutputModes": modes}
    for wrong in wrong_configs():
        yield f"config {json.dumps(wrong)[:50]}", send, {**good, "pushNotification": wrong}
        yield f"config set {json.dumps(wrong)[:50]}", "tasks/pushNotification/set", {
            "id": "t", "pushNotificationConfig": wrong}
    for last in (-1, "x", 1.5, [], {}, True, 2**70):
        yield f"lastEventId {last!r}", "tasks/resubscribe", {"id": "t", "metadata": {"lastEventId": last}}


def wrong_parts():
    yield from ({"type": "dance"}, {"type": 5, "text": "x"}, {"type": "text"}, {"type": "text", "text": None},
                {"type": "text", "text": 5}, {"type": "text", "text": ["x"]}, {"type": "data"},
                {"type": "data", "data": None}, {"type": "data", "data": "x"}, {"type": "data", "data": 5},
                {"type": "file"}, {"type": "file", "file": None}, {"type": "file", "file": "x"},
                {"type": "file", "file": []}, {"type": "file", "file": {"bytes": 5}},
                {"type": "file", "file": {"bytes": "***"}}, {"type": "file", "file": {"bytes": "a"}},
                {"type": "file", "file": {"bytes": "aGk=aGk="}}, {"type": "file", "file": {"bytes": "aGk", "uri": "http://x/"}},
                {"type": "file", "file": {"uri": 5}}, {"type": "file", "file": {"uri": "http://x/", "name": 5}},
                {"type": "file", "file": {"uri": "http://x/", "mimeType": []}},
                {"type": "text", "text": "x", "metadata": "y"}, {"type": "text", "text": "x", "metadata": []})


def wrong_configs():
    yield from ("x", 5, [], {}, {"url": None}, {"url": 5}, {"url": ""}, {"url": "nowhere"}, {"url": "https://"},
                {"url": "gopher://example.com/"}, {"url": "https://example.com/", "token": 5},
                {"url": "https://example.com/", "authentication": "x"},
                {"url": "https://example.com/", "authentication": {"schemes": 5}},
                {"url": "https://example.com/", "authentication": {"schemes": [5]}},
                {"url": "https://example.com/", "authentication": {"schemes": ["a"], "credentials": 5}})


def rows():
    for name, body in not_json():
        yield name, body, PARSE
    for name, value in not_a_request():
        yield name, json.dumps(value).encode(), REQUEST
    for name, value in unknown_methods():
        yield name, json.dumps(value).encode(), METHOD
    for name, method, params in wrong_params():
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        yield name, json.dumps(body).encode(), PARAMS
    for method in METHODS:
        yield f"{method} params missing", json.dumps({"jsonrpc": "2.0", "id": 1, "method": method}).encode(), PARAMS
    for key, value in (("method", b'"tasks/get"'), ("id", b"7"), ("params", b'{"id":"other"}'), ("jsonrpc", b'"2.0"')):
        yield f"{key} twice", GOOD[:-1] + b',"' + key.encode() + b'":' + value + b"}", REQUEST
    yield "task id twice", GOOD.replace(b'"id": "t"', b'"id": "t", "id": "u"'), PARAMS
    for number in (b"1e999", b"9" * 400, b"-1e400", b"0." + b"3" * 300 + b"e500"):
        yield f"huge number {number[:10]!r}", GOOD.replace(b'"id": "t"', b'"id": "t", "historyLength": ' + number), PARAMS
