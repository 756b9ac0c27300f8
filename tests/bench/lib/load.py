"""The load: wrk for plain requests, the stream client for streams and crowds."""
import json
import subprocess
import tempfile

import a2a


def _headers(version, flag, separator):
    return [word for name, value in a2a.HEADERS[version].items() for word in (flag, f"{name}:{separator}{value}")]


class Result(dict):
    """The figures of one measurement: count, seconds, p50_ms, p99_ms, failures, ..."""

    @property
    def rate(self):
        return self["count"] / self["seconds"] if self["seconds"] else 0.0


def _file_with(places, text):
    with tempfile.NamedTemporaryFile("w", dir=places.work, suffix=".json", delete=False) as file:
        file.write(text)
    return file.name


def wrk(server, body, connections, seconds, ids_file=None, path=None, counts_refusals=False, pause_ms=None):
    """Runs wrk. Sends GETs if there is no body. "failures" counts requests without an answer or without status 200,
    "refused" those answered with an error. `pause_ms` is the average pause of each connection before a request."""
    places = server.places.load or server.places
    threads = 1 if connections < 16 else 2
    command = ["wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s",
               *_headers(server.version, "-H", " "), "-s", str(places.bench / "wrk/requests.lua"),
               server.url(path), "--", _file_with(places, body) if body else "-", ids_file or "-",
               *(["refusals"] if counts_refusals else [str(pause_ms)] if pause_ms else [])]
    run = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 120, check=False)
    found = [line for line in run.stdout.splitlines() if line.startswith("RESULT ")]
    if run.returncode != 0 or not found:
        raise RuntimeError(f"wrk failed: {run.stdout[-500:]} {run.stderr[-500:]}")
    return Result(json.loads(found[0][len("RESULT "):]))


def _client(server, what, body, *options):
    places = server.places.load or server.places
    return [str(places.program("baton_bench_client")), what, "--port", str(server.port), "--path", server.path,
            "--body", _file_with(places, body), *_headers(server.version, "--header", ""), *options]


def churn(server, body, connections, seconds):
    """Reads streams to their end, one after the other on each connection."""
    run = subprocess.run(_client(server, "churn", body, "--connections", str(connections), "--seconds", str(seconds)),
                         capture_output=True, text=True, timeout=seconds + 120, check=True)
    return Result(json.loads(run.stdout))


def series(server, body):
    """Returns the arrival times of one stream's events, in ms."""
    run = subprocess.run(_client(server, "series", body), capture_output=True, text=True, timeout=300, check=True)
    found = json.loads(run.stdout)
    if found["failures"] or not found["arrivals_ms"]:
        raise RuntimeError(f"the stream broke: {found['why']}")
    return found["arrivals_ms"]


class Crowd:
    """Requests that are open at the same time. `lost` counts those that the server closed."""

    def __init__(self, server, body, count):
        self.server, self.count, self.lost = server, count, 0
        self.process = subprocess.Popen(_client(server, "stand", body, "--connections", str(count)),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        self.opened = self._answer()
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()

    def _answer(self):
        found = json.loads(self.process.stdout.readline())
        self.lost = found.get("failures", self.lost)
        if self.lost > self.count // 10:
            raise RuntimeError(f"{self.lost} of {self.count} connections failed: {found['why']}")
        return found

    def tell(self, command):
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        return self._answer()

    def open_gate(self, name):
        self.tell(f"touch {self.server.gate}.{name}")

    def await_events(self, least):
        return self.tell(f"events {least}")

    def await_ends(self):
        return self.tell("ends")
