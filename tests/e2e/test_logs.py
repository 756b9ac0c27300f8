"""A task's log for its own caller: the view, and `baton logs`."""
import json
import os
import pty
import re
import subprocess

import client
import harness
import plan_case

TOKENS = {"tokens": [{"caller": "ann", "token": "secret-of-ann"}], "allow_anonymous": True}


class Logs(plan_case.PlanCase):
    HANDS = ["hand", "chat"]
    CONFIG = TOKENS
    PLANS = {"two": {"sequence": [plan_case.hand("{{/message/text}}", id="first"), plan_case.hand("say bye", id="second")]}}

    def words(self, task, agent, *more):
        return [harness.PROGRAM, "logs", task, "--agent", agent, "--url", f"http://127.0.0.1:{self.server.port}", *more]

    def logs(self, task, agent, *more):
        done = subprocess.run(self.words(task, agent, "--json", *more), capture_output=True, text=True, check=False,
                              timeout=client.scaled(60), env=harness.program_environment())
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def view(self, task, agent, query="", **more):
        return self.get(f"/agents/{agent}/tasks/{task}/log{query}", **more)

    def asked(self):
        """Makes a task whose log has some of everything."""
        task = self.begin("chat", "all which one?")
        self.wait_state(task, "input-required", agent="chat")
        return task

    def test_everything_that_happened_is_an_object_a_line_in_order(self):
        code, events, said = self.logs(self.asked(), "chat")
        self.assertEqual(code, 0, said)
        self.assertEqual([event["number"] for event in events], sorted(event["number"] for event in events))
        self.assertEqual([event["at"] for event in events], sorted(event["at"] for event in events))
        types = [event["type"] for event in events]
        self.assertEqual(types[:2], ["status", "message"])
        self.assertLessEqual({"status", "reasoning", "text", "step", "tool-call", "tool-result", "artifact", "custom",
                              "activity", "usage", "state"}, set(types))
        call = next(event for event in events if event["type"] == "tool-call")
        self.assertEqual((call["name"], call["arguments"]), ("look_up", {"what": "线"}))
        self.assertEqual((events[-1]["type"], events[-1]["state"]), ("status", "input-required"))

    def test_a_plan_shows_its_children_but_neither_their_keys_nor_its_own_state(self):
        task = self.begin("two", "say hello")
        self.ended(task, "two")
        code, events, said = self.logs(task, "two")
        self.assertEqual(code, 0, said)
        children = [event for event in events if event["type"] == "child"]
        self.assertEqual({(child["name"], child["phase"]) for child in children},
                         {(step, phase) for step in ("first", "second") for phase in ("started", "finished")})
        self.assertFalse(any("task" in child for child in children))
        self.assertNotIn("executor-state", {event["type"] for event in events})

    def test_a_long_log_comes_whole(self):
        # Each step is an event, so the log takes several pages.
        steps = [{"type": "step", "name": f"{number // 2}", "phase": ("start", "finish")[number % 2]} for number in range(1200)]
        task = self.begin("chat", "lines " + json.dumps([*steps, {"type": "done"}]))
        self.ended(task, "chat")
        code, events, said = self.logs(task, "chat")
        self.assertEqual(code, 0, said)
        self.assertEqual([event["name"] for event in events if event["type"] == "step"], [step["name"] for step in steps])

    def test_follow_goes_on_to_the_end_and_exits_as_the_task_did(self):
        task = self.begin("chat", "wait")
        process = subprocess.Popen(self.words(task, "chat", "--json", "--follow"), stdout=subprocess.PIPE, text=True,
                                   env=harness.program_environment())
        self.addCleanup(process.stdout.close)
        self.assertEqual(json.loads(process.stdout.readline())["state"], "submitted")
        self.server.gate("chat", task)
        rest, _ = process.communicate(timeout=client.scaled(60))
        self.assertEqual(process.returncode, 0)
        self.assertEqual(json.loads(rest.splitlines()[-1])["state"], "completed")
        failed = self.begin("chat", "fail it is broken")
        self.ended(failed, "chat", "failed")
        self.assertEqual(self.logs(failed, "chat", "--follow")[0], 1)

    def test_on_a_terminal_an_event_is_a_line_with_its_time(self):
        task = self.asked()
        control, terminal = pty.openpty()
        self.addCleanup(os.close, control)
        with subprocess.Popen(self.words(task, "chat"), stdout=terminal, stderr=subprocess.PIPE,
                              env=harness.program_environment()) as process:
            os.close(terminal)
            lines = harness.read_terminal(control).splitlines()
            _, said = process.communicate(timeout=client.scaled(60))
        self.assertEqual(process.returncode, 0, said)
        said = [re.fullmatch(r" +\d+  \d\d:\d\d:\d\d\.\d{3}  (.*)", line) for line in lines]
        self.assertTrue(all(said), lines)
        self.assertEqual([one[1] for one in said[:3]],
                         ["status       submitted", "message      < all which one?", "status       working"])
        self.assertIn('tool-call    look_up {"what":"线"}', [one[1].replace(": ", ":") for one in said])
        self.assertEqual(said[-1][1], "status       input-required which one?")

    def test_only_its_caller_sees_it(self):
        task = self.asked()
        self.assertEqual(self.view(task, "chat")[0], 200)
        self.assertEqual(self.view(task, "chat", token="secret-of-ann")[0], 404)
        self.assertEqual(self.view(task, "chat", token="wrong")[0], 401)
        self.assertEqual(self.view("no-such-task", "chat")[0], 404)
        self.assertEqual(self.view(task, "two")[0], 404)
        self.assertEqual(self.view(task, "chat", method="POST")[0], 405)
        code, events, said = self.logs("no-such-task", "chat")
        self.assertEqual((code, events), (4, []))
        self.assertIn("`baton list` shows your tasks", said)

    def test_a_piece_begins_after_a_number_and_says_where_it_ends(self):
        task = self.asked()
        whole = json.loads(self.view(task, "chat")[2])
        self.assertEqual((whole["through"], whole["state"]), (whole["last"], "input-required"))
        rest = json.loads(self.view(task, "chat", "?after=3")[2])
        self.assertEqual(rest["events"], [event for event in whole["events"] if event["number"] > 3])
        for wrong in ("-1", "x", ""):
            self.assertEqual(self.view(task, "chat", "?after=" + wrong)[0], 400, wrong)


if __name__ == "__main__":
    harness.unittest.main()
