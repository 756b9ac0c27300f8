"""Stand-ins for the parsers of released clients. They reproduce exactly what those do, even where that is wrong. Every
stream that a test reads passes through them."""


class HttpxSse:
    """The decoder of httpx-sse as used by the A2A Python SDKs 0.2.5 to 0.3.22, the Python sample of 0.1 and the
    inspector: it reads line by line and passes each event's data to json.loads. A blank line dispatches if any of
    event, data, retry or the last id is set; the last id is never cleared."""

    def __init__(self):
        self.event, self.data, self.last_id, self.retry = "", [], "", None

    def line(self, line):
        """Takes a line without its end. Returns (event, data, id) if it completes an event."""
        if not line:
            if not self.event and not self.data and not self.last_id and self.retry is None:
                return None
            found = (self.event or "message", "\n".join(self.data), self.last_id)
            self.event, self.data, self.retry = "", [], None
            return found
        if line.startswith(":"):
            return None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self.event = value
        elif name == "data":
            self.data.append(value)
        elif name == "id":
            if "\0" not in value:
                self.last_id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self.retry = int(value)
        return None


class FirstJsClient:
    """The first JavaScript client of A2A 0.1: it splits at blank lines and accepts a block as an event only if it
    begins with its data."""

    def __init__(self):
        self.rest, self.frames, self.dropped = "", [], []

    def take(self, text):
        *blocks, self.rest = (self.rest + text).split("\n\n")
        for block in blocks:
            if block.startswith("data: "):
                self.frames.append(block.removeprefix("data: ").strip())
            elif block.strip():
                self.dropped.append(block)


class Released:
    """Both parsers, beside a test's own reader. `line` takes each line of the stream with its end."""

    def __init__(self):
        self.httpx, self.first_js = HttpxSse(), FirstJsClient()
        self.events = []  # from httpx-sse: (event, data, id)
        self.comments = 0

    def line(self, line):
        if not line:
            return  # the stream's end, at which neither of them dispatches anything
        text = line.decode("utf-8")
        self.comments += text.startswith(":")
        self.first_js.take(text)
        event = self.httpx.line(text.rstrip("\r\n"))
        if event is None:
            return
        if not event[1]:
            raise AssertionError(f"httpx-sse takes a blank line for an event without data, after {self.events[-1:]}")
        self.events.append(event)
