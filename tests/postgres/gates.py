"""TCP gates that can break the connections through them: by cutting, or by making the other side vanish silently
(half-open), as when a machine loses its network."""
import asyncio
import ctypes
import socket
import struct
import threading

SO_ATTACH_FILTER = 26  # on Linux
TAKES_NOTHING = struct.pack("HBBI", 6, 0, 0, 0)  # one BPF instruction: keep the first 0 bytes of each packet
RESETS = struct.pack("ii", 1, 0)  # SO_LINGER: closing sends a reset
VANISHED_S = 20  # longer than any peer should need to notice


def reset(writer):
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESETS)
    writer.transport.abort()


def vanish(writer):
    """From now on neither answers nor acknowledges anything. Returns the socket; the connection stays open until it is
    closed."""
    kept = writer.get_extra_info("socket").dup()
    code = ctypes.create_string_buffer(TAKES_NOTHING, len(TAKES_NOTHING))
    kept.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HL", 1, ctypes.addressof(code)))
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESETS)
    writer.transport.abort()
    return kept


class Gate:
    """Listens on a free loopback port, on a thread of its own. A subclass handles a connection in `serve`, and keeps
    each pair (its near writer, its far writer) in `pairs` while data pass."""

    def __init__(self, **listening):
        self.pairs = set()
        self.loop = asyncio.new_event_loop()
        started = threading.Event()
        self.thread = threading.Thread(target=self.work, args=(started, listening), daemon=True)
        self.thread.start()
        started.wait()

    def work(self, started, listening):
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(
            asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=512, **listening))
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        self.loop.run_forever()
        server.close()
        left = asyncio.all_tasks(self.loop)
        for task in left:
            task.cancel()
        self.loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self.loop.close()

    def end(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    async def serve(self, reader, writer):
        raise NotImplementedError

    def on_some(self, random, most, do):
        """Calls `do` with at most `most` pairs, chosen at random. Returns the number of pairs."""
        async def choose():
            whole = [pair for pair in self.pairs if not any(writer.transport.is_closing() for writer in pair)]
            chosen = random.sample(sorted(whole, key=id), min(most, len(whole)))
            for pair in chosen:
                self.pairs.discard(pair)
                do(*pair)
            return len(chosen)
        return asyncio.run_coroutine_threadsafe(choose(), self.loop).result()

    def cut(self, random, most):
        """Ends connections, half of them by a reset and the others by an orderly end."""
        def one(near, far):
            for writer in (near, far):
                if random.random() < 0.5:
                    reset(writer)
                else:
                    writer.transport.abort()
        return self.on_some(random, most, one)

    def keep_open(self, kept):
        self.loop.call_later(VANISHED_S, kept.close)


class DatabaseGate(Gate):
    """A gate in front of a server at `port`, for any protocol. `connect_s`: how long connecting takes."""

    def __init__(self, port, connect_s=0):
        self.before, self.connect_s = port, connect_s
        super().__init__()

    async def serve(self, reader, writer):
        await asyncio.sleep(self.connect_s)
        try:
            source, target = await asyncio.open_connection("127.0.0.1", self.before)
        except OSError:
            reset(writer)
            return
        pair = (writer, target)
        self.pairs.add(pair)
        await asyncio.wait([asyncio.ensure_future(self.copy(reader, target)),
                            asyncio.ensure_future(self.copy(source, writer))])
        self.pairs.discard(pair)

    @staticmethod
    async def copy(source, target):
        try:
            while piece := await source.read(1 << 16):
                target.write(piece)
                await target.drain()
        except OSError:
            pass
        finally:
            target.close()

    def half_open(self, random, most):
        """Makes each side see the other one vanish."""
        def one(near, far):
            self.keep_open(vanish(near))
            self.keep_open(vanish(far))
        return self.on_some(random, most, one)
