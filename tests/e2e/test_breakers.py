"""Many tasks whose server elsewhere is down: it is not hammered, no task that can wait fails, and all end once it is
back. One server, called by agents of all executors that call one."""
import threading

import client
import harness
import model_server
import relay
import rings
import test_agui_failures
from test_remote_agents import Front
from test_remote_failures import DONE, Elsewhere

TASKS = 20


class Gate(relay.Site):
    """Stands in front of a server. Counts connections, and ends each without an answer while `down`."""

    def __init__(self, behind):
        self.asked, self.down = 0, True
        outer, lock = self, threading.Lock()

        class Handler(behind.http.RequestHandlerClass):
            def parse_request(self):
                with lock:
                    outer.asked += 1
                if outer.down:
                    self.close_connection = True
                    return False
                return super().parse_request()

        super().__init__(Handler)


class Breakers(harness.ServerCase):
    def setUp(self):
        self.there = Elsewhere([DONE])
        self.gates = {"a2a": Gate(self.there.site), "openai": Gate(model_server.ModelServer()),
                      "ag-ui": Gate(self.endpoint())}
        self.there.site.url = self.gates["a2a"].url
        for gate in self.gates.values():
            gate.__enter__()
            self.addCleanup(gate.__exit__)
        origins = [gate.url.rstrip("/") for gate in self.gates.values()]
        # A failed turn of a model would show at once, of an agent only after its patience.
        cards = {"a2a": {"url": origins[0], "concurrency": 64},
                 "openai": {"executor": "openai", "url": origins[1], "concurrency": 64, "model": {"name": "tiny"}},
                 "ag-ui": {"executor": "ag-ui", "url": origins[2], "concurrency": 64}}
        self.server = Front(cards, origins)
        self.addCleanup(self.server.discard)
        self.server.start()

    @staticmethod
    def endpoint():
        endpoint = model_server.ModelServer()
        endpoint.script(test_agui_failures.run(*test_agui_failures.text("hello")))
        return endpoint

    def metric(self, name, executor):
        return self.server.metric(f'baton_outbound_{name}{{origin="{self.gates[executor].url.rstrip("/")}"}}')

    def begin(self, executor):
        tasks = [client.new_id() for _ in range(TASKS)]
        for task in tasks:
            self.server.stream("hello", task, agent=executor).close()
        return tasks

    def test_a_server_that_is_down_is_asked_by_one_at_a_time_until_it_is_back(self):
        # They share the outbound layer, whose rules are asserted in unit/outbound/breakers_test.cpp.
        for executor, gate in rings.some(self.gates.items()):
            with self.subTest(executor=executor):
                tasks = self.begin(executor)
                harness.wait_for(lambda: 'breaker_state' in self.server.http("GET", "/metrics").raw.decode() and
                                 self.metric("held_total", executor) > 3 * TASKS, what="many tries to be held back")
                asked = gate.asked  # first, because it goes on
                opened = self.metric("opened_total", executor)
                self.assertGreater(opened, 0)
                # The requests under way when it opened, and one for each later time.
                self.assertLessEqual(asked, TASKS + opened + 1)
                gate.down = False
                for task in tasks:
                    self.assertEqual(self.wait_state(task, "completed", "failed", agent=executor)["status"]["state"],
                                     "completed")
                self.assertEqual(self.metric("breaker_state", executor), 0)
                self.assertGreater(self.metric("failures_total", executor), 4)


if __name__ == "__main__":
    harness.unittest.main()
