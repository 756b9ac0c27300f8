"""Replays the scenarios of the documents that introduced AG-Kit, AG-UI, Agent API and Agent Server. The requests are as
printed. The events are, too, except for ids that the server makes and for what section 7 of the reference decides where
a document and its clients disagree. agents/seeds answers as the documents do, one piece of text at a time."""
import json

import chat_doors
import harness

# Members an event may have in addition to the printed ones.
MAY_ADD = {"timestamp", "outcome", "usage", "session_id", "completed_at", "index", "status", "role", "delta", "error",
           "sequence_number", "msg_id", "object", "created_at"}


class ID:
    """Stands for an id that the server makes: the same wherever it has the same name, and different elsewhere."""

    def __init__(self, name):
        self.name = name


class SeedCase(harness.ServerCase):
    maxDiff = None
    AGENTS = ["seeds"]
    DOOR = None

    def setUp(self):
        self.door = self.DOOR(self.server, agent=None)
        self.ids = {}

    def play(self, body, context):
        """Returns the frames with data. Each arriving text opens the agent's gate for the next piece."""
        stream = self.door.open(body)
        pieces = 0
        for frame in stream:
            run = self.door.read(stream.seen)
            now = len([1 for shown in run.shown if self.is_piece(shown)])
            if now > pieces:
                pieces = now
                self.server.gate("seeds", context)
        # A gate left open for a piece that never came would merge pieces of a later run.
        (self.server.agents_folder / "seeds" / f"gate-{context}").unlink(missing_ok=True)
        run = self.door.read(stream.seen)
        self.door.check(run.shown)
        return run

    def is_piece(self, frame):
        body = frame.body or {}
        return body.get("type") in ("TEXT_MESSAGE_CONTENT", "text")

    def assert_events(self, expected, run):
        frames = [frame for frame in run.shown if frame.data != "[DONE]"]
        bodies = self.joined([frame.body for frame in frames])
        self.assertEqual(len(expected), len(bodies), bodies)
        for place, (mine, theirs) in enumerate(zip(expected, bodies)):
            self.assert_like(mine, theirs, f"event {place}")

    def joined(self, bodies):
        """Joins the pieces of a call's arguments."""
        whole = []
        for body in bodies:
            before = whole[-1] if whole else {}
            if body.get("type") in ("TOOL_CALL_ARGS", "tool-call-args") and \
                    all(before.get(name) == body[name] for name in ("type", "toolCallId")):
                before["delta"] += body["delta"]
            else:
                whole.append(dict(body))
        return whole

    def assert_like(self, expected, actual, where):
        if isinstance(expected, ID):
            self.assertIsInstance(actual, str, where)
            self.assertTrue(actual, where)
            self.assertEqual(self.ids.setdefault(expected.name, actual), actual, where)
            self.assertEqual(len(set(self.ids.values())), len(self.ids), f"{where}: {self.ids}")
        elif isinstance(expected, dict):
            self.assertIsInstance(actual, dict, where)
            self.assertLessEqual(set(actual) - set(expected), MAY_ADD, (where, actual))
            for name, value in expected.items():
                self.assertIn(name, actual, (where, actual))
                if name in ("delta", "arguments") and isinstance(value, dict):  # a JSON text
                    self.assertEqual(json.loads(actual[name]), value, where)
                else:
                    self.assert_like(value, actual[name], f"{where}.{name}")
        elif isinstance(expected, list):
            self.assertIsInstance(actual, list, where)
            self.assertEqual(len(expected), len(actual), (where, actual))
            for place, (mine, theirs) in enumerate(zip(expected, actual)):
                self.assert_like(mine, theirs, f"{where}[{place}]")
        else:
            self.assertIs(type(actual), type(expected), (where, actual))
            self.assertEqual(actual, expected, where)


class AgKitSeed(SeedCase):
    """Document 000."""
    DOOR = chat_doors.AgKit

    def texts(self, *pieces):
        return [{"type": "text", "content": piece} for piece in pieces]

    def test_plain_chat(self):
        context = "2da2146d-9e7e-41f3-9515-b70557e4430c"
        run = self.play({"messages": [{"role": "user", "content": "hi"}], "conversationId": context}, context)
        self.assert_events(self.texts("Hello", " there!", " How can I help you?"), run)

    def test_client_tool(self):
        context = "c7d334f7-d920-4dd3-91e0-53d695e79fc0"
        tools = [{
            "name": "change-background-color",
            "description": "Change the background color. The color should be one of the following: blue, red, green, "
                           "transparent, yellow, purple, orange, pink, brown, gray, black, or white. No other colors "
                           "or any variants.",
            "parameters": '{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":'
                          '{"color":{"type":"string"}},"required":["color"],"additionalProperties":false}'}]
        run = self.play({"messages": [{"role": "user", "content": "Change background color to blue."}],
                         "tools": tools, "conversationId": context}, context)
        self.assert_events([
            {"type": "tool-call-start", "toolCallId": "a_b_c", "toolCallName": "change-background-color"},
            {"type": "tool-call-args", "toolCallId": "a_b_c", "delta": {"color": "blue"}},
            {"type": "tool-call-end", "toolCallId": "a_b_c"}], run)
        result = {"role": "tool", "content": "Background color successfully changed to: blue", "toolCallId": "a_b_c"}
        run = self.play({"messages": [result], "conversationId": context}, context)
        self.assert_events(self.texts("I", "'ve", " successfully", " changed", " the", " background", " color", " to",
                                      " blue", " for", " you", "."), run)


class AgUiSeed(SeedCase):
    """Document 001."""
    DOOR = chat_doors.AgUi
    WEATHER_TOOL = {"name": "get_weather", "description": "获取指定城市的天气", "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}

    def ask(self, thread, run, messages, tools=(), **more):
        body = {"threadId": thread, "runId": run, "messages": messages, "tools": list(tools), "context": [], **more}
        return self.play(body, thread)

    def assert_run(self, thread, run, expected, actual):
        self.assert_events([{"type": "RUN_STARTED", "threadId": thread, "runId": run}, *expected,
                            {"type": "RUN_FINISHED", "threadId": thread, "runId": run}], actual)
        self.assertIn(actual.shown[-1].body.get("outcome", {"type": "success"}), [{"type": "success"}])

    def text(self, name, *pieces):
        return [{"type": "TEXT_MESSAGE_START", "messageId": ID(name), "role": "assistant"},
                *({"type": "TEXT_MESSAGE_CONTENT", "messageId": ID(name), "delta": piece} for piece in pieces),
                {"type": "TEXT_MESSAGE_END", "messageId": ID(name)}]

    def call(self, call, tool, arguments, parent=None):
        start = {"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": tool}
        return [start | ({"parentMessageId": ID(parent)} if parent else {}),
                {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": arguments},
                {"type": "TOOL_CALL_END", "toolCallId": call}]

    def test_scenario_1_plain_chat(self):
        run = self.ask("thread_001", "run_001", [{"id": "msg_1", "role": "user", "content": "你好"}])
        self.assert_run("thread_001", "run_001", self.text("msg_2", "你好", "!有什么可以帮你的吗?"), run)

    def test_scenario_2_client_tool(self):
        tools = [{"name": "search_local_files", "description": "搜索用户本地文件", "parameters": {
            "type": "object", "properties": {"keyword": {"type": "string"}}}}]
        asked = {"id": "msg_1", "role": "user", "content": "帮我搜索本地的报告文件"}
        run = self.ask("thread_003", "run_003", [asked], tools)
        self.assert_run("thread_003", "run_003", self.call("call_002", "search_local_files", {"keyword": "报告"}), run)
        called = {"id": "msg_2", "role": "assistant", "toolCalls": [
            {"id": "call_002", "type": "function",
             "function": {"name": "search_local_files", "arguments": '{"keyword":"报告"}'}}]}
        result = {"id": "msg_3", "role": "tool", "toolCallId": "call_002",
                  "content": '["2024年度报告.pdf", "Q3报告.docx"]'}
        run = self.ask("thread_003", "run_004", [asked, called, result], tools)
        self.assert_run("thread_003", "run_004",
                        self.text("msg_4", "找到了 2 个文件:2024年度报告.pdf 和 Q3报告.docx"), run)

    def test_scenario_3_server_tool(self):
        run = self.ask("thread_002", "run_002", [{"id": "msg_1", "role": "user", "content": "北京天气怎么样?"}])
        self.assert_run("thread_002", "run_002", [
            *self.text("msg_2", "让我查一下"), *self.call("call_001", "get_weather", {"city": "北京"}, "msg_2"),
            {"type": "TOOL_CALL_RESULT", "messageId": ID("msg_tool_1"), "toolCallId": "call_001",
             "content": "晴天,25°C"}, *self.text("msg_3", "北京今天晴天,25°C。")], run)

    def test_scenario_4_human_in_the_loop(self):
        tools = [{"name": "confirmAction", "description": "请求用户确认危险操作", "parameters": {
            "type": "object", "properties": {"action": {"type": "string"}, "count": {"type": "number"}},
            "required": ["action"]}}]
        asked = {"id": "msg_1", "role": "user", "content": "删除所有临时文件"}
        run = self.ask("thread_004", "run_005", [asked], tools)
        arguments = {"action": "删除临时文件", "count": 15}
        self.assert_run("thread_004", "run_005", [
            *self.text("msg_2", "即将删除 15 个临时文件"), *self.call("call_003", "confirmAction", arguments, "msg_2")], run)
        called = {"id": "msg_2", "role": "assistant", "content": "即将删除 15 个临时文件", "toolCalls": [
            {"id": "call_003", "type": "function",
             "function": {"name": "confirmAction", "arguments": '{"action":"删除临时文件","count":15}'}}]}
        result = {"id": "msg_3", "role": "tool", "toolCallId": "call_003", "content": "confirmed"}
        run = self.ask("thread_004", "run_006", [asked, called, result], tools)
        self.assert_run("thread_004", "run_006", self.text("msg_4", "已删除 15 个临时文件。"), run)

    def test_example_request(self):
        # The request offers get_weather, so that is the page's tool. The example's answer is that of a run without the
        # offer.
        body = [{"id": "msg_1", "role": "user", "content": "今天北京天气怎么样?"}]
        thread = "550e8400-e29b-41d4-a716-446655440000"
        run = self.ask(thread, "run_001", body, [self.WEATHER_TOOL], state={})
        self.assertEqual((run.ending, [call.id for call in run.calls]), ("tool", ["call_123"]))

    def test_example_response(self):
        run = self.ask("thread_005", "run_001", [{"id": "msg_1", "role": "user", "content": "今天北京天气怎么样?"}])
        self.assert_run("thread_005", "run_001", [
            *self.text("msg_1", "让我查询一下"), *self.call("call_123", "get_weather", {"city": "北京"}, "msg_1"),
            {"type": "TOOL_CALL_RESULT", "messageId": ID("msg_2"), "toolCallId": "call_123", "content": "晴天,25°C"},
            *self.text("msg_3", "北京今天是晴天,温度25°C。")], run)


class AgentApiSeed(SeedCase):
    """Document 002."""
    DOOR = chat_doors.AgentApi

    def ask(self, text, **more):
        context = f"session-{self.id().rpartition('.')[2]}"
        body = {"input": [{"role": "user", "content": [{"type": "text", "text": text}], "type": "message"}],
                "stream": True, "session_id": context, **more}
        return self.play(body, context)

    def sequence(self, *pieces):
        """Returns the sequence as the documents print it, with the response's second event and with numbers and ids
        everywhere."""
        whole = {"status": "completed", "type": "text", "index": 0, "delta": False, "text": "".join(pieces),
                 "object": "content", "msg_id": ID("msg")}
        part = {"type": "text", "text": "".join(pieces)}
        return [{"status": "created", "id": ID("response"), "object": "response"},
                {"status": "in_progress", "id": ID("response"), "object": "response"},
                {"status": "in_progress", "id": ID("msg"), "object": "message", "type": "message", "role": "assistant"},
                *({"status": "in_progress", "type": "text", "index": 0, "delta": True, "text": piece,
                   "object": "content", "msg_id": ID("msg")} for piece in pieces), whole,
                {"status": "completed", "id": ID("msg"), "object": "message", "type": "message", "role": "assistant",
                 "content": [part]},
                {"status": "completed", "id": ID("response"), "object": "response", "output": [
                    {"id": ID("msg"), "object": "message", "status": "completed", "type": "message",
                     "role": "assistant", "content": [part]}]}]

    def assert_sequence(self, run, *pieces):
        # A message may be announced as created before it is in progress.
        bodies = [frame.body for frame in run.shown]
        run.frames = [frame for frame in run.shown
                      if (frame.body["object"], frame.body["status"]) != ("message", "created")]
        self.assertLessEqual(len(bodies) - len(run.frames), 1)
        self.assert_events(self.sequence(*pieces), run)
        self.assertTrue(self.ids["response"].startswith("response_"), self.ids)
        self.assertTrue(self.ids["msg"].startswith("msg_"), self.ids)

    def test_a_question_about_a_picture(self):
        run = self.ask("描述这张图片", model="gpt-4-vision")
        self.assert_sequence(run, "这张", "图片显示...")

    def test_streaming_example(self):
        self.assert_sequence(self.ask("hello in three pieces"), "Hello", ", ", "world")

    def test_builder_example(self):
        self.assert_sequence(self.ask("hello in four pieces"), "Hello", " ", "World", "!")

    def test_request_exactly_as_printed(self):
        # Without a session the agent's gate cannot be named, so only its first piece can be awaited.
        stream = self.door.open({"input": [{"role": "user", "content": [{"type": "text", "text": "描述这张图片"}],
                                            "type": "message"}], "stream": True, "model": "gpt-4-vision"})
        self.door.until_text(stream, "这张")
        response = stream.seen[0].body
        self.assertEqual((response["object"], response["status"]), ("response", "created"))
        context = response["session_id"]
        self.assertTrue(context)
        self.server.gate("seeds", context)
        self.assertEqual(self.door.finish(stream).text, "这张图片显示...")


class AgentServerSeed(SeedCase):
    """Document 004."""
    DOOR = chat_doors.AgentServer
    RESPONSES = "response"
    PIECES = ("现在", "是北京时间", " 2025 年", " 11 月", " 13 日", " 凌晨", " 2:05", "。")

    def setUp(self):
        super().setUp()
        self.door.response_event = self.RESPONSES

    def test_the_clock_question(self):
        run = self.play({"user_id": "wk", "session_id": "002", "input": [
            {"role": "user", "content": [{"type": "text", "text": "现在几点了"}]}]}, "002")
        response = {"object": "response", "id": ID("response")}
        use = {"type": "tool_use", "id": "call_dc5249a5328f40c0b92eb8b1", "name": "tool_now", "input": {}}
        result = {"type": "tool_result", "id": "call_dc5249a5328f40c0b92eb8b1", "name": "tool_now",
                  "output": [{"type": "text", "text": "2025-11-12T18:05:28.058211+00:00"}]}
        call = {"sequence_number": 2, "object": "plugin_call", "status": "completed", "id": ID("call"),
                "type": "plugin_call", "role": "assistant",
                "content": [{"object": "content", "type": "data", "delta": False, "data": use}]}
        output = {"sequence_number": 3, "object": "plugin_call_output", "status": "completed", "id": ID("output"),
                  "type": "plugin_call_output", "role": "assistant",
                  "content": [{"object": "content", "type": "data", "delta": False, "data": result}]}
        begun = {"sequence_number": 4, "object": "message", "status": "in_progress", "id": ID("message"),
                 "type": "message", "role": "assistant"}
        deltas = [{"sequence_number": 5 + place, "object": "content", "status": "in_progress", "type": "text",
                   "index": 0, "delta": True, "msg_id": ID("message"), "text": piece}
                  for place, piece in enumerate(self.PIECES)]
        number = 5 + len(deltas)
        ended = begun | {"sequence_number": number, "status": "completed", "content": [
            {"object": "content", "type": "text", "text": "现在是北京时间 2025 年 11 月 13 日 凌晨 2:05。"}]}
        self.assert_events([
            response | {"sequence_number": 0, "status": "created"},
            response | {"sequence_number": 1, "status": "in_progress"},
            call, output, begun, *deltas, ended,
            response | {"sequence_number": number + 1, "status": "completed", "output": [call, output, ended]}], run)
        self.assertEqual([frame.event for frame in run.shown],
                         [self.RESPONSES] * 2 + ["plugin_call", "plugin_call_output", "message"]
                         + ["text"] * len(deltas) + ["message", self.RESPONSES])
        self.assertTrue(self.ids["response"].startswith("response_"), self.ids)
        for name in ("call", "output", "message"):
            self.assertTrue(self.ids[name].startswith("msg_"), self.ids)
        self.assertGreater(run.shown[0].body["created_at"], 1762941912)

    def test_as_the_printed_client_reads_it(self):
        """Reads each line separately, by its first letters; the event's name comes from the line before."""
        run = self.play({"user_id": "wk", "session_id": "003", "input": [
            {"role": "user", "content": [{"type": "text", "text": "现在几点了"}]}]}, "003")
        told = "".join(frame.body["text"] for frame in run.shown if frame.event == "text")
        self.assertEqual(told, "".join(self.PIECES))


class AgentServerSeedAsPrinted(AgentServerSeed):
    """Uses the event name that the complete example has for responses."""
    CONFIG = {"chat": {"response_event": "message"}}
    RESPONSES = "message"
