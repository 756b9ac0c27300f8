"""Asks which phone, then orders it."""
import json
import sys


def say(**line):
    print(json.dumps(line, ensure_ascii=False), flush=True)


turn = json.loads(sys.stdin.readline())
if not turn.get("resume"):
    say(type="ask", message="选择手机类型(iPhone/Android)")
    sys.exit()
kind = turn["message"]["parts"][0]["text"]
said = [part.get("text") for message in turn["history"] for part in message["parts"]]
if "为我购买一部新手机" not in said:
    say(type="fail", error=f"the first message is missing from the history: {said}")
    sys.exit()
say(type="artifact", artifact={
    "name": "order-confirmation", "metadata": {},
    "parts": [{"text": f"我已经为您订购了一台新的 {kind} 设备。您的请求编号是 R12443"}]})
say(type="done")
