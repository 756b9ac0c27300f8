"""Every shipped agent ends every turn, even if the JSON of the turn is useless to it. So does the worker in C++ that
`baton init` makes, which has no library of ours, however many turns it has had."""
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

from library_case import LibraryAgent
from line_agent import AGENTS, ENDINGS, LineAgent, reply, text, turn
from test_cards import SHIPPED

# Replacements for the message's parts.
PARTS = {
    "an integer of 5,000 digits": '[{"data":' + "7" * 5_000 + "}]",
    "an integer of 5,000 digits beside a text": '[{"text":"weather in Oslo"},{"data":{"a":' + "7" * 5_000 + "}}]",
    "a number that no double holds": '[{"text":"a,b\\n1,2"},{"data":[1e999]}]',
    "a deep list": '[{"data":' + "[" * 50_000 + "]" * 50_000 + "}]",
    "no parts": "null",
    "parts that are none": '["text", 5, null]',
    "half a pair": '[{"text":"\\ud800"}]',
    "texts that are none": '[{"text":5}]',
}


class Unreadable(unittest.TestCase):
    def test_every_agent_ends_every_turn_it_cannot_read(self):
        for agent in sorted(SHIPPED - {"quarterly", "assistant"}):  # these two have no program
            for what, parts in PARTS.items():
                with self.subTest(agent=agent, what=what):
                    running = LineAgent(agent)
                    self.addCleanup(running.close)
                    line = json.dumps(turn(text("@")), separators=(",", ":"))
                    running.send(line.replace(json.dumps([text("@")], separators=(",", ":")), parts).encode())
                    lines = running.until_end()
                    self.assertTrue(lines and lines[-1]["type"] in ENDINGS, lines[-1:])

    def test_echo_fails_it_and_serves_the_next(self):
        for what, parts in PARTS.items():
            with self.subTest(what=what):
                running = LineAgent("echo")
                self.addCleanup(running.close)
                line = json.dumps(turn(text("@"), turn_id="bad"), separators=(",", ":"))
                running.send(line.replace(json.dumps([text("@")], separators=(",", ":")), parts).encode())
                self.assertTrue(running.until_end("bad"))
                running.send(turn(text("good"), turn_id="good"))
                self.assertEqual([one["type"] for one in running.until_end("good")], ["text", "done"])


class CppWorker(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        command = ["c++", "-std=c++20", "-O0", "-pthread", "-o", "agent", AGENTS / "templates/cpp/worker.cpp"]
        subprocess.run(command, cwd=cls.folder, check=True)

    def setUp(self):
        self.agent = LibraryAgent(["./agent"], self.folder)
        self.addCleanup(self.agent.close)

    def test_a_line_that_cannot_be_read_fails_its_turn_and_no_other(self):
        self.agent.send(turn(text("a b"), turn_id="good"))
        self.agent.send(json.dumps(turn({"data": "@"}, turn_id="bad")).replace('"@"', "7" * 5_000).encode())
        ends = {}
        while len(ends) < 2:
            line = self.agent.line()
            self.assertIsNotNone(line, "the worker has ended")
            if line["type"] in ENDINGS:
                ends[line["turn"]] = line["type"]
        self.assertEqual(ends, {"good": "done", "bad": "fail"})

    def test_every_character_of_a_text_is_read(self):
        self.agent.send(turn(text("a\0b")))
        self.assertEqual(reply(self.agent.until_end()), "1: a\0b\n")

    def test_a_turn_leaves_no_thread_behind(self):
        maps = Path(f"/proc/{self.agent.process.pid}/maps")
        turns, before = 200, len(maps.read_text().splitlines())
        for number in range(turns):
            self.agent.send(turn(text(""), turn_id=f"t{number}"))
            self.assertEqual(self.agent.until_end()[-1]["type"], "done")
        self.assertLess(len(maps.read_text().splitlines()) - before, turns)  # a stack that stays has two


if __name__ == "__main__":
    unittest.main()
