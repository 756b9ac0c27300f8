"""Tests of both helper libraries, run once for each: see test_lib_python.py and test_lib_node.py."""
import json
import re
import select
import tempfile
import time
from pathlib import Path

from line_agent import LINE_WAIT_S, LineAgent, of_type, reply, text, turn

FOLDER = Path(__file__).resolve().parent / "library"
SCHEMA = Path(__file__).resolve().parents[2] / "schema/line-protocol.schema.json"
LINE_MAX = (8 << 20) + (256 << 10)
# Replacements for the message's parts: JSON beyond a parser's limits, or JSON that Baton would not send.
UNREADABLE = {
    "no parts": "null", "parts that are none": '["text", 5, null]', "texts that are none": '[{"text":5}]',
    "broken JSON": '[{"text":}]', "no JSON": "NaN,", "an end too early": '[{"text":"',
}


class LibraryAgent(LineAgent):
    def __init__(self, command: list[str], folder: Path = FOLDER) -> None:
        self.errors = tempfile.TemporaryFile()
        self.run(command, folder, {}, self.errors)

    def log(self) -> str:
        self.errors.seek(0)
        return self.errors.read().decode()

    def wait_for_log(self, text: str) -> None:
        """Waits, for a limited time, for the log lines after the end of the turn."""
        end = time.monotonic() + LINE_WAIT_S
        while text not in self.log():
            if time.monotonic() > end:
                raise TimeoutError(f"not logged: {text}")
            select.select([], [], [], 0.005)

    def close(self) -> None:
        super().close()
        self.errors.close()


def child_task(state: str, *texts: str, question: str = "") -> dict:
    status = {"state": state, "timestamp": "2026-01-31T10:00:00Z"}
    if question:
        status["message"] = {"messageId": "m5", "role": "ROLE_AGENT", "parts": [text(question)]}
    return {"id": "k2", "contextId": "c2", "status": status,
            "artifacts": [{"artifactId": f"a{number}", "parts": [text(one)]} for number, one in enumerate(texts)]}


class LibraryCase:
    """Mixed into a TestCase, which sets these members."""

    command: list[str]
    page: Path
    failure_in_log: str

    def setUp(self) -> None:
        self.agent = LibraryAgent(self.command)
        self.addCleanup(self.agent.close)

    def begin(self, prompt: str, turn_id: str = "t1", **members: object) -> None:
        self.agent.send(turn(text(prompt), turn_id=turn_id, **members))

    def answer(self, prompt: str, turn_id: str = "t1", **members: object) -> list[dict]:
        """Returns the lines of a turn without the members that all lines have."""
        self.begin(prompt, turn_id, **members)
        return self.rest_of(turn_id, members)

    def rest_of(self, turn_id: str = "t1", members: dict | None = None) -> list[dict]:
        tools = [tool["name"] for tool in (members or {}).get("tools", [])]
        lines = self.agent.until_end(turn_id, tools)
        for line in lines:
            self.assertEqual(line.pop("turn"), turn_id)
        return lines

    def result(self, name: str, turn_id: str = "t1", **members: object) -> None:
        self.agent.send({"type": "delegate-result", "turn": turn_id, "id": name, **members})

    def assert_failed(self, lines: list[dict], error: str = "The agent failed; for details, see the log for task k1.") -> None:
        self.assertEqual({**lines[-1], "detail": ""}, {"type": "fail", "error": error, "detail": ""})

    def line_with(self, mark: str) -> str:
        """Returns the test agent's file and the number of its line with this comment."""
        file = self.command[-1]
        lines = (FOLDER / file).read_text("utf-8").splitlines()
        return f"{file}:{next(number for number, line in enumerate(lines, start=1) if line.endswith(mark))}"

    # Return values of the agent's function.

    def test_a_string_is_the_reply(self):
        self.assertEqual(self.answer("hello Ada"), [{"type": "text", "delta": "Hello, Ada"}, {"type": "done"}])

    def test_what_a_generator_yields_is_streamed(self):
        for prompt in ("words one two", "pieces one two"):
            lines = self.answer(prompt)
            self.assertEqual([line.get("delta") for line in lines], ["one ", "two ", None])

    def test_an_object_is_the_data_of_an_artifact(self):
        artifact = {"artifactId": "t1-result", "name": "result", "parts": [{"data": {"days": 3}}]}
        self.assertEqual(self.answer("facts"), [{"type": "artifact", "artifact": artifact}, {"type": "done"}])

    def test_pieces_may_be_of_all_kinds(self):
        self.assertEqual([line["type"] for line in self.answer("mixed")], ["text", "artifact", "text", "done"])

    def test_nothing_completes(self):
        self.assertEqual(self.answer("nothing"), [{"type": "done"}])

    def test_what_a_generator_returns_is_said_after_what_it_yields(self):
        for prompt in ("both", "both-in-a-list"):
            lines = self.answer(prompt)
            self.assertEqual([line["type"] for line in lines], ["text", "artifact", "done"])
            self.assertEqual(lines[1]["artifact"]["parts"], [{"data": {"days": 3}}])

    def test_a_wrong_value_is_told_with_its_line_and_with_what_may_be_returned(self):
        for prompt, shown, mark in (("number", "5", "returns"), ("numbers", "7", "yields 7"), ("async-numbers", "8", "yields 8")):
            with self.subTest(prompt):
                lines = self.answer(prompt, prompt)
                self.assert_failed(lines)
                self.assertRegex(lines[-1]["detail"], f"^TypeError: an agent cannot return or yield {shown} .*; it may be a str.* (None|null), or something to iterate")
                self.assertTrue(lines[-1]["detail"].endswith(f"({self.line_with(mark)})"), lines[-1])
                self.assertIn(self.line_with(mark) if mark == "returns" else "TypeError", self.agent.log())

    def test_a_piece_of_text_that_is_none_fails_at_its_line(self):
        for prompt in ("says-nothing", "thinks-nothing"):
            with self.subTest(prompt):
                lines = self.answer(prompt, prompt)
                self.assert_failed(lines)
                self.assertRegex(lines[-1]["detail"], "^TypeError: a piece of text must be a str")
                self.assertTrue(lines[-1]["detail"].endswith(f"({self.line_with(prompt)})"), lines[-1])

    def test_a_generator_may_catch_the_mistake_at_its_yield_and_still_fails(self):
        self.assert_failed(self.answer("catches"))
        self.agent.wait_for_log("caught at the yield")

    # The agent's input and output.

    def test_all_of_a_turn_reaches_the_function(self):
        members = {
            "history": [{"messageId": "m0", "role": "ROLE_USER", "parts": [text("before")]}],
            "artifacts": [{"artifactId": "a1", "parts": [text("draft")]}],
            "references": [{"id": "k0", "contextId": "c0", "state": "TASK_STATE_COMPLETED", "history": [], "artifacts": []}],
            "tools": [{"name": "show_map"}], "state": {"city": "Oslo"}, "metadata": {"of": "it"}, "extensions": ["https://e.example"],
            "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-8a3c60f7d188f8fa-01", "attempt": 2}
        resume = {"ask": "q1", "results": [{"id": "d1", "task": child_task("TASK_STATE_COMPLETED", "Sunny")}, {"id": "d2", "error": "no"}]}
        self.agent.send(turn(text("tell"), {"data": {"toolResult": {"id": "q1~2", "content": [1]}}}, resume=resume, **members))
        told = of_type(self.rest_of(), "artifact")[0]["artifact"]["parts"][0]["data"]
        self.assertEqual(told, {
            "id": "t1", "agent": "a", "task": {"id": "k1", "contextId": "c1", "state": "TASK_STATE_WORKING"}, **members,
            "answers": "q1", "results": {"d1": "Sunny", "d2": ""}, "toolResults": [["q1", [1], None]]})

    def test_what_a_turn_leaves_out_is_empty(self):
        told = of_type(self.answer("tell"), "artifact")[0]["artifact"]["parts"][0]["data"]
        self.assertEqual([told[name] for name in ("references", "tools", "metadata", "extensions", "results", "toolResults")],
                         [[], [], {}, [], {}, []])
        self.assertEqual([told[name] for name in ("state", "traceparent", "answers")], [None, None, None])

    def test_a_message_is_read_by_its_text_data_and_files(self):
        parts = [text("one"), {"data": {"n": 1}}, text("two"), {"data": 2}, {"raw": "77u/YSxiCg==", "filename": "a.csv", "mediaType": "text/csv"},
                 {"url": "https://example.com/b", "filename": "b.pdf"}]
        self.agent.send(turn(text("read"), *parts))
        read = {"text": "read\none\ntwo", "data": {"n": 1}, "files": [["a.csv", "text/csv", None], ["b.pdf", "", "https://example.com/b"]]}
        self.assertEqual(self.data_of(self.rest_of()), {**read, "prompt": read["text"], "answer": None, "request": read})

    def test_an_answer_is_its_data_or_else_its_text_and_has_the_request_beside(self):
        request = {"messageId": "m1", "role": "ROLE_USER", "parts": [text("the request"), {"data": 0}]}
        for parts, answer in (([{"data": {"approved": False}}], {"approved": False}), ([text("yes")], "read\nyes"), ([{"data": False}], False)):
            self.agent.send(turn(text("read"), *parts, resume={"ask": "q1"}, request=request))
            told = self.data_of(self.rest_of())
            self.assertEqual((told["answer"], told["request"]), (answer, {"text": "the request", "data": 0, "files": []}))

    def test_a_file_is_read_as_bytes_text_or_json_and_refused_if_it_is_none(self):
        for raw, how, found in (("AP8=", "bytes", [0, 255]), ("77u/w6k=", "text", "é"), ("eyJhIjpbMV19", "json", {"a": [1]})):
            self.agent.send(turn(text(f"file {how}"), {"raw": raw}))
            self.assertEqual(self.data_of(self.rest_of()), {"found": found})
        for part, how, reason in (({"raw": "/w==", "filename": "a.txt"}, "text", "a.txt is not text in UTF-8."),
                                  ({"raw": "e30p"}, "json", "The file is not JSON"),
                                  ({"url": "https://example.com/b", "filename": "b"}, "bytes", "b came as a URL. Send the file itself.")):
            self.agent.send(turn(text(f"file {how}"), part))
            line = self.rest_of()[-1]
            self.assertEqual((line["type"], line["reason"][:len(reason)]), ("reject", reason))

    def data_of(self, lines: list[dict]) -> object:
        return of_type(lines, "artifact")[0]["artifact"]["parts"][0]["data"]

    def test_everything_of_the_protocol_can_be_said(self):
        def artifact(own_id, parts, **members):
            return {"type": "artifact", "artifact": {"artifactId": own_id, "parts": parts, **members}}

        self.assertEqual(self.answer("everything"), [
            {"type": "reasoning", "delta": "hm"},
            {"type": "status", "progress": 0.5, "message": "half"},
            {"type": "status", "message": {"parts": [text("still")]}},
            {**artifact("t1-a.bin", [{"raw": "AP8=", "filename": "a.bin", "mediaType": "application/x-a"}], name="a.bin",
                        description="bytes"), "lastChunk": True},
            artifact("t1-log", [text("one\n")], name="log"),
            {**artifact("t1-log", [text("two\n")], name="log"), "append": True},
            artifact("t1-facts", [{"data": [1, None]}], name="facts", metadata={"by": "hand"}),
            artifact("t1-far", [{"url": "https://example.com/far", "filename": "far.txt"}], name="far"),
            artifact("own", [text("x"), text("y")]),
            artifact("t1-artifact", [text("unnamed")]),
            artifact("t1-artifact-2", [text("unnamed, too")]),
            {"type": "tool-call", "id": "t1-1-call", "name": "look", "arguments": {"at": "it"}},
            {"type": "tool-result", "id": "t1-1-call", "content": {"seen": True}},
            {"type": "tool-call", "id": "t1-1-call-2", "name": "look", "arguments": {}},
            {"type": "tool-result", "id": "t1-1-call-2", "error": "nothing there"},
            {"type": "tool-call", "id": "own-call", "name": "look", "arguments": {}},
            {"type": "tool-result", "id": "own-call", "content": None},
            {"type": "state", "snapshot": {"days": 3}},
            {"type": "state", "delta": [{"op": "replace", "path": "/days", "value": 4}]},
            {"type": "step", "name": "pack", "phase": "start"},
            {"type": "text", "delta": "packing "},
            {"type": "step", "name": "pack", "phase": "finish"},
            {"type": "activity", "id": "plan", "activity": "PLAN", "content": {"steps": []}},
            {"type": "activity", "id": "plan", "activity": "PLAN", "patch": [{"op": "add", "path": "/steps/-", "value": 1}]},
            {"type": "custom", "name": "confetti", "value": {"pieces": 100}},
            {"type": "custom", "name": "nothing", "value": None},
            {"type": "usage", "usage": {"provider": "p", "model": "m", "inputTokens": 10, "outputTokens": 20, "totalTokens": 30,
                                        "reasoningTokens": 1, "cachedInputTokens": 2}},
            {"type": "done"}])

    def test_every_line_is_of_the_protocols_schema(self):
        import jsonschema
        schema = json.loads(SCHEMA.read_text("utf-8"))
        validator = jsonschema.Draft4Validator({**schema, "anyOf": [{"$ref": "#/definitions/fromAgent"}]})
        for prompt in ("everything", "mixed", "ask", "auth", "done", "fail", "reject", "crash", "number", "raise-fail"):
            for line in self.answer(prompt):
                validator.validate({**line, "turn": "t1"})

    def test_a_tool_of_the_clients_ends_the_turn(self):
        lines = self.answer("client-tool", tools=[{"name": "show_map"}])
        self.assertEqual(lines, [{"type": "tool-call", "id": "t1-1-call", "name": "show_map", "arguments": {"city": "Oslo"}}])
        self.assertEqual(reply(self.answer("hello you", "t2")), "Hello, you")
        self.assertEqual(self.answer("client-tool", "t3")[-1], {"type": "done"}, "a tool of its own")

    # How a turn ends.

    def test_each_way_to_end_a_turn_is_its_last_line(self):
        for prompt, line in {
                "ask": {"type": "ask", "message": "Delete?", "schema": {"type": "object"}, "id": "q1"},
                "auth": {"type": "auth", "message": "Sign in.", "url": "https://example.com/login"},
                "done": {"type": "done", "message": "That is all."}, "fail": {"type": "fail", "error": "no"},
                "reject": {"type": "reject", "reason": "not this"}, "raise-fail": {"type": "fail", "error": "no such city"},
                "raise-reject": {"type": "reject", "reason": "not that"}}.items():
            with self.subTest(prompt):
                self.assertEqual(self.answer(prompt, prompt), [line])

    def test_a_mistake_fails_the_turn_and_tells_the_log_and_the_author(self):
        lines = self.answer("crash")
        self.assert_failed(lines)
        self.assertEqual(lines[-1]["detail"], f"{self.failure_in_log} ({self.line_with('crashes')})")
        self.assertIn("turn t1 of task k1 failed", self.agent.log())
        self.assertIn(self.failure_in_log, self.agent.log())
        self.assertNotIn("agent-cards/lib", self.agent.log(), "frames of the library")

    def test_what_is_no_json_or_too_long_fails_the_turn_and_is_not_written(self):
        for prompt in ("nan", "huge", "deep", "long-fail", f"long {LINE_MAX}"):
            with self.subTest(prompt):
                lines = self.answer(prompt, prompt)
                self.assertEqual(len(lines), 1)
                self.assert_failed(lines)

    def test_a_line_of_megabytes_comes_through(self):
        self.assertEqual(len(reply(self.answer(f"long {LINE_MAX - 100}"))), LINE_MAX - 100)

    def test_half_a_surrogate_pair_is_replaced_and_nothing_else(self):
        self.assertEqual(reply(self.answer("half")), 'half "\ufffd" pair \\ud83d, whole \U0001f600')

    def test_a_turn_ends_once(self):
        self.assertEqual(self.answer("swallow"), [{"type": "done", "message": "first"}])
        self.assertEqual(self.answer("late", "t2"), [{"type": "done", "message": "early"}])
        self.agent.wait_for_log("late: Ended")
        self.assertEqual(self.answer("hello you", "t3")[0]["delta"], "Hello, you")

    def test_what_is_printed_goes_to_the_log(self):
        self.assertEqual(reply(self.answer("noise")), "quiet")
        self.assertIn("printed\n", self.agent.log())

    # Children.

    def test_children_work_at_the_same_time(self):
        self.begin("children Oslo Rome")
        first, second = self.agent.line(), self.agent.line()
        self.assertEqual([(line["type"], line["agent"], line["message"]) for line in (first, second)],
                         [("delegate", "weather", "Oslo"), ("delegate", "weather", "Rome")])
        self.result(second["id"], task=child_task("TASK_STATE_COMPLETED", "Hot", "and dry"))
        self.result("of nobody", error="unknown")
        self.result(first["id"], task=child_task("TASK_STATE_COMPLETED", question="Cold"))
        self.assertEqual(reply(self.rest_of()), "Cold; Hot\nand dry")

    def test_the_same_delegation_has_the_same_id_in_every_process(self):
        self.begin("children Oslo Oslo")
        ids = [self.agent.line()["id"], self.agent.line()["id"]]
        self.assertEqual(len(set(ids)), 2)
        again = LibraryAgent(self.command)
        self.addCleanup(again.close)
        again.send(turn(text("children Oslo Oslo")))
        self.assertEqual([again.line()["id"], again.line()["id"]], ids)

    def test_a_turn_that_waits_goes_on_with_the_results(self):
        lines = self.answer("wait")
        self.assertEqual([line["type"] for line in lines], ["delegate", "delegate", "wait"])
        results = [{"id": line["id"], "task": child_task("TASK_STATE_COMPLETED", line["message"])} for line in lines[:2]]
        self.assertEqual(self.answer("wait", "t2", resume={"results": results}),
                         [{"type": "text", "delta": "Oslo; Rome"}, {"type": "done"}])
        lines = self.answer("wait", "t3", resume={"results": results[:1]})
        self.assertEqual([line["type"] for line in lines], ["delegate", "wait"])

    def test_a_child_that_fails_fails_the_turn_unless_that_is_caught(self):
        self.begin("uncaught")
        self.result(self.agent.line()["id"], error="no such place")
        self.assertEqual(self.rest_of(), [{"type": "fail", "error": "weather: no such place"}])
        self.begin("caught", "t2")
        self.result(self.agent.line()["id"], "t2", error="no such place", task=child_task("TASK_STATE_FAILED"))
        self.assertEqual(reply(self.rest_of("t2")), "caught: no such place")

    def test_a_childs_question_is_answered(self):
        self.begin("mine")
        asked = self.agent.line()
        self.assertEqual(asked["questions"], "mine")
        self.result(asked["id"], task=child_task("TASK_STATE_INPUT_REQUIRED", question="Which city?"))
        answered = self.agent.line()
        self.assertEqual((answered["agent"], answered["task"], answered["message"]), ("weather", "k2", "Oslo"))
        self.assertNotEqual(answered["id"], asked["id"])
        self.result(answered["id"], task=child_task("TASK_STATE_COMPLETED", "Snow"))
        self.assertEqual(reply(self.rest_of()), "Snow to Which city?")

    def test_a_detached_child_is_told_of_as_it_begins(self):
        self.begin("detach")
        self.assertEqual(self.agent.line(), {"type": "delegate", "turn": "t1", "id": "d4", "agent": "archive",
                                             "message": {"parts": [text("Keep this.")]}, "detach": True})
        self.result("d4", task=child_task("TASK_STATE_SUBMITTED"))
        self.assertEqual(reply(self.rest_of()), "TASK_STATE_SUBMITTED")

    def test_a_turn_does_not_wait_for_a_detached_child_and_does_not_make_it_again(self):
        lines = self.answer("leave")
        self.assertEqual([line["type"] for line in lines], ["delegate", "delegate", "wait"])
        results = [{"id": line["id"], "task": child_task("TASK_STATE_COMPLETED", line["message"])} for line in lines[:2]]
        self.assertEqual(self.answer("leave", "t2", resume={"results": results}),
                         [{"type": "text", "delta": "Oslo"}, {"type": "done"}])

    def test_a_result_may_be_waited_for_with_a_bound(self):
        self.assertEqual(reply(self.answer("hurry")), "too slow")
        self.assertEqual(reply(self.answer("nap", "t2")), "rested")

    # Cancels.

    def test_a_cancel_wakes_what_waits(self):
        for prompt, first in (("sleep", "text"), ("children Oslo", "delegate"), ("endless", "text")):
            with self.subTest(prompt):
                self.begin(prompt, prompt)
                self.assertEqual(self.agent.line()["type"], first)
                self.agent.send({"type": "cancel", "turn": prompt})
                self.assert_failed(self.rest_of(prompt), "The turn was canceled.")
        self.assertIn("endless: cleaned up", self.agent.log())

    def test_a_turn_may_end_well_in_spite_of_a_cancel(self):
        self.begin("all-the-same")
        self.agent.line()
        self.agent.send({"type": "cancel", "turn": "t1"})
        self.assertEqual(self.rest_of(), [{"type": "text", "delta": "done all the same"}, {"type": "done"}])

    def test_a_cancel_is_for_its_turn_alone(self):
        for name in ("one", "two"):
            self.begin("sleep", name)
            self.agent.line()
        for line in ({"type": "cancel", "turn": "one"}, {"type": "cancel", "turn": "never"}):
            self.agent.send(line)
        self.assert_failed(self.rest_of("one"), "The turn was canceled.")
        self.assertEqual(reply(self.answer("hello still", "three")), "Hello, still")

    def test_a_turn_may_begin_again_under_its_name_as_soon_as_it_has_ended(self):
        for _ in range(50):
            self.begin("sleep")
            self.agent.line()
            self.agent.send({"type": "cancel", "turn": "t1"})
            self.assert_failed(self.rest_of(), "The turn was canceled.")

    # Lines.

    def test_every_turn_that_cannot_be_read_is_failed_and_the_next_answered(self):
        for what, parts in UNREADABLE.items():
            with self.subTest(what):
                line = json.dumps(turn(text("@"), turn_id=what), separators=(",", ":"))
                self.agent.send(line.replace(json.dumps([text("@")], separators=(",", ":")), parts).encode())
                self.assertEqual(self.rest_of(what)[-1]["type"], "fail")
        self.assertEqual(reply(self.answer("hello you")), "Hello, you")

    def test_lines_that_are_none_of_the_protocol_do_no_harm(self):
        for line in (b"garbage", b"", b"  ", b"[]", b"{}", b"\xff\xfe", b'{"type":"turn"}', b'{"type":"later","turn":"t1"}',
                     b'{"type":"cancel","turn":["t1"]}', b"[" * 100_000, b"null"):
            self.agent.send(line)
        self.assertEqual(reply(self.answer("hello you")), "Hello, you")

    def test_a_line_separator_in_a_text_does_not_end_the_line(self):
        self.assertEqual(reply(self.answer("hello a\u2028b\u2029c\u0085d\x0be")), "Hello, a\u2028b\u2029c\u0085d\x0be")

    def test_a_turn_of_eight_mebibytes_is_read(self):
        self.assertEqual(len(reply(self.answer("hello " + "é" * (4 << 20)))), 7 + (4 << 20))

    def test_lines_of_many_turns_at_a_time_stay_whole(self):
        for number in range(200):
            self.begin("words " + "many words " * 20, str(number))
        ended, said = set(), dict.fromkeys(map(str, range(200)), "")
        while len(ended) < 200:
            line = self.agent.line()
            self.assertNotIn(line["turn"], ended)
            said[line["turn"]] += line.get("delta", "")
            if line["type"] == "done":
                ended.add(line["turn"])
        self.assertEqual(set(said.values()), {"many words " * 20})

    def test_the_end_of_input_ends_the_agent_after_its_turns(self):
        self.begin("nap")
        self.begin("children Oslo", "before")
        self.begin("rest-then-ask", "after")
        self.agent.end_input()
        lines = list(iter(self.agent.line, None))
        self.assertEqual({line["turn"]: line["error"] for line in of_type(lines, "fail")},
                         dict.fromkeys(("before", "after"), "weather: nothing was heard of it"))
        self.assertIn({"type": "done", "turn": "t1"}, lines)
        self.assertEqual(self.agent.wait(), 0)

    def test_when_baton_is_gone_the_agent_ends_without_a_word(self):
        self.begin("endless")
        self.agent.line()
        self.agent.process.stdout.close()
        self.assertEqual(self.agent.wait(), 0)
        self.assertEqual(self.agent.log(), "")

    # The page.

    def test_the_example_on_the_page_is_a_whole_agent(self):
        self.assert_plans(self.command, blocks_of(self.page)[0])

    def assert_plans(self, command: list[str], program: str) -> None:
        """The program, which is the page's example, does what the page says."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        Path(folder.name, command[1]).write_text(program, "utf-8")
        self.agent = LibraryAgent(command, Path(folder.name))
        self.addCleanup(self.agent.close)
        self.assertEqual(self.answer(" "), [{"type": "ask", "message": "Which city?"}])
        self.begin("Oslo")
        delegation = self.agent.line()
        self.assertEqual(delegation["message"], "How is it in Oslo?")
        self.result(delegation["id"], task=child_task("TASK_STATE_COMPLETED", "Snow."))
        lines = self.rest_of()
        self.assertEqual(reply(lines), "Three days in Oslo. Snow.")
        self.assertEqual([line["type"] for line in lines], ["text", "status", "text", "artifact", "done"])


def blocks_of(page: Path) -> list[str]:
    """Returns the code blocks of a page."""
    return re.findall(r"^```\w+\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
