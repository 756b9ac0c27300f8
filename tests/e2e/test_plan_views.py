"""Views of plans: the picture of a plan and of a run, the tree of a task, and `baton tree`."""
import contextlib
import json
import os
import pty
import signal
import subprocess
import xml.etree.ElementTree

import client
import harness
from plan_case import PlanCase, hand, write_plan

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</text><script>alert(1)</script>"


class Views(PlanCase):
    CONFIG = {"tokens": [{"caller": "ann", "token": "secret-of-ann"}], "allow_anonymous": True}
    PLANS = {
        "two": {"id": "two", "sequence": [hand("say one", id="first"), hand("{{/message/text}}", id="second")]},
        "outer": {"id": "outer", "sequence": [
            {"map": {"agent": "two", "id": "each", "input": "{{/item}}"}, "over": ["say a", "use 30"], "id": "all"},
            hand("flaky 1 fine", id="again", retry={"count": 1, "delay_s": 0.01})]},
        "changing": {"sequence": [hand("hold change x", id="old")]},
        "hostile": {"sequence": [{"ask": HOSTILE, "id": "ask"}]},
    }

    def picture(self, path, **more):
        status, headers, body = self.get(path, **more)
        self.assertEqual(status, 200, body)
        self.assertEqual(headers["Content-Type"], "image/svg+xml")
        self.assertIn("sandbox", headers["Content-Security-Policy"])
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
        self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
        root = xml.etree.ElementTree.fromstring(body)
        self.assertEqual(root.tag, SVG + "svg")
        self.assertEqual([one.tag for one in root.iter() if one.tag == SVG + "script"], [])
        return root

    def steps(self, root):
        return {group.get("data-step"): group.get("class").removeprefix("step").strip()
                for group in root.iter(SVG + "g") if group.get("data-step")}

    def test_the_picture_of_a_plan_is_for_whoever_may_see_its_card(self):
        root = self.picture("/agents/two/plan.svg")
        self.assertEqual(self.steps(root), {"first": "", "second": ""})
        self.assertEqual(self.get("/agents/two/plan.svg", method="HEAD")[0], 200)
        self.assertEqual(self.get("/agents/two/plan.svg", method="POST")[0], 405)
        self.assertEqual(self.get("/agents/two/plan.svg", token="wrong")[0], 401)

    def test_an_agent_that_is_not_a_plan_has_no_picture(self):
        status, _, body = self.get("/agents/hand/plan.svg")
        self.assertEqual(status, 404)
        self.assertIn(b"not run a plan", body)
        task = self.begin("hand", "say x")
        self.ended(task, "hand")
        status, _, body = self.get(f"/agents/hand/tasks/{task}/plan.svg")
        self.assertEqual(status, 404)
        self.assertIn(b"not run a plan", body)

    def test_text_of_a_plan_cannot_become_markup(self):
        root = self.picture("/agents/hostile/plan.svg")
        self.assertIn("script", "".join(root.itertext()))

    def test_the_picture_of_a_run_follows_it_to_its_end(self):
        task = self.begin("two", "hold view held")
        self.wait_calls("hold view held")
        harness.wait_for(lambda: self.steps(self.picture(f"/agents/two/tasks/{task}/plan.svg"))
                         == {"first": "done", "second": "working"}, what="the second step under way")
        self.server.gate("hand", "view")
        self.ended(task, "two")
        root = self.picture(f"/agents/two/tasks/{task}/plan.svg")
        self.assertEqual(self.steps(root), {"first": "done", "second": "done"})
        self.assertIn("completed after", "".join(root.itertext()))

    def test_a_step_whose_child_asks_is_seen_in_the_picture_and_in_the_tree(self):
        task = self.begin("two", "ask how?")
        self.wait_state(task, "input-required", agent="two")
        root = self.picture(f"/agents/two/tasks/{task}/plan.svg")
        self.assertEqual(self.steps(root), {"first": "done", "second": "asks"})
        tree = self.tree("two", task)["root"]
        self.assertEqual((tree["state"], tree["children"][1]["state"]), ("input-required", "input-required"))

    def test_the_picture_of_a_run_is_that_of_the_plan_it_began_with(self):
        task = self.begin("changing")
        run = f"/agents/changing/tasks/{task}/plan.svg"
        harness.wait_for(lambda: self.steps(self.picture(run)) == {"old": "working"}, what="the step under way")
        write_plan(self.server, "changing", {"sequence": [hand("say new", id="new")]})
        self.server.process.send_signal(signal.SIGHUP)
        harness.wait_for(lambda: "new" in self.steps(self.picture("/agents/changing/plan.svg")), what="the new card")
        self.assertEqual(self.steps(self.picture(run)), {"old": "working"})
        self.server.gate("hand", "change")
        self.ended(task, "changing")

    def test_only_its_caller_sees_a_run_and_its_tree(self):
        task = self.begin("two", "say x")
        self.ended(task, "two")
        for view in ("plan.svg", "tree"):
            path = f"/agents/two/tasks/{task}/{view}"
            self.assertEqual(self.get(path)[0], 200)
            self.assertEqual(self.get(path, token="secret-of-ann")[0], 404)
            self.assertEqual(self.get(path, token="wrong")[0], 401)
            self.assertEqual(self.get(f"/agents/two/tasks/no-such-task/{view}")[0], 404)
            self.assertEqual(self.get(f"/agents/outer/tasks/{task}/{view}")[0], 404)
            self.assertEqual(self.get(path, method="POST")[0], 405)

    def test_the_tree_of_a_nested_plan_has_every_task_of_it(self):
        task = self.begin("outer")
        self.ended(task, "outer")
        tree = self.tree("outer", task)
        root = tree["root"]
        self.assertEqual((root["id"], root["agent"], root["kind"], root["state"]), (task, "outer", "plan", "completed"))
        # Children of a map are listed in the order in which they were stored.
        children = sorted(root["children"], key=lambda child: (child["label"], child["attempt"]))
        facts = [tuple(child[fact] for fact in ("label", "agent", "state", "attempt")) for child in children]
        self.assertEqual(facts, [
            ("again", "hand", "failed", 1), ("again", "hand", "completed", 2),
            ("all[0]/each", "two", "completed", 1), ("all[1]/each", "two", "completed", 1)])
        inner = children[3]
        self.assertEqual([child["label"] for child in inner["children"]], ["first", "second"])
        self.assertEqual(inner["children"][1]["tokens"], 30)
        self.assertIn("not yet", children[0]["error"])
        self.assertEqual((tree["tasks"], root["tokens"], inner["tokens"]), (9, 30, 30))
        self.assertNotIn("cut", tree)
        for node in [root, *root["children"], *inner["children"]]:
            self.assertLessEqual(node["begunAt"], node["endedAt"])
        self.assertEqual(self.tree("two", inner["id"])["root"]["state"], "completed")

    def test_a_task_without_children_is_a_tree_of_one(self):
        task = self.begin("hand", "say x")
        self.ended(task, "hand")
        tree = self.tree("hand", task)
        self.assertEqual((tree["tasks"], tree["root"]["agent"]), (1, "hand"))
        self.assertNotIn("children", tree["root"])

    def run_tree(self, *words):
        done = subprocess.run([harness.PROGRAM, "tree", *words, "--json", "--url", f"http://127.0.0.1:{self.server.port}"],
                              capture_output=True, text=True, check=False, timeout=client.scaled(60), env=harness.program_environment())
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def test_the_command_prints_the_tree_as_a_line_of_json(self):
        task = self.begin("two", "say x")
        self.ended(task, "two")
        code, lines, _ = self.run_tree(task, "--agent", "two")
        self.assertEqual((code, len(lines)), (0, 1))
        self.assertEqual([child["label"] for child in lines[0]["root"]["children"]], ["first", "second"])
        code, lines, complaints = self.run_tree("no-such-task", "--agent", "two")
        self.assertEqual((code, lines), (4, []))
        self.assertIn("not found", complaints.lower())

    def test_the_command_takes_short_ids(self):
        status, _, body = self.get("/agents/two/tasks/" + self.made_here("two") + "/tree")
        self.assertEqual(status, 200)
        whole = json.loads(body)["root"]["children"][0]["id"]
        code, lines, complaints = self.run_tree(whole[-12:])
        self.assertEqual(code, 0, complaints)
        self.assertEqual(lines[0]["root"]["id"], whole)

    def made_here(self, agent):
        task = self.begin(agent, "say x")
        self.ended(task, agent)
        return task

    def test_the_command_follows_a_task_to_its_end(self):
        task = self.begin("two", "hold follow held")
        self.wait_calls("hold follow held")
        process = subprocess.Popen([harness.PROGRAM, "tree", task, "--json", "--follow", "--agent", "two", "--url",
                                    f"http://127.0.0.1:{self.server.port}"],
                                   stdout=subprocess.PIPE, text=True, env=harness.program_environment())
        first = json.loads(process.stdout.readline())
        self.assertEqual(first["root"]["state"], "working")
        self.server.gate("hand", "follow")
        rest, _ = process.communicate(timeout=client.scaled())
        self.assertEqual(process.returncode, 0)
        self.assertEqual(json.loads(rest.splitlines()[-1])["root"]["state"], "completed")

    @staticmethod
    def read_all(control):
        """Reads what was written to a terminal that is closed now, which may come in pieces."""
        with open(control, "rb", buffering=0) as reader:
            read = b""
            with contextlib.suppress(OSError):  # at the end
                while piece := reader.read(65536):
                    read += piece
            return read

    def test_on_a_terminal_the_command_draws_the_tree(self):
        task = self.made_here("two")
        control, terminal = pty.openpty()
        try:
            done = subprocess.run([harness.PROGRAM, "tree", task, "--agent", "two", "--url",
                                   f"http://127.0.0.1:{self.server.port}"], stdout=terminal, stderr=subprocess.PIPE,
                                  check=False, timeout=client.scaled(), env=harness.program_environment())
            self.assertEqual(done.returncode, 0, done.stderr)
        finally:
            os.close(terminal)
            shown = self.read_all(control).decode()
        lines = shown.splitlines()
        self.assertEqual(len(lines), 4, shown)
        self.assertTrue(lines[1].startswith("two"), shown)
        self.assertTrue(lines[2].startswith("├─ first (hand)"), shown)
        self.assertTrue(lines[3].startswith("└─ second (hand)"), shown)


if __name__ == "__main__":
    harness.unittest.main()
