"""Agents written with the helper libraries (agent-cards/lib), as workers and as a process for each turn.
tests/agents/library has their behavior; the agent `weather` that they delegate to is echo."""
import json
import shutil

import client
import harness

LIBRARY_AGENTS = harness.ROOT / "tests/agents/library"
COMMANDS = {"python": ["/usr/bin/python3", "agent.py"], "node": ["node", "agent.js"]}
AGENTS = {f"{language}-{mode}": (command, mode) for language, command in COMMANDS.items() for mode in ("turn", "worker")}


class AgentLibraries(harness.ServerCase):
    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server(["echo"])
        cls.make("weather", harness.SHIPPED / "echo", {})
        for name, (command, mode) in AGENTS.items():
            cls.make(name, LIBRARY_AGENTS, {"executor": "command", "command": command, "mode": mode})
        cls.server.start()

    @classmethod
    def make(cls, name, source, baton):
        """Creates an agent with echo's card, changed as given."""
        folder = cls.server.agents_folder / name
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__"))
        card = json.loads((cls.server.agents_folder / "echo" / "card.json").read_text(encoding="utf-8"))
        card["baton"] = {**(baton or card["baton"]), "default": False}
        (folder / "card.json").write_text(json.dumps(card), encoding="utf-8")

    def for_each(self, check):
        for agent in AGENTS:
            with self.subTest(agent):
                check(agent)

    def assert_replies(self, agent, prompt, reply):
        done = self.server.send(prompt, agent=agent)
        self.assertEqual(done["status"]["state"], "completed", done["status"])
        self.assertEqual("".join(client.text_of(artifact) for artifact in done["artifacts"]), reply)

    def test_what_is_yielded_is_the_reply(self):
        self.for_each(lambda agent: self.assert_replies(agent, "words one two", "one two "))

    def test_children_answer_a_turn_that_stays_and_one_that_waits(self):
        self.for_each(lambda agent: self.assert_replies(agent, "children Oslo Rome", "Oslo; Rome"))
        self.for_each(lambda agent: self.assert_replies(agent, "wait", "Oslo; Rome"))

    def test_a_turn_that_goes_on_makes_no_child_again(self):
        def count():
            listed = self.server.call("ListTasks", {"pageSize": 1}, agent="weather", headers={"A2A-Version": "1.0"})
            return listed["totalSize"]

        def check(agent):
            before = count()
            self.assert_replies(agent, "leave", "Oslo")
            harness.wait_for(lambda: count() >= before + 2, what="the detached child")
            self.assertEqual(count(), before + 2)
        self.for_each(check)

    def test_a_question_is_asked_and_its_answer_is_the_next_turn(self):
        def check(agent):
            asked = self.server.send("ask", agent=agent)
            self.assertEqual(asked["status"]["state"], "input-required")
            self.assertEqual(self.server.send("hello again", asked["id"], agent=agent)["status"]["state"], "completed")
        self.for_each(check)

    def test_a_cancel_stops_what_waits(self):
        def check(agent):
            task = client.new_id()
            stream = self.server.stream("sleep", task, agent=agent)
            stream.until(lambda block: block.result and "artifact" in block.result)
            self.assertEqual(self.server.call("tasks/cancel", {"id": task}, agent=agent)["status"]["state"], "canceled")
            self.assertEqual(stream.rest()[-1].status["state"], "canceled")
        self.for_each(check)

    def test_a_mistake_is_told_to_the_log_alone(self):
        def check(agent):
            failed = self.server.send("crash", agent=agent)
            self.assertEqual(failed["status"]["state"], "failed")
            self.assertEqual(client.text_of(failed["status"]["message"]),
                             f"The agent failed; for details, see the log for task {failed['id']}.")
            # What agents write to stderr comes beside their lines.
            harness.wait_for(lambda: f"of task {failed['id']} failed" in self.server.log_text(), what="the log")
        self.for_each(check)
        harness.wait_for(lambda: "the secret path" in self.server.log_text(), what="the reason")

