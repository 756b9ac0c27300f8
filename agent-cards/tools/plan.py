"""A small plan, to show what a chat page can draw beside the text: reasoning, steps, a plan as an activity, a tool
call, state shared with the page, and usage. Everything here is made up from `weather.json`."""

from collections.abc import Iterator

WET = ("rain", "snow", "thunder", "fog")


def packing_list(facts: dict) -> list[str]:
    things = ["umbrella"] if any(word in facts["condition"] for word in WET) else ["sunglasses"]
    return [*things, "warm coat" if facts["temperature_c"] < 10 else "light jacket"]


def plan_lines(city: str, facts: dict, state: object, call: str) -> Iterator[dict]:
    """The lines of a turn that plans a trip. `state` is the client's, `call` an id for the tool call."""
    things = packing_list(facts)
    yield {"type": "reasoning", "delta": f"A trip to {city}: first look at the weather, "}
    yield {"type": "reasoning", "delta": "then decide what to pack."}

    steps = [{"title": "Look at the weather", "status": "running"}, {"title": "Pack", "status": "waiting"}]
    activity = {"type": "activity", "id": f"{call}-plan", "activity": "PLAN"}
    yield {**activity, "content": {"title": f"A trip to {city}", "steps": steps}}

    # The page's own members of the state stay; a snapshot first, so that what changes has something to change.
    yield {"type": "state", "snapshot": {**(state if isinstance(state, dict) else {}), "trip": {"city": city, "pack": []}}}
    yield {"type": "step", "name": "weather", "phase": "start"}
    yield {"type": "tool-call", "id": call, "name": "packing_list", "arguments": {"city": city}}
    yield {"type": "tool-result", "id": call, "content": things}
    yield {"type": "step", "name": "weather", "phase": "finish"}
    yield {**activity, "patch": [{"op": "replace", "path": "/steps/0/status", "value": "done"},
                                 {"op": "replace", "path": "/steps/1/status", "value": "running"}]}

    yield {"type": "step", "name": "pack", "phase": "start"}
    for thing in things:
        yield {"type": "state", "delta": [{"op": "add", "path": "/trip/pack/-", "value": thing}]}
    yield {"type": "step", "name": "pack", "phase": "finish"}
    yield {**activity, "patch": [{"op": "replace", "path": "/steps/1/status", "value": "done"}]}

    answer = f"{city} has {facts['condition']} and {facts['temperature_c']} °C. Pack: {', '.join(things)}."
    yield {"type": "text", "delta": answer}
    # No model is asked here; an agent that asks one says what that used.
    yield {"type": "usage", "usage": {"provider": "none", "model": "weather.json", "outputTokens": len(answer.split())}}
    yield {"type": "done"}
