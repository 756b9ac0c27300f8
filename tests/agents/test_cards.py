import json
import unittest

from line_agent import AGENTS

NAMES = sorted(path.parent.name for path in AGENTS.glob("*/card.json"))
SHIPPED = {"analyst", "approval", "assistant", "echo", "quarterly", "table-report", "tools"}
REQUIRED = ("name", "description", "version", "skills", "defaultInputModes", "defaultOutputModes", "baton")


class Cards(unittest.TestCase):
    @staticmethod
    def cards():
        return [(name, json.loads((AGENTS / name / "card.json").read_text("utf-8"))) for name in NAMES]

    def test_the_shipped_agents_are_there_each_with_a_readme(self):
        self.assertLessEqual(SHIPPED, set(NAMES))
        for name in SHIPPED:
            self.assertIn("What to copy and change", (AGENTS / name / "README.md").read_text("utf-8"))

    def test_every_card_has_what_a2a_requires_of_its_author(self):
        for name, card in self.cards():
            with self.subTest(name):
                for member in REQUIRED:
                    self.assertTrue(card.get(member), member)
                for skill in card["skills"]:
                    for member in ("id", "name", "description", "tags"):
                        self.assertTrue(skill.get(member), member)

    def test_echo_alone_is_the_default(self):
        self.assertEqual([name for name, card in self.cards() if card["baton"].get("default")], ["echo"])

    def test_one_agent_is_not_python(self):
        programs = {name: card["baton"].get("command", [""])[0] for name, card in self.cards()}
        self.assertEqual(programs["approval"], "/bin/sh")


if __name__ == "__main__":
    unittest.main()
