"""One process for many turns at the same time. It reports progress, and stops when a turn is canceled."""
from collections.abc import Iterator

from baton import Turn, agent

PAUSE_S = 0.1


@agent
def answer(turn: Turn) -> Iterator[str]:
    words = turn.text.split()
    for number, word in enumerate(words, start=1):
        turn.sleep(PAUSE_S)  # ends the turn if it is canceled
        turn.progress(number / len(words))
        yield f"{number}: {word}\n"


if __name__ == "__main__":
    answer.run()
