"""The program's client commands, as used by a script: JSON lines and exit codes. Their output here is A2A 0.1;
test_cli_a2a.py has the other versions."""
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading

import client
import harness

DONE, FAILED, USAGE, WAITS, NO_ANSWER, CANCELED, NOT_SAVED, INTERRUPTED = 0, 1, 2, 3, 4, 5, 6, 130


class Cli(harness.ServerCase):
    A2A = ("--a2a", "0.1")

    def setUp(self):
        self.folder = self.server.folder

    def run_baton(self, *words, url=None, stdin=None, seconds=60):
        """Runs a command. Returns its exit code, the JSON of each line it printed, and its error output."""
        done = subprocess.run(
            [harness.PROGRAM, *words, "--json", "--url", url or f"http://127.0.0.1:{self.server.port}", *self.A2A],
            input=stdin, capture_output=True, text=True, check=False, timeout=client.scaled(seconds),
            env=harness.program_environment(), cwd=self.folder)
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def background(self, *words):
        return subprocess.Popen(
            [harness.PROGRAM, *words, "--json", "--url", f"http://127.0.0.1:{self.server.port}", *self.A2A],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=harness.program_environment(), cwd=self.folder)

    @staticmethod
    def last_state(lines):
        return [line["status"]["state"] for line in lines if "status" in line][-1]

    def test_send_prints_the_stream_as_json_lines(self):
        code, lines, _ = self.run_baton("send", "Hello, Baton")
        self.assertEqual(code, DONE)
        self.assertEqual(self.last_state(lines), "completed")
        text = "".join(client.text_of(line["artifact"]) for line in lines if "artifact" in line)
        self.assertEqual(text, "Hello, Baton")
        self.assertEqual(len({line["id"] for line in lines}), 1)

    def test_send_reads_standard_input(self):
        code, lines, _ = self.run_baton("send", "-", stdin="from a pipe ünï\n")
        self.assertEqual(code, DONE)
        text = "".join(client.text_of(line["artifact"]) for line in lines if "artifact" in line)
        self.assertEqual(text.strip(), "from a pipe ünï")

    def test_send_reads_standard_input_also_from_a_socket_and_only_the_rest_of_a_file(self):
        ours, theirs = socket.socketpair()
        file = tempfile.TemporaryFile()
        self.addCleanup(file.close)
        file.write(b"read before\nthe rest")
        file.flush()
        os.lseek(file.fileno(), len("read before\n"), os.SEEK_SET)
        with ours, theirs:
            ours.sendall(b"the rest")
            ours.shutdown(socket.SHUT_WR)
            for source in (theirs, file):
                with self.subTest(source=source):
                    done = subprocess.run(
                        [harness.PROGRAM, "send", "-", "--url", f"http://127.0.0.1:{self.server.port}"], stdin=source.fileno(),
                        capture_output=True, text=True, check=False, timeout=client.scaled(60), env=harness.program_environment())
                    self.assertEqual(done.returncode, DONE, done.stderr)
                    self.assertIn("\nthe rest\n", done.stdout)

    def test_output_that_cannot_be_written_is_an_error(self):
        url = f"http://127.0.0.1:{self.server.port}"
        for words in (["agents", "--url", url], ["check", self.server.agents_folder], ["completion", "bash"], ["send", "--help"],
                      ["serve", "--config-schema"], ["health", "--url", url]):
            with self.subTest(words), open("/dev/full", "wb") as full:
                done = subprocess.run([harness.PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False,
                                      timeout=client.scaled(60), env=harness.program_environment())
                self.assertEqual(done.returncode, NOT_SAVED, done.stderr)
                self.assertIn("baton: standard output cannot be written", done.stderr)

    def test_send_without_stream_prints_the_task(self):
        code, lines, _ = self.run_baton("send", "--no-stream", "x")
        self.assertEqual((code, len(lines)), (DONE, 1))
        self.assertEqual(lines[0]["artifacts"][0]["parts"], [{"type": "text", "text": "x"}])

    def test_send_file_and_data_and_save_what_comes_back(self):
        (self.folder / "in.bin").write_bytes(bytes(range(256)))
        code, _, complaints = self.run_baton("send", "--file", "in.bin", "--data", '{"a":[1,2]}', "--out", "saved", "x")
        self.assertEqual(code, DONE, complaints)
        self.assertEqual((self.folder / "saved" / "in.bin").read_bytes(), bytes(range(256)))

    def test_answering_a_question(self):
        code, lines, _ = self.run_baton("send", "--agent", "approval", "Delete the old logs")
        self.assertEqual(code, WAITS)
        self.assertEqual(self.last_state(lines), "input-required")
        task = lines[-1]["id"]
        code, lines, _ = self.run_baton("send", "--agent", "approval", "--task", task, "yes")
        self.assertEqual((code, self.last_state(lines)), (DONE, "completed"))

    def test_failed_task(self):
        code, lines, _ = self.run_baton("send", "--agent", "table-report", "a,b\n1\n")
        self.assertEqual((code, self.last_state(lines)), (FAILED, "failed"))

    def test_get(self):
        task = self.server.send("x")["id"]
        code, lines, _ = self.run_baton("get", task, "--history", "5")
        self.assertEqual(code, DONE)
        self.assertEqual((lines[0]["id"], lines[0]["status"]["state"]), (task, "completed"))
        self.assertEqual(client.text_of(lines[0]["history"][0]), "x")
        code, _, complaints = self.run_baton("get", "no-such-task")
        self.assertEqual(code, NO_ANSWER)
        self.assertIn("not found", complaints.lower())

    def slow_echo(self):
        """Begins a task that works until it is canceled. Returns it and its stream."""
        task = client.new_id()
        return task, self.server.open("tasks/sendSubscribe", {
            "id": task, "message": client.text_message("word " * 10_000, metadata={"delay_ms": 50})})

    def test_cancel(self):
        task, stream = self.slow_echo()
        code, lines, _ = self.run_baton("cancel", task)
        self.assertEqual((code, self.last_state(lines)), (DONE, "canceled"))
        self.assertEqual(stream.rest()[-1].status["state"], "canceled")
        code, _, _ = self.run_baton("cancel", task)
        self.assertEqual(code, NO_ANSWER)

    def test_watch_of_an_ended_task_from_its_beginning(self):
        task = self.server.send("a b c")["id"]
        code, lines, _ = self.run_baton("watch", task, "--from", "0")
        self.assertEqual(code, DONE)
        text = "".join(client.text_of(line["artifact"]) for line in lines if "artifact" in line)
        self.assertEqual((text, self.last_state(lines)), ("a b c", "completed"))

    def test_watch_of_a_cancelled_task(self):
        task, stream = self.slow_echo()
        process = self.background("watch", task)
        process.stdout.readline()
        self.server.call("tasks/cancel", {"id": task})
        process.communicate(timeout=client.scaled(60))
        self.assertEqual(process.returncode, CANCELED)
        stream.rest()

    def test_interrupted_watch_leaves_the_task_running(self):
        task, stream = self.slow_echo()
        process = self.background("watch", task)
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=client.scaled(60))
        self.assertEqual(process.returncode, INTERRUPTED)
        self.assertIn(task, complaints, "says how to go on")
        self.assertEqual(self.server.get(task)["status"]["state"], "working")
        self.server.call("tasks/cancel", {"id": task})
        stream.rest()

    def test_watch_resumes_by_itself_after_a_restart(self):
        task = client.new_id()
        words = " ".join(f"w{number}" for number in range(60))
        stream = self.server.open("tasks/sendSubscribe", {
            "id": task, "message": client.text_message(words, metadata={"delay_ms": 50})})
        stream.until(lambda block: block.result and "artifact" in block.result)
        process = self.background("watch", task, "--from", "0")
        lines = [process.stdout.readline() for _ in range(4)]
        reader = threading.Thread(target=lambda: lines.extend(process.stdout))
        reader.start()
        self.server.kill()
        stream.close()
        self.server.start()
        reader.join(client.scaled(60))
        self.assertEqual(process.wait(client.scaled(60)), DONE)
        process.stdout.close()
        process.stderr.close()
        events = [json.loads(line) for line in lines]
        artifacts = [event["artifact"] for event in events if "artifact" in event]
        # The output of the broken attempt is replaced: append: false.
        text = ""
        for artifact in artifacts:
            text = text + client.text_of(artifact) if artifact.get("append") else client.text_of(artifact)
        self.assertEqual(text, words)
        self.assertEqual(self.last_state(events), "completed")

    def test_card(self):
        code, lines, _ = self.run_baton("card", "echo")
        self.assertEqual((code, lines[0]["name"]), (DONE, "Echo"))
        code, _, _ = self.run_baton("card", "nobody")
        self.assertNotEqual(code, DONE)

    def test_nobody_there(self):
        code, _, complaints = self.run_baton("get", "x", url="http://127.0.0.1:1")
        self.assertEqual(code, NO_ANSWER)
        self.assertIn("127.0.0.1:1", complaints)

    def test_wrong_usage(self):
        for words in (["send"], ["send", "--colour", "x"], ["watch"], ["dance"], ["send", "--file", "no-such-file"],
                      ["send", "--data", "{", "x"]):
            with self.subTest(words):
                self.assertEqual(self.run_baton(*words)[0], USAGE)

    def test_a_word_that_is_missing_is_named_with_the_help_of_its_command(self):
        for words in (["init"], ["ops", "pause"]):
            with self.subTest(words):
                done = subprocess.run([harness.PROGRAM, *words], capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stdout), (USAGE, ""))
                self.assertRegex(done.stderr, rf"\Abaton: (folder|agent) is required; see baton {' '.join(words)} --help\n\Z")

    def test_help_and_version(self):
        for words in (["--help"], ["send", "--help"], ["--version"]):
            done = subprocess.run([harness.PROGRAM, *words], capture_output=True, text=True, check=True)
            self.assertTrue(done.stdout)

    def shown(self, *words):
        return subprocess.run([harness.PROGRAM, *words], capture_output=True, text=True, check=True).stdout

    def test_the_program_alone_shows_the_commands_that_people_use(self):
        shown = self.shown()
        self.assertEqual(re.findall(r"^  (\w+)", shown, re.MULTILINE),
                         ["init", "dev", "test", "check", "run", "chat", "send", "list", "logs", "serve"])

    def test_help_of_the_server_has_its_own_options_and_all_of_them_on_request(self):
        for command in ("dev", "serve"):
            short, long = self.shown(command, "--help"), self.shown(command, "--help-all")
            self.assertLess(len(short.splitlines()), 40)
            self.assertIn("--port", short)
            self.assertNotIn("--engine-slots", short)
            self.assertIn("--engine-slots", long)

    def test_without_a_terminal_and_without_json_text_is_printed(self):
        shown = self.shown("send", "Hello", "--url", f"http://127.0.0.1:{self.server.port}")
        self.assertRegex(shown, r"\Atask [0-9a-f-]{36}\nsubmitted\nworking\nHello\ncompleted\n\Z")


class Tokens(harness.ServerCase):
    AGENTS = ["joke"]
    CONFIG = {"tokens": [{"caller": "ann", "token": "secret-of-ann"}]}

    def test_token_from_the_environment(self):
        words = [harness.PROGRAM, "send", "x", "--url", f"http://127.0.0.1:{self.server.port}"]
        for token, code in (("secret-of-ann", DONE), ("wrong", NO_ANSWER)):
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=client.scaled(60),
                                  env={**harness.program_environment(), "BATON_TOKEN": token})
            self.assertEqual(done.returncode, code, done.stderr)


class ClosedStreams(harness.ServerCase):
    AGENTS = ["joke"]

    def test_a_server_whose_standard_streams_are_closed_keeps_its_database(self):
        task = self.server.send("x")["id"]
        self.server.stop()
        self.server.process = subprocess.Popen(
            ["bash", "-c", 'exec "$@" <&- >&- 2>&-', "bash", *self.server.command()], env=harness.program_environment(),
            start_new_session=True)

        def is_ready():
            self.assertTrue(self.server.running(), "the server ended")
            return subprocess.run([harness.PROGRAM, "health", "--url", f"http://127.0.0.1:{self.server.port}"],
                                  capture_output=True, check=False, env=harness.program_environment()).returncode == DONE
        harness.wait_for(is_ready, what="the server", pause=0.2)
        self.assertEqual(self.server.stop(), 0)
        self.server.start()
        self.assertEqual(self.server.get(task)["status"]["state"], "completed")
