"""The database fails over to a synchronous standby: Baton continues, and nothing is lost."""
import pathlib
import signal
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import client
import failover
import harness


BACK_S = 5  # 0.02 to 0.3 if nothing else runs


class Synchronous(failover.Case):
    def setUp(self):
        super().setUp()
        self.follow(is_synchronous=True)

    def fail_over(self, number):
        long = self.follow_long()
        book = self.load()
        book.await_more()
        self.primary.stop_server(number)
        writes = self.promote()
        took = book.first_after(writes) - writes
        print(f"   served again {took:.2f} s after the new primary")
        book.await_more()
        book.close()
        self.assertLess(took, client.scaled(BACK_S))
        self.assert_kept(book)
        self.assert_ends_well(*long)

    def test_a_primary_that_is_shut_down_at_once_is_replaced_without_a_loss(self):
        server = self.serve()
        self.fail_over(signal.SIGQUIT)
        self.assertTrue(server.running())

    def test_a_primary_that_is_killed_is_replaced_without_a_loss(self):
        server = self.serve()
        self.fail_over(signal.SIGKILL)
        self.assertTrue(server.running())

    def test_three_nodes_go_on_with_a_primary_that_replaces_a_killed_one(self):
        nodes = self.serve_nodes()
        self.fail_over(signal.SIGKILL)
        self.assertEqual([node.running() for node in nodes], [True] * 3)

    def test_what_the_standby_lacks_is_not_acknowledged_after_a_lost_connection(self):
        server = self.serve()
        self.standby.stop_server()
        answers = []
        sender = threading.Thread(target=lambda: answers.append(self.at.send("end late")))
        sender.start()
        self.addCleanup(sender.join)
        first = harness.wait_for(self.waiting, 20, "the group to wait for the standby")
        self.primary.administer(*(f"SELECT pg_terminate_backend({pid})" for pid in first))
        harness.wait_for(lambda: answers or set(self.waiting()) - set(first), 20, "the group to wait once more")
        self.assertEqual(answers, [])
        self.primary.stop_server(signal.SIGKILL)
        self.standby.start_server()
        self.promote()
        sender.join()
        self.assertEqual(self.at.get(answers[0].id).texts, ["played: end late"])
        self.assertEqual(server.database.query("SELECT count(*) FROM tasks"), [(1,)])

    def test_a_server_renews_its_lease_while_the_standby_is_away(self):
        server = self.serve()
        self.standby.stop_server()
        lease = "SELECT max(lease_until) FROM nodes"
        for _ in range(3):
            before = server.database.query(lease)
            harness.wait_for(lambda: server.database.query(lease) != before, 20, "the lease to be renewed")
        self.standby.start_server()

    def test_a_url_that_leads_to_a_standby_is_refused_with_what_to_do(self):
        url = f"postgresql://baton@127.0.0.1:{self.standby.port}/baton"
        done = subprocess.run([harness.PROGRAM, "serve", "--port", "0", "--db", url], env=harness.program_environment(),
                              capture_output=True, text=True, timeout=client.scaled(60), check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("the database server is a standby", done.stdout + done.stderr)
        self.assertIn("target_session_attrs=read-write", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
