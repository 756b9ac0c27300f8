"""Tools: an agent that calls tools, its own and the client's.

`get_weather` is its own tool: the agent runs it, and reports the call and the result. A tool in the turn's `tools`
belongs to the client: the agent reports the call, which ends the turn. Baton asks the client, and starts a new turn
with the result. `plan.py` shows everything else that an agent can send to a page.
"""

import json
import re
from pathlib import Path

from baton import Turn, agent

from plan import show_plan

CITIES: dict[str, dict] = json.loads(Path(__file__).with_name("weather.json").read_text("utf-8"))
ARGUMENT_TRIES_MAX = 100  # places in a text where a JSON object may begin


def result_text(turn: Turn) -> str:
    """Returns the result of the client's tool, which comes as text, as data, or as {"toolResult": ...} in data."""
    contents = []
    for part in turn.message["parts"]:
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
    """Returns the names of the offered tools, longest first. Clients send {"name"} or {"function": {"name"}}."""
    names = []
    for tool in tools:
        if isinstance(tool, dict):
            function = tool.get("function")
            name = tool.get("name") or (function.get("name") if isinstance(function, dict) else None)
            if isinstance(name, str) and name:
                names.append(name)
    return sorted(names, key=len, reverse=True)


def names_it(text: str, name: str) -> bool:
    """Returns True if the text has the name as a whole word: `show_map` does not name `map`."""
    return re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", text, re.IGNORECASE) is not None


def arguments_in(text: str) -> dict:
    """Returns the first JSON object in the text, or an empty one."""
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


def which_city(chinese: bool) -> str:
    known = "、".join(facts["also"][0] for facts in CITIES.values()) if chinese else ", ".join(CITIES)
    return (f"请说出城市。我知道这些城市的天气：{known}。" if chinese
            else f"Please name a city. I know the weather of these: {known}.")


def answer_weather(turn: Turn, city: str, chinese: bool) -> str:
    call = turn.call_tool("get_weather", {"city": city})  # if the client offers a tool of this name, the turn ends here
    content = {key: value for key, value in CITIES[city].items() if key not in ("also", "condition_zh")}
    call.result({"city": city, **content})
    return weather_sentence(city, chinese)


@agent
def answer(turn: Turn) -> str | None:
    text = turn.text
    offered = tool_names(turn.tools)
    named = next((name for name in offered if names_it(text, name)), None)
    city = city_in(text)
    plans = names_it(text, "plan")
    chinese = "天气" in text
    if turn.answers:
        return f"The tool answered: {result_text(turn) or '(nothing)'}"
    if named:
        turn.call_tool(named, arguments_in(text))
        return None
    if city is None and (plans or chinese or "weather" in text.lower()):
        return which_city(chinese)
    if city is not None and plans:
        show_plan(turn, city, CITIES[city])
        return None
    if city is not None and (chinese or "weather" in text.lower()):
        return answer_weather(turn, city, chinese)
    also = f" You offer these tools: {', '.join(offered)}; name one and I call it." if offered else ""
    return f"Ask me about the weather in a city, for example: weather in Berlin. Or for a plan: plan a trip to Oslo.{also}"


if __name__ == "__main__":
    answer.run()
