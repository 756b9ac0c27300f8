"""Agents that misbehave: the task fails with a reason, other tasks continue, and no process is left."""
import json
import os
import pathlib
import shutil

import client
import harness
import rings

# Cases that unit tests also refuse, and floods, which test_floods_cost_no_memory also has. Most take as long as a turn
# may.
ASSERTED_BELOW = {
    "unit/agents/command/line_test.cpp": ["not utf-8", "not an object", "no type", "wrong fields",
                                       "artifact without parts", "artifact of wrong shape"],
    "unit/agents/command/line_turn_test.cpp": ["exit 0", "complain", "endless line", "endless lines", "endless errors"],
}
# Each way of agents/bad and the words that the reason must contain; () accepts any reason.
FAILING = {
    "exit 0": (), "exit 3": ("exit code 3",), "complain": ("exit code 4",), "signal": ("signal",), "hang": (), "deaf": (),
    "grandchild": ("exit code 3",), "garbage": (), "not utf-8": (), "not an object": (), "no type": ("type",),
    "wrong fields": ("delta",), "artifact without parts": ("parts",), "artifact of wrong shape": (),
    "delegate to nobody": ("agent",), "endless line": (), "endless lines": (), "endless garbage": (),
    "endless errors": (), "close output": (), "deep": (),
}


def processes_of(pid):
    """Returns every process below `pid`, as {pid: state}."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            parents[int(entry.name)] = (int(fields[1]), fields[0])
    found, more = {}, [pid]
    while more:
        parent = more.pop()
        for child, (of, state) in parents.items():
            if of == parent and child not in found:
                found[child] = state
                more.append(child)
    return found


class BadAgents(harness.ServerCase):
    AGENTS = ["bad", "bad-worker", "joke", "slow"]
    # Copies with a long time for their turns, for ways that end by themselves, which may be slow. Turns of the other
    # ways end when their short time is over.
    PATIENT = {"bad": "bad-patient", "bad-worker": "bad-worker-patient"}

    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server(cls.AGENTS)
        for agent, name in cls.PATIENT.items():
            folder = cls.server.agents_folder / name
            shutil.copytree(cls.server.agents_folder / agent, folder)
            card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
            card["baton"] |= {"default": False, "turn_timeout_s": 600}
            (folder / "card.json").write_text(json.dumps(card), encoding="utf-8")
        cls.server.start()

    def no_process_stays(self):
        """Waits until nothing is left of the agent `bad` and its copy: no zombie, no process, no orphan."""
        workers = {"bad-worker", "bad-worker-patient", "slow"}

        def left():
            for child, state in processes_of(self.server.pid).items():
                try:
                    folder = pathlib.Path(os.readlink(f"/proc/{child}/cwd")).name
                except OSError:
                    folder = None
                if state == "Z" or folder not in workers:
                    return True
            return any(orphans(self.server.agents_folder / name) for name in ("bad", "bad-patient"))
        harness.wait_for(lambda: not left(), what="the end of every process of the agent")

    def test_after_the_end_nothing_counts(self):
        done = self.server.send("after end", agent="bad-patient")
        self.assertEqual(done["status"]["state"], "completed")
        self.assertEqual(client.text_of(done["status"]["message"]), "that was all")
        again = self.server.get(done["id"], agent="bad-patient", historyLength=10)
        self.assertEqual(again["status"], done["status"])
        self.assertNotIn("artifacts", again)

    def test_closed_input_is_no_failure(self):
        self.assertEqual(self.server.send("close input", agent="bad-patient")["status"]["state"], "completed")

    @rings.everything("unit/agents/command/line_test.cpp")
    def test_unknown_line_type_is_passed_over_or_fails_with_its_name(self):
        ended = self.server.send("unknown type", agent="bad-patient")
        self.assertIn(ended["status"]["state"], ("completed", "failed"))
        if ended["status"]["state"] == "failed":
            self.assertIn("dance", client.text_of(ended["status"]["message"]))

    def test_floods_cost_no_memory(self):
        self.server.send("x", agent="joke")
        before = self.server.resident_kib()
        for way in ("endless line", "endless lines", "endless errors"):
            self.assertEqual(self.server.send(way, agent="bad")["status"]["state"], "failed")
        grown = self.server.resident_kib() - before
        self.assertLess(grown, 300 * 1024 * client.scaled(1), "KiB more than before")

    def test_many_at_once_leave_the_pool_whole(self):
        streams = [self.server.stream(way, agent="bad") for way in ("exit 3", "signal", "garbage", "exit 0") * 10]
        for stream in streams:
            self.assertEqual(stream.rest()[-1].status["state"], "failed")
        self.no_process_stays()
        self.assertEqual(self.server.send("x", agent="joke")["status"]["state"], "completed")

    def test_worker_that_dies_is_replaced(self):
        for text, state in (("work", "completed"), ("die", "failed"), ("work", "completed")):
            self.assertEqual(self.server.send(text, agent="bad-worker-patient")["status"]["state"], state)

    @rings.everything("unit/agents/command/worker_test.cpp: a worker with nothing but a turn that does not stop is "
                      "ended at once")
    def test_worker_that_hangs_is_replaced(self):
        self.assertEqual(self.server.send("hang", agent="bad-worker")["status"]["state"], "failed")
        self.assertEqual(self.server.send("work", agent="bad-worker")["status"]["state"], "completed")

    @rings.everything("unit/agents/command/worker_test.cpp")
    def test_worker_that_speaks_of_other_turns(self):
        done = self.server.send("other turn", agent="bad-worker")
        self.assertIn(done["status"]["state"], ("completed", "failed"))
        self.assertEqual(self.server.send("work", agent="bad-worker")["status"]["state"], "completed")


def orphans(folder):
    """Returns the processes that run in this folder and have lost their parent."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.readlink(entry / "cwd") == str(folder):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def add_way(way, words):
    def test(self):
        ended = self.server.send(way, agent="bad-patient" if words else "bad")
        self.assertEqual(ended["status"]["state"], "failed")
        reason = client.text_of(ended["status"]["message"])
        self.assertTrue(reason)
        for word in words:
            self.assertIn(word, reason)
        self.assertNotIn(str(self.server.folder), reason, "no path of the server's")
        self.no_process_stays()
        self.assertEqual(self.server.send("x", agent="joke")["status"]["state"], "completed")
    for where, ways in ASSERTED_BELOW.items():
        if way in ways:
            test = rings.everything(where)(test)
    setattr(BadAgents, f"test_{way.replace(' ', '_').replace('-', '_')}", test)


for way, words in FAILING.items():
    add_way(way, words)
