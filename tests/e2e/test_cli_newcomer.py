"""The program as a newcomer meets it: on a terminal of 80 columns, with misspelt words, with a server that is down, and
with agents whose output a terminal must not obey."""
import fcntl
import json
import os
import pty
import struct
import subprocess
import termios

import client
import harness
import rings
from relay import Elsewhere, card_for

DONE, FAILED, USAGE, WAITS, NO_ANSWER = 0, 1, 2, 3, 4
JSON = {"send", "watch", "get", "cancel", "list", "card", "logs", "tree"}  # the commands that print it on request


def on_terminal(words, columns=80, env=None, cwd=None):
    """Runs the program on a terminal. Returns its exit code and all output."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {**harness.program_environment(), "TERM": "xterm", "NO_COLOR": "1", **(env or {})}
    process = subprocess.Popen([harness.PROGRAM, *words], stdin=its, stdout=its, stderr=its, env=environment, cwd=cwd)
    os.close(its)
    shown = harness.read_terminal(ours)
    os.close(ours)
    return process.wait(client.scaled(60)), shown.replace("\r\n", "\n")


class NewcomerCase(harness.ServerCase):
    def words(self, *words):
        return [*words, "--url", f"http://127.0.0.1:{self.server.port}"]

    def run_baton(self, *words, env=None, at_server=True):
        line = self.words(*words) if at_server else list(words)
        if words[0] in JSON:
            line.append("--json")
        done = subprocess.run([harness.PROGRAM, *line], capture_output=True, text=True, check=False,
                              timeout=client.scaled(60), env={**harness.program_environment(), **(env or {})},
                              cwd=self.server.folder)
        return done.returncode, done.stdout, done.stderr

    def events(self, text):
        return [json.loads(line) for line in text.splitlines()]


class Sending(NewcomerCase):
    def test_files_and_data_may_be_repeated_and_stand_before_the_text(self):
        for name in ("one.txt", "two.bin"):
            (self.server.folder / name).write_text(name, encoding="utf-8")
        code, out, complaints = self.run_baton(
            "send", "--no-stream", "--file", "one.txt", "--file", "two.bin:image/png", "--data", '{"a":1}', "--data", "[2]",
            "--file-uri", "https://x.example/a.csv", "--file-uri", "https://x.example/b", "hello", "there", "--out", "got")
        self.assertEqual(code, DONE, complaints)
        sent = json.loads(self.run_baton("get", json.loads(out)["task"]["id"], "--history", "1")[1])["history"][0]["parts"]
        self.assertEqual(sent[0], {"text": "hello there"})
        self.assertEqual([part.get("mediaType") for part in sent[1:5]], ["text/plain", "image/png", "text/csv",
                                                                         "application/octet-stream"])
        self.assertEqual([part["data"] for part in sent[5:]], [{"a": 1}, [2]])
        self.assertEqual((self.server.folder / "got" / "two.bin").read_text(encoding="utf-8"), "two.bin")

    def test_words_that_are_misspelt_are_answered_with_the_right_ones(self):
        for words, meant in ((["sned", "hi"], "send"), (["lst"], "list"), (["send", "--fle", "x", "hi"], "--file")):
            with self.subTest(words):
                code, _, complaints = self.run_baton(*words, at_server=False)
                self.assertEqual((code, f"did you mean {meant}?" in complaints), (USAGE, True), complaints)
        for agent, hint in (("ecko", "did you mean echo?"), ("zzzzzzzz", "analyst, approval, assistant, echo, quarterly, table-report, tools")):
            for command in (["send", "hi"], ["get", "x"], ["watch", "x"], ["cancel", "x"], ["card"], ["list"]):
                with self.subTest((agent, command)):
                    code, _, complaints = self.run_baton(*command, "--agent", agent)
                    self.assertEqual((code, hint in complaints), (NO_ANSWER, True), complaints)

    def test_a_setting_with_a_flag_of_its_own_has_that_of_its_path_too(self):
        code, _, complaints = self.run_baton("serve", "--webhooks-allow-private=x", at_server=False)
        self.assertEqual((code, "must be true or false" in complaints), (USAGE, True), complaints)

    def test_an_address_without_a_scheme_is_answered_with_the_right_one(self):
        for url, meant in (("127.0.0.1:8080", "http://127.0.0.1:8080"), ("localhost:1/x", "http://localhost:1/x"),
                           ("agents.example.com", "https://agents.example.com"), ("htps://a.example", "https://a.example")):
            for words in (["send", "hi", "--url", url], ["get", "x", "--endpoint", url], ["card", "--url", url],
                          ["ops", "nodes", "--url", url]):
                with self.subTest(words):
                    code, _, complaints = self.run_baton(*words, at_server=False)
                    self.assertEqual((code, f"did you mean {meant}?" in complaints), (USAGE, True), complaints)
        code, _, complaints = self.run_baton("card", "127.0.0.1:8080", at_server=False)
        self.assertEqual((code, "did you mean http://127.0.0.1:8080?" in complaints), (USAGE, True), complaints)
        code, _, complaints = self.run_baton("list", at_server=False, env={"BATON_URL": "127.0.0.1:8080"})
        self.assertEqual((code, "did you mean http://127.0.0.1:8080?" in complaints), (USAGE, True), complaints)

    def test_a_dead_address_is_said_without_a_second_try(self):
        for command in (["send", "hi"], ["watch", "x"], ["get", "x"], ["list"], ["card"]):
            with self.subTest(command):
                code, _, complaints = self.run_baton(*command, "--url", "http://127.0.0.1:1", at_server=False)
                self.assertNotIn("retrying", complaints)
                self.assertEqual((code, "http://127.0.0.1:1/" in complaints), (NO_ANSWER, True), complaints)

    def test_a_server_that_says_nothing_is_named_while_it_is_waited_for(self):
        with open_but_silent() as port:
            process = subprocess.Popen([harness.PROGRAM, "send", "hi", "--url", f"http://127.0.0.1:{port}"],
                                       stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                                       env=harness.program_environment())
            try:
                self.assertIn(f"waiting for http://127.0.0.1:{port}/", process.stderr.readline())
            finally:
                process.kill()
                process.wait()
                process.stderr.close()

    def test_patience_that_was_asked_for_is_had(self):
        process = subprocess.Popen([harness.PROGRAM, "send", "hi", "--give-up-after", "600", "--url", "http://127.0.0.1:1"],
                                   stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                                   env=harness.program_environment())
        try:
            self.assertIn("retrying", process.stderr.readline())
            self.assertIsNone(process.poll())
        finally:
            process.kill()
            process.wait()
            process.stderr.close()

    def test_cancel_of_an_ended_task_exits_4(self):
        task = json.loads(self.run_baton("send", "--no-stream", "hi")[1])["task"]["id"]
        for a2a in rings.some(("1.0", "0.1", "0.2", "0.3"), 2):
            with self.subTest(a2a):
                self.assertEqual(self.run_baton("cancel", task, "--a2a", a2a)[0], NO_ANSWER)


class open_but_silent:
    """A port that accepts connections and never answers."""

    def __enter__(self):
        import socket
        self.socket = socket.create_server(("127.0.0.1", 0))
        return self.socket.getsockname()[1]

    def __exit__(self, *_):
        self.socket.close()


class Listing(NewcomerCase):
    def test_every_agents_tasks_are_listed_and_can_be_used_by_their_short_ids(self):
        code, out, _ = self.run_baton("send", "--agent", "approval", "Delete the old backups")
        self.assertEqual(code, WAITS)
        self.run_baton("send", "Hello, Baton, and all who read a long first message on a narrow terminal")
        waiting = self.events(self.run_baton("list", "--state", "input-required")[1])
        self.assertEqual([(task["agent"], task["status"]["state"]) for task in waiting],
                         [("approval", "TASK_STATE_INPUT_REQUIRED")])
        both = self.events(self.run_baton("list")[1])
        self.assertEqual([task["agent"] for task in both], ["echo", "approval"])
        self.assertEqual(self.events(self.run_baton("list", "--limit", "1")[1]), both[:1])
        self.assertEqual(len(self.events(self.run_baton("list", "--agent", "echo")[1])), 1)
        code, shown = on_terminal(self.words("list"))
        lines = shown.splitlines()
        self.assertEqual((code, len(lines)), (DONE, 3), shown)
        self.assertTrue(all(len(line) <= 80 for line in lines), shown)
        self.assertEqual(lines[0].split(), ["TASK", "AGENT", "STATE", "AGE", "WORDS"])
        short, agent, state, age, words = lines[1].split(None, 4)
        self.assertEqual((agent, state), ("echo", "completed"))
        self.assertRegex(age, r"^\d+[smh]$")
        self.assertTrue(words.startswith("Hello, Baton") and words.endswith("…"), words)
        self.assertEqual(len({line.split()[0][:6] for line in lines[1:]}), 2, "ids differ where they begin")
        code, out, complaints = self.run_baton("get", short)
        self.assertEqual((code, json.loads(out)["id"]), (DONE, both[0]["id"]), complaints)
        asked = lines[2].split()[0]
        code, out, complaints = self.run_baton("send", "--task", asked, "yes")
        self.assertEqual(code, DONE, complaints)
        self.assertEqual(json.loads(self.run_baton("get", asked)[1])["status"]["state"], "TASK_STATE_COMPLETED")
        whole = both[1]["id"]
        for words in (("get", whole), ("get", whole[:23]), ("logs", whole), ("tree", whole), ("watch", whole)):
            code, out, complaints = self.run_baton(*words)
            self.assertEqual((code, whole in out or "agent" in out), (DONE, True), (words, complaints))
        self.assertEqual(self.run_baton("cancel", whole)[0], NO_ANSWER)  # found, but it has ended
        code, out, complaints = self.run_baton("cancel", whole[:6])
        self.assertEqual((code, out), (USAGE, ""), complaints)
        for task in both:
            self.assertIn(f"{task['id']} of {task['agent']}", complaints)
        code, _, complaints = self.run_baton("get", "--agent", "approval", whole[:6])
        self.assertEqual(code, DONE, complaints)
        self.assertEqual(self.run_baton("get", whole[:5])[0], NO_ANSWER)

    def test_nothing_to_list_is_said(self):
        code, shown = on_terminal(self.words("list", "--state", "rejected"))
        self.assertEqual((code, shown.strip()), (DONE, "no tasks"))

    def test_the_agents_of_a_server_are_listed(self):
        answer = self.server.http("GET", "/agents")
        self.assertEqual([(agent["name"], agent["default"]) for agent in answer.body["agents"]],
                         [("analyst", False), ("approval", False), ("assistant", False), ("echo", True), ("quarterly", False), ("table-report", False),
                          ("tools", False)])
        for agent in answer.body["agents"]:
            self.assertTrue(agent["url"].endswith(f":{self.server.port}/agents/{agent['name']}/"), agent)
            path = agent["card"].split(str(self.server.port), 1)[1]
            self.assertEqual(self.server.http("GET", path).body["name"], agent["title"])


class ListingWithTokens(NewcomerCase):
    CONFIG = {"tokens": [{"caller": "ann", "token": "of-ann"}, {"caller": "bob", "token": "of-bob", "agents": ["echo"]}]}

    def test_the_list_of_agents_is_for_callers_and_shows_theirs(self):
        def names(token):
            answer = self.server.http("GET", "/agents", headers={"Authorization": f"Bearer {token}"} if token else {})
            self.assertEqual(answer.body.get("caller"), token.removeprefix("of-") if answer.status == 200 else None)
            return answer.status, [agent["name"] for agent in answer.body.get("agents", [])]
        self.assertEqual(names(None), (401, []))
        self.assertEqual(names("wrong"), (401, []))
        self.assertEqual(names("of-ann"), (200, ["analyst", "approval", "assistant", "echo", "quarterly", "table-report", "tools"]))
        self.assertEqual(names("of-bob"), (200, ["echo"]))
        code, _, complaints = self.run_baton("list", env={"BATON_TOKEN": "of-bob"})
        self.assertEqual(code, DONE, complaints)


class TokenOfAnotherOrigin(NewcomerCase):
    def test_a_token_goes_only_to_the_origin_that_was_named(self):
        with Elsewhere() as other, Elsewhere() as named:
            other.card, named.card = card_for(other.url), card_for(other.url)
            secret = {"BATON_TOKEN": "secret"}

            def send(*more):
                other.headers.clear()
                named.headers.clear()
                return self.run_baton("send", "hi", "--url", named.url, *more, at_server=False, env=secret)

            code, _, complaints = send()
            self.assertEqual((code, other.authorizations()), (DONE, [None]), complaints)
            self.assertIn("--trust-card", complaints)
            self.assertEqual(set(named.authorizations()), {"Bearer secret"})
            code, _, complaints = send("--trust-card")
            self.assertEqual((code, other.authorizations()), (DONE, ["Bearer secret"]), complaints)
            code, _, complaints = send("--endpoint", named.url)
            self.assertEqual((code, other.authorizations(), named.authorizations()[-1]), (DONE, [], "Bearer secret"),
                             complaints)

    def test_an_endpoint_is_spoken_to_whatever_the_card_says(self):
        with Elsewhere() as named:
            named.card = card_for("http://127.0.0.1:1/")
            code, out, complaints = self.run_baton("send", "hi", "--endpoint", named.url, at_server=False)
            self.assertEqual((code, json.loads(out)["message"]["parts"]), (DONE, [{"text": "hi"}]), complaints)


TRANSPORTS = ("jsonrpc", "rest", "grpc") if client.has_grpc() else ("jsonrpc", "rest")


class Transports(NewcomerCase):
    OPTIONS = (*(("--grpc-port", "0") if client.has_grpc() else ()), "--allow-private-webhooks")

    def test_each_transport_can_be_asked_for(self):
        for transport in TRANSPORTS:
            # Each transport's encoding of each version: unit/protocol/a2a/client and unit/client.
            for a2a in rings.some(((), ("--a2a", "0.3"), ("--a2a", "1.0"))):
                with self.subTest((transport, a2a)):
                    how = ("--transport", transport, *a2a)
                    code, out, complaints = self.run_baton("send", "one two", *how)
                    self.assertEqual(code, DONE, complaints)
                    self.assertIn("one", out)
                    first = self.events(out)[0]
                    task = first.get("task", first)["id"]
                    code, out, complaints = self.run_baton("get", task, "--history", "1", *how)
                    self.assertEqual((code, json.loads(out)["id"]), (DONE, task), complaints)
                    code, out, complaints = self.run_baton("watch", task, *how)
                    self.assertEqual(code, DONE, complaints)
                    code, out, complaints = self.run_baton("cancel", task, *how)
                    self.assertEqual((code, "-32002" in complaints), (NO_ANSWER, True), complaints)
                    code, out, complaints = self.run_baton("get", "no-such-task", *how)
                    self.assertEqual((code, "-32001" in complaints), (NO_ANSWER, True), complaints)
        code, out, complaints = self.run_baton("list", "--agent", "echo", "--transport", "rest")
        self.assertEqual((code, len(out.splitlines()) > 0), (DONE, True), complaints)

    def test_a_webhook_is_asked_for_with_its_token(self):
        for transport in TRANSPORTS:
            with self.subTest(transport), Elsewhere() as hook:
                code, _, complaints = self.run_baton("send", "hi", "--transport", transport, "--push", hook.url, "--push-token",
                                                     "pushed")
                self.assertEqual(code, DONE, complaints)
                harness.wait_for(lambda: hook.headers, what="the webhook")
                self.assertEqual(hook.headers[0].get("X-A2A-Notification-Token"), "pushed")


@client.only_if(client.has_grpc())
class GrpcTransport(NewcomerCase):
    OPTIONS = ("--grpc-port", "0")

    def test_grpc_of_an_agent_that_is_not_the_default_one(self):
        code, out, complaints = self.run_baton("send", "Delete it", "--agent", "approval", "--transport", "grpc",
                                               "--endpoint", "http://" + self.server.address_of("grpc"))
        self.assertEqual(code, WAITS, complaints)
        task = self.events(out)[0]["task"]["id"]
        code, out, complaints = self.run_baton("send", "yes", "--task", task, "--agent", "approval", "--transport", "grpc",
                                               "--endpoint", "http://" + self.server.address_of("grpc"))
        self.assertEqual(code, DONE, complaints)

    def test_grpc_that_is_not_there_is_said(self):
        code, _, complaints = self.run_baton("get", "x", "--transport", "grpc", "--endpoint", "http://127.0.0.1:1")
        self.assertEqual((code, "cannot connect over gRPC" in complaints), (NO_ANSWER, True), complaints)

    def test_files_cross_grpc_whole(self):
        (self.server.folder / "all.bin").write_bytes(bytes(range(256)))
        for a2a in ("0.3", "1.0"):
            with self.subTest(a2a):
                code, _, complaints = self.run_baton("send", "--transport", "grpc", "--a2a", a2a, "--file", "all.bin",
                                                     "--out", f"out-{a2a}")
                self.assertEqual(code, DONE, complaints)
                self.assertEqual((self.server.folder / f"out-{a2a}" / "all.bin").read_bytes(), bytes(range(256)))


class HostileAgent(NewcomerCase):
    def test_nothing_that_came_from_outside_reaches_the_terminal_as_a_command(self):
        nasty = "t\x1b]0;owned\x07\u202e\x9b2J"
        status = {"state": "TASK_STATE_INPUT_REQUIRED", "timestamp": "2026-01-01T00:00:00Z"}
        with Elsewhere() as other:
            other.card = card_for(other.url)
            task = {"id": nasty, "contextId": nasty, "status": status}
            handler = other.http.RequestHandlerClass

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                self.say(json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"task": task}}).encode())
            handler.do_POST = do_POST
            code, shown = on_terminal(["send", "hi", "--url", other.url])
            self.assertEqual(code, WAITS, shown)
            self.assertIn("to answer: ", shown)
            for bad in ("\x1b", "\x07", "\u202e", "\x9b"):
                self.assertNotIn(bad, shown)
            code, shown = on_terminal(["send", "hi", "--json", "--url", other.url])
            for bad in ("\x1b", "\x07", "\u202e", "\x9b"):
                self.assertNotIn(bad, shown)
