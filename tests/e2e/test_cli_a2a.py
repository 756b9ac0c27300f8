"""The program's client commands in every version of A2A, over JSON-RPC and REST; the version is chosen by the remote
card or forced with --a2a."""
import json
import shlex
import subprocess

import client
import generations
import harness
import relay
import rings

DONE, FAILED, USAGE, WAITS, NO_ANSWER, CANCELED = 0, 1, 2, 3, 4, 5
VERSIONS = (None, "0.1", "0.2", "0.3", "1.0")
# For rules that unit/protocol/a2a/client and unit/client assert for each version.
SOME_VERSIONS = rings.some(VERSIONS, 2)


class CliCase(harness.ServerCase):
    def run_line(self, line, seconds=60):
        """Runs a command line. Returns its exit code, the JSON of each line it printed, and its error output."""
        done = subprocess.run([harness.PROGRAM, *line], capture_output=True, text=True, check=False,
                              timeout=client.scaled(seconds), env=harness.program_environment(), cwd=self.server.folder)
        return done.returncode, [json.loads(text) for text in done.stdout.splitlines()], done.stderr

    def run_baton(self, *words, url=None, a2a=None):
        forced = ["--a2a", a2a] if a2a else []
        return self.run_line([*words, "--json", "--url", url or f"http://127.0.0.1:{self.server.port}", *forced])

    @staticmethod
    def bare(line):
        """Returns the line's object without the wrapper of ProtoJSON."""
        for name in ("task", "statusUpdate", "artifactUpdate", "message"):
            if isinstance(line.get(name), dict):
                return line[name]
        return line

    def task_in(self, lines):
        first = self.bare(lines[0])
        return first.get("taskId") or first["id"]

    def last_state(self, lines):
        bare = [self.bare(line) for line in lines]
        return generations.plain_state([line["status"]["state"] for line in bare if "status" in line][-1])

    def text_in(self, lines):
        text = ""
        for line in map(self.bare, lines):
            for artifact in line.get("artifacts", [line["artifact"]] if "artifact" in line else []):
                text += "".join(generations.texts_in(artifact["parts"]))
        return text


class EachVersion(CliCase):
    def test_send_get_watch(self):
        for a2a in VERSIONS:
            with self.subTest(a2a):
                code, lines, complaints = self.run_baton("send", "one two", a2a=a2a)
                self.assertEqual((code, self.last_state(lines)), (DONE, "completed"), complaints)
                self.assertEqual(self.text_in(lines), "one two")
                task = self.task_in(lines)
                code, lines, _ = self.run_baton("get", task, "--history", "1", a2a=a2a)
                self.assertEqual((code, len(lines), lines[0]["id"]), (DONE, 1, task))
                self.assertEqual(list(generations.texts_in(lines[0]["history"])), ["one two"])
                code, lines, _ = self.run_baton("get", task, a2a=a2a)
                self.assertNotIn("history", lines[0])
                code, all_lines, _ = self.run_baton("watch", task, "--from", "0", a2a=a2a)
                self.assertEqual((code, self.text_in(all_lines)), (DONE, "one two"))
                code, later, _ = self.run_baton("watch", task, "--from", "2", a2a=a2a)
                self.assertEqual((code, later), (DONE, all_lines[-len(later):]))
                self.assertLess(len(later), len(all_lines))
                code, lines, _ = self.run_baton("watch", task, a2a=a2a)
                self.assertEqual((code, self.last_state(lines)), (DONE, "completed"))

    def test_the_version_is_what_was_asked_for(self):
        shapes = {None: "task", "0.1": "sessionId", "0.2": "kind", "0.3": "kind", "1.0": "task"}
        for a2a, member in shapes.items():
            with self.subTest(a2a):
                _, lines, _ = self.run_baton("send", "--no-stream", "x", a2a=a2a)
                self.assertEqual(len(lines), 1)
                self.assertIn(member, lines[0])

    def test_files_come_back(self):
        for a2a in SOME_VERSIONS:
            with self.subTest(a2a):
                (self.server.folder / "in.bin").write_bytes(bytes(range(256)))
                folder = f"out-{a2a}"
                code, _, complaints = self.run_baton("send", "--file", "in.bin", "--data", '{"a":[1]}', "--out", folder,
                                                     a2a=a2a)
                self.assertEqual(code, DONE, complaints)
                self.assertEqual((self.server.folder / folder / "in.bin").read_bytes(), bytes(range(256)))

    def test_a_question_is_answered_by_the_printed_line(self):
        for a2a in SOME_VERSIONS:
            with self.subTest(a2a):
                code, lines, complaints = self.run_baton("send", "--agent", "approval", "Delete it", a2a=a2a)
                self.assertEqual((code, self.last_state(lines)), (WAITS, "input-required"))
                told = next(line for line in complaints.splitlines() if line.startswith("to answer: baton "))
                words = shlex.split(told.removeprefix("to answer: baton "))
                # The printed example fits the question's schema.
                self.assertEqual(words[words.index("--data") + 1], '{"approved":true}')
                code, lines, complaints = self.run_line([*words, "--json"])
                self.assertEqual((code, self.last_state(lines)), (DONE, "completed"), complaints)

    def test_cancel(self):
        for a2a in SOME_VERSIONS:
            with self.subTest(a2a):
                _, lines, _ = self.run_baton("send", "--agent", "approval", "Delete it", a2a=a2a)
                task = self.task_in(lines)
                code, lines, complaints = self.run_baton("cancel", task, "--agent", "approval", a2a=a2a)
                self.assertEqual((code, self.last_state(lines)), (DONE, "canceled"), complaints)
                code, _, _ = self.run_baton("watch", task, "--agent", "approval", a2a=a2a)
                self.assertEqual(code, CANCELED)
                _, lines, _ = self.run_baton("send", "x", a2a=a2a)
                code, _, complaints = self.run_baton("cancel", self.task_in(lines), a2a=a2a)
                self.assertEqual(code, NO_ANSWER)
                self.assertIn("-32002", complaints)

    def test_failure_and_unknown_task(self):
        for a2a in SOME_VERSIONS:
            with self.subTest(a2a):
                code, lines, _ = self.run_baton("send", "--agent", "table-report", "a,b\n1\n", a2a=a2a)
                self.assertEqual((code, self.last_state(lines)), (FAILED, "failed"))
                for command in ("get", "watch", "cancel"):
                    code, _, complaints = self.run_baton(command, "no-such-task", a2a=a2a)
                    self.assertEqual(code, NO_ANSWER)
                    self.assertIn("-32001", complaints)

    def test_wrong_use(self):
        for words in (["send", "x", "--a2a", "2.0"], ["list", "--state", "asleep"], ["list", "--since", "yesterday"],
                      ["list", "--limit", "0"], ["list", "x"]):
            with self.subTest(words):
                self.assertEqual(self.run_baton(*words)[0], USAGE)


class Lists(CliCase):
    def test_list(self):
        ids, context = [], None
        for number in range(5):
            more = ["--context", context] if context else []
            _, lines, _ = self.run_baton("send", *more, f"number {number}")
            context = context or self.bare(lines[0])["contextId"]
            ids.insert(0, self.task_in(lines))
        _, lines, _ = self.run_baton("send", "--agent", "approval", "Delete it")
        elsewhere = self.task_in(lines)

        def listed(*words):
            agent = [] if "--agent" in words else ["--agent", "echo"]
            code, found, complaints = self.run_baton("list", *words, *agent)
            self.assertEqual(code, DONE, complaints)
            return [task["id"] for task in found]

        self.assertEqual(listed(), ids)
        self.assertEqual(listed("--limit", "2"), ids[:2])
        self.assertEqual(listed("--all"), ids)
        self.assertEqual(listed("--context", context, "--a2a", "1.0"), ids)
        self.assertEqual(listed("--context", "no-such-context"), [])
        self.assertEqual(listed("--state", "completed"), ids)
        self.assertEqual(listed("--state", "failed"), [])
        self.assertEqual(listed("--agent", "approval", "--state", "input-required"), [elsewhere])
        self.assertEqual(listed("--since", "2999-01-01T00:00:00Z"), [])
        self.assertEqual(listed("--since", "2000-01-01T00:00:00Z"), ids)
        _, found, complaints = self.run_baton("list", "--limit", "2", "--history", "1", "--agent", "echo")
        self.assertEqual(list(generations.texts_in(found[0]["history"])), ["number 4"])
        self.assertIn("2 of 5", complaints)

    def test_no_version_with_lists(self):
        code, _, complaints = self.run_baton("list", a2a="0.3")
        self.assertEqual(code, NO_ANSWER)
        self.assertIn("0.3 cannot list tasks", complaints)
        with relay.Relay(self.server, [("JSONRPC", "0.3")]) as between:
            code, _, complaints = self.run_baton("list", url=between.url)
            self.assertEqual(code, NO_ANSWER)
            self.assertIn("listing tasks requires A2A 1.0", complaints)


class LongList(CliCase):
    def test_every_page_is_followed(self):
        sent = [self.server.send("x") for _ in range(105)]
        # Tasks of the same millisecond are ordered by their ids.
        sent.sort(key=lambda task: (task["status"]["timestamp"], task["id"]))
        ids = [task["id"] for task in sent]
        for interface in (("JSONRPC", "1.0"), ("HTTP+JSON", "1.0")):
            with self.subTest(interface), relay.Relay(self.server, [interface]) as between:
                code, found, complaints = self.run_baton("list", "--all", url=between.url)
                self.assertEqual(code, DONE, complaints)
                self.assertEqual([task["id"] for task in found], ids[::-1])
                for limit in (103, 3):
                    code, found, _ = self.run_baton("list", "--limit", str(limit), url=between.url)
                    self.assertEqual([task["id"] for task in found], ids[:-limit - 1:-1])


class ByCard(CliCase):
    def test_rest_where_there_is_nothing_else(self):
        for version in ("0.3", "1.0"):
            with self.subTest(version), relay.Relay(self.server, [("HTTP+JSON", version)]) as between:
                code, lines, complaints = self.run_baton("send", "one two", url=between.url)
                self.assertEqual((code, self.last_state(lines), self.text_in(lines)), (DONE, "completed", "one two"),
                                 complaints)
                task = self.task_in(lines)
                for words in (["get", task], ["watch", task], ["watch", task, "--from", "0"]):
                    code, lines, complaints = self.run_baton(*words, url=between.url)
                    self.assertEqual((code, self.last_state(lines)), (DONE, "completed"), complaints)
                code, _, complaints = self.run_baton("cancel", task, url=between.url)
                self.assertEqual((code, "-32002" in complaints), (NO_ANSWER, True))
                code, _, complaints = self.run_baton("get", "a/b:cancel?c", url=between.url)
                self.assertEqual((code, "-32001" in complaints), (NO_ANSWER, True), complaints)
                prefix = "/v1/" if version == "0.3" else "/"
                # Only a Baton can look tasks up; other servers refuse that request.
                paths = [path for path in between.paths if not path.startswith("/agents?task=")]
                self.assertTrue(all(path.startswith(prefix + ("tasks/", "message:")[path.startswith(prefix + "m")])
                                    for path in paths), between.paths)

    def test_the_newest_json_rpc_is_preferred(self):
        interfaces = [("HTTP+JSON", "1.0"), ("JSONRPC", "0.3"), ("JSONRPC", "1.0")]
        with relay.Relay(self.server, interfaces) as between:
            self.run_baton("send", "x", url=between.url)
            self.assertEqual(between.bodies[-1]["method"], "SendStreamingMessage")
            self.run_baton("send", "x", url=between.url, a2a="0.3")
            self.assertEqual(between.bodies[-1]["method"], "message/stream")
            self.run_baton("send", "x", url=between.url, a2a="0.1")
            self.assertEqual(between.bodies[-1]["method"], "tasks/sendSubscribe")

    def test_a_version_that_the_card_names_and_the_agent_lacks_is_passed_over(self):
        with relay.Relay(self.server, [("JSONRPC", "1.0"), ("JSONRPC", "0.3")]) as between:
            handler = between.http.RequestHandlerClass
            pass_on = handler.do_POST

            def do_POST(self):
                if self.headers["A2A-Version"] != "1.0":
                    return pass_on(self)
                self.body()
                self.say(json.dumps({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}).encode())
            handler.do_POST = do_POST
            code, lines, complaints = self.run_baton("send", "one two", url=between.url)
            self.assertEqual((code, self.last_state(lines)), (DONE, "completed"), complaints)
            task = self.task_in(lines)
            for command in ("get", "watch"):
                code, lines, complaints = self.run_baton(command, task, url=between.url)
                self.assertEqual((code, self.last_state(lines)), (DONE, "completed"), complaints)
            code, _, complaints = self.run_baton("cancel", task, url=between.url)
            self.assertEqual((code, "-32002" in complaints), (NO_ANSWER, True), complaints)

    def test_an_agent_without_streams_is_not_asked_for_one(self):
        with relay.Relay(self.server, [("JSONRPC", "1.0")], streaming=False) as between:
            code, lines, _ = self.run_baton("send", "x", url=between.url)
            self.assertEqual((code, len(lines)), (DONE, 1))
            self.assertEqual(between.bodies[-1]["method"], "SendMessage")

    def test_nothing_in_common(self):
        with relay.Relay(self.server, [("GRPC", "1.0")]) as between:
            code, _, complaints = self.run_baton("send", "x", "--transport", "rest", url=between.url)
            self.assertEqual((code, "GRPC" in complaints), (NO_ANSWER, True), complaints)
        with relay.Relay(self.server, [("JSONRPC", "1.0")]) as between:
            code, _, complaints = self.run_baton("send", "x", url=between.url, a2a="0.3")
            self.assertEqual((code, "0.3" in complaints), (NO_ANSWER, True), complaints)

    def test_a_card_that_makes_no_sense(self):
        with relay.Relay(self.server, []) as between:
            between.card_text = lambda: b"<html>"
            code, _, complaints = self.run_baton("send", "x", url=between.url)
            self.assertEqual((code, "card" in complaints), (NO_ANSWER, True), complaints)
            self.assertEqual(self.run_baton("card", between.url)[0], FAILED)


class LostConnection(CliCase):
    # unit/client/plain_send_test.cpp, follow_test.cpp and lost_send_test.cpp assert what is sent again.
    INTERFACES = rings.some((("JSONRPC", "0.1"), ("HTTP+JSON", "1.0"), ("JSONRPC", "0.2"), ("JSONRPC", "0.3"),
                             ("HTTP+JSON", "0.3"), ("JSONRPC", "1.0")), 2)

    def count(self):
        return len(self.run_baton("list", "--all")[1])

    def test_a_send_whose_answer_is_lost_is_one_task(self):
        for binding, version in self.INTERFACES:
            for how in ([], ["--no-stream"]):
                if version == "0.1" and how:
                    continue  # without an id of its own the message is not sent twice
                with self.subTest((binding, version, how)), \
                        relay.Relay(self.server, [(binding, version)], lose=2).repeat_safely() as between:
                    before = self.count()
                    code, lines, complaints = self.run_baton("send", *how, "one two", url=between.url)
                    self.assertEqual((code, self.last_state(lines)), (DONE, "completed"), complaints)
                    self.assertEqual(self.text_in(lines), "one two")
                    self.assertEqual(self.count(), before + 1)
                    if version != "0.1":
                        sent = [(body.get("params") or body)["message"]["messageId"] for body in between.bodies
                                if "essage" in (body or {}).get("method", "message")]
                        self.assertEqual((len(sent), len(set(sent))), (3, 1))

    def test_an_answer_to_a_question_is_given_once(self):
        for binding, version in self.INTERFACES[1:]:
            with self.subTest((binding, version)), \
                    relay.Relay(self.server, [(binding, version)], agent="approval").repeat_safely() as between:
                _, lines, _ = self.run_baton("send", "Delete it", url=between.url)
                task = self.task_in(lines)
                between.lose = 1
                code, lines, complaints = self.run_baton("send", "--task", task, "yes", url=between.url)
                self.assertEqual((code, self.last_state(lines)), (DONE, "completed"), complaints)
                _, lines, _ = self.run_baton("get", task, "--history", "99", "--agent", "approval")
                mine = [message for message in lines[0]["history"] if message["role"] == "ROLE_USER"]
                said = [part.get("text") or part["data"] for message in mine for part in message["parts"]]
                self.assertEqual(said, ["Delete it", {"approved": True}])

    def test_a_send_is_not_repeated_to_a_server_that_does_not_recognise_it(self):
        for how in ([], ["--no-stream"]):
            with self.subTest(how), relay.Relay(self.server, [("JSONRPC", "1.0")], lose=1) as between:
                before = self.count()
                code, _, complaints = self.run_baton("send", *how, "one two", url=between.url)
                self.assertEqual((code, "may or may not" in complaints), (NO_ANSWER, True), complaints)
                self.assertEqual(self.count(), before + 1)

    def test_without_ids_an_answer_that_may_have_arrived_is_not_repeated(self):
        with relay.Relay(self.server, [("JSONRPC", "0.1")], agent="approval") as between:
            _, lines, _ = self.run_baton("send", "Delete it", url=between.url)
            between.lose = 1
            code, _, complaints = self.run_baton("send", "--task", self.task_in(lines), "yes", url=between.url)
            self.assertEqual((code, "may or may not" in complaints), (NO_ANSWER, True), complaints)
