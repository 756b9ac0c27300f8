"""Counts what a client of PostgreSQL asks: its connections go through here."""
import itertools
import selectors
import socket
import struct
import threading

EXECUTES, ASKS = b"E", b"Q"  # messages of the client: a prepared or given statement, and a text of statements
BLOCK = 1 << 18


class Requests:
    """The messages of one connection's client, from its beginning."""

    def __init__(self):
        self.count, self.rest, self.has_begun = 0, b"", False

    def take(self, data):
        self.rest += data
        at = 0
        while True:
            head = 1 if self.has_begun else 0  # the first one has no kind
            if len(self.rest) < at + head + 4:
                break
            length, = struct.unpack_from("!i", self.rest, at + head)
            if len(self.rest) < at + head + length:
                break
            if head and self.rest[at:at + 1] in (EXECUTES, ASKS):
                self.count += 1
            self.has_begun = True
            at += head + length
        self.rest = self.rest[at:]


class Wire:
    """Listens on a free loopback port for as long as it is entered. `url`: of the database, by way of here."""

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
        """Once the client has gone."""
        self.listener.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()
        self.listener.close()

    def count(self):
        """Statements until now."""
        return sum(requests.count for requests in self.requests)

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
                for _ in itertools.count():
                    for key, _ in selector.select():
                        data = key.fileobj.recv(BLOCK)
                        if not data:
                            return
                        if key.fileobj is client:
                            requests.take(data)
                        others[key.fileobj].sendall(data)
            except OSError:
                return  # one side was cut off: so is the other
