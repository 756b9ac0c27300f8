"""Answers the documents' questions as they are printed. Between two pieces of text it waits for gate-<context> and
removes it, so that each piece is a frame of its own."""
import json
import pathlib
import sys
import time

CITY = {"city": "北京"}
PAUSE = object()


def text(*pieces):
    lines = []
    for piece in pieces:
        lines += [PAUSE] * bool(lines) + [{"type": "text", "delta": piece}]
    return lines


def call(name, call_id, arguments, result=None):
    lines = [{"type": "tool-call", "id": call_id, "name": name, "arguments": arguments}]
    return lines if result is None else [*lines, {"type": "tool-result", "id": call_id, "content": result}]


DONE = [{"type": "done"}]
ANSWERS = {
    # AG-Kit
    "hi": text("Hello", " there!", " How can I help you?") + DONE,
    "Change background color to blue.": call("change-background-color", "a_b_c", {"color": "blue"}),
    "a_b_c: Background color successfully changed to: blue":
        text("I", "'ve", " successfully", " changed", " the", " background", " color", " to", " blue", " for", " you",
             ".") + DONE,
    # AG-UI
    "你好": text("你好", "!有什么可以帮你的吗?") + DONE,
    "帮我搜索本地的报告文件": call("search_local_files", "call_002", {"keyword": "报告"}),
    'call_002: ["2024年度报告.pdf", "Q3报告.docx"]': text("找到了 2 个文件:2024年度报告.pdf 和 Q3报告.docx") + DONE,
    "北京天气怎么样?": text("让我查一下") + call("get_weather", "call_001", CITY, "晴天,25°C") +
        text("北京今天晴天,25°C。") + DONE,
    "今天北京天气怎么样?": text("让我查询一下") + call("get_weather", "call_123", CITY, "晴天,25°C") +
        text("北京今天是晴天,温度25°C。") + DONE,
    "删除所有临时文件": text("即将删除 15 个临时文件") +
        call("confirmAction", "call_003", {"action": "删除临时文件", "count": 15}),
    "call_003: confirmed": text("已删除 15 个临时文件。") + DONE,
    # Agent API
    "描述这张图片": text("这张", "图片显示...") + DONE,
    "hello in three pieces": text("Hello", ", ", "world") + DONE,
    "hello in four pieces": text("Hello", " ", "World", "!") + DONE,
    # Agent Server
    "现在几点了": call("tool_now", "call_dc5249a5328f40c0b92eb8b1", {}, "2025-11-12T18:05:28.058211+00:00") +
        text("现在", "是北京时间", " 2025 年", " 11 月", " 13 日", " 凌晨", " 2:05", "。") + DONE,
}


def said(message):
    """Returns the text, or the result of a client's tool."""
    for part in message["parts"]:
        result = part.get("data", {}).get("toolResult") if isinstance(part.get("data"), dict) else None
        if result:
            content = result["content"]
            return f"{result['id']}: " + (content if isinstance(content, str) else json.dumps(content, ensure_ascii=False))
        if "text" in part:
            return part["text"]
    return ""


def say(line):
    print(json.dumps(line, ensure_ascii=False), flush=True)


turn = json.loads(sys.stdin.readline())
gate = pathlib.Path(__file__).resolve().parent / f"gate-{turn['task']['contextId']}"
lines = ANSWERS.get(said(turn["message"]))
if lines is None:
    say({"type": "fail", "error": f"not in the documents: {json.dumps(turn['message'], ensure_ascii=False)}"})
    sys.exit()
offered = {tool["name"] for tool in turn.get("tools") or []}
for line in lines:
    if line is PAUSE:
        while not gate.exists():
            time.sleep(0.005)
        gate.unlink()
        continue
    say(line)
    if line["type"] == "tool-call" and line["name"] in offered:
        break  # the client runs it
