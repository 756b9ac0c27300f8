#include <doctest/doctest.h>

#include "agents/command/from_agent.h"
#include "agents/command/to_agent.h"
#include "json/document.h"

namespace line_test {

using namespace baton;
namespace line = agents::line;

namespace {

std::string why(std::string_view text) {
  const auto decoded = line::decode(text);
  return decoded ? "" : decoded.error().for_caller;
}

template <class T>
T decoded_as(std::string_view text) {
  auto decoded = line::decode(text);
  REQUIRE_MESSAGE(decoded.has_value(), text);
  auto* message = std::get_if<T>(&decoded->message);
  REQUIRE(message != nullptr);
  return std::move(*message);
}

template <class T>
T event_of(std::string_view text) {
  return std::get<T>(decoded_as<task::EventBody>(text));
}

}  // namespace

TEST_CASE("line: a turn is one line with everything in the A2A 1.0 shape") {
  task::Message message;
  message.id = {"m"};
  message.parts = {task::Part::of_text("two\nlines"), task::Part::of_data({"{\"a\":\n1}"})};
  const task::Artifact artifact{{"a"}, 0, "n", {}, {task::Part::of_text("p")}, {}, {}};
  task::Task reference;
  reference.id = {"earlier"};
  reference.context = {"d"};
  reference.status.state = task::State::completed;
  reference.artifacts = {artifact};
  reference.history = {message};
  agents::Turn told;
  told.id = "turn-1";
  told.attempt = 2;
  told.agent = {"echo"};
  told.task = {"t"};
  told.context = {"c"};
  told.message = message;
  told.request = message;
  told.history = {message};
  told.artifacts = {artifact};
  told.references = {reference};
  told.tools = {R"([{"name":"x"}])"};
  told.task_metadata = told.client_state = told.metadata = {"{\n  \"k\": \"v\\n\"\r\n}"};
  told.extensions = {"https://example.org/e"};
  told.results = {{"d1", reference, {}}, {"d2", std::nullopt, "no such agent"}};
  told.trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const std::string text = line::encode_turn(told, "ask-1");
  CHECK(text.find('\n') == text.size() - 1);
  CHECK(text.find('\r') == std::string::npos);
  const auto document = json::Document::parse(text);
  REQUIRE(document.has_value());
  const json::Value turn = document->root();
  CHECK(turn["type"].string() == "turn");
  CHECK(turn["protocol"].integer() == 1);
  CHECK(turn["turn"].string() == "turn-1");
  CHECK(turn["attempt"].integer() == 2);
  CHECK(turn["agent"].string() == "echo");
  CHECK(turn["task"]["id"].string() == "t");
  CHECK(turn["task"]["contextId"].string() == "c");
  CHECK(turn["task"]["state"].string() == "TASK_STATE_WORKING");
  CHECK(turn["task"]["metadata"]["k"].string() == "v\n");
  CHECK(turn["message"]["messageId"].string() == "m");
  CHECK((*turn["message"]["parts"].begin())["text"].string() == "two\nlines");
  CHECK(turn["request"]["messageId"].string() == "m");
  CHECK(turn["history"].size() == 1);
  CHECK((*turn["artifacts"].begin())["artifactId"].string() == "a");
  const json::Value other = *turn["references"].begin();
  CHECK(other["id"].string() == "earlier");
  CHECK(other["contextId"].string() == "d");
  CHECK(other["state"].string() == "TASK_STATE_COMPLETED");
  CHECK((*other["history"].begin())["messageId"].string() == "m");
  CHECK((*other["artifacts"].begin())["artifactId"].string() == "a");
  CHECK(turn["tools"].size() == 1);
  CHECK((*turn["extensions"].begin()).string() == "https://example.org/e");
  CHECK(turn["state"].is_object());
  CHECK(turn["metadata"].is_object());
  CHECK(turn["resume"]["ask"].string() == "ask-1");
  REQUIRE(turn["resume"]["results"].size() == 2);
  const auto results = turn["resume"]["results"];
  CHECK((*results.begin())["id"].string() == "d1");
  CHECK((*results.begin())["task"]["status"]["state"].string() == "TASK_STATE_COMPLETED");
  CHECK((*++results.begin())["error"].string() == "no such agent");
  CHECK(turn["traceparent"].string() == told.trace);
}

TEST_CASE("line: a turn without references and extensions leaves these members out") {
  agents::Turn told;
  told.message.parts = {task::Part::of_text("x")};
  const std::string text = line::encode_turn(told, {});
  CHECK(text.find("resume") == std::string::npos);
  CHECK(text.find("references") == std::string::npos);
  CHECK(text.find("extensions") == std::string::npos);
}

TEST_CASE("line: cancel, tool-result and delegate-result") {
  CHECK(line::encode_cancel("t\"1") == "{\"type\":\"cancel\",\"turn\":\"t\\\"1\"}\n");
  CHECK(line::encode_tool_result("t", {"c", {"[1,\n2]"}, {}}) ==
        "{\"type\":\"tool-result\",\"turn\":\"t\",\"id\":\"c\",\"content\":[1, 2]}\n");
  CHECK(line::encode_tool_result("t", {"c", {}, "broken"}) ==
        "{\"type\":\"tool-result\",\"turn\":\"t\",\"id\":\"c\",\"error\":\"broken\"}\n");
  CHECK(line::encode_delegate_result("t", {"d", std::nullopt, "no such agent"}) ==
        "{\"type\":\"delegate-result\",\"turn\":\"t\",\"id\":\"d\",\"error\":\"no such agent\"}\n");
  task::Task child;
  child.id = {"child"};
  child.status.state = task::State::completed;
  const auto document = json::Document::parse(line::encode_delegate_result("t", {"d", child, {}}));
  REQUIRE(document.has_value());
  CHECK(document->root()["task"]["id"].string() == "child");
  CHECK(document->root()["error"].missing());
}

TEST_CASE("line: each type of an agent's line is read") {
  CHECK(decoded_as<line::Text>(R"({"type":"text","delta":"d"})").delta == "d");
  CHECK(line::decode(R"({"type":"text","delta":"d","turn":"t"})")->turn == "t");

  const auto status = event_of<task::StatusChanged>(R"({"type":"status","message":"m","progress":0.40})");
  CHECK(status.status.state == task::State::working);
  CHECK(task::text_of(*status.status.message) == "m");
  CHECK(status.metadata.text == R"({"progress":0.40})");
  CHECK_FALSE(event_of<task::StatusChanged>(R"({"type":"status","progress":1})").status.message);

  const auto chunk = event_of<task::ArtifactChunk>(
      R"({"type":"artifact","artifact":{"artifactId":"a","name":"n","parts":[{"data":[1]}]},"append":true})");
  CHECK(chunk.artifact.id.value == "a");
  CHECK(chunk.append);
  CHECK_FALSE(chunk.last_chunk);

  const auto call =
      event_of<task::ToolCall>(R"({"type":"tool-call","id":"c","name":"n","arguments":{"x": 1}})");
  CHECK(call.arguments.text == R"({"x": 1})");
  CHECK(event_of<task::ToolCall>(R"({"type":"tool-call","id":"c","name":"n"})").arguments.text == "{}");
  CHECK(event_of<task::ToolResult>(R"({"type":"tool-result","id":"c","error":"e"})").error == "e");
  CHECK(event_of<task::StateSnapshot>(R"({"type":"state","snapshot":null})").snapshot.text == "null");
  CHECK(event_of<task::ToolCall>(R"({"type":"tool-call","id":"c","name":"n","arguments":null})")
            .arguments.text == "{}");
  CHECK(event_of<task::StateDelta>(R"({"type":"state","delta":[{"op":"remove","path":""}]})").patch.text ==
        R"([{"op":"remove","path":""}])");
  CHECK(event_of<task::Step>(R"({"type":"step","name":"s","phase":"finish"})").phase ==
        task::Step::Phase::finish);

  const auto delegate = decoded_as<line::Delegate>(
      R"({"type":"delegate","id":"d","agent":"a","message":{"role":"ROLE_AGENT","parts":[{"text":"x"}]},"task":"k"})");
  CHECK(delegate.message.role == task::Role::user);
  CHECK(delegate.task.value == "k");
  CHECK_FALSE(delegate.takes_questions);
  const std::string begin = R"({"type":"delegate","id":"d","agent":"a","message":"x",)";
  CHECK(decoded_as<line::Delegate>(begin + R"("questions":"mine"})").takes_questions);
  CHECK(decoded_as<line::Delegate>(begin + R"("detach":true})").detached);

  const auto ask = decoded_as<line::Ask>(
      R"({"type":"ask","message":{"parts":[{"text":"q"}],"metadata":{"m":1}},"schema":{"type": "string"}})");
  CHECK(ask.id.empty());
  CHECK(ask.message.metadata.text == R"({"m":1})");
  CHECK(ask.message.parts[1].content == R"({"schema":{"type": "string"}})");
  CHECK(decoded_as<line::Auth>(R"({"type":"auth","message":"m","url":"https://x/"})").message.parts.size() ==
        2);
  CHECK_FALSE(decoded_as<line::Finish>(R"({"type":"done"})").message);
  CHECK(task::text_of(*decoded_as<line::Finish>(R"({"type":"done","message":"m"})").message) == "m");
  CHECK(decoded_as<line::Fail>(R"({"type":"fail","error":"e"})").error == "e");
  CHECK(decoded_as<line::Fail>(R"({"type":"fail","error":"e","detail":"why"})").detail == "why");
  CHECK(decoded_as<line::Reject>(R"({"type":"reject","reason":"r"})").reason == "r");
}

TEST_CASE("line: the error names the problem of a wrong line") {
  CHECK(line::decode("nonsense").error().code == base::ErrorCode::parse_error);
  CHECK(line::decode(R"({"type":"text","delta":"a"} x)").error().code == base::ErrorCode::parse_error);
  CHECK(line::decode("{}").error().code == base::ErrorCode::invalid_argument);
  CHECK(why("[]") == "a line must be a JSON object");
  CHECK(why("{}") == "\"type\" is missing");
  CHECK(why(R"({"type":3})") == "\"type\" must be a string");
  CHECK(why(R"({"type":"sing"})") == "unknown type \"sing\"");
  CHECK(why(R"({"type":"text"})") == "text: \"delta\" is missing");
  CHECK(why(R"({"type":"text","delta":1})") == "text: \"delta\" must be a string");
  CHECK(why(R"({"type":"text","delta":"x","turn":5})") == "text: \"turn\" must be a string");
  CHECK(why(R"({"type":"status"})") == "status: \"message\" or \"progress\" is required");
  CHECK(why(R"({"type":"status","progress":1.5})") == "status: \"progress\" must be a number from 0 to 1");
  CHECK(why(R"({"type":"status","progress":"1"})") == "status: \"progress\" must be a number from 0 to 1");
  CHECK(why(R"({"type":"status","message":4})") ==
        "status: \"message\" must be text or an object with parts");
  CHECK(why(R"({"type":"artifact"})") == "artifact: \"artifact\" is missing");
  CHECK(why(R"({"type":"artifact","artifact":{"parts":[{}]}})").starts_with("artifact: parts[0]: "));
  CHECK(why(R"({"type":"artifact","artifact":{"parts":[]},"append":1})") ==
        "artifact: \"append\" must be true or false");
  CHECK(why(R"({"type":"tool-call","id":"","name":"n"})") == "tool-call: \"id\" must not be empty");
  CHECK(why(R"({"type":"tool-result","id":"c"})") == "tool-result: \"content\" or \"error\" is required");
  CHECK(why(R"({"type":"state"})") == "state: exactly one of \"snapshot\" and \"delta\" is required");
  CHECK(why(R"({"type":"state","delta":{}})") == "state: \"delta\" must be a list of JSON Patch operations");
  CHECK(why(R"({"type":"tool-call","id":"c","name":"n","arguments":"{}"})") ==
        "tool-call: \"arguments\" must be an object");
  CHECK(why(R"({"type":"ask","message":"m","id":")" + std::string(257, 'x') + "\"}") ==
        "ask: \"id\" must not be longer than 256 bytes");
  CHECK(why(R"({"type":"step","name":"","phase":"start"})") == "step: \"name\" must not be empty");
  CHECK(why(R"({"type":"step","name":"s","phase":"x"})") ==
        "step: \"phase\" must be \"start\" or \"finish\"");
  CHECK(why(R"({"type":"delegate","id":"d","agent":"a"})") == "delegate: \"message\" is missing");
  CHECK(why(R"({"type":"delegate","id":"d","agent":"a","message":"x","questions":"yours"})") ==
        "delegate: \"questions\" must be \"mine\" or \"caller\"");
  CHECK(why(R"({"type":"delegate","id":"d","agent":"a","message":"x","detach":true,"task":"k"})") ==
        "delegate: \"detach\" is only allowed for a new child task");
  CHECK(why(R"({"type":"ask","message":"m","schema":[]})") == "ask: \"schema\" must be an object");
  CHECK(why(R"({"type":"fail"})") == "fail: \"error\" is missing");
  const std::string odd = std::string(63, 'x') + "\u20ac";
  CHECK(why(R"({"type":")" + odd + "\"}") == "unknown type \"" + std::string(63, 'x') + "\"");
  CHECK(line::decode_any(R"({"type":"sing","turn":"t"})").refused_turn == "t");
  CHECK(line::decode_any("nonsense").refused_turn.empty());
}

TEST_CASE("line: reasoning, custom events, activities and usage are read") {
  CHECK(decoded_as<line::Reasoning>(R"({"type":"reasoning","delta":"hm"})").delta == "hm");

  const auto custom = event_of<task::Custom>(R"({"type":"custom","name":"n","value":[1, 2]})");
  CHECK(custom.name == "n");
  CHECK(custom.value.text == "[1, 2]");
  CHECK(event_of<task::Custom>(R"({"type":"custom","name":"n"})").value.text == "null");

  const auto whole =
      event_of<task::Activity>(R"({"type":"activity","id":"a","activity":"PLAN","content":{"steps": []}})");
  CHECK(whole.id == "a");
  CHECK(whole.type == "PLAN");
  CHECK(whole.content.text == R"({"steps": []})");
  CHECK(whole.patch.empty());
  const auto changed = event_of<task::Activity>(
      R"({"type":"activity","id":"a","activity":"PLAN","content":null,"patch":[{"op":"remove","path":"/x"}]})");
  CHECK(changed.content.empty());
  CHECK(changed.patch.text == R"([{"op":"remove","path":"/x"}])");

  CHECK(
      event_of<task::Usage>(
          R"({"type":"usage","usage":{"outputTokens":2.0,"inputTokens":1,"model":"m","own":"x","provider":null}})")
          .used.text == R"({"model":"m","inputTokens":1,"outputTokens":2})");
  CHECK(event_of<task::Usage>(R"({"type":"usage","usage":{}})").used.text == "{}");
}

TEST_CASE("line: the error names the problem of wrong reasoning, custom events, activities and usage") {
  CHECK(why(R"({"type":"reasoning","delta":null})") == "reasoning: \"delta\" must be a string");
  CHECK(why(R"({"type":"custom","value":1})") == "custom: \"name\" is missing");
  CHECK(why(R"({"type":"activity","id":"a","content":{}})") == "activity: \"activity\" is missing");
  CHECK(why(R"({"type":"activity","activity":"PLAN","content":{}})") == "activity: \"id\" is missing");
  const std::string one_of = "activity: exactly one of \"content\" and \"patch\" is required";
  CHECK(why(R"({"type":"activity","id":"a","activity":"PLAN"})") == one_of);
  CHECK(why(R"({"type":"activity","id":"a","activity":"PLAN","content":{},"patch":[]})") == one_of);
  CHECK(why(R"({"type":"activity","id":"a","activity":"PLAN","content":[]})") ==
        "activity: \"content\" must be an object");
  CHECK(why(R"({"type":"activity","id":"a","activity":"PLAN","patch":{}})") ==
        "activity: \"patch\" must be a list of JSON Patch operations");
  CHECK(why(R"({"type":"usage"})") == "usage: \"usage\" must be an object");
  CHECK(why(R"({"type":"usage","usage":{"model":1}})") == "usage: \"model\" must be a string");
  for (const char* count : {"-1", "1.5", "\"1\"", "true", "9007199254740992", "1e400"}) {
    CHECK(why(std::string(R"({"type":"usage","usage":{"totalTokens":)") + count + "}}") ==
          "usage: \"totalTokens\" must be a whole number of at least 0");
  }
}

TEST_CASE("line: a state delta holds complete JSON Patch operations or is refused") {
  const auto delta = [](std::string_view operations) {
    return why(R"({"type":"state","delta":)" + std::string(operations) + "}");
  };
  CHECK(delta("[]") == "");
  CHECK(delta(R"([{"op":"add","path":"/a/-","value":null},{"op":"replace","path":"","value":{}},)"
              R"({"op":"test","path":"/a~0b~1c","value":1},{"op":"remove","path":"/"},)"
              R"({"op":"move","from":"/a","path":"/b"},{"op":"copy","from":"","path":"/b","own":1}])") == "");

  const std::string broken = "state: \"delta\" contains invalid operation ";
  CHECK(delta(R"([{"op":"remove","path":"/a"},1])") == broken + "1: must be an object");
  for (const char* operation : {"{}", R"({"op":"merge","path":""})", R"({"op":1,"path":""})"}) {
    CHECK(delta("[" + std::string(operation) + "]") ==
          broken + "0: \"op\" must be add, remove, replace, move, copy or test");
  }
  for (const char* path : {"1", R"("a")", R"("a/b")", R"("/~")", R"("/a~2")", R"("/~1~")", "null"}) {
    const std::string needed = "must be a JSON Pointer: empty, or beginning with /";
    CHECK(delta(R"([{"op":"remove","path":)" + std::string(path) + "}]") == broken + "0: \"path\" " + needed);
    CHECK(delta(R"([{"op":"copy","path":"","from":)" + std::string(path) + "}]") ==
          broken + "0: \"from\" " + needed);
  }
  CHECK(delta(R"([{"op":"remove"}])").starts_with(broken + "0: \"path\""));
  CHECK(delta(R"([{"op":"move","path":""}])").starts_with(broken + "0: \"from\""));
  for (const char* op : {"add", "replace", "test"}) {
    CHECK(delta(R"([{"op":")" + std::string(op) + R"(","path":"/a"}])") ==
          broken + "0: \"value\" is missing");
  }
}

}  // namespace line_test
