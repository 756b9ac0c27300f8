"""The streams of OpenAI's API."""
import json


class Events:
    """An open stream of events. Iterating gives the JSON of each, and checks that there is nothing else."""

    def __init__(self, connection, response):
        self.connection, self.response, self.seen, self.ended = connection, response, [], False

    def __iter__(self):
        name = None
        while line := self.response.readline().decode():
            field, _, value = line.rstrip("\n").partition(": ")
            assert field in ("", "event", "data"), line
            if field == "event":
                name = value
            elif field == "data":
                if value == "[DONE]":
                    self.ended = True
                    assert self.response.read() == b"\n"
                    self.close()
                    return
                body = json.loads(value)
                assert body.get("type", name) == name, line
                self.seen.append(body)
                name = None
                yield body
        self.close()

    def until(self, condition):
        return next(body for body in self if condition(body))

    def rest(self):
        return list(self)

    def close(self):
        self.response.close()
        self.connection.close()
