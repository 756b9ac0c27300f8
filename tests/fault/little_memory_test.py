"""Takes memory away from the program while large tasks are read and sent to webhooks. Requests may fail; the program
keeps running, and once there is memory again everything acknowledged is there."""
import http.client
import os
import pathlib
import resource
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import client
import harness
import webhooks

ROUNDS = 6
READERS = 6
SENDS = 8
TEXT = "y" * (2 << 20)
# Beyond the memory that the program has when the limit is set: from nothing to the need of a few large answers.
LEFT_MIB = (0, 8, 24, 64, 128, 192)


@client.only_if(not client.is_sanitized())  # it ends the program if it has no memory for itself
class LittleMemory(unittest.TestCase):
    def limit(self, left_mib):
        """Limits the address space to the part in use plus `left_mib`; None removes the limit."""
        if left_mib is None:
            resource.prlimit(self.server.pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            return
        pages = int(pathlib.Path(f"/proc/{self.server.pid}/statm").read_text(encoding="ascii").split()[0])
        used = pages * os.sysconf("SC_PAGE_SIZE")
        resource.prlimit(self.server.pid, resource.RLIMIT_AS, (used + (left_mib << 20), resource.RLIM_INFINITY))

    def read(self, task, stop):
        while not stop.is_set():
            try:
                self.server.rpc("tasks/get", {"id": task, "historyLength": 100})
            except (OSError, http.client.HTTPException, AssertionError, ValueError):
                stop.wait(0.02)
            finally:
                self.server.close()

    def test_the_program_outlives_a_lack_of_memory(self):
        config = {"webhooks": {"allow_private": True, "retry_first_s": 0.02, "retry_max_s": 0.1, "timeout_s": 5}}
        self.server = harness.Server(["phone"], config)
        self.addCleanup(self.server.discard)
        self.server.start()
        with webhooks.Receiver(lambda path, count: 200 if well else 500) as receiver:
            well = []
            task = client.new_id()
            for _ in range(SENDS):  # answers to its question, which ask again
                self.server.rpc("tasks/send", {"id": task, "message": client.text_message(TEXT),
                                               "pushNotification": {"url": receiver.url()}})
            stop = threading.Event()
            readers = [threading.Thread(target=self.read, args=(task, stop), daemon=True) for _ in range(READERS)]
            for reader in readers:
                reader.start()
            for number in range(ROUNDS):
                tried = len(receiver.refused)
                self.limit(LEFT_MIB[number % len(LEFT_MIB)])
                stop.wait(client.scaled(0.5))
                self.limit(None)
                harness.wait_for(lambda: len(receiver.refused) > tried or not self.server.running(), 60,
                                 what="webhooks to go on")
                self.assertTrue(self.server.running(), f"ended with {self.server.process.poll()}: {self.server.log_text()[-600:]}")
            stop.set()
            for reader in readers:
                reader.join(client.scaled(60))
            well.append(True)
            receiver.wait(lambda r: r.deliveries, 60, what="a delivery")
        self.assertEqual(self.server.get(task)["id"], task)
        self.assertNotIn("crash", self.server.log_text())


if __name__ == "__main__":
    unittest.main()
