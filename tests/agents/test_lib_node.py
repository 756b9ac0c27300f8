import unittest

from library_case import LibraryCase, blocks_of
from line_agent import AGENTS


class NodeLibrary(LibraryCase, unittest.TestCase):
    command = ["node", "agent.js"]
    page = AGENTS.parent / "agent-cards/lib/node/README.md"
    failure_in_log = "TypeError: the secret path"

    def test_an_abort_error_after_a_cancel_is_the_cancel(self):
        self.begin("aborted")
        self.agent.line()
        self.agent.send({"type": "cancel", "turn": "t1"})
        self.assert_failed(self.rest_of(), "The turn was canceled.")

    def test_the_former_text_method_fails_with_the_name_of_its_successor(self):
        lines = self.answer("former")
        self.assert_failed(lines)
        self.assertIn("turn.say(delta)", lines[-1]["detail"])

    def test_a_module_gets_the_library_as_its_page_says(self):
        example, *others = blocks_of(self.page)
        imports = next(block for block in others if "createRequire" in block)
        self.assert_plans(["node", "agent.mjs"], imports + example.partition("\n")[2])


if __name__ == "__main__":
    unittest.main()
