"""Answers "tell" with its environment, limits and privileges; "daemon" leaves a process behind in a session of its own,
as daemons do."""
import json
import os
import resource
import sys
import time


def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for handle in range(3):
                os.close(handle)
            time.sleep(600)
        os._exit(0)
    os.wait()


def tell():
    status = dict(line.split(":\t", 1) for line in open("/proc/self/status") if ":\t" in line)
    limits = {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in ("AS", "CPU", "NPROC", "NOFILE")}
    return {"environment": dict(os.environ), "no_new_privs": status["NoNewPrivs"].strip(), "limits": limits}


turn = json.loads(sys.stdin.readline())
if turn["message"]["parts"][0]["text"] == "daemon":
    daemon()
print(json.dumps({"type": "text", "delta": json.dumps(tell())}))
print(json.dumps({"type": "done"}))
