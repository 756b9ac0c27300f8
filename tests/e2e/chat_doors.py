"""A small client for each chat protocol, all with the same operations, so that a test can put any two side by
side. Every whole run that passes here is checked with chat_checks.py."""
import json
import urllib.parse

import chat_checks
import chat_client
import client


class Call:
    def __init__(self, call_id, name):
        self.id, self.name, self.arguments, self.result = call_id, name, "", None

    def __repr__(self):
        return f"{self.name}({self.arguments}) -> {self.result}"


class Run:
    """What a client knows after some frames of a run. `ending`: None (not over), completed, asked, tool, failed,
    canceled, rejected."""

    def __init__(self):
        self.frames = []
        self.texts = []   # of the messages, in order
        self.calls = []
        self.ending = None
        self.ask = None   # the id
        self.error = None
        self.run = None   # its name in the events
        self.aside = set()  # ids of messages that are no answer

    @property
    def text(self):
        return "".join(self.texts)

    @property
    def task(self):
        return next(frame.task for frame in self.frames if frame.place)

    @property
    def last(self):
        return next(frame.place for frame in reversed(self.frames) if frame.place)

    @property
    def shown(self):
        return self.frames

    def call(self, call_id):
        return next(call for call in self.calls if call.id == call_id)

    def __repr__(self):
        return f"{self.ending} {self.texts} {self.calls} ask={self.ask} error={self.error}"


class Door:
    """Shared by the clients. `agent`: None means the default agent, at the root."""

    name = path = session = None
    tells_asking = True    # a question differs from an end
    has_client_tools = True
    leaving_cancels = True
    one_at_a_time = True
    has_user = False
    run_name = None        # the member that names a run

    def __init__(self, server, agent="chat", token=None, user=None):
        self.server, self.agent, self.user = server, agent, user
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}

    @property
    def url(self):
        return self.path if self.agent is None else f"/agents/{self.agent}{self.path}"

    def post(self, body, last=None, headers=None):
        return chat_client.post(self.server, self.url, body, {**self.headers, **(headers or {})}, last)

    def open(self, body, last=None, headers=None):
        opened = self.post(body, last, headers)
        if isinstance(opened, client.Answer):
            raise chat_client.Refused(opened)
        return opened

    def run(self, body, last=None, headers=None):
        """Runs to the end. Checks the whole run, unless this is only the rest of one."""
        return self.finish(self.open(body, last, headers), whole=last is None or last.endswith(":0"))

    def finish(self, stream, whole=True):
        run = self.read(stream.rest())
        if whole:
            self.check(run.shown)
        return run

    def read(self, frames):
        run = Run()
        for frame in frames:
            run.frames.append(frame)
            self.take(run, frame)
        return run

    def follow(self, task, context, after=0):
        """Opens the run of a task, which another client may have begun."""
        return self.open(self.say("follow", context), last=f"{urllib.parse.quote(task, safe='')}:{after}")

    def until_text(self, stream, text):
        """Reads until the run's text contains `text`. Returns the run so far."""
        run = self.read(stream.seen)
        while text not in run.text and next(iter(stream), None) is not None:
            run = self.read(stream.seen)
        if text in run.text:
            return run
        raise AssertionError(f"the run ended without {text!r}: {stream.seen}")

    def named(self, body, **members):
        return body | {name: value for name, value in members.items() if value is not None}


class AgUi(Door):
    name, path, session, run_name = "AG-UI", "/send-message", "threadId", "runId"
    one_at_a_time = False
    newer = False

    def body(self, messages, context=None, run=None, tools=None, **more):
        body = {"threadId": context or client.new_id(), "runId": run or client.new_id(), "messages": messages,
                "tools": [self.tool(name) for name in tools or []], "context": [], **more}
        return body | ({"protocolVersion": "1.0"} if self.newer else {})

    def tool(self, name):
        return {"name": name, "description": name, "parameters": {"type": "object", "properties": {}}}

    def say(self, text, context=None, before=(), **how):
        return self.body([*before, {"id": client.new_id(), "role": "user", "content": text}], context, **how)

    def answer(self, asked, payload, context, **how):
        """Answers the question of the run `asked`."""
        return self.body([], context, resume=[{"interruptId": asked.ask, "status": "resolved", "payload": payload}],
                         **how)

    def give(self, asked, content, context, **how):
        """Gives the results of all calls that the run left open."""
        calls = [call for call in asked.calls if call.result is None]
        said = {"id": client.new_id(), "role": "assistant", "toolCalls": [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in calls]}
        results = [{"id": client.new_id(), "role": "tool", "toolCallId": call.id, "content": content}
                   for call in calls]
        return self.body([said, *results], context, **how)

    def check(self, frames):
        chat_checks.AgUi(self.newer).check(frames)

    def take(self, run, frame):
        event, kind = frame.body, frame.body["type"]
        if kind == "RUN_STARTED":
            run.run = event["runId"]
        elif kind == "TEXT_MESSAGE_START":
            run.texts.append("")
        elif kind == "TEXT_MESSAGE_CONTENT":
            run.texts[-1:] = [(run.texts or [""])[-1] + event["delta"]]
        elif kind == "TOOL_CALL_START":
            run.calls.append(Call(event["toolCallId"], event["toolCallName"]))
        elif kind == "TOOL_CALL_ARGS" and run.calls:
            run.call(event["toolCallId"]).arguments += event["delta"]
        elif kind == "TOOL_CALL_RESULT" and run.calls:
            run.call(event["toolCallId"]).result = event["content"]
        elif kind == "RUN_ERROR":
            run.ending = "canceled" if event.get("code") == "cancelled" else "failed"
            run.error = event
        elif kind == "RUN_FINISHED":
            outcome = event.get("outcome", {"type": "success"})
            if outcome["type"] == "interrupt":
                run.ending, run.ask = "asked", outcome["interrupts"][0]["id"]
            elif outcome["type"] == "cancelled":
                run.ending = "canceled"
            else:
                run.ending = "tool" if any(call.result is None for call in run.calls) else "completed"


class AgUi10(AgUi):
    name, newer = "AG-UI 1.0", True


class AgKit(Door):
    name, path, session = "AG-Kit", "/send-message", "conversationId"

    def body(self, messages, context=None, tools=None, **more):
        return {"messages": messages, "conversationId": context or client.new_id(),
                "tools": [self.tool(name) for name in tools or []], **more}

    def tool(self, name):
        return {"name": name, "description": name, "parameters": json.dumps({"type": "object", "properties": {}})}

    def say(self, text, context=None, **how):
        return self.body([{"role": "user", "content": text}], context, **how)

    def answer(self, asked, payload, context, **how):
        body = self.body([], context, resume={"interruptId": asked.ask, "payload": json.dumps(payload)}, **how)
        del body["messages"]
        return body

    def give(self, asked, content, context, **how):
        return self.body([{"role": "tool", "content": content, "toolCallId": call.id}
                          for call in asked.calls if call.result is None], context, **how)

    def check(self, frames):
        chat_checks.check_agkit(frames)

    def take(self, run, frame):
        if frame.data == "[DONE]":
            if run.ending is None:
                run.ending = "tool" if any(call.result is None for call in run.calls) else "completed"
            return
        event, kind = frame.body, frame.body["type"]
        if kind == "text":
            run.texts.append(event["content"])
        elif kind == "tool-call-start":
            run.calls.append(Call(event["toolCallId"], event["toolCallName"]))
        elif kind == "tool-call-args" and run.calls:
            run.call(event["toolCallId"]).arguments += event["delta"]
        elif kind == "tool-result" and run.calls:
            run.call(event["toolCallId"]).result = event["result"]
        elif kind == "interrupt":
            run.ending, run.ask = "asked", event["id"]
        elif kind == "error":
            run.ending, run.error = "failed", event


class AgentApi(Door):
    name, path, session, run_name = "Agent API", "/process", "session_id", "id"
    has_user = True
    leaving_cancels = False  # there is POST /stop
    replaced = 0             # see chat_checks

    def body(self, messages, context=None, run=None, tools=None, **more):
        body = {"input": messages, "session_id": context or client.new_id(),
                "tools": [self.tool(name) for name in tools or []], **more}
        return self.named(body, id=run, user_id=self.user)

    def tool(self, name):
        return {"type": "function", "function": {"name": name, "description": name,
                                                 "parameters": {"type": "object", "properties": {}}}}

    def say(self, text, context=None, **how):
        return self.body([{"role": "user", "type": "message", "content": [{"type": "text", "text": text}]}], context,
                         **how)

    def answer(self, asked, payload, context, **how):
        """Answers in words if the payload is a text, else with the approval that was asked for."""
        if isinstance(payload, str):
            return self.say(payload, context, **how)
        data = {"approval_request_id": asked.ask, **payload}
        return self.body([{"type": "mcp_approval_response", "role": "user",
                           "content": [{"type": "data", "data": data}]}], context, **how)

    def give(self, asked, content, context, **how):
        return self.body([{"type": "function_call_output", "role": "tool", "content": [
            {"type": "data", "data": {"call_id": call.id, "output": content}}]}
            for call in asked.calls if call.result is None], context, **how)

    def stop(self, context, user=None):
        url = "/stop" if self.agent is None else f"/agents/{self.agent}/stop"
        body = self.named({"session_id": context}, user_id=user or self.user)
        return self.server.http("POST", url, json.dumps(body).encode(),
                                {"Content-Type": "application/json", **self.headers})

    def check(self, frames):
        chat_checks.AgentApi(self.replaced).check(frames)

    def take(self, run, frame):
        self.take_object(run, frame.body)

    def take_object(self, run, body):
        if body["object"] == "response":
            self.take_response(run, body)
        elif body["object"] == "content":
            if body["type"] == "text" and body["delta"] and body["msg_id"] not in run.aside:
                run.texts.append(body["text"])
        elif body["status"] == "completed":
            self.take_message(run, body)
        elif body["type"] == "reasoning":
            run.aside.add(body["id"])

    def take_response(self, run, body):
        run.run = body["id"]
        if body["status"] in ("created", "in_progress"):
            return
        run.ending, run.error = body["status"], body.get("error")
        if run.ending in ("completed", "incomplete") and run.ask:
            run.ending = "asked"
        elif run.ending in ("completed", "incomplete") and any(call.result is None for call in run.calls):
            run.ending = "tool"

    def take_message(self, run, body):
        data = next((part["data"] for part in body["content"] if part["type"] == "data"), {})
        if body["type"] in ("plugin_call", "function_call"):
            run.calls.append(Call(data["call_id"], data["name"]))
            run.calls[-1].arguments = data["arguments"]
        elif body["type"] == "plugin_call_output" and run.calls:
            run.call(data["call_id"]).result = data["output"]
        elif body["type"] == "mcp_approval_request":
            run.ask = data["id"]


class AgentServer(AgentApi):
    name, path, run_name = "Agent Server", "/stream", None
    tells_asking = has_client_tools = False
    leaving_cancels = True
    response_event = "response"

    def body(self, messages, context=None, **more):
        return {"user_id": self.user or "somebody", "session_id": context or client.new_id(), "input": messages, **more}

    def say(self, text, context=None, **how):
        return self.body([{"role": "user", "content": [{"type": "text", "text": text}]}], context, **how)

    def answer(self, asked, payload, context, **how):
        return self.say(payload if isinstance(payload, str) else json.dumps(payload), context, **how)

    def check(self, frames):
        chat_checks.AgentServer(self.response_event, self.replaced).check(frames)

    def take_message(self, run, body):
        if body["object"] not in ("plugin_call", "plugin_call_output"):
            return
        data = body["content"][0]["data"]
        if body["object"] == "plugin_call":
            run.calls.append(Call(data["id"], data["name"]))
            run.calls[-1].arguments = json.dumps(data["input"])
        elif run.calls:
            run.call(data["id"]).result = "".join(part["text"] for part in data["output"])


DOORS = (AgUi, AgKit, AgentApi, AgentServer)
ALL_DOORS = (AgUi, AgUi10, AgKit, AgentApi, AgentServer)
