"""Delegating to an agent elsewhere by its URL, which the setting outbound.delegate_urls allows."""
import json

import client
import harness
from test_remote_agents import NEW, Front, RemoteCase


class DelegateUrl(RemoteCase):
    """The agent "chief" delegates to the URL or agent in its message, and returns the child."""
    FAR = ["echo", "approval", "slow"]

    @classmethod
    def setUpClass(cls):
        cls.far = harness.Server(cls.FAR).start()
        cls.server = cls.middle([cls.far_url("echo"), cls.far_url("approval"), cls.far_url("slow")]).start()

    @classmethod
    def far_url(cls, agent):
        return f"http://127.0.0.1:{cls.far.port}/agents/{agent}"

    @classmethod
    def middle(cls, urls):
        front = Front({}, [f"http://127.0.0.1:{cls.far.port}"], ["chief"])
        front.config["outbound"]["delegate_urls"] = urls
        return front

    def child(self, done):
        """Returns the chief's result for its child."""
        return done["artifacts"][0]["parts"][0]["data"]["task"]

    def why_not(self, url, server=None):
        failed = (server or self.server).send(url, agent="chief")
        self.assertEqual(failed["status"]["state"], "failed", failed)
        return client.text_of(failed["status"]["message"])

    def test_an_agent_at_a_url_that_is_allowed_does_the_work(self):
        before = len(self.far_tasks("echo"))
        child = self.child(self.done(self.begin(self.far_url("echo"), "chief"), "chief"))
        self.assertEqual(child["artifacts"][0]["parts"][0]["text"], "告诉我一个笑话")
        self.assertEqual(len(self.far_tasks("echo")), before + 1)

    def test_a_url_that_is_not_allowed_is_an_error_that_says_so(self):
        for url in (self.far_url("echo") + "/", self.far_url("echo") + "?a", f"http://127.0.0.1:{self.far.port}", "https://elsewhere.example/"):
            with self.subTest(url):
                self.assertEqual(self.why_not(url),
                                 "no child: the setting outbound.delegate_urls does not allow this agent's URL")

    def test_an_entry_with_a_slash_at_its_end_allows_what_is_below_it(self):
        with self.middle([f"http://127.0.0.1:{self.far.port}/agents/"]) as middle:
            done = middle.send(self.far_url("echo"), agent="chief")
            self.assertEqual(done["status"]["state"], "completed", done)
            for path in ("../agents/echo", "%2e%2e/agents/echo", "./echo", "echo?a=b"):
                self.assertIn("does not allow", self.why_not(self.far_url(path), middle))

    def test_each_child_gives_its_slot_back(self):
        with self.middle([f"http://127.0.0.1:{self.far.port}/agents/"]) as middle:
            middle.stop()
            middle.config["engine"] = {"slots": 1}
            middle.start()
            for agent in ("echo", "slow", "echo"):
                if agent == "slow":
                    task, far = self.begin_slow(middle)
                    self.far.gate("slow", far)
                    harness.wait_for(lambda: self.ended(middle, task), what="the task to end")
                else:
                    self.assertEqual(middle.send(self.far_url(agent), agent="chief")["status"]["state"], "completed")

    def test_an_address_that_is_not_public_needs_its_origin_allowed_too(self):
        with self.middle([self.far_url("echo")]) as middle:
            middle.stop()
            middle.config["outbound"]["origins"] = []
            middle.start()
            child = self.child(middle.send(self.far_url("echo"), agent="chief"))
            self.assertIn("the address of this host is not allowed", json.dumps(child["status"]))

    def test_a_question_comes_up_and_its_answer_goes_down(self):
        task = self.begin(self.far_url("approval"), "chief")
        asked = self.done(task, "chief", "input-required")
        self.assertTrue(client.text_of(asked["status"]["message"]))
        self.server.send("yes", task, agent="chief")
        child = self.child(self.done(task, "chief"))
        self.assertEqual(child["status"]["state"], "TASK_STATE_COMPLETED")

    def test_a_cancel_of_a_question_goes_down(self):
        before = {one["id"] for one in self.far_tasks("approval")}
        task = self.begin(self.far_url("approval"), "chief")
        self.done(task, "chief", "input-required")
        self.server.rpc("tasks/cancel", {"id": task}, agent="chief")
        harness.wait_for(lambda: [one["status"]["state"] for one in self.far_tasks("approval")
                                  if one["id"] not in before] == ["TASK_STATE_CANCELED"], what="the far task to be canceled")

    def begin_slow(self, server):
        """Begins a task whose child works at the far agent. Returns it, and the child's id there."""
        before = {one["id"] for one in self.far_tasks("slow")}
        task = client.new_id()
        server.stream(self.far_url("slow"), task, agent="chief").close()
        far, = harness.wait_for(lambda: [one["id"] for one in self.far_tasks("slow") if one["id"] not in before
                                         and "message" in one["status"]], what="the far agent's first word")
        return task, far

    def test_a_kill_while_the_child_is_under_way_ends_it_once(self):
        before = len(self.far_tasks("slow"))
        task, far = self.begin_slow(self.server)
        self.server.kill()
        self.far.gate("slow", far)
        self.server.start()
        child = self.child(self.done(task, "chief"))
        self.assertEqual(child["artifacts"][0]["parts"][0]["text"], "finished")
        self.assertEqual(len(self.far_tasks("slow")), before + 1)

    def test_a_child_whose_url_is_no_longer_allowed_fails_after_a_restart(self):
        with self.middle([self.far_url("slow")]) as middle:
            task, far = self.begin_slow(middle)
            middle.kill()
            middle.config["outbound"]["delegate_urls"] = []
            middle.start()
            ended = harness.wait_for(lambda: self.ended(middle, task), what="the task to end")
            self.assertIn("does not allow this agent's URL", json.dumps(ended))
            self.far.gate("slow", far)

    @staticmethod
    def ended(server, task):
        found = server.get(task, agent="chief")
        return found["status"]["state"] in ("completed", "failed") and found

    def test_the_agent_is_not_served(self):
        self.done(self.begin(self.far_url("echo"), "chief"), "chief")
        listed = self.server.http("GET", "/agents").body["agents"]
        self.assertEqual([agent["name"] for agent in listed], ["chief"])
        for name in ("~elsewhere", "~ask", self.far_url("echo"), self.far_url("echo").replace("/", "%2F")):
            with self.subTest(name):
                path = f"/agents/{name}"
                self.assertEqual(self.server.http("GET", path + "/.well-known/agent-card.json").status, 404)
                send = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {
                    "messageId": client.new_id(), "role": "ROLE_USER", "parts": [{"text": "hi"}]}}}
                answer = self.server.http("POST", path, json.dumps(send).encode(), {"Content-Type": "application/json", **NEW})
                self.assertNotIn("result", answer.body if isinstance(answer.body, dict) else {})

    def test_a_plan_s_step_may_be_at_a_url(self):
        with self.middle([self.far_url("echo")]) as middle:
            middle.stop()
            middle.write_card("plan", {"executor": "workflow", "plan": {"id": "far", "agent": self.far_url("echo")}})
            middle.start()
            done = middle.send("hello there", agent="plan")
            self.assertEqual([client.text_of(one) for one in done["artifacts"]][-1], "hello there")
            self.assertNotIn("no agent", middle.log_text())

    def test_more_urls_than_are_kept_in_mind_do_no_harm(self):
        with self.middle([f"http://127.0.0.1:{self.far.port}/agents/"]) as middle:
            middle.stop()
            made_up = [{"id": f"s{number}", "agent": self.far_url(f"none-{number}")} for number in range(100)]
            middle.write_card("plan", {"executor": "workflow", "plan": {"sequence": [
                {"id": "before", "agent": self.far_url("echo")},
                {"id": "many", "parallel": made_up, "join": "best_effort", "on_failure": "continue"},
                {"id": "after", "agent": self.far_url("echo")}]}})
            middle.start()
            done = middle.send("hello there", agent="plan")
            self.assertEqual(done["status"]["state"], "completed", done)
            self.assertEqual(client.text_of(done["artifacts"][-1]), "hello there")

    def test_an_entry_that_is_no_url_is_refused_at_start(self):
        for entry in ("ftp://host/", "https://host", "https://user@host/", "https://host/?a"):
            with self.subTest(entry):
                with self.assertRaisesRegex(AssertionError, "delegate_urls"):
                    middle = self.middle([entry])
                    self.addCleanup(middle.discard)
                    middle.start()


del RemoteCase  # the tests of this class run in its own file


if __name__ == "__main__":
    harness.unittest.main()
