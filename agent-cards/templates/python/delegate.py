"""Delegates each line of a message to a child task, all at the same time.

Here the agent delegates to itself, and upper-cases a single line.
"""
from baton import Turn, agent


@agent
def answer(turn: Turn) -> str:
    lines = turn.text.splitlines()
    if len(lines) < 2:
        return turn.text.upper()
    children = [turn.delegate(turn.agent, line, id=f"line-{number}") for number, line in enumerate(lines)]
    return "\n".join(child.result().text for child in children)


if __name__ == "__main__":
    answer.run()
