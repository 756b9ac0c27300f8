"""Asks before it acts. The answer starts the next turn, perhaps days later and in another process."""
from baton import Turn, agent

# The schema of an answer. Chat pages show it as a form; Baton refuses an answer that does not match.
APPROVAL = {
    "type": "object",
    "required": ["approved"],
    "properties": {
        "approved": {"type": "boolean", "title": "Approve?"},
        "reason": {"type": "string", "title": "Why, or why not"},
    },
}


@agent
def answer(turn: Turn) -> str:
    if turn.answer is None:
        turn.ask(f"Shall I {turn.text}?", schema=APPROVAL)  # ends the turn
    if not turn.answer.get("approved"):
        turn.reject(turn.answer.get("reason") or "Nothing was done.")  # ends the turn and the task
    turn.artifact("record.txt", f"Done: {turn.request.text}\n".encode())
    return "Done."


if __name__ == "__main__":
    answer.run()
