"""What agents get from Baton besides their turns: environment, limits, and no way to outlive their turn."""
import json
import os
import pathlib
import signal
import socket
import unittest.mock

import client
import harness
from test_bad_agents import orphans, processes_of

GIVEN = {"PATH", "HOME", "LANG", "TZ", "TMPDIR", "PYTHONPATH", "NODE_PATH", "GIVEN", "PASSED_ON"}


class Surroundings(harness.ServerCase):
    AGENTS = ["surroundings", "bad"]
    CONFIG = {"tokens": [{"caller": "ann", "token_env": "ANNS_TOKEN"}]}
    TOKEN = "the-secret-of-ann"

    @classmethod
    def setUpClass(cls):
        variables = {"ANNS_TOKEN": cls.TOKEN, "PASSED_ON": "from outside", "AWS_SECRET_ACCESS_KEY": "no", "TZ": "UTC"}
        with unittest.mock.patch.dict(os.environ, variables):
            cls.server = harness.Server(cls.AGENTS, cls.CONFIG).change_card("bad", turn_timeout_s=600).start()

    def tell(self, what="tell"):
        done = self.server.send(what, agent="surroundings", token=self.TOKEN)
        self.assertEqual(done["status"]["state"], "completed", done["status"])
        return json.loads(client.text_of(done["artifacts"][0]))

    def test_the_environment_is_clean(self):
        environment = self.tell()["environment"]
        # Python itself adds LC_CTYPE if there is no locale.
        self.assertLessEqual(set(environment) - {"LC_CTYPE"}, GIVEN)
        self.assertEqual(environment["GIVEN"], "by the card")
        self.assertEqual(environment["PASSED_ON"], "from outside")
        self.assertEqual(environment["TZ"], "UTC")
        self.assertIn("PATH", environment)

    def test_privileges_and_limits_are_as_the_card_says(self):
        told = self.tell()
        self.assertEqual(told["no_new_privs"], "1")
        self.assertEqual(told["limits"]["AS"], [1 << 30, 1 << 30])
        self.assertEqual(told["limits"]["CPU"], [600, 600])
        self.assertEqual(told["limits"]["NPROC"], [50000, 50000])
        self.assertEqual(told["limits"]["NOFILE"], [100, 100])

    def test_neither_the_server_nor_its_agents_leave_a_core_and_the_metrics_see_the_process(self):
        limits = pathlib.Path(f"/proc/{self.server.pid}/limits").read_text(encoding="utf-8")
        core = next(line for line in limits.splitlines() if line.startswith("Max core file size"))
        self.assertEqual(core.split()[4], "0")
        metrics = self.server.http("GET", "/metrics").raw.decode()
        for name in ("process_open_fds", "process_resident_memory_bytes"):
            self.assertRegex(metrics, rf"(?m)^{name} [1-9]")

    def test_a_process_that_left_its_session_ends_with_the_turn(self):
        self.tell("daemon")
        harness.wait_for(lambda: not orphans(self.server.agents_folder / "surroundings"),
                         what="the end of the process that was left behind")
        harness.wait_for(lambda: not processes_of(self.server.pid), what="the reaping of all processes")

    def test_what_an_agent_says_on_standard_error_is_for_the_log(self):
        ended = self.server.send("complain", agent="bad", token=self.TOKEN)
        reason = client.text_of(ended["status"]["message"])
        self.assertEqual(ended["status"]["state"], "failed")
        self.assertNotIn("no such table", reason)
        self.assertIn(ended["id"], reason)
        self.wait_log("no such table: accounts")

    def test_what_an_agent_prints_by_mistake_is_for_the_log(self):
        ended = self.server.send("garbage", agent="bad", token=self.TOKEN)
        self.assertNotIn("this is not a line", client.text_of(ended["status"]["message"]))
        self.wait_log("this is not a line")

    def wait_log(self, text):
        harness.wait_for(lambda: text in self.server.log_text(), what=f"{text!r} in the log")


class BesideAnother(harness.ServerCase):
    """Baton was started by exec from a shell that had started a process of its own."""

    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server(["surroundings"])
        command = cls.server.command
        cls.server.command = lambda: ["sh", "-c", 'sleep 300 & echo $! > "$0"; exec "$@"',
                                      str(cls.server.folder / "sidecar"), *command()]
        cls.server.start()

    def test_a_process_that_was_there_before_is_left_alone(self):
        sidecar = int((self.server.folder / "sidecar").read_text())
        self.addCleanup(os.kill, sidecar, signal.SIGKILL)
        done = self.server.send("daemon", agent="surroundings")
        self.assertEqual(done["status"]["state"], "completed")
        # The process that the agent left behind is found, and the shell's own process is not mistaken for one.
        harness.wait_for(lambda: not orphans(self.server.agents_folder / "surroundings"),
                         what="the end of the process that was left behind")
        self.assertEqual(self.server.stop(), 0)
        os.kill(sidecar, 0)


class Refused(unittest.TestCase):
    """Settings that a card may not contain."""

    def start_with(self, names):
        server = harness.Server(["surroundings"], {"tokens": [{"caller": "ann", "token_env": "ANNS_TOKEN"}]})
        path = pathlib.Path(server.agents_folder) / "surroundings" / "card.json"
        card = json.loads(path.read_text(encoding="utf-8"))
        card["baton"]["env_from"] = names
        path.write_text(json.dumps(card), encoding="utf-8")
        self.addCleanup(server.discard)
        with unittest.mock.patch.dict(os.environ, {"ANNS_TOKEN": "the-secret-of-ann"}):
            try:
                server.start()
            except AssertionError:
                pass
        return server.log_text()

    def test_a_token_of_a_caller(self):
        self.assertIn("contains a caller's token, so agents do not get it", self.start_with(["ANNS_TOKEN"]))

    def test_a_setting_of_batons(self):
        self.assertIn("is reserved for Baton", self.start_with(["BATON_TOKENS"]))


class Verbose(harness.ServerCase):
    OPTIONS = ["--dev"]

    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server(["bad"], options=cls.OPTIONS).change_card("bad", turn_timeout_s=600).start()

    def test_dev_shows_callers_the_last_line(self):
        ended = self.server.send("complain", agent="bad")
        self.assertIn("no such table: accounts", client.text_of(ended["status"]["message"]))


class FewDescriptors(unittest.TestCase):
    """A system that allows few open files: connections leave enough of them to agents."""

    LIMIT = 256

    def test_agents_can_be_started_while_strangers_hold_all_connections(self):
        server = harness.Server(["bad", "joke"]).change_card("bad", turn_timeout_s=600)
        command = server.command
        server.command = lambda: ["/bin/sh", "-c", f'ulimit -n {self.LIMIT}; exec "$@"', "sh", *command()]
        self.addCleanup(server.discard)
        server.start()
        self.assertIn("connections_max is lowered from 20000 to", server.log_text())
        self.assertEqual(server.send("after end", agent="bad")["status"]["state"], "completed")
        held = [socket.create_connection((server.host, server.port)) for _ in range(self.LIMIT)]
        self.addCleanup(lambda: [one.close() for one in held])
        # The connection of the previous send is one of the served ones.
        self.assertEqual(server.send("after end", agent="bad")["status"]["state"], "completed")
