"""The database is restarted immediately, as after a crash, under a Baton that continues: alone, beside another one, or
with a standby Baton that waits."""
import pathlib
import signal
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import failover
import harness
import new_generations
import test_standby


class Restarts(failover.Case):
    def restart(self, after=lambda: None):
        """Restarts like pg_ctl restart -m immediate."""
        self.primary.stop_server()
        after()
        self.assertTrue(self.primary.start_server())

    def test_three_restarts_under_load_lose_double_and_break_off_nothing(self):
        server = self.serve()
        long = self.follow_long()
        book = self.load()
        for _ in range(3):
            book.await_more()
            self.restart()
        book.await_more()
        book.close()
        self.assert_kept(book)
        self.assert_ends_well(*long)
        self.assertTrue(server.running())

    def test_nodes_that_share_the_database_all_stay(self):
        first = self.serve()
        second = harness.Server(["player"], failover.CONFIG)
        second.database.drop()
        second.database = first.database
        self.addCleanup(second.discard)
        second.start()
        at = [self.at, new_generations.Rpc10(second)]
        nodes = first.database.query("SELECT node_id FROM nodes ORDER BY 1")
        self.assertEqual(len(nodes), 2)
        lease = "SELECT node_id, lease_until FROM nodes"
        for _ in range(3):
            self.restart()
            for each in at:
                self.assertEqual(each.send("end").state, "completed")
        seen = set()
        harness.wait_for(lambda: seen.update(first.database.query(lease)) or len(seen) > 40, 20, "renewed leases")
        self.assertEqual(first.database.query("SELECT node_id FROM nodes ORDER BY 1"), nodes)
        self.assertTrue(first.running() and second.running())

    def wait_beside(self):
        """Starts another Baton, which waits for the database of the first one."""
        self.serve(["--postgres-standby"])
        second = test_standby.Standby(self.server)
        second.database.drop = self.server.database.drop

        def end():
            second.process.kill()
            second.process.wait()
            second.starting.join()
            second.discard()

        self.addCleanup(end)
        return second.await_turn()

    def test_the_server_that_serves_stays_the_one_beside_another_that_waits(self):
        second = self.wait_beside()
        for _ in range(3):
            self.restart()
            self.assertEqual(self.at.send("end").state, "completed")
        self.assert_leased_to_the_first(second)

    def test_it_stays_the_one_after_an_outage_longer_than_its_lease(self):
        second = self.wait_beside()
        lease = "SELECT extract(epoch FROM max(lease_until) - clock_timestamp())::float8 FROM nodes"
        left, = self.server.database.query(lease)[0]
        over = time.monotonic() + left + 0.2
        self.server.process.send_signal(signal.SIGSTOP)
        self.restart(after=lambda: harness.wait_for(lambda: time.monotonic() > over, 20, "the lease to be over"))
        harness.wait_for(lambda: self.server.database.query(
            "SELECT 1 FROM pg_stat_activity WHERE application_name = 'baton'"), 20, "the other one to look")
        # The server writes nothing by itself: only its lease shows that it lives.
        self.server.process.send_signal(signal.SIGCONT)
        self.assert_leased_to_the_first(second)
        self.assertEqual(self.at.send("end").state, "completed")

    def assert_leased_to_the_first(self, second):
        """Asserts that the lease stays with the first server for as long as the waiting one needs to take it."""
        lease = "SELECT node_id, lease_until FROM nodes"
        seen = set()
        harness.wait_for(lambda: seen.update(self.server.database.query(lease)) or len(seen) > 6, 20, "renewed leases")
        self.assertEqual(len({node for node, _ in seen}), 1)
        self.assertTrue(self.server.running())
        self.assertEqual(second.port, 0)


if __name__ == "__main__":
    unittest.main()
