"""The bench's agent as a worker; servers/deeds.mjs and embedded/deeds.cpp do the same."""
import json
import os
import select
import sys

GATE = os.environ.get("BENCH_GATE", "")
encode = json.JSONEncoder(separators=(",", ":")).encode
held = {}  # turn: whether it has sent the news


def chunk(turn, text, append, last):
    artifact = {"artifactId": "reply", "name": "reply", "parts": [{"text": text}]}
    return {"type": "artifact", "turn": turn, "artifact": artifact, "append": append, "lastChunk": last}


def lines_of(order):
    """Yields the lines that a new turn sends immediately."""
    turn = order["turn"]
    text = order["message"]["parts"][0].get("text", "")
    word, _, rest = text.partition(" ")
    if word == "hold":
        held[turn] = False
        return
    if word == "ask":
        yield {"type": "ask", "turn": turn, "message": "And now?"}
        return
    if word == "chunks":
        count = int(rest)
        for number in range(1, count + 1):
            yield chunk(turn, f"chunk {number} ", number > 1, number == count)
    else:
        yield chunk(turn, text, False, True)
    yield {"type": "done", "turn": turn}


def open_gates():
    if os.path.exists(f"{GATE}.event"):
        for turn in [turn for turn, told in held.items() if not told]:
            held[turn] = True
            yield chunk(turn, "news", False, True)
    if os.path.exists(f"{GATE}.end"):
        for turn in list(held):
            del held[turn]
            yield {"type": "done", "turn": turn}


def say(lines):
    data = "".join(encode(line) + "\n" for line in lines).encode()
    while data:
        data = data[os.write(1, data):]


def main():
    rest = b""
    while True:
        if select.select([0], [], [], 0.005 if held else None)[0]:
            read = os.read(0, 1 << 20)
            if not read:
                sys.exit()
            *lines, rest = (rest + read).split(b"\n")
            for line in lines:
                order = json.loads(line)
                if order["type"] == "turn":
                    say(lines_of(order))
                elif held.pop(order.get("turn"), None) is not None:
                    say([{"type": "fail", "turn": order["turn"], "error": "stopped"}])
        if held:
            say(open_gates())


main()
