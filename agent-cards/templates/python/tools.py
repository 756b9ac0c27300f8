"""Adds the numbers of a message and of its files with a tool that callers see, and returns a file."""
import re

from baton import Turn, agent


@agent
def answer(turn: Turn) -> str:
    texts = [turn.text, *(file.text() for file in turn.files)]
    numbers = [int(number) for text in texts for number in re.findall(r"-?\d{1,15}", text)]
    call = turn.call_tool("add", {"numbers": numbers})
    total = sum(numbers)
    call.result({"sum": total})
    rows = "".join(f"{number}\n" for number in [*numbers, total])
    turn.artifact("sum.csv", rows.encode(), media_type="text/csv")
    return f"The sum is {total}."


if __name__ == "__main__":
    answer.run()
