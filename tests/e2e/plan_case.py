"""Shared by the tests of plans: a server whose agents are plans over the agent `hand`."""
import json
import urllib.error
import urllib.request

import client
import harness


def write_plan(server, name, plan, **baton):
    folder = server.agents_folder / name
    folder.mkdir(exist_ok=True)
    card = {"name": name, "description": "A plan.", "version": "1", "capabilities": {"streaming": True},
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
            "skills": [{"id": name, "name": name, "description": "A plan.", "tags": ["plan"]}],
            "baton": {"executor": "workflow", "plan": plan, **baton}}
    (folder / "card.json").write_text(json.dumps(card), encoding="utf-8")


def hand(text, **step):
    return {"agent": "hand", "input": text, **step}


class PlanCase(harness.ServerCase):
    """Set PLANS to the plan of each agent, by name."""

    PLANS = {}
    HANDS = ["hand"]

    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server(cls.HANDS, cls.CONFIG, cls.OPTIONS)
        for name, plan in cls.PLANS.items():
            write_plan(cls.server, name, plan)
        cls.server.start()

    def begin(self, agent, text="go", parts=None, metadata=None):
        task = client.new_id()
        message = {"role": "user", "parts": parts or [{"type": "text", "text": text}]}
        if metadata:
            message["metadata"] = metadata
        self.server.open("tasks/sendSubscribe", {"id": task, "message": message}, agent=agent).close()
        return task

    def ended(self, task, agent, state="completed", seconds=harness.PATIENCE_S):
        done = self.wait_state(task, "completed", "failed", "canceled", "rejected", agent=agent, seconds=seconds)
        self.assertEqual(done["status"]["state"], state, done["status"])
        return done

    def run_plan(self, agent, text="go", state="completed", **more):
        return self.ended(self.begin(agent, text, **more), agent, state)

    def get(self, path, token=None, method="GET"):
        headers = {"Authorization": "Bearer " + token} if token else {}
        request = urllib.request.Request(f"http://127.0.0.1:{self.server.port}{path}", headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=client.scaled()) as answer:
                return answer.status, dict(answer.headers), answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, dict(error.headers), error.read()

    def tree(self, agent, task):
        status, headers, body = self.get(f"/agents/{agent}/tasks/{task}/tree")
        self.assertEqual((status, headers["Content-Type"]), (200, "application/json"), body)
        return json.loads(body)

    def text_of(self, done):
        return "".join(client.text_of(artifact) for artifact in done.get("artifacts", []))

    def reason(self, done):
        return client.text_of(done["status"]["message"])

    def calls(self, agent="hand"):
        path = self.server.agents_folder / agent / "calls"
        if not path.exists():
            return []
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def calls_of(self, text):
        return [attempt for attempt, said in self.calls() if said == text]

    def wait_calls(self, text, count=1):
        harness.wait_for(lambda: len(self.calls_of(text)) >= count, what=f"{count} calls of {text}")
