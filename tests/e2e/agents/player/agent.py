"""A worker that plays the first word of its message:

end       an artifact "played: <the message>", then done
ask       a question; the next message is answered with an artifact "answered: <it>"
auth      asks for authorization; then like ask
wait      says "begun", then nothing until gate-<task id> or gate-all is open, or it is canceled
fail, reject, say    ends in that way, with the rest of the message as its text (say: done with a message)
count N   N status updates, then an artifact in N chunks with a second one between
told      an artifact with everything in the turn line
mirror    an artifact with the parts of the message (after the first)
keep      like mirror, with an artifact of its own for each message
data      an artifact whose data is no object
unknown   appends to an artifact that was never begun
speak X   streams X as text, then done; speak-ask, speak-note, speak-give, speak-say, speak-fail and
          speak-wait also do something else: a question, a note, an artifact, a last message,
          a failure, waiting as in wait
"""
from worker_loop import gates, say, serve

waiting = {}  # turn: task


def give(turn, *parts, name="played", **more):
    artifact = {"artifactId": name, "name": name, "parts": list(parts), **more}
    say(turn, type="artifact", artifact=artifact, lastChunk=True)


def text_of(order):
    return next((part["text"] for part in order["message"]["parts"] if "text" in part), "")


def count(turn, number):
    for step in range(1, number + 1):
        say(turn, type="status", message=f"step {step}", progress=step / number)
    for chunk in range(1, number + 1):
        say(turn, type="artifact", append=chunk > 1, lastChunk=chunk == number,
            artifact={"artifactId": "chunks", "name": "chunks", "parts": [{"text": f"chunk {chunk};"}]})
        if chunk == 1:
            give(turn, {"data": {"between": True}}, name="between")


def play(order):
    turn, text = order["turn"], text_of(order)
    word, _, rest = text.partition(" ")
    if order.get("resume") and word not in ("ask", "auth"):
        give(turn, {"text": f"answered: {text}"})
    elif word in ("ask", "auth"):
        say(turn, type=word, message=rest or "what then?")
        return
    elif word in ("fail", "reject"):
        say(turn, type=word, **{"error" if word == "fail" else "reason": rest or "as told"})
        return
    elif word == "wait":
        say(turn, type="status", message="begun")
        waiting[turn] = order["task"]["id"]
        return
    elif word == "say":
        say(turn, type="done", message=rest)
        return
    elif word.partition("-")[0] == "speak":
        speak(turn, order, word.partition("-")[2], rest)
        return
    elif word == "count":
        count(turn, int(rest))
    elif word == "told":
        give(turn, {"data": order}, name="told")
    elif word == "mirror":
        give(turn, *order["message"]["parts"][1:])
    elif word == "keep":
        give(turn, *order["message"]["parts"][1:], name="kept-" + order["message"]["messageId"])
    elif word == "data":
        give(turn, {"data": ["a", 1, None]}, {"data": None}, {"data": 7}, {"data": {"an": "object"}})
    elif word == "unknown":
        say(turn, type="artifact", append=True, artifact={"artifactId": "never", "parts": [{"text": "begun"}]})
    else:
        give(turn, {"text": f"played: {text}"})
    say(turn, type="done")


def speak(turn, order, how, text):
    for piece in text.split(" "):
        say(turn, type="text", delta=piece + " ")
    if how == "ask":
        say(turn, type="ask", message="and you?")
    elif how == "fail":
        say(turn, type="fail", error="as told")
    elif how == "wait":
        waiting[turn] = order["task"]["id"]
    elif how == "say":
        say(turn, type="done", message="the end")
    else:
        if how == "note":
            say(turn, type="status", message="a note")
        elif how == "give":
            give(turn, {"text": "given"})
        say(turn, type="done")


def look_at_gates():
    opened = gates()
    for turn in [turn for turn, task in waiting.items() if "all" in opened or task in opened]:
        del waiting[turn]
        give(turn, {"text": "waited"})
        say(turn, type="done")


serve(play, look_at_gates, waiting)
