"""The commands for authors of agents: check, run and chat, as used by a script."""
import contextlib
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request
import xml.etree.ElementTree

import client
import harness
import rings

DONE, FAILED, USAGE, WAITS, NOT_SAVED = 0, 1, 2, 3, 6
CARD = {"name": "Upper", "description": "Upper case.", "version": "1.0.0",
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "upper", "name": "Upper", "description": "Upper case.", "tags": ["demo"]}],
        "baton": {"executor": "command", "command": ["/usr/bin/tr", "a-z", "A-Z"], "mode": "turn", "io": "text"}}
LINES_AGENT = """import json, sys
turn = json.loads(sys.stdin.readline())
name = turn["message"]["parts"][0]["text"]
if name == "crash":
    sys.exit("what it says of itself")
if "resume" in turn:
    print(json.dumps({"type": "done", "message": f"so {name}; said before: {len(turn['history'])}"}), flush=True)
else:
    print(json.dumps({"type": "ask", "message": f"Is {name} right?"}), flush=True)
"""


class Commands:
    """`folder` is their working directory."""

    def run_baton(self, *words, stdin="", env=()):
        done = subprocess.run([harness.PROGRAM, *words], input=stdin, capture_output=True, text=True, check=False,
                              timeout=client.scaled(300), env=harness.program_environment() | dict(env), cwd=self.folder)
        return done.returncode, done.stdout, done.stderr

    @staticmethod
    def texts(out):
        """Returns the agent's texts in these JSON lines."""
        parts = []
        for line in map(json.loads, out.splitlines()):
            for update in line.values() if isinstance(line, dict) else ():
                if isinstance(update, dict):
                    message = update.get("status", {}).get("message", {}) if isinstance(update.get("status"), dict) else {}
                    parts += update.get("artifact", {}).get("parts", []) + message.get("parts", [])
        return [part["text"] for part in parts if "text" in part]


class FolderCase(Commands, unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="baton-author-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write_card(self, name, card):
        (self.folder / "agent-cards" / name).mkdir(parents=True)
        text = card if isinstance(card, str) else json.dumps(card, indent=2)
        (self.folder / "agent-cards" / name / "card.json").write_text(text, encoding="utf-8")


class Check(FolderCase):
    def test_cards_that_are_right_have_no_findings(self):
        self.write_card("upper", CARD)
        self.assertEqual(self.run_baton("check"), (DONE, "1 agent: 0 errors, 0 warnings\n", ""))

    def test_without_a_folder_the_agents_that_dev_would_serve_are_checked_and_tested(self):
        self.assertEqual(self.run_baton("init", "agents/mine")[0], DONE)
        self.assertEqual(self.run_baton("check"), (DONE, "1 agent: 0 errors, 0 warnings\n", ""))
        code, out, said = self.run_baton("test")
        self.assertEqual((code, out.splitlines()[-1]), (DONE, "1 passed, 0 failed"), said)
        self.write_card("upper", "{}")
        self.assertEqual(self.run_baton("check")[0], FAILED)

    def test_shipped_agents_are_right(self):
        code, out, _ = self.run_baton("check", str(harness.SHIPPED))
        self.assertEqual((code, ": error: " in out), (DONE, False), out)

    def test_all_that_is_wrong_is_told_with_its_place(self):
        wrong = json.loads(json.dumps(CARD))
        wrong["baton"] |= {"mode": "twice", "workers": 0}
        self.write_card("one", wrong)
        self.write_card("two", "{\n  no\n}")
        self.write_card("upper", CARD)
        code, out, _ = self.run_baton("check")
        lines = out.splitlines()
        self.assertEqual((code, lines[-1]), (FAILED, "3 agents: 3 errors, 0 warnings"), out)
        places = [line.split(": error: ")[0] for line in lines[:-1]]
        self.assertEqual({place.split(":")[0] for place in places},
                         {"agent-cards/one/card.json", "agent-cards/two/card.json"})
        text = (self.folder / "agent-cards/one/card.json").read_text(encoding="utf-8").splitlines()
        mode = next(line for line in lines if "/baton/mode" in line)
        number, column = map(int, mode.split(":")[1:3])
        self.assertTrue(text[number - 1][column - 1:].startswith('"twice"'), mode)

    def test_json_has_each_finding_as_an_object(self):
        odd = CARD | {"baton": CARD["baton"] | {"command": ["/no/such/program"]}, "colour": "red"}
        self.write_card("odd", odd)
        code, out, _ = self.run_baton("check", "--json")
        found = [json.loads(line) for line in out.splitlines()]
        self.assertEqual(code, DONE)
        self.assertEqual({one["pointer"] for one in found}, {"/colour", "/baton/command"})
        self.assertEqual({(one["agent"], one["level"]) for one in found}, {("odd", "warning")})

    def test_an_agent_that_is_not_there_is_wrong_unless_it_is_deployed_apart(self):
        for name, agent in (("gone", "nobody"), ("filled", "{{/message/text}}")):
            self.write_card(name, CARD | {"baton": {"executor": "workflow", "plan": {"agent": agent}}})
        code, out, _ = self.run_baton("check")
        self.assertEqual((code, out.splitlines()[-1]), (FAILED, "2 agents: 2 errors, 0 warnings"), out)
        self.assertIn('error: /baton/plan: agent not found: "nobody"', out)
        code, out, _ = self.run_baton("check", "--allow-missing")
        self.assertEqual((code, out.splitlines()[-1]), (DONE, "2 agents: 0 errors, 2 warnings"), out)

    def test_the_folder_of_one_agent_is_checked_alone(self):
        self.write_card("wrong", "{}")
        self.write_card("upper", CARD)
        for folder in ("agent-cards/upper", "agent-cards/upper/"):
            self.assertEqual(self.run_baton("check", folder), (DONE, "1 agent: 0 errors, 0 warnings\n", ""))

    def test_a_folder_without_cards_is_a_wrong_command_line(self):
        code, out, said = self.run_baton("check", ".")
        self.assertEqual((code, out), (USAGE, ""))
        self.assertIn("contains no folder with a card.json", said)

    def test_turn_runs_one_turn_and_fails_with_it(self):
        self.write_card("upper", CARD)
        self.write_card("false", CARD | {"baton": CARD["baton"] | {"command": ["/bin/false"]}})
        code, out, said = self.run_baton("check", "agent-cards/upper", "--turn", "hello", "--json")
        self.assertEqual((code, "".join(self.texts(out)).strip()), (DONE, "HELLO"), said)
        self.assertEqual(self.run_baton("check", "agent-cards/false", "--turn", "hello")[0], FAILED)
        self.assertEqual(self.run_baton("check", "--turn", "hello")[0], USAGE)


class Init(FolderCase):
    LANGUAGES = ("python", "node", "bash", "c++")
    KINDS = ("echo", "ask", "tools", "delegate", "worker")

    def test_every_kind_in_every_language_is_right_and_passes_its_own_test(self):
        """In the ring "whole", every kind and every language occurs once."""
        for place, kind in enumerate(self.KINDS):
            for language in (self.LANGUAGES[place % 4],) if rings.WHOLE else self.LANGUAGES:
                with self.subTest(language=language, kind=kind):
                    folder = f"agent-cards/{language.replace('+', 'p')}-{kind}"
                    self.assertEqual(self.run_baton("init", folder, "--lang", language, "--kind", kind)[0], DONE)
                    self.assertEqual(self.run_baton("check", folder), (DONE, "1 agent: 0 errors, 0 warnings\n", ""))
                    code, out, said = self.run_baton("test", folder)
                    self.assertEqual(code, DONE, out + said)

    def test_kinds_without_a_program_are_right(self):
        for kind in ("workflow", "openai"):
            self.assertEqual(self.run_baton("init", f"agent-cards/{kind}", "--kind", kind)[0], DONE)
            self.assertEqual(self.run_baton("check", f"agent-cards/{kind}")[0], DONE)

    def test_a_plan_passes_its_own_test_with_agents_in_every_language(self):
        """In the ring "whole", they are in C++, whose template has no library of ours."""
        for language in ("c++",) if rings.WHOLE else self.LANGUAGES:
            with self.subTest(language):
                folder = f"agent-cards/plan-{language.replace('+', 'p')}"
                self.run_baton("init", folder, "--kind", "workflow", "--lang", language)
                code, out, said = self.run_baton("test", folder)
                self.assertEqual(code, DONE, out + said)

    def test_a_plan_gets_its_two_agents_in_the_language_that_is_asked_for(self):
        code, out, _ = self.run_baton("init", "mine", "--kind", "workflow", "--lang", "bash", "--description", "Reads numbers.")
        self.assertEqual((code, out.splitlines()[0]), (DONE, "created mine, mine-sum, mine-words. Next:"))
        self.assertTrue((self.folder / "mine-words/agent.sh").exists())
        self.assertEqual(self.description("mine"), "Reads numbers.")
        self.assertNotEqual(self.description("mine-sum"), "Reads numbers.")

    def test_a_plan_is_not_made_where_one_of_its_agents_is(self):
        self.run_baton("init", "mine-words")
        code, _, said = self.run_baton("init", "mine", "--kind", "workflow")
        self.assertEqual((code, (self.folder / "mine").exists()), (USAGE, False))
        self.assertIn("mine-words already exists", said)

    def test_the_description_is_in_the_card_and_its_skill(self):
        self.run_baton("init", "agent-cards/mine/", "--description", 'Says "no".')
        card = json.loads((self.folder / "agent-cards/mine/card.json").read_text(encoding="utf-8"))
        self.assertEqual([card["description"], card["skills"][0]["description"]], ['Says "no".'] * 2)

    def test_a_description_that_is_not_utf_8_is_refused(self):
        code, _, said = self.run_baton("init", "mine", "--description", "caf\udce9")
        self.assertEqual((code, said), (USAGE, "baton: the description is not UTF-8\n"))
        self.assertFalse((self.folder / "mine").exists())

    def test_the_description_is_asked_for_at_a_terminal(self):
        for typed, kept in (("  Greets people. ", "Greets people."), ("", "Repeats the message.")):
            terminal, its = pty.openpty()
            self.addCleanup(os.close, terminal)
            name = "greeter" if typed else "other"
            with subprocess.Popen([harness.PROGRAM, "init", name], stdin=its, stdout=its, stderr=its,
                                  env=harness.program_environment(), cwd=self.folder) as process:
                os.close(its)
                os.write(terminal, typed.encode() + b"\n")
                self.assertEqual(process.wait(client.scaled(60)), DONE)
            self.assertIn(f"What does {name} do?", harness.read_terminal(terminal))
            self.assertEqual(self.description(name), kept)

    def description(self, folder):
        return json.loads((self.folder / folder / "card.json").read_text(encoding="utf-8"))["description"]

    def test_nothing_that_is_there_is_written_over(self):
        self.run_baton("init", "agent-cards/mine")
        self.assertEqual(self.run_baton("init", "agent-cards/mine")[0], USAGE)

    def test_a_folder_that_cannot_be_made_is_named_with_the_reason(self):
        (self.folder / "agents").write_text("a file", encoding="utf-8")
        code, _, said = self.run_baton("init", "agents/mine")
        self.assertEqual((code, said), (NOT_SAVED, "baton: agents/mine: cannot be written: Not a directory\n"))
        (self.folder / "agent.py").write_text(LINES_AGENT, encoding="utf-8")
        code, _, said = self.run_baton("run", "agent.py", "--save", "agents/mine", stdin="this\nyes\n")
        self.assertEqual(code, NOT_SAVED)
        self.assertIn("agents/mine: cannot be written: Not a directory", said)

    def test_a_folder_whose_name_no_agent_can_have_is_refused(self):
        code, _, said = self.run_baton("init", "agent-cards/Mine!")
        self.assertEqual((code, (self.folder / "agent-cards").exists()), (USAGE, False))
        self.assertIn("an agent's name may contain", said)


class Run(FolderCase):
    def test_a_command_answers_each_line_of_input(self):
        code, out, said = self.run_baton("run", "--json", "--io", "text", "--", "tr", "a-z", "A-Z", stdin="one\ntwo\n")
        self.assertEqual((code, "".join(self.texts(out)).split()), (DONE, ["ONE", "TWO"]), said)

    def test_a_program_whose_first_line_is_one_of_the_line_protocol_speaks_it(self):
        (self.folder / "agent.py").write_text(LINES_AGENT, encoding="utf-8")
        code, out, said = self.run_baton("run", "--json", "./agent.py", stdin="this\nyes\n")
        self.assertEqual((code, self.texts(out)), (DONE, ["Is this right?", "so yes; said before: 2"]), said)
        self.assertEqual(said.count("detected from its first line of output: it uses the line protocol; use --io text if that is wrong"), 1, said)

    def test_a_program_whose_first_line_is_another_reads_and_writes_text(self):
        (self.folder / "agent.sh").write_text("read -r name; cat data.txt; echo \"$name\"\n", encoding="utf-8")
        (self.folder / "data.txt").write_text("beside it: ", encoding="utf-8")
        code, out, said = self.run_baton("run", "--json", "agent.sh", stdin="me\n")
        self.assertEqual((code, "".join(self.texts(out))), (DONE, "beside it: me\n"), said)
        self.assertEqual(said.count("detected from its first line of output: it reads and writes plain text; use --io lines if that is wrong"), 1, said)

    def test_json_that_is_no_line_of_the_protocol_is_a_plain_answer(self):
        answer = '{"answer": 42, "type": "number"}\n'
        (self.folder / "agent.sh").write_text(f"cat >/dev/null; printf '%s' '{answer}'\n", encoding="utf-8")
        code, out, said = self.run_baton("run", "--json", "agent.sh", stdin="what\n")
        self.assertEqual((code, "".join(self.texts(out))), (DONE, answer), said)
        self.assertIn("plain text", said)

    def test_the_first_line_counts_more_than_how_the_source_looks_and_nothing_is_run_twice(self):
        # Their sources look like the other kind.
        plain = "# {\"type\": \"done\"}\necho run >>RUNS; read -r input; echo \"plain ${input:0:5}\"\n"
        lines = ("echo run >>RUNS; read -r input; it='\"ty''pe\"'; [[ $input == {* ]] && was=turn || was=words\n"
                 "echo \"{$it: \\\"text\\\", \\\"delta\\\": \\\"given $was \\\"}\"; echo \"{$it: \\\"do\"\"ne\\\"}\"\n")
        for name, source, first, second in (("plain", plain, 'plain {"typ\n', "plain two\n"),
                                            ("lines", lines, "given words ", "given turn ")):
            with self.subTest(name):
                folder = self.folder / name
                folder.mkdir()
                (folder / "agent.sh").write_text(source.replace("RUNS", f"'{folder}/runs'"), encoding="utf-8")
                code, out, said = self.run_baton("run", "--json", f"{name}/agent.sh", "--save", f"saved/{name}", stdin="one\ntwo\n")
                self.assertEqual((code, "".join(self.texts(out))), (DONE, first + second), said)
                self.assertEqual((folder / "runs").read_text(encoding="utf-8"), "run\nrun\n")
                card = json.loads((self.folder / f"saved/{name}/card.json").read_text(encoding="utf-8"))
                self.assertEqual(card["baton"]["io"], "text" if name == "plain" else "lines")

    def test_io_that_is_given_is_not_guessed(self):
        code, out, said = self.run_baton("run", "--json", "--io", "text", "--save", "mine", "--", "echo", '{"type": "done"}', stdin="x\n")
        self.assertEqual((code, "".join(self.texts(out))), (DONE, '{"type": "done"}\n'), said)
        self.assertNotIn("detected from", said)
        self.assertIn('"io": "text"', (self.folder / "mine/card.json").read_text(encoding="utf-8"))

    def test_a_turn_that_fails_is_the_exit_code_and_says_what_the_program_said(self):
        (self.folder / "agent.py").write_text(LINES_AGENT, encoding="utf-8")
        code, out, _ = self.run_baton("run", "--json", "agent.py", stdin="crash\n")
        self.assertEqual(code, FAILED)
        self.assertIn("what it says of itself", "".join(self.texts(out)))

    def test_a_traceback_names_the_file_that_the_author_edits(self):
        (self.folder / "agent.py").write_text(LINES_AGENT.replace('sys.exit("what it says of itself")', "1 / 0"), encoding="utf-8")
        code, _, said = self.run_baton("run", "agent.py", stdin="crash\n")
        self.assertEqual(code, FAILED)
        self.assertIn(f'File "{self.folder.resolve()}/agent.py", line 5', said)

    def test_save_makes_a_folder_that_is_right_and_serves(self):
        (self.folder / "agent.py").write_text(LINES_AGENT, encoding="utf-8")
        self.run_baton("run", "--json", "agent.py", "--save", "agent-cards/mine")
        self.assertEqual(self.run_baton("check", "agent-cards/mine")[1], "1 agent: 0 errors, 0 warnings\n")
        code, out, _ = self.run_baton("check", "agent-cards/mine", "--turn", "that", "--json")
        self.assertEqual((code, self.texts(out)), (WAITS, ["Is that right?"]))
        self.assertEqual(self.run_baton("run", "--json", "agent.py", "--save", "agent-cards/mine")[0], USAGE)

    def test_a_program_that_is_not_there_is_refused_at_once(self):
        for program in ("nothere.py", "./nothere", "no-such-program"):
            code, out, said = self.run_baton("run", "--", program, stdin="x\n")
            self.assertEqual((code, out), (USAGE, ""))
            self.assertIn(f"{program}: file not found", said)

    def test_a_program_whose_interpreter_is_not_there_is_refused_at_once(self):
        (self.folder / "agent.js").write_text("", encoding="utf-8")
        code, out, said = self.run_baton("run", "agent.js", stdin="x\n", env={"PATH": str(self.folder)})
        self.assertEqual((code, out), (USAGE, ""))
        self.assertIn("agent.js needs node, and no program with this name is in PATH", said)

    def test_a_folder_is_refused_with_the_commands_for_folders(self):
        self.write_card("upper", CARD)
        code, out, said = self.run_baton("run", "agent-cards/upper", stdin="x\n")
        self.assertEqual((code, out), (USAGE, ""))
        self.assertIn("agent-cards/upper is a folder; baton dev and baton test", said)

    def test_a_word_that_is_not_utf_8_is_refused(self):
        code, out, said = self.run_baton("run", "--", "cat", "caf\udce9", stdin="x\n")
        self.assertEqual((code, out), (USAGE, ""))
        self.assertIn("is not UTF-8", said)

    def test_a_file_that_nothing_runs_is_refused_with_what_to_do(self):
        (self.folder / "agent.txt").write_text("no", encoding="utf-8")
        code, _, said = self.run_baton("run", "--json", "agent.txt")
        self.assertEqual(code, USAGE)
        self.assertIn("make it executable", said)

    def test_a_setting_of_a_server_in_the_environment_says_nothing_to_the_program_that_is_tried(self):
        environment = harness.program_environment() | {"BATON_PORT": "1", "BATON_DB": "/nowhere/baton.db"}
        done = subprocess.run([harness.PROGRAM, "run", "--json", "--io", "text", "--", "cat"], input="x\n", capture_output=True,
                              text=True, check=False, timeout=client.scaled(60), env=environment, cwd=self.folder)
        self.assertEqual((done.returncode, "".join(self.texts(done.stdout)).strip()), (DONE, "x"), done.stderr)


class RunAlone(FolderCase):
    """Tests with other users' processes on the machine while a program is tried."""

    def setUp(self):
        super().setUp()
        self.process = subprocess.Popen([harness.PROGRAM, "run", "--json", "--io", "text", "--", "cat"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env=harness.program_environment(), cwd=self.folder)
        self.addCleanup(self.end)
        self.process.stdin.write("hello\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if "TASK_STATE_COMPLETED" in line:
                break

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(client.scaled(60))

    def server(self):
        """Returns the pid of the serving process."""
        return int(pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text("ascii").split()[0])

    def port(self):
        """Returns the port on which it listens."""
        ours = set()
        for file in pathlib.Path(f"/proc/{self.server()}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                ours.add(os.readlink(file))
        for line in pathlib.Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]:
            _, address, _, state, *_, inode = line.split()[:10]
            if state == "0A" and f"socket:[{inode}]" in ours:
                return int(address.split(":")[1], 16)
        raise AssertionError("it does not listen")

    def status(self, path, **headers):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port()}{path}", headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=client.scaled(60)) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def test_requests_without_its_token_are_refused(self):
        for path in ("/agents/cat/tasks", "/agents", "/operate/v1/tasks"):
            self.assertEqual(self.status(path), 401, path)
            self.assertEqual(self.status(path, Authorization="Bearer guessed"), 401, path)

    def test_the_token_is_in_the_environment_which_is_the_users_own_and_not_on_the_command_line(self):
        facts = pathlib.Path(f"/proc/{self.server()}")
        variables = dict(one.split("=", 1) for one in (facts / "environ").read_text("ascii").split("\0") if "=" in one)
        token = json.loads(variables["BATON_TOKENS"])[0]["token"]
        self.assertRegex(token, "[0-9a-f]{32}")
        self.assertNotIn(token, (facts / "cmdline").read_text("ascii"))
        self.assertEqual(self.status("/agents/cat/tasks", Authorization="Bearer " + token), 200)


class Test(FolderCase):
    def setUp(self):
        super().setUp()
        self.write_card("asker", CARD | {"baton": {"executor": "command", "command": ["python3", "agent.py"]}})
        (self.folder / "agent-cards/asker/agent.py").write_text(LINES_AGENT, encoding="utf-8")

    def test(self, *turns, options=()):
        """Runs a conversation with the agent. Returns the outcome."""
        found = {"conversations": [{"name": "about <this>", "turns": list(turns)}]}
        (self.folder / "agent-cards/asker/conversations.json").write_text(json.dumps(found), encoding="utf-8")
        return self.run_baton("test", "agent-cards/asker", *options)

    def test_a_conversation_that_goes_as_expected_passes(self):
        code, out, said = self.test({"say": "this", "state": "input-required", "text": "Is this right?"},
                                    {"say": "yes", "text": "so yes; said before: 2"})
        self.assertEqual(code, DONE, out + said)
        self.assertRegex(out, r"\Aok     asker: about <this> \(.* s\)\n1 passed, 0 failed\n\Z")

    def test_one_that_does_not_says_what_differs_also_as_junit(self):
        code, out, _ = self.test({"say": "this", "text": "Is that right?"}, options=("--junit", "out.xml"))
        self.assertEqual(code, FAILED)
        self.assertIn('turn 1, to "this":\n       text: expected "Is that right?"\n'
                      '             but got  "Is this right?"\n', out)
        suite, = xml.etree.ElementTree.parse(self.folder / "out.xml").getroot()
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("1", "1"))
        case = suite.find("testcase")
        self.assertEqual((case.get("name"), case.get("classname")), ("about <this>", "asker"))
        self.assertIn("Is that right?", case.find("failure").text)

    def test_an_agent_that_fails_fails_the_conversation(self):
        code, out, _ = self.test({"say": "crash"})
        self.assertEqual(code, FAILED)
        self.assertIn("state: expected completed", out)

    def test_an_interrupt_does_not_wait_for_the_agent(self):
        slow = "import sys, time\nsys.stdin.readline()\nopen('begun.log', 'w').close()\ntime.sleep(600)\n"
        agent = self.folder / "agent-cards/asker"
        (agent / "agent.py").write_text(slow, encoding="utf-8")
        found = {"conversations": [{"name": "slow", "turns": [{"say": "this"}]}]}
        (agent / "conversations.json").write_text(json.dumps(found), encoding="utf-8")
        process = subprocess.Popen([harness.PROGRAM, "test", "agent-cards/asker"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=harness.program_environment(), cwd=self.folder)
        self.addCleanup(process.kill)
        harness.wait_for((agent / "begun.log").exists)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=client.scaled(60))
        self.assertLess(time.monotonic() - begin, client.scaled(8), "the server's grace for running turns is 10 s")

    def test_a_file_that_is_wrong_is_told_with_the_place(self):
        code, _, said = self.test({"says": "this"})
        self.assertEqual(code, USAGE)
        self.assertRegex(said, r"conversations.json:1:\d+: /conversations/0/turns/0/says: is unknown; did you mean")

    def test_every_agent_of_a_folder_is_tested_as_the_shipped_ones(self):
        code, out, said = self.run_baton("test", str(harness.SHIPPED))
        self.assertEqual(code, DONE, out + said)
        for file in harness.SHIPPED.glob("*/conversations.json"):
            self.assertIn(f"ok     {file.parent.name}: ", out)

    def test_a_folder_without_conversations_is_said(self):
        code, _, said = self.run_baton("test", "agent-cards")
        self.assertEqual(code, USAGE)
        self.assertIn("agent-cards: no agent here has a conversations.json", said)
        for folder, reason in (("agent-cards/asker", "has no conversations.json"), ("nowhere", "cannot be read: No such")):
            code, _, said = self.run_baton("test", folder)
            self.assertEqual((code, f"{folder}: {reason}" in said), (USAGE, True), said)


class ShellWords(FolderCase):
    def completed(self, *words):
        """Returns what bash offers for the last of the words."""
        script = self.run_baton("completion", "bash")[1]
        line = " ".join(f"'{word}'" for word in words)
        done = subprocess.run(["bash", "-uc", f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _baton\n"
                                               'printf "%s\\n" "${COMPREPLY[@]}"'],
                              capture_output=True, text=True, check=True, cwd=self.folder)
        return done.stdout.split()

    def test_bash_completes_commands_their_commands_and_options(self):
        self.assertEqual(self.completed("baton", "ser"), ["serve"])
        self.assertEqual(self.completed("baton", "db", "back"), ["backup"])
        self.assertEqual(self.completed("baton", "serve", "--db-f"), ["--db-file"])
        (self.folder / "report.pdf").touch()
        self.assertEqual(self.completed("baton", "send", "--file", "rep"), ["report.pdf"])

    def test_the_manual_and_each_shell_name_every_command(self):
        names = re.findall(r"^  (\w+) {2,}", self.run_baton("--help")[1].split("Subcommands:")[1], re.MULTILINE)
        self.assertGreater(len(names), 12)
        for words in (("manual",), ("completion", "bash"), ("completion", "zsh"), ("completion", "fish")):
            code, out, _ = self.run_baton(*words)
            self.assertEqual(code, DONE)
            for name in names:
                self.assertRegex(out, rf"\b{name}\b", words)


class Chat(Commands, harness.ServerCase):
    AGENTS = ["chat"]

    def setUp(self):
        self.folder = self.server.folder

    def chat(self, stdin, *words):
        return self.run_baton("chat", "--json", "--url", f"http://127.0.0.1:{self.server.port}", *words, stdin=stdin)

    def test_messages_are_one_conversation_and_new_begins_another(self):
        code, out, said = self.chat("say one\nsay two\n/new\nsay three\n")
        self.assertEqual(code, DONE, said)
        contexts = []
        for line in map(json.loads, out.splitlines()):
            for update in line.values():
                if isinstance(update, dict) and update.get("contextId"):
                    contexts.append(update["contextId"])
        self.assertEqual(len(set(contexts)), 2)
        self.assertEqual("".join(self.texts(out)).replace(" ", ""), "onetwothree")

    def test_lines_may_end_like_those_of_windows(self):
        code, out, said = self.chat("say one\r\n/quit\r\nsay two\r\n")
        self.assertEqual((code, "".join(self.texts(out)).strip(" ")), (DONE, "one"), said)

    def test_help_is_not_printed_among_the_lines_of_json(self):
        code, out, said = self.chat("/help\nsay one\n")
        self.assertEqual((code, "".join(self.texts(out)).strip()), (DONE, "one"))
        self.assertIn("/quit ", said)

    def test_the_next_line_answers_a_question(self):
        code, out, said = self.chat("ask which one?\nthis\n")
        # An answer may come in several updates.
        self.assertEqual((code, "".join(self.texts(out)).partition("one?")[2]), (DONE, "answered: this"), said)

    def test_a_question_that_is_left_open_is_the_exit_code(self):
        self.assertEqual(self.chat("ask which one?\n")[0], WAITS)

    def test_every_version_can_be_talked_with(self):
        for version in ("0.1", "0.2", "0.3", "1.0"):
            with self.subTest(version):
                code, out, said = self.chat("say hello\n", "--a2a", version)
                self.assertEqual(code, DONE, said)
                self.assertIn("hello", out)


if __name__ == "__main__":
    unittest.main()
