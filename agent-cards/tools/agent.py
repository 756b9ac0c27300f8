"""Tools: an agent that calls tools, its own and the client's.

`get_weather` is its own: it runs it and tells Baton call and result. A tool in the turn's `tools` belongs to the
client: the agent tells Baton the call and ends; Baton asks the client and starts a new turn with the result.
`plan.py` has what else an agent can show.
"""

import json
import re
import sys
from pathlib import Path

from plan import plan_lines

CITIES: dict[str, dict] = json.loads(Path(__file__).with_name("weather.json").read_text("utf-8"))
ARGUMENT_TRIES_MAX = 100  # of the places in a text where a JSON object may begin


def write(line: dict) -> None:
    print(json.dumps(line), flush=True)


def send(line_type: str, **members: object) -> None:
    write({"type": line_type, **members})


def answer(text: str) -> None:
    send("text", delta=text)
    send("done")


def call_id(turn: dict) -> str:
    """An id for the turn's one tool call. Clients want ids that are new in the whole conversation."""
    return f"{turn.get('turn', 'turn')}-{turn.get('attempt', 1)}-call"


def message_text(message: dict) -> str:
    return "\n".join(part["text"] for part in message["parts"] if "text" in part)


def result_text(message: dict) -> str:
    """What the client's tool gave back, whether it came as text, as data, or as {"toolResult": ...} in data."""
    contents = []
    for part in message["parts"]:
        if "text" in part:
            contents.append(part["text"])
        elif "data" in part:
            contents.append(as_text(unwrapped(part["data"])))
    return "\n".join(contents)


def unwrapped(data: object) -> object:
    result = data.get("toolResult") if isinstance(data, dict) else None
    if not isinstance(result, dict):
        return data
    return result["content"] if "content" in result else f"error: {result.get('error')}"


def as_text(content: object) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def tool_names(tools: list) -> list[str]:
    """Names of the offered tools, longest first; {"name"} and {"function": {"name"}} are both in use."""
    names = []
    for tool in tools:
        if isinstance(tool, dict):
            function = tool.get("function")
            name = tool.get("name") or (function.get("name") if isinstance(function, dict) else None)
            if isinstance(name, str) and name:
                names.append(name)
    return sorted(names, key=len, reverse=True)


def names_it(text: str, name: str) -> bool:
    """Whether the text has the name as a whole: `map` is not named by `show_map`."""
    return re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", text, re.IGNORECASE) is not None


def arguments_in(text: str) -> dict:
    """The first JSON object in the text, or an empty one."""
    start = text.find("{")
    for _ in range(ARGUMENT_TRIES_MAX):
        if start < 0:
            break
        try:
            return json.JSONDecoder().raw_decode(text, start)[0]
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
    return {}


def city_in(text: str) -> str | None:
    for city, facts in CITIES.items():
        names = [city, *facts["also"]]
        if any(name in text if not name.isascii() else names_it(text, name) for name in names):
            return city
    return None


def weather_sentence(city: str, chinese: bool) -> str:
    facts = CITIES[city]
    if chinese:
        return (f"{facts['also'][0]}：{facts['condition_zh']}，{facts['temperature_c']} °C，"
                f"湿度 {facts['humidity_percent']}%。")
    return (f"The weather in {city}: {facts['condition']}, {facts['temperature_c']} °C, "
            f"humidity {facts['humidity_percent']} %.")


def ask_for_city(chinese: bool) -> None:
    known = "、".join(facts["also"][0] for facts in CITIES.values()) if chinese else ", ".join(CITIES)
    answer(f"请说出城市。我知道这些城市的天气：{known}。" if chinese
           else f"Please name a city. I know the weather of these: {known}.")


def answer_weather(city: str, chinese: bool, call: str, offered: list[str]) -> None:
    send("tool-call", id=call, name="get_weather", arguments={"city": city})
    if "get_weather" in offered:
        return  # the client has a tool of this name, so it is the client's to run
    content = {key: value for key, value in CITIES[city].items() if key not in ("also", "condition_zh")}
    send("tool-result", id=call, content={"city": city, **content})
    answer(weather_sentence(city, chinese))


def answer_plan(city: str, turn: dict, offered: list[str]) -> None:
    for line in plan_lines(city, CITIES[city], turn.get("state"), call_id(turn)):
        write(line)
        if line["type"] == "tool-call" and line["name"] in offered:
            return  # as above


def take_turn(turn: dict) -> None:
    message = turn["message"]
    text = message_text(message)
    offered = tool_names(turn.get("tools") or [])
    named = next((name for name in offered if names_it(text, name)), None)
    city = city_in(text)
    plans = names_it(text, "plan")
    chinese = "天气" in text
    if turn.get("resume"):
        answer(f"The tool answered: {result_text(message) or '(nothing)'}")
    elif named:
        send("tool-call", id=call_id(turn), name=named, arguments=arguments_in(text))
    elif city is None and (plans or chinese or "weather" in text.lower()):
        ask_for_city(chinese)
    elif plans:
        answer_plan(city, turn, offered)
    elif chinese or "weather" in text.lower():
        answer_weather(city, chinese, call_id(turn), offered)
    else:
        also = f" You offer these tools: {', '.join(offered)}; name one and I call it." if offered else ""
        answer("Ask me about the weather in a city, for example: weather in Berlin. Or for a plan: plan a trip to "
               f"Oslo.{also}")


def main() -> None:
    # A turn is over at once: there is nothing a cancel line could stop, and so only one line is read.
    try:
        take_turn(json.loads(sys.stdin.buffer.readline()))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
        print(f"tools: the turn was not understood: {problem!r}", file=sys.stderr)
        send("fail", error="The turn was not understood.")


if __name__ == "__main__":
    main()
