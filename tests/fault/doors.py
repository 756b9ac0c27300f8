"""The clients whose messages the kill tests repeat: A2A in any generation, and AG-UI. A lost stream is resumed after
the last block that was seen."""
import http.client
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import chat_client
import client
import generations

# Errors of a connection that is refused or breaks, of a stream that ends inside a block, and of a server that is not up
# yet.
LOST = (OSError, http.client.HTTPException, AssertionError)
AWAY = (502, 503, "UNAVAILABLE")  # from a proxy, and from a server


class Send:
    """One message, and its answers. `texts`: the text of each artifact on its stream, put together as a client does;
    `frames`: the frames of a run."""

    def __init__(self, door, text, context=None):
        self.door, self.text, self.context = door, text, context
        self.id = client.new_id()
        self.task = self.last = None
        self.tries = self.resumed = 0
        self.texts, self.frames = {}, []
        self.is_streamed = False

    def take(self, artifact, appends=False):
        text = "".join(generations.texts_in(artifact))
        self.texts[artifact["artifactId"]] = (self.texts.get(artifact["artifactId"], "") if appends else "") + text


class A2aDoor:
    """Sends with a generation's client, every other message over a stream. `resumes`: resumes a lost stream after its
    last event, instead of sending the message again."""

    def __init__(self, server, generation, resumes=False):
        self.server, self.generation, self.name = server, generation, generation.name
        self.resumes = resumes

    def send(self, message, streams):
        # A new client each time: a gRPC channel waits longer and longer for a server that was away.
        speaker = self.generation(self.server, "echo")
        how = {"message_id": message.id, "metadata": {"delay_ms": 5}}
        if message.context:
            how["context"] = message.context
        try:
            if streams:
                self.follow(speaker, message, how)
            else:
                message.task = speaker.send(message.text, **how).id
        except generations.Refused as refused:
            if "UNAVAILABLE" in str(refused) or refused.code in AWAY or refused.answer.status in AWAY:
                raise ConnectionError(str(refused)) from refused
            raise RuntimeError(f"{self.name}: {refused}") from refused
        finally:
            if "channel" in vars(speaker):
                speaker.channel.close()

    def follow(self, speaker, message, how):
        message.is_streamed = True
        if self.resumes and message.last:
            following = speaker.subscribe(message.task, after=message.last)
            message.resumed += 1
        else:
            following = speaker.stream(message.text, **how)
        try:
            for item in following:
                if item.kind == "error":
                    raise (ConnectionError if item.raw["code"] in AWAY else RuntimeError)(str(item.raw))
                if item.kind in ("task", "status", "artifact"):
                    self.take(item, message)
                if item.kind == "status" and item.state in generations.ENDED:
                    return
            raise ConnectionError("the stream ended before the task")
        finally:
            following.close()

    @staticmethod
    def take(item, message):
        message.task = item.raw.get("taskId") or item.raw["id"]
        message.last = item.number or message.last
        if item.kind == "artifact":
            message.take(item.raw["artifact"], item.raw.get("append"))
        elif item.kind == "task":
            message.texts = {}
            for artifact in item.raw.get("artifacts", []):
                message.take(artifact)

    def check(self, message):
        """Checks that a stream that was cut and resumed has shown everything once."""
        if message.is_streamed and self.resumes and list(message.texts.values()) != [message.text]:
            raise RuntimeError(f"{self.name}: the stream of {message.task} has shown {message.texts} of {message.text}")


def ends_run(frame):
    return frame.body and frame.body["type"] in ("RUN_FINISHED", "RUN_ERROR")


class AgUiDoor:
    """Sends runs. Requests a run whose stream was lost again, after the last block that was seen."""
    name = "AG-UI"

    def __init__(self, server):
        self.server = server

    def open(self, message, last):
        body = {"threadId": f"thread-{message.id}", "runId": f"run-{message.id}", "tools": [], "context": [],
                "state": {}, "forwardedProps": {"delay_ms": 5},
                "messages": [{"id": message.id, "role": "user", "content": message.text}]}
        stream = chat_client.post(self.server, "/agents/echo/ag-ui", body, last=last)
        if isinstance(stream, client.Answer):
            if stream.status in AWAY:
                raise ConnectionError("draining or too busy")
            raise RuntimeError(f"AG-UI: HTTP {stream.status} {stream.raw[:300]}")
        return stream

    def send(self, message, _):
        message.resumed += message.last is not None
        stream = self.open(message, message.last)
        try:
            for frame in stream:
                if frame.place:
                    message.task, message.last = frame.task, frame.place
                message.frames.append(frame.shown)
                if ends_run(frame):
                    return
            raise ConnectionError("the stream ended before the run")
        finally:
            stream.close()

    def check(self, message):
        """Checks that all streams of a run together have shown the same as one uncut stream."""
        frames = self.open(message, f"{message.task}:0").rest()
        if not frames or not ends_run(frames[-1]):
            raise ConnectionError("the stream ended before the run")
        whole = [frame.shown for frame in frames]
        if message.frames != whole:
            parts = [[frame for frame in one if frame not in other] for one, other in
                     ((message.frames, whole), (whole, message.frames))]
            raise RuntimeError(f"{self.name}: the streams of {message.task} have shown {len(message.frames)} frames, "
                               f"with {parts[0]}, one that is not cut {len(whole)}, with {parts[1]}")


def send(door, message, streams):
    """Sends the message until it is answered."""
    deadline = time.monotonic() + client.scaled(60)
    while True:
        message.tries += 1
        try:
            return door.send(message, streams)
        except LOST as problem:
            if time.monotonic() > deadline:
                raise RuntimeError(f"no answer to {message.id}") from problem
            time.sleep(0.05)
