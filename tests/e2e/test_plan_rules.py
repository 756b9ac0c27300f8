"""Plans: joins, retries, time-outs, compensation, budgets, and what survives a restart or a change."""
import json
import time

import client
import harness
import rings
from plan_case import PlanCase, hand, write_plan


def tasks_of(server, agent):
    return server.call("ListTasks", {}, agent=agent, headers={"A2A-Version": "1.0"})["tasks"]


class Joins(PlanCase):
    PLANS = {
        "all": {"parallel": [hand("hold all-1 never"), hand("fail broken")]},
        "any": {"parallel": [hand("hold any-1 never"), hand("say first"), hand("hold any-2 never")], "join": "any"},
        "any-fails": {"parallel": [hand("fail one"), hand("fail two")], "join": "any"},
        "two": {"parallel": [hand("say one"), hand("hold two-1 never"), hand("say three"), hand("fail no")],
                "join": {"n_of": 2}},
        "two-fail": {"parallel": [hand("say one"), hand("fail this"), hand("fail that")], "join": {"n_of": 2}},
        "best": {"sequence": [{"parallel": [hand("fail lost"), hand("say kept")], "join": "best_effort", "id": "both"},
                              hand("say {{/steps/both/results/0/state}} {{/steps/both/results/0/error}} "
                                   "{{/steps/both/results/1/text}}")]},
        "best-fails": {"parallel": [hand("fail lost"), hand("fail gone")], "join": "best_effort"},
        "deep": {"sequence": [{"id": "both", "sequence": [{"map": hand("fail {{/item}}", id="find"), "id": "each",
                                                           "over": ["it"]}]}]},
        "outer": {"sequence": [{"agent": "deep", "id": "inner"}]},
        "refused": {"agent": {"skill": "hand"}, "input": "reject this", "id": "asked"},
        "group": {"sequence": [
            {"sequence": [hand("fail oh dear", id="bad")], "id": "some", "on_failure": "continue"},
            {"parallel": [hand("fail oh no", id="worse")], "id": "more", "on_failure": "continue"},
            hand("say {{/steps/bad/error}}; {{/steps/some/error}}; {{/steps/more/error}}")]},
        "goes-on": {"sequence": [hand("fail oh dear", id="bad", on_failure="continue"),
                                 hand("say {{/steps/bad/state}}: {{/steps/bad/error}}")]},
        "map-all": {"map": hand("{{/item}}"), "over": ["say a", "fail b", "hold map-1 never"]},
        "empty": {"sequence": [{"map": hand("say {{/item}}"), "over": [], "id": "none"}, hand("say done")]},
        "too-long": {"map": hand("say {{/item}}"), "over": [1, 2, 3], "max": 2},
    }

    def test_a_failure_of_one_fails_all_and_ends_the_others(self):
        self.assertEqual(self.reason(self.run_plan("all", state="failed")), "step agent-3 (agent hand) failed: broken")
        harness.wait_for(lambda: {task["status"]["state"] for task in tasks_of(self.server, "hand")
                                  if "TASK_STATE_WORKING" == task["status"]["state"]} == set(),
                         what="the other branch to end")

    @rings.everything("simulation/plan_cases.cpp: plan-joins")
    def test_any_is_done_with_the_first_and_ends_the_others(self):
        self.assertEqual(self.text_of(self.run_plan("any")), "first")
        harness.wait_for(lambda: all(task["status"]["state"] != "TASK_STATE_WORKING"
                                     for task in tasks_of(self.server, "hand")), what="the others to end")

    def test_any_fails_with_the_last(self):
        self.assertEqual(self.reason(self.run_plan("any-fails", state="failed")), "step agent-2 (agent hand) failed: one")

    @rings.everything("simulation/plan_cases.cpp: plan-joins")
    def test_n_of_is_done_with_the_nth(self):
        self.assertEqual(self.text_of(self.run_plan("two")), "one\n\nthree")

    def test_n_of_fails_once_it_cannot_be_reached(self):
        self.run_plan("two-fail", state="failed")

    def test_best_effort_goes_on_with_what_there_is(self):
        self.assertEqual(self.text_of(self.run_plan("best")), "failed lost kept")

    def test_best_effort_fails_if_nothing_is_left(self):
        self.run_plan("best-fails", state="failed")

    def test_a_failure_that_the_plan_goes_on_with_is_a_result(self):
        self.assertEqual(self.text_of(self.run_plan("goes-on")), "failed: oh dear")

    def test_a_failure_names_the_step_and_its_agent(self):
        self.assertEqual(self.reason(self.run_plan("deep", state="failed")),
                         "step both/each[0]/find (agent hand) failed: it")

    def test_a_failure_in_a_plan_below_names_the_steps_of_both(self):
        self.assertEqual(self.reason(self.run_plan("outer", state="failed")),
                         "step inner (agent deep) failed: step both/each[0]/find (agent hand) failed: it")

    def test_a_step_that_was_rejected_by_the_agent_with_a_skill_says_so(self):
        self.assertEqual(self.reason(self.run_plan("refused", state="failed")),
                         "step asked (skill hand) was rejected: this")

    def test_the_error_of_a_step_is_its_agents_words_and_that_of_a_group_names_the_step(self):
        self.assertEqual(self.text_of(self.run_plan("group")),
                         "oh dear; step some/bad (agent hand) failed: oh dear; "
                         "step more/worse (agent hand) failed: oh no")

    def test_a_failed_item_fails_its_map(self):
        self.assertEqual(self.reason(self.run_plan("map-all", state="failed")),
                         "step map-1[1]/agent-2 (agent hand) failed: b")

    def test_a_map_over_nothing_is_done(self):
        self.assertEqual(self.text_of(self.run_plan("empty")), "done")

    def test_a_list_longer_than_the_map_may_have_fails(self):
        self.assertIn("3 items", self.reason(self.run_plan("too-long", state="failed")))


class Failures(PlanCase):
    PLANS = {
        "retry": hand("flaky 2 at last", retry={"count": 3, "delay_s": 0.01}),
        "retry-ends": hand("fail always", retry={"count": 2, "delay_s": 0}),
        "retry-not": hand("reject this", retry={"count": 5, "delay_s": 0, "on": ["failed"]}),
        "timeout": hand("hold timeout-1 never", timeout_s=0.2),
        "timeout-retry": {"sequence": [hand("hold timeout-2 x", id="slow", timeout_s=0.2, on_failure="continue"),
                                       hand("say {{/steps/slow/state}}")]},
        "saga": {"sequence": [hand("say book flight", compensate=hand("say cancel flight")),
                              hand("say book hotel", compensate=hand("say cancel hotel")),
                              hand("fail no car", compensate=hand("say cancel car"))]},
        "saga-self": {"sequence": [hand("say book train", compensate=hand("say cancel train")),
                                   hand("fail no bike", on_failure="compensate",
                                        compensate=hand("say cancel bike"))]},
        "saga-broken": {"sequence": [hand("say book ship", compensate=hand("fail stuck")), hand("fail no port")]},
        "waits": {"sequence": [{"wait": {"seconds": 0.2}}, hand("say waited")]},
        "until": {"sequence": [{"wait": {"until": "{{/message/text}}"}}, hand("say then")]},
    }

    def test_a_step_is_tried_again_and_told_the_attempt(self):
        self.assertEqual(self.text_of(self.run_plan("retry")), "at last")
        self.assertEqual(self.calls_of("flaky 2 at last"), [1, 2, 3])

    def test_attempts_are_counted(self):
        self.assertEqual(self.reason(self.run_plan("retry-ends", state="failed")), "step agent-1 (agent hand) failed: always")
        self.assertEqual(self.calls_of("fail always"), [1, 2, 3])

    def test_other_failures_are_not_tried_again(self):
        done = self.run_plan("retry-not", state="failed")
        self.assertEqual(done["status"]["message"]["metadata"], {"state": "rejected"})
        self.assertEqual(self.calls_of("reject this"), [1])

    def test_a_step_that_takes_too_long_is_canceled_and_fails(self):
        self.assertIn("0.2", self.reason(self.run_plan("timeout", state="failed")).replace("200 milliseconds", "0.2"))
        harness.wait_for(lambda: all(task["status"]["state"] != "TASK_STATE_WORKING"
                                     for task in tasks_of(self.server, "hand")), what="the child to end")

    @rings.everything("simulation/plan_cases.cpp: plan-timed")
    def test_a_time_out_can_be_gone_on_with(self):
        self.assertEqual(self.text_of(self.run_plan("timeout-retry")), "timeout")

    def test_what_is_done_is_undone_in_reverse_when_a_later_step_fails(self):
        before = len(self.calls())
        self.assertEqual(self.reason(self.run_plan("saga", state="failed")), "step agent-6 (agent hand) failed: no car")
        self.assertEqual([text for _, text in self.calls()[before:]],
                         ["say book flight", "say book hotel", "fail no car", "say cancel hotel", "say cancel flight"])

    def test_a_step_that_failed_half_way_undoes_itself_first(self):
        before = len(self.calls())
        self.run_plan("saga-self", state="failed")
        self.assertEqual([text for _, text in self.calls()[before:]][2:], ["say cancel bike", "say cancel train"])

    @rings.everything("simulation/plan_cases.cpp: plan-undone")
    def test_what_cannot_be_undone_is_said(self):
        self.assertEqual(self.reason(self.run_plan("saga-broken", state="failed")),
                         "step agent-4 (agent hand) failed: no port; step agent-2 could not be undone: "
                         "step agent-2/agent-3 (agent hand) failed: stuck")

    @rings.everything("simulation/plan_cases.cpp: plan-loops")
    def test_a_wait_takes_its_time(self):
        begun = time.monotonic()
        self.assertEqual(self.text_of(self.run_plan("waits")), "waited")
        self.assertGreaterEqual(time.monotonic() - begun, 0.2)

    def test_a_wait_until_a_moment_that_has_been_is_over(self):
        self.assertEqual(self.text_of(self.run_plan("until", "2020-01-01T00:00:00Z")), "then")
        self.assertIn("cannot wait until", self.reason(self.run_plan("until", "soon", state="failed")))


class Budgets(PlanCase):
    PLANS = {
        "children": {"sequence": [hand("say a"), hand("say b"), hand("say never")], "budget": {"max_children": 2}},
        "tokens": {"sequence": [hand("use 60"), hand("use 50"), hand("say never")], "budget": {"max_tokens": 100}},
        "wall": {"sequence": [hand("hold wall-1 never")], "budget": {"max_wall_s": 0.2}},
        "inner": {"sequence": [hand("use 60"), hand("use 50")]},
        "outer": {"sequence": [{"agent": "inner"}, hand("say never")], "budget": {"max_tokens": 100}},
        "outer-children": {"sequence": [{"agent": "inner"}, hand("say never")], "budget": {"max_children": 3}},
    }

    def check(self, agent, limit):
        self.assertIn(limit, self.reason(self.run_plan(agent, state="failed")))
        self.assertEqual(self.calls_of("say never"), [])

    @rings.everything("simulation/plan_cases.cpp: plan-many")
    def test_no_more_children_begin_than_the_budget_allows(self):
        self.check("children", "max_children")

    def test_no_child_begins_after_the_budget_of_tokens_is_used_up(self):
        self.check("tokens", "max_tokens")

    def test_the_tokens_of_a_childs_children_count(self):
        self.check("outer", "max_tokens")

    def test_a_childs_children_count(self):
        self.check("outer-children", "max_children")

    def test_a_plan_that_takes_too_long_ends_with_all_it_has_begun(self):
        self.check("wall", "max_wall_s")
        harness.wait_for(lambda: all(task["status"]["state"] != "TASK_STATE_WORKING"
                                     for task in tasks_of(self.server, "hand")), what="the child to end")


class Lasting(PlanCase):
    PLANS = {
        "long": {"sequence": [hand("say begun", id="a"), hand("hold long-1 held", id="b"),
                              hand("say {{/steps/a/text}} {{/steps/b/text}}")]},
        "changing": {"sequence": [hand("hold changing-1 old"), hand("say old")]},
        "to-cancel": {"parallel": [hand("hold cancel-1 x"), hand("hold cancel-2 y")]},
        "sleeper": {"sequence": [{"wait": {"seconds": 1}}, hand("say awake")]},
    }

    def test_a_plan_goes_on_after_a_kill_and_repeats_no_step(self):
        task = self.begin("long")
        self.wait_calls("hold long-1 held")
        self.server.kill()
        self.server.start()
        self.server.gate("hand", "long-1")
        self.assertEqual(self.text_of(self.ended(task, "long")), "begun held")
        self.assertEqual(self.calls_of("say begun"), [1])

    def test_a_running_plan_keeps_the_text_it_began_with(self):
        task = self.begin("changing")
        self.wait_calls("hold changing-1 old")
        # A local agent may begin before its beginning is stored.
        harness.wait_for(lambda: self.tree("changing", task)["root"].get("children"), what="the child to be stored")
        write_plan(self.server, "changing", {"sequence": [hand("say new")]})
        self.server.kill()
        self.server.start()
        self.server.gate("hand", "changing-1")
        self.assertEqual(self.text_of(self.ended(task, "changing")), "old")
        self.assertEqual(self.text_of(self.run_plan("changing")), "new")

    def test_a_cancel_goes_down_to_all_that_runs(self):
        task = self.begin("to-cancel")
        self.wait_calls("hold cancel-1 x")
        self.wait_calls("hold cancel-2 y")
        self.server.rpc("tasks/cancel", {"id": task}, agent="to-cancel")
        self.ended(task, "to-cancel", "canceled")
        harness.wait_for(lambda: all(one["status"]["state"] != "TASK_STATE_WORKING"
                                     for one in tasks_of(self.server, "hand")), what="the children to end")

    @rings.everything("simulation/plan_cases.cpp: plan-loops, which kills strike")
    def test_a_wait_is_over_after_a_restart_when_its_time_has_come(self):
        def asleep():
            task = self.begin("sleeper")
            found = self.wait_state(task, "working", "completed", agent="sleeper")
            return found["status"]["state"] == "working" and task  # on a slow machine it may have woken up
        task = harness.wait_for(asleep, what="a plan that waits")
        self.server.kill()
        self.server.start()
        self.assertEqual(self.text_of(self.ended(task, "sleeper")), "awake")

    def test_the_stream_shows_what_each_step_has_said(self):
        task = client.new_id()
        self.server.gate("hand", "long-1")
        stream = self.server.stream("go", task, agent="long")
        notes = [client.text_of(frame.result["status"]["message"]) for frame in stream
                 if frame.result.get("status", {}).get("state") == "working" and frame.result["status"].get("message")]
        self.assertTrue(any("a: begun" in note for note in notes), notes)
        self.assertTrue(any("b: held" in note for note in notes), notes)


class Wrong(harness.unittest.TestCase):
    """A wrong plan is reported at start, with the place of the fault."""

    def said(self, plans):
        """Starts a server with these plans, each as an agent "wrong-N". Returns its log."""
        server = harness.Server(["hand"])
        try:
            for number, plan in enumerate(plans):
                write_plan(server, f"wrong-{number}", plan)
            server.start()
            return server.log_text()
        finally:
            server.discard()

    def test_what_is_wrong_is_said_with_line_pointer_and_reason(self):
        rows = [
                ({"agent": "hand", "sequence": []}, "/baton/plan:", "one of agent"),
                ({"sequence": [{"agent": "hand", "retrys": {}}]}, "/baton/plan/sequence/0/retrys", "retry"),
                ({"sequence": [hand("{{/steps/x/text}}")]}, "/baton/plan/sequence/0/input", "not in the plan"),
                ({"sequence": [hand("a", id="x"), hand("{{/steps/x/txt}}")]}, "/baton/plan/sequence/1/input", "text, data"),
                ({"sequence": [hand("a", id="x"), hand("{{/steps/x}}")]}, "/baton/plan/sequence/1/input", "text, data"),
                ({"sequence": [hand("{{/steps/x/text}}"), hand("a", id="x")]}, "/baton/plan/sequence/0/input",
                 "starts only after this value is read"),
                ({"parallel": [hand("a", id="x"), hand("{{/steps/x/data}}")]}, "/baton/plan/parallel/1/input",
                 "has not ended when this one starts"),
                (hand("{{/message/body}}"), "/baton/plan/input", "text, data"),
                ({"sequence": [hand("a", id="x"), hand("b", id="x")]}, "/baton/plan/sequence/1/id", "same id"),
                ({"loop": hand("a"), "until": {"value": "/message/text", "equals": 1}}, "/baton/plan:", "max"),
                ({"map": hand("a")}, "/baton/plan:", "over"),
                ({"parallel": [hand("a")], "join": {"n_of": 2}}, "/baton/plan/join", "more branches"),
                ({"parallel": [hand("a")], "join": "most"}, "/baton/plan/join",
                 'must be one of "all", "any", "best_effort", or an object with "n_of" (an integer from 1 to 10000)'),
                ({"wait": {}}, "/baton/plan/wait", "seconds"),
                (hand("a", on_failure="compensate"), "/baton/plan/on_failure", "compensate"),
                ({"route": [{"when": {"value": "/x", "exists": True}, "then": hand("a")}]},
                 "/baton/plan/route/0/when/value", "must begin with")]
        log = self.said([plan for plan, _, _ in rows])
        for number, (plan, pointer, reason) in enumerate(rows):
            with self.subTest(plan=plan):
                line = next((line for line in log.splitlines() if f"wrong-{number}/" in line and pointer in line), log)
                self.assertIn(json.dumps(reason)[1:-1], line)
                self.assertRegex(line, r"card\.json:\d+:\d+: /baton")


class FullQueue(PlanCase):
    CONFIG = {"engine": {"slots": 1, "queue_max": 1}}
    PLANS = {"many": {"map": hand("hold {{/item}} x"), "over": ["c0", "c1", "c2", "c3", "c4", "c5"], "concurrency": 6}}

    def test_children_wait_for_a_slot_and_are_not_refused_also_after_a_restart(self):
        task = self.begin("many")
        harness.wait_for(lambda: len(self.tree("many", task)["root"].get("children", [])) == 6, what="the children")
        self.server.kill()
        self.server.start()
        for item in range(6):
            self.server.gate("hand", f"c{item}")
        self.assertEqual(self.text_of(self.ended(task, "many")), "\n\n".join(["x"] * 6))


if __name__ == "__main__":
    harness.unittest.main()
