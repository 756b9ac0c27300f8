"""Counts the statements of a PostgreSQL client: a proxy for its connections."""
import collections
import selectors
import socket
import struct
import threading

BLOCK = 1 << 18
FRAMES = (b"BEGIN", b"COMMIT", b"ROLLBACK")


class Requests:
    """Parses the client's messages of one connection, from its beginning. `asked` counts statements by text, without
    those that only begin or end a transaction."""

    def __init__(self):
        self.asked, self.rest, self.has_begun = collections.Counter(), b"", False
        self.prepared, self.bound = {}, b""

    def take(self, data):
        self.rest += data
        at = 0
        while True:
            head = 1 if self.has_begun else 0  # the first message has no kind
            if len(self.rest) < at + head + 4:
                break
            length, = struct.unpack_from("!i", self.rest, at + head)
            if len(self.rest) < at + head + length:
                break
            if head:
                self._take_one(self.rest[at:at + 1], self.rest[at + 5:at + 1 + length])
            self.has_begun = True
            at += head + length
        self.rest = self.rest[at:]

    def _take_one(self, kind, body):
        if kind == b"P":  # a statement: its name, its text
            name, text, _ = body.split(b"\0", 2)
            self.prepared[name] = text
        elif kind == b"B":  # values for it: the portal's name, its own
            self.bound = self.prepared.get(body.split(b"\0", 2)[1], b"?")
        elif kind == b"E":
            self._count(self.bound)
        elif kind == b"Q":
            self._count(body.rstrip(b"\0"))

    def _count(self, text):
        if not text.startswith(FRAMES):
            self.asked[text] += 1


class Wire:
    """A context manager that listens on a free loopback port. `url` is the database's URL through this proxy."""

    def __init__(self, url):
        start, rest = url.split("@", 1)
        address, name = rest.split("/", 1)
        host, port = address.rsplit(":", 1)
        self.server = (host, int(port))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"{start}@127.0.0.1:{self.listener.getsockname()[1]}/{name}?sslmode=disable&gssencmode=disable"
        self.requests = []
        self.threads = []

    def __enter__(self):
        self._begin(self._accept)
        return self

    def __exit__(self, *_):
        """Stops the proxy. Call after the client has ended."""
        self.listener.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()
        self.listener.close()

    def asked(self):
        """Returns the counts up to now."""
        return sum((requests.asked for requests in list(self.requests)), collections.Counter())

    def _begin(self, what, *how):
        self.threads.append(threading.Thread(target=what, args=how))
        self.threads[-1].start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.requests.append(Requests())
            self._begin(self._pass_on, client, self.requests[-1])

    def _pass_on(self, client, requests):
        with client, socket.create_connection(self.server) as server, selectors.DefaultSelector() as selector:
            others = {client: server, server: client}
            for one in others:
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                selector.register(one, selectors.EVENT_READ)
            try:
                while True:
                    for key, _ in selector.select():
                        data = key.fileobj.recv(BLOCK)
                        if not data:
                            return
                        if key.fileobj is client:
                            requests.take(data)
                        others[key.fileobj].sendall(data)
            except OSError:
                return  # one side was cut off, so the other is closed too
