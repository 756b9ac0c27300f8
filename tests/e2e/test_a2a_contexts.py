"""The input of an agent: the conversation of a context, the tasks a message refers to, extensions; and tenants."""
import a2a_case
import client
import generations

EXTENSION = "https://extensions.example/one"
NEEDED = "https://extensions.example/needed"


def told(task):
    """Returns the turn line that agents/player received for a task that was sent "told"."""
    part = task.raw["artifacts"][0]["parts"][0]["data"]
    return part["data"] if "type" not in part and "data" in part else part


def heard(order):
    return list(generations.texts_in(order["history"]))


class Contexts(a2a_case.A2aCase):
    def test_a_new_task_knows_the_conversation(self):
        for first in self.all:
            for second in self.all:
                with self.subTest(f"{first.name} then {second.name}"):
                    before = first.send("say hello there")
                    after = second.send("told", context=before.context)
                    self.assertEqual(after.context, before.context)
                    self.assertNotEqual(after.id, before.id)
                    texts = heard(told(after))
                    self.assertEqual([text for text in texts if text in ("say hello there", "hello there")],
                                     ["say hello there", "hello there"])

    def test_contexts_of_ones_own_making(self):
        for caller in self.all:
            with self.subTest(caller.name):
                name = client.new_id()
                self.assertEqual(caller.send("end", context=name).context, name)
                self.assertNotEqual(caller.send("end").context, name)

    def test_a_context_that_is_not_the_tasks(self):
        """Refused from 0.2 on; 0.1 ignores the new context. A message without one gets the task's."""
        for caller in self.all:
            with self.subTest(caller.name):
                task = caller.begin("ask")
                if caller is self.g1:
                    self.assertEqual(caller.answer(task.id, "a", context="other").context, task.context)
                    continue
                self.assert_refused(-32602, caller.answer, task.id, "a", context="other")
                self.assertEqual(caller.get(task.id).state, "input-required")
                self.assertEqual(caller.answer(task.id, "a", context=task.context).context, task.context)
                self.assertEqual(caller.answer(caller.begin("ask", context="mine").id, "a").context, "mine")

    def test_references(self):
        for caller in (self.g2, self.g3, self.g4, self.g4_rest):
            with self.subTest(caller.name):
                before = [caller.send(f"say {word}") for word in ("red", "blue")]
                task = caller.send("told", referenceTaskIds=[task.id for task in before] + ["no-such-task"])
                self.assertEqual(task.state, "completed", "what is not there is passed over")
                order = told(task)
                self.assertEqual(order["message"]["referenceTaskIds"][:2], [task.id for task in before])
                self.assertEqual([reference["id"] for reference in order["references"]], [task.id for task in before])
                self.assertEqual([heard(reference) for reference in order["references"]],
                                 [["say red", "red"], ["say blue", "blue"]])
                self.assertEqual({reference["state"] for reference in order["references"]}, {"TASK_STATE_COMPLETED"})

    def test_metadata_of_a_request_is_the_tasks(self):
        for caller in self.all:
            with self.subTest(caller.name):
                task = caller.send("told", metadata={"from": caller.name})
                self.assertEqual(task.raw["metadata"]["from"], caller.name)
                self.assertEqual(told(task)["metadata"]["from"], caller.name)
                self.assertEqual(caller.get(task.id).raw["metadata"]["from"], caller.name)


class Extensions(a2a_case.A2aCase):
    AGENTS = ["player", "joke"]

    @classmethod
    def change_cards(cls):
        cls.change_card("player", capabilities={"extensions": [{"uri": EXTENSION, "description": "one"}]})
        cls.change_card("joke", capabilities={"extensions": [{"uri": NEEDED, "required": True}, {"uri": EXTENSION}]})

    def test_asked_for_and_there_is_switched_on_and_echoed(self):
        for header in ("A2A-Extensions", "X-A2A-Extensions"):
            for caller in self.all:
                with self.subTest(caller.name, header=header):
                    sender = type(caller)(self.server, headers={header: f"urn:unknown, {EXTENSION}"})
                    self.assertEqual(told(sender.send("told"))["extensions"], [EXTENSION])
                    self.assertEqual(told(caller.send("told")).get("extensions", []), [])
            for path, version, params in (("/v1/message:send", None, self.g3_rest.params("end")),
                                          ("/message:send", "1.0", self.g4_rest.params("end"))):
                answer = self.rest("POST", path, params, version, {header: EXTENSION})
                self.assertEqual(answer.headers[header], EXTENSION)
                other = {"A2A-Extensions": "X-A2A-Extensions"}.get(header, "A2A-Extensions")
                self.assertNotIn(other, answer.headers)
            answer = self.post("SendMessage", self.g4.params("end"), "1.0", {header: EXTENSION})
            self.assertEqual(answer.headers[header], EXTENSION)
            answer = self.post("message/send", self.g3.params("end"), None, {header: "urn:unknown"})
            self.assertNotIn(header, answer.headers)

    def test_both_headers_are_read_together(self):
        both = {"A2A-Extensions": "urn:unknown", "X-A2A-Extensions": EXTENSION}
        for kind in [type(caller) for caller in self.all]:
            with self.subTest(kind.name):
                self.assertEqual(told(kind(self.server, headers=both).send("told"))["extensions"], [EXTENSION])

    def test_echoed_on_streams(self):
        stream = self.g4.open("stream", self.g4.params("end"), {"A2A-Extensions": EXTENSION})
        self.assertEqual(stream.stream.response.headers["A2A-Extensions"], EXTENSION)
        stream.rest()

    def test_required_and_not_asked_for_is_32008(self):
        for kind in [type(caller) for caller in self.all[1:]]:
            with self.subTest(kind.name):
                plain = kind(self.server, agent="joke")
                for act in (plain.send, plain.stream):
                    status = 400 if plain.binding == "HTTP+JSON" else 200
                    self.assert_refused(-32008, act, "x", status=status)
                header = "A2A-Extensions" if kind.shape == "1.0" else "X-A2A-Extensions"
                willing = kind(self.server, agent="joke", headers={header: NEEDED})
                task = willing.send("x")
                self.assertEqual(task.state, "completed")
                self.assertEqual(plain.get(task.id).state, "completed", "reading needs no extension")

    def test_cards_say_so(self):
        card = self.server.http("GET", "/agents/joke/.well-known/agent-card.json").body
        declared = {entry["uri"]: entry.get("required", False) for entry in card["capabilities"]["extensions"]}
        self.assertEqual(declared, {NEEDED: True, EXTENSION: False, client.EXTENSION: False})


class Tenants(a2a_case.A2aCase):
    def test_tasks_of_a_tenant_are_its_own(self):
        for kind in (type(self.g4), type(self.g4_rest)):
            with self.subTest(kind.name):
                plain = kind(self.server)
                north, south = (kind(self.server, tenant=name) for name in ("north", "south"))
                task = north.begin("ask").id
                for outsider in (plain, south):
                    for act in (outsider.get, outsider.cancel, outsider.subscribe):
                        self.assert_refused(-32001, act, task)
                    self.assert_refused(-32001, outsider.answer, task, "x")
                    self.assertNotIn(task, [listed["id"] for listed in outsider.list()["tasks"]])
                self.assertIn(task, [listed["id"] for listed in north.list()["tasks"]])
                self.assertEqual(north.answer(task, "x").state, "completed")

    def test_both_bindings_name_the_same_tenant(self):
        rpc, rest = (type(caller)(self.server, tenant="same") for caller in (self.g4, self.g4_rest))
        task = rpc.begin("ask").id
        self.assertEqual(rest.get(task).state, "input-required")
        self.assertEqual(rest.answer(task, "x").state, "completed")
        self.assertEqual(rpc.get(task).texts, ["answered: x"])

    def test_in_rest_a_tenant_may_also_be_in_the_body_or_the_query_and_the_path_wins(self):
        body = {**self.g4_rest.params("end"), "tenant": "inner"}
        task = self.rest("POST", "/message:send", body, "1.0").body["task"]["id"]
        self.assertEqual(type(self.g4)(self.server, tenant="inner").get(task).id, task)
        self.assertEqual(self.rest("GET", f"/tasks/{task}?tenant=inner", version="1.0").status, 200)
        self.assertEqual(self.rest("GET", f"/tasks/{task}", version="1.0").status, 404)
        task = self.rest("POST", "/outer/message:send", body, "1.0").body["task"]["id"]
        self.assertEqual(type(self.g4)(self.server, tenant="outer").get(task).id, task)

    def test_older_generations_are_without_a_tenant(self):
        task = type(self.g4)(self.server, tenant="north").send("end").id
        for caller in (self.g1, self.g2, self.g3, self.g3_rest):
            with self.subTest(caller.name):
                self.assert_refused(-32001, caller.get, task)
