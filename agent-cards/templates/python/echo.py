"""Repeats the message, word by word."""
import re
from collections.abc import Iterator

from baton import Turn, agent


@agent
def answer(turn: Turn) -> Iterator[str]:
    yield from re.findall(r"\s*\S+|\s+$", turn.text)


if __name__ == "__main__":
    answer.run()
