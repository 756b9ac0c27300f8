"""Asks before it acts. The answer begins the next turn, perhaps days later and in another process."""
from baton import Turn, agent


@agent
def answer(turn: Turn) -> str:
    if turn.answers is None:
        turn.ask(f"Shall I {turn.prompt}?")  # ends the turn
    if turn.prompt.strip().lower() != "yes":
        turn.reject("Nothing was done.")
    task = turn.history[0]["parts"][0]["text"]
    turn.artifact("record.txt", f"Done: {task}\n")
    return "Done."


if __name__ == "__main__":
    answer.run()
