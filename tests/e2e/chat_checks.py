"""Rules that the clients of the chat protocols enforce on a whole run. Each check takes the frames with data of one
run, from its first, and raises AssertionError."""
import json

# START, the types in between, END, and the member with the span's id.
SPANS = (("TEXT_MESSAGE", "CONTENT", "messageId"), ("TOOL_CALL", "ARGS", "toolCallId"),
         ("REASONING_MESSAGE", "CONTENT", "messageId"), ("THINKING_TEXT_MESSAGE", "CONTENT", None))
OLD_TYPES = {
    "REASONING_START", "REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_END", "REASONING_END",
    "RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "STEP_STARTED", "STEP_FINISHED", "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "TEXT_MESSAGE_CHUNK", "TOOL_CALL_START", "TOOL_CALL_ARGS",
    "TOOL_CALL_END", "TOOL_CALL_CHUNK", "TOOL_CALL_RESULT", "STATE_SNAPSHOT", "STATE_DELTA", "MESSAGES_SNAPSHOT",
    "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA", "RAW", "CUSTOM", "THINKING_START", "THINKING_END",
    "THINKING_TEXT_MESSAGE_START", "THINKING_TEXT_MESSAGE_CONTENT", "THINKING_TEXT_MESSAGE_END"}


def need(condition, what, frame=None):
    if not condition:
        raise AssertionError(what if frame is None else f"{what}: {frame}")


def no_nulls(value, frame):
    """Checks members that Baton itself writes (not agents' content)."""
    for name, member in value.items():
        need(member is not None, f"{name} is null", frame)


class AgUi:
    """The client's verifier, with the stricter rules of both generations."""

    def __init__(self, newer=False):
        self.newer = newer
        self.open = {}  # (span, id)
        self.steps, self.messages, self.calls, self.results = set(), set(), {}, set()
        self.state = "before"

    def check(self, frames):
        for frame in frames:
            need(frame.event is None, "AG-UI has no event names", frame)
            need(frame.body is not None, "no event of AG-UI", frame)
            self.take(frame.body, frame)
        need(self.state == "ended", "the run has no end")

    def take(self, event, frame):
        kind = event["type"]
        no_nulls(event, frame)
        need(self.newer or kind in OLD_TYPES, "clients of 0.0.x do not know this", frame)
        need(isinstance(event.get("timestamp", 0), int), "a fraction", frame)
        if kind == "RUN_STARTED":
            need(self.state in ("before", "ended"), "a run in a run", frame)
            self.state = "open"
            return
        need(self.state != "before" or kind == "RUN_ERROR", "before RUN_STARTED", frame)
        need(self.state != "ended", "after the end", frame)
        if kind in ("RUN_FINISHED", "RUN_ERROR"):
            need(kind == "RUN_ERROR" or not (self.open or self.steps), f"still open: {self.open} {self.steps}", frame)
            self.state = "ended"
        self.span(kind, event, frame)
        self.other(kind, event, frame)

    def span(self, kind, event, frame):
        for name, inner, member in SPANS:
            key = (name, event.get(member) if member else "")
            if kind == f"{name}_START":
                need(key not in self.open, "opened twice", frame)
                self.open[key] = ""
                if name == "TOOL_CALL":
                    need(event["toolCallId"] not in self.calls, "a call id twice", frame)
                    self.calls[event["toolCallId"]] = ""
                elif member:
                    need((name, event["messageId"]) not in self.messages, "a message id twice", frame)
                    self.messages.add((name, event["messageId"]))
            elif kind in (f"{name}_{inner}", f"{name}_END"):
                need(key in self.open, "not open", frame)
                if kind.endswith("_END"):
                    text = self.open.pop(key)
                    if name == "TOOL_CALL":
                        json.loads(text)
                else:
                    need(event["delta"] != "", "an empty delta", frame)
                    self.open[key] += event["delta"]

    def other(self, kind, event, frame):
        if kind == "STEP_STARTED":
            need(event["stepName"] not in self.steps, "a step twice at once", frame)
            self.steps.add(event["stepName"])
        elif kind == "STEP_FINISHED":
            need(event["stepName"] in self.steps, "a step that was not begun", frame)
            self.steps.discard(event["stepName"])
        elif kind == "TOOL_CALL_RESULT":
            need(isinstance(event["content"], str), "a result that is no text", frame)
            need(event["messageId"] not in {name for _, name in self.messages}, "a message id twice", frame)
            need(event["messageId"] not in self.calls, "a call id as message id", frame)
        elif kind == "RUN_FINISHED" and not self.newer and "outcome" in event:
            need(set(event["outcome"]) <= {"type", "interrupts"}, "closed in 0.0.59", frame)
            need(event["outcome"]["type"] in ("success", "interrupt"), "unknown to 0.0.59", frame)


def check_agkit(frames):
    """The client's reducer: args look into the last message, which must be the assistant's."""
    need(frames and frames[-1].data == "[DONE]", "no [DONE] at the end")
    after_result, calls, ended = False, {}, set()
    for frame in frames[:-1]:
        need(frame.event is None and frame.body is not None, "no event of AG-Kit", frame)
        event, kind = frame.body, frame.body["type"]
        no_nulls(event, frame)
        call = event.get("toolCallId")
        if kind == "tool-call-start":
            need(call not in calls, "a call id twice", frame)
            calls[call], after_result = "", False
        elif kind == "tool-call-args":
            need(call in calls and call not in ended and not after_result, "args that throw", frame)
            calls[call] += event["delta"]
        elif kind == "tool-call-end":
            need(call in calls and call not in ended, "the end of no call", frame)
            json.loads(calls[call])
            ended.add(call)
        elif kind == "tool-result":
            need(call in ended and isinstance(event["result"], str), "no result of a call", frame)
            after_result = True
        elif kind == "text":
            need(isinstance(event["content"], str) and event["content"], "an empty text", frame)
            after_result = False
        else:
            need(kind in ("interrupt", "error"), "unknown", frame)
            need(kind == "error" or (isinstance(event["id"], str) and "payload" in event), "no interrupt", frame)
    need(set(calls) == ended, "calls without end")


class Numbered:
    """The rules that Agent API and Agent Server share: numbers from 0 without a gap, ids, statuses, deltas that add
    up."""

    def __init__(self, replaced=0):
        self.replaced = replaced  # messages replaced by later ones: they are not in the output
        self.open = {}            # message id: {index: text}
        self.done = []            # completed objects

    def check(self, frames):
        need(frames, "an empty run")
        for place, frame in enumerate(frames):
            need(frame.body is not None, "no object", frame)
            need(frame.body["sequence_number"] == place, f"number {place} expected", frame)
            need(frame.event == self.name_of(frame.body), "another event name", frame)
        bodies = [frame.body for frame in frames]
        first, second, last = bodies[0], bodies[1], bodies[-1]
        need((first["object"], first["status"]) == ("response", "created"), "no created response", first)
        need((second["object"], second["status"]) == ("response", "in_progress"), "not in progress", second)
        need(last["object"] == "response", "no response at the end", last)
        need(len({first["id"], second["id"], last["id"]}) == 1 and first["id"], "ids of one response differ", last)
        need(isinstance(first["created_at"], int) and first["created_at"] == last["created_at"], "created_at", last)
        for body in bodies[2:-1]:
            self.take(body)
        if last["status"] in ("completed", "incomplete"):
            need(not self.open, f"open messages at the end: {self.open}")
            kept = [done for done in self.done if done in last["output"]]
            need(last["output"] == kept, f"output {last['output']} is not in the order of {self.done}")
            need(len(self.done) - len(kept) == self.replaced, f"output {last['output']} is not {self.done}")

    def take(self, body):
        if body["object"] == "content":
            return self.content(body)
        need(body["object"] != "response", "a response in between", body)
        if body["status"] in ("created", "in_progress"):
            need(body["id"] not in {done["id"] for done in self.done}, "a message id twice", body)
            self.open.setdefault(body["id"], {})
            return None
        need(body["status"] in ("completed", "incomplete"), "no status of a message", body)
        texts = self.open.pop(body["id"], None)
        need((texts is None) == self.whole(body), "begun otherwise", body)
        for index, text in (texts or {}).items():
            part = body["content"][index]
            if part["type"] == "text":
                need(part["text"] == text, f"the deltas were {text!r}", body)
        if body["status"] == "completed":
            self.done.append(body)
        return None

    def content(self, body):
        texts = self.open.get(body["msg_id"])
        need(texts is not None, "content of no open message", body)
        index = body["index"]
        if body["type"] != "text":
            need(body["delta"] is False, "only text comes in pieces", body)
            texts[index] = None
        elif body["delta"]:
            need(body["status"] == "in_progress" and body["text"], "no delta", body)
            texts[index] = texts.get(index, "") + body["text"]
        else:
            need(body["status"] in ("completed", "incomplete") and body["text"] == texts.get(index, body["text"]),
                 f"the deltas were {texts.get(index)!r}", body)
            texts[index] = body["text"]


class AgentApi(Numbered):
    def name_of(self, body):
        return None

    def whole(self, body):
        return False


class AgentServer(Numbered):
    def __init__(self, response_event="response", replaced=0):
        super().__init__(replaced)
        self.response_event = response_event

    def name_of(self, body):
        names = {"response": self.response_event, "content": "text"}
        return names.get(body["object"], body["object"])

    def whole(self, body):
        """A tool call or its output is one frame."""
        return body["object"] != "message"

    def content(self, body):
        need(body["delta"] is True, "a naive client would append the whole text again", body)
        super().content(body)
