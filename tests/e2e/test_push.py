"""Webhooks: every status change, in order, at least once, even across a restart; never to a forbidden target."""
import hmac
import json
import re
import socket
import time

import client
import harness
import webhooks


def config(url, **more):
    return {"url": url, **more}


class Push(harness.ServerCase):
    AGENTS = ["joke", "slow", "phone"]
    CONFIG = {"webhooks": {"retry_first_s": 0.05, "retry_max_s": 0.2, "timeout_s": 60}}
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

    def test_a_key_signs_each_attempt_and_is_not_sent(self):
        key = "only both of us know it"
        with webhooks.Receiver(lambda path, count: 503 if count == 1 else 200) as receiver:
            self.server.send("x", pushNotification=config(
                receiver.url(), authentication={"schemes": ["HMAC-SHA256"], "credentials": key}))
            receiver.wait_state("completed")
            for delivery in receiver.of() + receiver.refused:
                at, code = re.fullmatch(r"t=(\d+),v1=([0-9a-f]{64})", delivery.headers["X-Baton-Signature"]).groups()
                self.assertLess(abs(time.time() - int(at)), 60)
                signed = f"{at}.{delivery.headers['X-Baton-Delivery']}.".encode() + delivery.raw
                self.assertEqual(code, hmac.new(key.encode(), signed, "sha256").hexdigest())
                self.assertNotIn(key, str(delivery.headers))
        self.assertNotIn(key, self.server.log_text())

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
    CONFIG = {"webhooks": {"retry_first_s": 0.05, "retry_max_s": 0.2, "timeout_s": 60}}
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
        def given_up():
            return self.server.metric('baton_webhooks_total{outcome="given_up"}')

        with webhooks.Receiver(lambda path, count: 500) as receiver:
            def repeated():
                """Returns whether a webhook was tried twice before it was given up. On a slow machine the first
                attempt may take all the time."""
                task, before, tried = client.new_id(), given_up(), len(receiver.refused)
                self.server.send("x", task, pushNotification=config(receiver.url()))
                harness.wait_for(lambda: given_up() > before, what="the metric of given up ones")
                harness.wait_for(lambda: task in self.server.log_text(), what="the log")
                names = [each.headers["X-Baton-Delivery"] for each in receiver.refused[tried:]]
                return len(set(names)) < len(names)
            harness.wait_for(repeated, what="a second attempt")


class LastError(harness.ServerCase):
    AGENTS = ["slow"]
    CONFIG = {"webhooks": {"retry_first_s": 0.02, "retry_max_s": 0.05}}
    OPTIONS = ["--allow-private-webhooks"]

    def stored(self, task, a2a="0.3"):
        method = {"0.1": "tasks/pushNotification/get", "0.3": "tasks/pushNotificationConfig/get"}[a2a]
        answer = self.server.call(method, {"id": task}, headers={"A2A-Version": a2a})
        return answer["pushNotificationConfig"]

    def test_a_config_shows_why_its_last_delivery_failed_until_one_succeeds(self):
        well = []
        with webhooks.Receiver(lambda path, count: 200 if well else 500) as receiver:
            task = client.new_id()
            self.server.stream("x", task, pushNotification=config(receiver.url())).until(lambda block: block.status)
            shown = self.server.http("GET", f"/tasks/{task}/pushNotificationConfigs", headers={"A2A-Version": "1.0"})
            self.assertNotIn(b"lastError", shown.raw, "strict clients of 1.0 refuse a member they do not know")
            for version in ("0.1", "0.3"):
                harness.wait_for(lambda: self.stored(task, version).get("lastError") == "answered 500",
                                 what=f"the error in the config of {version}")
            shown = self.server.http("GET", f"/tasks/{task}/pushNotificationConfigs",
                                     headers={"A2A-Version": "1.0", "A2A-Extensions": "urn:baton:a2a:1"})
            self.assertEqual(shown.body["configs"][0]["lastError"], "answered 500")
            well.append(True)
            harness.wait_for(lambda: "lastError" not in self.stored(task), what="the error to go")
            self.server.gate("slow", task)
            receiver.wait_state("completed")


class PrivateTargets(harness.ServerCase):
    AGENTS = ["joke"]
    CONFIG = {"webhooks": {"retry_first_s": 0.02, "retry_max_s": 0.05, "give_up_after_s": 0.5}}

    def test_targets_that_are_forbidden_by_their_address_or_port_are_refused_at_once(self):
        task = self.server.send("x")["id"]
        for url in ("http://127.0.0.1:9000/", "http://localhost/", "http://a.localhost:3000/", "http://[::1]:9000/",
                    "http://127.1:9000/", "http://2130706433/", "http://10.0.0.1/", "http://169.254.169.254/latest/",
                    "http://168.63.129.16/", "http://100.100.100.200/", "http://[fd00:ec2::254]/",
                    "http://8.8.8.8:22/", "http://example.com:25/"):
            with self.subTest(url):
                answer = self.server.rpc("tasks/send", {"id": client.new_id(), "message": client.text_message("x"),
                                                        "pushNotification": config(url)})
                self.assertIn("not allowed", self.assert_error(answer, -32602)["data"]["detail"])
                answer = self.server.rpc("tasks/pushNotification/set", {"id": task, "pushNotificationConfig": config(url)})
                self.assertIn("not allowed", self.assert_error(answer, -32602)["data"]["detail"])
                answer = self.server.http(
                    "POST", f"/tasks/{task}/pushNotificationConfigs", json.dumps({"url": url}).encode(),
                    {"A2A-Version": "1.0", "Content-Type": "application/json"})
                self.assertEqual(answer.status, 400, answer.raw)

    def test_private_targets_are_refused_by_default(self):
        """The target is refused when it is set, or never dialled: nothing arrives in either case."""
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


class MetadataTargets(harness.ServerCase):
    AGENTS = ["joke"]
    OPTIONS = ["--allow-private-webhooks"]

    def test_metadata_addresses_stay_forbidden_where_private_ones_are_allowed(self):
        for url in ("http://169.254.169.254/latest/", "http://168.63.129.16/", "http://[fe80::1]/",
                    "http://127.0.0.1:22/"):
            with self.subTest(url):
                answer = self.server.rpc("tasks/send", {"id": client.new_id(), "message": client.text_message("x"),
                                                        "pushNotification": config(url)})
                self.assert_error(answer, -32602)


class ManySlowReceivers(harness.ServerCase):
    AGENTS = ["joke"]
    CONFIG = {"webhooks": {"timeout_s": 600, "senders": 16},
              "tokens": [{"caller": "mallory", "token": "mallory-token"}, {"caller": "alice", "token": "alice-token"}]}
    OPTIONS = ["--allow-private-webhooks"]

    def test_slow_receivers_of_one_caller_do_not_delay_those_of_another(self):
        tarpits = [socket.create_server(("127.0.0.1", 0)) for _ in range(32)]  # nobody accepts, nobody answers
        for tarpit in tarpits:
            self.addCleanup(tarpit.close)
            url = f"http://127.0.0.1:{tarpit.getsockname()[1]}/"
            self.server.send("x", token="mallory-token", pushNotification=config(url))
        with webhooks.Receiver() as receiver:
            self.server.send("x", token="alice-token", pushNotification=config(receiver.url()))
            receiver.wait_state("completed")
