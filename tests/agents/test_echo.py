import base64
import unittest

from line_agent import AgentTest, of_type, raw, reply, text, turn


class Echo(AgentTest):
    agent = "echo"

    def setUp(self):
        self.worker = self.start()

    def echo(self, *parts, **members):
        self.worker.send(turn(*parts, **members))
        return self.worker.until_end(members.get("turn_id", "t1"))

    def test_text_comes_back_unchanged_word_by_word(self):
        lines = self.echo(text("one two  three\n"))
        self.assertEqual([line["delta"] for line in of_type(lines, "text")], ["one ", "two  ", "three\n"])
        self.assertEqual(lines[-1], {"type": "done", "turn": "t1"})

    def test_every_kind_of_white_space_and_character_is_kept(self):
        for content in (" leading", "trailing \t\r\n", "\n\n\n", "a\u00a0b\u2003c", "你好，世界 and カタカナ", "👩‍👩‍👧 \u0000\u001f\\\"", "x"):
            with self.subTest(content=content):
                self.assertEqual(reply(self.echo(text(content))), content)

    def test_chinese_is_streamed_by_characters(self):
        lines = self.echo(text("你好世界"))
        self.assertEqual(len(of_type(lines, "text")), 4)

    def test_several_texts_are_joined_by_line_ends(self):
        self.assertEqual(reply(self.echo(text("a"), text("b"))), "a\nb")

    def test_empty_text_completes_with_an_empty_reply(self):
        for parts in ([text("")], []):
            self.assertEqual(self.echo(*parts), [{"type": "done", "turn": "t1"}])

    def test_files_and_data_come_back_as_artifacts_with_the_same_part(self):
        parts = [raw(b"\x00\xff"), {"url": "https://example.com/x"}, {"data": {"a": [1, None, 1e300]}, "metadata": {"b": 2}}]
        lines = self.echo(text("see these"), *parts)
        artifacts = [line["artifact"] for line in of_type(lines, "artifact")]
        self.assertEqual([artifact["parts"] for artifact in artifacts], [[part] for part in parts])
        self.assertEqual(len({artifact["artifactId"] for artifact in artifacts}), 3)
        self.assertEqual(reply(lines), "see these")

    def test_a_second_attempt_gives_its_artifacts_the_same_ids(self):
        first = self.echo({"data": 1})
        self.assertEqual(self.echo({"data": 1}, attempt=2), first)

    def test_a_text_of_many_words_is_grouped_and_a_giant_word_is_cut(self):
        for content in ("a " * 300_000, "y" * 1_000_000):
            lines = self.echo(text(content))
            self.assertEqual(reply(lines), content)
            self.assertLessEqual(len(lines), 10_001)
            self.assertLess(max(len(line["delta"]) for line in of_type(lines, "text")), 20_000)

    def test_a_file_of_megabytes_comes_back(self):
        content = bytes(range(256)) * 8192
        artifact = self.echo(raw(content))[0]["artifact"]
        self.assertEqual(base64.b64decode(artifact["parts"][0]["raw"]), content)

    def test_data_that_fit_into_no_line_fail_their_turn_alone(self):
        lines = self.echo({"data": "é" * 1_500_000})
        self.assertEqual([line["type"] for line in lines], ["fail"])
        self.assertEqual(reply(self.echo(text("next"), turn_id="t2")), "next")

    def test_a_pause_streams_all_words_in_order(self):
        lines = self.echo(text("a b c"), message_metadata={"delay_ms": 1})
        self.assertEqual([line.get("delta") for line in lines], ["a ", "b ", "c", None])

    def test_the_requests_metadata_sets_the_pause_too(self):
        self.worker.send(turn(text("a b c"), turn_id="slow", metadata={"delay_ms": 99_999}))
        self.assertEqual(self.worker.line()["delta"], "a ")
        self.worker.send({"type": "cancel", "turn": "slow"})
        self.assertEqual(self.worker.until_end("slow")[-1]["type"], "fail")

    def test_a_pause_that_is_no_number_is_ignored(self):
        for delay in ("long", True, None, [], -5):
            with self.subTest(delay=delay):
                self.assertEqual(reply(self.echo(text("a b"), message_metadata={"delay_ms": delay})), "a b")

    def test_a_waiting_turn_does_not_hold_up_others(self):
        for number in range(3):
            self.worker.send(turn(text("a b"), turn_id=f"slow{number}", message_metadata={"delay_ms": 5000}))
            self.assertEqual(self.worker.line()["turn"], f"slow{number}")
        self.assertEqual(reply(self.echo(text("quick one"), turn_id="quick")), "quick one")

    def test_cancel_ends_its_turn_at_once_and_no_other(self):
        for turn_id in ("one", "two"):
            self.worker.send(turn(text("a b c"), turn_id=turn_id, message_metadata={"delay_ms": 5000}))
            self.worker.line()
        self.worker.send({"type": "cancel", "turn": "one"})
        self.assertEqual(self.worker.line(), {"type": "fail", "turn": "one", "error": "The turn was canceled."})
        self.worker.send({"type": "cancel", "turn": "two"})
        self.assertEqual(self.worker.line()["turn"], "two")

    def test_cancel_of_a_turn_that_is_over_or_unknown_is_ignored(self):
        self.echo(text("a"))
        self.worker.send({"type": "cancel", "turn": "t1"})
        self.worker.send({"type": "cancel", "turn": "never"})
        self.assertEqual(reply(self.echo(text("still here"), turn_id="t2")), "still here")

    def test_lines_that_are_not_understood_do_no_harm(self):
        for line in (b"garbage", b"{", b"[]", b"{}", b"\xff\xfe", b'{"type":"turn"}', b'{"type":"later"}', b"[" * 100_000):
            self.worker.send(line)
        self.assertEqual(reply(self.echo(text("still here"))), "still here")

    def test_a_thousand_turns_in_one_go_are_all_answered(self):
        for number in range(1000):
            self.worker.send(turn(text(f"turn number {number}"), turn_id=str(number)))
        for number in range(1000):
            self.assertEqual(reply(self.worker.until_end()), f"turn number {number}")

    def test_the_end_of_input_ends_the_worker_after_its_turns(self):
        self.worker.send(turn(text("a b c"), message_metadata={"delay_ms": 10}))
        self.worker.process.stdin.close()
        self.assertEqual(reply(self.worker.until_end()), "a b c")
        self.assertEqual(self.worker.wait(), 0)


if __name__ == "__main__":
    unittest.main()
