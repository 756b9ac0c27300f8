"""Answers over every protocol and path, held against those that were recorded in tests/recorded/answers. A change that is
meant is recorded with BATON_RECORD=1, and reviewed as a difference of those files."""
import pathlib
import shutil
import sys
import unittest

import client
import databases
import harness
import webhooks

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

from recorded import a2a, chat, files, runner

CALLS = {}
if client.has_grpc():
    from recorded import calls
    CALLS = {"grpc": calls.perform}
GRPC = ("--grpc-port", "0") if client.has_grpc() else ()
QUICK = {"webhooks": {"retry_first_s": 0.05, "retry_max_s": 0.1, "timeout_s": 5}, "engine": {"drain_grace_s": 0.2}}


class RecordedCase(harness.ServerCase):
    """A test compares one file. Servers are shared by tests that do not see each other's tasks."""
    TOKENS = {}

    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server(cls.AGENTS, cls.CONFIG, cls.OPTIONS)
        cls.prepare()
        cls.server.start()
        cls.receiver = webhooks.Receiver()

    @classmethod
    def tearDownClass(cls):
        cls.receiver.__exit__()
        super().tearDownClass()

    @classmethod
    def prepare(cls):
        """Before the server starts."""

    def compare(self, name, scenes, base=None):
        runs = runner.Runner(self.server, self.TOKENS, self.receiver, CALLS)
        answered = [(title, runs.scene(title, steps)) for title, steps in scenes]
        found = files.difference(name, answered, base)
        if found:
            self.fail(f"answers are other ones than were recorded\n{found}")


class A2a(RecordedCase):
    """Each generation has an agent of its own, and so lists of its own."""
    AGENTS = ["player"]
    CONFIG = QUICK
    OPTIONS = ["--allow-private-webhooks", *GRPC]

    @classmethod
    def prepare(cls):
        for name in a2a.NAMES:
            harness_copy(cls.server, "player", agent_of(name))

    def generation(self, name, base=None):
        self.compare(file_of(name), a2a.Generation(name, agent_of(name)).scenes(), base)


class Chat(RecordedCase):
    AGENTS = ["chat"]
    CONFIG = QUICK

    @classmethod
    def prepare(cls):
        for name in chat.DOORS:
            harness_copy(cls.server, "chat", "chat-" + name)
            # All that a turn says at once is written at once: how it is split into events does not depend on time then.
            program = cls.server.agents_folder / f"chat-{name}/agent.py"
            program.write_text(program.read_text(encoding="utf-8").replace("    sys.stdout.flush()\n", "", 1), encoding="utf-8")


def file_of(name):
    return "a2a-" + name.replace(" ", "-").lower()


def agent_of(name):
    return "player-" + name.replace(" ", "-").replace(".", "").lower()


def harness_copy(server, agent, name, **members):
    """A copy of an agent under another name, which is not the default one; `members` of `baton` as given."""
    import json
    folder = server.agents_folder / name
    shutil.copytree(server.agents_folder / agent, folder)
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    card["baton"] |= {"default": False, **members}
    (folder / "card.json").write_text(json.dumps(card, ensure_ascii=False), encoding="utf-8")


def add_tests():
    for name in a2a.NAMES:
        if "gRPC" in name and not client.has_grpc():
            continue
        base = a2a.BASES.get(name) and file_of(a2a.BASES[name])
        setattr(A2a, "test_" + agent_of(name).removeprefix("player-").replace("-", "_"),
                lambda self, name=name, base=base: self.generation(name, base))
    for name in chat.DOORS:
        base = "chat-agui" if name == "agui10" else None
        setattr(Chat, "test_" + name.replace("-", "_"),
                lambda self, name=name, base=base: self.compare("chat-" + name, chat.scenes(name), base))


add_tests()
if __name__ == "__main__":
    unittest.main()
