"""Nodes of an earlier program are replaced by this one, one after the other, while clients send and follow through the
proxy; then the reverse. scripts/test_upgrade runs it.

BATON_EARLIER_PROGRAM names the earlier program.
"""
import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import harness
import operate_case
import test_nodes_rolling

EARLIER = os.environ["BATON_EARLIER_PROGRAM"]


class Upgrade(test_nodes_rolling.RollingCase):
    FROM, TO = EARLIER, harness.PROGRAM
    CONFIG = {"tokens": operate_case.TOKENS, "allow_anonymous": True}

    key = None

    @classmethod
    def prepare(cls, nodes):
        super().prepare(nodes)
        for node in nodes.all:
            node.program = cls.FROM

    def ask(self, node, method, path, body=None, token=operate_case.OPERATOR):
        raw = None if body is None else json.dumps({"reason": "a test", **body}).encode()
        answer = node.http(method, operate_case.PREFIX + path, raw, {"Authorization": f"Bearer {token}"})
        self.assertIn(answer.status, (200, 201, 202), answer.raw)
        return answer.body

    def fill_new_tables(self, node):
        """Has this program make rows of tables and columns that earlier ones lack, while those serve, too."""
        self.key = self.ask(node, "POST", "/keys", {"caller": "chief", "role": "operator"})["apiKey"]
        self.ask(node, "POST", "/bulk", {"action": "cancel", "filter": {"agent": "player", "state": ["completed"]}})
        harness.wait_for(lambda: self.nodes.query("SELECT counted FROM bulk_jobs") == [(1,)], 20, "the job's count")

    def replace(self, node, end=None):
        new = [other for other in self.nodes if other is not node and other.is_up and other.program == harness.PROGRAM]
        if new and self.key is None:
            self.fill_new_tables(new[0])
        if end is None:
            self.assertEqual(node.stop(), 0)
        else:
            end(node)
        node.program = self.TO

    def assert_new_tables_kept(self):
        """Asserts that each node accepts the key, and that one acts on the job that another has counted."""
        for node in self.nodes:
            self.ask(node, "GET", "/nodes", token=self.key)
        (job, tasks), = self.nodes.query("SELECT job_key, tasks FROM bulk_jobs")
        self.ask(self.nodes[2], "POST", f"/bulk/{job}/confirm", {"expected": tasks})
        harness.wait_for(lambda: self.nodes.query("SELECT state, done, refused FROM bulk_jobs") == [("done", 0, tasks)],
                         20, "the job's end")

    def test_nodes_that_are_replaced_one_after_the_other_lose_and_double_nothing(self):
        self.roll(self.replace)
        self.assert_new_tables_kept()

    def test_nodes_that_are_killed_and_replaced_one_after_the_other_lose_and_double_nothing(self):
        self.roll(lambda node: self.replace(node, type(node).kill))
        self.assert_new_tables_kept()


class WayBack(Upgrade):
    FROM, TO = harness.PROGRAM, EARLIER

    def assert_new_tables_kept(self):
        """Asserts that the rows are there: the earlier program may have no use for them."""
        self.assertEqual(self.nodes.query("SELECT caller, revoked_ms FROM api_keys"), [("chief", 0)])
        self.assertGreater(self.nodes.query("SELECT count(*) FROM bulk_items")[0][0], 0)


if __name__ == "__main__":
    unittest.main()
