"""Plans (executor workflow): what each kind of step does."""
import harness
from plan_case import PlanCase, hand


class Steps(PlanCase):
    PLANS = {
        "one": {"agent": "hand"},
        "three": {"sequence": [hand("say one", id="a"), hand("say {{/steps/a/text}} two", id="b"),
                               hand("say {{/steps/b/text}} three {{/message/text}}", id="c")]},
        "both": {"parallel": [hand("say left"), hand("say right")]},
        "by-skill": {"agent": {"skill": "hand"}},
        "nobody": {"agent": {"tag": "nothing has this"}},
        "branch": {"route": [{"when": {"value": "/message/text", "equals": "left"}, "then": hand("say went left")},
                             {"when": {"skill": "right"}, "then": hand("say went right")},
                             {"then": hand("say went on")}]},
        "three-times": {"loop": hand("say {{/iteration}}", id="body"), "id": "loop", "max": 10,
                        "until": {"value": "/steps/body/text", "equals": "2"}},
        "while": {"loop": hand("say {{/iteration}}"), "max": 3, "while": {"value": "/message/text", "equals": "go"}},
        "rounds": {"loop": {"sequence": [hand("say first({{/steps/third/text}})"),
                                         hand("say second({{/steps/second/text}}|{{/steps/third/text}})", id="second"),
                                         hand("say third-{{/iteration}}", id="third")]},
                   "max": 2, "while": {"value": "/message/text", "exists": True}},
        "nested": {"loop": {"sequence": [
            {"loop": hand("say inner({{/steps/after/text}})"), "max": 2, "while": {"value": "/message/text", "exists": True}},
            hand("say after-{{/iteration}}", id="after")]}, "max": 2, "while": {"value": "/message/text", "exists": True}},
        "each": {"map": hand("say {{/item/name}}-{{/index}}"), "over": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
                 "concurrency": 2},
        "files": {"sequence": [
            {"map": {"agent": "hand", "id": "make", "input": "file {{/item}}.txt"}, "over": "/message/data", "id": "all"},
            {"agent": "hand", "id": "see", "input": {"text": "files", "files": ["/steps/all/files"]}}]},
        "results": {"sequence": [
            {"map": hand("data {\"n\": {{/item}}}"), "over": [3, 1, 2], "id": "all"},
            {"agent": "hand", "input": {"text": "say {{/steps/all/results/0/data/n}}{{/steps/all/results/2/data/n}}"}}]},
    }

    def test_a_plan_of_one_step_answers_as_its_agent(self):
        self.assertEqual(self.text_of(self.run_plan("one", "say hello")), "hello")

    def test_steps_in_a_row_get_what_those_before_have_said(self):
        self.assertEqual(self.text_of(self.run_plan("three", "go")), "one two three go")

    def test_steps_at_the_same_time_answer_in_the_order_of_the_plan(self):
        self.assertEqual(self.text_of(self.run_plan("both")), "left\n\nright")

    def test_an_agent_is_found_by_its_skill(self):
        self.assertEqual(self.text_of(self.run_plan("by-skill", "say found")), "found")

    def test_a_skill_that_no_agent_has_fails_the_plan_with_a_reason(self):
        self.assertIn("nothing has this", self.reason(self.run_plan("nobody", state="failed")))

    def test_a_route_takes_the_first_branch_whose_condition_holds(self):
        self.assertEqual(self.text_of(self.run_plan("branch", "left")), "went left")
        self.assertEqual(self.text_of(self.run_plan("branch", "x", metadata={"skill": "right"})), "went right")
        self.assertEqual(self.text_of(self.run_plan("branch", "neither")), "went on")

    def test_a_loop_ends_when_its_condition_holds(self):
        before = len(self.calls())
        self.assertEqual(self.text_of(self.run_plan("three-times")), "2")
        self.assertEqual([text for _, text in self.calls()[before:]], ["say 0", "say 1", "say 2"])

    def test_a_loop_ends_at_its_bound(self):
        self.assertEqual(self.text_of(self.run_plan("while")), "2")
        self.assertEqual(self.text_of(self.run_plan("while", "not at all")), "")

    def texts_of_calls(self, plan):
        before = len(self.calls())
        self.run_plan(plan)
        return [text.removeprefix("say ") for _, text in self.calls()[before:]]

    def test_a_step_in_a_loop_gets_what_later_steps_said_in_the_round_before(self):
        self.assertEqual(self.texts_of_calls("rounds"), [
            "first()", "second(|)", "third-0", "first(third-0)", "second(second(|)|third-0)", "third-1"])

    def test_each_round_of_an_inner_loop_gets_what_the_outer_round_before_said(self):
        self.assertEqual(self.texts_of_calls("nested"), [
            "inner()", "inner()", "after-0", "inner(after-0)", "inner(after-0)", "after-1"])

    def test_a_map_answers_in_the_order_of_its_list(self):
        self.assertEqual(self.text_of(self.run_plan("each")), "a-0\n\nb-1\n\nc-2")

    def test_files_of_steps_go_to_the_step_that_asks_for_them(self):
        done = self.run_plan("files", parts=[{"type": "data", "data": ["b", "a"]}])
        self.assertEqual(self.text_of(done), "a.txt b.txt")

    def test_results_of_a_map_are_a_list(self):
        self.assertEqual(self.text_of(self.run_plan("results")), "32")


if __name__ == "__main__":
    harness.unittest.main()
