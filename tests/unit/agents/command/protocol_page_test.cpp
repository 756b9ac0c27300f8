// The pages about the line protocol (agent-cards/LINE-PROTOCOL.md), its JSON Schema and the code must agree.
#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "agents/command/from_agent.h"
#include "agents/command/to_agent.h"
#include "base/embedded.h"
#include "json/document.h"
#include "json/schema.h"
#include "support/source_folder.h"

namespace protocol_page_test {

using namespace baton;
namespace line = agents::line;

namespace {

// The pages' examples of lines in one direction: "to" or "from".
std::vector<std::string> examples(const std::string& direction) {
  std::string page;
  for (const char* name :
       {"agent-cards/LINE-PROTOCOL.md", "agent-cards/DELEGATION.md", "agent-cards/QUESTIONS.md"}) {
    std::ifstream file(test::source_folder() / name);
    REQUIRE(file.good());
    std::ostringstream text;
    text << file.rdbuf();
    page += text.str();
  }
  const std::string begin = "```json " + direction + "\n";
  std::vector<std::string> found;
  for (std::size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at)) {
    at += begin.size();
    found.push_back(page.substr(at, page.find("```", at) - at));
  }
  return found;
}

// The schema of one of the definitions.
json::Schema schema_of(const std::string& definition) {
  const auto document = json::Document::parse(std::string(base::embedded_file("line-protocol.schema.json")));
  REQUIRE(document.has_value());
  const std::string definitions(document->root()["definitions"].raw());
  auto schema = json::Schema::parse("{\"definitions\": " + definitions +
                                    ", \"allOf\": [{\"$ref\": \"#/definitions/" + definition + "\"}]}");
  REQUIRE(schema.has_value());
  return std::move(*schema);
}

std::string type_of(const std::string& text) {
  return json::Document::parse(text)->root()["type"].str();
}

// The object with the member's value replaced, or with the member removed if the value is empty.
std::string changed(json::Value object, std::string_view member, std::string_view value) {
  std::string text;
  for (const json::Value one : object) {
    const std::string_view now = one.key() == member ? value : one.raw();
    if (now.empty()) continue;
    text += (text.empty() ? "\"" : ", \"") + std::string(one.key()) + "\": " + std::string(now);
  }
  return "{" + text + "}";
}

void check_to_agent(const std::string& text) {
  static const json::Schema schema = schema_of("toAgent");
  CAPTURE(text);
  CHECK(schema.check(text).empty());
}

}  // namespace

TEST_CASE("Line protocol page: every example of a line to the agent is valid") {
  const auto all = examples("to");
  std::set<std::string> types;
  for (const std::string& text : all) {
    check_to_agent(text);
    types.insert(type_of(text));
  }
  CHECK(types == std::set<std::string>{"turn", "cancel", "tool-result", "delegate-result"});
}

TEST_CASE("Line protocol page: every example of a line from the agent is valid, and each type has one") {
  const json::Schema schema = schema_of("fromAgent");
  std::set<std::string_view> missing;
  for (const std::string_view type : line::types()) missing.insert(type);
  for (const std::string& text : examples("from")) {
    CAPTURE(text);
    CHECK(schema.check(text).empty());
    CHECK(line::decode(text).has_value());
    missing.erase(type_of(text));
  }
  CHECK(missing.empty());
}

TEST_CASE("Line protocol schema: it refuses exactly the lines that the code refuses") {
  const json::Schema schema = schema_of("fromAgent");
  for (const std::string& text : examples("from")) {
    const auto document = json::Document::parse(text);
    for (const json::Value member : document->root()) {
      for (const std::string_view value : {"", "7", "-1", "\"\"", "\"x\"", "[]", "{}", "true"}) {
        const std::string other = changed(document->root(), member.key(), value);
        CAPTURE(other);
        CHECK(schema.check(other).empty() == line::decode(other).has_value());
      }
    }
  }
}

TEST_CASE("Line protocol schema: incomplete patches are refused, as they are by the code") {
  const json::Schema schema = schema_of("fromAgent");
  for (const std::string_view operation :
       {R"({"op": "add", "path": "/a"})", R"({"op": "add", "path": "/a", "value": null})",
        R"({"op": "move", "path": "/a"})", R"({"op": "move", "path": "/a", "from": "/b"})",
        R"({"op": "remove"})", R"({"op": "remove", "path": "/a"})", R"({"op": "dance", "path": "/a"})"}) {
    const std::string text = "{\"type\": \"state\", \"delta\": [" + std::string(operation) + "]}";
    CAPTURE(text);
    CHECK(schema.check(text).empty() == line::decode(text).has_value());
  }
}

TEST_CASE("Line protocol schema: lines that the code writes are valid") {
  task::Message message;
  message.id = {"m"};
  message.parts = {task::Part::of_text("x"), task::Part::of_data({"null"})};
  task::Artifact artifact;
  artifact.id = {"a1"};
  artifact.parts = {task::Part::of_text("p")};
  task::Task child;
  child.id = {"child"};
  child.context = {"c"};
  child.status.state = task::State::input_required;
  child.status.message = message;
  child.artifacts = {artifact};
  agents::Turn turn;
  turn.id = "t1";
  turn.agent = {"a"};
  turn.task = {"t"};
  turn.context = {"c"};
  turn.message = message;
  check_to_agent(line::encode_turn(turn, {}));
  turn.attempt = 2;
  turn.request = message;
  turn.history = {message};
  turn.artifacts = {artifact};
  turn.references = {child};
  turn.tools = {R"([{"name": "x"}])"};
  turn.task_metadata = turn.client_state = turn.metadata = {R"({"k": [1]})"};
  turn.extensions = {"e"};
  turn.results = {{"d1", child, {}}, {"d2", std::nullopt, "no such agent"}};
  turn.trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  check_to_agent(line::encode_turn(turn, "ask"));
  check_to_agent(line::encode_cancel("t1"));
  check_to_agent(line::encode_tool_result("t1", {"c", {"[1]"}, {}}));
  check_to_agent(line::encode_tool_result("t1", {"c", {}, "broken"}));
  check_to_agent(line::encode_delegate_result("t1", {"d", child, {}}));
  check_to_agent(line::encode_delegate_result("t1", {"d", std::nullopt, "no such agent"}));
}

TEST_CASE("Line protocol: a turn line begins with type, protocol and turn, before anything a caller wrote") {
  agents::Turn turn;
  turn.id = "t17-1-99";
  turn.message.parts = {task::Part::of_text("x")};
  const std::string text = line::encode_turn(turn, {});
  CHECK(text.starts_with(R"({"type":"turn","protocol":1,"turn":"t17-1-99",)"));
}

}  // namespace protocol_page_test
