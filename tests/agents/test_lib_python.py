import subprocess
import unittest
from unittest import mock

import library_case
from library_case import LibraryCase
from line_agent import AGENTS, LIBRARIES, reply

TOO_MUCH = {
    "an integer of 5,000 digits": '[{"data":' + "7" * 5_000 + "}]",
    "a deep list": '[{"data":' + "[" * 50_000 + "]" * 50_000 + "}]",
}


class PythonLibrary(LibraryCase, unittest.TestCase):
    command = ["/usr/bin/python3", "agent.py"]
    page = AGENTS.parent / "agent-cards/lib/python/README.md"
    failure_in_log = "ValueError: the secret path"

    def test_json_that_is_too_much_for_python_fails_its_turn(self):
        with mock.patch.dict(library_case.UNREADABLE, TOO_MUCH):
            self.test_every_turn_that_cannot_be_read_is_failed_and_the_next_answered()

    def test_a_dataclass_a_model_and_a_mapping_are_the_data_of_an_artifact(self):
        for prompt in ("dataclass", "model", "mapping"):
            with self.subTest(prompt):
                self.assertEqual(self.answer(prompt), self.answer("facts"))

    def test_the_text_of_a_turn_is_a_str_and_the_older_name_of_say(self):
        program = ("import json, pickle\nfrom baton import Turn\n"
                   "class Lines:\n    write = staticmethod(print)\n"
                   "turn = Turn({'turn': 't1', 'message': {'parts': [{'text': 'hi'}]}}, Lines())\n"
                   "turn.text('a')\nturn.say('a')\n"
                   "print(turn.text == 'hi', json.dumps(turn.text), pickle.loads(pickle.dumps(turn.text)), turn.text.upper())\n")
        ran = subprocess.run(["/usr/bin/python3", "-c", program], env=LIBRARIES, capture_output=True, text=True, check=True)
        self.assertEqual(ran.stdout, "{'type': 'text', 'turn': 't1', 'delta': 'a'}\n" * 2 + 'True "hi" hi HI\n')

    def test_exit_fails_its_turn_and_no_other(self):
        self.assert_failed(self.answer("exit"))
        self.assertEqual(reply(self.answer("hello you")), "Hello, you")

    def test_what_processes_of_the_agent_print_goes_to_the_log_and_their_input_is_empty(self):
        self.answer("noise")
        self.assertIn("printed by a process\n", self.agent.log())

    def test_an_async_function_awaits_children(self):
        self.begin("coroutine")
        self.result(self.agent.line()["id"], task=library_case.child_task("TASK_STATE_COMPLETED", "Snow"))
        self.assertEqual(reply(self.rest_of()), "Snow")
        self.assertEqual(self.answer("async-ask", "t2"), [{"type": "ask", "message": "Really?"}])

    def test_an_exception_with_a_note_is_told_by_its_own_words(self):
        self.assertEqual(self.answer("noted")[-1]["detail"], f"ValueError: no city ({self.line_with('noted')})")
        self.assertIn("in the second order", self.agent.log())

    def test_a_generator_that_catches_the_mistake_and_returns_fails_with_it(self):
        for prompt in ("catches-and-returns", "async-catches-and-returns"):
            with self.subTest(prompt):
                lines = self.answer(prompt, prompt)
                self.assert_failed(lines)
                self.assertIn("TypeError: an agent cannot return or yield 7", lines[-1]["detail"])

    def test_an_async_function_may_return_or_yield_something_async(self):
        self.begin("async-nested two words")
        said = [self.agent.line()["delta"] for _ in range(2)]
        self.result(self.agent.line()["id"], task=library_case.child_task("TASK_STATE_COMPLETED", "Snow"))
        self.assertEqual([*said, reply(self.rest_of())], ["two ", "words ", "Snow"])

    def test_an_async_function_ends_although_children_that_it_has_awaited_go_on(self):
        self.assertEqual(reply(self.answer("async-hurry")), "too slow")
        self.begin("async-first", "t2")
        last = [self.agent.line() for _ in range(50)][-1]
        self.result(last["id"], "t2", task=library_case.child_task("TASK_STATE_COMPLETED", "Snow"))
        self.assertEqual(reply(self.rest_of("t2")), "Snow")

    def test_a_cancel_cancels_what_an_async_function_awaits(self):
        for prompt, first in (("async-sleep", "text"), ("coroutine", "delegate")):
            self.begin(prompt, prompt)
            self.assertEqual(self.agent.line()["type"], first)
            self.agent.send({"type": "cancel", "turn": prompt})
            self.assert_failed(self.rest_of(prompt), "The turn was canceled.")
        self.assertIn("async: cleaned up", self.agent.log())

    def test_a_turn_may_use_threads_after_the_end_of_input(self):
        self.begin("rest-then-work")
        self.agent.line()
        self.agent.end_input()
        self.assertEqual(reply(self.rest_of()), "worked")
        self.assertEqual(self.agent.wait(), 0)

    def test_a_function_can_be_called_with_a_turn_of_a_test(self):
        program = ("from baton import Turn, agent\n@agent\ndef answer(turn):\n    turn.text(turn.prompt)\n    return 5\n"
                   "class Lines:\n    write = staticmethod(print)\n"
                   "assert answer(Turn({'turn': 't1', 'message': {'parts': [{'text': 'hi'}]}}, Lines())) == 5\n")
        ran = subprocess.run(["/usr/bin/python3", "-c", program], env=LIBRARIES, capture_output=True, text=True, check=True)
        self.assertEqual(ran.stdout, "{'type': 'text', 'turn': 't1', 'delta': 'hi'}\n")


if __name__ == "__main__":
    unittest.main()
