"""A client that speaks HTTP/2 by hand, to do what no gRPC library would do to a server."""
import socket
import struct
import time

import client

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
END_STREAM, END_HEADERS, ACK = 1, 4, 1
CANCEL = 8


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def head(path, metadata=()):
    """Returns the header block of a call, without HPACK's tables and Huffman code."""
    fields = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "localhost"), ("te", "trailers"),
              ("content-type", "application/grpc"), *metadata]

    def text(value):
        assert len(value) < 127
        return bytes([len(value)]) + value.encode()
    return b"".join(b"\0" + text(name) + text(value) for name, value in fields)


class Connection:
    """An open connection. Settings are exchanged; if `settles` is false, the server's settings are never acknowledged.
    Streams are numbered 1, 3, 5, ..."""

    def __init__(self, host, port, settles=True):
        self.socket = socket.create_connection((host, port), timeout=client.scaled(20))
        self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0))
        self.read = b""
        self.stream = -1
        self.settles = settles
        self.said, self.ended = {}, set()  # by stream

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def call(self, path, message=None, metadata=()):
        """Begins a call and returns its stream. With a message, sends it and ends the client's side."""
        self.stream += 2
        out = frame(HEADERS, END_HEADERS, self.stream, head(path, metadata))
        if message is not None:
            out += frame(DATA, END_STREAM, self.stream, b"\0" + struct.pack(">I", len(message)) + message)
        self.socket.sendall(out)
        return self.stream

    def reset(self, stream):
        self.socket.sendall(frame(RST_STREAM, 0, stream, struct.pack(">I", CANCEL)))

    def frames(self):
        """Yields the server's frames as (kind, flags, stream, payload), until it closes the connection. Its pings do
        not prolong the wait."""
        deadline = time.monotonic() + client.scaled(20)
        while True:
            while len(self.read) < 9 or len(self.read) < 9 + int.from_bytes(self.read[:3], "big"):
                self.socket.settimeout(max(deadline - time.monotonic(), 0.001))
                try:
                    piece = self.socket.recv(65536)
                except ConnectionError:
                    return
                if not piece:
                    return
                self.read += piece
            length = int.from_bytes(self.read[:3], "big")
            kind, flags = self.read[3], self.read[4]
            stream = int.from_bytes(self.read[5:9], "big") & 0x7fffffff
            payload, self.read = self.read[9:9 + length], self.read[9 + length:]
            if kind == SETTINGS and not flags & ACK and self.settles:
                self.socket.sendall(frame(SETTINGS, ACK, 0))
            if kind == PING and not flags & ACK:
                self.socket.sendall(frame(PING, ACK, 0, payload))
            yield kind, flags, stream, payload

    def end_of(self, stream):
        """Reads up to the end of that stream. Returns the bytes of its header blocks, as the server sent them."""
        self.read_until(lambda: stream in self.ended)
        return self.said.get(stream, b"")

    def first_end(self):
        """Reads up to the first end of any stream. Returns the bytes of that stream's header blocks."""
        self.read_until(lambda: self.ended)
        return self.said.get(min(self.ended), b"")

    def read_until(self, done):
        frames = self.frames()
        while not done():
            kind, flags, number, payload = next(frames, (None,) * 4)
            if kind is None:
                raise AssertionError("the connection was closed")
            if kind == HEADERS:
                self.said[number] = self.said.get(number, b"") + payload
            if kind == RST_STREAM or flags & END_STREAM and kind in (DATA, HEADERS):
                self.ended.add(number)
