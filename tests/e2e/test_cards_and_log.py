"""The operator's view when the program starts, if a card is wrong, and when a task fails."""
import json
import shutil
import signal
import subprocess

import client
import harness


def log_lines(server):
    return [json.loads(line) for line in server.log_text().splitlines() if line.startswith("{")]


class StartCase(harness.unittest.TestCase):
    def change_card(self, server, agent, change):
        path = server.agents_folder / agent / "card.json"
        card = json.loads(path.read_text(encoding="utf-8"))
        change(card)
        path.write_text(json.dumps(card, indent=2), encoding="utf-8")

    def line_with(self, server, text):
        found = [line for line in log_lines(server) if text in line["message"]]
        self.assertEqual(len(found), 1, server.log_text())
        return found[0]


class Startup(StartCase):
    def test_the_log_says_version_database_agents_and_callers(self):
        config = {"tokens": [{"caller": "ann", "token": "sEcReT"}, {"caller": "bob", "token": "sEcReT2", "agents": ["echo"]}],
                  "allow_anonymous": True}
        with harness.Server(["echo", "approval"], config) as server:
            first = self.line_with(server, ", database ")
            version = subprocess.run([harness.PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
            self.assertIn(f"baton {version}", first["message"])
            self.assertIn(server.database.shown, first["message"])
            self.assertEqual(self.line_with(server, "agents: ")["message"], "agents: approval, echo (default)")
            callers = self.line_with(server, "callers: ")["message"]
            self.assertEqual(callers, "callers: anyone, without a token; ann with a token; bob with a token for echo")
            self.assertNotIn("sEcReT", server.log_text())

    def test_without_a_default_nothing_is_served_at_the_root_and_one_warning_says_so(self):
        with harness.Server(["echo", "approval"]) as server:
            server.stop()
            self.change_card(server, "echo", lambda card: card["baton"].pop("default"))
            (server.folder / "log").write_text("", encoding="utf-8")
            server.start()
            self.assertEqual(self.line_with(server, '"default": true')["level"], "warning")
            for method, path in (("POST", "/"), ("GET", "/.well-known/agent-card.json"), ("POST", "/ag-ui")):
                self.assertEqual(server.http(method, path, b"{}" if method == "POST" else None).status, 404)
            self.assertEqual(server.http("GET", "/agents/echo/.well-known/agent-card.json").status, 200)
            done = subprocess.run([harness.PROGRAM, "send", "hi", "--url", f"http://127.0.0.1:{server.port}"],
                                  capture_output=True, text=True, check=False, timeout=client.scaled(60),
                                  env=harness.program_environment())
            self.assertEqual((done.returncode, "--agent names one of approval, echo" in done.stderr), (4, True), done.stderr)

    def test_a_single_agent_is_the_default_one(self):
        with harness.Server(["echo"]) as server:
            server.stop()
            self.change_card(server, "echo", lambda card: card["baton"].pop("default"))
            server.start()
            self.assertEqual(server.send("x")["status"]["state"], "completed")

    def test_what_a_command_needs_and_is_not_there_is_said_at_start(self):
        with harness.Server(["echo", "approval"]) as server:
            server.stop()
            self.change_card(server, "approval", lambda card: card["baton"].update(command=["no-such-python", "-u"]))
            (server.agents_folder / "echo" / "agent.py").rename(server.agents_folder / "echo" / "renamed.py")
            server.start()
            said = self.line_with(server, "no-such-python")
            self.assertEqual((said["level"], said["agent"]), ("warning", "approval"))
            self.assertRegex(said["message"], r"approval/card\.json:\d+:\d+: /baton/command")
            self.assertIn("echo/card.json", self.line_with(server, '"agent.py" is missing')["message"])

    def test_flags_that_are_yes_or_no_take_a_value_or_none(self):
        for words in (["--strict"], ["--strict=true"], ["--strict", "true"]):
            with self.subTest(words), harness.Server(["echo"]) as server:
                server.stop()
                (server.agents_folder / "broken").mkdir()
                (server.agents_folder / "broken" / "card.json").write_text("{", encoding="utf-8")
                done = subprocess.run([*server.command(), *words], capture_output=True, text=True, check=False,
                                      timeout=client.scaled(60), env=harness.program_environment())
                self.assertEqual(done.returncode, 1, done.stderr)
        done = subprocess.run([harness.PROGRAM, "serve", "--strict=perhaps"], capture_output=True, text=True, check=False,
                              timeout=client.scaled(60), env=harness.program_environment())
        self.assertEqual((done.returncode, "--strict: must be true or false" in done.stderr), (2, True), done.stderr)


class WrongCards(StartCase):
    def broken(self, server):
        server.stop()
        path = server.agents_folder / "approval" / "card.json"
        whole = path.read_text(encoding="utf-8")
        path.write_text('{\n  "name": "Approval"\n  "version": 1}', encoding="utf-8")
        return path, whole

    def test_one_wrong_card_leaves_out_its_agent_and_no_other(self):
        with harness.Server(["echo", "approval"]) as server:
            self.broken(server)
            server.start()
            self.assertEqual(server.send("x")["status"]["state"], "completed")
            ready = server.http("GET", "/readyz")
            self.assertEqual(ready.status, 200)
            self.assertIn("approval", ready.raw.decode())
            said = self.line_with(server, "left out")
            self.assertEqual((said["level"], said["agent"]), ("error", "approval"))
            self.assertIn("approval/card.json:3:3: ", said["message"])
            self.assertEqual(server.http("GET", "/agents/approval/.well-known/agent-card.json").status, 404)

    def test_card_that_is_wrong_at_sighup_is_told_until_it_is_mended(self):
        with harness.Server(["echo", "approval"]) as server:
            path = server.agents_folder / "approval" / "card.json"
            whole = path.read_text(encoding="utf-8")
            path.write_text("{", encoding="utf-8")
            server.process.send_signal(signal.SIGHUP)
            harness.wait_for(lambda: b"unchanged: approval" in server.http("GET", "/readyz").raw)
            self.assertEqual(server.metric("baton_agents_outdated"), 1)
            self.assertEqual(server.metric("baton_agents_left_out"), 0)
            self.assertEqual(server.http("GET", "/agents/approval/.well-known/agent-card.json").status, 200)
            path.write_text(whole, encoding="utf-8")
            server.process.send_signal(signal.SIGHUP)
            harness.wait_for(lambda: server.metric("baton_agents_outdated") == 0)
            self.assertEqual(server.http("GET", "/readyz").raw, b"ready\n")

    def test_strict_refuses_to_start(self):
        with harness.Server(["echo", "approval"]) as server:
            self.broken(server)
            done = subprocess.run([*server.command(), "--strict"], capture_output=True, text=True, check=False,
                                  timeout=client.scaled(60), env=harness.program_environment())
            self.assertEqual(done.returncode, 1)
            self.assertIn("approval/card.json:3:3: ", done.stderr)

    def test_tasks_of_an_agent_that_is_left_out_wait_until_its_card_is_mended(self):
        with harness.Server(["echo", "slow"], {"engine": {"drain_grace_s": 0.2}}) as server:
            task = client.new_id()
            stream = server.open("tasks/sendSubscribe", {"id": task, "message": client.text_message("hold")}, agent="slow")
            stream.until(lambda block: block.result and block.result.get("status", {}).get("state") == "working")
            stream.close()
            server.kill()
            path = server.agents_folder / "slow" / "card.json"
            whole = path.read_text(encoding="utf-8")
            path.write_text("{", encoding="utf-8")
            server.start()
            self.assertEqual(server.send("x")["status"]["state"], "completed")
            server.stop()
            path.write_text(whole, encoding="utf-8")
            server.start()
            state = server.rpc("tasks/get", {"id": task}, agent="slow").body["result"]["status"]["state"]
            self.assertIn(state, ("submitted", "working", "completed"))

    def test_a_wrong_configuration_is_told_with_line_and_column(self):
        with harness.Server(["echo"]) as server:
            server.stop()
            config = server.folder / "mine.json"
            config.write_text('{\n  // mine\n  "http": {\n    "body_mx": 5}}', encoding="utf-8")
            done = subprocess.run([harness.PROGRAM, "serve", "--config", str(config)], capture_output=True, text=True,
                                  check=False, timeout=client.scaled(60), env=harness.program_environment())
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{config}:4:16: /http/body_mx: is unknown; did you mean body_max?", done.stderr)

    def test_a_member_that_nobody_knows_is_a_warning(self):
        with harness.Server(["echo"]) as server:
            server.stop()
            self.change_card(server, "echo", lambda card: card.update(desciption="x"))
            server.start()
            said = self.line_with(server, "/desciption")
            self.assertEqual(said["level"], "warning")
            self.assertIn('did you mean "description"?', said["message"])
            self.assertEqual(server.send("x")["status"]["state"], "completed")


class Failures(StartCase):
    def serve(self, script, **settings):
        server = harness.Server(["echo"])
        folder = server.agents_folder / "scripted"
        shutil.copytree(server.agents_folder / "echo", folder)
        (folder / "agent.py").write_text(script, encoding="utf-8")
        path = folder / "card.json"
        card = json.loads(path.read_text(encoding="utf-8"))
        card["baton"] = {"executor": "command", "command": ["python3", "-u", "agent.py"], **settings}
        path.write_text(json.dumps(card), encoding="utf-8")
        return server

    def send(self, server):
        return server.call("tasks/send", {"id": client.new_id(), "message": client.text_message("x")}, agent="scripted")

    def test_a_failing_task_is_a_warning_with_its_reason_and_stderr_names_the_task(self):
        script = ('import json, sys\nturn = json.loads(sys.stdin.readline())\n'
                  'print("look at me", file=sys.stderr, flush=True)\n'
                  'print(json.dumps({"type": "fail", "error": "no such table"}), flush=True)\n')
        with self.serve(script) as server:
            task = self.send(server)
            self.assertEqual(task["status"]["state"], "failed")
            found = lambda text: [line for line in log_lines(server) if text in line["message"]]
            said = harness.wait_for(lambda: found("no such table"), what="the warning")[0]
            self.assertEqual((said["level"], said["task"], said["agent"], said["attempt"]),
                             ("warning", task["id"], "scripted", "1"))
            error = harness.wait_for(lambda: found("look at me"), what="the agent's own words")[0]
            self.assertEqual((error["task"], error["agent"], error["attempt"]), (task["id"], "scripted", "1"))

    def test_a_workers_stderr_names_worker_and_turn(self):
        script = ('import json, sys\nfor line in sys.stdin:\n    turn = json.loads(line)\n'
                  '    if turn["type"] != "turn":\n        continue\n'
                  '    print("look at me", file=sys.stderr, flush=True)\n'
                  '    print(json.dumps({"type": "done", "turn": turn["turn"]}), flush=True)\n')
        with self.serve(script, mode="worker", workers=1) as server:
            task = self.send(server)
            found = lambda: [line for line in log_lines(server) if "look at me" in line["message"]]
            said = harness.wait_for(found, what="the agent's own words")[0]
            self.assertEqual((said["task"], said["agent"], said["worker"], said["attempt"]),
                             (task["id"], "scripted", "0", "1"))
