"""Whatever agents say, however odd, becomes streams that strict clients accept (chat_checks.py checks each)."""
import json
import threading

import chat_client
import client
import harness
import rings
from chat_case import ChatCase, for_each
from chat_doors import AgentApi, AgentServer, AgKit, AgUi, AgUi10

DONE = {"type": "done"}
TEXTS = ("线 \U0001f600 e\u0301", "a\r\nb\rc\n\nd", "\u2028\u2029\u0085", "data: x\n\nevent: y", ": comment", "[DONE]",
         "\"\\/\b\f\t", "\u0000\u0001\u001f\u007f", "   ", "</script>", "\ufeff", "null")


class Said(ChatCase):
    def say(self, door, *lines, context=None, **how):
        return door.run(door.say("lines " + json.dumps(lines), context, **how))

    @for_each()
    def test_texts_arrive_as_they_are(self, door):
        for text in TEXTS:
            run = self.say(door, {"type": "text", "delta": text}, DONE)
            self.assertEqual((run.ending, run.text), ("completed", text))

    @for_each(*rings.some((AgUi10, AgUi, AgKit, AgentApi, AgentServer)))
    def test_a_long_text(self, door):
        pieces = [f"{number} 线\n" * 500 for number in range(500)]
        run = self.say(door, *({"type": "text", "delta": piece} for piece in pieces), DONE)
        self.assertEqual(run.text, "".join(pieces))
        self.assertGreater(len(run.text), 2**20)

    @rings.everything("unit/agents/command/agent_output_test.cpp and the view_test.cpp of each protocol")
    @for_each()
    def test_an_empty_answer(self, door):
        for lines in ([DONE], [{"type": "text", "delta": ""}, DONE], [{"type": "done", "message": ""}],
                      [{"type": "text", "delta": ""}, {"type": "text", "delta": "x"}, {"type": "text", "delta": ""}, DONE]):
            run = self.say(door, *lines)
            self.assertEqual((run.ending, run.text), ("completed", "x" if len(lines) == 4 else ""))

    def leaves_open(self, number):
        return [{"type": "reasoning", "delta": "hm"}, {"type": "step", "name": "looking", "phase": "start"},
                {"type": "step", "name": "deeper", "phase": "start"},
                {"type": "tool-call", "id": f"a-{number}", "name": "look", "arguments": {"x": 1}},
                {"type": "tool-call", "id": f"b-{number}", "name": "look", "arguments": {}},
                {"type": "tool-result", "id": f"a-{number}", "content": "seen"}, {"type": "text", "delta": "so"},
                {"type": "reasoning", "delta": "well"},
                {"type": "artifact", "artifact": {"artifactId": f"c-{number}", "parts": [{"text": "half"}]},
                 "lastChunk": False}]

    @for_each()
    def test_whatever_is_open_at_the_end_is_closed(self, door):
        ends = ([DONE, "completed"], [{"type": "fail", "error": "x"}, "failed"],
                [{"type": "ask", "message": "what?"}, "asked"])
        for last, ending in ends:
            run = self.say(door, *self.leaves_open(client.new_id()), last)
            if ending == "asked" and not door.tells_asking:
                ending = "completed"
            # A tool of the agent's own without a result must not look like a client's tool.
            self.assertEqual(run.ending, ending, run)
            self.assertIn("half", run.text)

    @rings.everything("unit/agents/command: agent_output and unfinished_steps_test.cpp")
    @for_each()
    def test_what_makes_no_sense_is_no_harm(self, door):
        run = self.say(door, {"type": "tool-result", "id": "never-called", "content": "x"},
                       {"type": "step", "name": "never begun", "phase": "finish"},
                       {"type": "step", "name": "twice", "phase": "start"},
                       {"type": "step", "name": "twice", "phase": "start"},
                       {"type": "step", "name": "twice", "phase": "finish"},
                       {"type": "step", "name": "twice", "phase": "finish"},
                       {"type": "state", "snapshot": None}, {"type": "custom", "name": "x", "value": None},
                       {"type": "text", "delta": "fine"}, DONE)
        self.assertIn(run.ending, ("completed", "failed"))
        if run.ending == "completed":
            self.assertEqual(run.text, "fine")

    @rings.everything("unit/protocol/chat/tools_test.cpp and the view_test.cpp of each protocol")
    @for_each()
    def test_arguments_and_results_of_every_kind(self, door):
        for arguments in ({}, {"a": [1, None, {"b": "线\n"}], "c": 1.5e300}):
            for content in ("", "x", "线\n", {}, {"a": None}, [], [1], 5, None, True):
                call = client.new_id()
                run = self.say(door, {"type": "tool-call", "id": call, "name": "look", "arguments": arguments},
                               {"type": "tool-result", "id": call, "content": content},
                               {"type": "text", "delta": "so"}, DONE)
                self.assertEqual((run.ending, run.text), ("completed", "so"))
                self.assertEqual(json.loads(run.call(call).arguments), arguments)
                got = run.call(call).result
                self.assertEqual(got if isinstance(content, str) else json.loads(got), content)

    @rings.everything("unit/protocol/chat/tools_test.cpp and the view_test.cpp of each protocol")
    @for_each()
    def test_a_tool_that_failed(self, door):
        run = self.say(door, {"type": "tool-call", "id": "f", "name": "look", "arguments": {}},
                       {"type": "tool-result", "id": "f", "error": "it is dark"}, {"type": "text", "delta": "so"}, DONE)
        self.assertEqual(run.ending, "completed")
        self.assertIn("it is dark", run.call("f").result)

    @rings.everything("unit/agents/command/unfinished_steps_test.cpp and the random runs of each protocol in "
                      "unit/protocol")
    @for_each()
    def test_calls_side_by_side(self, door):
        a, b = client.new_id(), client.new_id()
        run = self.say(door, {"type": "tool-call", "id": a, "name": "look", "arguments": {"n": 1}},
                       {"type": "tool-call", "id": b, "name": "look", "arguments": {"n": 2}},
                       {"type": "tool-result", "id": b, "content": "two"},
                       {"type": "tool-result", "id": a, "content": "one"}, DONE)
        self.assertEqual({call.id: (json.loads(call.arguments)["n"], call.result) for call in run.calls},
                         {a: (1, "one"), b: (2, "two")})

    @rings.everything("unit/protocol: the view_test.cpp of each protocol")
    @for_each()
    def test_artifacts_in_chunks(self, door):
        parts = [{"text": "one "}, {"text": "two "}, {"text": "three"}]
        lines = [{"type": "artifact", "artifact": {"artifactId": "c", "name": "c", "parts": [part]},
                  "append": number > 0, "lastChunk": number == 2} for number, part in enumerate(parts)]
        run = self.say(door, *lines, DONE)
        self.assertEqual((run.ending, run.text), ("completed", "one two three"))

    @for_each()
    def test_artifacts_of_every_kind(self, door):
        parts = [{"text": "note"}, {"raw": "aGVsbG8=", "mediaType": "image/png", "filename": "a.png"},
                 {"url": "https://example.com/a.pdf", "mediaType": "application/pdf"}, {"data": [1, {"a": None}]},
                 {"data": None}, {"text": "# x", "mediaType": "text/markdown"}]
        run = self.say(door, {"type": "artifact", "artifact": {"artifactId": "k", "name": "k", "parts": parts},
                              "lastChunk": True}, DONE)
        self.assertEqual(run.ending, "completed")
        self.assertIn("note", run.text)

    @rings.everything("unit/protocol: the view_test.cpp of each protocol and chat/transcript_test.cpp")
    @for_each()
    def test_an_artifact_that_is_replaced(self, door):
        lines = [{"type": "artifact", "artifact": {"artifactId": "r", "parts": [{"text": text}]}, "lastChunk": True}
                 for text in ("first", "second")]
        door.replaced = 1
        run = self.say(door, *lines, DONE)
        self.assertEqual(run.ending, "completed")
        self.assertIn("second", run.text)

    @rings.everything("unit/protocol: the view_test.cpp of each protocol")
    @for_each()
    def test_messages_of_parts(self, door):
        message = {"parts": [{"text": "all "}, {"text": "well"}, {"data": {"n": 1}}]}
        run = self.say(door, {"type": "done", "message": message})
        self.assertEqual(run.ending, "completed")
        self.assertIn("all", run.text)
        self.assertIn("well", run.text)

    @for_each()
    def test_wanting_to_be_let_in(self, door):
        context = client.new_id()
        run = door.run(door.say("auth https://example.com/in", context))
        self.assertIn("let me in", run.text)
        self.assertEqual(self.state_of(run.task), "auth-required")
        self.assertEqual(run.ending, "asked" if door.tells_asking else "completed")
        after = door.run(door.answer(run, "done" if not isinstance(door, AgentApi) else "go on", context))
        self.assertEqual((after.ending, after.task), ("completed", run.task))

    @for_each(AgUi, AgUi10, AgentApi, AgentServer)
    def test_ids_of_messages_are_new_in_the_conversation(self, door):
        context, ids = client.new_id(), []
        for _ in range(3):
            run = self.say(door, {"type": "text", "delta": "x"}, {"type": "reasoning", "delta": "y"},
                           {"type": "artifact", "artifact": {"artifactId": "r", "parts": [{"text": "z"}]}}, DONE,
                           context=context)
            self.assertEqual(run.text, "xz")
            ids.append({frame.body.get("messageId") or frame.body.get("msg_id") or frame.body.get("id")
                        for frame in run.shown} - {None})
        self.assertEqual(len(set.union(*ids)), sum(map(len, ids)), ids)

    @rings.everything("unit/agents/command/call_ids_test.cpp and unit/engine/task_service_chat_test.cpp")
    @for_each(AgUi, AgUi10, AgKit, AgentApi)
    def test_the_same_call_id_in_every_turn(self, door):
        """Clients expect ids to be unique in the whole conversation."""
        context, ids = client.new_id(), set()
        for _ in range(3):
            run = self.say(door, {"type": "tool-call", "id": "c1", "name": "look", "arguments": {}},
                           {"type": "tool-result", "id": "c1", "content": "x"}, DONE, context=context)
            ids |= {call.id for call in run.calls}
        self.assertEqual(len(ids), 3, ids)

    @rings.everything("unit/agents/command/call_ids_test.cpp and unit/engine/task_service_chat_test.cpp")
    @for_each(AgUi, AgUi10, AgKit, AgentApi)
    def test_the_same_call_id_of_a_client_s_tool_in_every_turn(self, door):
        context, ids = client.new_id(), set()
        for number in range(3):
            run = self.say(door, {"type": "tool-call", "id": "c1", "name": "point_at", "arguments": {}},
                           context=context, tools=["point_at"])
            self.assertEqual(run.ending, "tool")
            ids |= {call.id for call in run.calls}
            after = door.run(door.give(run, f"pointed {number}", context))
            self.assertEqual((after.ending, after.task), ("completed", run.task))
            self.assertIn(f"pointed {number}", after.text)
        self.assertEqual(len(ids), 3, ids)

    @rings.everything("unit/protocol/agui/view_test.cpp")
    @for_each(AgUi, AgUi10)
    def test_shared_state(self, door):
        run = self.say(door, {"type": "state", "delta": [{"op": "replace", "path": "/n", "value": 2}]}, DONE,
                       state={"n": 1})
        kinds = [frame.body for frame in run.shown if frame.body["type"].startswith("STATE")]
        self.assertEqual([event["type"] for event in kinds], ["STATE_DELTA"])
        self.assertEqual(kinds[0]["delta"], [{"op": "replace", "path": "/n", "value": 2}])
        run = self.say(door, {"type": "state", "snapshot": {"n": [1]}},
                       {"type": "state", "delta": [{"op": "add", "path": "/n/-", "value": None}]}, DONE)
        self.assertEqual([frame.body["type"] for frame in run.shown if frame.body["type"].startswith("STATE")],
                         ["STATE_SNAPSHOT", "STATE_DELTA"])


class Together(ChatCase):
    """Several clients at the same moment."""
    CONFIG = {"chat": {"hang_up_grace_s": 600}}

    def at_once(self, *acts):
        start, results = threading.Barrier(len(acts)), [None] * len(acts)

        def one(place):
            start.wait()
            results[place] = acts[place]()
        threads = [threading.Thread(target=one, args=(place,)) for place in range(len(acts))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(client.scaled(60))
        return results

    @for_each(AgKit, AgentApi, AgentServer)
    def test_one_run_of_a_session_wins(self, door):
        for _ in range(10):
            session = client.new_id()
            opened = self.at_once(*[lambda: door.post(door.say("wait", session))] * 4)
            runs = [one for one in opened if isinstance(one, chat_client.RunStream)]
            self.assertEqual([one.status for one in opened if isinstance(one, client.Answer)], [409] * 3)
            self.assertEqual(len(runs), 1)
            self.server.gate("chat", session)
            self.assertEqual(door.finish(runs[0]).text, "begun waited")

    @for_each(AgUi, AgUi10, AgKit)
    def test_one_answer_wins(self, door):
        for _ in range(10):
            context = client.new_id()
            asked = door.run(door.say("ask which one?", context))
            answers = [lambda number=number: self.ending(door, asked, f"answer {number}", context)
                       for number in range(4)]
            endings = self.at_once(*answers)
            self.assertEqual(sorted(endings), ["completed", "refused", "refused", "refused"])
            self.assertEqual(len(self.a2a.get(asked.task, history=100).raw["history"]), 3)

    def ending(self, door, asked, text, context):
        try:
            run = door.run(door.answer(asked, text, context))
        except chat_client.Refused as refused:
            self.assertEqual(refused.status, 409)
            return "refused"
        return "refused" if run.ending == "failed" else run.ending


class Awake(ChatCase):
    CONFIG = {"http": {"keep_awake_s": 0.1}}

    @for_each(*rings.some((AgUi10, AgUi, AgKit, AgentApi, AgentServer)))
    def test_comments_keep_a_stream_awake(self, door):
        context = client.new_id()
        stream = door.open(door.say("wait", context))
        door.until_text(stream, "begun")
        line = b""
        while not line.startswith(b":"):
            line = stream.response.readline()
        self.assertTrue(line.startswith(b": "), line)
        following = stream.response.readline()
        self.assertTrue(following.startswith(b": "), f"after an id a blank line would be an event: {following}")
        self.server.gate("chat", context)
        self.assertEqual(door.finish(stream).text, "begun waited")


class Delegating(harness.ServerCase):
    AGENTS = ["chief", "joke"]

    def test_subagents(self):
        for door, expected in ((AgUi, []), (AgUi10, ["SUBAGENT_STARTED", "SUBAGENT_FINISHED"])):
            with self.subTest(door.name):
                chief = door(self.server, agent="chief")
                run = chief.run(chief.say("joke"))
                self.assertEqual(run.ending, "completed")
                events = [frame.body for frame in run.shown if frame.body["type"].startswith("SUBAGENT")]
                self.assertEqual([event["type"] for event in events], expected)
                self.assertLessEqual({event.get("name") for event in events}, {"joke", None})
                self.assertEqual(len({event["subagentRunId"] for event in events}), bool(expected))
