"""Returns the one joke it knows, as an artifact."""
import json
import sys


def say(**line):
    print(json.dumps(line, ensure_ascii=False), flush=True)


turn = json.loads(sys.stdin.readline())
say(type="artifact", artifact={"name": "joke", "parts": [{"text": "为什么鸡要过马路?因为想到另一边去!"}]})
say(type="done")
