"""The matrix of protocols: a task begun in one is followed, answered and seen to its end in each other one; in the ring
"whole" only in its neighbours in the list. A2A in the versions that differ; tests/e2e/test_a2a_matrix.py has all."""
import json
import os
import subprocess

import chat_doors
import client
import harness
import new_generations
import openai_events
import old_generations
import rings
import webhooks

BEGUN, QUESTION, ANSWER = "let me see. ", "which one?", "that one"


class ChatSide:
    """A client of a chat protocol."""

    def __init__(self, server, door):
        self.server = server
        self.door = door(server, "chat", user="somebody")
        self.name = self.door.name
        self.no_tools = None if self.door.has_client_tools else "it knows no tools of the client's"

    def begin(self, text, context, tools=()):
        """Begins a task and leaves its stream open. Returns the task's id."""
        how = {"tools": list(tools)} if tools else {}
        self.stream = self.door.open(self.door.say(text, context, **how))
        self.context = context
        return next(frame for frame in self.stream if frame.place).task

    def follow(self, task, context):
        self.stream = self.door.follow(task, context)
        self.context = context

    def see_text(self, text):
        self.door.until_text(self.stream, text)

    def see_question(self, case):
        """Reads to the end of the run."""
        self.asked = self.door.finish(self.stream)
        case.assertIn(QUESTION, self.asked.text)
        case.assertEqual(self.asked.ending, "asked" if self.door.tells_asking else "completed")
        return self.asked

    def see_call(self, case):
        self.asked = self.door.finish(self.stream)
        case.assertEqual(self.asked.ending, "tool", self.asked)
        return [call.name for call in self.asked.calls]

    def answer(self, task, context):
        run = self.door.run(self.door.answer(self.asked, ANSWER, context))
        return run.ending, run.text

    def give(self, task, context, content):
        run = self.door.run(self.door.give(self.asked, content, context))
        return run.ending, run.text

    def end(self, task, question_at):
        """Returns the ending and the text of the run that followed the question."""
        run = self.door.finish(self.door.follow(task, self.context, question_at))
        return run.ending, run.text


class A2aSide:
    """A client of a version of A2A."""

    no_tools = "its requests offer no tools of the client's"

    def __init__(self, server, generation):
        self.server = server
        self.client = generation(server, "chat")
        self.name = f"A2A {self.client.name}"

    def begin(self, text, context):
        self.following = self.client.stream(text, context=context)
        raw = self.following.first().raw
        return raw.get("id") or raw["taskId"]

    def follow(self, task, context):
        self.following = self.client.subscribe(task, after=0)

    def see_text(self, text):
        seen = ""
        for item in self.following:
            seen += self.text_of(item)
            if text in seen:
                return
        raise AssertionError(f"the stream ended without {text!r}: {self.following.items}")

    @staticmethod
    def text_of(item):
        artifact = (item.raw or {}).get("artifact", {}) if item.kind == "artifact" else {}
        return "".join(part.get("text", "") for part in artifact.get("parts", []))

    def see_question(self, case):
        item = self.following.until("input-required")
        case.assertIn(QUESTION, json.dumps(item.raw))
        self.following.close()

    def see_call(self, case):
        item = self.following.until("input-required")
        self.following.close()
        parts = item.raw["status"]["message"]["parts"]
        calls = [part["data"]["toolCall"] for part in parts if "toolCall" in part.get("data", {})]
        self.call = calls[0]["id"]
        return [call["name"] for call in calls]

    def answer(self, task, context):
        got = self.client.answer(task, ANSWER)
        return got.state, "".join(got.texts)

    def give(self, task, context, content):
        part = {"data": {"toolResult": {"id": self.call, "content": content}}}
        part |= {"0.1": {"type": "data"}, "0.3": {"kind": "data"}}.get(self.client.shape, {})
        got = self.client.answer(task, None, parts=[part])
        return got.state, "".join(got.texts)

    def end(self, task, question_at):
        got = self.client.get(task)
        return got.state, "".join(got.texts)


class ResponsesSide:
    """A client of OpenAI's Responses."""

    name, no_tools = "Responses", None

    def __init__(self, server):
        self.server = server

    def request(self, method, path, body=None):
        connection = self.server.connect()
        connection.request(method, "/v1/responses" + path, body and json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        if response.headers.get_content_type() == "text/event-stream":
            return openai_events.Events(connection, response)
        return json.loads(response.read())

    def begin(self, text, context, tools=()):
        tools = [{"type": "function", "name": name, "parameters": {"type": "object"}} for name in tools]
        self.stream = self.request("POST", "", {"model": "chat", "input": text, "conversation": context, "tools": tools,
                                                "stream": True})
        self.first = next(iter(self.stream))["response"]["id"]
        return self.first.removeprefix("resp_")

    def follow(self, task, context):
        self.first = f"resp_{task}"
        self.stream = self.request("GET", f"/{self.first}?stream=true")

    def see_text(self, text):
        seen = ""
        for event in self.stream:
            seen += event["delta"] if event["type"] == "response.output_text.delta" else ""
            if text in seen:
                return
        raise AssertionError(f"the stream ended without {text!r}: {self.stream.seen}")

    @staticmethod
    def text_in(response):
        return "".join(part["text"] for item in response["output"] if item["type"] == "message" for part in item["content"])

    def see_question(self, case):
        self.asked = self.stream.rest()[-1]["response"]
        case.assertEqual(self.asked["status"], "completed")
        case.assertIn(QUESTION, self.text_in(self.asked))

    def see_call(self, case):
        calls = [item for item in self.stream.rest()[-1]["response"]["output"] if item["type"] == "function_call"]
        self.call = calls[0]["call_id"]
        return [call["name"] for call in calls]

    def continue_with(self, said):
        done = self.request("POST", "", {"model": "chat", "input": said, "previous_response_id": self.first})
        return done["status"], self.text_in(done)

    def answer(self, task, context):
        return self.continue_with(ANSWER)

    def give(self, task, context, content):
        return self.continue_with([{"type": "function_call_output", "call_id": self.call, "output": content}])

    def end(self, task, question_at):
        done = self.request("GET", f"/resp_{task}_{question_at}?stream=true").rest()[-1]["response"]
        return done["status"], self.text_in(done)


class McpSide:
    """A client of MCP's tasks: a call is a handle, which it reads again and again."""

    name, no_tools = "MCP", "its requests offer no tools of the client's"
    REVISION, META = "2026-07-28", "io.modelcontextprotocol/"

    def __init__(self, server):
        self.server = server

    def request(self, method, name, params):
        abilities = {"extensions": {self.META + "tasks": {}}, "elicitation": {}}
        meta = {self.META + "protocolVersion": self.REVISION, self.META + "clientCapabilities": abilities}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        head = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": self.REVISION, "Mcp-Method": method, "Mcp-Name": name}
        return self.server.http("POST", "/mcp", json.dumps(body).encode(), head).body["result"]

    def begin(self, text, context):
        self.task = self.request("tools/call", "chat", {"name": "chat", "arguments": {"message": text, "contextId": context}})["taskId"]
        return self.task

    def follow(self, task, context):
        self.task = task

    def now(self):
        return self.request("tasks/get", self.task, {"taskId": self.task})

    def wait(self, status):
        return harness.wait_for(lambda: (now := self.now())["status"] == status and now, what=f"the status {status}")

    def see_text(self, _text):
        """A handle says only that the agent works."""
        self.wait("working")

    def see_question(self, case):
        self.asked = self.wait("input_required")["inputRequests"]
        case.assertIn(QUESTION, json.dumps(self.asked))

    def answer(self, task, context):
        answers = {key: {"action": "accept", "content": {"answer": ANSWER}} for key in self.asked}
        self.request("tasks/update", task, {"taskId": task, "inputResponses": answers})
        return self.end(task, None)

    def end(self, task, question_at):
        result = self.wait("completed")["result"]
        return result["structuredContent"]["state"], "".join(part.get("text", "") for part in result["content"])


class Pair:
    """One cell: `begins` (X) and `goes_on` (Y). `marks` holds the steps that worked, `empty` why some do not apply."""

    def __init__(self, case, number, begins, goes_on, receiver):
        self.case, self.number, self.receiver = case, number, receiver
        self.begins, self.goes_on = begins, goes_on
        self.marks, self.problems, self.empty = "", [], {}

    def step(self, mark, act, *needed):
        if any(before not in self.marks for before in needed):
            return
        try:
            act()
            self.marks += mark
        except Exception as problem:  # any error is a finding about this cell
            self.problems.append(f"{mark}: {type(problem).__name__}: {problem}")

    def play(self):
        self.context = f"matrix-{self.number}"
        self.step("b", self.begin)
        self.step("f", self.follow, "b")
        self.step("q", self.question, "f")
        self.step("g", self.command, "q")
        self.step("a", self.answer, "q")
        self.step("e", self.end, "a")
        self.step("c", self.same_context, "a")
        self.step("w", self.webhook, "a")
        reason = self.begins.no_tools and f"{self.begins.name} begins none: {self.begins.no_tools}"
        if not reason and not isinstance(self.goes_on, A2aSide) and self.goes_on.no_tools:
            reason = f"{self.goes_on.name} gives no result: {self.goes_on.no_tools}"
        if reason:
            self.empty["t"] = reason
        else:
            self.step("t", self.tool)

    def begin(self):
        self.task = self.begins.begin(f"slowask {QUESTION}", self.context)
        self.begins.see_text(BEGUN)

    def follow(self):
        """Follows the task from its first event, while it runs."""
        self.goes_on.follow(self.task, self.context)
        self.goes_on.see_text(BEGUN)

    def question(self):
        self.case.server.gate("chat", self.task)
        self.goes_on.see_question(self.case)
        self.begins.see_question(self.case)
        self.case.judge.set_push(self.task, {"url": self.receiver.url(f"/{self.number}"), "token": "t"})

    def command(self):
        """The program's own command shows the task while it waits."""
        url = f"http://127.0.0.1:{self.case.server.port}/agents/chat"
        done = subprocess.run([harness.PROGRAM, "get", self.task, "--url", url], capture_output=True, text=True,
                              check=False, timeout=client.scaled(60), env=harness.program_environment(),
                              cwd=self.case.server.folder)
        # The command exits with a code of its own for a waiting task.
        self.case.assertIn(done.returncode, (0, 3), done.stderr)
        self.case.assertIn(QUESTION, done.stdout)
        self.case.assertIn(self.task, done.stdout)

    def answer(self):
        question_at = self.case.question_at(self.task)
        state, text = self.goes_on.answer(self.task, self.context)
        self.case.assertEqual(state, "completed")
        self.case.assertIn(f"answered: {ANSWER}", text)
        self.asked_at = question_at

    def end(self):
        for side in (self.begins, self.goes_on):
            state, text = side.end(self.task, self.asked_at)
            self.case.assertEqual(state, "completed", side.name)
            self.case.assertIn(f"answered: {ANSWER}", text, side.name)

    def same_context(self):
        """There is one task, with both messages, in the context that both named."""
        listed = self.case.judge.list(contextId=self.context, historyLength=10)["tasks"]
        self.case.assertEqual([task["id"] for task in listed], [self.task])
        said = [[part.get("text") for part in entry["parts"]] for entry in listed[0]["history"]
                if entry["role"] == "ROLE_USER"]
        self.case.assertEqual(said, [[f"slowask {QUESTION}"], [ANSWER]])

    def webhook(self):
        self.receiver.wait_state("TASK_STATE_COMPLETED", path=f"/{self.number}")

    def tool(self):
        context = f"{self.context}-tool"
        self.case.server.gate("chat", context)
        task = self.begins.begin("tool point_at", context, tools=["point_at"])
        self.case.assertEqual(self.begins.see_call(self.case), ["point_at"])
        self.goes_on.follow(task, context)
        self.case.assertEqual(self.goes_on.see_call(self.case), ["point_at"])
        state, text = self.goes_on.give(task, context, "pointed")
        self.case.assertEqual(state, "completed")
        self.case.assertIn("pointed", text)
        self.case.assertEqual(self.case.judge.get(task).state, "completed")


class Matrix(harness.ServerCase):
    maxDiff = None
    AGENTS = ["chat"]
    CONFIG = {"engine": {"drain_grace_s": 0.2}, "mcp": {"handle_after_s": 0.05},
              "webhooks": {"retry_first_s": 0.05, "retry_max_s": 0.2}}
    OPTIONS = ["--allow-private-webhooks"]

    def question_at(self, task):
        """Returns the number of the event that made the task wait."""
        following = self.judge.subscribe(task, after=0)
        item = following.until("input-required")
        following.close()
        return item.number

    def sides(self):
        doors = [ChatSide(self.server, door) for door in chat_doors.ALL_DOORS]
        generations = (old_generations.Rpc01, old_generations.Rpc03, new_generations.Rpc10, new_generations.Rest10)
        others = [A2aSide(self.server, generation) for generation in generations]
        return [*doors, ResponsesSide(self.server), McpSide(self.server), *others]

    def test_every_protocol_goes_on_with_every_other(self):
        """Marks: b begun, f followed from its first event, q question seen by both, g seen by the command, a answered,
        e end seen by both, c one task in one context, w its webhook called, t result of a client's tool given; -
        failed, . does not apply."""
        self.judge = new_generations.Rpc10(self.server, "chat")
        names = [side.name for side in self.sides()]
        cells = {}
        with webhooks.Receiver() as receiver:
            for x, y in rings.pairs(range(len(names))):
                # Each pair has its own sides, because a side remembers streams.
                pair = Pair(self, len(cells), self.sides()[x], self.sides()[y], receiver)
                with self.subTest(f"{names[x]} -> {names[y]}"):
                    cells[names[x], names[y]] = pair
                    pair.play()
                    self.assertEqual(pair.problems, [], f"begun in {names[x]}, gone on with in {names[y]}:\n"
                                     + "\n".join(pair.problems))
        self.show(names, cells)
        self.record(names, cells)

    def show(self, names, cells):
        marks = "bfqgaecwt"
        width = max(len(name) for name in names) + 2
        print(f"\nbegun in \\ gone on with in\n{'':{width}}" + "".join(f"{name:{width}}" for name in names).rstrip())
        for x in names:
            row = ["".join(mark if mark in cells[x, y].marks else "." if mark in cells[x, y].empty else "-"
                           for mark in marks) if (x, y) in cells else "" for y in names]
            print(f"{x:{width}}" + "".join(f"{cell:{width}}" for cell in row).rstrip())
        for reason in sorted({reason for pair in cells.values() for reason in pair.empty.values()}):
            print(f". {reason}")
        print(" ".join(self.test_every_protocol_goes_on_with_every_other.__doc__.split()))

    def record(self, names, cells):
        """Writes a report of what worked and what does not apply, by the two names."""
        path = os.environ.get("CHAT_MATRIX_REPORT")
        if not path:
            return
        table = {x: {y: {"marks": cells[x, y].marks, "empty": cells[x, y].empty} for y in names if (x, y) in cells}
                 for x in names}
        with open(path, "w", encoding="utf-8") as report:
            json.dump(table, report, ensure_ascii=False)
