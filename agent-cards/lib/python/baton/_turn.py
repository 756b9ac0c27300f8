"""A turn: the message to the agent, and the methods that send its output."""

from __future__ import annotations

import threading

from baton._children import Child, Result
from baton._ends import Canceled, Ended
from baton._message import Request, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType
    from typing import Any, NoReturn

    from baton._output import Lines
    from baton._shapes import Artifact, Message, Part, Reference, Task, Words


class Text(str):
    """The message's text. The call `turn.text(delta)` is the older name of `turn.say(delta)` and still works."""

    _say: Callable[[str], None]

    def __call__(self, delta: str) -> None:
        self._say(delta)

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


class Turn(Request):
    """One run of the agent, for one message.

    Any thread may call its methods. Once the turn is over, those that send output raise Ended.
    """

    def __init__(self, order: dict[str, Any], output: Lines) -> None:
        super().__init__(order["message"])
        self.id: str = order["turn"]
        self.attempt: int = order.get("attempt", 1)
        self.agent: str = order.get("agent", "")
        self.task: Task = order.get("task", {})
        # The message that began the task. It is `message` itself, unless `message` came later, as an answer does.
        self.request = Request(order.get("request") or order["message"])
        self.history: list[Message] = order.get("history", [])
        self.artifacts: list[Artifact] = order.get("artifacts", [])
        self.references: list[Reference] = order.get("references", [])
        self.tools: list[Any] = order.get("tools") or []
        self.state: Any = order.get("state")
        self.metadata: dict[str, Any] = order.get("metadata", {})
        self.extensions: list[str] = order.get("extensions", [])
        self.traceparent: str | None = order.get("traceparent")
        resume = order.get("resume", {})
        # The id of the question, or of the client's tool call, that the message answers; None if it answers neither.
        self.answers: str | None = resume.get("ask")
        # The results of the children that were delegated for this message, by the ids of the delegations.
        self.results: dict[str, Result] = {one["id"]: Result(one) for one in resume.get("results", [])}

        self._output = output
        self._speaking = threading.Lock()  # guards _ended, _names and the order of lines
        self._ended = False
        self._news = threading.Condition()  # guards _canceled and the children's results
        self._canceled = False
        self._is_alone = False  # True once Baton has closed the input, so that no results will come
        self._when_canceled: Callable[[], object] | None = None
        self._wakers: set[Callable[[], object]] = set()  # called with `_news` held, when there is news
        self._children: dict[str, Child] = {}
        self._names: dict[str, int] = {}

    # The message.

    @property
    def text(self) -> Text:
        """The message's texts, joined by line ends."""
        text = Text(text_of(self.message))
        text._say = self.say
        return text

    @property
    def prompt(self) -> str:
        """The older name of `text`."""
        return text_of(self.message)

    @property
    def answer(self) -> Any:
        """The answer to this agent's question: its data, or else its text. None if the message answers nothing."""
        if self.answers is None:
            return None
        return self.data if any("data" in part for part in self.message["parts"]) else text_of(self.message)

    @property
    def tool_results(self) -> list[ToolResult]:
        """The results of the client's tool that an earlier turn called."""
        datas = (part["data"] for part in self.message["parts"] if "data" in part)
        found = [data["toolResult"] for data in datas if isinstance(data, dict) and isinstance(data.get("toolResult"), dict)]
        # Callers may know the call by an id that is not the agent's, so a single result gets the agent's own id.
        name = self.answers if len(found) == 1 else None
        return [ToolResult(name or str(one.get("id")), one.get("content"), one.get("error")) for one in found]

    @property
    def canceled(self) -> bool:
        return self._canceled

    def check(self) -> None:
        """Raises Canceled if the turn must stop."""
        if self._canceled:
            raise Canceled

    def sleep(self, seconds: float) -> None:
        """Sleeps. Raises Canceled as soon as the turn must stop."""
        self._await(lambda: False, seconds)
        self.check()

    # The agent's output.

    def say(self, delta: str) -> None:
        """Sends a piece of the reply."""
        self._speak("text", delta)

    def reasoning(self, delta: str) -> None:
        """Sends a piece of the agent's reasoning, which is not part of the reply."""
        self._speak("reasoning", delta)

    def progress(self, fraction: float | None = None, message: Words | None = None) -> None:
        """Reports progress: a number from 0 to 1, a message, or both."""
        self._say("status", **_given(progress=fraction, message=message))

    def artifact(self, name: str = "", data: object = None, *, filename: str | None = None, media_type: str | None = None,
                 url: str | None = None, parts: Sequence[Part] | None = None, id: str | None = None,
                 description: str | None = None, metadata: dict[str, Any] | None = None, append: bool = False,
                 last_chunk: bool = False) -> None:
        """Sends a result: `data` as a file (bytes), a text (str) or JSON (any other type), a file by its URL, or parts.

        It replaces an artifact of the same id; with `append` it is added to that. The default id is made of the turn's id
        and the name.
        """
        if parts is None:
            parts = [_part(filename or name, data, media_type, url)]
        artifact = _given(artifactId=id or self._name(f"{self.id}-{name or 'artifact'}", again=bool(name)), name=name or None,
                          description=description, parts=list(parts), metadata=metadata)
        flags = _given(append=append or None, lastChunk=last_chunk or None)
        self._say("artifact", artifact=artifact, **flags)

    def call_tool(self, name: str, arguments: dict[str, Any] | None = None, *, id: str | None = None) -> ToolCall:
        """Reports a tool call. The agent runs the tool, and reports the result with the returned ToolCall.

        If the name is in `tools`, the client runs the tool: the call ends the turn, and the next turn has `tool_results`.
        """
        call = id or self._name(f"{self.id}-{self.attempt}-call")
        is_clients = any(isinstance(tool, dict) and tool.get("name") == name for tool in self.tools)
        self._say("tool-call", last=is_clients, id=call, name=name, arguments=arguments or {})
        if is_clients:
            raise Ended
        return ToolCall(self, call)

    def set_state(self, value: object) -> None:
        """Sends the whole state that is shared with the client's page. The attribute `state` does not change."""
        self._say("state", snapshot=value)

    def patch_state(self, patch: Sequence[dict[str, Any]]) -> None:
        """Sends a change of that state, as JSON Patch (RFC 6902)."""
        self._say("state", delta=list(patch))

    def step(self, name: str) -> Step:
        """Marks a step of the work: `with turn.step("pack"): ...`."""
        return Step(self, name)

    def activity(self, id: str, kind: str, content: dict[str, Any] | None = None, *,
                 patch: Sequence[dict[str, Any]] | None = None) -> None:
        """Sends something to show beside the messages, whole or as a JSON Patch of it."""
        self._say("activity", id=id, activity=kind, **_given(content=content, patch=patch and list(patch)))

    def custom(self, name: str, value: object = None) -> None:
        self._say("custom", name=name, value=value)

    def usage(self, *, provider: str | None = None, model: str | None = None, input_tokens: int | None = None,
              output_tokens: int | None = None, total_tokens: int | None = None, reasoning_tokens: int | None = None,
              cached_input_tokens: int | None = None) -> None:
        """Reports the tokens that a model used."""
        self._say("usage", usage=_given(
            provider=provider, model=model, inputTokens=input_tokens, outputTokens=output_tokens, totalTokens=total_tokens,
            reasoningTokens=reasoning_tokens, cachedInputTokens=cached_input_tokens))

    def delegate(self, agent: str, message: Words, *, id: str | None = None, task: str | None = None,
                 questions: str | None = None, detach: bool = False) -> Child:
        """Starts a child task at another agent, or continues a child (`task`) that has asked. Returns at once.

        With `questions="mine"` the child's questions are results for this agent; otherwise the caller answers them. With
        `detach=True` the child is independent of this task, and its result is its first state.

        A delegation whose result is in `results` is not repeated; its Child has that result. So a turn after `wait`, or
        another attempt, does not create children twice. The default id is made of agent and message, so that it is the
        same each time.
        """
        name = id or self._name(_delegation_name(agent, task, message))
        child = Child(self, agent, name, detach)
        if child.done:
            return child
        self._children[name] = child
        try:
            self._say("delegate", id=name, agent=agent, message=message,
                      **_given(task=task, questions=questions, detach=detach or None))
        except BaseException:
            del self._children[name]
            raise
        if self._is_alone:
            self._hear_no_more()
        return child

    # Methods that end the turn. They do not return: they raise Ended.

    def wait(self) -> None:
        """Ends the turn until its children have stopped. Returns if all have stopped. Detached children do not count.

        The next turn has the same message: the function runs again from its start, with the results.
        """
        if not all(child.done or child.detached for child in list(self._children.values())):
            self._end("wait")

    def ask(self, message: Words, *, schema: dict[str, Any] | None = None, id: str | None = None) -> NoReturn:
        """Asks the caller. The answer is the message of the next turn, whose `answers` is the question's id."""
        self._end("ask", message=message, **_given(schema=schema, id=id))

    def auth(self, message: Words, *, url: str | None = None, id: str | None = None) -> NoReturn:
        """Asks the caller to sign in somewhere. The next turn is like that after `ask`."""
        self._end("auth", message=message, **_given(url=url, id=id))

    def done(self, message: Words | None = None) -> NoReturn:
        self._end("done", **_given(message=message))

    def fail(self, error: str) -> NoReturn:
        """Fails the task. The caller sees `error`, so leave out paths and stack traces."""
        self._end("fail", error=error)

    def reject(self, reason: str = "") -> NoReturn:
        self._end("reject", reason=reason)

    def _speak(self, kind: str, delta: str) -> None:
        if not isinstance(delta, str):  # Baton would refuse the line, and could not name the line of the agent
            raise TypeError(f"a piece of text must be a str, not {type(delta).__name__}")
        self._say(kind, delta=delta)

    def _say(self, kind: str, *, last: bool = False, **members: object) -> None:
        with self._speaking:
            if self._ended:
                raise Ended
            self._output.write({"type": kind, "turn": self.id, **members})
            self._ended = last

    def _end(self, kind: str, **members: object) -> NoReturn:
        self._say(kind, last=True, **members)
        raise Ended

    def _name(self, stem: str, again: bool = False) -> str:
        """Returns the stem. Later uses of it in this turn get a number, unless `again` asks for the same name."""
        with self._speaking:
            nth = self._names[stem] = self._names.get(stem, 0) + 1
        return stem if nth == 1 or again else f"{stem}-{nth}"

    # Lines that come while the turn runs. The reading thread calls these.

    def _cancel(self) -> None:
        with self._news:
            self._canceled = True
            self._wake()
            told = self._when_canceled
        if told is not None:
            told()

    def _hear(self, result: Result) -> None:
        with self._news:
            child = self._children.get(result.id)
            if child is not None:
                child._settle(result)
            self._wake()

    def _wake(self) -> None:
        self._news.notify_all()
        for wake in self._wakers:
            wake()

    def _hear_no_more(self) -> None:
        self._is_alone = True
        for name in list(self._children):
            self._hear(Result({"id": name, "error": "nothing was heard of it"}))

    def _await(self, is_there: Callable[[], bool], timeout: float | None) -> None:
        with self._news:
            self._news.wait_for(lambda: is_there() or self._canceled, timeout)


class ToolCall:
    """A tool that the agent runs itself. Report its result or its error once."""

    def __init__(self, turn: Turn, name: str) -> None:
        self.id = name
        self._turn = turn

    def result(self, content: object) -> None:
        self._turn._say("tool-result", id=self.id, content=content)

    def error(self, text: str) -> None:
        self._turn._say("tool-result", id=self.id, error=text)


class ToolResult:
    """The result of a client's tool: `content`, which is any JSON, or an `error`."""

    def __init__(self, name: str, content: Any, error: str | None) -> None:
        self.id = name
        self.content = content
        self.error = error


class Step:
    def __init__(self, turn: Turn, name: str) -> None:
        self.name = name
        self._turn = turn

    def __enter__(self) -> Step:
        self._turn._say("step", name=self.name, phase="start")
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:  # after an exception the end of the turn closes the step
            self._turn._say("step", name=self.name, phase="finish")


def _given(**members: object) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _part(filename: str, data: object, media_type: str | None, url: str | None) -> Part:
    part: Part = {}
    if url is not None:
        part["url"] = url
    elif isinstance(data, (bytes, bytearray, memoryview)):
        from binascii import b2a_base64

        part["raw"] = b2a_base64(data, newline=False).decode()
    elif isinstance(data, str):
        part["text"] = data
    else:
        part["data"] = data
    if filename and ("raw" in part or "url" in part):
        part["filename"] = filename
    if media_type is not None:
        part["mediaType"] = media_type
    return part


def _delegation_name(agent: str, task: str | None, message: Words) -> str:
    import json
    import zlib

    content = json.dumps([agent, task, message], sort_keys=True)
    return f"{agent}-{zlib.crc32(content.encode()):08x}"
