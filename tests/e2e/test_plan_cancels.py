"""Canceled plans: what they have done is undone before they end, once, whatever happens meanwhile."""
import threading

import client
import harness
from plan_case import PlanCase, hand

def booked(*names):
    return [hand(f"say book {name}", compensate=hand(f"say cancel {name}")) for name in names]


class Cancels(PlanCase):
    PLANS = {
        "holds": {"sequence": [*booked("a1", "a2"), hand("hold never-a x", compensate=hand("say cancel a3"))]},
        "asks": {"sequence": [*booked("b1"), {"ask": "Go on?"}, hand("say b2")]},
        "waits": {"sequence": [*booked("c1", "c2"), {"wait": {"seconds": 3600}}]},
        "broken": {"sequence": [hand("say book d1", compensate=hand("fail stuck")), hand("hold never-d x")]},
        "inner": {"sequence": [*booked("e1"), hand("hold never-e x")]},
        "outer": {"sequence": [*booked("e0"), {"agent": "inner"}]},
        "slow-undo": {"sequence": [hand("say book f1", compensate=hand("say cancel f1")),
                                   hand("say book f2", compensate=hand("hold undo-f x")), hand("hold never-f x")]},
        "asks-undo": {"sequence": [hand("say book g1", compensate=hand("say cancel g1")),
                                   hand("say book g2", compensate={"ask": "Give it back?"}), hand("hold never-g x")]},
        "quick": {"sequence": [*booked("i1"), hand("hold never-i x")]},
        "twice": {"sequence": [hand("say book h1", compensate=hand("hold undo-h x")), hand("hold never-h x")]},
    }

    def undone(self, *names):
        return [text for _, text in self.calls() if any(text == "say cancel " + name for name in names)]

    def cancel_when(self, agent, call):
        """Begins a task of this plan and cancels it as soon as this call of the hand has begun. Returns the task
        and the caller's answer."""
        count = len(self.calls_of(call))
        task = self.begin(agent)
        self.wait_calls(call, count + 1)
        return task, self.server.call("tasks/cancel", {"id": task}, agent=agent)

    def test_what_is_done_is_undone_in_reverse_before_the_cancel_is_answered(self):
        _, answer = self.cancel_when("holds", "hold never-a x")
        self.assertEqual(answer["status"]["state"], "canceled", answer)
        self.assertEqual(self.undone("a1", "a2", "a3"), ["say cancel a2", "say cancel a1"])

    def test_a_step_that_was_done_although_canceled_is_undone(self):
        for _ in range(20):
            undone = len(self.calls_of("say cancel i1"))
            task = self.begin("quick")
            self.server.rpc("tasks/cancel", {"id": task}, agent="quick")
            self.ended(task, "quick", "canceled")
            self.assertEqual(len(self.calls_of("say cancel i1")) - undone, self.bookings_done(task))

    def bookings_done(self, task):
        """Counts the bookings. A call whose task was canceled before its end was stored does not count: only done steps
        are undone."""
        children = self.tree("quick", task)["root"].get("children", [])
        return sum(child["state"] == "completed" and child["label"] == "agent-2" for child in children)

    def test_a_plan_that_asks_undoes_and_takes_its_question_back(self):
        task = self.begin("asks")
        self.wait_state(task, "input-required", agent="asks")
        answer = self.server.call("tasks/cancel", {"id": task}, agent="asks")
        self.assertEqual(answer["status"]["state"], "canceled", answer)
        self.assertEqual(self.undone("b1"), ["say cancel b1"])
        self.assertEqual(self.calls_of("say b2"), [])

    def test_a_plan_that_waits_for_a_time_undoes_at_once(self):
        task = self.begin("waits")
        self.wait_calls("say book c2")
        answer = self.server.call("tasks/cancel", {"id": task}, agent="waits")
        self.assertEqual(answer["status"]["state"], "canceled", answer)
        self.assertIn(self.undone("c1", "c2"), (["say cancel c2", "say cancel c1"], ["say cancel c1"]))

    def test_what_cannot_be_undone_is_said(self):
        _, answer = self.cancel_when("broken", "hold never-d x")
        self.assertEqual(client.text_of(answer["status"]["message"]),
                         "step agent-2 could not be undone: step agent-2/agent-3 (agent hand) failed: stuck")

    def test_a_plan_inside_a_plan_undoes_as_well(self):
        task, answer = self.cancel_when("outer", "hold never-e x")
        self.assertEqual(answer["status"]["state"], "canceled", answer)
        harness.wait_for(lambda: len(self.undone("e0", "e1")) == 2, what="both to be undone")
        self.ended(task, "outer", "canceled")

    def test_undoing_goes_on_after_kills_and_does_nothing_twice(self):
        task = self.begin("slow-undo")
        self.wait_calls("hold never-f x")
        threading.Thread(target=self.cancel_quietly, args=("slow-undo", task), daemon=True).start()
        for kill in range(1, 4):
            self.wait_calls("hold undo-f x", kill)
            self.server.kill()
            self.server.start()
        self.wait_calls("hold undo-f x", 4)
        self.server.gate("hand", "undo-f")
        self.ended(task, "slow-undo", "canceled")
        self.assertEqual(self.undone("f1"), ["say cancel f1"])

    def cancel_quietly(self, agent, task):
        try:
            self.server.call("tasks/cancel", {"id": task}, agent=agent)
        except OSError:
            pass  # the program was killed meanwhile

    def test_nobody_is_asked_after_a_cancel(self):
        _, answer = self.cancel_when("asks-undo", "hold never-g x")
        self.assertEqual(answer["status"]["state"], "canceled", answer)
        self.assertIn("could not be undone", client.text_of(answer["status"]["message"]))
        self.assertEqual(self.undone("g1"), ["say cancel g1"])

    def test_a_second_cancel_waits_for_the_first(self):
        task = self.begin("twice")
        self.wait_calls("hold never-h x")
        answers = []
        both = [threading.Thread(target=lambda: answers.append(self.server.call("tasks/cancel", {"id": task}, agent="twice")))
                for _ in range(2)]
        both[0].start()
        self.wait_calls("hold undo-h x")
        # Streams that were left would be counted until the program has seen their ends.
        harness.wait_for(lambda: self.server.metric("baton_http_streams") == 0, what="the streams to end")
        followers = self.server.metric("baton_log_subscriptions")
        both[1].start()
        harness.wait_for(lambda: self.server.metric("baton_log_subscriptions") > followers,
                         what="the second cancel to wait")
        self.server.gate("hand", "undo-h")
        for one in both:
            one.join(client.scaled())
        self.assertEqual([answer["status"]["state"] for answer in answers], ["canceled", "canceled"])
        self.assertEqual(len(self.calls_of("hold undo-h x")), 1)


if __name__ == "__main__":
    harness.unittest.main()
