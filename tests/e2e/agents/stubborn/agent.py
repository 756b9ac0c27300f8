"""Says "begun" and then ignores everything, even SIGTERM."""
import json
import signal
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
input()
print(json.dumps({"type": "status", "message": "begun"}), flush=True)
while True:
    time.sleep(60)
