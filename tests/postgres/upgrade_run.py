"""Nodes of an earlier program are replaced by this one, one after the other, while clients send and follow through the
proxy; then the reverse. scripts/test_upgrade runs it.

BATON_EARLIER_PROGRAM names the earlier program.
"""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import harness
import test_nodes_rolling

EARLIER = os.environ["BATON_EARLIER_PROGRAM"]


class Upgrade(test_nodes_rolling.RollingCase):
    FROM, TO = EARLIER, harness.PROGRAM

    @classmethod
    def prepare(cls, nodes):
        super().prepare(nodes)
        for node in nodes.all:
            node.program = cls.FROM

    def replace(self, node):
        self.assertEqual(node.stop(), 0)
        node.program = self.TO

    def test_nodes_that_are_replaced_one_after_the_other_lose_and_double_nothing(self):
        self.roll(self.replace)


class WayBack(Upgrade):
    FROM, TO = harness.PROGRAM, EARLIER


if __name__ == "__main__":
    unittest.main()
