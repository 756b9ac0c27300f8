"""The wall clock jumps by a year, both ways, while the program runs and between two runs: webhooks are delivered, none
is given up because of its age, and a repeated send is still one task."""
import pathlib
import shutil
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import client
import harness
import preload_library
import webhooks

YEAR_S = 365 * 86_400


class ClockJump(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="baton-clock-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.ahead = self.folder / "ahead"
        self.jump_to(0)
        config = {"webhooks": {"allow_private": True, "retry_first_s": 0.05, "retry_max_s": 0.2}}
        self.server = preload_library.Server(preload_library.build("clock_jump", self.folder),
                                             {"CLOCK_JUMP_FILE": str(self.ahead)}, ["joke"], config)
        self.addCleanup(self.server.discard)
        self.server.start()

    def jump_to(self, seconds):
        with open(self.ahead, "r+b" if self.ahead.exists() else "wb") as file:
            file.write(struct.pack("=q", seconds))

    def year_shown(self):
        return int(self.server.send("x")["status"]["timestamp"][:4])

    def send(self, text, message_id, hook=None):
        configuration = {} if hook is None else {"taskPushNotificationConfig": {"url": hook}}
        answer = self.server.rpc("SendMessage", {
            "message": {"messageId": message_id, "role": "ROLE_USER", "parts": [{"text": text}]},
            "configuration": configuration}, headers={"A2A-Version": "1.0"})
        return answer.body["result"]["task"]["id"]

    def check_jumps(self, jump):
        before = self.year_shown()
        well = []
        with webhooks.Receiver(lambda path, count: 200 if well else 500) as receiver:
            first = self.send("x", "message-1", receiver.url("/first"))
            receiver.wait(lambda r: r.refused, what="a first attempt")
            for seconds in (YEAR_S, -YEAR_S):
                jump(seconds)
                self.assertEqual(self.year_shown(), before + (1 if seconds > 0 else -1), "the clock has not jumped")
                self.assertEqual(self.send("x", "message-1"), first, "a repeated send is one task")
                tried = len(receiver.refused)
                receiver.wait(lambda r: len(r.refused) > tried, what="another attempt")
            well.append(True)
            second = self.send("y", "message-2", receiver.url("/second"))
            self.assertNotEqual(second, first)
            for path in ("/first", "/second"):
                receiver.wait(lambda r: any("TASK_STATE_COMPLETED" == d.state for d in r.deliveries if d.path == path),
                              what=f"the end of the task at {path}")

    def test_a_clock_that_jumps_while_the_program_runs_delays_and_forgets_nothing(self):
        self.check_jumps(self.jump_to)
        self.assertEqual(self.server.metric('baton_webhooks_total{outcome="given_up"}'), 0)

    def test_a_clock_that_is_set_back_between_two_runs_delays_and_forgets_nothing(self):
        self.jump_to(YEAR_S)
        self.server.stop()
        self.server.start()
        well = []
        with webhooks.Receiver(lambda path, count: 200 if well else 500) as receiver:
            first = self.send("x", "message-1", receiver.url())
            receiver.wait(lambda r: r.refused, what="a first attempt")
            self.server.stop()
            self.jump_to(0)
            self.server.start()
            well.append(True)
            receiver.wait_state("TASK_STATE_COMPLETED")
            self.assertEqual(self.send("x", "message-1"), first)


if __name__ == "__main__":
    unittest.main()
