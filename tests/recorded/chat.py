"""Requests over the chat protocols. The agent is tests/e2e/agents/chat, changed to write each
burst of events at once."""
import json

from recorded.steps import gate, http

LINES = [{"type": "reasoning", "delta": "hm"}, {"type": "text", "delta": "first"},
         {"type": "state", "snapshot": {"n": 1}}, {"type": "step", "name": "looking", "phase": "start"},
         {"type": "tool-call", "id": "look-1", "name": "look_up", "arguments": {"what": "线"}},
         {"type": "tool-result", "id": "look-1", "content": {"found": True}},
         {"type": "state", "delta": [{"op": "replace", "path": "/n", "value": 2}]},
         {"type": "step", "name": "looking", "phase": "finish"}, {"type": "custom", "name": "mine", "value": [1, None]},
         {"type": "status", "message": "nearly there", "progress": 0.9},
         {"type": "artifact", "lastChunk": True, "artifact": {"artifactId": "notes", "name": "notes",
                                                              "parts": [{"text": "a note"}]}},
         {"type": "activity", "id": "plan-1", "activity": "PLAN", "content": {"done": 1}},
         {"type": "usage", "usage": {"model": "m", "inputTokens": 3, "outputTokens": 5}},
         {"type": "text", "delta": "last"}, {"type": "done"}]
ALL = "lines " + json.dumps(LINES, ensure_ascii=False)
SCHEMA = {"type": "object", "properties": {}}


class AgUi:
    path, asked, called = "/ag-ui", "-1.outcome.interrupts.0.id", "1.toolCallId"
    more, tools = {}, [{"name": "mine", "description": "mine", "parameters": SCHEMA}]

    def body(self, context, messages, run="r", **more):
        return {"threadId": context, "runId": f"{context}-{run}", "messages": messages, "tools": [], "context": [],
                **self.more, **more}

    def say(self, context, text, **more):
        return self.body(context, [{"id": f"{context}-m{more.get('run', '')}", "role": "user", "content": text}],
            **more)

    def answer(self, context, payload):
        return self.body(context, [], run="answer", resume=[{"interruptId": "$ask", "status": "resolved",
            "payload": payload}])

    def give(self, context):
        return self.body(context, [{"id": "a", "role": "assistant", "toolCalls": [
            {"id": "$call", "type": "function", "function": {"name": "mine", "arguments": "{}"}}]},
            {"id": "b", "role": "tool", "toolCallId": "$call", "content": "the result"}], run="give", tools=self.tools)

    def rows(self):
        good = self.say("wrong", "say x")
        for name, wrong in (("threadId", 5), ("messages", {}), ("messages", [5]), ("tools", "x"), ("resume", [5]),
                            ("resume", [{"interruptId": "none", "status": "resolved", "payload": 1}])):
            yield good | {name: wrong}
        yield self.body("looked", [])


class AgUi10(AgUi):
    path, more = "/send-message", {"protocolVersion": "1.0"}


class AgKit:
    path, asked, called = "/send-message", "-2.id", "0.toolCallId"
    tools = [{"name": "mine", "description": "mine", "parameters": json.dumps(SCHEMA)}]

    def body(self, context, messages, **more):
        more.pop("run", None)
        return {"messages": messages, "conversationId": context, "tools": [], **more}

    def say(self, context, text, **more):
        return self.body(context, [{"role": "user", "content": text}], **more)

    def answer(self, context, payload):
        return {"conversationId": context, "tools": [], "resume": {"interruptId": "$ask",
            "payload": json.dumps(payload)}}

    def give(self, context):
        return self.body(context, [{"role": "tool", "content": "the result", "toolCallId": "$call"}], tools=self.tools)

    def rows(self):
        good = self.say("wrong", "say x")
        for name, wrong in (("conversationId", 5), ("messages", {}), ("messages", [5]), ("tools", "x"),
                            ("resume", {"interruptId": 5})):
            yield good | {name: wrong}


class AgentApi:
    path, asked, called = "/process", None, None
    tools = [{"type": "function", "function": {"name": "mine", "description": "mine", "parameters": SCHEMA}}]

    def body(self, context, messages, run="r", **more):
        return {"input": messages, "session_id": context, "id": f"{context}-{run}", "tools": [], **more}

    def say(self, context, text, **more):
        return self.body(context, [{"role": "user", "type": "message", "content": [{"type": "text", "text": text}]}],
            **more)

    def answer(self, context, payload):
        if isinstance(payload, str):
            return self.say(context, payload, run="answer")
        return self.body(context, [{"type": "mcp_approval_response", "role": "user", "content": [
            {"type": "data", "data": {"approval_request_id": "$ask", **payload}}]}], run="answer")

    def give(self, context):
        return self.body(context, [{"type": "function_call_output", "role": "tool", "content": [
            {"type": "data", "data": {"call_id": "$call", "output": "the result"}}]}], run="give", tools=self.tools)

    def rows(self):
        good = self.say("wrong", "say x")
        for name, wrong in (("session_id", 5), ("input", {}), ("input", [5]), ("stream", "yes"), ("id", 5),
            ("tools", "x")):
            yield good | {name: wrong}
        yield self.say("whole", "say all at once") | {"stream": False}
        yield self.say("whole2", "ask which?") | {"stream": False}


class AgentServer(AgentApi):
    path = "/stream"

    def body(self, context, messages, run="r", **more):
        return {"user_id": "somebody", "session_id": context, "input": messages, **more}

    def answer(self, context, payload):
        return self.say(context, payload if isinstance(payload, str) else json.dumps(payload), run="answer")

    def rows(self):
        good = self.say("wrong", "say x")
        for name, wrong in (("session_id", 5), ("session_id", ""), ("user_id", ""), ("input", {}), ("input", [5])):
            yield good | {name: wrong}


DOORS = {"agui": AgUi(), "agui10": AgUi10(), "agkit": AgKit(), "agent-api": AgentApi(), "agent-server": AgentServer()}


def scenes(name):
    door = DOORS[name]

    def ask(body, said="", **how):
        headers = {"Accept": "text/event-stream", **how.pop("headers", {})}
        return http("POST", f"/agents/chat-{name}{door.path}", body, said, headers=headers, **how)

    yield "runs", [
        ask(door.say("said", "say hello"), "say", keep={"first": "ids.0"}), ask(door.say("all", ALL), "all"),
        ask(door.say("failed", "fail so"), "fail"), ask(door.say("rejected", "reject it"), "reject"),
        ask(door.say("done", "done the end"), "done"), ask(door.say("data", "data a text"), "data"),
        ask(door.say("auth", "auth https://example.com/in"), "auth"),
        ask(door.say("said", "say hello"), "the same again")]
    yield "questions", [
        ask(door.say("asked", "ask tea or coffee?"), "ask", keep=door.asked and {"ask": door.asked}),
        ask(door.say("asked", "tea", run="words"), "in words"),
        *([ask(door.answer("asked", "coffee"), "answer"), ask(door.answer("asked", "coffee"), "answer again")])]
    if door.asked:
        yield "forms", [
            ask(door.say("form", "form may I?"), "form", keep={"ask": door.asked}),
            ask(door.answer("form", {"approved": "perhaps"}), "an answer that does not fit"),
            ask(door.answer("form", {"approved": True}), "an answer"),
            ask(door.answer("form", {"approved": False}), "another answer, too late")]
        yield "tools of the client", [
            ask(door.say("tool", "tool mine", tools=door.tools), "tool", keep={"call": door.called}),
            ask(door.give("tool"), "its result"), ask(door.say("tool2", "tool theirs", tools=door.tools),
            "the agent's own")]
    else:
        yield "forms", [ask(door.say("form", "form may I?"), "form"),
                        ask(door.say("form", '{"approved":true}', run="b"), "an answer in words"),
                        ask(door.say("tool", "tool mine", tools=door.tools), "tool")]
    if name == "agui10":
        return
    yield "coming back", [
        ask(door.say("back", "say hello"), "say", keep={"last": "ids.-1", "first": "ids.0", "second": "ids.1"}),
        ask(door.say("back", "say hello"), "after the second", headers={"Last-Event-ID": "$second"}),
        ask(door.say("back", "say hello"), "after the last", headers={"Last-Event-ID": "$last"}),
        ask(door.say("other", "say hello"), "of another conversation", headers={"Last-Event-ID": "$second"}),
        ask(door.say("back", "say x"), "of none", headers={"Last-Event-ID": "none:1"}),
        ask(door.say("back", "say x"), "no id", headers={"Last-Event-ID": "x"})]
    busy = [ask(door.say("busy", "say x", run="b"), "beside it")]
    if name == "agent-api":
        busy += [http("POST", f"/agents/chat-{name}/stop", {"session_id": "none"}),
                 http("POST", f"/agents/chat-{name}/stop", {}),
                 http("POST", f"/agents/chat-{name}/stop", {"session_id": "busy"})]
    else:
        busy += [gate("chat-" + name, "busy")]
    yield "a run at work", [ask(door.say("busy", "wait"), "wait", during=("begun", busy))]
    yield "what is wrong", [
        *(ask(body) for body in door.rows()),
        ask(b"{"), ask(b"[]"), ask(b""), ask(door.say("x", "say x"), headers={"Content-Type": "text/plain"}),
        http("GET", f"/agents/chat-{name}{door.path}"), http("OPTIONS", f"/agents/chat-{name}{door.path}", headers={
            "Origin": "http://localhost:3000", "Access-Control-Request-Method": "POST"}),
        ask(door.say("x", "say x"), headers={"Origin": "http://localhost:3000", "Accept": "application/json"}),
        ask(door.say("x", "say x"), headers={"Origin": "https://elsewhere.example"})]
