"""The database is away for longer than a write waits."""
import http.client
import pathlib
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import client
import failover
import generations
import harness


class LongOutage(failover.Case):
    def test_a_task_that_was_stored_though_nobody_could_say_so_is_done_after_a_new_start(self):
        self.follow(is_synchronous=True)
        server = self.serve()
        self.standby.stop_server()
        refused = []

        def send():
            try:
                self.at.send("end late")
            except generations.Refused as error:
                refused.append(error.answer.status)

        sender = threading.Thread(target=send)
        sender.start()
        # The primary has stored it but does not confirm it, because the standby has not.
        harness.wait_for(self.waiting, 20, "the group to wait for the standby")
        self.primary.stop_server()
        sender.join()
        self.assertEqual(len(refused), 1)
        self.standby.start_server()
        self.primary.start_server()
        try:
            self.at.send("end more")
        except (generations.Refused, OSError, http.client.HTTPException):  # the server ends
            pass
        self.assertNotEqual(server.process.wait(client.scaled(20)), 0)
        self.assertIn("has changes that it did not confirm in time", server.log_text())
        server.start()
        late, = server.database.query("SELECT public_id FROM tasks")[0]
        harness.wait_for(lambda: self.at.get(late).texts == ["played: end late"], 20, "the task to be done")


if __name__ == "__main__":
    unittest.main()
