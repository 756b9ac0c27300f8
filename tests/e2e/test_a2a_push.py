"""Push configs: from 0.2.2 on a task may have several; any generation sets, reads, lists and deletes them."""
import urllib.parse
import uuid

import a2a_case
import webhooks

NOWHERE = "http://127.0.0.1:65535/"


class PushConfigs(a2a_case.A2aCase):
    def keepers(self):
        """Returns the clients of generations with several configs."""
        return self.all[1:]

    def ids(self, task):
        return sorted(config["id"] for config in self.g4.list_push(task))

    def test_several_for_a_task(self):
        for caller in self.keepers():
            with self.subTest(caller.name):
                task = caller.begin("ask").id
                for name in ("one", "two", "three"):
                    made = caller.set_push(task, {"url": NOWHERE + name, "id": name, "token": "t-" + name})
                    self.assertEqual(caller.push_id(made), name)
                self.assertEqual(sorted(caller.push_id(got) for got in caller.list_push(task)), ["one", "three", "two"])
                got = caller.get_push(task, "two")
                self.assertEqual(got.get("pushNotificationConfig", got)["url"], NOWHERE + "two")
                caller.delete_push(task, "two")
                caller.delete_push(task, "two")  # also succeeds
                self.assert_refused(-32001, caller.get_push, task, "two")
                self.assertEqual(self.ids(task), ["one", "three"])

    def test_what_a_deletion_answers(self):
        for caller in (self.g2, self.g3, self.g4):
            with self.subTest(caller.name):
                task = caller.begin("ask").id
                caller.set_push(task, {"url": NOWHERE, "id": "c"})
                self.assertIsNone(caller.delete_push(task, "c"), "result: null")
        task = self.g4.begin("ask").id
        for prefix, version in (("/v1", None), ("", "1.0")):
            answer = self.rest("DELETE", f"{prefix}/tasks/{task}/pushNotificationConfigs/c", version=version)
            self.assertIn((answer.status, answer.raw), ((204, b""), (200, b"{}")))

    def test_set_again_replaces(self):
        for caller in self.all:
            with self.subTest(caller.name):
                task = caller.begin("ask").id
                for path in ("old", "new"):
                    caller.set_push(task, {"url": NOWHERE + path} | ({"id": "c"} if caller is not self.g1 else {}))
                got = caller.get_push(task, "c")
                self.assertEqual(got.get("pushNotificationConfig", got)["url"], NOWHERE + "new")
                self.assertEqual(len(self.g4.list_push(task)), 1)

    def test_id_that_was_not_given(self):
        """The id is the task's before 1.0, and a new UUID since."""
        for caller in self.keepers():
            with self.subTest(caller.name):
                task = caller.begin("ask").id
                first, second = (caller.push_id(caller.set_push(task, {"url": NOWHERE + path})) for path in "ab")
                if caller.shape == "1.0":
                    self.assertNotEqual(first, second)
                    self.assertTrue(uuid.UUID(first) and uuid.UUID(second))
                    self.assertEqual(len(self.ids(task)), 2)
                else:
                    self.assertEqual((first, second, self.ids(task)), (task, task, [task]))
        task = self.g1.begin("ask").id
        self.g1.set_push(task, {"url": NOWHERE})
        self.assertEqual(self.ids(task), [task])

    def test_set_by_one_and_read_by_all(self):
        for maker in self.keepers():
            task = maker.begin("ask").id
            authentication = {"scheme": "Bearer"} if maker.shape == "1.0" else {"schemes": ["Bearer"]}
            maker.set_push(task, {"url": NOWHERE, "id": "c", "token": "t", "authentication": authentication})
            for reader in self.keepers():
                with self.subTest(f"{maker.name} then {reader.name}"):
                    got = reader.get_push(task, "c")
                    got = got.get("pushNotificationConfig", got)
                    self.assertEqual((got["id"], got["url"], got["token"]), ("c", NOWHERE, "t"))
                    self.assertIn("Bearer", got["authentication"].get("schemes", [got["authentication"].get("scheme")]))
                    self.assertEqual(len(reader.list_push(task)), 1)

    def test_three_forms_of_a_rest_create(self):
        task = self.g3_rest.begin("ask").id
        name = f"tasks/{task}/pushNotificationConfigs/"
        config = {"url": NOWHERE}
        for number, body in enumerate((
                {"parent": f"tasks/{task}", "configId": "0", "config": {"pushNotificationConfig": config}},
                {"parent": f"tasks/{task}", "config_id": "1", "config": {"push_notification_config": config}},
                {"config": {"pushNotificationConfig": {**config, "id": "2"}}},
                {"config": {**config, "id": "3"}},
                {"name": name + "4", "pushNotificationConfig": config},
                {"pushNotificationConfig": {**config, "id": "5"}})):
            with self.subTest(body):
                answer = self.rest("POST", f"/v1/tasks/{task}/pushNotificationConfigs", body)
                self.assertEqual((answer.status, (answer.body or {}).get("name")), (200, f"{name}{number}"), answer.raw)
                self.assertEqual(answer.body["pushNotificationConfig"]["id"], str(number))

    def test_config_in_a_send(self):
        with webhooks.Receiver() as receiver:
            for number, caller in enumerate(self.all):
                with self.subTest(caller.name):
                    path = f"/{number}"
                    task = caller.send("ask", push=caller.webhook(receiver.url(path))).id
                    self.assertEqual(len(self.g4.list_push(task)), 1)
                    caller.answer(task, "done")
                    receiver.wait_state("completed", "TASK_STATE_COMPLETED", path=path)
                    for delivery in receiver.of(path):
                        caller.check_webhook(delivery.task)

    def test_several_hear_the_same_and_a_deleted_one_no_more(self):
        with webhooks.Receiver() as receiver:
            task = self.g4.begin("ask").id
            for name in ("kept", "too", "gone"):
                self.g4.set_push(task, {"url": receiver.url(f"/{name}"), "id": name})
            self.assertEqual(self.g4.answer(task, "ask").state, "input-required")
            receiver.wait_state("TASK_STATE_INPUT_REQUIRED", path="/gone")
            self.g3.delete_push(task, "gone")
            self.assertEqual(self.g4.answer(task, "done").state, "completed")
            for path in ("/kept", "/too"):
                receiver.wait_state("TASK_STATE_COMPLETED", path=path)
            self.assertEqual([d.raw for d in receiver.of("/kept")], [d.raw for d in receiver.of("/too")])
            self.assertNotIn("TASK_STATE_COMPLETED", [delivery.state for delivery in receiver.of("/gone")])

    def test_a_webhook_of_1_0_hears_every_event_of_the_stream(self):
        with webhooks.Receiver() as receiver:
            following = self.g4.stream("count 3", push={"url": receiver.url()})
            shown = [item.block.result for item in following.rest() if item.kind in ("status", "artifact")]
            receiver.wait_state("TASK_STATE_COMPLETED")
            first, *heard = [delivery.task for delivery in receiver.of()]
            self.assertEqual(first["statusUpdate"]["status"]["state"], "TASK_STATE_SUBMITTED")
            self.assertEqual(heard, shown, "in the same order; the stream's first Task shows the first of them")

    def test_pages_of_configs(self):
        task = self.g4.begin("ask").id
        for name in "abc":
            self.g4.set_push(task, {"url": NOWHERE, "id": name})
        for caller in (self.g4, self.g4_rest):
            with self.subTest(caller.name):
                self.assertEqual([got["id"] for got in caller.list_push(task)], ["a", "b", "c"])

        def over_rest(prefix, version):
            return lambda size, token: self.rest(
                "GET", f"{prefix}/tasks/{task}/pushNotificationConfigs?" +
                urllib.parse.urlencode({"pageSize": size, "pageToken": token}), version=version)

        def over_rpc(size, token):
            return self.g4.call("list_push", {"taskId": task, "pageSize": size, "pageToken": token})
        for page in (over_rpc, lambda *how: over_rest("", "1.0")(*how).body,
                     lambda *how: over_rest("/v1", None)(*how).body):
            first = page(2, "")
            last = page(2, first["nextPageToken"])
            self.assertEqual([len(first["configs"]), len(last["configs"])], [2, 1])
            self.assertFalse(last.get("nextPageToken"))
            self.assertEqual(len(page(0, "")["configs"]), 3, "0 is all")
        for size, token in ((-1, ""), (2, "no token")):
            self.assertEqual(over_rest("", "1.0")(size, token).status, 400)
            self.assert_refused(-32602, over_rpc, size, token)

    def test_too_many_are_refused(self):
        task = self.g4.begin("ask").id
        for number in range(10):
            self.g4.set_push(task, {"url": NOWHERE, "id": str(number)})
        for caller in self.keepers():
            with self.subTest(caller.name):
                self.assert_refused(-32602, caller.set_push, task, {"url": NOWHERE, "id": "one too many"})
                caller.set_push(task, {"url": NOWHERE, "id": "3"})

    def test_too_many_in_sends_are_refused(self):
        task = self.g4.begin("ask").id
        for number in range(9):
            self.g4.set_push(task, {"url": NOWHERE, "id": str(number)})
        self.g4.answer(task, "ask", push={"url": NOWHERE})  # the tenth, with a new id
        before = self.g4.get(task).raw
        for caller in self.all:
            with self.subTest(caller.name):
                self.assert_refused(-32602, caller.answer, task, "ask", push=caller.webhook(NOWHERE))
                self.assertEqual(self.g4.get(task).raw, before, "no trace of the message")
                self.assertEqual(len(self.ids(task)), 10)
                if caller is not self.g1:
                    self.assertEqual(caller.answer(task, "ask", push={"url": NOWHERE, "id": "3"}).state, "input-required")
                self.assertEqual(caller.answer(task, "ask").state, "input-required", "it goes on as before")
                before = self.g4.get(task).raw
        self.assertEqual(len(self.ids(task)), 10)
        self.assertEqual(self.g4.answer(task, "done").state, "completed")


class NoneAllowed(a2a_case.A2aCase):
    CONFIG = {"limits": {"webhooks_max": 0}}

    def test_new_tasks_with_one_are_refused(self):
        for caller in self.all:
            with self.subTest(caller.name):
                self.assert_refused(-32602, caller.send, "end", push=caller.webhook(NOWHERE))
                self.assertEqual(self.g4.list()["totalSize"], 0)


class Off(a2a_case.A2aCase):
    CONFIG = {"webhooks": {"enabled": False}}

    def test_webhooks_that_are_off(self):
        for caller in self.all:
            with self.subTest(caller.name):
                task = caller.begin("ask").id
                status = 400 if caller.binding != "JSON-RPC" else 200
                self.assert_refused(-32003, caller.set_push, task, {"url": NOWHERE}, status=status)
                self.assert_refused(-32003, caller.get_push, task, "c", status=status)
                self.assert_refused(-32003, caller.send, "end", push={"url": NOWHERE}, status=status)
                if caller is not self.g1:
                    self.assert_refused(-32003, caller.list_push, task, status=status)
                    self.assert_refused(-32003, caller.delete_push, task, "c", status=status)
        card = self.server.http("GET", "/.well-known/agent-card.json", headers={"A2A-Version": "1.0"}).body
        self.assertFalse(card["capabilities"].get("pushNotifications", False))
