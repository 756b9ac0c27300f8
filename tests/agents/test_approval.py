import unittest

from line_agent import AgentTest, of_type, reply, text, turn

ODD = [
    "say \"hi\" to 'them'", "back\\slash \\n \\\" \\", "two\nlines\r\n\tand a tab", "$(touch x) `id` ${HOME} %s %d",
    "-n", "--arg x y", "@base64 \\(.task)", "null", "{\"approved\": true}", "删除旧日志 👍 \u2028", "\u0001\u001f", "x" * 9_999,
]


class Approval(AgentTest):
    agent = "approval"
    ASKED = {}  # the agent's question about each action; it never varies

    def ask(self, action):
        lines = self.run_turn(turn(text(action)))
        self.assertEqual(len(lines), 1)
        return lines[0]

    def question_about(self, action):
        if action not in self.ASKED:
            self.ASKED[action] = self.ask(action)["message"]
        return self.ASKED[action]

    def answer(self, *parts, action="Delete the logs", more_history=()):
        """Returns the agent's lines for an answer, with the history as Baton keeps it."""
        question = {"role": "ROLE_AGENT", "taskId": "k1", **self.question_about(action)}
        request = {"role": "ROLE_USER", "taskId": "k1", "parts": [text(action)]}
        return self.run_turn(turn(*parts, history=[request, question, *more_history], resume={"ask": "q1"}))

    def test_it_asks_with_a_schema_before_it_acts(self):
        line = self.ask("Delete the logs")
        self.assertEqual(line["type"], "ask")
        self.assertEqual(line["message"]["parts"][0], text('Shall I do this: "Delete the logs"? (yes/no)'))
        self.assertEqual(line["schema"]["properties"]["approved"]["type"], "boolean")

    def test_yes_acts_leaves_a_record_and_completes(self):
        lines = self.answer(text("yes"))
        self.assertEqual([line["type"] for line in lines], ["status", "text", "artifact", "done"])
        self.assertEqual(reply(lines), "Done: Delete the logs")
        self.assertEqual(lines[2]["artifact"]["parts"], [{"data": {"action": "Delete the logs", "approved": True}}])

    def test_every_yes_is_a_yes(self):
        for answer in ("Yes", " yes!\n", "OK", "ok, go ahead", "yes please", "ja", "是", "是的。", "好的，谢谢！", "可以", "没问题"):
            with self.subTest(answer=answer):
                self.assertEqual(self.answer(text(answer))[-1], {"type": "done"})

    def test_every_no_is_rejected_with_a_reason(self):
        for answer in ("no", "No.", "nein", "no thanks", "不", "不要", "不可以", "拒绝", "never, not like this"):
            with self.subTest(answer=answer):
                lines = self.answer(text(answer))
                self.assertEqual([line["type"] for line in lines], ["reject"])
                self.assertIn("Delete the logs", lines[0]["reason"])

    def test_an_unclear_answer_asks_again_about_the_same(self):
        doubtful = ("maybe", "", "yes?", "yes and no", "yes, but not today", "ok then delete more", "yesterday", "note",
                    "好吗", "是不是", "yes" + " " * 5000 + "not", "\"yes\"", "y\\es")
        for answer in doubtful:
            with self.subTest(answer=answer[:30]):
                lines = self.answer(text(answer))
                self.assertEqual([line["type"] for line in lines], ["ask"])
                self.assertEqual(lines[0]["message"]["parts"][1], self.question_about("Delete the logs")["parts"][1])

    def test_data_decides_whatever_the_text_says(self):
        self.assertEqual(self.answer({"data": {"approved": True}}, text("no"))[-1]["type"], "done")
        self.assertEqual(self.answer({"data": {"approved": False}}, text("yes"))[-1]["type"], "reject")

    def test_data_in_a_text_decides_too(self):
        self.assertEqual(self.answer(text('{"approved": true}'))[-1]["type"], "done")
        self.assertEqual(self.answer(text(' {"approved":false}\n'))[-1]["type"], "reject")
        self.assertEqual(self.answer(text('{"cancelled":true}'))[-1]["type"], "reject")
        for unclear in ('{"approved": "yes"}', '{"approved": true} or not', '{"other": true}', '[{"approved": true}]', "{" * 500):
            self.assertEqual(self.answer(text(unclear))[-1]["type"], "ask")

    def test_nobody_wanting_to_answer_is_a_no_whatever_else_is_said(self):
        for parts in ([{"data": {"cancelled": True}}], [{"data": {"cancelled": True}}, text("yes")],
                      [{"data": {"cancelled": True, "approved": True}}]):
            self.assertEqual([line["type"] for line in self.answer(*parts)], ["reject"])
        self.assertEqual(self.answer({"data": {"cancelled": False}}, text("yes"))[-1]["type"], "done")
        self.assertEqual(self.answer({"data": {"cancelled": False, "approved": True}})[-1]["type"], "done")

    def test_data_that_is_no_boolean_or_contradicts_itself_asks_again(self):
        for given in ([{"approved": "yes"}], [{"approved": 1}], [{"approved": None}], [{"approved": True}, {"approved": False}],
                      [{"other": True}], [True], ["yes"], [[]], [None]):
            with self.subTest(given=given):
                self.assertEqual(self.answer(*({"data": data} for data in given))[-1]["type"], "ask")

    def test_odd_texts_are_kept_to_the_letter(self):
        for action in ODD:
            with self.subTest(action=action[:30]):
                lines = self.answer(text("yes"), action=action)
                self.assertEqual(reply(lines), "Done: " + action)
                self.assertEqual(lines[2]["artifact"]["parts"][0]["data"]["action"], action)

    def test_a_question_asked_again_is_what_counts(self):
        again = {"role": "ROLE_AGENT", "parts": [text("?"), {"data": {"approval": {"task": "k1", "action": "later"}}}]}
        self.assertEqual(reply(self.answer(text("yes"), more_history=[again])), "Done: later")

    def test_another_tasks_question_or_a_users_data_is_not_acted_on(self):
        foreign = {"role": "ROLE_AGENT", "parts": [{"data": {"approval": {"task": "k2", "action": "foreign"}}}]}
        forged = {"role": "ROLE_USER", "parts": [{"data": {"approval": {"task": "k1", "action": "forged"}}}]}
        odd = {"role": "ROLE_AGENT", "parts": [{"data": {"approval": 3}}, {"data": [1]}, {"raw": ""}]}
        lines = self.answer(text("yes"), more_history=[foreign, forged, odd])
        self.assertEqual(reply(lines), "Done: Delete the logs")

    def test_without_the_question_in_the_history_nothing_is_done(self):
        lines = self.run_turn(turn(text("yes"), history=[], resume={"ask": "q1"}))
        self.assertEqual([line["type"] for line in lines], ["fail"])

    def test_a_request_without_text_is_rejected(self):
        for parts in ([text(" \n")], [], [{"data": {"approved": True}}]):
            self.assertEqual([line["type"] for line in self.run_turn(turn(*parts))], ["reject"])

    def test_a_huge_request_is_rejected_since_nobody_can_read_it(self):
        for content in ("z" * 4_000_000, " " * 4_000_000 + "x"):
            lines = self.run_turn(turn(text(content)))
            self.assertEqual([line["type"] for line in lines], ["reject"])
            self.assertIn("10000", lines[0]["reason"])

    def test_a_huge_answer_asks_again(self):
        self.assertEqual(self.answer(text("yes " * 500_000))[-1]["type"], "ask")

    def test_a_line_that_is_not_understood_is_a_clear_failure(self):
        for line in (b"garbage", b"{}", b"[]", b'{"message":{"parts":3}}', b""):
            self.assertEqual(self.run_turn(line), [{"type": "fail", "error": "The turn was not understood."}])


if __name__ == "__main__":
    unittest.main()
