"""Everything that a client of any generation has stored survives a kill."""
import a2a_case
import client
import webhooks


class Restart(a2a_case.A2aCase):
    def test_everything_is_there_again(self):
        context = client.new_id()
        asked = {caller: caller.begin("ask", context=context).id for caller in self.all}
        running = {caller: caller.begin_long(context=context).id for caller in self.all}
        inside = type(self.g4)(self.server, tenant="north")
        hidden = inside.begin("ask").id
        for task in asked.values():
            self.g3.set_push(task, {"url": "http://127.0.0.1:65535/", "id": "kept", "token": "t"})
        page = self.g4.list(contextId=context, pageSize=5)
        whole = [task["id"] for task in self.g4.list(contextId=context)["tasks"]]
        self.server.kill()
        self.server.start()

        rest = self.g4_rest.list(contextId=context, pageSize=100, pageToken=page["nextPageToken"])
        seen = [task["id"] for task in page["tasks"] + rest["tasks"]]
        self.assertEqual(len(seen), len(set(seen)))
        self.assertLessEqual(set(asked.values()), set(whole))
        for number, caller in enumerate(self.all):
            with self.subTest(caller.name):
                other = self.all[(number + 1) % len(self.all)]
                if caller.many_webhooks:
                    self.assertEqual([caller.push_id(got) for got in caller.list_push(asked[other])], ["kept"])
                self.assertEqual(caller.answer(asked[other], "done").texts, ["answered: done"])
                following = caller.subscribe(running[other])
                self.assertIn(following.first().state, ("submitted", "working"))
                self.server.gate("player", running[other])
                self.assertEqual(following.rest()[-1].state, "completed")
                self.assertEqual(other.get(running[other]).texts, ["waited"])
        self.assert_refused(-32001, self.g4.get, hidden)
        self.assertEqual(inside.answer(hidden, "done").state, "completed")


class WebhooksOverRestart(a2a_case.A2aCase):
    def test_each_webhook_keeps_its_generation(self):
        well = []
        with webhooks.Receiver(lambda path, count: 200 if well else 500) as receiver:
            for number, caller in enumerate(self.all):
                caller.send("end", push=caller.webhook(receiver.url(f"/{number}")))
            paths = {f"/{number}" for number in range(len(self.all))}
            receiver.wait(lambda r: {delivery.path for delivery in r.refused} == paths, what="a first attempt each")
            self.server.kill()
            well.append(True)
            self.server.start()
            for number, caller in enumerate(self.all):
                with self.subTest(caller.name):
                    receiver.wait_state("completed", "TASK_STATE_COMPLETED", path=f"/{number}")
                    for delivery in receiver.of(f"/{number}"):
                        caller.check_webhook(delivery.task)
                    kind = "application/a2a+json" if caller.shape == "1.0" else "application/json"
                    self.assertEqual(delivery.headers.get_content_type(), kind)
