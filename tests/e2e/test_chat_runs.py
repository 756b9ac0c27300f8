"""Runs: repeated, in parallel, one at a time, left by their clients, stopped, ended in every way."""
import json
import threading

import chat_client
import client
import generations
import harness
import new_generations
import rings
from chat_case import ChatCase, for_each
from chat_doors import AgentApi, AgentServer, AgKit, AgUi, AgUi10


class Repeats(ChatCase):
    """A named run is run once, however often it is requested."""
    NAMING = (AgUi, AgUi10, AgentApi)

    @for_each(*NAMING)
    def test_a_repeated_run_is_shown_again(self, door):
        context, name = client.new_id(), client.new_id()
        first = door.run(door.say("all which one?", context, run=name))
        again = door.run(door.say("all which one?", context, run=name))
        self.assertEqual(self.shown(first.frames), self.shown(again.frames))
        other = door.run(door.say("say something else", context, run=name))
        self.assertEqual(self.shown(first.frames), self.shown(other.frames))
        self.assertEqual([task["id"] for task in self.tasks_in(context)], [first.task])

    @for_each(*NAMING)
    def test_a_repeated_answer_is_given_once(self, door):
        context, name = client.new_id(), client.new_id()
        asked = door.run(door.say("ask which one?", context, run=client.new_id()))
        body = door.answer(asked, "this", context, run=name)
        first, again = door.run(body), door.run(body)
        self.assertEqual((first.ending, first.text), ("completed", "answered: this"))
        self.assertEqual(self.shown(first.frames), self.shown(again.frames))
        self.assertEqual(first.task, asked.task)
        self.assertEqual(len(self.a2a.get(asked.task, history=100).raw["history"]), 3)  # message, question, answer

    @for_each(*NAMING)
    def test_a_run_is_called_as_its_client_calls_it(self, door):
        name = client.new_id()
        self.assertEqual(door.run(door.say("say x", run=name)).run, name)

    @rings.everything("unit/engine/task_service_chat_test.cpp")
    @for_each(*NAMING)
    def test_the_same_name_elsewhere_is_another_run(self, door):
        name = client.new_id()
        one, two = (door.run(door.say(f"say {text}", client.new_id(), run=name)) for text in ("one", "two"))
        self.assertEqual((one.text, two.text), ("one", "two"))
        self.assertNotEqual(one.task, two.task)

    @for_each(*NAMING)
    def test_a_run_under_way_is_followed(self, door):
        context, name = client.new_id(), client.new_id()
        body = door.say("wait", context, run=name)
        first, second = door.open(body), door.open(body)
        door.until_text(first, "begun")
        door.until_text(second, "begun")
        self.server.gate("chat", context)
        one, two = door.finish(first), door.finish(second)
        self.assertEqual((one.ending, one.text), ("completed", "begun waited"))
        self.assertEqual(self.shown(one.frames), self.shown(two.frames))

    @for_each(*NAMING)
    def test_the_same_run_from_several_at_the_same_moment(self, door):
        for _ in range(5):
            body = door.say("say x", client.new_id(), run=client.new_id())
            runs = self.at_once(4, lambda: door.run(body))
            self.assertEqual([run.text for run in runs], ["x"] * 4)
            self.assertEqual(len({run.task for run in runs}), 1)
            self.assertEqual(len(self.tasks_in(body[door.session])), 1)

    def at_once(self, number, act):
        """Calls `act` in this many threads at once. Returns the results."""
        start, results = threading.Barrier(number), []

        def one():
            start.wait()
            results.append(act())
        threads = [threading.Thread(target=one) for _ in range(number)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(client.scaled(60))
        self.assertEqual(len(results), number)
        return results

    def test_a_repeated_run_after_a_crash(self):
        bodies = {}
        for door in self.clients(*self.NAMING):
            body = door.say("all which one?", client.new_id(), run=client.new_id())
            bodies[door.name] = (body, door.run(body))
        self.server.kill()
        self.server.start()
        for door in self.clients(*self.NAMING):
            with self.subTest(door.name):
                body, before = bodies[door.name]
                again = door.run(body)
                self.assertEqual(self.shown(before.frames), self.shown(again.frames))
                self.assertEqual(len(self.tasks_in(body[door.session])), 1)


class Sessions(ChatCase):
    CONFIG = {"chat": {"hang_up_grace_s": 600}}
    ONE_AT_A_TIME = (AgKit, AgentApi, AgentServer)

    @for_each(AgUi, AgUi10)
    def test_two_runs_in_a_thread(self, door):
        thread = client.new_id()
        first, one = self.begin_long(door, thread)
        second, two = self.begin_long(door, thread)
        self.assertNotEqual(one.task, two.task)
        self.server.gate("chat", two.task)
        self.assertEqual(door.finish(second).text, "begun waited")
        self.assertEqual(self.state_of(one.task), "working")
        self.server.gate("chat", one.task)
        self.assertEqual(door.finish(first).text, "begun waited")

    @for_each(*ONE_AT_A_TIME)
    def test_a_second_run_in_a_session_is_refused(self, door):
        session = client.new_id()
        stream, begun = self.begin_long(door, session)
        self.assertEqual(self.refusal(door.open, door.say("say x", session)).status, 409)
        self.assertEqual(len(self.tasks_in(session)), 1)
        self.server.gate("chat", begun.task)
        self.assertEqual(door.finish(stream).text, "begun waited")
        self.assertEqual(door.run(door.say("say x", session)).text, "x")

    @for_each(*ONE_AT_A_TIME)
    def test_a_task_of_a2a_keeps_its_session(self, door):
        session = client.new_id()
        task = self.a2a.begin_long("wait", context=session).id
        self.assertEqual(self.refusal(door.open, door.say("say x", session)).status, 409)
        self.server.gate("chat", task)
        self.wait_for_state(task, "completed")

    @for_each(*ONE_AT_A_TIME)
    def test_a_run_that_nobody_follows_makes_way(self, door):
        session = client.new_id()
        stream, left = self.begin_long(door, session)
        stream.leave()
        body = door.say("say x", session)
        opened = harness.wait_for(lambda: self.opened(door, body), what="the server to see that the client left")
        self.assertEqual(door.finish(opened).text, "x")
        self.wait_for_state(left.task, "canceled")

    @staticmethod
    def opened(door, body):
        opened = door.post(body)
        return opened if isinstance(opened, chat_client.RunStream) else None


class Leaving(ChatCase):
    CONFIG = {"chat": {"hang_up_grace_s": 0.2}}
    COPIES = {"patient": {"hang_up_grace_s": 0}}
    CANCELING = (AgUi, AgUi10, AgKit, AgentServer)
    FOLLOWED = rings.some(CANCELING)

    def leave(self, door, context=None):
        stream, run = self.begin_long(door, context or client.new_id())
        stream.leave()
        return run.task

    @for_each(*CANCELING)
    def test_hanging_up_cancels_and_says_so(self, door):
        context = client.new_id()
        task = self.leave(door, context)
        self.wait_for_state(task, "canceled")
        why = "The client disconnected and nobody followed the run for 0.2 s."
        self.assertEqual(self.a2a.get(task).raw["status"]["message"]["parts"][0]["text"], why)
        shown = door.finish(door.follow(task, context), whole=False)
        self.assertIn(why, json.dumps([frame.data for frame in shown.shown]))

    @rings.everything("unit/engine/hang_up_test.cpp")
    def test_an_agent_s_own_grace(self):
        patient = AgUi(self.server, agent="patient")
        stream, run = self.begin_long(patient, client.new_id())
        stream.leave()
        self.wait_for_state(self.leave(AgUi(self.server)), "canceled")
        a2a = new_generations.Rpc10(self.server, "patient")
        self.assertEqual(a2a.get(run.task).state, "working")
        self.server.gate("patient", run.task)
        harness.wait_for(lambda: a2a.get(run.task).state == "completed", what="the run to complete")

    def test_leaving_the_agent_api_does_not(self):
        task = self.leave(AgentApi(self.server))
        self.wait_for_state(self.leave(AgUi(self.server)), "canceled")
        self.assertEqual(self.state_of(task), "working")
        self.server.gate("chat", task)
        self.wait_for_state(task, "completed")

    @for_each(*FOLLOWED)
    def test_a_run_that_is_followed_goes_on(self, door):
        context = client.new_id()
        stream, run = self.begin_long(door, context)
        following = self.a2a.subscribe(run.task)
        following.until("working")
        stream.leave()
        self.wait_for_state(self.leave(AgUi(self.server)), "canceled")  # which left later
        self.assertEqual(self.state_of(run.task), "working")
        self.server.gate("chat", run.task)
        self.assertEqual(following.rest()[-1].state, "completed")

    @for_each(*FOLLOWED)
    def test_a_run_that_another_chat_follows_goes_on(self, door):
        context = client.new_id()
        stream, run = self.begin_long(door, context)
        other = AgentApi(self.server, user="somebody")
        followed = other.follow(run.task, context)
        other.until_text(followed, "begun")
        stream.leave()
        self.wait_for_state(self.leave(AgUi(self.server)), "canceled")
        self.assertEqual(self.state_of(run.task), "working")
        self.server.gate("chat", run.task)
        self.assertEqual(other.finish(followed).text, "begun waited")

    @rings.everything("unit/engine/hang_up_test.cpp")
    @for_each(*CANCELING)
    def test_a_task_of_a2a_goes_on_without_those_who_looked_at_it(self, door):
        context = client.new_id()
        task = self.a2a.begin_long("wait", context=context).id
        stream = door.follow(task, context)
        door.until_text(stream, "begun")
        stream.leave()
        self.wait_for_state(self.leave(AgUi(self.server)), "canceled")
        self.assertEqual(self.state_of(task), "working")
        self.server.gate("chat", task)
        self.wait_for_state(task, "completed")

    @rings.everything("unit/engine/hang_up_test.cpp")
    @for_each(*CANCELING)
    def test_a_run_begun_over_a2a_goes_on_whoever_began_the_task(self, door):
        context = client.new_id()
        asked = door.run(door.say("ask which one?", context))
        self.a2a.answer(asked.task, "wait", wait=False)
        stream = door.follow(asked.task, context, asked.frames[-1].number)
        door.until_text(stream, "begun")
        stream.leave()
        self.wait_for_state(self.leave(AgUi(self.server)), "canceled")
        self.assertEqual(self.state_of(asked.task), "working")
        self.server.gate("chat", asked.task)
        self.wait_for_state(asked.task, "completed")

    @rings.everything("unit/engine/hang_up_test.cpp")
    @for_each(*CANCELING)
    def test_a_question_waits_for_those_who_left(self, door):
        context = client.new_id()
        stream = door.open(door.say("ask which one?", context))
        door.until_text(stream, "which one?")
        stream.leave()
        task = self.tasks_in(context)[0]["id"]
        self.wait_for_state(self.leave(AgUi(self.server)), "canceled")
        self.assertEqual(self.state_of(task), "input-required")
        self.assertEqual(self.a2a.answer(task, "this").texts[-1], "answered: this")


class Restarted(ChatCase):
    CONFIG = {"chat": {"hang_up_grace_s": 0.2}}

    def test_runs_whose_clients_do_not_come_back_end_as_those_that_were_left_do(self):
        left = [self.begin_long(door, client.new_id())[1].task for door in self.clients(AgUi, AgKit, AgentServer)]
        stays = self.begin_long(AgentApi(self.server), client.new_id())[1].task
        of_a2a = self.a2a.begin_long("wait", context=client.new_id()).id
        self.server.stop()
        self.server.start()
        for task in left:
            self.wait_for_state(task, "canceled")
        for task in (stays, of_a2a):
            self.assertIn(self.state_of(task), ("submitted", "working"))

    @for_each(*rings.some((AgentApi, AgKit, AgentServer)))
    def test_a_run_that_nobody_follows_makes_way_after_a_restart_too(self, door):
        session = client.new_id()
        self.begin_long(door, session)
        self.server.stop()
        self.server.start()
        self.assertEqual(door.run(door.say("say x", session)).text, "x")


class OldReasoning(ChatCase):
    CONFIG = {"chat": {"old_reasoning": True}}

    def test_clients_that_name_no_version_are_told_in_the_old_way(self):
        for door in self.clients(AgUi, AgUi10):
            run = door.run(door.say("all which one?"))
            kinds = {frame.body["type"].partition("_")[0] for frame in run.shown} & {"REASONING", "THINKING"}
            self.assertEqual(kinds, {"REASONING" if door.newer else "THINKING"})


class Stops(ChatCase):
    def test_stop(self):
        door = AgentApi(self.server)
        session = client.new_id()
        stream, run = self.begin_long(door, session)
        self.assertEqual(door.stop(session).status, 200)
        self.assertEqual(door.finish(stream).ending, "canceled")
        self.assertEqual(self.state_of(run.task), "canceled")
        self.assertEqual(door.run(door.say("say x", session)).text, "x")

    def test_stop_of_what_does_not_run(self):
        door = AgentApi(self.server)
        session = client.new_id()
        self.assertEqual(door.stop(session).status, 200)
        asked = door.run(door.say("ask which one?", session))
        self.assertEqual(door.stop(session).status, 200)
        self.assertEqual(door.run(door.answer(asked, "this", session)).text, "answered: this")

    def test_stop_is_for_the_session_whoever_is_named(self):
        one, two = (AgentApi(self.server, user=user) for user in ("one", "two"))
        session = client.new_id()
        first, _ = self.begin_long(one, session)
        self.assertEqual(two.stop(session).status, 200)
        self.assertEqual(one.finish(first).ending, "canceled")


class Endings(ChatCase):
    @for_each()
    def test_failed(self, door):
        run = door.run(door.say("fail it broke"))
        self.assertEqual(run.ending, "failed")
        self.assertIn("it broke", json.dumps(run.error))
        self.assertEqual(self.state_of(run.task), "failed")

    @for_each()
    def test_rejected(self, door):
        run = door.run(door.say("reject not here"))
        self.assertEqual(run.ending, "rejected" if isinstance(door, AgentApi) else "failed")
        self.assertIn("not here", json.dumps(run.error))

    @for_each()
    def test_a_last_message_is_said(self, door):
        run = door.run(door.say("done all is well"))
        self.assertEqual((run.ending, run.text), ("completed", "all is well"))

    @for_each()
    def test_canceled_over_a2a(self, door):
        stream, begun = self.begin_long(door, client.new_id())
        self.a2a.cancel(begun.task)
        run = door.finish(stream)
        # AG-Kit's stream just ends.
        self.assertEqual(run.ending, "completed" if isinstance(door, AgKit) else "canceled")
        last = run.shown[-1].body
        if isinstance(door, AgUi):
            self.assertEqual(last["type"], "RUN_FINISHED" if door.newer else "RUN_ERROR")

    @for_each()
    def test_an_artifact_with_a_text_is_said(self, door):
        run = door.run(door.say("data a note"))
        self.assertEqual((run.ending, run.text.partition("\n")[0]), ("completed", "a note"))
        if isinstance(door, AgUi):
            values = [frame.body["value"] for frame in run.shown if frame.body["type"] == "CUSTOM"
                      and frame.body["name"] == "artifact"]
            self.assertEqual(len(values), 1)
            self.assertIn('"n": 1', json.dumps(values[0]))

    @for_each()
    def test_server_tools(self, door):
        run = door.run(door.say("tool get_weather"))
        self.assertEqual((run.ending, run.text), ("completed", "it is sunny"))
        self.assertEqual([(call.name, json.loads(call.arguments), call.result) for call in run.calls],
                         [("get_weather", {"place": "here"}, "sunny")])

    @for_each(AgUi, AgUi10, AgKit, AgentApi)
    def test_client_tools(self, door):
        context = client.new_id()
        run = door.run(door.say("tool point_at", context, tools=["point_at", "other"]))
        self.assertEqual((run.ending, run.text), ("tool", ""))
        self.assertEqual([(call.name, json.loads(call.arguments), call.result) for call in run.calls],
                         [("point_at", {"place": "here"}, None)])
        self.assertEqual(self.state_of(run.task), "input-required")
        after = door.run(door.give(run, "pointed", context))
        self.assertEqual((after.ending, after.task), ("completed", run.task))
        self.assertIn('"pointed"', after.text)

    @for_each(AgUi, AgUi10, AgKit, AgentApi)
    def test_results_of_no_call(self, door):
        context = client.new_id()
        run = door.run(door.say("tool point_at", context, tools=["point_at"]))
        run.calls[0].id = "another"
        if isinstance(door, AgUi):
            self.assertEqual(door.run(door.give(run, "pointed", context)).ending, "failed")
        else:
            self.assertEqual(self.refusal(door.run, door.give(run, "pointed", context)).status, 409)
        self.assertEqual(self.state_of(run.task), "input-required")

    @for_each(AgUi, AgUi10)
    def test_everything_is_shown(self, door):
        run = door.run(door.say("all which one?"))
        self.assertLessEqual({"REASONING_START", "REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT",
                              "REASONING_MESSAGE_END", "REASONING_END", "STATE_SNAPSHOT", "STATE_DELTA", "STEP_STARTED",
                              "STEP_FINISHED", "TOOL_CALL_RESULT", "CUSTOM"},
                             {frame.body["type"] for frame in run.shown})

    @for_each(AgUi, AgUi10)
    def test_parent_run_is_echoed(self, door):
        run = door.run(door.say("say x", parentRunId="before"))
        self.assertEqual(run.shown[0].body["parentRunId"], "before")

    @for_each()
    def test_tasks_of_chats_are_tasks(self, door):
        context = client.new_id()
        run = door.run(door.say("say hello there", context))
        listed = self.a2a.list(contextId=context, includeArtifacts=True)["tasks"]
        self.assertEqual([task["id"] for task in listed], [run.task])
        self.assertEqual(list(generations.texts_in(listed[0]["artifacts"])), ["hello there"])
        self.assertEqual(self.server.get(run.task)["sessionId"], context)
