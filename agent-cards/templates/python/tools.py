"""Adds the numbers of a message with a tool of its own, which callers see at work."""
import re

from baton import Turn, agent


@agent
def answer(turn: Turn) -> str:
    numbers = [int(number) for number in re.findall(r"-?\d{1,15}", turn.prompt)]
    call = turn.call_tool("add", {"numbers": numbers})
    total = sum(numbers)
    call.result({"sum": total})
    return f"The sum is {total}."


if __name__ == "__main__":
    answer.run()
