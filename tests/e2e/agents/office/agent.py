"""A worker for the operator's walk (operator_walk.py). The first word of a message is the command. Files in its folder
say what is broken: "archive-is-away" fails each "look", "ledger-is-locked" stops each "lock" for ever."""
import json
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
FORM = {"type": "object", "required": ["decision"],
        "properties": {"decision": {"type": "string", "enum": ["yes", "no"], "title": "Decision"}}}


def say(turn, **line):
    print(json.dumps({"turn": turn, **line}, ensure_ascii=False), flush=True)


def done(turn, text):
    say(turn, type="text", delta=text)
    say(turn, type="done")


def echo(turn, rest):
    done(turn, rest)


def book(turn, rest):
    if not rest.isdigit():
        return say(turn, type="fail", error=f"amount: {rest!r} is not a number")
    done(turn, f"{rest} euros are booked")


def sign(turn, rest):
    say(turn, type="ask", message=f"May {rest} be paid?", schema=FORM)


def enter(turn, rest):
    say(turn, type="auth", message=f"Who may see {rest}?")


def look(turn, rest):
    if (FOLDER / "archive-is-away").exists():
        return say(turn, type="fail", error="the archive does not answer")
    say(turn, type="tool-call", id="1", name="search", arguments={"words": rest})
    say(turn, type="tool-result", id="1", content={"found": 1})
    say(turn, type="usage", usage={"inputTokens": 120, "outputTokens": 40, "totalTokens": 160})
    done(turn, f"{rest} is on shelf 4")


def lock(turn, rest):
    if (FOLDER / "ledger-is-locked").exists():
        return say(turn, type="status", message="waits for the ledger")
    done(turn, f"{rest} is in the ledger")


def refuse(turn, rest):
    say(turn, type="reject", reason=f"{rest} is not our business")


def write(turn, rest):
    for paragraph in range(1, 4):
        say(turn, type="status", message=f"paragraph {paragraph}", progress=paragraph / 3)
    say(turn, type="artifact", lastChunk=True,
        artifact={"name": "letter", "parts": [{"text": rest}, {"data": {"pages": 1}}]})
    say(turn, type="done", message="The letter is written.")


def ask_child(turn, rest):
    """"give AGENT WORK" delegates the work to that agent, and takes no slot while it waits."""
    agent, _, work = rest.partition(" ")
    say(turn, type="delegate", id="child", agent=agent, message=work)
    say(turn, type="wait")


DEEDS = {"echo": echo, "book": book, "sign": sign, "enter": enter, "look": look, "lock": lock, "refuse": refuse,
         "write": write, "give": ask_child}


def begin(order):
    turn, resume = order["turn"], order.get("resume", {})
    text = "".join(part.get("text") or json.dumps(part.get("data")) for part in order["message"]["parts"])
    if resume.get("results"):
        result = resume["results"][0]
        state = result["task"]["status"]["state"] if "task" in result else result["error"]
        if state != "TASK_STATE_COMPLETED":
            return say(turn, type="fail", error=f"the child ended as {state}")
        return done(turn, "the child has done it")
    if "ask" in resume:
        return done(turn, f"The answer was {text}.")
    word, _, rest = text.partition(" ")
    DEEDS[word](turn, rest)


for line in sys.stdin:
    order = json.loads(line)
    if order["type"] == "turn":
        begin(order)
    elif order["type"] == "cancel":
        say(order["turn"], type="fail", error="stopped")
