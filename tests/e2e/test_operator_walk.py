"""The operator's walk by `baton ops`: a new program opens a database that another one has made; everything broken in it
is found and mended without SQL. operator_walk.py has the ways; run as a program, it walks over 1,000 tasks."""
import unittest

import operator_walk
from operator_walk import WAYS


class OperatorWalk(unittest.TestCase):
    HEALTHY, EACH = 60, 2

    @classmethod
    def setUpClass(cls):
        cls.office = operator_walk.Office(cls.HEALTHY, cls.EACH)
        cls.enterClassContext(cls.office)
        cls.walk = operator_walk.OpsWalk(cls.office)

    def ids_of(self, way, rows):
        keys = {row["key"] if WAYS[way][0] == "tasks" else row["task"] for row in rows}
        return {self.walk.ops("show", key, "--events", "0")[0]["task"]["id"] for key in keys}

    def test_overview_counts_what_is_wrong(self):
        now = self.walk.ops("overview")[0]
        self.assertGreaterEqual(now["states"]["input-required"]["tasks"], 0)
        self.assertTrue(now["storeWritable"])

    def test_number_that_a_bulk_job_needs_is_told_for_every_filter(self):
        for query in ({"error": "is not a number"}, {"roots": "1", "state": "failed"}, {"turn": "waiting"},
                      {"undelivered": "1"}, {"attempts_min": "1"}):
            with self.subTest(query):
                rows = self.office.rows("tasks", query)
                count = self.office.count({**query, "limit": 1, "count": "exact"})
                self.assertEqual(count, {"tasks": len(rows), "exact": True})


def mends(way):
    def test(self):
        found = self.walk.find(way)
        self.assertEqual(self.ids_of(way, found), set(self.office.broken[way]))
        self.walk.mend(way, found)
    return test


for name in WAYS:
    setattr(OperatorWalk, "test_" + name.replace(" ", "_").replace("'", "") + "_is_found_and_mended", mends(name))
