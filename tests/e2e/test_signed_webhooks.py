"""Standard Webhooks: the keys of the server and of a config sign each call, and a reload takes other keys."""
import base64
import hmac
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

import harness
import webhooks

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_" + base64.b64encode(bytes(range(32))).decode()
OWN = "whsec_" + base64.b64encode(bytes(range(100, 140))).decode()


def hmac_of(secret, delivery):
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return "v1," + base64.b64encode(hmac.new(key, signed_text(delivery), "sha256").digest()).decode()


def signed_text(delivery):
    return f"{delivery.headers['webhook-id']}.{delivery.headers['webhook-timestamp']}.".encode() + delivery.raw


def signatures(delivery):
    return delivery.headers["webhook-signature"].split(" ")


class SignedWebhooks(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="baton-keys-"))
        self.addCleanup(subprocess.run, ["rm", "-rf", self.folder], check=True)
        self.write("hmac.key", SECRET)
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", self.folder / "ed25519.pem"], check=True)
        os.chmod(self.folder / "ed25519.pem", 0o600)

    def write(self, name, text):
        (self.folder / name).touch(mode=0o600)
        (self.folder / name).write_text(text + "\n", encoding="ascii")

    def serve(self, *files):
        keys = {"signing_keys": [str(self.folder / file) for file in files]} if files else {}
        return harness.Server(["joke"], {"webhooks": {"retry_first_s": 0.05, "retry_max_s": 0.2, **keys}},
                              ["--allow-private-webhooks"])

    def verify_ed25519(self, delivery, signature):
        for name, content in (("text", signed_text(delivery)), ("signature", base64.b64decode(signature[4:]))):
            (self.folder / name).write_bytes(content)
        subprocess.run(["openssl", "pkeyutl", "-verify", "-inkey", "ed25519.pem", "-rawin", "-in", "text", "-sigfile",
                        "signature"], check=True, capture_output=True, cwd=self.folder)

    def deliveries(self, server, answer=lambda path, count: 200, **config):
        with webhooks.Receiver(answer) as receiver:
            server.send("x", pushNotification={"url": receiver.url(), **config})
            receiver.wait_state("completed")
            return receiver.of() + receiver.refused

    def test_every_key_signs_each_attempt_and_an_id_is_the_same_over_retries(self):
        with self.serve("hmac.key", "ed25519.pem") as server:
            got = self.deliveries(server, lambda path, count: 503 if count == 1 else 200,
                                  authentication={"schemes": ["HMAC-SHA256"], "credentials": f"{OWN} {OTHER}"})
            for delivery in got:
                own, other, shared, public = signatures(delivery)
                self.assertEqual([own, other, shared], [hmac_of(key, delivery) for key in (OWN, OTHER, SECRET)])
                self.assertTrue(public.startswith("v1a,"))
                self.verify_ed25519(delivery, public)
                self.assertLess(abs(time.time() - int(delivery.headers["webhook-timestamp"])), 60)
                task, event = delivery.headers["X-Baton-Delivery"].split("/")
                self.assertTrue(delivery.headers["webhook-id"].startswith(f"{task}-{event}-"))
                self.assertNotIn(".", delivery.headers["webhook-id"])
                self.assertIn("X-Baton-Signature", delivery.headers)
            attempts = [(each.headers["webhook-id"], each.headers["X-Baton-Attempt"]) for each in got]
            self.assertEqual(len(set(attempts)), len(got))
            self.assertEqual(len({name for name, _ in attempts}), len(got) - 1)
            self.assertRegex(server.log_text(), "receivers verify with whpk_[A-Za-z0-9+/]{43}=")
            self.assertNotIn(SECRET[6:], server.log_text())

    def test_a_reload_takes_other_keys_and_wrong_ones_change_nothing(self):
        def reload(says):
            server.process.send_signal(signal.SIGHUP)
            harness.wait_for(lambda: says in server.log_text(), what=f"{says!r} in the log")

        with self.serve("hmac.key") as server:
            self.assertEqual(signatures(self.deliveries(server)[0])[1:], [])
            self.write("hmac.key", "whsec_short")
            reload("reload failed: nothing was changed")
            self.assertIn("hmac.key: whsec_ must be followed by the base64 of 24 to 64 bytes", server.log_text())
            delivery = self.deliveries(server)[0]
            self.assertEqual(signatures(delivery), [hmac_of(SECRET, delivery)])
            self.write("hmac.key", OTHER)
            self.write("before.key", SECRET)
            server.config["webhooks"]["signing_keys"].append(str(self.folder / "before.key"))
            server.command()  # writes the file
            reload("reloaded: ")
            delivery = self.deliveries(server)[0]
            self.assertEqual(signatures(delivery), [hmac_of(OTHER, delivery), hmac_of(SECRET, delivery)])

    def test_keys_that_cannot_be_used_are_named_at_the_start(self):
        os.chmod(self.folder / "hmac.key", 0o644)
        for files, reason in (("hmac.key",), "can be read by every user"), (("none.key",), "cannot read the file"):
            with self.subTest(reason), self.assertRaises(AssertionError) as refused:
                self.serve(*files).start()
            self.assertIn(reason, str(refused.exception))
            self.assertNotIn(SECRET[6:], str(refused.exception))

    def test_without_a_key_there_are_no_such_headers_and_a_wrong_key_is_refused(self):
        with self.serve() as server:
            self.assertNotIn("webhook-id", self.deliveries(server)[0].headers)
            config = {"url": "https://example.com/",
                      "authentication": {"schemes": ["HMAC-SHA256"], "credentials": "whsec_short"}}
            answer = server.rpc("tasks/pushNotification/set",
                                {"id": server.send("x")["id"], "pushNotificationConfig": config})
            self.assertEqual(answer.body["error"]["code"], -32602)
            self.assertIn("base64 of 24 to 64 bytes", json.dumps(answer.body))


if __name__ == "__main__":
    unittest.main()
