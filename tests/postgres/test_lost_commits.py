"""The database fails over to a standby that lacks confirmed commits: Baton reports that and ends, instead of serving a
gap."""
import http.client
import pathlib
import signal
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import client
import failover
import generations
import new_generations


class Asynchronous(failover.Case):
    """The standby lacks the last acknowledged tasks."""

    def setUp(self):
        super().setUp()
        self.follow(is_synchronous=False)

    def lose(self, lost):
        """Runs `lost` and fails over to a standby without its effects."""
        self.await_standby()
        self.standby.stop_server()
        result = lost()
        self.primary.stop_server(signal.SIGKILL)
        self.standby.start_server()
        self.promote()
        return result

    def test_a_busy_server_ends_and_says_what_the_database_has_lost(self):
        self.serve()
        self.at.send("end kept")
        book = self.load()
        book.await_more()
        self.lose(book.await_more)
        self.assert_ends_of_loss()
        self.assertEqual(book.close().wrong, [])

    def test_an_idle_server_ends_as_well(self):
        self.serve()
        self.at.send("end kept")
        self.lose(lambda: self.at.send("end lost"))
        self.assert_ends_of_loss()

    def test_a_server_that_only_reads_never_shows_the_hole(self):
        self.serve()
        lost = self.lose(lambda: self.at.send("end lost")).id
        deadline = time.monotonic() + client.scaled(20)
        while self.server.running() and time.monotonic() < deadline:
            try:
                self.assertIn(lost, [task["id"] for task in self.at.list()["tasks"]])
                self.assertEqual(self.at.get(lost).texts, ["played: end lost"])
            except generations.Refused as refused:
                self.assertTrue(failover.is_unavailable(refused), refused)
            except (OSError, http.client.HTTPException):  # the server ends
                pass
        self.assert_ends_of_loss()

    def test_each_node_whose_commits_are_lost_ends_and_says_so(self):
        nodes = self.serve_nodes()
        self.at.send("end kept")
        self.lose(lambda: [new_generations.Rpc10(node, "player").send("end lost") for node in nodes])
        for node in nodes:
            self.assertNotEqual(node.ended(), 0)
        self.assertEqual([failover.LOST in node.log_text() for node in nodes], [True] * 3)

    def test_a_server_that_the_database_has_never_heard_of_is_not_told_of_another_one(self):
        server = self.serve()
        server.stop()

        def begin_again():
            server.start()
            self.at.send("end lost")

        self.lose(begin_again)
        self.assert_ends_of_loss()
        self.assertNotIn("another Baton", server.log_text())


if __name__ == "__main__":
    unittest.main()
