"""Agents elsewhere (executor a2a): a Baton in front whose agents are another Baton's, over every version and transport
of A2A. Both are killed in the middle of a task."""
import json
import socket

import client
import harness
import rings

WAYS = [("0.1", "jsonrpc"), ("0.2", "jsonrpc"), ("0.3", "jsonrpc"), ("0.3", "rest"), ("1.0", "jsonrpc"), ("1.0", "rest")]
if client.has_grpc():
    WAYS += [("0.3", "grpc"), ("1.0", "grpc")]
# For tests that restart servers: a version whose messages have no ids, and one whose messages have.
SOME_WAYS = [way for way in WAYS if not rings.WHOLE or way in (("0.1", "jsonrpc"), ("1.0", "rest"))]
NEW = {"A2A-Version": "1.0"}


def name_of(agent, version, transport):
    return f"{agent}-{version}-{transport}"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as place:
        return place.getsockname()[1]


class Front(harness.Server):
    """A Baton whose agents are elsewhere: `far` is where. `agents` are its own agents."""

    def __init__(self, cards, origins, agents=(), more_config=None, **more):
        config = {"outbound": {"origins": origins}, **(more_config or {})}
        super().__init__(agents=list(agents), config=config, **more)
        for name, baton in cards.items():
            self.write_card(name, baton)

    def write_card(self, name, baton):
        folder = self.agents_folder / name
        folder.mkdir(exist_ok=True)
        card = {"name": name, "description": "A remote agent.", "version": "1",
                "capabilities": {"streaming": True},
                "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
                "skills": [{"id": "all", "name": "All", "description": "What it does there.", "tags": ["remote"]}],
                "baton": {"executor": "a2a", **baton}}
        (folder / "card.json").write_text(json.dumps(card), encoding="utf-8")


class RemoteCase(harness.ServerCase):
    FAR = ["slow", "echo", "approval", "table-report", "mirror"]
    OPTIONS = ()  # of the Baton in front

    @classmethod
    def setUpClass(cls):
        # The far server gets the same port after a restart.
        cls.grpc_port = free_port()
        options = ("--grpc-port", str(cls.grpc_port)) if client.has_grpc() else ()
        cls.far = harness.Server(cls.FAR, options=options).start()
        cls.server = Front(cls.cards(), cls.origins(), options=cls.OPTIONS).start()

    @classmethod
    def tearDownClass(cls):
        cls.server.discard()
        cls.far.discard()

    @classmethod
    def origins(cls):
        return [f"http://127.0.0.1:{port}" for port in (cls.far.port, cls.grpc_port)]

    @classmethod
    def cards(cls):
        return {name_of(agent, version, transport): cls.card(agent, version, transport)
                for agent in cls.FAR for version, transport in WAYS}

    @classmethod
    def card(cls, agent, version, transport):
        way = {"version": version, "transport": transport}
        if transport != "grpc":
            return {"url": f"http://127.0.0.1:{cls.far.port}/agents/{agent}", "a2a": way}
        return {"url": f"http://127.0.0.1:{cls.far.port}",
                "a2a": {**way, "agent": agent, "endpoint": cls.origins()[1]}}

    def done(self, task, agent, state="completed"):
        done = self.wait_state(task, "completed", "failed", "canceled", "rejected", "input-required", agent=agent)
        self.assertEqual(done["status"]["state"], state, done["status"])
        return done

    def begin(self, text, agent):
        task = client.new_id()
        self.server.stream(text, task, agent=agent).close()
        return task

    def far_tasks(self, agent):
        return self.far.call("ListTasks", {}, agent=agent, headers=NEW)["tasks"]

    def wait_far(self, agent, count):
        return harness.wait_for(lambda: len(self.far_tasks(agent)) >= count and self.far_tasks(agent),
                                what=f"{count} tasks of {agent}")


class EveryWay(RemoteCase):
    """The table of ways: each shows a reply, a question with its answer, a file, a failure and a cancel."""

    def test_a_reply_comes_back_over_every_version_and_transport(self):
        for way in WAYS:
            with self.subTest(way=way):
                agent = name_of("echo", *way)
                done = self.done(self.begin("hello there", agent), agent)
                self.assertEqual([client.text_of(artifact) for artifact in done["artifacts"]], ["hello there"])

    def test_a_question_comes_up_and_its_answer_goes_down(self):
        for way in WAYS:
            with self.subTest(way=way):
                agent = name_of("approval", *way)
                before = len(self.far_tasks("approval"))
                task = self.begin("buy a boat", agent)
                asked = self.done(task, agent, "input-required")
                self.assertTrue(client.text_of(asked["status"]["message"]))
                self.server.send("yes", task, agent=agent)
                self.done(task, agent)
                self.assertEqual(len(self.far_tasks("approval")), before + 1, "question and answer are one task")

    def test_a_cancel_of_a_task_that_waits_goes_down(self):
        for way in WAYS:
            with self.subTest(way=way):
                agent = name_of("approval", *way)
                before = {one["id"] for one in self.far_tasks("approval")}
                task = self.begin("buy a boat", agent)
                self.done(task, agent, "input-required")
                self.server.rpc("tasks/cancel", {"id": task}, agent=agent)
                self.done(task, agent, "canceled")
                harness.wait_for(lambda: [one["status"]["state"] for one in self.far_tasks("approval")
                                          if one["id"] not in before] == ["TASK_STATE_CANCELED"],
                                 what="the far task to be canceled")

    def test_a_cancel_goes_down(self):
        for way in WAYS:
            with self.subTest(way=way):
                agent = name_of("slow", *way)
                before = len(self.far_tasks("slow"))
                task = self.begin("work", agent)
                self.wait_far("slow", before + 1)
                harness.wait_for(lambda: "message" in self.server.get(task, agent=agent)["status"],
                                 what="the far agent's first word")
                self.server.rpc("tasks/cancel", {"id": task}, agent=agent)
                canceled = self.done(task, agent, "canceled")
                self.assertNotIn("not confirmed", json.dumps(canceled))
                self.assertEqual({one["status"]["state"] for one in self.far_tasks("slow")},
                                 {"TASK_STATE_CANCELED"})


    def test_a_turn_that_takes_too_long_is_canceled_there(self):
        card = {**self.card("slow", "1.0", "jsonrpc"), "turn_timeout_s": 1}
        with Front({"hasty": card}, self.origins()) as front:
            def timed_out():
                """Runs a turn whose time ends. Returns the earlier far tasks if the far agent had begun by then."""
                before = {one["id"] for one in self.far_tasks("slow")}
                blocks = front.stream("work", agent="hasty").rest()
                ended = blocks[-1].status
                self.assertEqual(ended["state"], "failed")
                self.assertIn("within 1 second", client.text_of(ended["message"]))
                has_begun = any("begun" in str(block.status) for block in blocks if block.status)
                return (before,) if has_begun else None  # on a slow machine the time may be over sooner
            before, = harness.wait_for(timed_out, what="a turn that takes too long")
            harness.wait_for(lambda: [one["status"]["state"] for one in self.far_tasks("slow")
                                      if one["id"] not in before] == ["TASK_STATE_CANCELED"],
                             what="the far task to be canceled")

    def test_an_agent_elsewhere_answers_over_a_chat_protocol_too(self):
        agent = name_of("echo", "1.0", "jsonrpc")
        run = {"threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {},
               "messages": [{"id": "m", "role": "user", "content": "hello there"}]}
        answer = self.server.http("POST", f"/agents/{agent}/ag-ui", json.dumps(run),
                                  {"Accept": "text/event-stream", "Content-Type": "application/json"})
        events = [json.loads(line[6:]) for line in answer.raw.decode().splitlines() if line.startswith("data: ")]
        self.assertEqual("".join(event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT"),
                         "hello there")
        self.assertEqual(events[-1]["type"], "RUN_FINISHED")


class Lost(RemoteCase):
    FAR = ["slow", "oracle"]

    def answered(self, agent):
        """Begins a task whose question has been answered, and which works on the answer."""
        task = self.begin("this", agent)
        self.done(task, agent, "input-required")
        self.server.stream("a boat", task, agent=agent).close()
        return task

    def test_an_answer_is_worked_on_after_a_kill_and_its_question_is_not_asked_again(self):
        for way in SOME_WAYS:
            with self.subTest(way=way):
                agent = name_of("oracle", *way)
                task = self.answered(agent)
                harness.wait_for(lambda: self.server.get(task, agent=agent)["status"].get("message", {}).get("parts", [
                    {}])[0].get("text") == "thinking", what="the far agent's first word")
                self.server.kill()
                self.server.start()
                working = [one for one in self.far_tasks("oracle") if one["status"]["state"] == "TASK_STATE_WORKING"]
                self.assertEqual(len(working), 1)
                self.far.gate("oracle", working[0]["id"])
                done = self.done(task, agent)
                self.assertEqual([client.text_of(artifact) for artifact in done["artifacts"]],
                                 ["Hm. ", "It is a boat."])

    def test_what_the_far_agent_told_while_nobody_listened_is_told_after_a_restart(self):
        for way in SOME_WAYS:
            with self.subTest(way=way):
                agent = name_of("oracle", *way)
                task = self.answered(agent)
                working = harness.wait_for(lambda: [one for one in self.far_tasks("oracle")
                                                    if one["status"]["state"] == "TASK_STATE_WORKING"],
                                           what="the far agent to work on the answer")
                self.server.kill()
                self.far.gate("oracle", working[0]["id"])
                harness.wait_for(lambda: self.far.call("GetTask", {"id": working[0]["id"]}, agent="oracle", headers=NEW)[
                    "status"]["state"] == "TASK_STATE_COMPLETED", what="the far agent to end")
                self.server.start()
                done = self.done(task, agent)
                self.assertEqual([client.text_of(artifact) for artifact in done["artifacts"]],
                                 ["Hm. ", "It is a boat."])

    def test_a_task_goes_on_after_either_side_was_killed(self):
        for way in SOME_WAYS:
            for side in ("front", "far"):
                with self.subTest(way=way, side=side):
                    agent = name_of("slow", *way)
                    before = len(self.far_tasks("slow"))
                    task = self.begin("work", agent)
                    self.wait_far("slow", before + 1)
                    harness.wait_for(lambda: "message" in self.server.get(task, agent=agent)["status"],
                                     what="the far agent's first word")
                    killed = self.server if side == "front" else self.far
                    killed.kill()
                    killed.start()
                    far = [one for one in self.far_tasks("slow") if one["status"]["state"] == "TASK_STATE_WORKING"]
                    self.assertEqual(len(far), 1)
                    self.far.gate("slow", far[0]["id"])
                    done = self.done(task, agent)
                    self.assertEqual([client.text_of(artifact) for artifact in done["artifacts"]], ["finished"])
                    self.assertEqual(len(self.far_tasks("slow")), before + 1, "nothing was sent twice")


class Circle(harness.unittest.TestCase):
    """Two servers whose agents call each other."""

    def test_a_request_that_comes_back_to_its_agent_fails_with_a_clear_error(self):
        ports = [free_port(), free_port()]
        origins = [f"http://127.0.0.1:{port}" for port in ports]
        for version in rings.some(("1.0", "0.3", "0.1")):
            with self.subTest(version=version):
                servers = []
                for port, other in zip(ports, reversed(origins)):
                    card = {"url": f"{other}/agents/ring", "a2a": {"version": version}}
                    server = Front({"ring": card}, origins)
                    server.port = port
                    servers.append(server)
                    self.addCleanup(server.discard)
                    server.start()
                ended = servers[0].send("round and round", client.new_id(), agent="ring")
                for server in servers:
                    server.stop()
                self.assertEqual(ended["status"]["state"], "failed")
                self.assertIn("the request loops", client.text_of(ended["status"]["message"]))


if __name__ == "__main__":
    harness.unittest.main()
