"""Tools of language models (executor openai): other agents, and the tools of a chat client."""
import json

import client
import harness
from chat_case import for_each
from chat_doors import AgentApi, AgKit, AgUi, AgUi10
from model_case import ModelCase
from model_server import call, calls, chunk, plain, said, stops, streamed


class Tools(ModelCase):
    """Other agents and the client's tools as functions."""
    AGENTS = ["echo", "approval", "slow"]
    MODELS = {"plain": {"model": {"tools": ["echo", "approval", "slow", "nobody"], "tool_rounds": 2}}}

    def results(self, nth=-1):
        return [one["content"] for one in self.model.messages(nth) if one["role"] == "tool"]

    def test_an_agent_s_answer_goes_back_to_the_model(self):
        self.model.script(streamed(*calls(call("echo", {"message": "ping"}, index=0, id="c1"))), said("it said ping"))
        self.assertEqual(self.reply(self.run_task()), "it said ping")
        asked = self.model.messages()
        self.assertEqual([one["role"] for one in asked], ["user", "assistant", "tool"])
        self.assertEqual(asked[1]["tool_calls"][0]["id"], asked[2]["tool_call_id"])
        self.assertEqual(self.results(), ["ping"])
        names = [tool["function"]["name"] for tool in self.model.requests[0]["tools"]]
        self.assertEqual(names, ["echo", "approval", "slow", "nobody"])

    def test_calls_without_an_index(self):
        self.model.script(streamed(*calls(call("echo", {"message": "one"}), call("echo", {"message": "two"}))), said("ok"))
        self.run_task()
        self.assertEqual(self.results(), ["one", "two"])

    def test_a_call_in_pieces(self):
        pieces = [call("echo", '{"mess', index=0, id="c1"), {"index": 0, "function": {"arguments": 'age":"long"}'}}]
        self.model.script(streamed(*calls(*pieces)), said("ok"))
        self.run_task()
        self.assertEqual(self.results(), ["long"])

    def test_a_whole_answer_with_calls_at_once(self):
        self.model.script(plain({"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [
            call("echo", {"message": "one"}, id="a")]}, "finish_reason": "tool_calls"}]}), said("ok"))
        self.run_task()
        self.assertEqual(self.results(), ["one"])

    def test_arguments_that_are_not_json_are_the_model_s_to_mend(self):
        self.model.script(streamed(*calls(call("echo", '{"message": '))), said("sorry"))
        self.assertEqual(self.reply(self.run_task()), "sorry")
        self.assertIn("error: the arguments are not JSON", self.results()[0])

    def test_a_tool_or_an_agent_that_does_not_exist_is_an_error_for_the_model(self):
        self.model.script(streamed(*calls(call("dance", {}), call("nobody", {"message": "hi"}))), said("sorry"))
        self.assertEqual(self.reply(self.run_task()), "sorry")
        self.assertEqual(len(self.results()), 2)
        self.assertTrue(all(text.startswith("error: ") for text in self.results()), self.results())

    def answer(self, asked, text, state="completed"):
        """Answers the question. Returns the task, once it is in that state."""
        self.server.rpc("tasks/send", {"id": asked["id"], "message": client.text_message(text)}, agent="plain")
        return self.wait_state(asked["id"], state, "failed", agent="plain")

    def test_a_question_of_an_agent_is_the_caller_s_to_answer(self):
        self.model.script(streamed(*calls(call("approval", {"message": "buy a boat"}))), said("bought"))
        asked = self.run_task(state="input-required")
        self.assertIn("buy a boat", client.text_of(asked["status"]["message"]))
        self.assertEqual(self.reply(self.answer(asked, "yes")), "bought")
        self.assertEqual(len(self.results()), 1)
        self.assertNotIn("error", self.results()[0])

    def test_a_model_that_does_not_stop_calling_fails_the_task(self):
        self.model.script(streamed(*calls(call("echo", {"message": "again"}))))
        self.assertIn("more than 2", self.reason(self.run_task(state="failed")))
        self.assertEqual(len(self.model.requests), 3)

    def calling(self):
        """Returns an answer that says something and then calls an agent; it is given once."""
        return streamed(chunk({"content": "Let me see. "}), *calls(call("echo", {"message": "ping"})))

    def test_what_was_called_is_not_called_again_when_the_next_answer_breaks_off(self):
        self.model.script(self.calling(), stops(chunk({"content": "wrong"})), said("right"))
        before = len(self.echoes())
        self.assertEqual(self.reply(self.run_task()), "Let me see. right")
        self.assertEqual(len(self.echoes()), before + 1)
        self.assertEqual((len(self.model.requests), self.results()), (3, ["ping"]))

    def test_what_was_called_is_not_called_again_after_a_restart(self):
        quiet, _ = self.model.silent_after(chunk({"content": "wrong"}))
        self.model.script(self.calling(), quiet, said("right"))
        before = len(self.echoes())
        task = client.new_id()
        self.server.stream("hi", task, agent="plain").close()
        harness.wait_for(lambda: "wrong" in self.reply(self.server.get(task, agent="plain")), what="the second answer")
        self.server.kill()
        self.server.start()
        self.assertEqual(self.reply(self.stopped(task)), "Let me see. right")
        self.assertEqual(len(self.echoes()), before + 1)
        self.assertEqual((len(self.model.requests), self.results()), (3, ["ping"]))

    def test_a_question_is_not_asked_again_when_the_next_answer_breaks_off(self):
        self.model.script(streamed(*calls(call("approval", {"message": "buy a boat"}))),
                          stops(chunk({"content": "wrong"})), said("bought"))
        before = len(self.tasks_of("approval"))
        asked = self.run_task(state="input-required")
        self.assertEqual(self.reply(self.answer(asked, "yes")), "bought")
        self.assertEqual(len(self.tasks_of("approval")), before + 1)
        self.assertEqual(len(self.model.requests), 3)
        self.assertEqual(self.results()[-1], self.results(1)[-1])

    def test_agents_called_at_once_work_at_the_same_time(self):
        self.model.script(streamed(*calls(call("slow", {"message": "a"}), call("slow", {"message": "b"}))), said("both"))
        task = client.new_id()
        self.server.stream("go", task, agent="plain").close()
        for child in self.wait_slow(2):
            self.server.gate("slow", child["id"])
        self.assertEqual(self.reply(self.stopped(task)), "both")
        self.assertEqual(self.results(), ["finished", "finished"])

    def test_a_cancel_goes_down_to_the_agent_that_was_called(self):
        self.model.script(streamed(*calls(call("slow", {"message": "a"}))), said("late"))
        task = client.new_id()
        self.server.stream("go", task, agent="plain").close()
        child, = self.wait_slow(1)
        self.server.rpc("tasks/cancel", {"id": task}, agent="plain")
        self.stopped(task, state="canceled")
        self.wait_state(child["id"], "canceled", agent="slow")
        self.assertEqual(len(self.model.requests), 1)

    def test_two_agents_that_ask_each_get_the_answer_to_their_own_question(self):
        self.model.script(streamed(*calls(call("approval", {"message": "buy a boat"}, id="a"),
                                          call("approval", {"message": "buy a car"}, id="b", index=1))), said("done"))
        asked = self.run_task(state="input-required")
        for _ in range(2):
            question = client.text_of(asked["status"]["message"])
            harness.wait_for(lambda: self.shown(asked["id"]) == question, what="the question")
            text = "yes" if "boat" in question else "no"
            self.server.rpc("tasks/send", {"id": asked["id"], "message": client.text_message(text)}, agent="plain")
            harness.wait_for(lambda: self.shown(asked["id"]) != question, what="what comes next")
            harness.wait_for(lambda: self.shown(asked["id"]) is not None, what="the next question, or the end")
            asked = self.server.get(asked["id"], agent="plain")
        self.wait_state(asked["id"], "completed", agent="plain")
        boat, car = self.results()
        self.assertIn("boat", boat)
        self.assertIn("not", car.lower())

    def shown(self, task):
        """Returns the question, an empty text at the end, or None while the task works."""
        status = self.server.get(task, agent="plain")["status"]
        if status["state"] == "input-required":
            return client.text_of(status["message"])
        return "" if status["state"] == "completed" else None

    def tasks_of(self, agent):
        return self.server.call("ListTasks", {}, agent=agent, headers={"A2A-Version": "1.0"})["tasks"]

    def echoes(self):
        return self.tasks_of("echo")

    def wait_slow(self, count):
        """Waits until `count` children of "slow" work. Returns them."""
        def working():
            return [one for one in self.tasks_of("slow") if one["status"]["state"] == "TASK_STATE_WORKING"]
        return harness.wait_for(lambda: len(working()) >= count and working(), what=f"{count} tasks of slow")


class ClientTools(ModelCase):
    """Tools of a chat client: the call ends the turn, and the next one begins with its result."""
    MODELS = {"plain": {"model": {"tools": ["echo"]}}}

    def asked(self):
        return [(one["role"], one["content"]) for one in self.model.messages()]

    @for_each(AgUi, AgUi10, AgKit, AgentApi, agent="plain")
    def test_a_client_s_tool_comes_back_with_its_result(self, door):
        context = client.new_id()
        self.model.script(streamed(chunk({"content": "Look. "}), *calls(call("point_at", {"x": 1}, id="c1"))),
                          said("you see it"))
        run = door.run(door.say("where?", context, tools=["point_at"]))
        self.assertEqual((run.ending, run.text), ("tool", "Look. "))
        self.assertEqual([(one.name, json.loads(one.arguments)) for one in run.calls], [("point_at", {"x": 1})])
        self.assertEqual(self.model.requests[0]["tools"][-1]["function"]["name"], "point_at")
        after = door.run(door.give(run, "pointed", context, tools=["point_at"]))
        self.assertEqual((after.ending, after.text, after.task), ("completed", "you see it", run.task))
        told = self.model.messages()
        self.assertEqual(told[-1], {"role": "tool", "content": "pointed", "tool_call_id": run.calls[0].id})
        made = told[-2]["tool_calls"]
        self.assertEqual([(one["id"], one["function"]["name"], json.loads(one["function"]["arguments"]))
                          for one in made], [(run.calls[0].id, "point_at", {"x": 1})])

    @for_each(AgUi, AgKit, agent="plain")
    def test_what_a_server_said_with_a_call_comes_back_with_the_result(self, door):
        """AG-UI's clients send the history, in which it is missing; AG-Kit's do not."""
        context, signed = client.new_id(), {"google": {"thought_signature": "c2ln"}}
        made = [call("point_at", {}, id="c1", extra_content=signed)]
        self.model.script(streamed(chunk({"role": "assistant", "reasoning_content": "hm", "tool_calls": made}),
                                   chunk(finish="tool_calls")), said("you see it"))
        run = door.run(door.say("where?", context, tools=["point_at"]))
        self.assertEqual(door.run(door.give(run, "pointed", context, tools=["point_at"])).text, "you see it")
        told = self.model.messages()[-2]
        self.assertEqual((told["reasoning_content"], told["tool_calls"][0]["extra_content"]), ("hm", signed))

    @for_each(AgUi, AgKit, agent="plain")
    def test_an_id_that_a_server_uses_again_is_a_new_one(self, door):
        context = client.new_id()
        self.model.script(streamed(*calls(call("point_at", {}, id="c1"))))
        first = door.run(door.say("where?", context, tools=["point_at"]))
        second = door.run(door.give(first, "pointed", context, tools=["point_at"]))
        self.assertEqual((first.ending, second.ending), ("tool", "tool"))
        self.assertNotEqual(first.calls[0].id, second.calls[-1].id)

    @for_each(AgUi, agent="plain")
    def test_arguments_of_a_client_s_tool_that_are_not_json_are_the_model_s_to_mend(self, door):
        self.model.script(streamed(*calls(call("point_at", "{x"))), said("sorry"))
        run = door.run(door.say("where?", tools=["point_at"]))
        self.assertEqual((run.ending, run.text), ("completed", "sorry"))
        self.assertIn("not JSON", self.asked()[-1][1])

    @for_each(AgUi, agent="plain")
    def test_a_client_s_tool_after_an_agent_s_answer(self, door):
        context = client.new_id()
        self.model.script(streamed(*calls(call("echo", {"message": "ping"}))),
                          streamed(*calls(call("point_at", {}))), said("done"))
        run = door.run(door.say("where?", context, tools=["point_at"]))
        self.assertEqual(run.ending, "tool")
        self.assertEqual(door.run(door.give(run, "pointed", context)).text, "done")


if __name__ == "__main__":
    harness.unittest.main()
