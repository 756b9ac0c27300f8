"""Webhooks: every status change, in order, at least once, also over a restart; nowhere it must not go."""
import client
import harness
import webhooks


def config(url, **more):
    return {"url": url, **more}


class Push(harness.ServerCase):
    AGENTS = ["joke", "slow", "phone"]
    CONFIG = {"webhooks": {"retry_first_s": 0.05, "retry_max_s": 0.2, "timeout_s": 5}}
    OPTIONS = ["--allow-private-webhooks"]

    def test_config_in_send_gets_every_status_in_order(self):
        with webhooks.Receiver() as receiver:
            task = client.new_id()
            sent = self.server.send("x", task, pushNotification=config(receiver.url()))
            receiver.wait_state("completed")
            got = receiver.of()
            states = [delivery.state for delivery in got]
            self.assertEqual(states, sorted(states, key=["submitted", "working", "completed"].index))
            self.assertEqual(states[-2:], ["working", "completed"])
            self.assertEqual({delivery.task["id"] for delivery in got}, {task})
            self.assertEqual(got[-1].task["status"], sent["status"])
            self.assertEqual(got[-1].task["artifacts"], sent["artifacts"])
            self.assertEqual(got[-1].headers.get_content_type(), "application/json")

    def test_config_in_send_subscribe(self):
        with webhooks.Receiver() as receiver:
            self.server.stream("x", pushNotification=config(receiver.url())).rest()
            receiver.wait_state("completed")

    def test_config_by_set_hears_what_follows(self):
        with webhooks.Receiver() as receiver:
            task = client.new_id()
            stream = self.server.stream("x", task, agent="slow")
            stream.until(lambda block: block.status and block.status.get("message"))
            wanted = config(receiver.url("/later"), token="t-1")
            answer = self.server.call("tasks/pushNotification/set",
                                      {"id": task, "pushNotificationConfig": wanted}, agent="slow")
            self.assertEqual(answer["pushNotificationConfig"]["url"], wanted["url"])
            got = self.server.call("tasks/pushNotification/get", {"id": task}, agent="slow")
            self.assertEqual(got, answer)
            self.server.gate("slow", task)
            receiver.wait_state("completed", path="/later")
            self.assertNotIn("submitted", [delivery.state for delivery in receiver.of("/later")])

    def test_set_again_replaces(self):
        with webhooks.Receiver() as receiver:
            task = client.new_id()
            self.server.send("为我购买一部新手机", task, agent="phone", pushNotification=config(receiver.url("/old")))
            receiver.wait_state("input-required", path="/old")
            self.server.call("tasks/pushNotification/set",
                             {"id": task, "pushNotificationConfig": config(receiver.url("/new"))}, agent="phone")
            self.server.send("Android", task, agent="phone")
            receiver.wait_state("completed", path="/new")
            self.assertNotIn("completed", [delivery.state for delivery in receiver.of("/old")])

    def test_token_and_credentials_go_along(self):
        with webhooks.Receiver() as receiver:
            self.server.send("x", pushNotification=config(
                receiver.url(), token="my-token", authentication={"schemes": ["Bearer"], "credentials": "abc.def"}))
            receiver.wait_state("completed")
            for delivery in receiver.of():
                self.assertEqual(delivery.headers["X-A2A-Notification-Token"], "my-token")
                self.assertEqual(delivery.headers["Authorization"], "Bearer abc.def")
        self.assertNotIn("abc.def", self.server.log_text())

    def test_refused_deliveries_are_tried_again_in_order(self):
        with webhooks.Receiver(lambda path, count: 503 if count <= 3 else 200) as receiver:
            self.server.send("x", pushNotification=config(receiver.url()))
            receiver.wait_state("completed")
            states = [delivery.state for delivery in receiver.of()]
            self.assertEqual(states, sorted(states, key=["submitted", "working", "completed"].index))
            self.assertEqual(len(receiver.refused), 3)
            self.assertEqual({delivery.state for delivery in receiver.refused}, {states[0]},
                             "nothing overtakes the first one")

    def test_redirects_are_not_followed(self):
        with webhooks.Receiver() as target:
            answer = lambda path, count: (302, {"Location": target.url("/stolen")}) if count <= 2 else 200
            with webhooks.Receiver(answer) as receiver:
                self.server.send("x", pushNotification=config(receiver.url()))
                receiver.wait_state("completed")
                self.assertEqual(len(receiver.refused), 2, "a redirect is no delivery")
            self.assertEqual(target.deliveries, [])

    def test_many_tasks_to_one_receiver(self):
        with webhooks.Receiver() as receiver:
            paths = [f"/task-{number}" for number in range(30)]
            for path in paths:
                self.server.send("x", pushNotification=config(receiver.url(path)))
            receiver.wait(lambda r: {d.path for d in r.deliveries if d.state == "completed"} == set(paths))

    def test_wrong_configs_are_refused(self):
        task = self.server.send("x")["id"]
        for wrong in ({}, {"url": 5}, {"url": ""}, {"url": "not a url"}, {"url": "ftp://example.com/"},
                      {"url": "http://user:pass@example.com/"}, {"url": "http://"}, {"url": "file:///etc/passwd"},
                      {"url": "http://example.com/", "token": "a\r\nEvil: yes"},
                      {"url": "http://example.com/\r\nEvil: yes"}):
            with self.subTest(wrong):
                answer = self.server.rpc("tasks/pushNotification/set", {"id": task, "pushNotificationConfig": wrong})
                self.assert_error(answer, -32602)
        self.assertIn("error", self.server.rpc("tasks/pushNotification/get", {"id": task}).body)


class PushOverRestart(harness.ServerCase):
    AGENTS = ["joke"]
    CONFIG = {"webhooks": {"retry_first_s": 0.05, "retry_max_s": 0.2, "timeout_s": 5}}
    OPTIONS = ["--allow-private-webhooks"]

    def test_deliveries_go_on_after_a_kill(self):
        well = []
        with webhooks.Receiver(lambda path, count: 200 if well else 500) as receiver:
            self.server.send("x", pushNotification=config(receiver.url()))
            receiver.wait(lambda r: r.refused, what="a first attempt")
            self.server.kill()
            well.append(True)
            self.server.start()
            receiver.wait_state("completed")
            states = [delivery.state for delivery in receiver.of()]
            self.assertEqual(states, sorted(states, key=["submitted", "working", "completed"].index))


class PushGivesUp(harness.ServerCase):
    AGENTS = ["joke"]
    CONFIG = {"webhooks": {"retry_first_s": 0.02, "retry_max_s": 0.05, "give_up_after_s": 0.5}}
    OPTIONS = ["--allow-private-webhooks"]

    def test_giving_up_is_visible(self):
        with webhooks.Receiver(lambda path, count: 500) as receiver:
            task = self.server.send("x", pushNotification=config(receiver.url()))["id"]
            harness.wait_for(lambda: self.server.metric('baton_webhooks_total{outcome="given_up"}') > 0,
                             what="the metric of given up ones")
            self.assertIn(task, self.server.log_text())
            self.assertGreaterEqual(len(receiver.refused), 2)


class PrivateTargets(harness.ServerCase):
    AGENTS = ["joke"]
    CONFIG = {"webhooks": {"retry_first_s": 0.02, "retry_max_s": 0.05, "give_up_after_s": 0.5}}

    def test_private_targets_are_refused_by_default(self):
        """Refused when they are set, or never dialled: nothing arrives in either case."""
        with webhooks.Receiver() as receiver:
            port = receiver.httpd.server_port
            for host in ("127.0.0.1", "localhost", "[::1]", "0.0.0.0", "2130706433", "[::ffff:127.0.0.1]", "127.1"):
                with self.subTest(host):
                    answer = self.server.rpc("tasks/send", {
                        "id": client.new_id(), "message": client.text_message("x"),
                        "pushNotification": config(f"http://{host}:{port}/hook")})
                    if "error" in answer.body:
                        self.assert_error(answer, -32602)
            harness.wait_for(lambda: self.server.metric("baton_webhooks_waiting") == 0, what="the end of all deliveries")
            self.assertEqual(receiver.deliveries + receiver.refused, [])
