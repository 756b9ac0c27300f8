"""Budgets of tasks, in requests and in cards: each limit ends or refuses work beyond it, the smaller limit counts, and
work done elsewhere counts once."""
import json

import a2a_case
import client
import harness
from client import EXTENSION
from model_case import ModelCase
from model_server import call, calls, chunk, said, streamed, words
from plan_case import PlanCase, hand, write_plan
from test_remote_agents import NEW, WAYS, Front, RemoteCase, name_of


def budget(**limits):
    return {EXTENSION: {"budget": limits}}


def use(tokens):
    return {"use": tokens}


class BudgetCase(PlanCase):
    HANDS = ["hand", "family"]

    def run_with(self, agent, limits, text="go", state="failed"):
        """Sends a task with these limits. Returns it once it has ended."""
        task = client.new_id()
        self.server.stream(text if isinstance(text, str) else json.dumps(text), task, agent=agent,
                           metadata=budget(**limits)).close()
        return self.ended(task, agent, state)

    def fails_at(self, limit, agent, limits, text="go"):
        self.assertIn(limit, self.reason(self.run_with(agent, limits, text)))

    def says(self, agent, limits, text):
        return self.text_of(self.run_with(agent, limits, text, "completed"))

    def used(self, server, agent, task):
        """Returns the usage of the task that a caller of 1.0 sees."""
        shown = server.call("GetTask", {"id": task}, agent=agent, headers=NEW)
        return shown.get("metadata", {}).get(EXTENSION, {}).get("usage")


class Requests(BudgetCase):
    PLANS = {"three": {"sequence": [hand("say a"), hand("say b"), hand("say c")]},
             "spends": {"sequence": [hand("use 60"), hand("use 50"), hand("say c")]},
             "holds": {"parallel": [hand("hold h-1 never"), hand("use 60")]},
             "outer": {"agent": "three"}}

    def test_a_plan_makes_as_many_children_as_the_request_allows(self):
        self.assertEqual(self.text_of(self.run_with("three", {"max_children": 3}, state="completed")), "c")
        before = len(self.calls_of("say b"))
        self.fails_at("max_children", "three", {"max_children": 1})
        self.assertEqual(len(self.calls_of("say b")), before)

    def test_the_children_of_a_child_count(self):
        self.run_with("outer", {"max_children": 4}, state="completed")
        self.fails_at("max_children", "outer", {"max_children": 3})

    def test_an_agent_s_delegation_is_refused_beyond_each_limit(self):
        two = {"all": [use(1), use(2)]}
        self.assertEqual(self.says("family", {"max_children": 2, "max_depth": 1, "max_tokens": 10}, two), "used 1; used 2")
        one_by_one = {"all": [use(1), {"all": [use(2)]}]}
        self.assertIn("max_depth", self.says("family", {"max_depth": 1}, one_by_one))
        self.assertEqual(self.says("family", {"max_depth": 2}, one_by_one), "used 1; used 2")
        for limit in ("max_children", "max_depth", "max_tokens"):
            self.assertIn(limit, self.says("family", {limit: 0}, two))

    def test_tokens_end_what_runs_beside_them(self):
        self.fails_at("max_tokens", "spends", {"max_tokens": 100})
        self.fails_at("max_tokens", "holds", {"max_tokens": 50})
        self.fails_at("max_tokens", "family", {"max_tokens": 50}, {"all": [{"hold": "it"}, use(51)]})
        self.fails_at("max_tokens", "family", {"max_tokens": 50}, {"all": [{"hold": "it"}, use(51)], "wait": True})
        self.fails_at("max_tokens", "family", {"max_tokens": 50}, use(51))
        harness.wait_for(lambda: not self.server.call("ListTasks", {"status": "TASK_STATE_WORKING"}, agent="family",
                                                      headers=NEW)["tasks"], what="all of the family to end")

    def test_time_ends_what_runs_and_what_waits(self):
        self.fails_at("max_wall_s", "holds", {"max_wall_s": 1})
        self.fails_at("max_wall_s", "family", {"max_wall_s": 1}, {"hold": "it"})
        self.fails_at("max_wall_s", "family", {"max_wall_s": 1}, {"all": [{"hold": "it"}], "wait": True})

    def test_what_a_task_has_used_is_said_at_its_end(self):
        done = self.run_with("spends", {"max_tokens": 110 + 1}, state="completed")
        self.assertEqual(self.used(self.server, "spends", done["id"]), {"tokens": 110, "children": 3})
        self.assertEqual(done["metadata"][EXTENSION]["usage"], {"tokens": 110, "children": 3})


class Cards(BudgetCase):
    PLANS = {"three": {"sequence": [hand("say a"), hand("say b"), hand("say c")], "budget": {"max_children": 2}}}
    LIMITS = {"few": {"max_children": 1}, "flat": {"max_depth": 0}, "poor": {"max_tokens": 10}, "hasty": {"max_wall_s": 0.3}}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.stop()
        for name, limits in cls.LIMITS.items():
            folder = cls.server.agents_folder / name
            folder.mkdir()
            for file in (cls.server.agents_folder / "family").iterdir():
                if file.name == "card.json":
                    card = json.loads(file.read_text(encoding="utf-8"))
                    card["name"] = name
                    card["baton"]["budget"] = limits
                    (folder / file.name).write_text(json.dumps(card), encoding="utf-8")
                elif file.is_file():
                    (folder / file.name).write_bytes(file.read_bytes())
        cls.server.start()

    def test_each_limit_in_the_card_of_a_program(self):
        self.assertIn("max_children", self.says("few", {}, {"all": [use(1), use(2)]}))
        self.assertIn("max_depth", self.says("flat", {}, {"all": [use(1)]}))
        self.fails_at("max_tokens", "poor", {}, use(11))
        self.fails_at("max_wall_s", "hasty", {}, {"hold": "it"})

    def test_the_smaller_of_card_and_request_holds(self):
        self.fails_at("max_children", "three", {"max_children": 3})
        self.fails_at("max_children", "three", {"max_children": 1})
        self.assertIn("at most 1 task below it", self.reason(self.run_with("three", {"max_children": 1})))
        self.assertIn("at most 2 tasks", self.reason(self.run_with("three", {"max_children": 3})))
        self.fails_at("max_tokens", "poor", {"max_tokens": 1000}, use(11))
        self.fails_at("max_tokens", "poor", {"max_tokens": 5}, use(6))


class Refusals(a2a_case.A2aCase):
    WRONG = [({"max_tokens": -1}, "budget.max_tokens"), ({"max_children": 1.5}, "budget.max_children"),
             ({"max_depth": "2"}, "budget.max_depth"), ({"max_wall_s": 10**10}, "budget.max_wall_s"),
             ({"max_rounds": None}, "budget.max_rounds"), ({"max_fun": 1}, "budget.max_fun"), ([], "budget")]

    def test_what_is_no_budget_is_refused_by_name_over_every_version(self):
        for caller in self.each(self.g3, self.g3_rest, self.g4, self.g4_rest):
            for wrong, named in self.WRONG:
                answer = self.assert_refused(-32602, caller.send, "end", metadata={EXTENSION: {"budget": wrong}})
                self.assertIn(named, answer.raw.decode())
            self.assertEqual(caller.send("end", metadata=budget(max_tokens=0)).state, "completed")


class Models(ModelCase):
    MODELS = {"plain": {"model": {"tools": ["echo"], "tool_rounds": 3}},
              "brief": {"model": {"tools": ["echo"]}, "budget": {"max_rounds": 1}},
              "poor": {"model": {"tools": ["echo"]}, "budget": {"max_tokens": 10}}}

    def asked(self):
        """Returns the number of requests since the script was set."""
        return len(self.model.requests)

    def again(self, tokens=0):
        more = [{"choices": [], "usage": {"total_tokens": tokens}}] if tokens else []
        return streamed(*calls(call("echo", {"message": "again"})), *more)

    def fails(self, agent, **limits):
        task = client.new_id()
        self.server.rpc("tasks/send", {"id": task, "message": client.text_message("hi"), "metadata": budget(**limits)},
                        agent=agent)
        return self.reason(self.stopped(task, agent, "failed"))

    def test_rounds_are_bounded_by_the_smallest_of_card_and_request(self):
        for agent, limits, rounds in (("plain", {}, 3), ("plain", {"max_rounds": 2}, 2), ("plain", {"max_rounds": 9}, 3),
                                      ("brief", {}, 1), ("brief", {"max_rounds": 0}, 0)):
            with self.subTest(agent=agent, limits=limits):
                self.model.script(self.again())
                reason = self.fails(agent, **limits)
                self.assertIn(f"more than {rounds} time", reason)
                self.assertIn("(tool_rounds)" if rounds == 3 else "(max_rounds)", reason)
                self.assertEqual(self.asked(), rounds + 1)

    def test_no_round_begins_once_the_tokens_are_used_up(self):
        self.model.script(self.again(6))
        self.assertIn("max_tokens", self.fails("poor"))
        self.assertEqual(self.asked(), 2)
        self.model.script(self.again(6))
        self.assertIn("max_tokens", self.fails("poor", max_tokens=6))
        self.assertEqual(self.asked(), 1)
        self.model.script(self.again())
        self.assertIn("max_tokens", self.fails("plain", max_tokens=0))
        self.assertEqual(self.asked(), 0)

    def test_the_tokens_of_an_answer_that_broke_off_count(self):
        usage = {"choices": [], "usage": {"total_tokens": 11}}
        for delta in ({"content": "wrong"}, {}):
            self.model.script(streamed(chunk(delta, "abort"), usage), said("right"))
            self.assertIn("max_tokens", self.fails("poor"))
            self.assertEqual(self.asked(), 1)

    def test_an_answer_that_is_there_counts_though_it_took_too_much(self):
        self.model.script(streamed(*words("a"), {"choices": [], "usage": {"total_tokens": 60}}))
        self.assertEqual(self.reply(self.run_task(agent="poor")), "a")

    def test_a_budget_of_tokens_that_no_usage_comes_for_is_warned_about_once_a_turn(self):
        zeros = {"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}}
        for answers in ([self.again(), said("a")], [streamed(*words("a"), zeros)]):
            warned = self.server.log_text().count("reports no token usage")
            self.model.script(*answers)
            self.assertEqual(self.reply(self.run_task(agent="poor")), "a")
            self.assertEqual(self.server.log_text().count("reports no token usage"), warned + 1)


class Elsewhere(BudgetCase):
    """The agent `far` is an agent of another Baton."""

    @classmethod
    def setUpClass(cls):
        cls.far = harness.Server(["hand", "family"])
        cls.addClassCleanup(cls.far.discard)
        write_plan(cls.far, "there", {"sequence": [hand("use 30"), hand("hold far-1 x"), hand("use 20")]})
        cls.far.start()
        url = f"http://127.0.0.1:{cls.far.port}"
        cls.server = Front({"far": {"url": url + "/agents/family"}, "far-plan": {"url": url + "/agents/there"}}, [url],
                           ["hand"])
        write_plan(cls.server, "here", {"sequence": [{"agent": "far"}, hand("say end")]})
        write_plan(cls.server, "twice", {"sequence": [{"agent": "far"}, {"agent": "far"}, hand("say end")]})
        write_plan(cls.server, "waits", {"agent": "far-plan"})
        cls.server.start()

    def far_state(self, agent="family"):
        return {task["status"]["state"] for task in self.far.call("ListTasks", {}, agent=agent, headers=NEW)["tasks"]}

    def test_what_it_uses_counts_here_once(self):
        done = self.run_with("here", {}, {"all": [use(7), use(8)]}, "completed")
        self.assertEqual(self.used(self.server, "here", done["id"]), {"tokens": 15, "children": 4})
        self.fails_at("max_tokens", "twice", {"max_tokens": 20}, use(15))
        self.fails_at("max_children", "here", {"max_children": 3}, {"all": [use(7), use(8)]})

    def test_it_is_told_what_is_left(self):
        one_deep = {"all": [use(1)]}
        done = self.run_with("here", {"max_depth": 2}, one_deep, "completed")
        self.assertEqual(self.used(self.server, "here", done["id"])["tokens"], 1)
        done = self.run_with("here", {"max_depth": 1}, one_deep, "completed")
        self.assertIsNone(self.used(self.server, "here", done["id"]).get("tokens") or None, "nothing was delegated there")
        self.fails_at("max_tokens", "here", {"max_tokens": 5}, {"all": [{"hold": "it"}, use(6)]})
        self.fails_at("max_wall_s", "here", {"max_wall_s": 1}, {"hold": "it"})
        harness.wait_for(lambda: "TASK_STATE_WORKING" not in self.far_state(), what="the far tasks to end")

    def test_what_it_uses_counts_once_after_either_side_was_killed(self):
        task = client.new_id()
        self.server.stream("go", task, agent="waits", metadata=budget(max_tokens=1000)).close()
        harness.wait_for(lambda: "hold far-1 x" in self.far_calls(), what="the far plan to hold")
        for side in (self.far, self.server):
            side.kill()
            side.start()
        self.far.gate("hand", "far-1")
        done = self.ended(task, "waits")
        self.assertEqual(self.used(self.server, "waits", done["id"]), {"tokens": 50, "children": 4})
        self.server.kill()
        self.server.start()
        self.assertEqual(self.used(self.server, "waits", done["id"]), {"tokens": 50, "children": 4})

    def far_calls(self):
        path = self.far.agents_folder / "hand" / "calls"
        return path.read_text(encoding="utf-8") if path.exists() else ""


class EveryWay(RemoteCase):
    FAR = ["family"]

    # The far card names another port of this machine for gRPC, which no card here names.
    OPTIONS = ("--allow-private-webhooks",)

    @classmethod
    def card(cls, agent, version, transport):
        """Uses the far card, which declares the extension, also over gRPC."""
        return {"url": f"http://127.0.0.1:{cls.far.port}/agents/{agent}",
                "a2a": {"version": version, "transport": transport}}

    def test_a_budget_goes_down_and_usage_comes_back_over_every_version_and_transport(self):
        for way in WAYS:
            with self.subTest(way=way):
                agent = name_of("family", *way)
                for limits, text, used in (({"max_depth": 1}, "used 3", {"tokens": 3, "children": 1}),
                                           ({"max_depth": 0}, "max_depth", None)):
                    done = self.server.send(json.dumps({"all": [use(3)]}), client.new_id(), agent=agent,
                                            metadata=budget(**limits))
                    self.assertIn(text, client.text_of(done["artifacts"][0]))
                    self.assertEqual(done.get("metadata", {}).get(EXTENSION, {}).get("usage"), used)


if __name__ == "__main__":
    harness.unittest.main()
