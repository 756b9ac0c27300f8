"""Cards that are signed, the keys for them, and what decides about the cards of agents elsewhere. The SDK's signatures
are in tests/interop/signatures."""
import base64
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

import client
import harness
from test_remote_agents import Front, free_port
from test_remote_cards import CardSite

CARD = "/agents/echo/.well-known/agent-card.json"
NEWEST = {"A2A-Version": "1.0"}


def kid_of(signature):
    text = signature["protected"]
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))["kid"]


class SignedCards(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="baton-keys-"))
        self.addCleanup(subprocess.run, ["rm", "-rf", self.folder], check=True)
        for name in ("one", "two"):
            subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out",
                            self.folder / f"{name}.pem"], check=True, capture_output=True)
            os.chmod(self.folder / f"{name}.pem", 0o600)

    def signing(self, **cards):
        """A server that signs its cards with the key `one`."""
        port = free_port()
        server = harness.Server(["echo"], {"public_url": f"http://127.0.0.1:{port}", "cards": {
            "signing_key": str(self.folder / "one.pem"), **cards}})
        server.port = port
        self.addCleanup(server.discard)
        return server

    def keys_file(self, server):
        path = self.folder / "keys.json"
        path.write_bytes(server.http("GET", "/.well-known/jwks.json").raw)
        return path

    def front(self, url, a2a=None, **cards):
        """A server whose agent `far` is at the URL. `a2a`: members of its card here."""
        front = Front({}, [url.split("/agents")[0]], more_config={"cards": cards})
        self.addCleanup(front.discard)
        (front.agents_folder / "far").mkdir()
        (front.agents_folder / "far" / "card.json").write_text(
            json.dumps({"name": "Far", "baton": {"executor": "a2a", "url": url, **({"a2a": a2a} if a2a else {})}}), encoding="utf-8")
        return front.start()

    @staticmethod
    def outcome(front):
        return front.send("hello", client.new_id(), agent="far")["status"]["state"]

    def reload(self, server):
        server.command()  # writes the configuration
        told = server.log_text().count("reloaded: ")
        server.process.send_signal(signal.SIGHUP)
        harness.wait_for(lambda: server.log_text().count("reloaded: ") > told, what="the reload")

    def test_only_the_card_of_1_0_is_signed_and_it_has_the_same_bytes_for_everybody(self):
        with self.signing(published_keys=[str(self.folder / "two.pem")]) as server:
            keys = server.http("GET", "/.well-known/jwks.json")
            self.assertEqual((keys.status, keys.headers["Content-Type"]), (200, "application/jwk-set+json"))
            self.assertEqual(keys.headers["Cache-Control"], "public, max-age=3600")
            kids = [key["kid"] for key in keys.body["keys"]]
            self.assertEqual(len(set(kids)), 2)
            for key in keys.body["keys"]:
                self.assertEqual(set(key), {"kty", "crv", "x", "y", "kid", "use", "alg"})
            first, second = (server.http("GET", CARD, headers={**NEWEST, "Host": host})
                             for host in (f"127.0.0.1:{server.port}", "localhost"))
            self.assertEqual(first.raw, second.raw)
            self.assertEqual({kid_of(each) for each in first.body["signatures"]}, {kids[0]})
            again = server.http("GET", CARD, headers={**NEWEST, "If-None-Match": first.headers["ETag"]})
            self.assertEqual(again.status, 304)
            self.assertNotIn("signatures", server.http("GET", CARD).body)
            self.assertNotEqual(server.http("GET", "/.well-known/agent-card.json", headers=NEWEST).body["signatures"],
                                first.body["signatures"], "the root has other URLs")
            # The next key signs after a reload, and the last one is still shown.
            server.config["cards"] = {"signing_key": str(self.folder / "two.pem"),
                                      "published_keys": [str(self.folder / "one.pem")]}
            self.reload(server)
            self.assertEqual(kid_of(server.http("GET", CARD, headers=NEWEST).body["signatures"][0]), kids[1])
            shown = server.http("GET", "/.well-known/jwks.json").body["keys"]
            self.assertEqual([key["kid"] for key in shown], kids[::-1])

    def test_without_a_key_nothing_is_signed_and_no_key_is_shown(self):
        with harness.Server(["echo"]) as server:
            self.assertNotIn("signatures", server.http("GET", CARD, headers=NEWEST).body)
            self.assertEqual(server.http("GET", "/.well-known/jwks.json").status, 404)
            server.config = {"public_url": "http://a.example", "cards": {"signing_key": str(self.folder / "one.pem")}}
            server.command()
            server.process.send_signal(signal.SIGHUP)
            harness.wait_for(lambda: "reload failed" in server.log_text(), what="the reload")
            self.assertIn("cards.signing_key requires public_url", server.log_text())
            self.assertEqual(server.http("GET", "/.well-known/jwks.json").status, 404)

    def test_a_card_with_an_empty_value_is_not_signed_and_check_says_so(self):
        server = self.signing()
        path = server.agents_folder / "echo" / "card.json"
        card = json.loads(path.read_text(encoding="utf-8"))
        card["skills"][0]["tags"] = []
        path.write_text(json.dumps(card, ensure_ascii=False, indent=1), encoding="utf-8")
        with server:
            self.assertNotIn("signatures", server.http("GET", CARD, headers=NEWEST).body)
            self.assertIn("its card is not signed: /skills/0/tags is empty", server.log_text())
            done = subprocess.run([harness.PROGRAM, "check", server.agents_folder], capture_output=True, text=True,
                                  check=True, env=harness.program_environment())
            self.assertRegex(done.stdout, r"card\.json:\d+:\d+: warning: /skills/0/tags: is empty, so")

    def test_a_remote_card_is_accepted_by_its_signature_and_new_keys_by_a_reload(self):
        with self.signing() as far:
            keys = self.keys_file(far)
            url = f"http://127.0.0.1:{far.port}/agents/echo/"
            front = self.front(url, verify="require")
            self.assertEqual(self.outcome(front), "failed")
            self.assertRegex(front.log_text(), "refused the agent card from .* not trusted for its origin: ")
            front.config["cards"]["trusted_keys"] = [f"http://127.0.0.1:{far.port}={keys}"]
            self.reload(front)
            self.assertEqual(self.outcome(front), "completed")

    def test_a_changed_remote_card_is_refused_unless_signatures_are_off(self):
        with self.signing() as far, CardSite() as site:
            keys = self.keys_file(far)
            card = far.http("GET", CARD, headers=NEWEST).body
            card["supportedInterfaces"] = [{**each, "url": site.url} for each in card["supportedInterfaces"]]
            site.set(card)
            for policy, says in (("if-present", "was changed: its signature by the key"), ("off", "")):
                with self.subTest(policy):
                    front = self.front(site.url, verify=policy,
                                       trusted_keys=[f"http://127.0.0.1:{site.port}={keys}"])
                    state = self.outcome(front)
                    self.assertEqual("refused the agent card" in front.log_text(), bool(says))
                    self.assertIn(says, front.log_text())
                    if says:
                        self.assertEqual(state, "failed")

    def test_what_no_signature_covers_is_never_used_if_one_is_required(self):
        with self.signing() as far, CardSite() as evil:
            keys = self.keys_file(far)
            signed = far.http("GET", CARD, headers=NEWEST).body
            unsigned = evil.card
            trusted = [f"http://127.0.0.1:{evil.port}={keys}"]
            evil.set({"supported_interfaces": signed.pop("supportedInterfaces"), **signed, "url": evil.url,
                      "protocolVersion": "0.3.0"})
            renamed = evil.card
            for card, status, a2a, says in ((b"\xef\xbb\xbf" + unsigned, 200, None, "the agent's card is not signed"),
                                            (b"", 404, {"version": "1.0"}, "the agent has no card"),
                                            (renamed, 200, None, "")):
                with self.subTest(says or "renamed"):
                    evil.card, evil.status = card, status
                    front = self.front(evil.url, a2a, verify="require", trusted_keys=trusted)
                    self.assertEqual(self.outcome(front), "failed")
                    self.assertEqual("refused the agent card" in front.log_text(), bool(says), front.log_text())
                    self.assertIn(says, front.log_text())
                    self.assertEqual(evil.there.sends, [])
            shown = subprocess.run([harness.PROGRAM, "card", evil.url, "--key", keys, "--verify", "require"],
                                   capture_output=True, text=True, check=False, env=harness.program_environment())
            self.assertIn("good, by ", shown.stdout)
            self.assertIn(f"127.0.0.1:{far.port}", shown.stdout)
            self.assertNotIn(f"127.0.0.1:{evil.port}", shown.stdout)

    def test_a_reload_that_requires_signatures_ends_the_use_of_a_card_that_is_kept(self):
        with CardSite(Cache_Control="max-age=3600") as site:
            front = self.front(site.url)
            self.assertEqual(self.outcome(front), "completed")
            shown = "/agents/far/.well-known/agent-card.json"
            self.assertEqual(front.http("GET", shown).body["description"], "What they do.")
            front.config["cards"]["verify"] = "require"
            self.reload(front)
            self.assertIn("without cards.trusted_keys", front.log_text())
            self.assertEqual(self.outcome(front), "failed")
            self.assertIn("the agent's card is not signed", front.log_text())
            self.assertEqual(front.http("GET", shown).body["description"], "")
            front.config["cards"]["verify"] = "off"
            self.reload(front)
            self.assertEqual(self.outcome(front), "completed")

    def test_the_next_key_is_shown_before_anything_is_signed_and_each_key_once(self):
        one = str(self.folder / "one.pem")
        with harness.Server(["echo"], {"cards": {"published_keys": [one, one]}}) as server:
            self.assertEqual(len(server.http("GET", "/.well-known/jwks.json").body["keys"]), 1)
            self.assertNotIn("signatures", server.http("GET", CARD, headers=NEWEST).body)

    def test_the_command_card_shows_who_has_signed(self):
        def show(*words):
            return subprocess.run([harness.PROGRAM, "card", f"http://127.0.0.1:{far.port}/agents/echo", *words],
                                  capture_output=True, text=True, check=False, env=harness.program_environment())
        with self.signing() as far:
            keys = self.keys_file(far)
            good = show("--key", keys, "--verify", "require")
            self.assertEqual(good.returncode, 0, good.stderr)
            self.assertRegex(good.stdout, r"(?m)^signature +good, by \S+, as the specification says$")
            unknown = show()
            self.assertEqual(unknown.returncode, 0)
            self.assertRegex(unknown.stdout, r"(?m)^signature +of an unknown key, by ")
            self.assertEqual(show("--verify", "require").returncode, 1)
            wrong = show("--key", self.folder / "none")
            self.assertEqual(wrong.returncode, 2)
            self.assertIn("--key: cannot read the file", wrong.stderr)


if __name__ == "__main__":
    unittest.main()
