"""Misbehaves in the way its message names."""
import json
import os
import signal
import subprocess
import sys
import time


def say(**line):
    print(json.dumps(line), flush=True)


def raw(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def flood(piece):
    while True:
        raw(piece)


def hang():
    while True:
        time.sleep(60)


def deaf():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    hang()


def grandchild():
    """Starts a process that outlives this one and holds the pipes open."""
    subprocess.Popen(["sleep", "300"])
    sys.exit(3)


def after_end():
    say(type="done", message="that was all")
    say(type="text", delta="not quite")
    say(type="fail", error="and badly")


def close_output():
    os.close(1)
    hang()


def close_input_then_done():
    sys.stdin.close()
    say(type="done", message="heard enough")


def complain():
    print("no such table: accounts", file=sys.stderr, flush=True)
    sys.exit(4)


WAYS = {
    "exit 0": lambda: sys.exit(0),
    "exit 3": lambda: sys.exit(3),
    "complain": complain,
    "signal": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "hang": hang,
    "hang in a tool": lambda: say(type="tool-call", id="call-1", name="dig") or hang(),
    "deaf": deaf,
    "grandchild": grandchild,
    "garbage": lambda: raw(b"this is not a line of the protocol\n") or hang(),
    "not utf-8": lambda: raw(b'{"type":"text","delta":"\xff\xfe"}\n') or hang(),
    "not an object": lambda: raw(b"[1,2,3]\n") or hang(),
    "no type": lambda: say(delta="x") or hang(),
    "unknown type": lambda: say(type="dance") or say(type="done", message="danced"),
    "wrong fields": lambda: say(type="text", delta=5) or hang(),
    "artifact without parts": lambda: say(type="artifact", artifact={"name": "x"}) or hang(),
    "artifact of wrong shape": lambda: say(type="artifact", artifact=[1]) or hang(),
    "delegate to nobody": lambda: say(type="delegate", id="d", agent="nobody",
                                      message={"role": "ROLE_USER", "parts": [{"text": "x"}]}) or relay(),
    "endless line": lambda: flood(b"x" * 65536),
    "endless lines": lambda: flood(b'{"type":"text","delta":"' + b"y" * 60000 + b'"}\n'),
    "endless garbage": lambda: flood(b"\n" * 65536),
    "endless errors": lambda: errors(),
    "close output": close_output,
    "close input": close_input_then_done,
    "after end": after_end,
    "deep": lambda: raw(b'{"type":"state","snapshot":' + b"[" * 5000 + b"]" * 5000 + b"}\n") or hang(),
}


def relay():
    line = json.loads(sys.stdin.readline())
    say(type="fail", error=str(line.get("error") or "no error came"))


def errors():
    while True:
        sys.stderr.write("e" * 65536)


turn = json.loads(sys.stdin.readline())
WAYS[turn["message"]["parts"][0]["text"]]()
