"""The end of the program: SIGTERM and SIGINT drain, nothing acknowledged is lost, and a failed start is reported."""
import json
import os
import signal
import socket
import subprocess

import client
import databases
import harness
from test_remote_agents import Front


class Drain(harness.unittest.TestCase):
    def server(self, **config):
        server = harness.Server(["slow", "joke"], config).start()
        self.addCleanup(server.discard)
        return server

    def test_idle_server_ends_at_once(self):
        for sig in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(sig):
                server = self.server()
                server.send("x", agent="joke")
                self.assertEqual(server.stop(sig), 0)

    def test_a_running_turn_gets_its_grace_time(self):
        server = self.server(engine={"drain_grace_s": 600})
        task = client.new_id()
        stream = server.stream("x", task)
        stream.until(lambda block: block.status and "begun" in str(block.status.get("message")))
        server.process.send_signal(signal.SIGTERM)
        ready = lambda: server.http("GET", "/readyz").status
        harness.wait_for(lambda: ready() == 503, what="the drain")

        def refusal():
            answer = server.http("GET", "/.well-known/agent-card.json")
            return answer if answer.status == 503 else None
        refused = harness.wait_for(refusal, what="new requests to be refused")
        self.assertEqual(refused.headers["Connection"], "close")
        self.assertIsNotNone(refused.headers["Retry-After"])
        self.assertEqual(server.rpc("tasks/get", {"id": task}).status, 503)
        self.assertEqual(server.http("GET", "/healthz").status, 200)
        self.assertTrue(server.running(), "it waits for the turn")
        server.gate("slow", task)
        self.assertEqual(stream.rest()[-1].status["state"], "completed")
        self.assertEqual(server.process.wait(client.scaled(60)), 0)
        server.start()
        self.assertEqual(server.get(task)["status"]["state"], "completed")

    def test_a_second_signal_ends_the_drain(self):
        for sig in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(sig):
                server = self.server(engine={"drain_grace_s": 600})
                task = client.new_id()
                stream = server.stream("x", task)
                stream.until(lambda block: block.status and "begun" in str(block.status.get("message")))
                server.process.send_signal(signal.SIGTERM)
                harness.wait_for(lambda: server.http("GET", "/readyz").status == 503, what="the drain")
                self.assertEqual(server.stop(sig), 0)
                stream.close()
                server.start()
                server.gate("slow", task)
                harness.wait_for(lambda: server.get(task)["status"]["state"] == "completed", what="the turn's second life")

    def test_a_turn_that_does_not_end_is_taken_up_again_after_the_restart(self):
        server = self.server(engine={"drain_grace_s": 0.3})
        task = client.new_id()
        stream = server.stream("x", task)
        seen = stream.until(lambda block: block.status and "begun" in str(block.status.get("message")))
        self.assertEqual(server.stop(), 0)
        stream.close()
        server.start()
        self.assertIn(server.get(task)["status"]["state"], ("submitted", "working"))
        again = server.resubscribe(task, seen.number)
        server.gate("slow", task)
        self.assertEqual(again.rest()[-1].status["state"], "completed")

    def test_the_program_ends_in_time_though_a_thread_of_an_agent_is_stuck(self):
        server = Front({"model": {"executor": "openai", "url": "http://127.0.0.1:9/v1",
                                  "model": {"name": "m", "system_file": "prompt"}}}, ["http://127.0.0.1:9"])
        self.addCleanup(server.discard)
        server.config["engine"] = {"drain_grace_s": 0.3}
        prompt = server.agents_folder / "model" / "prompt"
        prompt.write_text("be brief", encoding="utf-8")
        server.start()
        # Opening a pipe without a writer blocks for ever.
        prompt.unlink()
        os.mkfifo(prompt)
        message = {"messageId": client.new_id(), "role": "ROLE_USER", "parts": [{"text": "x"}]}
        server.call("SendMessage", {"message": message, "configuration": {"returnImmediately": True}}, agent="model",
                    headers={"A2A-Version": "1.0"})
        harness.wait_for(lambda: server.metric("baton_turns_running") == 1, what="the turn to run")
        self.assertEqual(server.stop(), 0)
        self.assertIn("some threads did not stop in time; exiting without them", server.log_text())

    @databases.needs_sqlite("reads the file by SQLite's own check")
    def test_database_is_whole_afterwards(self):
        server = self.server()
        server.send("x", agent="joke")
        server.kill()
        out = subprocess.run(["/usr/bin/python3", "-c", "import sqlite3,sys;print(sqlite3.connect(sys.argv[1])"
                              ".execute('pragma integrity_check').fetchone()[0])", str(server.database.path)],
                             capture_output=True, text=True, check=True)
        self.assertEqual(out.stdout.strip(), "ok")
        server.start()


class Start(harness.unittest.TestCase):
    def refuse(self, *options, config=None, card=None, port=0):
        """Asserts that the program does not start. Returns its standard error."""
        server = harness.Server(["joke"], config)
        self.addCleanup(server.discard)
        server.port = port
        if card is not None:
            path = server.agents_folder / "joke" / "card.json"
            path.write_text(card if isinstance(card, str) else json.dumps(card), encoding="utf-8")
        done = subprocess.run([*server.command(), *options], capture_output=True, text=True, check=False,
                              timeout=client.scaled(60), env=harness.program_environment())
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("listening on", done.stdout)
        return done.stderr + done.stdout

    def test_port_in_use_is_said(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            said = self.refuse(port=port)
            self.assertIn(str(port), said)
            self.assertIn("in use", said)

    def test_second_server_on_the_same_port_is_refused(self):
        server = harness.Server(["joke"]).start()
        self.addCleanup(server.discard)
        self.assertIn("in use", self.refuse(port=server.port))

    def test_unknown_setting_is_said_with_the_nearest_name(self):
        said = self.refuse(config={"http": {"body_maxx": 5}})
        self.assertIn("body_maxx", said)
        self.assertIn("body_max", said)

    def test_wrong_card_is_said_with_file_pointer_and_reason(self):
        said = self.refuse(card={"name": "x", "baton": {"executor": "magic"}})
        self.assertIn("card.json", said)
        self.assertIn("/baton/executor", said)
        self.assertIn("card.json", self.refuse(card="{"))

    def test_unknown_option_is_said(self):
        self.assertIn("--colour", self.refuse("--colour"))

