"""A worker that does what its message says; the first word is the command, the rest is its text:

say       streams the rest
ask       streams a text, then asks the rest; the next turn answers "answered: <the answer>"
slowask   like ask, but waits for its gate between the text and the question
form      asks the rest, with a schema: an object with the boolean `approved`
tool      calls the tool of that name, and runs it itself unless the client offers it
wait      streams "begun ", then "waited" once its gate is open, or fails if it is canceled
all       sends some of everything, then asks a question
told      streams its turn line, as JSON
data      an artifact with a text, one with data
lines     writes these lines, a JSON list
auth      asks for authorization at the URL that is the rest
fail, reject, done    ends in that way, with the rest as its text

Gates: gate-<task id>, gate-<context id>, gate-all.
"""
import json
import sys

import worker_loop

APPROVED = {"type": "object", "properties": {"approved": {"type": "boolean"}}, "required": ["approved"]}
waiting = {}  # turn: (the names of its gates, what to do when one opens, and with what)


def say(turn, kind, **line):
    worker_loop.say(turn, type=kind, **line)
    sys.stdout.flush()


def content_of(message):
    """Returns the text, or the data as JSON."""
    return "".join(part["text"] if "text" in part else json.dumps(part.get("data"), ensure_ascii=False,
                                                                  sort_keys=True) for part in message["parts"])


def when_open(order, act, rest):
    waiting[order["turn"]] = ({order["task"]["id"], order["task"]["contextId"], "all"}, act, rest)


def ask(turn, rest):
    say(turn, "ask", message=rest)


def finish(turn, rest):
    say(turn, "text", delta=rest)
    say(turn, "done")


def call(turn, order, name):
    say(turn, "tool-call", id=f"call-{turn}", name=name, arguments={"place": "here"})
    if name in {tool.get("name") for tool in order.get("tools") or []}:
        return
    say(turn, "tool-result", id=f"call-{turn}", content="sunny")
    finish(turn, "it is sunny")


def some_of_everything(turn, rest):
    say(turn, "reasoning", delta="hm")
    say(turn, "reasoning", delta=", well")
    say(turn, "text", delta="first ")
    say(turn, "state", snapshot={"n": 1})
    say(turn, "text", delta="words")
    say(turn, "step", name="looking", phase="start")
    say(turn, "tool-call", id=f"call-{turn}", name="look_up", arguments={"what": "线"})
    say(turn, "tool-result", id=f"call-{turn}", content={"found": True})
    say(turn, "state", delta=[{"op": "replace", "path": "/n", "value": 2}])
    say(turn, "step", name="looking", phase="finish")
    say(turn, "custom", name="mine", value=[1, None])
    say(turn, "status", message="nearly there", progress=0.9)
    say(turn, "artifact", artifact={"artifactId": f"notes-{turn}", "name": "notes", "parts": [{"text": "a note"}]},
        lastChunk=True)
    say(turn, "activity", id=f"plan-{turn}", activity="PLAN", content={"done": 1})
    say(turn, "usage", usage={"model": "m", "inputTokens": 3, "outputTokens": 5})
    say(turn, "text", delta="last words")
    ask(turn, rest)


def told(order):
    message = {"content": content_of(order["message"]), "parts": order["message"]["parts"]}
    history = [[entry["role"], content_of(entry)] for entry in order["history"]]
    return json.dumps({"message": message, "history": history, "context": order["task"]["contextId"],
                       "tools": order.get("tools"), "state": order.get("state"), "metadata": order.get("metadata")},
                      ensure_ascii=False)


def play(order):
    turn, text = order["turn"], content_of(order["message"])
    command = next((part["text"] for part in order["message"]["parts"] if "text" in part), "")
    word, _, rest = command.partition(" ")
    if order.get("resume") and word not in ("ask", "told", "wait"):
        finish(turn, f"answered: {text}")
    elif word == "say":
        finish(turn, rest)
    elif word == "ask":
        say(turn, "text", delta="let me see. ")
        ask(turn, rest)
    elif word == "slowask":
        say(turn, "text", delta="let me see. ")
        when_open(order, ask, rest)
    elif word == "form":
        say(turn, "ask", message=rest, schema=APPROVED)
    elif word == "tool":
        call(turn, order, rest)
    elif word == "wait":
        say(turn, "text", delta="begun ")
        when_open(order, finish, "waited")
    elif word == "all":
        some_of_everything(turn, rest)
    elif word == "told":
        finish(turn, told(order))
    elif word == "data":
        say(turn, "artifact", artifact={"artifactId": f"a-{turn}", "parts": [{"text": rest}]}, lastChunk=True)
        say(turn, "artifact", artifact={"artifactId": f"b-{turn}", "parts": [{"data": {"n": 1}}]}, lastChunk=True)
        say(turn, "done")
    elif word == "lines":
        for line in json.loads(rest):
            say(turn, line.pop("type"), **line)
    elif word == "auth":
        say(turn, "auth", message="let me in", url=rest)
    elif word == "done":
        say(turn, "done", message=rest)
    elif word == "reject":
        say(turn, "reject", reason=rest)
    else:
        say(turn, "fail", error=rest or f"no such command: {text}")


def look_at_gates():
    opened = worker_loop.gates()
    for turn in [turn for turn, (names, _, _) in waiting.items() if names & opened]:
        _, act, rest = waiting.pop(turn)
        act(turn, rest)


worker_loop.serve(play, look_at_gates, waiting)
