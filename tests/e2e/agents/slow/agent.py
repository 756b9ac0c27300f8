"""A worker that says "begun" for each turn and works on it until its gate, gate-<task id> or gate-all, is open, or
until it is canceled. A message "progress N" sends N status updates first."""
from worker_loop import gates, say, serve

turns = {}  # turn: task


def begin(order):
    turns[order["turn"]] = order["task"]["id"]
    words = order["message"]["parts"][0].get("text", "").split()
    say(type="status", turn=order["turn"], message="begun")
    for number in range(int(words[1]) if words[:1] == ["progress"] else 0):
        say(type="status", turn=order["turn"], message=f"step {number}")


def look_at_gates():
    opened = gates()
    for turn in [turn for turn, task in turns.items() if "all" in opened or task in opened]:
        del turns[turn]
        say(type="artifact", turn=turn, artifact={"name": "result", "parts": [{"text": "finished"}]})
        say(type="done", turn=turn, message="finished")


serve(begin, look_at_gates, turns)
