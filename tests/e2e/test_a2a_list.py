"""ListTasks of 1.0 in both bindings: filters, order, pages during changes, refusals."""
import concurrent.futures
import threading
import urllib.parse

import a2a_case
import client
import rings


def ids(listed):
    return [task["id"] for task in listed["tasks"]]


class Lists(a2a_case.A2aCase):
    def setUp(self):
        self.context = client.new_id()  # a test's own tasks

    def make(self, count, text="end"):
        return [self.g4.send(text, context=self.context) for _ in range(count)]

    def pages(self, caller, size, **filters):
        """Reads to the last page. Returns the ids of every page."""
        token, pages = "", []
        while True:
            got = caller.list(contextId=self.context, pageSize=size, **({"pageToken": token} if token else {}),
                              **filters)
            pages.append(ids(got))
            token = got["nextPageToken"]
            if not token:
                return pages

    @rings.everything("unit/protocol/a2a/v1_list_test.cpp")
    def test_every_member_is_there_even_of_nothing(self):
        for caller in (self.g4, self.g4_rest):
            with self.subTest(caller.name):
                self.assertEqual(caller.list(contextId="no such context"),
                                 {"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0})

    @rings.everything("contract/task_list_test.cpp")
    def test_newest_status_first(self):
        made = [task.id for task in self.make(3)]
        asked = self.g4.send("ask", context=self.context).id
        self.g4.answer(self.g4.send("ask", context=self.context).id, "done")
        self.g4.answer(asked, "done")  # its status is the newest now
        for caller in (self.g4, self.g4_rest):
            with self.subTest(caller.name):
                listed = caller.list(contextId=self.context)
                self.assertEqual(ids(listed)[0], asked)
                self.assertEqual([task for task in ids(listed) if task in made], made[::-1])
                stamps = [(task["status"]["timestamp"], task["id"]) for task in listed["tasks"]]
                self.assertEqual(stamps, sorted(stamps, reverse=True))

    def test_pages(self):
        made = [task.id for task in self.make(7)][::-1]
        for caller in (self.g4, self.g4_rest):
            with self.subTest(caller.name):
                for size in (1, 3, 7, 100):
                    pages = self.pages(caller, size)
                    self.assertEqual(sum(pages, []), made)
                    self.assertEqual(len(pages), -(-7 // size), "no empty page at the end")
                got = caller.list(contextId=self.context, pageSize=3)
                self.assertEqual((got["totalSize"], got["pageSize"], len(got["tasks"])), (7, 3, 3))

    @rings.everything("contract/task_list_test.cpp and unit/protocol/a2a/v1_list_test.cpp")
    def test_status_filter(self):
        ended, asking = self.make(2), self.make(3, "ask")
        for caller in (self.g4, self.g4_rest):
            with self.subTest(caller.name):
                for status, expected in (("TASK_STATE_COMPLETED", ended), ("TASK_STATE_INPUT_REQUIRED", asking),
                                         ("TASK_STATE_CANCELED", []), ("TASK_STATE_UNSPECIFIED", ended + asking)):
                    got = caller.list(contextId=self.context, status=status)
                    self.assertEqual(sorted(ids(got)), sorted(task.id for task in expected))
                    self.assertEqual(got["totalSize"], len(expected))

    @rings.everything("contract/task_list_test.cpp and unit/protocol/a2a/v1_list_test.cpp")
    def test_time_filter_is_inclusive(self):
        made = self.make(3)
        stamps = [task.raw["status"]["timestamp"] for task in made]
        for caller in (self.g4, self.g4_rest):
            with self.subTest(caller.name):
                expected = {task.id for task, stamp in zip(made, stamps) if stamp >= stamps[1]}
                got = caller.list(contextId=self.context, statusTimestampAfter=stamps[1])
                self.assertEqual(set(ids(got)), expected)
                self.assertIn(made[1].id, ids(got))
                later = caller.list(contextId=self.context, statusTimestampAfter="2100-01-01T00:00:00Z")
                self.assertEqual(ids(later), [])
                offset = caller.list(contextId=self.context, statusTimestampAfter="2000-01-01T02:00:00+02:00")
                self.assertEqual(offset["totalSize"], 3)

    @rings.everything("unit/protocol/a2a/v1_list_test.cpp and unit/engine/task_list_test.cpp")
    def test_artifacts_are_absent_unless_asked_for(self):
        self.make(1)
        self.make(1, "ask")
        for caller in (self.g4, self.g4_rest):
            with self.subTest(caller.name):
                for how in ({}, {"includeArtifacts": False}):
                    listed = caller.list(contextId=self.context, **how)["tasks"]
                    self.assertFalse(any("artifacts" in task for task in listed))
                asking, ended = caller.list(contextId=self.context, includeArtifacts=True)["tasks"]
                self.assertEqual(asking["artifacts"], [], "present, also of a task that has none")
                self.assertEqual(len(ended["artifacts"]), 1)

    @rings.everything("unit/protocol/a2a/v1_list_test.cpp and unit/engine/task_list_test.cpp")
    def test_history_length(self):
        task = self.g4.send("ask", context=self.context).id
        self.g4.answer(task, "done")
        for caller in (self.g4, self.g4_rest):
            with self.subTest(caller.name):
                for length, expected in ((0, None), (1, 1), (2, 2), (50, 3)):
                    history = caller.list(contextId=self.context, historyLength=length)["tasks"][0].get("history")
                    self.assertEqual(len(history) if history else None, expected)

    @rings.everything("contract/task_list_test.cpp; whole programs do it in test_pages_while_others_send")
    def test_a_cursor_survives_change(self):
        """A task that exists throughout is listed once, whatever else changes."""
        made = [task.id for task in self.make(4)]
        asked = [task.id for task in self.make(2, "ask")]
        for caller in (self.g4, self.g4_rest):
            with self.subTest(caller.name):
                first = caller.list(contextId=self.context, pageSize=3)
                cursor = ids(first)[-1]
                new = self.make(1)[0].id
                if asked:
                    self.g4.answer(asked.pop(), "done")  # moves to the front, from behind or in front of the cursor
                seen, token = ids(first), first["nextPageToken"]
                while token:
                    got = caller.list(contextId=self.context, pageSize=3, pageToken=token)
                    seen, token = seen + ids(got), got["nextPageToken"]
                self.assertNotIn(new, seen)
                self.assertEqual(len(seen), len(set(seen)), "nothing comes twice")
                self.assertLessEqual(set(made), set(seen))
                self.assertIn(cursor, seen)
                made.append(new)

    def test_a_token_counts_for_the_question_it_came_with(self):
        self.make(4)
        token = self.g4.list(contextId=self.context, pageSize=2)["nextPageToken"]
        for caller in (self.g4, self.g4_rest):
            with self.subTest(caller.name):
                got = caller.list(contextId=self.context, pageSize=1, pageToken=token)
                self.assertEqual(len(got["tasks"]), 1, "the size may change, and both bindings read it")

    @rings.everything("unit/protocol/a2a/v1_list_test.cpp")
    def test_what_is_refused(self):
        for caller in (self.g4, self.g4_rest):
            with self.subTest(caller.name):
                for wrong in ({"pageSize": 0}, {"pageSize": 101}, {"pageSize": -1}, {"pageToken": "no token"},
                              {"pageToken": "AAAA"}, {"status": "TASK_STATE_DREAMING"}, {"status": "completed"},
                              {"statusTimestampAfter": "yesterday"}, {"historyLength": -1}, {"pageSize": 2**40}):
                    with self.subTest(caller=caller.name, wrong=wrong):
                        self.assert_refused(-32602, lambda: caller.list(**wrong))

    def test_more_that_is_refused_or_taken_in_a_query(self):
        odd = "a b+c/ü%&=?"
        task = self.g4.send("end", context=odd).id
        self.assertEqual(ids(self.g4_rest.list(contextId=odd)), [task], "a plus sign for a space")
        path = "/tasks?contextId=" + urllib.parse.quote(odd, safe="")
        self.assertEqual(ids(self.rest("GET", path, version="1.0").body), [task], "all percent-encoded")
        for query, status in (("pageSize=many", 400), ("includeArtifacts=perhaps", 400), ("historyLength=1.5", 400),
                              ("unknown=1", 200), ("page_size=1", 200), ("status=3", 200)):
            with self.subTest(query):
                answer = self.rest("GET", "/tasks?" + query, version="1.0")
                self.assertEqual(answer.status, status, answer.raw)

    def test_pages_while_others_send(self):
        """Tasks that existed when the first page was read are seen once, in order, whatever is sent meanwhile."""
        made = [task.id for task in self.make(12)][::-1]
        going, sent = threading.Event(), []

        def send():
            caller = type(self.g3)(self.server)
            while not going.is_set():
                sent.append(caller.send("end", context=self.context).id)

        with concurrent.futures.ThreadPoolExecutor(2) as threads:
            senders = [threads.submit(send) for _ in range(2)]
            try:
                for caller in (self.g4, self.g4_rest) * 3:
                    seen = sum(self.pages(caller, 2), [])
                    self.assertEqual(len(seen), len(set(seen)))
                    self.assertEqual([task for task in seen if task in made], made)
            finally:
                going.set()
            for sender in senders:
                sender.result()
        self.assertEqual(set(sum(self.pages(self.g4, 100), [])), {*made, *sent})

    def test_tasks_of_every_generation_are_listed(self):
        named = {self.g1.send("end", context=self.context).id}
        for caller in self.all[1:]:
            named.add(caller.send("end", context=self.context).id)
        for caller in (self.g4, self.g4_rest):
            with self.subTest(caller.name):
                self.assertEqual(set(ids(caller.list(contextId=self.context))), named)

    @rings.everything("unit/server/a2a/rest_test.cpp and unit/protocol/a2a/v0_1_test.cpp")
    def test_no_list_before_1_0(self):
        self.assertEqual(self.post("tasks/list", {}).body["error"]["code"], -32601)
        self.assertEqual(self.rest("GET", "/v1/tasks").status, 404)


class WhoSees(a2a_case.A2aCase):
    AGENTS = ["player", "joke"]
    CONFIG = {"tokens": [{"caller": "ann", "token": "secret-of-ann"}, {"caller": "bob", "token": "secret-of-bob"}]}

    def test_only_the_callers_own_tasks_of_this_agent(self):
        ann = type(self.g4)(self.server, token="secret-of-ann")
        bob = type(self.g4_rest)(self.server, token="secret-of-bob")
        at_joke = type(self.g4)(self.server, agent="joke", token="secret-of-ann")
        mine, his, other = ann.send("end").id, bob.send("end").id, at_joke.send("x").id
        self.assertEqual([ids(caller.list()) for caller in (ann, bob, at_joke)], [[mine], [his], [other]])
        self.assertEqual(type(self.g4)(self.server, token="secret-of-ann", tenant="t").list()["tasks"], [])
        for caller, task in ((ann, his), (bob, mine), (at_joke, mine)):
            self.assert_refused(-32001, caller.get, task)
            self.assert_refused(-32001, caller.cancel, task)
            self.assert_refused(-32001, caller.subscribe, task)
            self.assert_refused(-32001, caller.send, "x", task=task)
        for path, version in (("/tasks", "1.0"), (f"/v1/tasks/{mine}", None)):
            answer = self.rest("GET", path, version=version)
            self.assertEqual(answer.status, 401)
            self.assertIn("WWW-Authenticate", answer.headers)

    def test_the_same_id_of_two_callers(self):
        ann, bob = (type(self.g1)(self.server, token=f"secret-of-{name}") for name in ("ann", "bob"))
        task = client.new_id()
        self.assertEqual(ann.begin("ask of ann", task=task).said, ["of ann"])
        self.assertEqual(bob.begin("ask of bob", task=task).said, ["of bob"], "a task of its own, not an error")
        self.assertEqual(ann.cancel(task).state, "canceled")
        self.assertEqual(bob.get(task).state, "input-required")
