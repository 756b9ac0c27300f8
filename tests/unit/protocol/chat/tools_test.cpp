#include "protocol/chat/tools.h"

#include <doctest/doctest.h>

namespace tools_test {

using namespace baton;
using protocol::chat::Question;

TEST_CASE("Tools: a result's text is its string, its JSON or its error") {
  using protocol::chat::text_of;
  CHECK(text_of(task::ToolResult{"c", {R"("a\nb")"}, {}}) == "a\nb");
  CHECK(text_of(task::ToolResult{"c", {R"({"a": 1})"}, {}}) == R"({"a": 1})");
  CHECK(text_of(task::ToolResult{"c", {}, {}}) == "");
  CHECK(text_of(task::ToolResult{"c", {"1"}, "no"}) == "no");
}

TEST_CASE("Tools: calls and results are written as data parts") {
  using protocol::chat::part_of;
  CHECK(part_of(task::ToolCall{"c", "look", {R"({"q":1})"}, false}) ==
        task::Part::of_data({R"({"toolCall":{"id":"c","name":"look","arguments":{"q":1}}})"}));
  CHECK(part_of(task::ToolCall{"c", "look", {}, true}) ==
        task::Part::of_data({R"({"toolCall":{"id":"c","name":"look"}})"}));
  CHECK(part_of(protocol::chat::ClientResult{"c", {"[1]"}, {}}) ==
        task::Part::of_data({R"({"toolResult":{"id":"c","content":[1]}})"}));
  CHECK(part_of(protocol::chat::ClientResult{"c", {}, "no"}) ==
        task::Part::of_data({R"({"toolResult":{"id":"c","error":"no"}})"}));
}

TEST_CASE("Tools: a question is a tool call if the client offers the tool, except for authorisation") {
  protocol::chat::RunFacts facts;
  Question question{"q", false, false, "Sure?", {R"({"type":"boolean"})"}, {}, {}};
  CHECK_FALSE(protocol::chat::asks_by_tool(facts, question));
  facts.confirm_tool = "confirm";
  CHECK_FALSE(protocol::chat::asks_by_tool(facts, question));
  facts.tools = {R"([{"name":"paint"},{"name":"confirm"}])"};
  CHECK(protocol::chat::asks_by_tool(facts, question));
  CHECK(protocol::chat::arguments_of(question) == R"({"message":"Sure?","schema":{"type":"boolean"}})");
  question.for_auth = true;
  CHECK_FALSE(protocol::chat::asks_by_tool(facts, question));
}

TEST_CASE("Tools: a question without text gets a default one") {
  Question question;
  CHECK(protocol::chat::prompt_of(question) == "The agent needs input.");
  question.for_auth = true;
  CHECK(protocol::chat::prompt_of(question) == "The agent needs authorization.");
  question.prompt = "Log in";
  CHECK(protocol::chat::prompt_of(question) == "Log in");
}

TEST_CASE("Tools: results of client tools are found in a message") {
  task::Message message;
  message.parts = {task::Part::of_text("x"), task::Part::of_data({R"({"other":1})"}),
                   task::Part::of_data({R"({"toolResult":{"id":"a","content":{"n":1}}})"}),
                   task::Part::of_data({R"({"toolResult":{"id":"b","error":"gone"}})"}),
                   task::Part::of_data({R"({"toolResult":{"content":1}})"})};
  const auto results = protocol::chat::tool_results_in(message);
  REQUIRE(results.size() == 2);
  CHECK(results[0].id == "a");
  CHECK(results[0].content.text == R"({"n":1})");
  CHECK(results[1].error == "gone");
}

}  // namespace tools_test
