"""The protocol's JSON, for type checkers. At run time these are plain dicts, because importing `typing` is slow."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypedDict, Union

    class Part(TypedDict, total=False):
        """Exactly one of `text`, `raw` (base64), `url` and `data` (any JSON)."""

        text: str
        raw: str
        url: str
        data: Any
        filename: str
        mediaType: str
        metadata: dict[str, Any]

    class _MessageParts(TypedDict):
        parts: list[Part]

    class Message(_MessageParts, total=False):
        messageId: str
        role: str
        taskId: str
        contextId: str
        metadata: dict[str, Any]
        extensions: list[str]
        referenceTaskIds: list[str]

    class Artifact(_MessageParts, total=False):
        artifactId: str
        name: str
        description: str
        metadata: dict[str, Any]
        extensions: list[str]

    class _TaskState(TypedDict):
        id: str
        contextId: str
        state: str

    class Task(_TaskState, total=False):
        """The task of a turn's message."""

        metadata: dict[str, Any]

    class Reference(_TaskState):
        """A task that a turn's message refers to."""

        history: list[Message]
        artifacts: list[Artifact]

    class _Status(TypedDict):
        state: str
        timestamp: str

    class Status(_Status, total=False):
        message: Message

    class _ChildTask(TypedDict):
        id: str
        status: Status

    class ChildTask(_ChildTask, total=False):
        """A task that was delegated."""

        contextId: str
        artifacts: list[Artifact]
        history: list[Message]
        metadata: dict[str, Any]

    # The content of a question, a progress message, a final message or a message to another agent.
    Words = Union[str, Message]
else:
    Part = Message = Artifact = Task = Reference = Status = ChildTask = dict
