"""Shared by the tests of all A2A generations: one server with the agent "player" (agents/player/agent.py lists what it
understands), and a client of each generation."""
import json
import pathlib

import generations
import harness
import new_generations
import old_generations


class A2aCase(harness.ServerCase):
    AGENTS = ["player"]
    CONFIG = {"webhooks": {"retry_first_s": 0.05, "retry_max_s": 0.2}}
    OPTIONS = ["--allow-private-webhooks"]

    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server(cls.AGENTS, {"engine": {"drain_grace_s": 0.2}, **cls.CONFIG}, cls.OPTIONS)
        cls.change_cards()
        cls.server.start()
        cls.g1 = old_generations.Rpc01(cls.server)
        cls.g2 = old_generations.Rpc02(cls.server)
        cls.g3 = old_generations.Rpc03(cls.server)
        cls.g3_rest = old_generations.Rest03(cls.server)
        cls.g4 = new_generations.Rpc10(cls.server)
        cls.g4_rest = new_generations.Rest10(cls.server)
        cls.all = (cls.g1, cls.g2, cls.g3, cls.g3_rest, cls.g4, cls.g4_rest)

    @classmethod
    def change_cards(cls):
        """Override to change agents' cards before the server starts."""

    @classmethod
    def change_card(cls, agent, **members):
        """Sets members of an agent's card; the members of `capabilities` are added to the existing ones."""
        path = pathlib.Path(cls.server.agents_folder) / agent / "card.json"
        card = json.loads(path.read_text(encoding="utf-8"))
        card["capabilities"] |= members.pop("capabilities", {})
        card["baton"] |= members.pop("baton", {})
        path.write_text(json.dumps({**card, **members}, ensure_ascii=False), encoding="utf-8")

    def each(self, *clients):
        """Runs a block as a subtest for each of these clients, or for all of them if none is named."""
        for client in clients or self.all:
            with self.subTest(client.name):
                yield client

    def assert_refused(self, code, act, *args, status=None, **how):
        """Asserts that act(...) is refused with this number; returns the Answer."""
        with self.assertRaises(generations.Refused) as caught:
            act(*args, **how)
        answer = caught.exception.answer
        self.assertEqual(caught.exception.code, code, answer.raw)
        if status is not None:
            self.assertEqual(answer.status, status, answer.raw)
        return answer

    def post(self, method, params, version=None, headers=None, agent="player", **more):
        """Sends this JSON-RPC request as it is and returns the Answer."""
        body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params, **more})
        version = {"A2A-Version": version} if version else {}
        return self.server.http("POST", f"/agents/{agent}/", body.encode(),
                                {"Content-Type": "application/json", **version, **(headers or {})})

    def rest(self, method, path, body=None, version=None, headers=None, agent="player"):
        """Sends this REST request as it is and returns the Answer."""
        raw = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        version = {"A2A-Version": version} if version else {}
        return self.server.http(method, f"/agents/{agent}{path}", raw,
                                {"Content-Type": "application/json", **version, **(headers or {})})


