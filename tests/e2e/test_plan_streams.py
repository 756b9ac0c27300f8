"""A plan's answer streams: what its last step says reaches the caller while that step works, once and in order."""
import http.client
import json

import client
from plan_case import PlanCase, hand


class Streams(PlanCase):
    PLANS = {
        "once": {"agent": "hand"},
        "last": {"sequence": [hand("say one"), {"route": [{"then": {"agent": "hand"}}]}]},
        "outer": {"agent": "last"},
        "marked": {"sequence": [{"agent": "hand", "id": "answer"}, hand("say nothing")],
                   "output": "{{ /steps/answer/text }}"},
        "joined": {"parallel": [{"agent": "hand"}]},
        "retried": {"agent": "hand", "retry": {"count": 1}},
        "given-up": {"sequence": [hand("say first"), {"agent": "hand", "on_failure": "continue"}]},
    }

    def texts(self, blocks):
        """The texts of the artifacts, as the pieces of the stream make them."""
        texts = {}
        for block in blocks:
            artifact = (block.result or {}).get("artifact")
            if artifact:
                before = texts.get(artifact.get("index", 0), "") if artifact.get("append") else ""
                texts[artifact.get("index", 0)] = before + client.text_of(artifact)
        return [text for text in texts.values() if text]

    def test_words_of_the_step_that_answers_come_while_it_works(self):
        for agent in ("once", "last", "outer", "marked"):
            with self.subTest(agent):
                stream = self.server.stream(f"tell {agent} one two", agent=agent)
                stream.until(lambda _, stream=stream: self.texts(stream.seen) == ["one "])
                self.server.gate("hand", agent)
                blocks = stream.rest()
                self.assertEqual(self.texts(blocks), ["one two"])
                self.assertEqual(blocks[-1].status["state"], "completed")

    def test_joined_results_do_not_stream(self):
        stream = self.server.stream("tell joined one two", agent="joined")
        stream.until(lambda block: (block.status or {}).get("state") == "working")
        self.server.gate("hand", "joined")
        pieces = [block for block in stream.rest() if (block.result or {}).get("artifact")]
        self.assertEqual(self.texts(pieces), ["one two"])

    def test_an_ag_ui_run_of_a_plan_gets_them_too(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=client.scaled())
        self.addCleanup(connection.close)
        body = {"threadId": client.new_id(), "runId": "r1", "messages": [
            {"id": "m1", "role": "user", "content": "tell run one two"}]}
        connection.request("POST", "/agents/last/ag-ui", json.dumps(body), {"Content-Type": "application/json"})
        said = ""
        kinds = []
        for line in connection.getresponse():
            event = json.loads(line[6:]) if line.startswith(b"data: ") else {}
            kinds.append(event.get("type"))
            if event.get("type") == "TEXT_MESSAGE_CONTENT":
                said += event["delta"]
                if said == "one ":
                    self.server.gate("hand", "run")
        self.assertEqual(said, "one two")
        self.assertEqual((kinds.count("TEXT_MESSAGE_START"), kinds.count("RUN_FINISHED")), (1, 1))

    def test_the_words_of_an_attempt_that_fails_are_replaced_or_withdrawn(self):
        for agent, texts in (("retried", ["two"]), ("given-up", ["first"])):
            with self.subTest(agent):
                task = client.new_id()
                stream = self.server.stream(f"falter {agent} one two", task, agent=agent)
                stream.until(lambda _, stream=stream: self.texts(stream.seen) == ["one"])
                self.server.gate("hand", agent)
                self.assertEqual(self.texts(stream.rest()), texts)
                self.assertEqual([client.text_of(one) for one in self.ended(task, agent).get("artifacts", [])], texts)

    def test_a_kill_between_two_words_loses_and_doubles_none(self):
        for agent in ("once", "outer"):
            with self.subTest(agent):
                task = client.new_id()
                stream = self.server.stream(f"tell killed-{agent} one two", task, agent=agent)
                shown = stream.until(lambda _, stream=stream: self.texts(stream.seen) == ["one "])
                self.server.kill()
                stream.close()
                self.server.start()
                again = self.server.resubscribe(task, shown.number, agent=agent)
                self.server.gate("hand", f"killed-{agent}")
                self.assertEqual(self.texts(stream.seen + again.rest()), ["one two"])
                self.assertEqual(self.text_of(self.ended(task, agent)), "one two")
