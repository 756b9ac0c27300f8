"""Conversations as chat pages list them: GET, PATCH and DELETE below /agents/<name>/conversations."""
import concurrent.futures
import json
import urllib.parse

import client
import harness

OWN, OTHER = "the-shops-own-token-is-long-enough", "the-desks-own-token-is-long-enough"
OPERATOR = "the-operators-token-is-long-enough"


class ConversationCase(harness.ServerCase):
    AGENTS = ["chat", "family"]
    CONFIG = {"tokens": [{"caller": "shop", "token": OWN}, {"caller": "desk", "token": OTHER},
                         {"caller": "olga", "token": OPERATOR, "role": "operator"}]}

    def setUp(self):
        self.token = self.page_token(client.new_id())

    def page_token(self, user, **asked):
        """Returns a page token. Each test uses a user of its own."""
        body = json.dumps({"user": user, **asked}).encode()
        return self.server.http("POST", "/tokens", body, self.server.headers_of(OWN, {})).body["token"]

    def ask(self, method, context=None, body=None, agent="chat", token=None, **query):
        path = f"/agents/{agent}/conversations"
        if context is not None:
            path += "/" + urllib.parse.quote(context, safe="")
        if query:
            path += "?" + urllib.parse.urlencode(query)
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        return self.server.http(method, path, body, self.server.headers_of(token or self.token, {}))

    def listed(self, **how):
        answer = self.ask("GET", **how)
        self.assertEqual(answer.status, 200, answer.raw)
        return answer.body["conversations"]

    def titles(self, **how):
        return [shown["title"] for shown in self.listed(**how)]

    def rename(self, context, title, **how):
        return self.ask("PATCH", context, {"title": title}, **how)

    def said(self, text, context=None, agent="chat", token=None, at_once=False):
        """Sends a message. Returns its task, once it has stopped."""
        message = {"messageId": client.new_id(), "role": "ROLE_USER", "parts": [{"text": text}]}
        if context:
            message["contextId"] = context
        params = {"message": message, "configuration": {"returnImmediately": at_once}}
        return self.server.call("SendMessage", params, agent=agent, token=token or self.token,
                                headers={"A2A-Version": "1.0"})["task"]

    def tasks(self, agent="chat", token=None):
        listed = self.server.call("ListTasks", {}, agent=agent, token=token or self.token,
                                  headers={"A2A-Version": "1.0"})
        return {task["id"] for task in listed["tasks"]}


class Lists(ConversationCase):
    def test_the_newest_is_first_with_its_title_its_times_and_its_state(self):
        first = self.said("say good day")
        asked = self.said("ask which one?")
        shown = self.listed()
        self.assertEqual([(one["id"], one["title"], one["state"]) for one in shown],
                         [(asked["contextId"], "ask which one?", "input-required"),
                          (first["contextId"], "say good day", "completed")])
        for one in shown:
            self.assertRegex(one["createdAt"], r"\A20\d\d-.*Z\Z")
            self.assertLessEqual(one["createdAt"], one["updatedAt"])
        self.said("say and now", first["contextId"])
        again = self.listed()
        self.assertEqual([one["title"] for one in again], ["say good day", "ask which one?"])
        self.assertEqual(again[0]["createdAt"], shown[1]["createdAt"])
        self.assertGreater(again[0]["updatedAt"], shown[0]["updatedAt"])

    def test_pages_have_each_conversation_once_however_many_tasks_it_has(self):
        contexts = [self.said(f"say {number}")["contextId"] for number in range(7)]
        for number in (0, 3, 3):
            self.said("say more", contexts[number])
        expected = [contexts[number] for number in (3, 0, 6, 5, 4, 2, 1)]
        for size in (1, 3, 7):
            with self.subTest(size=size):
                found, token = [], {}
                while True:
                    page = self.ask("GET", pageSize=size, **token).body
                    self.assertLessEqual(len(page["conversations"]), size)
                    found += [one["id"] for one in page["conversations"]]
                    if "nextPageToken" not in page:
                        break
                    token = {"pageToken": page["nextPageToken"]}
                self.assertEqual(found, expected)

    def test_a_conversation_of_more_tasks_than_one_read_takes_hides_no_older_one(self):
        older = self.said("say older")["contextId"]
        long = client.new_id()
        for number in range(130):
            self.said(f"say {number}", long)
        self.assertEqual([one["id"] for one in self.listed()], [long, older])

    def test_children_of_a_task_are_no_conversations(self):
        parent = self.said(json.dumps({"all": ['{"use": 1}', '{"use": 2}']}), agent="family")
        self.assertEqual(len(self.tasks(agent="family")), 3)
        self.assertEqual([one["id"] for one in self.listed(agent="family")], [parent["contextId"]])

    def test_what_cannot_be_listed_is_refused(self):
        for query in ({"pageSize": 0}, {"pageSize": 101}, {"pageSize": "x"}, {"pageToken": "x"}):
            with self.subTest(query=query):
                self.assertEqual(self.ask("GET", **query).status, 400)
        self.assertEqual(self.server.http("GET", "/agents/nobody/conversations").status, 404)
        self.assertEqual(self.server.http("GET", "/agents/chat/conversations/a/b").status, 404)
        posted = self.ask("POST", body={})
        self.assertEqual((posted.status, posted.headers["Allow"]), (405, "GET"))
        posted = self.ask("POST", "a", body={})
        self.assertEqual((posted.status, posted.headers["Allow"]), (405, "GET, PATCH, DELETE"))


class Callers(ConversationCase):
    def test_nobody_else_sees_renames_or_deletes_one(self):
        context = self.said("say secret")["contextId"]
        for other in (self.page_token(client.new_id()), OWN, OTHER):
            self.assertNotIn(context, [one["id"] for one in self.listed(token=other)])
            self.assertEqual(self.ask("GET", context, token=other).status, 404)
            self.assertEqual(self.rename(context, "Mine", token=other).status, 404)
            self.assertEqual(self.ask("DELETE", context, token=other).status, 404)
        self.assertEqual(self.ask("GET", context, agent="family").status, 404)
        self.assertEqual(self.titles(), ["say secret"])

    def test_the_same_context_of_two_users_is_two_conversations(self):
        context, other = client.new_id(), self.page_token(client.new_id())
        self.said("say mine", context)
        self.said("say theirs", context, token=other)
        self.assertEqual(self.rename(context, "Ours").status, 200)
        self.assertEqual(self.ask("DELETE", context).status, 204)
        self.assertEqual(self.titles(), [])
        self.assertEqual(self.titles(token=other), ["say theirs"])

    def test_a_token_for_one_agent_opens_the_conversations_of_no_other(self):
        token = self.page_token(client.new_id(), agent="chat")
        self.assertEqual(self.titles(token=token), [])
        for method, context in (("GET", None), ("GET", "a"), ("PATCH", "a"), ("DELETE", "a")):
            self.assertEqual(self.ask(method, context, agent="family", token=token).status, 403)
        self.assertEqual(self.server.http("GET", "/agents/chat/conversations").status, 401)

    def test_a_page_may_have_its_token_in_the_query(self):
        self.said("say here")
        answer = self.server.http("GET", f"/agents/chat/conversations?access_token={self.token}")
        self.assertEqual([one["title"] for one in answer.body["conversations"]], ["say here"])

    def test_pages_of_allowed_origins_may_rename_and_delete_and_others_not(self):
        origin = {"Origin": "http://localhost:3000"}
        allowed = self.server.http("OPTIONS", "/agents/chat/conversations/a", headers=origin)
        methods = {method.strip() for method in allowed.headers["Access-Control-Allow-Methods"].split(",")}
        self.assertLessEqual({"GET", "PATCH", "DELETE"}, methods)
        context = self.said("say here")["contextId"]
        headers = self.server.headers_of(self.token, {"Origin": "https://elsewhere.example"})
        path = f"/agents/chat/conversations/{context}"
        self.assertEqual(self.server.http("DELETE", path, headers=headers).status, 403)
        self.assertEqual(len(self.listed()), 1)


class Titles(ConversationCase):
    def test_a_title_is_shown_wherever_the_conversation_is_until_it_is_taken_away(self):
        context = self.said("say good day")["contextId"]
        renamed = self.rename(context, "  Weather \n in Rome ")
        self.assertEqual((renamed.status, renamed.body["title"]), (200, "Weather in Rome"))
        self.said("say more", context)
        self.assertEqual(self.titles(), ["Weather in Rome"])
        self.assertEqual(self.ask("GET", context).body["title"], "Weather in Rome")
        self.assertEqual(self.rename(context, None).body["title"], "say good day")
        self.assertEqual(self.titles(), ["say good day"])

    def test_titles_outlive_a_restart(self):
        context = self.said("say good day")["contextId"]
        self.rename(context, "天气 ☂")
        self.server.stop()
        self.server.start()
        self.assertEqual(self.titles(), ["天气 ☂"])

    def test_first_words_are_shortened_and_stay_in_one_line(self):
        self.said("say one\n\ttwo\u202e three\u0007")
        self.assertEqual(self.titles(), ["say one two three"])
        self.said("say " + "ü" * 200)
        self.assertEqual(self.titles()[0], "say " + "ü" * 75 + "…")

    def test_a_conversation_that_begins_with_a_file_is_called_by_its_name(self):
        part = {"raw": "aGVsbG8=", "filename": "table.csv", "mediaType": "text/csv"}
        message = {"messageId": client.new_id(), "role": "ROLE_USER", "parts": [part]}
        self.server.call("SendMessage", {"message": message}, agent="chat", token=self.token,
                         headers={"A2A-Version": "1.0"})
        self.assertEqual(self.titles(), ["table.csv"])

    def test_what_would_disguise_a_title_is_left_out_of_it(self):
        context = self.said("say x")["contextId"]
        for given, kept in (("a\u202eb\u2066c\u200f", "abc"), ("a\u0000\u0007\u0085b", "a b"),
                            ("<script>", "<script>"), ("x" * 200, "x" * 200), ("😀" * 200, "😀" * 200)):
            with self.subTest(given=given[:20]):
                self.assertEqual(self.rename(context, given).body["title"], kept)
                self.assertEqual(self.titles(), [kept])

    def test_what_is_no_title_changes_nothing(self):
        context = self.said("say x")["contextId"]
        self.rename(context, "Kept")
        for title in ("", " \t\n ", "\u202e\u0000", "x" * 201, 7, True, [], {}):
            with self.subTest(title=title):
                self.assertEqual(self.rename(context, title).status, 400)
        for body in (b"", b"{", b"[]", b"null", b"{}", b'{"title":"a","x":1}', b'{"title":"\xff"}'):
            with self.subTest(body=body):
                self.assertEqual(self.ask("PATCH", context, body).status, 400)
        self.assertEqual(self.rename(context, "x" * 20_000).status, 413)
        self.assertEqual(self.titles(), ["Kept"])
        self.assertEqual(self.rename("no-such", "x").status, 404)

    def test_ids_may_have_any_characters(self):
        for context in ("a/b", "ä ☂", "%2F", "a?b#c", ".."):
            with self.subTest(context=context):
                self.said("say x", context)
                self.assertEqual(self.rename(context, "Named").status, 200)
                self.assertEqual(self.ask("GET", context).body["id"], context)
                self.assertEqual(self.ask("DELETE", context).status, 204)


class Messages(ConversationCase):
    def messages(self, context, **query):
        answer = self.ask("GET", context, **query)
        self.assertEqual(answer.status, 200, answer.raw)
        return answer.body

    def test_a2a_has_what_both_said_with_its_task(self):
        first = self.said("say good day")
        context = first["contextId"]
        second = self.said("data a table", context)
        shown = self.messages(context)
        self.assertEqual((shown["id"], shown["title"], shown["state"]), (context, "say good day", "completed"))
        self.assertEqual([(one["role"], one["parts"][0]["text"], one["taskId"], one["contextId"])
                          for one in shown["messages"]],
                         [("ROLE_USER", "say good day", first["id"], context),
                          ("ROLE_AGENT", "good day", first["id"], context),
                          ("ROLE_USER", "data a table", second["id"], context),
                          ("ROLE_AGENT", "a table", second["id"], context)])
        self.assertEqual(len({one["messageId"] for one in shown["messages"]}), 4)
        self.assertEqual(self.messages(context, shape="a2a"), shown)

    def test_tools_are_shown_to_ag_ui_alone(self):
        context = self.said("tool look_up")["contextId"]
        shown = self.messages(context, shape="ag-ui")["messages"]
        self.assertEqual([one["role"] for one in shown], ["user", "assistant", "tool", "assistant"])
        self.assertEqual(shown[0]["content"], "tool look_up")
        call = shown[1]["toolCalls"][0]
        self.assertEqual((call["type"], call["function"]["name"]), ("function", "look_up"))
        self.assertEqual((shown[2]["toolCallId"], shown[2]["content"]), (call["id"], "sunny"))
        self.assertEqual(shown[3]["content"], "it is sunny")
        self.assertEqual(len({one["id"] for one in shown}), 4)
        plain = self.messages(context)["messages"]
        self.assertEqual([one["parts"] for one in plain], [[{"text": "tool look_up"}], [{"text": "it is sunny"}]])

    def test_pages_go_back_to_the_beginning(self):
        context = client.new_id()
        for number in range(60):
            self.said(f"say {number}", context)
        texts, token, pages = [], {}, 0
        while True:
            page = self.messages(context, pageSize=10, **token)
            texts = [one["parts"][0]["text"] for one in page["messages"]] + texts
            pages += 1
            if "nextPageToken" not in page:
                break
            token = {"pageToken": page["nextPageToken"]}
        self.assertEqual(texts, [text for number in range(60) for text in (f"say {number}", str(number))])
        self.assertGreaterEqual(pages, 12)

    def test_what_is_under_way_is_shown_so_far(self):
        task = self.said("wait", at_once=True)
        def so_far():
            shown = self.messages(task["contextId"])
            return [one["parts"][0]["text"] for one in shown["messages"]] == ["wait", "begun "]
        harness.wait_for(so_far, what="what the agent has said so far")
        self.assertEqual(self.messages(task["contextId"])["state"], "working")
        self.server.gate("chat", task["id"])

    def test_an_unknown_shape_or_conversation_is_refused(self):
        context = self.said("say x")["contextId"]
        self.assertEqual(self.ask("GET", context, shape="xml").status, 400)
        self.assertEqual(self.ask("GET", context, pageToken="xml").status, 400)
        self.assertEqual(self.ask("GET", "no-such").status, 404)


class Deletes(ConversationCase):
    def test_all_its_tasks_are_gone_and_nothing_else(self):
        kept = self.said("say kept")
        context = self.said("say one")["contextId"]
        self.said("say two", context)
        self.rename(context, "Numbers")
        answer = self.ask("DELETE", context)
        self.assertEqual((answer.status, answer.raw), (204, b""))
        self.assertEqual(self.tasks(), {kept["id"]})
        self.assertEqual(self.titles(), ["say kept"])
        for method, body in (("GET", None), ("PATCH", {"title": "x"}), ("DELETE", None)):
            self.assertEqual(self.ask(method, context, body).status, 404)
        self.said("say again", context)
        self.assertEqual(self.titles(), ["say again", "say kept"])

    def test_what_is_at_work_or_asks_is_canceled_first(self):
        for text, state in (("wait", "TASK_STATE_WORKING"), ("ask which one?", "TASK_STATE_INPUT_REQUIRED")):
            with self.subTest(text):
                task = self.said(text, at_once=True)
                def begun():
                    now = self.server.call("GetTask", {"id": task["id"]}, agent="chat", token=self.token,
                                           headers={"A2A-Version": "1.0"})
                    return now["status"]["state"] == state
                harness.wait_for(begun, what=state)
                self.assertEqual(self.ask("DELETE", task["contextId"]).status, 204)
                self.assertEqual((self.titles(), self.tasks()), ([], set()))

    def test_two_deletions_at_once_both_succeed(self):
        for _ in range(10):
            # Both wait for the end of its turn.
            context = self.said("wait", at_once=True)["contextId"]
            with concurrent.futures.ThreadPoolExecutor(2) as both:
                answers = list(both.map(lambda _, context=context: self.ask("DELETE", context), range(2)))
            # A delete that came after the other's end has found nothing.
            self.assertIn(sorted(answer.status for answer in answers), ([204, 204], [204, 404]))
            self.assertEqual(self.tasks(), set())

    def test_children_at_work_go_with_it(self):
        work = json.dumps({"all": ['{"hold": "on"}', '{"use": 1}']})
        context = self.said(work, agent="family", at_once=True)["contextId"]
        harness.wait_for(lambda: len(self.tasks(agent="family")) == 3, what="the children")
        self.assertEqual(self.ask("DELETE", context, agent="family").status, 204)
        self.assertEqual(self.tasks(agent="family"), set())

    def test_the_audit_says_that_the_caller_did_it(self):
        context = self.said("say x")["contextId"]
        self.ask("DELETE", context)
        rows = self.server.http("GET", "/operate/v1/audit?action=delete-context", None,
                                self.server.headers_of(OPERATOR, {})).body["rows"]
        row = next(row for row in rows if context in row["detail"])
        self.assertEqual((row["actor"], row["agent"], row["outcome"]), ("shop", "chat", "done"))
        self.assertIn("caller", row["reason"])
