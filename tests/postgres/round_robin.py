"""A proxy in front of several nodes: each request goes to the next node that is up, whatever its client and its task.
No cookies, no sticky sessions. Request bodies are read whole; answers are forwarded as they arrive."""
import asyncio

import client
import gates

HEAD_MAX = 1 << 20
END = b"\r\n\r\n"
NOBODY = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"


class Head:
    """The head of a request or an answer."""

    def __init__(self, raw):
        first, *lines = raw.removesuffix(END).split(b"\r\n")
        self.first = first
        self.lines = [line for line in lines if not line.lower().startswith(b"connection:")]
        self.fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines)}

    @property
    def length(self):
        return int(self.fields.get(b"content-length", -1))

    @property
    def is_chunked(self):
        return self.fields.get(b"transfer-encoding", b"").lower() == b"chunked"

    @property
    def is_stream(self):
        """True for an event stream, or an answer of unknown length."""
        return self.fields.get(b"content-type", b"").startswith(b"text/event-stream") or not (
            self.is_chunked or self.length >= 0)

    def text(self, closes):
        return b"\r\n".join([self.first, *self.lines, *([b"Connection: close"] if closes else [])]) + END


async def chunks_of(source):
    while True:
        size = await source.readline()
        rest = await source.readexactly(int(size.split(b";")[0], 16) + 2)
        yield size + rest
        if len(rest) == 2:
            return


async def body_of(head, source):
    """Yields pieces of the body as they arrive, in their original framing."""
    if head.is_chunked:
        async for chunk in chunks_of(source):
            yield chunk
    elif head.length >= 0:
        left = head.length
        while left > 0:
            piece = await source.read(min(left, 1 << 16))
            if not piece:
                raise ConnectionResetError("the node has ended the connection inside an answer")
            left -= len(piece)
            yield piece
    else:
        while piece := await source.read(1 << 16):
            yield piece


class Proxy(gates.Gate, client.Client):
    """A client that reaches the nodes through its own proxy. `ports()` returns the ports of the nodes that are up."""

    def __init__(self, ports):
        client.Client.__init__(self)
        self.ports, self.turn = ports, 0
        gates.Gate.__init__(self, limit=HEAD_MAX)

    def end(self):
        self.close()
        super().end()

    def half_open(self, random, most):
        """The nodes see their clients vanish. The clients lose their connections."""
        def one(near, far):
            self.keep_open(gates.vanish(far))
            gates.reset(near)
        return self.on_some(random, most, one)

    async def serve(self, reader, writer):
        try:
            while await self.exchange(reader, writer):
                pass
        except (OSError, EOFError, ValueError):  # either side has gone
            pass
        finally:
            writer.close()

    async def exchange(self, reader, writer):
        """Forwards one request, and its answer back. Returns whether the connection can have another one."""
        head = Head(await reader.readuntil(END))
        body = b"".join([piece async for piece in body_of(head, reader)]) if head.is_chunked or head.length > 0 else b""
        node = await self.reach()
        if not node:
            writer.write(NOBODY)
            return True
        source, target = node
        pair = (writer, target)
        self.pairs.add(pair)
        try:
            target.write(head.text(closes=True) + body)
            answer = Head(await source.readuntil(END))
            writer.write(answer.text(closes=answer.is_stream))
            if answer.is_stream:
                await self.until_either(self.copy(answer, source, writer), reader.read(1))
            else:
                await self.copy(answer, source, writer)
            return not answer.is_stream
        finally:
            self.pairs.discard(pair)
            target.close()

    async def reach(self):
        """Connects to the next node, or to the one after it if that one refuses."""
        for _ in range(2):
            ports = self.ports()
            if not ports:
                return None
            self.turn += 1
            try:
                return await asyncio.open_connection("127.0.0.1", ports[self.turn % len(ports)], limit=HEAD_MAX)
            except ConnectionRefusedError:
                continue
        return None

    @staticmethod
    async def copy(answer, source, writer):
        async for piece in body_of(answer, source):
            writer.write(piece)
            await writer.drain()

    @staticmethod
    async def until_either(passing, leaving):
        """Returns when the stream is over or its client has left."""
        both = [asyncio.ensure_future(passing), asyncio.ensure_future(leaving)]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for one in both:
            one.cancel()
        await asyncio.gather(*both, return_exceptions=True)
