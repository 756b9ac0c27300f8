"""Shared by the tests of language models: a scripted server, and a Baton whose agents are its models."""
import client
import harness
import model_server
from test_remote_agents import Front


class ModelCase(harness.ServerCase):
    AGENTS = ["echo", "approval"]
    MODELS = {"plain": {}}

    @classmethod
    def setUpClass(cls):
        cls.model = model_server.ModelServer().__enter__()
        cls.addClassCleanup(cls.model.__exit__, None, None, None)
        origin = cls.model.url.rstrip("/")
        cls.server = Front({}, [origin], cls.AGENTS)
        for name, members in cls.MODELS.items():
            model = {"name": "tiny", **members.pop("model", {})}
            cls.server.write_card(name, {"executor": "openai", "url": f"{origin}/v1", "model": model, **members})
        cls.prepare()
        cls.server.start()

    @classmethod
    def prepare(cls):
        pass

    def run_task(self, text="hi", agent="plain", state="completed", **message):
        """Returns the task, once it has stopped in that state."""
        task = client.new_id()
        sent = {**client.text_message(text), **message}
        self.server.rpc("tasks/send", {"id": task, "message": sent}, agent=agent)
        return self.stopped(task, agent, state)

    def stopped(self, task, agent="plain", state="completed"):
        found = self.wait_state(task, "completed", "failed", "canceled", "rejected", "input-required", agent=agent)
        self.assertEqual(found["status"]["state"], state, found["status"])
        return found

    @staticmethod
    def reply(task):
        return "".join(client.text_of(artifact) for artifact in task.get("artifacts", []))

    def reason(self, task):
        return client.text_of(task["status"]["message"])
