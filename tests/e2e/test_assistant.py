"""The shipped assistant: a language model named by the environment, with table-report as its tool."""
import json
import os
import unittest.mock

import client
import harness
import model_server
from model_server import call, calls, said, streamed

CSV = "city,people\nOslo,709037\nBergen,291000\n"
VARIABLES = ("MODEL_URL", "MODEL_NAME", "MODEL_KEY")


class AssistantCase(harness.ServerCase):
    ENVIRONMENT = {}

    @classmethod
    def setUpClass(cls):
        others = {name: value for name, value in os.environ.items() if name not in VARIABLES}
        with unittest.mock.patch.dict(os.environ, {**others, **cls.ENVIRONMENT}, clear=True):
            super().setUpClass()

    def ask(self, text, state):
        task = client.new_id()
        self.server.rpc("tasks/send", {"id": task, "message": client.text_message(text)}, agent="assistant")
        return self.wait_state(task, state, agent="assistant")

    def test_it_is_served_and_the_log_is_quiet(self):
        self.assertEqual(self.server.http("GET", "/agents/assistant/.well-known/agent.json").body["name"], "Assistant")
        lines = [json.loads(line) for line in self.server.log_text().splitlines()]
        self.assertEqual([line for line in lines if line["level"] not in ("info", "debug") and "MODEL" in json.dumps(line)], [])


class WithAModel(AssistantCase):
    @classmethod
    def setUpClass(cls):
        cls.model = model_server.ModelServer().__enter__()
        cls.addClassCleanup(cls.model.__exit__, None, None, None)
        cls.ENVIRONMENT = {"MODEL_URL": f"{cls.model.url}v1", **cls.ENVIRONMENT}
        super().setUpClass()

    def test_it_has_table_report_look_at_a_table_and_answers(self):
        self.model.script(streamed(*calls(call("table-report", {"message": CSV}, id="c1"))), said("Oslo ", "is larger."))
        done = self.ask("Which is larger?\n" + CSV, "completed")
        self.assertEqual("".join(map(client.text_of, done["artifacts"])), "Oslo is larger.")
        offered, = self.model.requests[0]["tools"]
        self.assertEqual(offered["function"]["name"], "table-report")
        system, _, asked, answered = self.model.messages()
        self.assertIn("table-report", system["content"])
        self.assertEqual(asked["tool_calls"][0]["id"], answered["tool_call_id"])
        self.assertIn('"max":709037', answered["content"].replace(" ", ""))


class WithANameAndAKey(WithAModel):
    ENVIRONMENT = {"MODEL_NAME": "tiny", "MODEL_KEY": "sk-key"}

    def test_the_model_s_server_is_told_both(self):
        self.model.script(said("hello"))
        self.ask("hi", "completed")
        self.assertEqual(self.model.requests[0]["model"], "tiny")
        self.assertEqual(self.model.headers[0]["Authorization"], "Bearer sk-key")


class WithoutEither(WithAModel):
    def test_the_model_is_called_default_and_no_key_is_sent(self):
        self.model.script(said("hello"))
        self.ask("hi", "completed")
        self.assertEqual(self.model.requests[0]["model"], "default")
        self.assertNotIn("Authorization", self.model.headers[0])


class WithoutAModel(AssistantCase):
    def test_its_tasks_fail_and_say_what_to_set(self):
        failed = self.ask("hi", "failed")
        self.assertEqual(client.text_of(failed["status"]["message"]),
                         "the model cannot answer: set MODEL_URL to the base URL of its API, such as https://host/v1, and restart Baton")
        self.assertEqual(self.server.send("still here")["status"]["state"], "completed")


del WithAModel, AssistantCase  # only files that name them run them


if __name__ == "__main__":
    harness.unittest.main()
