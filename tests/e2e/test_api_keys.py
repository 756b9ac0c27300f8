"""API keys: what they allow, and how operators create, rotate and revoke them."""
import json
import re
import subprocess
import unittest

import client
import harness
import operate_case
from operate_case import OPERATOR, VIEWER
from test_access_table import CALLS, OPERATIONS

ALICE = "alices-token-is-long-enough-0123456789"
LIMITED = "lims-token-is-long-enough-0123456789"
TOKENS = [{"caller": "alice", "token": ALICE}, *operate_case.TOKENS,
          {"caller": "lim", "token": LIMITED, "role": "operator", "scopes": ["read", "operate"], "agents": ["joke"]}]
KEY = re.compile(r"baton_([0-9A-Za-z]{8})_([0-9A-Za-z]{43})[0-9A-Za-z]{6}")


class KeyCase(unittest.TestCase):
    CONFIG = {"tokens": TOKENS, "key_header": "X-API-Key", "log": {"access": True}}

    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server(["joke"], cls.CONFIG,
                                    ["--grpc-port", "0"] if client.has_grpc() else []).start()

    @classmethod
    def tearDownClass(cls):
        cls.server.discard()

    def ask(self, method, path, body=None, token=OPERATOR):
        whole = operate_case.PREFIX + path
        raw = None if body is None else json.dumps(body).encode()
        answer = self.server.http(method, whole, raw, {"Authorization": f"Bearer {token}"})
        operate_case.check(method, whole, answer)
        return answer

    def create(self, caller, token=OPERATOR, **body):
        """Creates a key. Returns it and its row."""
        answer = self.ask("POST", "/keys", {"caller": caller, "reason": "a test", **body}, token)
        self.assertEqual(answer.status, 201, answer.raw)
        self.assertRegex(answer.body["apiKey"], KEY)
        return answer.body["apiKey"], answer.body["key"]

    def act(self, key, action, token=OPERATOR, **body):
        return self.ask("POST", f"/keys/{KEY.match(key)[1]}/{action}", {"reason": "a test", **body}, token)

    def row(self, key, token=VIEWER):
        rows = self.ask("GET", "/keys", token=token).body["keys"]
        return next(row for row in rows if row["id"] == KEY.match(key)[1])

    def status(self, token, headers=None):
        return self.server.rpc("tasks/get", {"id": "none"}, token=token, headers=headers).status


class Keys(KeyCase):
    def shown(self, answer, task):
        return answer.status, answer.raw.replace(task.encode(), b"ID")

    def test_a_key_is_as_good_as_a_token_of_its_caller_on_every_protocol(self):
        key, other = self.create("alice")[0], self.create("bert")[0]
        task, none = self.server.send("x", client.new_id(), token=key)["id"], client.new_id()
        self.assertEqual(self.server.get(task, token=ALICE)["id"], task)
        rows = [(name, ask) for name, _, ask, *about in OPERATIONS if not about]
        usual = [self.shown(ask(self.server, ALICE, none), none) for _, ask in rows]
        for (name, ask), expected in zip(rows, usual):
            with self.subTest(name):
                self.assertEqual(self.shown(ask(self.server, key, none), none), expected)
                self.assertEqual(self.shown(ask(self.server, other, task), task), expected)
        self.server.headers_of = lambda token, headers: {**type(self.server).headers_of(None, headers),
                                                         "X-API-Key": token}
        self.addCleanup(delattr, self.server, "headers_of")
        for (name, ask), expected in zip(rows, usual):
            with self.subTest(f"{name}, in the header for keys"):
                self.assertEqual(self.shown(ask(self.server, key, none), none), expected)

    @client.only_if(client.has_grpc())
    def test_a_key_counts_over_grpc(self):
        import test_access_table
        outcome = test_access_table.GrpcTable.outcome
        key, reader = self.create("gert")[0], self.create("gert", scopes=["read"])[0]
        for name, scope, message in CALLS:
            with self.subTest(name):
                self.assertNotIn(outcome(self, name, message("none"), key)[0], ("UNAUTHENTICATED", "PERMISSION_DENIED"))
                self.assertEqual(outcome(self, name, message("none"), None, key),
                                 outcome(self, name, message("none"), key))
                self.assertEqual(outcome(self, name, message("none"), reader)[0] == "PERMISSION_DENIED",
                                 scope != "read")

    @client.only_if(client.has_grpc())
    def test_the_playground_passes_a_key_on_from_either_header(self):
        chief = self.create("pia", role="operator")[0]
        message = {"messageId": client.new_id(), "role": "ROLE_USER", "parts": [{"text": "x"}]}
        body = json.dumps({"agent": "joke", "message": message}).encode()
        for headers in ({"Authorization": f"Bearer {chief}"}, {"X-API-Key": chief}):
            with self.subTest(next(iter(headers))):
                opened = self.server.open_http("POST", operate_case.PREFIX + "/playground/grpc", body,
                                               {"Content-Type": "application/json", **headers},
                                               lambda event: operate_case.check_event(event, "GrpcEvent"))
                self.assertEqual([block.frame for block in opened.rest()][-1]["status"], {"status": "OK"})

    def test_a_key_has_the_scopes_agents_and_role_that_its_operator_chose(self):
        reader, row = self.create("rita", scopes=["read", "cancel"], agents=["joke"], children="own")
        self.assertEqual((row["scopes"], row["agents"], row["children"]), (["read", "cancel"], ["joke"], "own"))
        for name, scope, ask, *_ in OPERATIONS:
            with self.subTest(name):
                self.assertEqual(ask(self.server, reader, client.new_id()).status == 403, scope == "send")
        elsewhere = self.create("rita", agents=["slow"])[0]
        self.assertEqual(self.status(elsewhere), 403)
        chief = self.create("chief", role="operator")[0]
        self.assertEqual(self.create("made-by-a-key", token=chief)[1]["createdBy"], "chief")
        for limited in (self.create("eve", role="viewer")[0], self.create("eva", role="operator", scopes=["read"])[0]):
            self.assertEqual(self.ask("GET", "/keys", token=limited).status, 200)
            self.assertEqual(self.ask("POST", "/keys", {"caller": "x", "reason": "x"}, limited).status, 403)
        self.assertEqual(self.ask("GET", "/keys", token=reader).status, 403)

    def test_wrong_orders_are_refused(self):
        for wrong in ({"caller": ""}, {"caller": "a\nb"}, {"caller": "anonymous"}, {"role": "king"}, {"scopes": []},
                      {"scopes": ["fly"]}, {"agents": []}, {"agents": ["a b"]}, {"children": "own"},
                      {"children": "none"}, {"seconds": 0}, {"seconds": "1"}, {"seconds": 10 ** 12}, {"secret": "x"},
                      {"agents": None}, {"scopes": None}, {"seconds": None}, {"role": None}, {"children": None},
                      {"scopes": ["operate"]}, {"role": "viewer", "scopes": ["read", "send"]},
                      {"role": "viewer", "agents": ["joke"]}, {"role": "viewer", "scopes": ["cancel"]},
                      {"role": "operator", "scopes": ["send"]}):
            with self.subTest(wrong):
                answer = self.ask("POST", "/keys", {"caller": "x", "reason": "x", **wrong})
                self.assertEqual(answer.status, 400, answer.raw)
                self.assertIn(f"{next(iter(wrong)) if len(wrong) == 1 else list(wrong)[-1]}: ",
                              answer.body["error"]["message"])
        known = self.create("x")[0]
        for wrong in ({"seconds": None}, {"overlapSeconds": None}):
            with self.subTest(wrong):
                self.assertEqual(self.act(known, "rotate", **wrong).status, 400)
        self.assertEqual(self.ask("POST", "/keys", {"caller": "x"}).status, 400)
        self.assertEqual(self.ask("POST", "/keys/none/rotate", {"reason": "x"}).status, 404)
        self.assertEqual(self.ask("POST", "/keys/none/revoke", {"reason": "x"}).status, 404)
        self.assertEqual(self.ask("GET", "/keys?state=old").status, 400)

    def test_an_operator_gives_no_right_that_its_own_token_lacks(self):
        for wrong in ({}, {"scopes": ["read"]}, {"scopes": ["send", "read"], "agents": ["joke"]}, {"agents": ["joke"]},
                      {"scopes": ["read"], "agents": ["joke", "slow"]}):
            with self.subTest(wrong):
                refused = self.ask("POST", "/keys", {"caller": "mia", "reason": "x", **wrong}, LIMITED)
                self.assertEqual((refused.status, refused.body["error"]["code"]), (403, "permission_denied"))
        viewer = self.create("mia", token=LIMITED, role="viewer")[0]
        limited = self.create("mia", token=LIMITED, scopes=["read"], agents=["joke"])[0]
        self.assertEqual(self.act(viewer, "revoke", token=LIMITED).status, 200)
        self.assertEqual(self.act(limited, "rotate", token=LIMITED, overlapSeconds=0).status, 201)
        full = self.create("max")[0]
        self.assertEqual(self.act(full, "rotate", token=LIMITED).status, 403)
        rows = self.ask("GET", "/audit?limit=200").body["rows"]
        told = [(row["action"], row["outcome"], row["detail"]) for row in rows if row.get("caller") in ("mia", "max")]
        number = KEY.match(full)[1]
        self.assertEqual((told[0][1], told[1]), ("permission_denied", (
            "create-key", "done", f"key {number}, caller, scopes send read cancel, without end")))
        self.assertIn("viewer, scopes read, without end", told[-1][2])
        self.assertIn("caller, scopes read, agents joke, without end", told[2][2])

    def test_a_whole_key_stands_for_its_id_and_is_recorded_nowhere(self):
        key, row = self.create("paste")
        new = self.ask("POST", f"/keys/{key}/rotate", {"reason": "x", "seconds": 60}).body["apiKey"]
        escaped = key.replace("_", "%5F").replace("b", "%62", 1)
        self.assertEqual(self.ask("POST", f"/keys/{escaped}/revoke", {"reason": "x"}).body["key"]["id"], row["id"])
        wrong = new[:-1] + ("A" if new[-1] != "A" else "B")
        for odd in (wrong, new + "x", new[:40], "%" + new, KEY.match(new)[2], new.replace("_", "-")):
            with self.subTest(odd):
                refused = self.ask("POST", f"/keys/{odd}/revoke", {"reason": "x"})
                self.assertEqual((refused.status, KEY.match(new)[2][:20] in refused.raw.decode()), (404, False))
        self.assertEqual((self.status(key), self.status(new)), (401, 200))
        harness.wait_for(lambda: f"/keys/baton_{row['id']}_***/rotate" in self.server.log_text(), what="the access log")
        for text in (self.server.log_text(), self.ask("GET", "/audit?limit=200").raw.decode()):
            self.assertNotIn(KEY.match(key)[2][:20], text)

    def test_a_caller_has_two_keys_while_one_is_rotated(self):
        old, row = self.create("rolf", scopes=["read"])
        new = self.act(old, "rotate").body["apiKey"]
        self.assertEqual((self.status(old), self.status(new)), (200, 200))
        self.assertEqual((self.row(old)["state"], "expiresAt" in self.row(old)), ("valid", True))
        self.assertEqual({name: self.row(new)[name] for name in ("caller", "role", "scopes", "createdBy")},
                         {name: row[name] for name in ("caller", "role", "scopes", "createdBy")})
        for refused in (self.act(new, "rotate"), self.ask("POST", "/keys", {"caller": "rolf", "reason": "x"})):
            self.assertEqual((refused.status, "two valid keys" in refused.raw.decode()), (409, True))
        self.assertEqual(self.act(old, "revoke").body["key"]["state"], "revoked")
        self.assertEqual((self.status(old), self.status(new)), (401, 200))
        self.assertEqual(self.act(old, "revoke").status, 409)
        self.assertEqual(self.act(old, "rotate").status, 409)
        newest = self.act(new, "rotate", overlapSeconds=0).body["apiKey"]
        self.assertEqual((self.status(new), self.status(newest)), (401, 200))
        rows = self.ask("GET", "/audit?limit=200").body["rows"]
        told = [(row["action"], row["outcome"], row["detail"]) for row in rows if row.get("caller") == "rolf"]
        self.assertEqual([(action, outcome) for action, outcome, _ in told][::-1],
                         [("create-key", "done"), ("rotate-key", "done"), ("rotate-key", "conflict"),
                          ("create-key", "conflict"), ("revoke-key", "done"), ("revoke-key", "conflict"),
                          ("rotate-key", "conflict"), ("rotate-key", "done")])
        self.assertIn(KEY.match(old)[1], told[-1][2])

    def test_a_key_that_is_over_or_wrong_is_refused_as_any_and_nothing_names_its_secret(self):
        short = self.create("short", seconds=1)[0]
        harness.wait_for(lambda: self.status(short) == 401, what="the key to expire")
        self.assertEqual(self.row(short)["state"], "expired")
        good, other = self.create("long")[0], self.create("longer")[0]
        typo = good[:-1] + ("A" if good[-1] != "A" else "B")
        mixed = good[:15] + other[15:]
        unknown = "baton_00000000_" + good[15:]
        seen = set()
        for wrong in (short, typo, mixed, unknown, "baton_", "baton_x", "wrong"):
            answer = self.server.rpc("tasks/get", {"id": "none"}, token=wrong)
            seen.add((answer.status, answer.raw, answer.headers["WWW-Authenticate"]))
        self.assertEqual(len(seen), 1, seen)
        self.assertEqual(next(iter(seen))[0], 401)
        self.assertEqual(self.status(good), 200)
        stored = b"".join(path.read_bytes() for path in self.server.folder.glob("*.db*"))
        for text in (self.server.log_text(), stored.decode("latin-1"), self.ask("GET", "/keys").raw.decode(),
                     self.ask("GET", "/audit?limit=200").raw.decode()):
            for key in (short, good, other):
                self.assertNotIn(KEY.match(key)[2], text)
        self.assertEqual([row["caller"] for row in self.ask("GET", "/keys?caller=long&state=valid").body["keys"]],
                         ["long"])

    def test_keys_survive_a_restart_with_their_last_use_and_go_with_their_callers_data(self):
        key, unused = self.create("survivor")[0], self.create("survivor")[0]
        self.assertEqual(self.status(key), 200)
        self.assertEqual(self.server.stop(), 0)
        self.server.start()
        self.assertEqual(self.status(key), 200)
        self.assertEqual("usedAt" in self.row(key), True)
        self.assertRegex(self.row(key)["usedAt"], r":00(\.0+)?Z$")
        self.assertNotIn("usedAt", self.row(unused))
        gone = self.ask("DELETE", "/callers/survivor", {"reason": "asked to"})
        self.assertEqual((gone.status, gone.body), (200, {"tasks": 0, "left": 0, "keys": 2}))
        self.assertEqual(self.status(key), 401)
        self.assertEqual(self.ask("GET", "/keys?caller=survivor").body["keys"], [])
        rows = self.ask("GET", "/audit?limit=200").body["rows"]
        self.assertEqual([(row["action"], row["detail"]) for row in rows if row.get("caller") == "survivor"][:2],
                         [("delete-caller", "0 tasks"), ("delete-keys", "2 API keys")])

    def test_baton_ops_keys_does_all_of_it(self):
        def ops(*words, form=("--json",)):
            environment = {**harness.program_environment(), "BATON_TOKEN": OPERATOR,
                           "BATON_URL": f"http://127.0.0.1:{self.server.port}"}
            done = subprocess.run([harness.PROGRAM, "ops", "keys", *words, *form], capture_output=True, text=True,
                                  check=False, timeout=client.scaled(60), env=environment, cwd=self.server.folder)
            return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr
        code, lines, told = ops("create", "clive", "--scopes", "read,send", "--agents", "joke", "--own-children",
                                "--seconds", "3600", "--reason", "new team")
        self.assertEqual((code, told), (0, ""))
        old = lines[0]["apiKey"]
        self.assertEqual(lines[0]["key"]["scopes"], ["send", "read"])
        self.assertEqual(self.status(old), 200)
        number = KEY.match(old)[1]
        code, lines, _ = ops("rotate", number, "--overlap", "60", "--reason", "due")
        self.assertEqual((code, self.status(lines[0]["apiKey"])), (0, 200))
        code, lines, _ = ops("revoke", old, "--reason", "pasted whole")
        self.assertEqual((code, lines[0]["key"]["state"], self.status(old)), (0, "revoked", 401))
        code, lines, told = ops("revoke", old[:13], "--reason", "pasted in part")
        self.assertEqual((code, lines, old[6:13] in told), (2, [], False), told)
        code, lines, _ = ops("--caller", "clive", "--state", "valid")
        self.assertEqual((code, [row["caller"] for row in lines]), (0, ["clive"]))
        code, lines, told = ops("revoke", number, "--reason", "again")
        self.assertEqual((code, lines, "already revoked" in told), (4, [], True), told)
        self.assertEqual(ops("create", "clive")[0], 2)


class Off(KeyCase):
    CONFIG = {"tokens": operate_case.TOKENS[1:]}

    def test_where_callers_need_no_token_no_key_is_made(self):
        refused = self.ask("POST", "/keys", {"caller": "x", "reason": "x"})
        self.assertEqual((refused.status, "api_keys" in refused.raw.decode()), (409, True))
        self.assertEqual(self.status("baton_anything"), 200)


class OnlyKeys(KeyCase):
    CONFIG = {"tokens": operate_case.TOKENS[1:], "api_keys": True}

    def test_with_the_setting_callers_need_a_key_and_operators_can_make_it(self):
        self.assertEqual((self.status(None), self.status("baton_anything")), (401, 401))
        self.assertEqual(self.status(self.create("first")[0]), 200)


if __name__ == "__main__":
    unittest.main()
