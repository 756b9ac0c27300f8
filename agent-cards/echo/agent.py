"""Echo: streams the text of the user's message back, word by word.

A worker of Baton's line protocol: one process runs many turns, several at the same time. The reading thread answers a
turn without a pause at once. A turn with `delay_ms` gets a thread of its own, so that it does not block the others.
"""

import json
import re
import signal
import sys
import threading

DELAY_MS_MAX = 5_000
WORDS_MAX = 10_000  # a longer text is sent in groups of words
LINE_BYTES_MAX = (8 << 20) + (256 << 10)  # a longer line would end the worker and all of its turns
PIECE_CHARS_MAX = 16_384  # keeps each line short, even if a "word" has megabytes

# A word with the white space after it. Each Chinese or Japanese character is a word, because these have no spaces.
WORD = re.compile(r"\s+|[\u3040-\u30ff\u3400-\u9fff]\s*|[^\s\u3040-\u30ff\u3400-\u9fff]+\s*")

# Matches the beginning of a turn line: Baton's own members, which come before all content from callers.
TURN = re.compile(rb'\{"type": ?"turn", ?"protocol": ?\d+, ?"turn": ?("[^"\\]*")')

# JSON has no Infinity and NaN, so these values raise ValueError: a caller's 1e999 fails its turn.
encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
output_lock = threading.Lock()
waiting: dict[str, threading.Event] = {}  # set an event to cancel that turn


def send(lines: list[str]) -> None:
    data = ("\n".join(lines) + "\n").encode()
    with output_lock:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def pieces(text: str) -> list[str]:
    """Cuts the text into the pieces to stream. The joined pieces are the text."""
    words = WORD.findall(text)
    if len(words) > WORDS_MAX:
        group = -(-len(words) // WORDS_MAX)
        words = ["".join(words[i : i + group]) for i in range(0, len(words), group)]
    if len(text) <= PIECE_CHARS_MAX:
        return words
    return [word[i : i + PIECE_CHARS_MAX] for word in words for i in range(0, len(word), PIECE_CHARS_MAX)]


def pause_s(turn: dict) -> float:
    """Returns the pause between words, from the message's metadata or else the request's. 0 if it is no number."""
    for metadata in (turn["message"].get("metadata"), turn.get("metadata")):
        delay = metadata.get("delay_ms") if isinstance(metadata, dict) else None
        if isinstance(delay, (int, float)) and not isinstance(delay, bool):
            return min(max(delay, 0), DELAY_MS_MAX) / 1000
    return 0


def artifact_lines(turn_id: str, parts: list[dict]) -> list[str]:
    """Returns an artifact line for each part that is not text, with the part unchanged."""
    lines = []
    others = (part for part in parts if "text" not in part)
    for number, part in enumerate(others, start=1):
        artifact = {
            # The turn's id is the same in each attempt, and so is this one.
            "artifactId": f"{turn_id}-{number}",
            "name": part.get("filename") or f"part {number}",
            "parts": [part],
        }
        lines.append(encode({"type": "artifact", "turn": turn_id, "artifact": artifact, "lastChunk": True}))
    return lines


def stream_slowly(turn_id: str, words: list[str], rest: list[str], pause: float) -> None:
    cancelled = waiting[turn_id]
    for index, line in enumerate(words):
        if cancelled.wait(pause if index else 0):
            rest = [encode({"type": "fail", "turn": turn_id, "error": "The turn was canceled."})]
            break
        send([line])
    del waiting[turn_id]
    send(rest)


def take_turn(turn: dict) -> None:
    turn_id, parts = turn["turn"], turn["message"]["parts"]
    text = "\n".join(part["text"] for part in parts if "text" in part)
    words = [encode({"type": "text", "turn": turn_id, "delta": piece}) for piece in pieces(text)]
    rest = artifact_lines(turn_id, parts) + [encode({"type": "done", "turn": turn_id})]
    # Numbers such as 1e15 and letters such as é are longer here than in the message.
    if any(len(line) > LINE_BYTES_MAX for line in rest):
        send([encode({"type": "fail", "turn": turn_id, "error": "The data are too large to be sent back."})])
        return
    pause = pause_s(turn)
    if pause and len(words) > 1:
        waiting[turn_id] = threading.Event()
        threading.Thread(target=stream_slowly, args=(turn_id, words, rest, pause)).start()
    else:
        send(words + rest)  # one write for the whole turn


def take_line(line: bytes) -> None:
    request = json.loads(line)
    if request["type"] == "turn":
        take_turn(request)
    elif request["type"] == "cancel" and request["turn"] in waiting:
        waiting[request["turn"]].set()


def fail(line: bytes) -> None:
    """Fails the turn of a line that cannot be read, because Baton waits until every turn has ended.

    JSON from a caller may exceed Python's limits: an integer of 5,000 digits does. Baton's own members come before it.
    """
    found = TURN.match(line)
    if found is None:
        return
    turn_id = json.loads(found[1])
    waiting.pop(turn_id, None)
    send([encode({"type": "fail", "turn": turn_id, "error": "This agent cannot read the message."})])


def main() -> None:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # exit silently when Baton has ended
    for line in sys.stdin.buffer:
        try:
            take_line(line)
        except Exception as problem:  # any error: fail this turn, and keep serving the others
            print(f"echo: a line was not understood: {problem!r}"[:500], file=sys.stderr, flush=True)
            fail(line)


if __name__ == "__main__":
    main()
