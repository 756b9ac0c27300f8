"""Responses of OpenAI's API on a node that is not the one where they began."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import nodes
import test_openai_api


class Responses(nodes.SharedNodesCase):
    AGENTS = ["chat"]

    def api(self, index):
        case = test_openai_api.ApiCase()
        case.server = self.nodes[index]
        return case

    def test_a_stream_goes_on_at_another_node_after_each_number(self):
        first, second, third = (self.api(index) for index in (0, 1, 2))
        stream = first.open("POST", "/responses", {"model": "chat", "input": "wait", "stream": True, "background": True})
        stream.until(lambda event: event["type"] == "response.output_text.delta")
        response, last = stream.seen[0]["response"], stream.seen[-1]["sequence_number"]
        path = "/responses/" + response["id"]
        after, whole = second.open("GET", f"{path}?stream=true&starting_after={last}"), third.open("GET", path + "?stream=true")
        self.assertEqual(second.good("GET", path)["status"], "in_progress")
        self.nodes.gate("chat", first.task_of(response))
        stream.rest()
        self.assertEqual(after.rest(), stream.seen[last + 1:])
        self.assertEqual(whole.rest(), stream.seen)
        self.assertEqual(third.good("GET", path), stream.seen[-1]["response"])

    def test_a_question_is_answered_at_another_node(self):
        asked = self.api(0).respond("ask which?")
        answered = self.api(1).respond("red", previous_response_id=asked["id"])
        self.assertIn("answered: red", self.api(2).text_of(answered))
        messages = [{"role": "user", "content": "ask what?"}]
        words = self.api(2).complete(messages)["message"]["content"]
        messages += [{"role": "assistant", "content": words}, {"role": "user", "content": "blue"}]
        self.assertIn("answered: blue", self.api(0).complete(messages)["message"]["content"])


if __name__ == "__main__":
    unittest.main()
