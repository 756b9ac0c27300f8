"""Agents that are AG-UI endpoints elsewhere (executor ag-ui): a Baton in front whose agent is another Baton's AG-UI endpoint."""
import json

import chat_case
import client
import harness
import new_generations
from chat_case import for_each
from chat_doors import AgUi, AgUi10
from test_remote_agents import Front, free_port

SHARED = {"n": 7}


class AguiCase(chat_case.ChatCase):
    """`server` is in front; `far` has the agent "chat"."""
    CARD = {}
    FAR = {"engine": {"drain_grace_s": 0.2}, "chat": {"hang_up_grace_s": 0.2}}

    @classmethod
    def setUpClass(cls):
        cls.far = harness.Server(["chat"], cls.FAR).start()
        cls.addClassCleanup(cls.far.discard)
        origin = f"http://127.0.0.1:{cls.far.port}"
        cls.server = Front({"chat": {"executor": "ag-ui", "url": f"{origin}/agents/chat/ag-ui", **cls.CARD}}, [origin])
        cls.server.start()
        cls.a2a = new_generations.Rpc10(cls.server, "chat")
        cls.far_a2a = new_generations.Rpc10(cls.far, "chat")

    def far_states(self):
        tasks = self.far.call("ListTasks", {}, agent="chat", headers={"A2A-Version": "1.0"})["tasks"]
        return [one["status"]["state"].removeprefix("TASK_STATE_") for one in tasks]

    def begin(self, text):
        task = client.new_id()
        self.server.stream(text, task, agent="chat").close()
        return task

    def working_far(self, before=0):
        return harness.wait_for(lambda: self.far_states().count("WORKING") > before, what="the far task to work")


class Passing(AguiCase):
    def test_a_reply_comes_back_to_a2a_clients(self):
        done = self.server.send("say hello there", client.new_id(), agent="chat")
        self.assertEqual(done["status"]["state"], "completed")
        self.assertEqual([client.text_of(one) for one in done["artifacts"]], ["hello there"])

    @for_each(AgUi, AgUi10, agent="chat")
    def test_some_of_everything_comes_through(self, door):
        context = client.new_id()
        run = door.run(door.say("all and now?", context))
        self.assertEqual(run.ending, "asked")
        frames = [frame.body for frame in run.frames]
        kinds = [frame["type"] for frame in frames]
        for kind in ("STATE_SNAPSHOT", "STATE_DELTA", "STEP_STARTED", "STEP_FINISHED", "ACTIVITY_SNAPSHOT"):
            self.assertEqual(kinds.count(kind), 1, kind)
        self.assertIn("first words", "".join(run.texts))
        self.assertIn("last words", "".join(run.texts))
        self.assertEqual([(one.name, json.loads(one.arguments), json.loads(one.result)) for one in run.calls],
                         [("look_up", {"what": "线"}, {"found": True})])
        custom = {frame["name"]: frame["value"] for frame in frames if frame["type"] == "CUSTOM"}
        self.assertEqual(custom["mine"], [1, None])
        self.assertEqual((custom["status"]["message"], custom["status"]["progress"]), ("nearly there", 0.9))
        self.assertEqual([(one["inputTokens"], one["outputTokens"]) for one in frames[-1]["usage"]], [(3, 5)])
        after = door.run(door.answer(run, "now", context))
        self.assertEqual((after.ending, after.text), ("completed", "answered: now"))

    def test_the_conversation_its_state_tools_and_properties_are_told(self):
        door, context = AgUi10(self.server, agent="chat"), client.new_id()
        door.run(door.say("say one", context))
        body = door.say("told", context, tools=["point_at"], state=SHARED,
                        forwardedProps={"mode": "x"})
        body["context"] = [{"description": "place", "value": "here"}]
        told = json.loads(door.run(body).text)
        self.assertEqual(told["message"]["content"], "told")
        self.assertEqual([tool["name"] for tool in told["tools"]], ["point_at"])
        self.assertEqual(told["state"], SHARED)
        self.assertEqual(told["metadata"]["agui"], {"context": body["context"], "forwardedProps": {"mode": "x"}})
        self.assertNotEqual(told["context"], context, "the thread has a name of its own there")

    def test_earlier_messages_of_an_a2a_context_are_told(self):
        context = client.new_id()
        for text in ("say one", "told"):
            reply = self.a2a.send(text, contextId=context)
        task = self.server.call("GetTask", {"id": reply.id}, agent="chat", headers={"A2A-Version": "1.0"})
        told = json.loads(task["artifacts"][0]["parts"][0]["text"])
        self.assertEqual([text for _, text in told["history"]], ["say one", "one"])

    @for_each(AgUi, AgUi10, agent="chat")
    def test_a_client_s_tool_comes_back_with_its_result(self, door):
        context = client.new_id()
        run = door.run(door.say("tool point_at", context, tools=["point_at"]))
        self.assertEqual([(one.name, json.loads(one.arguments)) for one in run.calls], [("point_at", {"place": "here"})])
        self.assertEqual(run.ending, "tool")
        after = door.run(door.give(run, "pointed", context, tools=["point_at"]))
        self.assertEqual((after.ending, after.task), ("completed", run.task))
        self.assertIn("pointed", after.text)

    def test_a_tool_that_is_not_the_client_s_is_run_there(self):
        door = AgUi10(self.server, agent="chat")
        run = door.run(door.say("tool look", client.new_id()))
        self.assertEqual((run.ending, run.text, run.calls[0].result), ("completed", "it is sunny", "sunny"))

    def test_a_question_and_its_answer_are_one_task_there(self):
        before = len(self.far_states())
        task = client.new_id()
        asked = self.server.send("ask how many", task, agent="chat")
        self.assertEqual(asked["status"]["state"], "input-required")
        self.assertIn("how many", client.text_of(asked["status"]["message"]))
        done = self.server.send("seven", task, agent="chat")
        self.assertEqual(done["status"]["state"], "completed")
        self.assertIn("answered: seven", json.dumps(done))
        self.assertEqual(len(self.far_states()), before + 1)

    def test_a_form_keeps_its_schema_and_its_answer(self):
        door, context = AgUi10(self.server, agent="chat"), client.new_id()
        run = door.run(door.say("form sure?", context))
        asked = run.frames[-1].body["outcome"]["interrupts"][0]
        self.assertEqual(asked["responseSchema"]["required"], ["approved"])
        after = door.run(door.answer(run, {"approved": True}, context))
        self.assertEqual((after.ending, after.text), ("completed", 'answered: {"approved": true}'))

    def test_a_failure_comes_back_with_its_reason(self):
        ended = self.server.send("fail too late", client.new_id(), agent="chat")
        self.assertEqual(ended["status"]["state"], "failed")
        self.assertEqual(client.text_of(ended["status"]["message"]), "too late")

    def test_a_cancel_hangs_up_and_ends_the_run_there(self):
        task = self.begin("wait")
        self.working_far()
        self.server.rpc("tasks/cancel", {"id": task}, agent="chat")
        self.wait_state(task, "canceled", agent="chat")
        harness.wait_for(lambda: "WORKING" not in self.far_states(), what="the far task to be canceled")
        self.assertIn("CANCELED", self.far_states())


class Lost(AguiCase):
    """Each side is killed during a run: the same run continues, and everything is shown once."""
    FAR = {"engine": {"drain_grace_s": 0.2}, "chat": {"hang_up_grace_s": 600}}

    def test_a_run_goes_on_after_either_side_was_killed(self):
        for side in ("far", "front"):
            with self.subTest(side=side):
                before = len(self.far_states())
                task = self.begin("wait")
                harness.wait_for(lambda: "begun" in json.dumps(self.server.get(task, agent="chat")), what="the first words")
                killed = self.server if side == "front" else self.far
                killed.kill()
                killed.start()
                harness.wait_for(lambda: "WORKING" in self.far_states(), what="the far task to work again")
                self.far.gate("chat", "all")
                done = self.wait_state(task, "completed", "failed", agent="chat")
                self.assertEqual(done["status"]["state"], "completed", done)
                # A run that begins again there shows both beginnings: AG-UI cannot withdraw shown text.
                replies = [client.text_of(reply) for reply in done["artifacts"]]
                self.assertEqual(replies, ["begun ", "begun waited"] if side == "far" else ["begun waited"])
                self.assertEqual(len(self.far_states()), before + 1, "nothing was sent twice")
                (self.far.agents_folder / "chat" / "gate-all").unlink()


class Circle(harness.unittest.TestCase):
    def test_a_request_that_comes_back_to_its_agent_fails_with_a_clear_error(self):
        front = Front({}, [])
        self.addCleanup(front.discard)
        front.port = free_port()
        origin = f"http://127.0.0.1:{front.port}"
        front.config = {"outbound": {"origins": [origin]}}
        front.write_card("ring", {"executor": "ag-ui", "url": f"{origin}/agents/ring/ag-ui"})
        front.start()
        ended = front.send("round and round", client.new_id(), agent="ring")
        self.assertEqual(ended["status"]["state"], "failed")
        self.assertIn("the request loops", client.text_of(ended["status"]["message"]))


if __name__ == "__main__":
    harness.unittest.main()
