"""Many open streams on one server: all get all events, and no threads are added except those of the pools.
scripts/bench-streams does the same with 5,000 and prints the figures."""
import os
import unittest

import many_streams

POOLED = 8  # threads of the pools, which are started on demand
STREAMS = int(os.environ.get("BATON_STREAMS", "1000"))


class ManyStreams(unittest.TestCase):
    def test_all_streams_get_all_events(self):
        found = many_streams.run(STREAMS)
        print(f"   {STREAMS} streams: {found}", flush=True)
        self.assertEqual(found["complete"], STREAMS)
        self.assertLessEqual(found["all_open"]["threads"], found["before"]["threads"] + POOLED)
