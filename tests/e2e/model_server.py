"""A scripted language model server on a free loopback port. A script is a list of answers, functions that get the
handler of one request. Each request uses up the first answer; the last one stays."""
import json
import threading

import client
import relay


def chunk(delta=None, finish=None, **more):
    return {"id": "c", "object": "chat.completion.chunk", "model": "tiny-1",
            "choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}], **more}


def words(*texts, finish="stop"):
    """Returns chunks with these texts, and the last chunk."""
    return [chunk({"content": text}) for text in texts] + [chunk(finish=finish)]


def call(name, arguments, **more):
    """Returns one whole tool call, in a chunk of its own; without an index unless it is given."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"type": "function", "function": {"name": name, "arguments": text}, **more}


def calls(*called):
    return [chunk({"role": "assistant", "content": None, "tool_calls": [one]}) for one in called] + \
        [chunk(finish="tool_calls")]


def frames(chunks, done=True):
    """Returns the chunks as events; a text is sent as it is."""
    events = [one if isinstance(one, str) else f"data: {json.dumps(one)}\n\n" for one in chunks]
    return "".join(events + (["data: [DONE]\n\n"] if done else [])).encode()


def streamed(*chunks, done=True):
    """Answers with a stream of these chunks."""
    def answer(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        handler.wfile.write(frames(chunks, done))
    return answer


def said(*texts):
    return streamed(*words(*texts))


def plain(content, status=200, **headers):
    """Answers with JSON in place of a stream."""
    def answer(handler):
        body = json.dumps(content).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
    return answer


def stops(*chunks):
    """Answers with these chunks, then cuts the connection."""
    def answer(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        handler.wfile.write(frames(chunks, done=False))
    return answer


class ModelServer(relay.Site):
    def __init__(self):
        outer, self.requests, self.headers, self.paths = self, [], [], []
        self.lock = threading.Lock()
        self.answers = [said("hello")]

        class Answering(relay.Handler):
            def do_POST(self):
                body = json.loads(self.body())
                with outer.lock:
                    outer.requests.append(body)
                    outer.headers.append(dict(self.headers))
                    outer.paths.append(self.path)
                    answer = outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0]
                answer(self)

        super().__init__(Answering)

    def script(self, *answers):
        with self.lock:
            self.answers = list(answers)
            self.requests.clear()
            self.headers.clear()
            self.paths.clear()

    def messages(self, nth=-1):
        return self.requests[nth]["messages"]

    def silent_after(self, *chunks, comments=False):
        """Returns an answer that sends these chunks and then nothing, or comments only, and an event that is set when
        the connection ends."""
        ended = threading.Event()

        def answer(handler):
            handler.send_response(200)
            handler.send_header("Content-Type", "text/event-stream")
            handler.end_headers()
            handler.wfile.write(frames(chunks, done=False))
            handler.wfile.flush()
            handler.connection.settimeout(0.2 if comments else client.scaled(60))
            try:
                while comments:
                    try:
                        if not handler.connection.recv(1):
                            return ended.set()
                    except TimeoutError:
                        handler.wfile.write(b": still here\n\n")
                if not handler.connection.recv(1):
                    ended.set()
            except ConnectionError:
                ended.set()
        return answer, ended
