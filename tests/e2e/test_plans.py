"""Plans (executor workflow): each kind of step."""
import harness
import rings
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
        "same-time": {"loop": {"sequence": [hand("say first", id="head"), {"parallel": [
            hand("say left({{/steps/right/text}})", id="left"), hand("say right({{/steps/left/text}})", id="right")],
            "id": "both"}, hand("say {{/steps/left/text}} {{/steps/right/text}}")]},
            "max": 2, "while": {"value": "/message/text", "exists": True}},
        "inner-while": {"loop": {"sequence": [hand("say pick", id="pick"), {
            "loop": hand("say done-{{/steps/work/text}}", id="work"), "max": 3,
            "while": {"value": "/steps/work/text", "exists": False}}]},
            "max": 2, "while": {"value": "/message/text", "exists": True}},
        "not-taken": {"loop": {"sequence": [hand("say {{/iteration}}", id="check"), {"route": [
            {"when": {"value": "/steps/check/text", "equals": "0"}, "then": hand("say fixed", id="fix")}]}]},
            "max": 5, "until": {"value": "/steps/fix/text", "exists": False}},
        "again": {"loop": hand("flaky 1 said({{/steps/flaky/text}})", id="flaky", retry={"count": 1, "delay_s": 0}),
                  "max": 2, "while": {"value": "/message/text", "exists": True}},
        "undone": {"loop": {"sequence": [
            hand("say book", compensate=hand("say cancel({{/steps/confirm/text}})")),
            {"route": [{"when": {"value": "/iteration", "equals": 1}, "then": hand("fail now")}]},
            hand("say confirmed-{{/iteration}}", id="confirm")]},
            "max": 2, "while": {"value": "/message/text", "exists": True}},
        "each-round": {"loop": {"map": hand("say {{/item}}-{{/iteration}}"), "over": ["a", "b"], "concurrency": 1},
                       "max": 2, "while": {"value": "/message/text", "exists": True}},
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

    @rings.everything("simulation/plan_cases.cpp: plan-joins")
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

    @rings.everything("simulation/plan_cases.cpp: plan-loops")
    def test_a_loop_ends_when_its_condition_holds(self):
        before = len(self.calls())
        self.assertEqual(self.text_of(self.run_plan("three-times")), "2")
        self.assertEqual([text for _, text in self.calls()[before:]], ["say 0", "say 1", "say 2"])

    def test_a_loop_ends_at_its_bound(self):
        self.assertEqual(self.text_of(self.run_plan("while")), "2")
        self.assertEqual(self.text_of(self.run_plan("while", "not at all")), "")

    def texts_of_calls(self, plan, state="completed"):
        before = len(self.calls())
        self.run_plan(plan, state=state)
        return [text.removeprefix("say ") for _, text in self.calls()[before:]]

    def test_a_step_in_a_loop_gets_what_later_steps_said_in_the_round_before(self):
        self.assertEqual(self.texts_of_calls("rounds"), [
            "first()", "second(|)", "third-0", "first(third-0)", "second(second(|)|third-0)", "third-1"])

    def test_each_round_of_an_inner_loop_gets_what_the_outer_round_before_said(self):
        self.assertEqual(self.texts_of_calls("nested"), [
            "inner()", "inner()", "after-0", "inner(after-0)", "inner(after-0)", "after-1"])

    def test_steps_at_the_same_time_get_what_the_others_said_in_the_round_before(self):
        self.assertEqual(self.text_of(self.run_plan("same-time")), "left(right()) right(left())")

    def test_an_inner_loop_runs_again_in_each_round_of_the_outer_one(self):
        self.assertEqual(self.texts_of_calls("inner-while"), ["pick", "done-", "pick", "done-"])

    def test_a_branch_that_this_round_has_not_taken_has_no_value(self):
        self.assertEqual(self.texts_of_calls("not-taken"), ["0", "fixed", "1"])

    def test_a_later_attempt_is_told_what_the_first_one_was_of_the_round_before(self):
        first, second = "flaky 1 said()", "flaky 1 said(said())"
        self.assertEqual(self.texts_of_calls("again"), [first, first, second, second])

    def test_a_compensation_gets_what_its_own_round_has_said(self):
        self.assertEqual(self.texts_of_calls("undone", state="failed"), [
            "book", "confirmed-0", "book", "fail now", "cancel()", "cancel(confirmed-0)"])

    def test_a_map_in_a_loop_has_its_items_in_each_round(self):
        self.assertEqual(self.texts_of_calls("each-round"), ["a-0", "b-0", "a-1", "b-1"])

    @rings.everything("simulation/plan_cases.cpp: plan-loops")
    def test_a_map_answers_in_the_order_of_its_list(self):
        self.assertEqual(self.text_of(self.run_plan("each")), "a-0\n\nb-1\n\nc-2")

    def test_files_of_steps_go_to_the_step_that_asks_for_them(self):
        done = self.run_plan("files", parts=[{"type": "data", "data": ["b", "a"]}])
        self.assertEqual(self.text_of(done), "a.txt b.txt")

    def test_results_of_a_map_are_a_list(self):
        self.assertEqual(self.text_of(self.run_plan("results")), "32")


if __name__ == "__main__":
    harness.unittest.main()
