"""Turns that wait for other agents: across a kill, in a worker that runs one turn at a time, and many at once."""
import contextlib
import json
import threading

import client
import harness
import relay
from test_remote_agents import Front


class WaitingTurns(harness.ServerCase):
    AGENTS = ["chief", "slow", "patron"]

    def done(self, task, agent):
        done = self.wait_state(task, "completed", "failed", "canceled", agent=agent)
        self.assertEqual(done["status"]["state"], "completed", done["status"])
        return done

    def begin(self, text, agent):
        task = client.new_id()
        self.server.stream(text, task, agent=agent).close()
        return task

    def tasks_of(self, agent):
        return self.server.call("ListTasks", {}, agent=agent, headers={"A2A-Version": "1.0"})["tasks"]

    def test_a_parent_that_waits_over_a_kill_gets_its_childs_result(self):
        task = self.begin("slow", "chief")
        harness.wait_for(lambda: any("message" in child["status"] for child in self.tasks_of("slow")),
                         what="the child's first word")
        self.server.kill()
        self.server.start()
        self.assertEqual(self.server.get(task, agent="chief")["status"]["state"], "working")
        self.server.gate("slow", "all")
        done = self.done(task, "chief")
        self.assertEqual(len(done["artifacts"]), 1)
        report = done["artifacts"][0]["parts"][0]["data"]
        self.assertEqual(report["attempt"], 1)
        self.assertEqual(report["task"]["status"]["state"], "TASK_STATE_COMPLETED")
        self.assertIn("finished", json.dumps(report["task"]))

    def test_a_turn_that_waits_leaves_its_only_place_to_its_child(self):
        done = self.done(self.begin("wait wait hello", "patron"), "patron")
        self.assertEqual([client.text_of(artifact) for artifact in done["artifacts"]],
                         ["I ask. ", "got: I ask. "])

    def test_a_turn_that_does_not_say_that_it_waits_makes_room_and_begins_again(self):
        done = self.done(self.begin("keep hello", "patron"), "patron")
        self.assertEqual([client.text_of(artifact) for artifact in done["artifacts"]], ["I ask. got: hello"])
        self.assertEqual(client.text_of(done["status"]["message"]), "1", "its attempt")

    def test_a_turn_that_went_on_after_waiting_makes_room_like_another(self):
        done = self.done(self.begin("both hello", "patron"), "patron")
        self.assertEqual(client.text_of(done["artifacts"][-1]), "I ask. got: hello")


class Patient:
    """Agents that work until they are released: of A2A with a stream at /streams and without one at /polls, and of
    AG-UI at /runs. `begun`: how many messages have come."""

    def __init__(self):
        owner = self
        self.begun, self.lock, self.released = 0, threading.Lock(), threading.Event()

        class Handler(relay.Handler):
            def do_GET(self):
                place = self.path.split("/.well-known/")[0]
                card = relay.card_for(owner.site.url.rstrip("/") + place, streaming=place == "/streams")
                self.say(json.dumps(card).encode())

            def do_POST(self):
                request = json.loads(self.body())
                if request.get("method") != "GetTask":
                    with owner.lock:
                        owner.begun += 1
                if self.path == "/polls":
                    task = self.task("COMPLETED" if owner.released.is_set() else "WORKING")
                    return self.say(self.answer(request, task if request["method"] == "GetTask" else {"task": task}))
                with contextlib.suppress(ConnectionError):
                    self.stream(request)

            def task(self, state):
                return {"id": "t", "contextId": "c", "status": {"state": f"TASK_STATE_{state}"}}

            def answer(self, request, result):
                return json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode()

            def stream(self, request):
                first, last = [json.dumps({"type": f"RUN_{kind}", "threadId": "t", "runId": "r"}).encode()
                               for kind in ("STARTED", "FINISHED")]
                if self.path == "/streams":
                    first, last = [self.answer(request, {"task": self.task(state)})
                                   for state in ("WORKING", "COMPLETED")]
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                self.wfile.write(b"data: " + first + b"\n\n")
                owner.released.wait(client.scaled(120))
                self.wfile.write(b"data: " + last + b"\n\n")
                self.close_connection = True

        self.site = relay.Site(Handler)


class ManyTurnsElsewhere(harness.ServerCase):
    COUNT = 66  # of each kind

    @classmethod
    def setUpClass(cls):
        cls.there = Patient()
        cls.there.site.__enter__()
        cls.addClassCleanup(cls.there.site.__exit__)
        cls.addClassCleanup(cls.there.released.set)
        origin = cls.there.site.url.rstrip("/")
        more = {"concurrency": 100}
        cls.server = Front({name: {"url": f"{origin}/{name}", **more} for name in ("streams", "polls")}, [origin])
        cls.server.write_card("runs", {"executor": "ag-ui", "url": f"{origin}/runs", **more})
        cls.server.start()

    def begin(self, agent):
        message = {"messageId": client.new_id(), "role": "ROLE_USER", "parts": [{"text": "go"}]}
        params = {"message": message, "configuration": {"returnImmediately": True}}
        return self.server.call("SendMessage", params, agent=agent, headers={"A2A-Version": "1.0"})["task"]["id"]

    def test_running_turns_of_agents_elsewhere_take_no_threads(self):
        agents = ["streams", "polls", "runs"]
        first = [(agent, self.begin(agent)) for agent in agents]
        harness.wait_for(lambda: self.there.begun == len(agents), what="the first turns")
        before = self.server.threads()
        more = [(agent, self.begin(agent)) for _ in range(self.COUNT) for agent in agents]
        harness.wait_for(lambda: self.there.begun == len(first) + len(more), what="all turns", seconds=60)
        # The pools that all share may grow to their size.
        self.assertLess(self.server.threads() - before, 10)
        self.there.released.set()
        for agent, task in first + more:
            self.assertEqual(self.wait_state(task, "completed", "failed", agent=agent)["status"]["state"], "completed")
