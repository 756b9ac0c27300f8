"""Every shipped agent ends every turn, even if the JSON of the turn is useless to it."""
import unittest

from line_agent import ENDINGS, LineAgent, text, turn
from test_cards import SHIPPED

import json

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


if __name__ == "__main__":
    unittest.main()
