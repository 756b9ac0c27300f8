"""Plays the lines that the card's environment has for the turn: ROUNDS is an object with a list of lines for each
question that the turn answers, and for "" if it answers none. "{name}" stands for an argument of the call. A line
{"sleep": N} waits, for as long as an argument says if N is its name; {"hold": NAME} waits for the file gate-VALUE, of
the argument's value; {"reload": true} changes the agent's own card and tells the server."""
import json
import os
import pathlib
import signal
import sys
import time


def change_card():
    path = pathlib.Path("card.json")
    card = json.loads(path.read_text(encoding="utf-8"))
    card["description"] = f"Changed at {time.time_ns()}."
    pathlib.Path("card.new").write_text(json.dumps(card), encoding="utf-8")
    os.replace("card.new", path)
    os.kill(os.getppid(), signal.SIGHUP)


turn = json.loads(sys.stdin.readline())
request = turn.get("request", turn["message"])
arguments = next((part["data"] for part in request["parts"] if "data" in part), {})
answered = turn.get("resume", {}).get("ask", "")
for line in json.loads(os.environ["ROUNDS"])[answered]:
    text = json.dumps(line)
    for name, value in arguments.items():
        text = text.replace("{" + name + "}", str(value))
    if "sleep" in line:
        time.sleep(arguments.get(line["sleep"], 0) if isinstance(line["sleep"], str) else line["sleep"])
    elif "hold" in line:
        while not pathlib.Path(f"gate-{arguments[line['hold']]}").exists():
            time.sleep(0.02)
    elif "reload" in line:
        change_card()
    else:
        print(text, flush=True)
