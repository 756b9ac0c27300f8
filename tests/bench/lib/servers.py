"""The measured servers. Each is started on a free loopback port with its own files, and stopped by its own pid."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request


class Server:
    """A process that prints "listening on http://HOST:PORT". `version` is the A2A version of requests to it."""
    version = "1.0"

    def __init__(self, places, name, path="/", slow_flush_ms=0.0, database=None):
        self.places, self.name, self.path = places, name, path
        self.slow_flush_ms = slow_flush_ms
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=places.work))
        self.gate = self.folder / "gate"
        self.database = database or self.folder / "bench.db"
        self.process = None
        self.port = 0

    def command(self):
        raise NotImplementedError

    def environment(self):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("BATON_")}
        kept |= {"BENCH_GATE": str(self.gate), "NODE_ENV": "production"}
        if self.slow_flush_ms:
            kept |= {"LD_PRELOAD": str(self.places.slow_flush), "BENCH_FLUSH_DELAY_MS": str(self.slow_flush_ms)}
        return kept

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                            stderr=log, env=self.environment(), start_new_session=True)
        for line in iter(self.process.stdout.readline, b""):
            if b"listening on http://" in line:
                self.port = int(line.rsplit(b":", 1)[1].split()[0].strip(b"/"))
                return self
        raise RuntimeError(f"{self.name} did not start: {(self.folder / 'log').read_text()[-1000:]}")

    def url(self, path=None):
        return f"http://127.0.0.1:{self.port}{self.path if path is None else path}"

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.process:
            self.process.stdout.close()

    def discard(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.discard()

    def _status(self, name):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(text.split(f"{name}:")[1].split()[0])

    def resident_kib(self):
        """Returns the resident memory of the server itself, without the processes of its agents."""
        return self._status("VmRSS")

    def threads(self):
        return self._status("Threads")

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class BatonServer(Server):
    def metric(self, name):
        """Returns the sum of the values with this name and, if it names any, these labels. A family without values is
        missing in the metrics: then 0."""
        name, _, labels = name.rstrip("}").partition("{")
        wanted = set(labels.split(",")) if labels else set()
        with urllib.request.urlopen(self.url("/metrics"), timeout=30) as answer:
            lines = [line.rsplit(" ", 1) for line in answer.read().decode().splitlines() if not line.startswith("#")]
        values = [float(value) for sample, value in lines
                  if sample.partition("{")[0] == name and
                  wanted <= set(sample.partition("{")[2].rstrip("}").split(","))]
        if not values and not wanted:
            raise RuntimeError(f"no metric {name}")
        return sum(values)

    def is_ready(self):
        with urllib.request.urlopen(self.url("/readyz"), timeout=10) as answer:
            return answer.status == 200


class Baton(BatonServer):
    """The shipped program with default settings: `baton serve`."""

    def __init__(self, places, name="Baton", agent="echo", **how):
        super().__init__(places, name, f"/agents/{agent}/", **how)
        self.agents = self.folder / "agents"
        skip = shutil.ignore_patterns("__pycache__")
        shutil.copytree(places.bench / "agents", self.agents, ignore=skip)
        shutil.copytree(places.root / "agent-cards/echo", self.agents / "echo", ignore=skip)

    def command(self):
        return [self.places.baton, "serve", "--port", "0", "--db", self.database, "--agents", self.agents]


class EmbeddedBaton(BatonServer):
    """Baton with its agent inside the program."""

    def __init__(self, places, name="Baton, agent inside", **how):
        super().__init__(places, name, **how)

    def command(self):
        return [self.places.program("baton_bench_server"), self.database, self.places.bench / "embedded/agents"]


class Sdk13(Server):
    def __init__(self, places, name="JS SDK 1.3.0", **how):
        super().__init__(places, name, **how)

    def command(self):
        return ["node", self.places.bench / "servers/sdk_1_3.mjs"]


class Sdk03(Server):
    version = "0.3"

    def __init__(self, places, name="JS SDK 0.3.14", **how):
        super().__init__(places, name, **how)

    def command(self):
        return ["node", self.places.bench / "servers/sdk_0_3.mjs"]


class McpSdk(Server):
    version = "mcp"

    def __init__(self, places, name="MCP TypeScript SDK", **how):
        super().__init__(places, name, "/mcp", **how)

    def command(self):
        return ["node", self.places.bench / "servers/mcp_sdk.mjs"]


class Responder(Server):
    def __init__(self, places, name="limit: fixed answer", **how):
        super().__init__(places, name, **how)

    def command(self):
        return [self.places.program("baton_bench_responder")]


class GroupCommit(Server):
    def __init__(self, places, commits, **how):
        super().__init__(places, f"limit: {commits} commit{'s' if commits > 1 else ''}", **how)
        self.commits = commits

    def command(self):
        return [self.places.program("baton_bench_group_commit"), self.database, str(self.commits)]


def settled_kib(server, seconds=20):
    """Returns the resident memory once it has not changed for three seconds: allocators release free memory late."""
    deadline = time.monotonic() + seconds
    before, since = server.resident_kib(), time.monotonic()
    while time.monotonic() < min(since + 3, deadline):
        time.sleep(0.5)
        now = server.resident_kib()
        if abs(now - before) >= 64:
            before, since = now, time.monotonic()
    return before
