"""The protocol's JSON, for type checkers. At run time these are plain dicts, since `typing` takes long to load."""

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
        """What a turn's message belongs to."""

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

    # What may be said in a question, a note on progress, a last word or to another agent.
    Words = Union[str, Message]
else:
    Part = Message = Artifact = Task = Reference = Status = ChildTask = dict
