"""Baton's line protocol for agents in Python. The README.md beside this folder describes it."""

from baton._agent import LINE_MAX_BYTES, Agent, agent
from baton._children import Child, ChildFailed, Result
from baton._ends import Canceled, Ended, Fail, Reject
from baton._message import File, Request
from baton._output import LineTooLong
from baton._shapes import Artifact, ChildTask, Message, Part, Reference, Task
from baton._turn import Step, ToolCall, ToolResult, Turn

__all__ = [
    "LINE_MAX_BYTES", "Agent", "Artifact", "Canceled", "Child", "ChildFailed", "ChildTask", "Ended", "Fail", "File",
    "LineTooLong", "Message", "Part", "Reference", "Reject", "Request", "Result", "Step", "Task", "ToolCall", "ToolResult",
    "Turn", "agent",
]
