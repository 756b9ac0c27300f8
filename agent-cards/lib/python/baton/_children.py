"""Child tasks that a turn has delegated to other agents."""

from __future__ import annotations

from baton._ends import Canceled, Fail
from baton._message import File, data_of, files_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

    from baton._shapes import Artifact, ChildTask, Message, Part, Words
    from baton._turn import Turn

ASKS = ("TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED")


class Result:
    """The result of a delegation: the child's task, an `error`, or both."""

    def __init__(self, line: dict[str, Any]) -> None:
        self.id: str = line["id"]
        self.task: ChildTask | None = line.get("task")
        self.error: str | None = line.get("error")

    @property
    def state(self) -> str:
        """The child's state, such as TASK_STATE_COMPLETED. Empty if there is no child."""
        return self.task["status"]["state"] if self.task else ""

    @property
    def artifacts(self) -> list[Artifact]:
        return self.task.get("artifacts", []) if self.task else []

    @property
    def question(self) -> Message | None:
        """The child's question to this agent. See `questions` of Turn.delegate, and Child.answer."""
        return self.task["status"].get("message") if self.task and self.state in ASKS else None

    @property
    def text(self) -> str:
        """The child's reply, or else the text of its last message."""
        replies = ("".join(part.get("text", "") for part in artifact["parts"]) for artifact in self.artifacts)
        said = "\n".join(reply for reply in replies if reply)
        return said or text_of(self.task["status"].get("message") if self.task else None)

    @property
    def data(self) -> Any:
        """The first data of the child's artifacts, or None."""
        return data_of(self._parts())

    @property
    def files(self) -> list[File]:
        return files_of(self._parts())

    def _parts(self) -> list[Part]:
        return [part for artifact in self.artifacts for part in artifact["parts"]]


class ChildFailed(Fail):
    """A child did not complete. If uncaught, fails the turn with the agent's name and the child's error."""

    def __init__(self, agent: str, result: Result) -> None:
        super().__init__(f"{agent}: {result.error}")
        self.result = result


class Child:
    """A task that this turn has delegated, made by Turn.delegate. In an `async def` it can be awaited."""

    def __init__(self, turn: Turn, agent: str, name: str, detached: bool) -> None:
        self.id = name
        self.agent = agent
        self.detached = detached
        self._turn = turn
        self._result = turn.results.get(name)

    @property
    def done(self) -> bool:
        """True once the result has arrived, so that `result` does not wait."""
        return self._result is not None

    def result(self, timeout: float | None = None) -> Result:
        """Waits for the result, at most `timeout` seconds (None: without a limit).

        Raises ChildFailed if the child did not complete, Canceled if the turn is canceled, and TimeoutError.
        """
        self._turn._await(lambda: self._result is not None, timeout)
        result = self._result
        if result is None:
            if self._turn.canceled:
                raise Canceled
            raise TimeoutError(f"{self.agent} has not answered within {timeout} seconds")
        if result.error is not None:
            raise ChildFailed(self.agent, result)
        return result

    def answer(self, message: Words, *, id: str | None = None) -> Child:
        """Answers the child's question. The returned Child has the child's next result."""
        task = self.result().task
        if task is None:
            raise ValueError("there is no child to answer")
        return self._turn.delegate(self.agent, message, task=task["id"], id=id)

    def __await__(self) -> Generator[Any, None, Result]:
        from baton._async import heard

        return heard(self).__await__()

    def _settle(self, result: Result) -> None:
        if self._result is None:
            self._result = result
