"""`baton dev` loads authors' changes without losing anything and shows events as they happen; also other commands about
a server."""
import json
import os
import pty
import re
import subprocess
import threading
import unittest

import client
import harness

CARD = {"name": "Waiter", "description": "Waits for a file.", "version": "1.0.0",
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "wait", "name": "Wait", "description": "Waits for a file.", "tags": ["demo"]}],
        "baton": {"executor": "command", "command": ["python3", "agent.py"], "mode": "worker", "workers": 1,
                  "default": True}}
AGENT = '''import pathlib, sys
from baton import agent

@agent
def answer(turn):
    print("asked:", turn.prompt, file=sys.stderr, flush=True)
    while turn.prompt.startswith("/") and not pathlib.Path(turn.prompt).exists():
        turn.sleep(0.01)
    return "FIRST"

answer.run()
'''


class DevServer(harness.Server):
    def command(self):
        return [self.program, "dev", str(self.agents_folder), "--port", str(self.port or 0), *self.options]


class Dev(unittest.TestCase):
    def setUp(self):
        self.server = DevServer([])
        self.addCleanup(self.server.discard)
        self.write("card.json", json.dumps(CARD))
        self.write("agent.py", AGENT)
        self.server.start()

    def write(self, name, text, agent="waiter"):
        (self.server.agents_folder / agent).mkdir(exist_ok=True)
        (self.server.agents_folder / agent / name).write_text(text, encoding="utf-8")

    def await_log(self, pattern):
        return harness.wait_for(lambda: re.search(pattern, self.server.log_text(), re.MULTILINE),
                                what=f"{pattern} in the log")

    def said(self, task):
        return "".join(part["text"] for artifact in task["artifacts"] for part in artifact["parts"])

    def test_a_changed_program_is_taken_up_and_a_running_turn_finishes_as_it_began(self):
        gate = self.server.folder / "gate"
        old = []
        running = threading.Thread(target=lambda: old.append(self.server.send(str(gate))))
        running.start()
        self.addCleanup(running.join)
        self.addCleanup(gate.touch)
        self.await_log(r"waiter \w+ \| asked: /")
        self.write("agent.py", AGENT.replace("FIRST", "SECOND"))
        self.await_log(r"waiter reloaded$")
        self.assertEqual(self.said(self.server.send("now")), "SECOND")
        self.assertEqual(old, [])
        gate.touch()
        running.join()
        self.assertEqual(self.said(old[0]), "FIRST")

    def test_a_card_that_is_wrong_leaves_the_agent_as_it_was_and_says_where(self):
        self.write("card.json", '{\n  "name": 5}')
        self.await_log(r"error: .*card\.json:2:\d+: /name")
        self.assertEqual(self.said(self.server.send("now")), "FIRST")
        self.assertIn(b"unchanged: waiter", self.server.http("GET", "/readyz").raw)

    def test_an_agent_that_is_added_is_served(self):
        self.write("card.json", json.dumps(CARD | {"baton": CARD["baton"] | {"default": False}}), "second")
        self.write("agent.py", AGENT, "second")
        self.await_log(r"second added$")
        self.assertEqual(self.said(self.server.send("now", agent="second")), "FIRST")

    def test_what_agents_write_and_what_tasks_come_to_is_shown_beside_the_task(self):
        task = client.new_id()
        self.server.send("hello\nthere", task)
        self.await_log(rf"^\d\d:\d\d:\d\d waiter {task[-12:]} completed in \d+\.\d s: hello there -> FIRST$")
        self.await_log(rf"^\d\d:\d\d:\d\d waiter {task[-12:]} \| asked: hello$")
        lines = [line[9:] for line in self.server.log_text().splitlines() if task[-12:] in line]
        self.assertEqual(len([line for line in lines if "|" not in line]), 1, lines)

    def test_nothing_is_logged_at_start_but_the_agents(self):
        self.assertEqual([line[9:] for line in self.server.log_text().splitlines()], ["baton agents: waiter (default)"])

    def test_an_exception_is_shown_with_its_place_and_once(self):
        self.write("agent.py", "import json, sys\nsys.stdin.readline()\n" + "raise ValueError('no city')\n", "raw")
        self.write("card.json", json.dumps(CARD | {"baton": {"executor": "command", "command": ["python3", "agent.py"]}}), "raw")
        self.await_log(r"raw added$")
        task = client.new_id()
        answer = self.server.send("hello", task, agent="raw")
        reason = "the agent exited without an answer (exit code 1: ValueError: no city (agent.py:3))"
        self.assertIn(reason, json.dumps(answer))
        self.await_log(rf"raw {task[-12:]} failed after \d+\.\d s: hello -> {re.escape(reason)}$")
        lines = [line for line in self.server.log_text().splitlines() if task[-12:] in line and "|" not in line]
        self.assertEqual(len(lines), 1, lines)
        self.await_log(rf"raw {task[-12:]} \| Traceback \(most recent call last\):$")

    def test_a_line_that_is_refused_is_shown_once(self):
        self.write("agent.sh", "read -r turn; echo Hello", "raw")
        self.write("card.json", json.dumps(CARD | {"baton": {"executor": "command", "command": ["bash", "agent.sh"]}}), "raw")
        self.await_log(r"raw added$")
        task = client.new_id()
        self.server.send("hi", task, agent="raw")
        self.await_log(rf'raw {task[-12:]} failed after \d+\.\d s: hi -> the agent printed a line that is not JSON: "Hello"$')
        self.assertEqual(len([line for line in self.server.log_text().splitlines() if task[-12:] in line]), 1)

    def test_an_authors_own_words_about_a_failure_are_shown_in_place_of_the_callers(self):
        self.write("agent.sh", """read -r turn; echo '{"type": "fail", "error": "It failed.", "detail": "KeyError (agent.sh:1)"}'""", "raw")
        self.write("card.json", json.dumps(CARD | {"baton": {"executor": "command", "command": ["bash", "agent.sh"]}}), "raw")
        self.await_log(r"raw added$")
        answer = json.dumps(self.server.send("hello", agent="raw"))
        self.assertIn("KeyError (agent.sh:1)", answer)
        self.assertNotIn("It failed.", answer)

    def test_chat_console_and_a_first_send_are_offered_and_nothing_is_kept(self):
        url = f"http://127.0.0.1:{self.server.port}"
        harness.wait_for(lambda: any(line.startswith("send ") for line in self.server.lines), what="the last line")
        self.assertIn(f"chat {url}/chat", self.server.lines)
        self.assertIn(f'send baton send "Hello" --url {url}', self.server.lines)
        harness.wait_for(lambda: any(line.startswith("console http://127.0.0.1:") for line in self.server.lines),
                         what="a link to the console")
        self.assertEqual([file.name for file in self.server.folder.iterdir() if "db" in file.name], [])


class Agents(harness.ServerCase):
    AGENTS = ["chat"]

    def test_they_are_listed_with_what_they_do(self):
        done = subprocess.run([harness.PROGRAM, "agents", "--json", "--url", f"http://127.0.0.1:{self.server.port}"],
                              capture_output=True, text=True, check=True, env=harness.program_environment())
        self.assertEqual([json.loads(line)["name"] for line in done.stdout.splitlines()], ["chat"])


class Health(harness.ServerCase):
    AGENTS = ["chat"]

    def health(self, port):
        return subprocess.run([harness.PROGRAM, "health", "--url", f"http://127.0.0.1:{port}"], capture_output=True,
                              text=True, check=False, env=harness.program_environment())

    def test_a_server_that_takes_requests_is_healthy_and_nobody_is_not(self):
        done = self.health(self.server.port)
        self.assertEqual((done.returncode, done.stdout), (0, "ready\n"))
        done = self.health(1)
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertEqual(done.stderr, "baton: http://127.0.0.1:1: the connection failed\n")


class Terminal:
    """`baton chat` in a terminal of its own."""

    def __init__(self, words, folder):
        self.screen = ""
        pid, self.file = pty.fork()
        if pid == 0:
            os.chdir(folder)
            os.execve(harness.PROGRAM, [harness.PROGRAM, *words], harness.program_environment() | {"TERM": "dumb"})
        self.pid = pid

    def await_text(self, text):
        """Reads until the terminal shows `text`. Returns what it has shown since the last time."""
        while text not in self.screen:
            self.screen += os.read(self.file, 4096).decode("utf-8", "replace")
        shown, self.screen = self.screen.split(text, 1)
        return shown

    def say(self, line):
        os.write(self.file, line.encode() + b"\n")

    def close(self):
        os.close(self.file)
        os.waitpid(self.pid, 0)


class Forms(unittest.TestCase):
    ASKER = """import json, sys
turn = json.loads(sys.stdin.readline())
if "resume" in turn:
    said = [part["data"] for part in turn["message"]["parts"]]
    print(json.dumps({"type": "done", "message": "got " + json.dumps(said)}), flush=True)
else:
    schema = {"required": ["go", "size"], "properties": {"go": {"type": "boolean"}, "size": {"enum": ["small", "large"]},
              "why": {"type": "string"}}}
    print(json.dumps({"type": "ask", "message": "Shall I?", "schema": schema}), flush=True)
"""

    def test_a_question_with_a_schema_is_asked_field_by_field(self):
        server = harness.Server([])
        self.addCleanup(server.discard)
        (server.folder / "asker.py").write_text(self.ASKER, encoding="utf-8")
        terminal = Terminal(["run", "asker.py"], server.folder)
        self.addCleanup(terminal.close)
        terminal.await_text("> ")
        terminal.say("begin")
        self.assertIn("Shall I?", terminal.await_text("go, yes or no: "))
        terminal.say("maybe")
        self.assertIn("go must be yes or no", terminal.await_text("go, yes or no: "))
        terminal.say("yes")
        self.assertIn("2  large", terminal.await_text("which: "))
        terminal.say("2")
        terminal.await_text("why [none]: ")
        terminal.say("")
        terminal.await_text('got [{"go": true, "size": "large"}]')


if __name__ == "__main__":
    unittest.main()
