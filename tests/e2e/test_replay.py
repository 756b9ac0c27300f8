"""`baton replay`: runs a turn that a server has run again with its original input, by changed code."""
import json
import subprocess
import unittest

import client
import databases
import harness

CARD = {"name": "Asker", "description": "Asks.", "version": "1.0.0", "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "ask", "name": "Ask", "description": "Asks.", "tags": ["demo"]}],
        "baton": {"executor": "command", "command": ["python3", "agent.py"], "default": True}}
AGENT = """import json, sys
turn = json.loads(sys.stdin.readline())
said = turn["message"]["parts"][0]["text"]
if said == "end":
    print(json.dumps({"type": "done", "message": "OLD " + str(len(turn["history"])) + " " + str("resume" in turn)}))
else:
    print(json.dumps({"type": "artifact", "artifact": {"name": said, "parts": [{"text": "made"}]}}))
    print(json.dumps({"type": "ask", "message": "OLD asks about " + said}))
"""

PARENT = """from baton import agent

@agent
def answer(turn):
    return "PARENT of " + turn.delegate("child", turn.prompt).result().text

answer.run()
"""
CHILD = """from baton import agent

@agent
def answer(turn):
    return "OLD CHILD"

answer.run()
"""


@databases.needs_sqlite("it reads a SQLite database")
class Replay(unittest.TestCase):
    def setUp(self):
        self.server = harness.Server([])
        self.addCleanup(self.server.discard)
        self.write(self.server.agents_folder, AGENT)
        self.server.start()
        self.task = client.new_id()
        for text in ("one", "two", "end"):
            self.server.send(text, self.task)
        self.changed = self.server.folder / "changed"
        self.write(self.changed, AGENT.replace("OLD", "NEW"), child="NEW")

    @staticmethod
    def write(folder, agent, child="OLD"):
        for name, text in (("asker", agent), ("parent", PARENT), ("child", CHILD.replace("OLD", child))):
            (folder / name).mkdir(parents=True)
            card = CARD | {"baton": CARD["baton"] | {"default": name == "asker"}}
            (folder / name / "card.json").write_text(json.dumps(card), encoding="utf-8")
            (folder / name / "agent.py").write_text(text, encoding="utf-8")

    def replay(self, *options, task=None):
        done = subprocess.run([harness.PROGRAM, "replay", task or self.task, "--db", self.server.folder / "baton.db",
                               "--agents", self.changed, "--json", *options], capture_output=True, text=True,
                              check=False, timeout=client.scaled(60), env=harness.program_environment())
        texts, self.artifacts = [], []
        for line in map(json.loads, done.stdout.splitlines()):
            for update in (one for one in line.values() if isinstance(one, dict)):
                self.artifacts += [part["text"] for part in update.get("artifact", {}).get("parts", []) if "text" in part]
                status = update.get("status")
                message = status.get("message") if isinstance(status, dict) else None
                texts += [part["text"] for part in (message or {}).get("parts", []) if "text" in part]
        return done.returncode, texts, done.stderr

    def test_the_last_turn_runs_again_with_its_conversation(self):
        code, texts, said = self.replay()
        self.assertEqual((code, texts[-1:]), (0, ["NEW 4 True"]), said)
        self.assertIn("turn 3 of 3 at asker", said)
        for part in (self.task[-12:], self.task[:14]):
            code, texts, said = self.replay(task=part)
            self.assertEqual((code, texts[-1:]), (0, ["NEW 4 True"]), said)

    def test_an_earlier_turn_has_what_there_was_then(self):
        code, texts, said = self.replay("--turn", "1")
        self.assertEqual((code, texts[-1:]), (3, ["NEW asks about one"]), said)
        code, texts, said = self.replay("--turn", "2")
        self.assertEqual((code, texts[-1:]), (3, ["NEW asks about two"]), said)

    def test_a_child_is_made_anew_by_the_changed_code(self):
        task = self.server.send("x", agent="parent")
        self.assertEqual(self.said(task), "PARENT of OLD CHILD")
        code, _, said = self.replay(task=task["id"])
        self.assertEqual(code, 0, said)
        self.assertEqual("".join(self.artifacts), "PARENT of NEW CHILD")

    @staticmethod
    def said(task):
        return "".join(part["text"] for artifact in task["artifacts"] for part in artifact["parts"])

    def test_what_the_server_has_stays_as_it_is(self):
        before = self.server.get(self.task, historyLength=10)
        self.replay("--turn", "2")
        self.assertEqual(self.server.get(self.task, historyLength=10), before)

    def test_a_task_or_turn_that_is_not_there_is_refused(self):
        code, _, said = self.replay(task="nobody")
        self.assertEqual(code, 2)
        self.assertIn("task not found", said)
        code, _, said = self.replay("--turn", "4")
        self.assertEqual(code, 2)
        self.assertIn("the task has 3 turns", said)


if __name__ == "__main__":
    unittest.main()
