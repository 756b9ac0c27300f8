"""A turn that kills the server at each start: the server quarantines it, and an operator can requeue it."""
import http.client
import subprocess

import client
import harness
import operate_case

RESTARTS_MAX = 12
GONE = (OSError, http.client.HTTPException)


class Quarantine(operate_case.OperateCase):
    AGENTS = ["killer", "joke"]

    def supervise(self):
        """Restarts the server whenever it has died, until it lives and reports a quarantined turn. Returns how often it
        has died."""
        for deaths in range(1, RESTARTS_MAX):
            self.server.process.wait(client.scaled())
            self.server.log.close()
            try:
                self.server.start()
            except AssertionError:
                continue  # it died before it listened
            harness.wait_for(lambda: not self.server.running() or self.is_quarantined(),
                             what="the server to die or to come to rest")
            if self.server.running():
                return deaths
        raise AssertionError(f"the server died {RESTARTS_MAX} times")

    def is_quarantined(self):
        try:
            return b"quarantined turns: 1 " in self.server.http("GET", "/readyz").raw
        except GONE:
            return False

    def begin(self, text):
        task = client.new_id()
        try:
            self.server.stream(text, task, agent="killer", token=operate_case.CALLER).close()
        except GONE:
            pass  # it has died meanwhile
        return task

    def row_of(self, task):
        row, = (row for row in self.read("/tasks?limit=200")["tasks"] if row["id"] == task)
        return row

    def test_server_that_an_agent_kills_comes_to_rest_and_requeue_releases_the_turn(self):
        others = [self.begin("wait"), self.begin("wait more")]
        killer = self.begin("die")
        self.assertLessEqual(self.supervise(), 8)
        for task in others:
            self.wait_row(self.row_of(task)["key"], "completed")
        self.assertEqual(self.row_of(self.send("x", "joke"))["state"], "completed")

        row = self.row_of(killer)
        self.assertEqual((row["state"], row["turnState"]), ("working", "waiting"))
        self.assertIn("quarantined: the server crashed", row["text"])
        found = self.read("/tasks?turn=waiting&error=quarantined")["tasks"]
        self.assertEqual([one["id"] for one in found], [killer])
        self.assertEqual(self.read("/overview")["turns"]["quarantined"], 1)
        self.assertEqual(self.server.metric("baton_turns_quarantined"), 1)
        shown = subprocess.run(
            [harness.PROGRAM, "ops", "overview", "--json"], capture_output=True, text=True, check=True,
            env={**harness.program_environment(), "BATON_TOKEN": operate_case.OPERATOR,
                 "BATON_URL": f"http://127.0.0.1:{self.server.port}"})
        self.assertIn('"quarantined":1', shown.stdout)

        (self.server.agents_folder / "killer" / "mended").touch()
        self.act(f"/tasks/{row['key']}/requeue")
        self.wait_row(row["key"], "completed")
        self.assertEqual(self.server.metric("baton_turns_quarantined"), 0)
        self.assertNotIn(b"quarantined", self.server.http("GET", "/readyz").raw)
