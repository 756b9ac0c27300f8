"""A small client over asyncio, for many connections at once: JSON-RPC calls, event streams, and a webhook
receiver. It checks nothing by itself."""
import asyncio
import json


class Lost(Exception):
    """The connection broke before the answer was complete."""


async def read_head(reader):
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    return first, headers


class Connection:
    """One POST and its answer."""

    def __init__(self, port, path, body, headers=()):
        self.port, self.path, self.body, self.more = port, path, body, dict(headers)
        self.reader = self.writer = None

    async def __aenter__(self):
        try:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 22)
            headers = {"Host": "localhost", "Content-Type": "application/json", "A2A-Version": "0.1",
                       "Connection": "close", "Content-Length": len(self.body), **self.more}
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            self.writer.write(f"POST {self.path} HTTP/1.1\r\n{lines}\r\n".encode() + self.body)
            await self.writer.drain()
            first, self.headers = await read_head(self.reader)
            self.status = int(first.split()[1])
            return self
        except (OSError, asyncio.IncompleteReadError) as problem:
            self.close()
            raise Lost(str(problem)) from problem

    async def __aexit__(self, *_):
        self.close()

    def close(self):
        if self.writer:
            self.writer.close()

    async def pieces(self):
        """Yields the body in pieces as they arrive. Raises Lost if it is not complete."""
        try:
            if "content-length" in self.headers:
                yield await self.reader.readexactly(int(self.headers["content-length"]))
                return
            while True:
                size = int((await self.reader.readuntil(b"\r\n")).split(b";")[0], 16)
                piece = (await self.reader.readexactly(size + 2))[:-2]
                if size == 0:
                    return
                yield piece
        except (OSError, asyncio.IncompleteReadError) as problem:
            raise Lost(str(problem)) from problem


def envelope(method, params):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


async def answer_of(connection):
    """Returns the JSON-RPC answer. Raises Lost if the server is not available now."""
    body = b"".join([piece async for piece in connection.pieces()])
    if connection.status != 200:
        raise Lost(f"HTTP {connection.status}")  # shutting down, or too busy: the request was not accepted
    answer = json.loads(body)
    if answer.get("error", {}).get("code") == 503:
        raise Lost(str(answer["error"]))
    return answer


async def call(port, agent, method, params):
    """Calls a method and returns the JSON-RPC answer."""
    async with Connection(port, f"/agents/{agent}", envelope(method, params)) as connection:
        return await answer_of(connection)


EXTENSION = "urn:baton:a2a:1"


def covered(blocks):
    """Returns all numbers that these blocks of a stream cover, in order."""
    return [covers for number, result in blocks
            for covers in range(result["metadata"][EXTENSION]["from"], number + 1)]


async def stream(port, agent, method, params, after=None):
    """Yields the blocks of a stream as (number, result); each shows which numbers it covers. An error answer is (None,
    the error)."""
    headers = {} if after is None else {"Last-Event-ID": str(after)}
    params = {**params, "metadata": {EXTENSION: {"eventNumbers": True}}}
    async with Connection(port, f"/agents/{agent}", envelope(method, params), headers.items()) as connection:
        if "event-stream" not in connection.headers.get("content-type", ""):
            yield None, await answer_of(connection)
            return
        rest = b""
        async for piece in connection.pieces():
            *blocks, rest = (rest + piece).split(b"\n\n")
            for block in blocks:
                # A keep-alive comment comes before the next block, and ends none.
                lines = [line for line in block.split(b"\n") if not line.startswith(b":")]
                if not lines:
                    continue
                number, result = None, None
                for line in lines:
                    if line.startswith(b"id:"):
                        number = int(line[3:])
                    elif line.startswith(b"data:"):
                        result = json.loads(line[5:])["result"]
                if result is None:
                    raise AssertionError(f"a block without data: {block}")
                yield number, result


class Receiver:
    """A webhook receiver. Keeps (path, task) of every delivery it accepts; refuses a delivery if `refuse()` is true."""

    def __init__(self, refuse=lambda: False):
        self.refuse = refuse
        self.taken = {}
        self.refused = 0

    async def start(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=1024, limit=1 << 22)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    def url(self, path):
        return f"http://127.0.0.1:{self.port}/{path}"

    async def serve(self, reader, writer):
        try:
            while True:
                first, headers = await read_head(reader)
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                if self.refuse():
                    self.refused += 1
                    writer.write(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
                else:
                    path = first.split()[1].lstrip("/")
                    self.taken.setdefault(path, []).append(json.loads(body))
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, ValueError):
            pass
        finally:
            writer.close()
