"""A small plan that shows everything that a chat page can draw beside the text.

That is reasoning, steps, a plan as an activity, a tool call, state shared with the page, and usage. All of it is made up
from `weather.json`.
"""

from typing import Any

from baton import Turn

WET = ("rain", "snow", "thunder", "fog")


def packing_list(facts: dict[str, Any]) -> list[str]:
    things = ["umbrella"] if any(word in facts["condition"] for word in WET) else ["sunglasses"]
    return [*things, "warm coat" if facts["temperature_c"] < 10 else "light jacket"]


def show_plan(turn: Turn, city: str, facts: dict[str, Any]) -> None:
    things = packing_list(facts)
    turn.reasoning(f"A trip to {city}: first look at the weather, ")
    turn.reasoning("then decide what to pack.")

    plan = f"{turn.id}-{turn.attempt}-plan"
    steps = [{"title": "Look at the weather", "status": "running"}, {"title": "Pack", "status": "waiting"}]
    turn.activity(plan, "PLAN", {"title": f"A trip to {city}", "steps": steps})

    # Keeps the page's own members of the state. The snapshot comes first, because the changes need it.
    turn.set_state({**(turn.state if isinstance(turn.state, dict) else {}), "trip": {"city": city, "pack": []}})
    with turn.step("weather"):
        turn.call_tool("packing_list", {"city": city}).result(things)
    turn.activity(plan, "PLAN", patch=[{"op": "replace", "path": "/steps/0/status", "value": "done"},
                                       {"op": "replace", "path": "/steps/1/status", "value": "running"}])

    with turn.step("pack"):
        for thing in things:
            turn.patch_state([{"op": "add", "path": "/trip/pack/-", "value": thing}])
    turn.activity(plan, "PLAN", patch=[{"op": "replace", "path": "/steps/1/status", "value": "done"}])

    answer = f"{city} has {facts['condition']} and {facts['temperature_c']} °C. Pack: {', '.join(things)}."
    turn.say(answer)
    # This agent calls no model. An agent that calls one reports the tokens that the model used.
    turn.usage(provider="none", model="weather.json", output_tokens=len(answer.split()))
