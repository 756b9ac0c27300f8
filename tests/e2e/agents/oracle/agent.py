"""A worker that asks what its message means, and works on the answer until its gate, gate-<task id> or gate-all, is
open."""
from worker_loop import gates, say, serve

turns = {}  # turn: (task, answer)


def begin(order):
    text = order["message"]["parts"][0]["text"]
    if not order.get("resume", {}).get("ask"):
        say(type="text", turn=order["turn"], delta="Hm. ")
        say(type="ask", turn=order["turn"], message=f"What is {text}?")
        return
    turns[order["turn"]] = (order["task"]["id"], text)
    say(type="status", turn=order["turn"], message="thinking")


def look_at_gates():
    opened = gates()
    for turn in [turn for turn, (task, _) in turns.items() if "all" in opened or task in opened]:
        say(type="text", turn=turn, delta=f"It is {turns.pop(turn)[1]}.")
        say(type="done", turn=turn)


serve(begin, look_at_gates, turns)
