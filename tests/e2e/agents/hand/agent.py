"""A worker that does what the first word of its message says. Each call is a line of the file `calls`: the attempt
that the message's metadata names, and the message."""
import json

from worker_loop import gates, say, serve

EXTENSION = "urn:baton:a2a:1"
held = {}  # turn: (gate, the text to say when it opens)
calls = {}  # message: how often it was received


def text_of(message):
    return "\n".join(part["text"] for part in message["parts"] if "text" in part)


def finish(turn, text):
    say(type="text", turn=turn, delta=text)
    say(type="done", turn=turn)


def begin(order):
    turn, message = order["turn"], order["message"]
    text = text_of(message)
    if order.get("resume", {}).get("ask"):
        return finish(turn, "answered " + text)
    attempt = message.get("metadata", {}).get(EXTENSION, {}).get("attempt", 0)
    with open("calls", "a", encoding="utf-8") as out:
        out.write(json.dumps([attempt, text]) + "\n")
    calls[text] = calls.get(text, 0) + 1
    word, _, rest = text.partition(" ")
    if word == "fail":
        say(type="fail", turn=turn, error=rest)
    elif word == "reject":
        say(type="reject", turn=turn, reason=rest)
    elif word == "flaky":  # flaky 2 text: fails twice
        count, _, answer = rest.partition(" ")
        if calls[text] <= int(count):
            say(type="fail", turn=turn, error="not yet")
        else:
            finish(turn, answer)
    elif word == "hold":  # hold gate text
        gate, _, answer = rest.partition(" ")
        held[turn] = (gate, answer)
        say(type="status", turn=turn, message="holding")
    elif word == "tell":  # tell gate one two: says one, and two when the gate opens
        gate, _, answer = rest.partition(" ")
        first, _, second = answer.partition(" ")
        say(type="text", turn=turn, delta=first + " ")
        held[turn] = (gate, second)
    elif word == "falter":  # falter gate one two: says one and fails when the gate opens; says two when called again
        gate, _, answer = rest.partition(" ")
        first, _, second = answer.partition(" ")
        if calls[text] > 1:
            finish(turn, second)
        else:
            say(type="text", turn=turn, delta=first)
            held[turn] = (gate, None)
    elif word == "ask":
        say(type="ask", turn=turn, message=rest)
    elif word == "file":
        say(type="artifact", turn=turn, artifact={"name": rest, "parts": [
            {"raw": "Ym9hdA==", "filename": rest, "mediaType": "text/plain"}]})
        finish(turn, "made " + rest)
    elif word == "data":
        say(type="artifact", turn=turn, artifact={"name": "data", "parts": [{"data": json.loads(rest)}]})
        say(type="done", turn=turn)
    elif word == "files":
        finish(turn, " ".join(sorted(part.get("filename", "?") for part in message["parts"] if "raw" in part)))
    elif word == "use":  # use 30 tokens
        say(type="usage", turn=turn, usage={"model": "hand", "outputTokens": int(rest)})
        finish(turn, "used " + rest)
    else:
        finish(turn, rest or word)


def look_at_gates():
    opened = gates()
    for turn in [turn for turn, (gate, _) in held.items() if gate in opened or "all" in opened]:
        text = held.pop(turn)[1]
        if text is None:
            say(type="fail", turn=turn, error="faltered")
        else:
            finish(turn, text)


serve(begin, look_at_gates, held)
