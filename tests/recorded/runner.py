"""Runs the steps of a scene on a server and writes down what was answered (steps.py says what a step is)."""
import base64
import hmac
import http.client
import json
import pathlib
import re
import socket
import threading

import client
import harness

from recorded import steps, texts

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Headers that do not matter, or that are checked against the body here.
LEFT_OUT = ("date", "content-length", "transfer-encoding", "keep-alive")
# Abbreviations of frequent headers.
SHORT = {"Content-Type: application/json": "JSON", "Content-Type: application/a2a+json": "A2A+JSON",
         "Content-Type: text/event-stream | Cache-Control: no-cache, no-transform | X-Accel-Buffering: no": "EVENTS",
         "Access-Control-Expose-Headers: WWW-Authenticate, Retry-After, ETag, A2A-Extensions, X-A2A-Extensions":
         "EXPOSED"}
ALWAYS = ("X-Content-Type-Options", "nosniff")  # said where it is missing
KEY = "a-key-that-signs"


class Runner:
    """`tokens`: {word: token}. `receiver`: a webhooks.Receiver, or None."""

    def __init__(self, server, tokens=None, receiver=None, calls=None):
        self.server, self.tokens, self.receiver, self.calls = server, tokens or {}, receiver, calls or {}
        self.statuses, self.held, self.channels = {}, {}, {}
        if receiver:
            receiver.answer = self.status_of

    def close(self):
        for channel in self.channels.values():
            channel.close()

    def status_of(self, path, count):
        statuses = self.statuses.get(path, (200,))
        if path in self.held:
            self.held[path].wait(client.scaled())
        return statuses[min(count, len(statuses)) - 1]

    def known(self):
        """Texts that are other ones in each run."""
        found = {f"127.0.0.1:{self.server.port}": "<server>", str(self.server.folder): "<folder>"}
        if "--grpc-port" in self.server.options:
            self.server.address_of("grpc")  # comes after the first line
        for line in self.server.lines:
            if line.startswith(("grpc listening on ", "operate listening on ")):
                found[line.split()[-1].removeprefix("http://")] = f"<{line.split()[0]}>"
        if self.receiver:
            found[self.receiver.url("")] = "<receiver>"
        return found

    def scene(self, title, all_steps):
        """The blocks of a scene: (head, text)."""
        self.names = texts.Names(self.known())
        self.kept = {"receiver": self.receiver.url("")} if self.receiver else {}
        self.kept |= {"token-" + word: token for word, token in self.tokens.items()}
        self.kept["server"] = f"127.0.0.1:{self.server.port}"
        self.blocks = []
        for step in all_steps:
            try:
                self.run(step)
            except Exception as problem:
                last = "".join(f"\n{head}\n{text[:1500]}" for head, text in self.blocks[-2:])
                raise AssertionError(f"{title}: {problem!r} at {str(step)[:300]}, after{last}") from problem
        return self.blocks

    def run(self, step):
        step = self.filled(step) | {"shown": step}
        getattr(self, "do_" + step["do"])(step)

    def filled(self, value):
        """With the kept texts in place of their names."""
        if isinstance(value, str):
            return re.sub(r"\$([\w-]+)", lambda found: str(self.kept.get(found[1], found[0])), value)
        if isinstance(value, dict):
            return {self.filled(key): each if key in ("during", "bytes") else self.filled(each) for key,
                each in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.filled(each) for each in value]
        return value

    def write(self, head, text):
        self.blocks.append((self.names.plain(head), self.names.plain(text).rstrip("\n")))

    # ---- HTTP

    def headers_of(self, step):
        body = step["body"]
        headers = {} if body is None else {"Content-Type": "application/json"}
        if step.get("v"):
            headers["A2A-Version"] = step["v"]
        if step.get("token"):
            headers["Authorization"] = "Bearer " + self.tokens.get(step["token"], step["token"])
        headers |= step.get("headers", {})
        return {name: value for name, value in headers.items() if value is not None}

    def head_of(self, step):
        step = step["shown"]
        said = [step["rpc"]] if step.get("rpc") else [step["method"] + " " + step["path"][:150]]
        if step["name"] and step["name"] not in said[0]:
            said.append(step["name"])
        said += [f"v={step['v']}"] if step.get("v") else []
        said += [f"token={step['token']}"] if step.get("token") else []
        said += [f"{name}: {value[:80]}" for name, value in step.get("headers", {}).items() if value not in (None,
            "text/event-stream")]
        return " | ".join(said)

    def do_http(self, step):
        if step.get("poll"):
            harness.wait_for(lambda: step["poll"].encode() in self.ask(step)[2], what=step["poll"])
        response, shown, body = self.ask(step, record=True)
        self.keep(step, body, response.headers.get_content_type())
        at = len(self.blocks) if not step.get("during") else self.place
        self.blocks.insert(at, (self.names.plain(self.head_of(step)), self.names.plain(shown).rstrip("\n")))

    def ask(self, step, record=False):
        connection = http.client.HTTPConnection(self.server.host, step.get("port") or self.server.port,
                                                timeout=client.scaled())
        body = None if step["body"] is None else steps.dumped(step["body"])
        self.place = len(self.blocks)
        connection.putrequest(step["method"], step["path"], skip_host="Host" in step.get("headers", {}),
                              skip_accept_encoding=True)
        headers = self.headers_of(step)
        if body is not None or step["method"] in ("POST", "PUT", "PATCH"):
            headers.setdefault("Content-Length", str(len(body or b"")))
        for name, value in headers.items():
            connection.putheader(name, value)
        try:
            connection.endheaders(body)
        except ConnectionError:
            pass  # it was refused before it was read
        with http.client.HTTPResponse(connection.sock, method=step["method"]) as response:
            response.begin()
            if response.headers.get_content_type() == "text/event-stream":
                raw = self.read_stream(response, step)
            else:
                raw = response.read()
            connection.sock and connection.close()
            length = response.headers.get("Content-Length")
            if length is not None and step["method"] != "HEAD" and response.status not in (204, 304):
                assert int(length) == len(raw), f"{len(raw)} bytes are called {length}"
            return response, self.shown(step, response, raw) if record else "", raw

    def read_stream(self, response, step):
        out, block = [], []
        during = step.get("during")
        for line in response:
            if line.startswith(b":"):
                continue
            block.append(line)
            if line != b"\n":
                continue
            text = b"".join(block)
            out.append(text)
            block = []
            if during and during[0].encode() in text:
                found, during = during, None
                self.keep(step, b"".join(out), "text/event-stream")
                for each in found[1]:
                    self.run(each)
            if step.get("until") and step["until"].encode() in text:
                return b"".join(out) + b"(hung up)\n"
        return b"".join([*out, *block])

    def shown(self, step, response, raw):
        headers = [(name, value) for name, value in response.headers.items() if name.lower() not in LEFT_OUT]
        for name, value in response.headers.items():
            if name == "ETag":
                self.kept["etag"] = value
        if ALWAYS in headers:
            headers.remove(ALWAYS)
        else:
            headers.append(("no", ALWAYS[0]))
        line = f"{response.status} " + " | ".join(
            f"{name}: {'<etag>' if name == 'ETag' else value}" for name, value in headers)
        for long, short in SHORT.items():
            line = line.replace(long, short)
        return self.names.plain(line) + "\n" + self.body_text(response.headers.get_content_type(), raw, step)

    def body_text(self, kind, raw, step):
        if kind == "text/event-stream":
            return texts.stream(self.names.plain(raw.decode())).rstrip("\n")
        if step.get("names_only"):
            names = {re.split(r"[ {]", line)[0] for line in raw.decode().splitlines() if not line.startswith("#")}
            kinds = {line for line in raw.decode().splitlines() if line.startswith("# TYPE")}
            return "\n".join(sorted(names) + sorted(kinds))
        source = file_of(raw) if len(raw) > 2000 else None
        if source:
            return f"(the file {source})"
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            return f"(bytes) {base64.b64encode(raw).decode()}"
        if step.get("words_only"):  # of a picture
            text = re.sub(r' (x|cx|x1|x2|width|points|viewBox|d)="[^"]*"', "", text)
        for pattern, name in step.get("varies", {}).items():
            text = re.sub(pattern, name, text)
        return texts.laid_out(self.names.plain(text))

    def keep(self, step, body, kind):
        if not step.get("keep"):
            return
        if kind == "text/event-stream":
            data = [line[6:] for line in body.decode().split("\n") if line.startswith("data: ")]
            frames = [json.loads(each) if each.startswith("{") else each for each in data]
            ids = [line[4:] for line in body.decode().split("\n") if line.startswith("id: ")]
        else:
            value = json.loads(body)
        for name, way in step["keep"].items():
            found = value if kind != "text/event-stream" else ids if way.startswith("ids.") else frames
            for part in way.removeprefix("ids.").split("."):
                part = int(part) if re.fullmatch(r"-?\d+", part) else part
                found = found[part]
            self.kept[name] = found

    # ---- the rest

    def do_raw(self, step):
        with socket.create_connection((self.server.host, self.server.port), timeout=client.scaled()) as connection:
            connection.sendall(step["bytes"])
            got = b""
            while piece := self.received(connection):
                got += piece
        lines = [line for line in got.decode().replace("\r\n", "\n").split("\n")
            if line.split(":")[0].lower() not in LEFT_OUT]
        self.write("raw | " + step["name"], "\n".join(texts.laid_out(self.names.plain(line)) for line in lines))

    @staticmethod
    def received(connection):
        try:
            return connection.recv(65536)
        except ConnectionError:
            return b""

    def do_wait(self, step):
        headers = {"Authorization": "Bearer " + self.tokens[step["token"]]} if step.get("token") else {}
        tenant = {"tenant": step["tenant"]} if step.get("tenant") else {}

        def look():
            how = {"agent": step["agent"], "headers": headers}
            if tenant:
                how["headers"] = {**headers, "A2A-Version": "1.0"}
                found = self.server.rpc("GetTask", {"id": step["task"], **tenant}, **how).body.get("result")
            else:
                found = self.server.rpc("tasks/get", {"id": step["task"]}, **how).body.get("result")
            state = found and found["status"]["state"].removeprefix("TASK_STATE_").lower().replace("_", "-")
            return state in step["states"] and step.get("has", "") in json.dumps(found)
        harness.wait_for(look, what=f"{step['task']} to be {step['states']}")

    def do_gate(self, step):
        self.server.gate(step["agent"], step["gate"])

    def do_answer_with(self, step):
        self.statuses[step["path"]] = step["statuses"]
        if step["held"]:
            self.held[step["path"]] = threading.Event()

    def do_delivered(self, step):
        def calls():
            return [call for call in [*self.receiver.deliveries, *self.receiver.refused] if call.path == step["path"]]

        if step["path"] in self.held:
            self.held[step["path"]].set()
        self.receiver.wait(lambda now: any(step["last"].encode() in call.raw for call in now.deliveries
                                           if call.path == step["path"]), what=f"{step['last']} at {step['path']}")

        def order(call):
            task, _, number = call.headers["X-Baton-Delivery"].rpartition("/")
            return task, int(number), int(call.headers["X-Baton-Attempt"])
        for call in sorted(calls(), key=order):
            headers = [f"{name}: {self.signature(call, name, value)}" for name, value in call.headers.items()
                       if name.lower() not in (*LEFT_OUT, "host", "traceparent", "connection", "accept-encoding")]
            self.write(f"webhook {step['path']}",
                " | ".join(headers) + "\n" + texts.laid_out(self.names.plain(call.raw.decode())))

    @staticmethod
    def signature(call, name, value):
        """The value, or for what differs with the time whether it is right."""
        def good(is_good):
            return "(good)" if is_good else "(wrong)"
        at = call.headers.get("webhook-timestamp")
        if name == "X-Baton-Signature":
            signed = f"{at}.{call.headers['X-Baton-Delivery']}.".encode() + call.raw
            return good(value == f"t={at},v1={hmac.new(KEY.encode(), signed, 'sha256').hexdigest()}")
        if name == "webhook-signature":
            signed = f"{call.headers['webhook-id']}.{at}.".encode() + call.raw
            code = hmac.new(KEY.encode(), signed, "sha256").digest()
            return good(value == "v1," + base64.b64encode(code).decode())
        if name == "webhook-id":
            task, _, event = call.headers["X-Baton-Delivery"].rpartition("/")
            return good(value.startswith(f"{task}-{event}-"))
        return "(time)" if name == "webhook-timestamp" else value

    def do_grpc(self, step):
        head, lines, frames = self.calls["grpc"](self, step)
        if step.get("keep"):
            self.keep(step, json.dumps(frames[0] if len(frames) == 1 else {}).encode() if not step.get("stream")
                      else b"".join(b"data: " + json.dumps(frame).encode() + b"\n" for frame in frames),
                      "text/event-stream" if step.get("stream") else "application/json")
        self.blocks.insert(self.place, (self.names.plain(head), self.names.plain("\n".join(lines))))


def file_of(raw):
    """The name of the file of these sources that has these bytes, without its folder, or None."""
    for folder in ("src/server/console", "schema"):
        for path in (ROOT / folder).rglob("*") if (ROOT / folder).is_dir() else ():
            if path.is_file() and path.stat().st_size == len(raw) and path.read_bytes() == raw:
                return path.name
    return None
