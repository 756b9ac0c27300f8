"""The cost of a request grows at most in proportion to its size: a body of 4 MiB takes less than 24 times the CPU time
of one of 512 KiB, where quadratic growth would take 64 times. The unit tests assert the same of each decoder
(decoder_time_test.cpp)."""
import json
import time

import harness
import rings

MIB = 1 << 20
STEP = 8  # from the smaller body to the larger one
# More than STEP, because the memory of the larger body is new to the program, which is expensive on some machines.
MOST = 3 * STEP
TRIES = 20  # other load may disturb a measurement; what is not linear fails every time


class Growth(harness.ServerCase):
    AGENTS = ["mirror"]

    def cpu_time(self):
        """Returns the CPU time of all threads of the program, from the clock that clock_getcpuclockid gives for it."""
        return time.clock_gettime((~self.server.pid << 3) | 2)

    def cost(self, path, body, headers):
        begin = self.cpu_time()
        answer = self.server.http("POST", path, body, headers)
        self.assertIn(answer.status, (200, 400, 404, 413), answer.raw[:300])
        return self.cpu_time() - begin

    def assert_grows_linearly(self, path, body_of, headers=None):
        bodies = [body_of(4 * MIB // STEP), body_of(4 * MIB)]
        best = [float("inf")] * 2
        for _ in range(TRIES):
            best = [min(old, self.cost(path, body, headers or {})) for old, body in zip(best, bodies)]
            if best[1] < MOST * best[0]:
                return
        self.fail(f"{path}: {best} s")

    @staticmethod
    def listed(before, element, after):
        """Returns a function that makes a body of about `size` bytes: the element as often as fits, with its index for
        each #."""
        def make(size):
            count = size // (len(element) + 5)
            return (before + ",".join(element.replace("#", f"{n:05}") for n in range(count)) + after).encode()
        return make

    def test_a_query_and_the_members_of_a_body(self):
        """A thousand query members beside a body of 4 MiB cost at most three times as much as one."""
        body, headers = self.listed("{", '"m#":1', "}")(4 * MIB), {"Content-Type": "application/json"}
        for path in ("/v1/tasks/nothing:cancel", "/tasks/nothing:cancel"):
            with self.subTest(path):
                one = many = float("inf")
                for _ in range(TRIES):
                    one = min(one, self.cost(f"{path}?q=", body, headers))
                    many = min(many, self.cost(path + "?" + "&".join(f"q{n}=" for n in range(1000)), body, headers))
                    if many < 3 * one:
                        break
                self.assertLess(many, 3 * one)

    @rings.everything("unit/server/decoder_time_test.cpp")
    def test_answers(self):
        run = json.dumps({"threadId": "t", "runId": "r", "messages": []})[:-1] + ', "resume": ['
        entry = '{"interruptId":"i#","status":"resolved"}'
        self.assert_grows_linearly("/ag-ui", self.listed(run, entry, "]}"), {"Content-Type": "application/json"})

    @rings.everything("unit/server/decoder_time_test.cpp")
    def test_items_of_the_agent_s(self):
        self.assert_grows_linearly("/process", self.listed('{"input":[', '{"role":"assistant","content":[]}', "]}"),
                                   {"Content-Type": "application/json"})
