import json
import unittest

from line_agent import AGENTS, AgentTest, of_type, reply, text, turn

SHOW_MAP = {"name": "show_map", "description": "Shows a map", "parameters": "{}"}
RESUME = {"ask": "q1"}


def patched(document: dict, *patches: list) -> dict:
    """Returns the document after JSON Patch operations. Supports only the operations that the agent uses."""
    for operation in (operation for patch in patches for operation in patch):
        *parents, last = operation["path"].split("/")[1:]
        target = document
        for name in parents:
            target = target[int(name) if isinstance(target, list) else name]
        if operation["op"] == "add" and last == "-":
            target.append(operation["value"])
        elif operation["op"] == "replace" and last in target:
            target[last] = operation["value"]
        else:
            raise AssertionError(f"cannot be applied: {operation}")
    return document


class Tools(AgentTest):
    agent = "tools"

    def test_weather_calls_the_agents_own_tool_and_answers(self):
        lines = self.run_turn(turn(text("What is the weather in berlin today?")))
        self.assertEqual([line["type"] for line in lines], ["tool-call", "tool-result", "text", "done"])
        call, result = lines[:2]
        self.assertEqual((call["name"], call["arguments"]), ("get_weather", {"city": "Berlin"}))
        self.assertEqual(result["id"], call["id"])
        self.assertEqual(result["content"]["temperature_c"], 14)
        self.assertIn("Berlin: light rain, 14 °C", reply(lines))

    def test_call_ids_differ_from_turn_to_turn_and_from_attempt_to_attempt(self):
        turns = [turn(text("weather in Oslo"), turn_id="t1"), turn(text("weather in Oslo"), turn_id="t2"),
                 turn(text("weather in Oslo"), turn_id="t1", attempt=2), turn(text("plan a trip to Oslo"), turn_id="t3"),
                 turn(text("show_map"), turn_id="t4", tools=[SHOW_MAP])]
        ids = [of_type(self.run_turn(one), "tool-call")[0]["id"] for one in turns]
        self.assertEqual(len(set(ids)), len(turns))

    def test_a_plan_shows_reasoning_steps_a_call_state_and_usage(self):
        lines = self.run_turn(turn(text("Plan a trip to Oslo"), state={"user": "Ada"}))
        self.assertEqual([line["type"] for line in lines],
                         ["reasoning", "reasoning", "activity", "state", "step", "tool-call", "tool-result", "step", "activity",
                          "step", "state", "state", "step", "activity", "text", "usage", "done"])
        self.assertEqual(reply(lines), "Oslo has snow showers and 6 °C. Pack: umbrella, warm coat.")
        self.assertEqual([(line["name"], line["phase"]) for line in of_type(lines, "step")],
                         [("weather", "start"), ("weather", "finish"), ("pack", "start"), ("pack", "finish")])
        self.assertEqual(of_type(lines, "usage")[0]["usage"]["outputTokens"], 11)

    def test_what_a_plan_shows_changes_as_its_patches_say(self):
        lines = self.run_turn(turn(text("plan a trip to Cairo"), state={"user": "Ada", "trip": 1}))
        snapshot, *deltas = of_type(lines, "state")
        state = patched(snapshot["snapshot"], *(line["delta"] for line in deltas))
        self.assertEqual(state, {"user": "Ada", "trip": {"city": "Cairo", "pack": ["sunglasses", "light jacket"]}})
        shown, *changes = of_type(lines, "activity")
        self.assertEqual({line["id"] for line in changes}, {shown["id"]})
        plan = patched(shown["content"], *(line["patch"] for line in changes))
        self.assertEqual([step["status"] for step in plan["steps"]], ["done", "done"])

    def test_a_plan_begins_its_own_state_where_the_client_has_none_that_fits(self):
        for members in ({}, {"state": None}, {"state": [1]}, {"state": "x"}):
            lines = self.run_turn(turn(text("plan Oslo"), **members))
            self.assertEqual(of_type(lines, "state")[0]["snapshot"], {"trip": {"city": "Oslo", "pack": []}})

    def test_a_plan_without_a_city_asks_for_one(self):
        lines = self.run_turn(turn(text("make a plan")))
        self.assertEqual([line["type"] for line in lines], ["text", "done"])
        self.assertIn("Berlin, Cairo", reply(lines))

    def test_a_plan_leaves_a_tool_that_the_client_has_to_the_client(self):
        lines = self.run_turn(turn(text("plan Oslo"), tools=[{"name": "packing_list"}]))
        self.assertEqual(lines[-1]["type"], "tool-call")

    def test_chinese_is_answered_in_chinese(self):
        lines = self.run_turn(turn(text("北京天气怎么样？")))
        self.assertEqual(lines[0]["arguments"], {"city": "Beijing"})
        self.assertIn("北京：晴，22 °C", reply(lines))

    def test_every_city_is_found_by_all_its_names(self):
        cities = json.loads((AGENTS / "tools" / "weather.json").read_text("utf-8"))
        self.assertEqual(len(cities), 12)
        for city, facts in cities.items():
            name = facts["also"][-1]
            self.assertEqual(self.run_turn(turn(text(f"weather {name}")))[0]["arguments"], {"city": city})

    def test_an_unknown_city_is_answered_with_those_it_knows(self):
        lines = self.run_turn(turn(text("weather in Atlantis or Parisville")))
        self.assertEqual([line["type"] for line in lines], ["text", "done"])
        self.assertIn("Berlin, Cairo", reply(lines))
        self.assertIn("北京、柏林", reply(self.run_turn(turn(text("火星天气")))))

    def test_a_client_tool_that_the_text_names_is_called_with_the_texts_arguments(self):
        lines = self.run_turn(turn(text('Call show_map with {"city": "Oslo", "zoom": {"level": 3}} now'), tools=[SHOW_MAP]))
        self.assertEqual(len(lines), 1)
        self.assertEqual(lines[0]["type"], "tool-call")
        self.assertEqual((lines[0]["name"], lines[0]["arguments"]), ("show_map", {"city": "Oslo", "zoom": {"level": 3}}))

    def test_without_a_json_object_the_arguments_are_empty(self):
        for content in ("show_map", "show_map {not json}", "show_map " + "{" * 5000, 'show_map {"a":' * 5000, "show_map [1]"):
            self.assertEqual(self.run_turn(turn(text(content), tools=[SHOW_MAP]))[0]["arguments"], {})

    def test_a_tool_in_the_form_of_chat_endpoints_is_known_too(self):
        tools = [{"type": "function", "function": {"name": "pay"}}]
        self.assertEqual(self.run_turn(turn(text("please Pay"), tools=tools))[0]["name"], "pay")

    def test_a_tool_is_called_only_by_its_whole_name(self):
        lines = self.run_turn(turn(text("show_map_of Oslo"), tools=[SHOW_MAP, {"name": "map"}, {}, 3, {"name": ""}]))
        self.assertEqual([line["type"] for line in lines], ["text", "done"])
        self.assertIn("show_map, map", reply(lines))

    def test_a_client_tool_of_the_same_name_is_the_clients_to_run(self):
        lines = self.run_turn(turn(text("weather in Oslo"), tools=[{"name": "get_weather"}]))
        self.assertEqual([line["type"] for line in lines], ["tool-call"])
        self.assertEqual(lines[0]["arguments"], {"city": "Oslo"})

    def test_the_clients_result_as_text_is_in_the_answer(self):
        lines = self.run_turn(turn(text('weather "shown"\n'), tools=[SHOW_MAP], resume=RESUME))
        self.assertEqual([line["type"] for line in lines], ["text", "done"])
        self.assertIn('weather "shown"\n', reply(lines))

    def test_the_clients_result_as_data_is_in_the_answer(self):
        lines = self.run_turn(turn({"data": {"shown": True, "ort": "Köln"}}, resume=RESUME))
        self.assertIn('{"shown": true, "ort": "Köln"}', reply(lines))

    def test_a_tool_result_in_data_is_unwrapped(self):
        for result, expected in (({"id": "c1", "content": "shown"}, "answered: shown"), ({"id": "c1", "content": [1]}, "answered: [1]"),
                                 ({"id": "c1", "error": "no map"}, "answered: error: no map")):
            self.assertTrue(reply(self.run_turn(turn({"data": {"toolResult": result}}, resume=RESUME))).endswith(expected))

    def test_a_result_without_content_is_answered(self):
        self.assertIn("(nothing)", reply(self.run_turn(turn(resume=RESUME))))

    def test_anything_else_is_told_what_can_be_asked(self):
        for parts in ([text("hello")], [text("")], [{"url": "file:x"}], []):
            lines = self.run_turn(turn(*parts))
            self.assertIn("weather in Berlin", reply(lines))
            self.assertEqual(lines[-1]["type"], "done")

    def test_a_turn_that_is_not_understood_is_a_clear_failure(self):
        for parts in ([{"text": 3}], ["text"], 3):
            line = turn()
            line["message"]["parts"] = parts
            failure = {"type": "fail", "turn": "t1", "error": "The agent failed; for details, see the log for task k1."}
            [said] = self.run_turn(line)
            self.assertRegex(said.pop("detail"), r"Error: .* \(agent\.py:\d+\)$")
            self.assertEqual(said, failure)


if __name__ == "__main__":
    unittest.main()
