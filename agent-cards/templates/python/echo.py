"""Returns what it is told, word by word."""
import re
from collections.abc import Iterator

from baton import Turn, agent


@agent
def answer(turn: Turn) -> Iterator[str]:
    yield from re.findall(r"\s*\S+|\s+$", turn.prompt)


if __name__ == "__main__":
    answer.run()
