"""Shared by the tests of the chat protocols: one server with the agent "chat" (agents/chat/agent.py lists what it
understands), a client of each protocol, and one of A2A 1.0 to look at the tasks."""
import functools
import json
import shutil

import chat_client
import chat_doors
import harness
import new_generations


def for_each(*doors, **how):
    """Runs a test with a client of each of these protocols, or of all of them if none is named."""
    def decorate(test):
        @functools.wraps(test)
        def run(self):
            for door in doors or chat_doors.ALL_DOORS:
                with self.subTest(door.name):
                    test(self, door(self.server, **how))
        return run
    return decorate


class ChatCase(harness.ServerCase):
    maxDiff = None
    AGENTS = ["chat"]
    CONFIG = {}
    # Further agents: copies of "chat" with these members of `baton`.
    COPIES = {}

    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server(cls.AGENTS, {"engine": {"drain_grace_s": 0.2}, **cls.CONFIG}, cls.OPTIONS)
        for name, members in cls.COPIES.items():
            folder = cls.server.agents_folder / name
            shutil.copytree(cls.server.agents_folder / "chat", folder)
            card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
            card["baton"] |= {"default": False, **members}
            (folder / "card.json").write_text(json.dumps(card), encoding="utf-8")
        cls.server.start()
        cls.a2a = new_generations.Rpc10(cls.server, "chat")

    def clients(self, *doors):
        """Returns a client of each of these protocols, or of all of them if none is named."""
        return [door(self.server) for door in doors or chat_doors.ALL_DOORS]

    def tasks_in(self, context):
        """Returns the context's tasks, newest first."""
        return self.a2a.list(contextId=context)["tasks"]

    def state_of(self, task):
        return self.a2a.get(task).state

    def wait_for_state(self, task, *states):
        harness.wait_for(lambda: self.state_of(task) in states, what=f"{task} to be {states}")

    def refusal(self, act, *args, **how):
        """Returns the Answer that refuses act(...)."""
        with self.assertRaises(chat_client.Refused) as caught:
            act(*args, **how)
        self.assertIsInstance(caught.exception.answer.body["error"], str)
        return caught.exception.answer

    def begin_long(self, door, context, text="wait"):
        """Begins a run and waits until it is at work. Returns its stream, and the run so far."""
        stream = door.open(door.say(text, context))
        return stream, door.until_text(stream, "begun")

    @staticmethod
    def shown(frames):
        return [frame.shown for frame in frames]
