"""Every operation in every generation and binding. Prints the table of versions and transports in schema/A2A.md."""
import a2a_case
import client

CUT = "stream cut and taken up"


class Operations(a2a_case.A2aCase):
    maxDiff = None
    CONFIG = {**a2a_case.A2aCase.CONFIG, "tokens": [{"caller": "ann", "token": "secret-of-ann"}],
              "allow_anonymous": True}

    @classmethod
    def change_cards(cls):
        cls.change_card("player", baton={"extended": {"description": "More."}})

    def test_table_of_operations(self):
        clients = [type(caller)(self.server, token="secret-of-ann") for caller in self.all]
        rows = (("send and wait", self.send), ("send and do not wait", self.send_early), ("stream", self.stream),
                (CUT, self.cut), ("answer a question", self.answer), ("get", self.get), ("list", self.list),
                ("cancel", self.cancel), ("subscribe", self.subscribe), ("webhook: set and get", self.set_push),
                ("webhook: list and delete", self.list_push), ("extended card", self.extended_card))
        table, problems = [], []
        for name, act in rows:
            cells = []
            for caller in clients:
                try:
                    cells.append("-" if act(caller) == "none" else "yes")
                except Exception as problem:  # a finding about this cell
                    cells.append("NO")
                    problems.append(f"{name} in {caller.name}: {type(problem).__name__}: {problem}")
            table.append((name, cells))
        print(f"\n{'':26}" + "".join(f"{caller.name:14}" for caller in clients))
        for name, cells in table:
            print(f"{name:26}" + "".join(f"{cell:14}" for cell in cells).rstrip())
        self.assertEqual(problems, [], "\n".join(problems))

    def send(self, caller):
        self.assertEqual(caller.send("end").texts, ["played: end"])

    def send_early(self, caller):
        if caller.shape == "0.1":
            return "none"
        task = caller.send("wait", wait=False)
        self.assertIn(task.state, ("submitted", "working"))
        self.assertEqual(caller.cancel(task.id).state, "canceled")

    def stream(self, caller):
        shown = caller.stream("count 2").rest()
        self.assertEqual(shown[-1].state, "completed")
        self.assertEqual([item.kind for item in shown].count("artifact"), 3)

    def cut(self, caller):
        following = caller.stream("wait")
        following.until("working")
        raw, after = following.shown()[0].raw, following.items[-1].number
        following.close()
        task = raw.get("id") or raw["taskId"]
        again = caller.subscribe(task, after=after)
        self.server.gate("player", task)
        shown = again.rest()
        self.assertEqual(shown[-1].state, "completed")
        self.assertGreater(again.items[0].number, after)

    def answer(self, caller):
        task = caller.begin("ask what?")
        self.assertEqual((task.state, task.said), ("input-required", ["what?"]))
        self.assertEqual(caller.answer(task.id, "that").texts, ["answered: that"])

    def get(self, caller):
        task = caller.send("end")
        self.assertEqual(caller.get(task.id).texts, task.texts)

    def list(self, caller):
        if not caller.has_list:
            return "none"
        context = client.new_id()
        task = caller.send("end", context=context).id
        self.assertEqual([listed["id"] for listed in caller.list(contextId=context)["tasks"]], [task])

    def cancel(self, caller):
        task = caller.begin_long().id
        self.assertEqual(caller.cancel(task).state, "canceled")

    def subscribe(self, caller):
        task = caller.begin("ask").id
        following = caller.subscribe(task)
        self.assertEqual((following.first().kind, following.items[0].state), ("task", "input-required"))
        caller.answer(task, "done")
        self.assertEqual(following.rest()[-1].state, "completed")

    def set_push(self, caller):
        task = caller.begin("ask").id
        caller.set_push(task, caller.webhook("http://127.0.0.1:65535/"))
        got = caller.get_push(task, None if caller.shape != "1.0" else caller.push_id(caller.list_push(task)[0]))
        self.assertEqual(got.get("pushNotificationConfig", got)["url"], "http://127.0.0.1:65535/")

    def list_push(self, caller):
        if not caller.many_webhooks:
            return "none"
        task = caller.begin("ask").id
        caller.set_push(task, caller.webhook("http://127.0.0.1:65535/", id="c"))
        self.assertEqual([caller.push_id(config) for config in caller.list_push(task)], ["c"])
        caller.delete_push(task, "c")
        self.assertEqual(caller.list_push(task), [])

    def extended_card(self, caller):
        if caller.shape == "0.1":
            return "none"
        if caller.shape == "1.0":
            card = caller.extended_card()
        elif caller.shape == "0.2":
            path = "/agents/player/agent/authenticatedExtendedCard"
            card = self.server.http("GET", path, headers=caller.headers).body
        elif caller.binding == "JSON-RPC":
            card = caller.call("card", None)
        else:
            card = caller.call("GET", "/v1/card")
        self.assertEqual(card["description"], "More.")
