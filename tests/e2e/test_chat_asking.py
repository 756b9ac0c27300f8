"""Questions: interrupts and their rules, approvals, answers in words, and questions by a client's tool."""
import json

import client
import databases
import rings
from chat_case import ChatCase, for_each
from chat_doors import AgentApi, AgentServer, AgKit, AgUi, AgUi10

APPROVED = {"type": "object", "properties": {"approved": {"type": "boolean"}}, "required": ["approved"]}


class Interrupts(ChatCase):
    def ask(self, door, context, text="ask which one?"):
        run = door.run(door.say(text, context))
        self.assertEqual(run.ending, "asked")
        return run

    def interrupt(self, run):
        interrupts = run.shown[-1].body["outcome"]["interrupts"]
        self.assertEqual(len(interrupts), 1)
        return interrupts[0]

    def resume(self, door, context, *entries, **how):
        return door.run(door.body([], context, resume=list(entries), **how))

    def entry(self, run, payload=None, **more):
        return {"interruptId": run.ask, "status": "resolved", **({} if payload is None else {"payload": payload}),
                **more}

    def assert_refused(self, door, run, *waiting):
        """Asserts that the run is refused inside the stream, and that the tasks still wait."""
        self.assertEqual([frame.body["type"] for frame in run.shown][-1], "RUN_ERROR")
        self.assertEqual(run.ending, "failed")
        self.assertTrue(run.error["message"])
        self.assertTrue(run.error["code"])
        for one in waiting:
            self.assertEqual(self.state_of(one.task), "input-required")

    @for_each(AgUi, AgUi10)
    def test_the_interrupt(self, door):
        run = self.ask(door, client.new_id())
        interrupt = self.interrupt(run)
        self.assertIn(interrupt["reason"], ("input_required", "confirmation"))
        self.assertEqual(interrupt["message"], "which one?")
        self.assertNotIn("responseSchema", interrupt)
        self.assertEqual(run.texts, ["let me see. ", "which one?"])

    @for_each(AgUi, AgUi10)
    def test_the_interrupt_with_a_schema(self, door):
        interrupt = self.interrupt(self.ask(door, client.new_id(), "form sure?"))
        self.assertEqual(interrupt["responseSchema"], APPROVED)

    @for_each(AgUi, AgUi10)
    def test_answers(self, door):
        for text, payload, answer in (("ask which one?", "this", "this"),
                                      ("ask which one?", {"n": [1, None]}, '{"n": [1, null]}'),
                                      ("form sure?", {"approved": False}, '{"approved": false}')):
            context = client.new_id()
            run = self.ask(door, context, text)
            after = self.resume(door, context, self.entry(run, payload))
            self.assertEqual((after.ending, after.text), ("completed", f"answered: {answer}"))
            self.assertEqual(after.task, run.task)

    @for_each(AgUi, AgUi10)
    def test_nobody_answered(self, door):
        context = client.new_id()
        run = self.ask(door, context, "form sure?")
        after = self.resume(door, context, {"interruptId": run.ask, "status": "cancelled"})
        self.assertEqual(after.text, 'answered: {"cancelled": true}')

    @for_each(AgUi, AgUi10)
    def test_unknown_interrupt(self, door):
        context = client.new_id()
        run = self.ask(door, context)
        unknown = {"interruptId": "unknown", "status": "resolved", "payload": "x"}
        self.assert_refused(door, self.resume(door, context, unknown), run)
        self.assert_refused(door, self.resume(door, context, self.entry(run, "this"), unknown), run)
        self.assert_refused(door, self.resume(door, client.new_id(), self.entry(run, "this")), run)
        # A message beside it does not begin a new run that drops the answer.
        self.assert_refused(door, door.run(door.say("hello", context, resume=[unknown])), run)
        self.assert_refused(door, door.run(door.say("hello", client.new_id(), resume=[unknown])))
        self.assertEqual(len(self.tasks_in(context)), 1)

    @for_each(AgUi, AgUi10)
    def test_every_open_interrupt_needs_its_answer(self, door):
        context = client.new_id()
        streams = [door.open(door.say("slowask which one?", context)) for _ in range(2)]
        for stream in streams:
            door.until_text(stream, "let me see. ")
        self.server.gate("chat", context)
        one, two = (door.finish(stream) for stream in streams)
        self.assert_refused(door, self.resume(door, context, self.entry(one, "this")), one, two)
        after = self.resume(door, context, self.entry(one, "this"), self.entry(two, "that"))
        self.assertEqual((after.ending, after.text, after.task), ("completed", "answered: that", two.task))
        self.wait_for_state(one.task, "completed")

    @for_each(AgUi, AgUi10)
    def test_an_answer_that_was_given_comes_again_with_the_next(self, door):
        context = client.new_id()
        stream = door.open(door.say("slowask which one?", context))
        door.until_text(stream, "let me see. ")
        one = self.ask(door, context)
        self.resume(door, context, self.entry(one, "this"))
        self.server.gate("chat", context)
        two = door.finish(stream)
        another = self.resume(door, context, self.entry(one, "another"), self.entry(two, "that"))
        self.assert_refused(door, another, two)
        both = [self.entry(one, "this"), self.entry(two, "that")]
        for _ in range(2):
            after = self.resume(door, context, *both)
            self.assertEqual((after.ending, after.text, after.task), ("completed", "answered: that", two.task))

    @rings.everything("unit/server/chat/conversation_test.cpp and unit/json/schema_test.cpp")
    @for_each(AgUi, AgUi10)
    def test_payload_that_breaks_the_schema(self, door):
        context = client.new_id()
        run = self.ask(door, context, "form sure?")
        for payload in ({"approved": "yes"}, {}, "yes", None, [True]):
            refused = self.resume(door, context, self.entry(run, payload))
            self.assert_refused(door, refused, run)
        self.assertEqual(self.resume(door, context, self.entry(run, {"approved": True})).ending, "completed")

    @for_each(AgUi, AgUi10)
    def test_a_run_without_an_answer(self, door):
        context = client.new_id()
        run = self.ask(door, context)
        self.assert_refused(door, door.run(door.say("this", context)), run)
        self.assertEqual(len(self.tasks_in(context)), 1)

    @for_each(AgUi, AgUi10)
    def test_the_same_answer_again(self, door):
        context = client.new_id()
        run = self.ask(door, context)
        after = self.resume(door, context, self.entry(run, "this"))
        self.assertEqual(after.ending, "completed")
        again = self.resume(door, context, self.entry(run, "this"))
        self.assertEqual((again.ending, again.text, again.task), ("completed", after.text, run.task))
        self.assertEqual(len(self.a2a.get(run.task, history=100).raw["history"]), 3)
        self.assert_refused(door, self.resume(door, context, self.entry(run, "another")))

    @for_each(AgUi, AgUi10)
    def test_an_answer_under_the_name_of_the_run_that_asked(self, door):
        """CopilotKit's useInterrupt keeps the runId."""
        context, name = client.new_id(), client.new_id()
        run = door.run(door.say("ask which one?", context, run=name))
        first = self.resume(door, context, self.entry(run, "this"), run=name)
        self.assertEqual((first.run, first.text), (name, "answered: this"))
        self.assertEqual(first.task, run.task)
        asked = door.run(door.say("ask which one?", context, run=client.new_id()))
        second = self.resume(door, context, self.entry(asked, "that"), run=name)
        self.assertEqual((second.text, second.task), ("answered: that", asked.task))
        self.assertEqual(len(self.tasks_in(context)), 2)

    @for_each(AgUi, AgUi10)
    def test_a_message_with_an_old_answer_is_repeated(self, door):
        """AG-UI 1.0 repeats an answer that led to an error with the next message."""
        context = client.new_id()
        asked = self.ask(door, context)
        given = self.entry(asked, "this")
        self.resume(door, context, given)
        for old in (given, {"interruptId": asked.ask, "status": "cancelled"}):
            body = door.say("say more", context, resume=[old])
            first, again = door.run(body), door.run(body)
            self.assertEqual((first.text, again.text, again.task), ("more", "more", first.task))
        self.assertEqual(len(self.tasks_in(context)), 3)

    @for_each(AgUi, AgUi10)
    def test_two_questions_under_one_name_and_one_id(self, door):
        context, name = client.new_id(), client.new_id()
        asks = json.dumps([{"type": "ask", "id": "q", "message": "sure?"}])
        runs = [door.run(door.say(f"lines {asks}", context, run=name))]
        after = self.resume(door, context, self.entry(runs[0], "yes"), run=name)
        self.assertEqual(after.text, "answered: yes")
        again = door.run(door.say(f"lines {asks}", context))
        self.assertNotEqual(again.ask, runs[0].ask)
        self.assertEqual(self.resume(door, context, self.entry(again, "yes"), run=name).task, again.task)

    @for_each(AgUi, AgUi10)
    def test_too_many_answers(self, door):
        entries = [{"interruptId": str(n), "status": "resolved"} for n in range(101)]
        refusal = self.refusal(self.resume, door, client.new_id(), *entries)
        self.assertEqual(refusal.status, 413)
        self.assertIn("100 answers", refusal.body["error"])

    @for_each(AgKit)
    def test_ag_kit(self, door):
        context = client.new_id()
        run = self.ask(door, context, "form sure?")
        event = next(frame.body for frame in run.shown if frame.body and frame.body["type"] == "interrupt")
        self.assertEqual(event["payload"]["prompt"], "sure?")
        self.assertTrue(event["reason"])
        self.assertEqual(run.texts[-1], "sure?")  # before the interrupt, or clients do not show it
        wrong = door.answer(run, {"approved": "yes"}, context)
        self.assertEqual(self.refusal(door.run, wrong).status, 409)
        self.assertEqual(self.state_of(run.task), "input-required")
        unknown = {"resume": {"interruptId": "unknown", "payload": "x"}, "conversationId": context}
        self.assertEqual(self.refusal(door.run, unknown).status, 409)
        after = door.run(door.answer(run, {"approved": True}, context))
        self.assertEqual(after.text, 'answered: {"approved": true}')

    @rings.everything("unit/protocol/agkit/request_test.cpp")
    def test_ag_kit_answers_that_are_no_json(self):
        for payload, answer in (("yes please", "yes please"), ("{not json", "{not json"), ('"yes"', "yes")):
            door, context = AgKit(self.server), client.new_id()
            run = self.ask(door, context)
            body = door.answer(run, "x", context)
            body["resume"]["payload"] = payload
            self.assertEqual(door.run(body).text, f"answered: {answer}")

    def test_agent_api_approvals(self):
        door = AgentApi(self.server)
        for approve in (True, False):
            context = client.new_id()
            run = door.run(door.say("ask sure?", context))
            self.assertEqual((run.ending, run.texts), ("asked", ["let me see. ", "sure?"]))
            request = run.shown[-1].body["output"][-1]
            self.assertEqual((request["type"], request["role"]), ("mcp_approval_request", "assistant"))
            data = request["content"][0]["data"]
            for member in ("id", "name", "arguments", "server_label"):
                self.assertIsInstance(data[member], str)
            json.loads(data["arguments"])
            after = door.run(door.answer(run, {"approve": approve, "reason": "because"}, context))
            self.assertEqual(after.ending, "completed")
            self.assertIn(f'"approved": {str(approve).lower()}', after.text)
            self.assertEqual(after.task, run.task)

    @for_each(AgKit, AgentApi, AgentServer)
    def test_answers_in_words(self, door):
        context = client.new_id()
        run = door.run(door.say("ask which one?", context))
        after = door.run(door.say("this one", context))
        self.assertEqual((after.text, after.task), ("answered: this one", run.task))


DEPLOY = {"type": "object", "required": ["environment", "replicas"], "properties": {
    "environment": {"enum": ["staging", "production"]}, "replicas": {"type": "integer", "maximum": 10}}}
# Each of these crashed the program, or took a whole core, when it was answered.
HOSTILE = ({"$ref": "#"}, {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
           {"allOf": [{"$ref": "#"}]}, {"anyOf": ["x", 3]}, {"properties": [1]})


class Schemas(ChatCase):
    """Every way to answer is checked against the question's schema."""

    def ask(self, schema):
        line = {"type": "ask", "message": "well?", "schema": schema}
        asked = self.server.send("lines " + json.dumps([line]), agent="chat")
        return asked["id"], asked["status"]

    def answer(self, task, part, version="1.0"):
        if version == "0.1":
            message = {"role": "user", "parts": [part]}
            return self.server.rpc("tasks/send", {"id": task, "message": message}, agent="chat")
        message = {"messageId": client.new_id(), "taskId": task, "role": "ROLE_USER", "parts": [part]}
        body = self.server.envelope("SendMessage", {"message": message}, 1)
        headers = self.server.headers_of(None, {"A2A-Version": version})
        return self.server.http("POST", self.server.path_of("chat"), body, headers)

    def refused(self, task, part, version="1.0"):
        error = self.answer(task, part, version).body["error"]
        self.assertEqual((error["code"], self.state_of(task)), (-32602, "input-required"))
        return json.dumps(error)

    def test_a_wrong_answer_is_refused_and_the_task_keeps_waiting(self):
        task, _ = self.ask(DEPLOY)
        wrong = {"environment": "moon", "replicas": 99}
        self.assertIn("/environment must be one of", self.refused(task, {"data": wrong}))
        self.assertIn("/environment must be one of", self.refused(task, {"type": "data", "data": wrong}, "0.1"))
        done = self.answer(task, {"data": {"environment": "staging", "replicas": 2}})
        self.assertEqual(done.body["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED")

    def test_a_text_is_read_by_the_schema_or_refused_with_the_choices(self):
        task, _ = self.ask(APPROVED)
        self.assertIn("yes or no", self.refused(task, {"text": "moon"}))
        self.assertIn("yes or no", self.refused(task, {"type": "text", "text": "moon"}, "0.1"))
        self.answer(task, {"text": "yes"})
        shown = json.dumps(self.a2a.get(task).raw).replace('\\"', '"')
        self.assertIn('answered: {"approved": true}', shown)

    @for_each(AgKit, AgentApi, AgentServer)
    def test_words_in_chat_are_read_by_the_schema(self, door):
        context = client.new_id()
        run = door.run(door.say("form sure?", context))
        self.assertEqual(self.refusal(door.run, door.say("moon", context)).status, 409)
        self.assertEqual(self.state_of(run.task), "input-required")
        after = door.run(door.say("yes", context))
        self.assertEqual((after.text, after.task), ('answered: {"approved": true}', run.task))

    def test_a_faulty_schema_fails_the_turn_and_nothing_else(self):
        for schema in (*HOSTILE, {"patternProperties": {}}):
            with self.subTest(schema):
                _, status = self.ask(schema)
                self.assertEqual(status["state"], "failed")
                self.assertIn("schema", status["message"]["parts"][0]["text"])
        task, status = self.ask({"type": "string", "pattern": "a{4000000000}"})
        self.assertIn(status["state"], ("input-required", "failed"))
        self.answer(task, {"text": "b"})
        self.assertTrue(self.server.running())

    @databases.needs_sqlite("changes what is stored")
    def test_a_stored_schema_with_a_fault_counts_as_none(self):
        """A database of an earlier version may hold one."""
        for version in ("1.0", "0.1"):
            task, _ = self.ask({"type": "object", "properties": {}, "tref": "#"})
            self.server.stop()
            path = self.server.database.path
            stored = path.read_bytes()
            self.assertIn(b'"tref"', stored)
            path.write_bytes(stored.replace(b'"tref"', b'"$ref"'))
            self.server.start()
            done = self.answer(task, {"type": "text", "text": "so"} if version == "0.1" else {"text": "so"}, version)
            self.assertNotIn("error", done.body)
            self.wait_for_state(task, "completed")


class Configured(ChatCase):
    COPIES = {"plain": {"plain_answers": True}, "strict": {"answers": "data"},
              "confirming": {"confirm_tool": "confirmAction"}}

    @for_each(AgUi, AgUi10, agent="plain")
    def test_plain_answers(self, door):
        context = client.new_id()
        run = door.run(door.say("ask which one?", context))
        self.assertEqual(run.ending, "asked")
        self.assertIn("which one?", run.text)
        after = door.run(door.say("this one", context))
        self.assertEqual((after.ending, after.text, after.task), ("completed", "answered: this one", run.task))
        asked = door.run(door.say("ask which one?", context))
        self.assertEqual(door.run(door.answer(asked, "that", context)).text, "answered: that")

    @for_each(AgUi, AgUi10, AgKit, agent="confirming")
    def test_a_question_as_the_client_s_tool(self, door):
        context = client.new_id()
        run = door.run(door.say("form sure?", context, tools=["confirmAction"]))
        self.assertEqual(run.ending, "tool")
        self.assertEqual([call.name for call in run.calls], ["confirmAction"])
        self.assertEqual(json.loads(run.calls[0].arguments), {"message": "sure?", "schema": APPROVED})
        after = door.run(door.give(run, '{"approved":true}', context, tools=["confirmAction"]))
        self.assertEqual((after.ending, after.task), ("completed", run.task))
        self.assertEqual(after.text, 'answered: {"approved": true}')

    def test_answers_that_must_be_data(self):
        ask = "lines " + json.dumps([{"type": "ask", "message": "well?", "schema": DEPLOY}])
        task = self.server.send(ask, agent="strict")["id"]
        words = {"id": task, "message": {"role": "user", "parts": [{"type": "text", "text": "staging, twice"}]}}
        error = self.assert_error(self.server.rpc("tasks/send", words, agent="strict"), -32602)
        self.assertIn("environment", json.dumps(error))
        self.assertEqual(self.server.get(task, agent="strict")["status"]["state"], "input-required")

    @for_each(AgUi, AgUi10, AgKit, agent="confirming")
    def test_a_tool_that_is_not_offered_is_not_called(self, door):
        context = client.new_id()
        run = door.run(door.say("ask sure?", context, tools=["another"]))
        self.assertEqual((run.ending, run.calls), ("asked", []))
        after = door.run(door.answer(run, "yes", context))
        self.assertEqual((after.ending, after.text), ("completed", "answered: yes"))
