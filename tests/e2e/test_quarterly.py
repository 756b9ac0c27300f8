"""The shipped plan `quarterly`, end to end: over A2A 1.0, the tasks era and AG-UI, and across kills at random
moments."""
import base64
import json
import os
import random
import time

import client
import harness
import rings

NEW = {"A2A-Version": "1.0"}
TABLES = {"jan.csv": "city,sales\nOslo,10\nBergen,12\n", "feb.csv": "city,sales\nOslo,20\nBergen,30\n",
          "mar.csv": "city,sales\n" + "".join(f"c{index},1\n" for index in range(30)) + "Oslo,1000\n"}
RUNS = 4 if rings.WHOLE else 25  # each is killed twice; the simulator does that in every seed that has plans


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def words(holder):
    """Returns the text of a message or artifact of 1.0."""
    return "".join(part.get("text", "") for part in holder["parts"])


def page_in(task):
    """Returns the document of a task of 1.0."""
    parts = [part for artifact in task["artifacts"] for part in artifact["parts"] if part.get("filename") == "report.html"]
    assert len(parts) == 1, task["artifacts"]
    return base64.b64decode(parts[0]["raw"]).decode()


class Quarterly(harness.ServerCase):
    def send(self, parts, task=None):
        message = {"messageId": client.new_id(), "role": "ROLE_USER", "parts": parts}
        if task:
            message["taskId"] = task
        return self.server.call("SendMessage", {"message": message}, agent="quarterly", headers=NEW)["task"]

    def begin(self):
        return self.send([{"raw": encoded(text), "filename": name, "mediaType": "text/csv"} for name, text in TABLES.items()])

    def get(self, task):
        return self.server.call("GetTask", {"id": task}, agent="quarterly", headers=NEW)

    def check_page(self, page):
        self.assertEqual(page.count("data:image/svg+xml"), len(TABLES))
        self.assertIn("sales: from 11 (jan.csv) to 33.2258 (mar.csv) on average.", page)
        self.assertIn("mar.csv: sales reaches 1000", page)

    def test_a_report_is_made_over_a2a_1_0_once_the_caller_has_agreed(self):
        asked = self.begin()
        self.assertEqual(asked["status"]["state"], "TASK_STATE_INPUT_REQUIRED")
        self.assertIn("mar.csv: sales reaches 1000", words(asked["status"]["message"]))
        done = self.send([{"text": "yes"}], asked["id"])
        self.assertEqual(done["status"]["state"], "TASK_STATE_COMPLETED", done["status"])
        self.check_page(page_in(done))

    def test_no_report_is_made_if_the_caller_does_not_agree(self):
        done = self.send([{"text": "no"}], self.begin()["id"])
        self.assertIn("was not made", words(done["artifacts"][0]))

    def test_a_report_is_made_over_the_tasks_era(self):
        task = client.new_id()
        files = [{"type": "file", "file": {"name": name, "mimeType": "text/csv", "bytes": encoded(text)}}
                 for name, text in TABLES.items()]
        asked = self.server.call("tasks/send", {"id": task, "message": {"role": "user", "parts": files}}, agent="quarterly")
        self.assertEqual(asked["status"]["state"], "input-required")
        done = self.server.send("yes", task, agent="quarterly")
        self.assertEqual(done["status"]["state"], "completed")
        self.check_page(page_in(self.get(task)))

    def run_agui(self, run, messages, **members):
        body = {"threadId": "quarter", "runId": run, "state": {}, "tools": [], "context": [], "forwardedProps": {},
                "messages": messages} | members
        answer = self.server.http("POST", "/agents/quarterly/ag-ui", json.dumps(body),
                                  {"Accept": "text/event-stream", "Content-Type": "application/json"})
        return [json.loads(line[6:]) for line in answer.raw.decode().splitlines() if line.startswith("data: ")]

    def test_a_report_is_made_over_ag_ui(self):
        files = [{"type": "document", "source": {"type": "data", "value": encoded(text), "mimeType": "text/csv"},
                  "metadata": {"filename": name}} for name, text in TABLES.items()]
        first = {"id": "m1", "role": "user", "content": files}
        events = self.run_agui("r1", [first])
        self.assertEqual(events[-1]["type"], "RUN_FINISHED", events[-1])
        self.assertIn("sales reaches 1000", json.dumps(events))
        asked = events[-1]["outcome"]["interrupts"][0]["id"]
        events = self.run_agui("r2", [first], resume=[{"interruptId": asked, "status": "resolved", "payload": "yes"}])
        self.assertEqual(events[-1]["type"], "RUN_FINISHED", events[-1])
        tasks = self.server.call("ListTasks", {"contextId": "quarter"}, agent="quarterly", headers=NEW)["tasks"]
        self.assertEqual([task["status"]["state"] for task in tasks], ["TASK_STATE_COMPLETED"])
        self.check_page(page_in(self.get(tasks[0]["id"])))

    def test_a_report_is_the_same_however_often_the_program_is_killed_meanwhile(self):
        expected = page_in(self.send([{"text": "yes"}], self.begin()["id"]))
        seed = int(os.environ.get("BATON_SEED", random.randrange(1 << 32)))
        chance = random.Random(seed)
        for run in range(RUNS):
            with self.subTest(seed=seed, run=run):
                task = client.new_id()
                files = [{"type": "file", "file": {"name": name, "mimeType": "text/csv", "bytes": encoded(text)}}
                         for name, text in TABLES.items()]
                params = {"id": task, "message": {"role": "user", "parts": files}}
                self.server.open("tasks/sendSubscribe", params, agent="quarterly").close()
                time.sleep(chance.random() * 0.25)  # the moment of the kill, not a wait for anything
                self.server.kill()
                self.server.start()
                self.wait_state(task, "input-required", agent="quarterly", seconds=60)
                answer = {"id": task, "message": client.text_message("yes")}
                self.server.open("tasks/sendSubscribe", answer, agent="quarterly").close()
                time.sleep(chance.random() * 0.03)
                self.server.kill()
                self.server.start()
                self.wait_state(task, "completed", agent="quarterly", seconds=60)
                self.assertEqual(page_in(self.get(task)), expected)
                tree = self.server.http("GET", f"/agents/quarterly/tasks/{task}/tree").body
                steps = [child.get("label") for child in tree["root"]["children"]]
                self.assertEqual(sorted(steps), sorted(set(steps)), "each step was made once")


if __name__ == "__main__":
    harness.unittest.main()
