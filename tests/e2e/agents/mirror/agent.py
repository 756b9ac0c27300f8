"""Returns the parts of the message as an artifact, and the rest of its turn line as a data part."""
import json
import sys


def say(**line):
    print(json.dumps(line, ensure_ascii=False), flush=True)


turn = json.loads(sys.stdin.readline())
say(type="artifact", lastChunk=True, artifact={"artifactId": "parts", "name": "parts", "parts": turn["message"]["parts"]})
told = {key: turn.get(key) for key in ("attempt", "agent", "task", "history", "metadata", "tools", "resume")}
told["message"] = {key: value for key, value in turn["message"].items() if key != "parts"}
say(type="artifact", lastChunk=True, artifact={"artifactId": "told", "name": "told", "parts": [{"data": told}]})
say(type="done")
