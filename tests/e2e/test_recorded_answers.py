"""Answers over every protocol and path, held against those that were recorded in tests/recorded/answers. A change that
is meant is recorded with BATON_RECORD=1, and reviewed as a difference of those files."""
import json
import pathlib
import shutil
import sys
import unittest

import client
import databases
import harness
import operate_case
import webhooks
from plan_case import hand, write_plan

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

from recorded import a2a, callers, chat, edges, families, files, operate, runner

CALLS = {}
if client.has_grpc():
    from recorded import calls
    CALLS = {"grpc": calls.perform}
GRPC = ("--grpc-port", "0") if client.has_grpc() else ()
QUICK = {"webhooks": {"retry_first_s": 0.05, "retry_max_s": 0.1, "timeout_s": 60}, "engine": {"drain_grace_s": 0.2}}


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
        self.addCleanup(runs.close)
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
            written_at_once(cls.server, "chat-" + name)


TWO = {"id": "two", "sequence": [hand("say one", id="first"), hand("{{/message/text}}", id="second")]}


@databases.needs_sqlite("keys are numbers in order of creation")
class Operators(RecordedCase):
    AGENTS = ["joke", "slow", "phone", "bad", "hand"]
    TOKENS = {"ann": "ann-secret", "bob": "bob-secret", "vera": "vera-secret", "otto": "otto-secret"}
    CONFIG = {**QUICK, "node_name": "first", "tokens": [*operate_case.TOKENS, {"caller": "bob", "token": "bob-secret"}]}
    OPTIONS = ["--allow-private-webhooks"]

    @classmethod
    def prepare(cls):
        write_plan(cls.server, "two", TWO)

    def test_operators(self):
        self.compare("operate", operate.scenes())


@client.only_if(client.has_grpc())
class Playground(Operators):
    OPTIONS = GRPC
    test_operators = None

    def test_playground(self):
        self.compare("operate-playground", operate.grpc_scenes())


class Callers(RecordedCase):
    AGENTS = ["chat", "joke"]
    TOKENS = {"shop": "the-shops-own-token-is-long-enough", "desk": "the-desks-own-token-is-long-enough",
              "vera": "vera-secret", "otto": "otto-secret"}
    CONFIG = {**QUICK, "tokens": [{"caller": "shop", "token": TOKENS["shop"]},
                                  {"caller": "desk", "token": TOKENS["desk"], "agents": ["joke"]},
                                  *operate_case.TOKENS[1:]]}

    @classmethod
    def prepare(cls):
        written_at_once(cls.server, "chat")

    def test_callers(self):
        self.compare("callers", callers.scenes())


class Edges(RecordedCase):
    AGENTS = ["player", "hand"]
    CONFIG = {**QUICK, "http": {"body_max": 65536}}

    @classmethod
    def prepare(cls):
        write_plan(cls.server, "two", TWO)
        harness_copy(cls.server, "player", "extended", extended={"description": "Says more to those it knows."})
        harness_copy(cls.server, "player", "quiet")
        path = cls.server.agents_folder / "quiet/card.json"
        card = json.loads(path.read_text(encoding="utf-8"))
        card["capabilities"] = {"streaming": False, "pushNotifications": False}
        path.write_text(json.dumps(card), encoding="utf-8")

    def test_edges(self):
        self.compare("edges", edges.scenes())


class Proxied(RecordedCase):
    AGENTS = ["player"]
    CONFIG = {**QUICK, "public_url": "https://public.example/baton", "hosts": ["agents.example"],
        "proxies": ["127.0.0.0/8"],
              "cors": {"origins": ["https://chat.example"]}, "chat": {"page": False},
              "a2a": {"trust_method_names": True},
              "webhooks": {"enabled": False}}

    def test_proxied(self):
        self.compare("proxied", edges.proxied())


class Families(RecordedCase):
    AGENTS = ["hand", "chief", "joke", "family"]
    CONFIG = QUICK
    PLANS = {"two": TWO, "asking": {"sequence": [{"ask": "Go on?", "id": "ask"},
    hand("say {{/message/text}}", id="then")]},
             "branch": {"route": [{"when": {"value": "/message/text", "equals": "left"}, "then": hand("say went left")},
                                  {"then": hand("say went on")}]},
             "each": {"map": hand("say {{/item}}-{{/index}}"), "over": ["a", "b", "c"], "concurrency": 1},
             "again": hand("flaky 1 fine", id="again", retry={"count": 1, "delay_s": 0}),
             "broken": {"sequence": [hand("say book", id="book", compensate=hand("say give back", id="back")),
             hand("fail now", id="fail")]}}

    @classmethod
    def prepare(cls):
        for name, plan in cls.PLANS.items():
            write_plan(cls.server, name, plan)
        written_at_once(cls.server, "family", "flush=True", 'flush=line["type"] != "text"')

    def test_families(self):
        self.compare("families", families.scenes())


def written_at_once(server, agent, old="    sys.stdout.flush()\n", new=""):
    """All that a turn says at once is written at once: how it is split into events does not depend on time then."""
    program = server.agents_folder / agent / "agent.py"
    text = program.read_text(encoding="utf-8")
    assert old in text
    program.write_text(text.replace(old, new, 1), encoding="utf-8")


def file_of(name):
    return "a2a-" + name.replace(" ", "-").lower()


def agent_of(name):
    return "p" + name.replace(" ", "-").replace(".", "").replace("JSON-RPC", "rpc").lower()


def harness_copy(server, agent, name, **members):
    """A copy of an agent under another name, which is not the default one; `members` of `baton` as given."""
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
        setattr(A2a, "test_" + agent_of(name).removeprefix("p").replace("-", "_"),
                lambda self, name=name, base=base: self.generation(name, base))
    for name in chat.DOORS:
        base = "chat-agui" if name == "agui10" else None
        setattr(Chat, "test_" + name.replace("-", "_"),
                lambda self, name=name, base=base: self.compare("chat-" + name, chat.scenes(name), base))


add_tests()
if __name__ == "__main__":
    unittest.main()
