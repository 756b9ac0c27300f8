"""Reads the streams of the chat protocols, as strict as their strictest clients."""
import json
import re
import socket
import urllib.parse

import client
import released_parsers

ID = re.compile(r"[^\s:]+:[0-9]+(\.[0-9]+)?")


class Refused(Exception):
    """The answer is not a stream."""

    def __init__(self, answer):
        super().__init__(f"HTTP {answer.status}: {answer.raw[:300]}")
        self.answer = answer
        self.status = answer.status


class Frame:
    """One block of a stream. `data` is its text, `body` its JSON."""

    def __init__(self, place, event, data):
        self.place, self.event, self.data = place, event, data
        self.body = json.loads(data) if data != "[DONE]" else None

    @property
    def task(self):
        return urllib.parse.unquote(self.place.rpartition(":")[0])

    @property
    def number(self):
        """The number of the log event that the frame shows, whole or in part."""
        return int(self.place.rpartition(":")[2].partition(".")[0])

    @property
    def shown(self):
        """The members that a resumed stream must repeat exactly."""
        return self.place, self.event, self.data

    def __repr__(self):
        return f"{self.place} {self.event or ''} {self.data}"


class RunStream:
    """An open run. Iterating reads blocks as they arrive, until the server ends the stream."""

    def __init__(self, connection, response):
        self.connection, self.response = connection, response
        self.socket = connection.sock  # http.client gives it up when the answer says close
        self.headers = response.headers
        self.seen = []
        self.released = released_parsers.Released()

    def __iter__(self):
        fields = {}
        while True:
            line = self.response.readline()
            self.released.line(line)
            if not line:
                if fields:
                    raise AssertionError(f"the stream ended inside a block: {fields}")
                self.close()
                return
            if b"\r" in line or not line.endswith(b"\n"):
                raise AssertionError(f"a line that does not end with LF alone: {line}")
            text = line[:-1].decode("utf-8")
            if text.startswith(":"):
                continue
            if text:
                self._take(fields, text)
            elif fields:
                frame = self._frame(fields)
                fields = {}
                self.seen.append(frame)
                yield frame

    @staticmethod
    def _take(fields, text):
        name, colon, value = text.partition(": ")
        if not colon or name not in ("id", "event", "data") or name in fields or not value:
            raise AssertionError(f"clients do not read such a line: {text!r} after {fields}")
        fields[name] = value

    @staticmethod
    def _frame(fields):
        # A refusal before anything was stored belongs to no task and has no id.
        place = fields.get("id")
        if place is not None and not ID.fullmatch(place):
            raise AssertionError(f"no id of a frame: {place!r}")
        if "data" not in fields:
            raise AssertionError(f"a block without data: {fields}")
        return Frame(place, fields.get("event"), fields["data"])

    def until(self, condition):
        """Reads up to the first frame that fulfils condition(frame). Returns that frame."""
        for frame in self:
            if condition(frame):
                return frame
        raise AssertionError(f"the stream ended too early: {self.seen}")

    def rest(self):
        """Reads to the end. Returns every block seen on this stream."""
        for _ in self:
            pass
        return self.seen

    def leave(self):
        """Hangs up, like a closed page."""
        self.socket.shutdown(socket.SHUT_RDWR)
        self.close()

    def close(self):
        try:
            self.connection.close()
            self.response.close()
        except OSError:
            pass


def post(server, path, body, headers=None, last=None, method="POST"):
    """Sends a request. Returns its RunStream, or the Answer if that is not a stream."""
    raw = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    sent = {"Content-Type": "application/json", "Accept": "text/event-stream", **(headers or {})}
    sent |= {} if last is None else {"Last-Event-ID": last}
    connection = server.connect()
    connection.connect()
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    opened = connection.sock
    connection.request(method, path, raw, {name: value for name, value in sent.items() if value is not None})
    response = connection.getresponse()
    if response.status == 200 and response.headers.get_content_type() == "text/event-stream":
        connection.sock = opened
        return RunStream(connection, response)
    answer = client.Answer(response, response.read())
    connection.close()
    return answer
