import unittest

from library_case import LibraryCase, blocks_of
from line_agent import AGENTS, reply


class NodeLibrary(LibraryCase, unittest.TestCase):
    command = ["node", "agent.js"]
    page = AGENTS.parent / "agent-cards/lib/node/README.md"
    failure_in_log = "TypeError: the secret path"

    def test_an_abort_error_after_a_cancel_is_the_cancel(self):
        self.begin("aborted")
        self.agent.line()
        self.agent.send({"type": "cancel", "turn": "t1"})
        self.assert_failed(self.rest_of(), "The turn was canceled.")

    def test_a_child_that_fails_unheard_does_not_end_the_process(self):
        self.begin("in-turn")
        first, second = self.agent.line(), self.agent.line()
        for child in (second, first):
            self.result(child["id"], error="no such place")
        self.assertEqual(self.rest_of(), [{"type": "fail", "error": "weather: no such place"}])
        self.begin("in-turn", "t2")
        for _ in range(2):
            self.agent.line()
        self.agent.send({"type": "cancel", "turn": "t2"})
        self.assert_failed(self.rest_of("t2"), "The turn was canceled.")
        self.assertEqual(reply(self.answer("hello you", "t3")), "Hello, you")

    def test_an_error_in_a_timer_that_an_ended_turn_has_left_does_not_end_the_process(self):
        self.assertEqual(reply(self.answer("heartbeat")), "early")
        self.agent.wait_for_log("after the end of a turn: Ended")
        self.assertEqual(reply(self.answer("hello you", "t2")), "Hello, you")

    def test_another_error_outside_a_turns_promises_ends_the_process_and_is_in_the_log(self):
        self.begin("crash-later")
        self.assertEqual(self.agent.wait(), 1)
        self.assertIn("TypeError: the secret path", self.agent.log())
        self.assertIn(self.line_with("crashes later"), self.agent.log())
        self.assertRegex(self.agent.log(), r"\nNode\.js v.*\n$")

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
