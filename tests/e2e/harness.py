"""Starts the real program on a free loopback port, with its own folder, and stops it by its pid.

BATON_PROGRAM names the program (default build/release/baton), BATON_SANITIZER the sanitizer it was built with, if any;
BATON_TIME_SCALE stretches every bound on waiting, for slow builds.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import client
import databases

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))  # for tests that run without scripts/run_python_tests
PROGRAM = os.environ.get("BATON_PROGRAM", str(ROOT / "build/release/baton"))
SHIPPED = ROOT / "agent-cards"
LISTENS = re.compile(r"listening on https?://(\S+)")
TEST_AGENTS = pathlib.Path(__file__).resolve().parent / "agents"
WORKER_LOOP = pathlib.Path(__file__).resolve().parent / "worker_loop.py"
PATIENCE_S = client.PATIENCE_S


def program_environment():
    """The environment without BATON_*: the program reads those variables, and ours are for the tests."""
    return {name: value for name, value in os.environ.items() if not name.startswith("BATON_")}


def wait_for(condition, seconds=PATIENCE_S, what="the condition", pause=0.02):
    """Waits until condition() is true. Returns its result. `pause`: the seconds between two looks, more of them where a
    look starts a process."""
    deadline = time.monotonic() + client.scaled(seconds)
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain for {what}")
        time.sleep(pause)


def read_terminal(control):
    """Returns all that a terminal shows, once no process has it open."""
    shown = b""
    while True:
        try:
            piece = os.read(control, 65536)
        except OSError:  # EIO: its other side is closed
            return shown.decode()
        if not piece:
            return shown.decode()
        shown += piece


class Server(client.Client):
    """The running program. `agents`: names below tests/e2e/agents, the first is the default agent; without them the
    shipped agents. `config` becomes its configuration file. `database`: that of another server, to share. `program` may
    be set before a start."""

    program = PROGRAM

    def __init__(self, agents=None, config=None, options=(), database=None):
        super().__init__()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="baton-e2e-"))
        self.agents_folder = self.folder / "agents"
        self.database = database or databases.of_folder(self.folder)
        self.options = list(options)
        self.process = None
        self.lines = []
        self.first_line = 0  # of the last start
        self._copy_agents(agents)
        self.config = config or {}

    def _copy_agents(self, agents):
        skip = shutil.ignore_patterns("__pycache__")
        if agents is None:
            shutil.copytree(SHIPPED, self.agents_folder, ignore=skip)
            return
        self.agents_folder.mkdir()
        (self.agents_folder / "lib").symlink_to(SHIPPED / "lib")
        for name in agents:
            source = TEST_AGENTS / name
            if not source.exists():
                source = SHIPPED / name
            shutil.copytree(source, self.agents_folder / name, ignore=skip)
            shutil.copy(WORKER_LOOP, self.agents_folder / name)
            path = self.agents_folder / name / "card.json"
            card = json.loads(path.read_text(encoding="utf-8"))
            card["baton"]["default"] = name == agents[0]
            path.write_text(json.dumps(card, ensure_ascii=False), encoding="utf-8")

    def change_card(self, agent, **members):
        """Sets these members of `baton` in the agent's card, before the start."""
        path = self.agents_folder / agent / "card.json"
        card = json.loads(path.read_text(encoding="utf-8"))
        card["baton"] |= members
        path.write_text(json.dumps(card, ensure_ascii=False), encoding="utf-8")
        return self

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.discard()

    def command(self):
        config = self.folder / "baton.json"
        config.touch(mode=0o600)  # there may be tokens in it
        config.write_text(json.dumps(self.config), encoding="utf-8")
        return [self.program, "serve", "--config", str(config), "--port", str(self.port or 0),
                *self.database.words(), "--agents", str(self.agents_folder), *self.options]

    def start(self):
        """Starts the program; a second time on the same port and database. If a connection of another test has the port
        for a moment, it is tried again."""
        deadline = time.monotonic() + client.scaled()
        while not self._try_to_start():
            port_is_used = "Address already in use" in self.log_text()[-1000:] and time.monotonic() < deadline
            if not port_is_used:
                raise AssertionError(f"the program did not start\n{self.log_text()[-2000:]}")
        return self

    def _try_to_start(self):
        self.log = open(self.folder / "log", "ab")
        self.process = subprocess.Popen(
            self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log,
            env=program_environment(), start_new_session=True)
        told = threading.Event()
        first = self.first_line = len(self.lines)
        threading.Thread(target=self._read, args=(self.process.stdout, told), daemon=True).start()
        told.wait(client.scaled())
        if any(LISTENS.match(line) for line in self.lines[first:]):
            return True
        self.process.kill()
        self.process.wait()
        return False

    def _read(self, stdout, told):
        """Keeps the program's output; sets `told` once it listens or its output ends."""
        for line in iter(stdout.readline, b""):
            text = line.decode("utf-8", "replace").rstrip("\n")
            self.lines.append(text)
            if listens := LISTENS.match(text):
                self.host, port = listens[1].rsplit(":", 1)
                self.port = int(port)
                told.set()
        stdout.close()
        told.set()

    def address_of(self, what):
        """Returns where the program listens for `what`: "grpc" or "operate". It prints that after its own address."""
        begin = f"{what} listening on "
        return wait_for(lambda: next((line.removeprefix(begin) for line in self.lines[self.first_line:]
                                      if line.startswith(begin)), None), what=f"the line {begin}")

    @property
    def pid(self):
        return self.process.pid

    def running(self):
        return self.process is not None and self.process.poll() is None

    def stop(self, sig=signal.SIGTERM, seconds=PATIENCE_S):
        """Asks the program to end. Returns its exit code."""
        self.close()
        if self.running():
            self.process.send_signal(sig)
        code = self.process.wait(client.scaled(seconds))
        self.log.close()
        return code

    def kill(self):
        self.close()
        self.process.kill()
        self.process.wait()
        self.log.close()

    def discard(self):
        """Ends the program if it runs, and removes its folder. Prints its log if it ended badly."""
        code = 0
        if self.running():
            code = self.stop()
        if code != 0:
            print(f"\nthe program ended with {code}; the end of its log:\n{self.log_text()[-3000:]}")
        self.database.drop()
        shutil.rmtree(self.folder, ignore_errors=True)
        if code != 0:
            raise AssertionError(f"the program ended with {code}")

    def log_text(self):
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    def gate(self, agent, name):
        """Opens this gate for a test agent that waits for it (see agents/*/agent.py)."""
        (self.agents_folder / agent / f"gate-{name}").touch()

    def metric(self, name):
        for line in self.http("GET", "/metrics").raw.decode().splitlines():
            if line.rsplit(" ", 1)[0] == name:
                return float(line.rsplit(" ", 1)[1])
        raise AssertionError(f"no metric {name}")

    def threads(self):
        return len(os.listdir(f"/proc/{self.pid}/task"))

    def resident_kib(self):
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        return int(status.split("VmRSS:")[1].split()[0])

    def children(self):
        return pathlib.Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text(encoding="ascii").split()


class ServerCase(unittest.TestCase):
    """Tests that share one server. Set AGENTS and CONFIG."""

    AGENTS = None
    CONFIG = {}
    OPTIONS = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server(cls.AGENTS, cls.CONFIG, cls.OPTIONS).start()

    @classmethod
    def tearDownClass(cls):
        cls.server.discard()

    def assert_error(self, answer, code, status=200):
        """Asserts that the answer is this JSON-RPC error, with the protocol's canonical text."""
        self.assertEqual(answer.status, status, answer.raw)
        self.assertNotIn("result", answer.body)
        self.assertEqual(answer.body["error"]["code"], code, answer.raw)
        self.assertEqual(answer.body["error"]["message"], client.ERROR_TEXTS[code])
        return answer.body["error"]

    def wait_state(self, task, *states, agent=None, seconds=PATIENCE_S, token=None):
        """Polls until the task exists in one of these states. Returns the task."""
        def look():
            found = self.server.rpc("tasks/get", {"id": task}, agent=agent, token=token).body.get("result")
            return found if found and found["status"]["state"] in states else None
        return wait_for(look, seconds, f"{task} to be {' or '.join(states)}")
