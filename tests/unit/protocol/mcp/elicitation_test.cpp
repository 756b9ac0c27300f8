#include "protocol/mcp/elicitation.h"

#include <doctest/doctest.h>

#include <string>

namespace baton::protocol::mcp::elicitation_test {
namespace {

task::Status asking(std::vector<task::Part> parts, task::State state = task::State::input_required) {
  task::Status status;
  status.state = state;
  status.message.emplace();
  status.message->parts = std::move(parts);
  return status;
}

struct Asked {
  std::string schema;  // of the question; empty: none
  std::string form;    // as the client is asked
  std::string content, answer;
};

void check(const Asked& one) {
  CAPTURE(one.schema);
  std::vector<task::Part> parts{task::Part::of_text("What?")};
  if (!one.schema.empty()) parts.push_back(task::Part::of_data({R"({"schema":)" + one.schema + "}"}));
  const task::Status status = asking(parts);
  const Question question{status, "q"};
  CHECK(can_ask(question, {true, true, false}));
  CHECK_FALSE(can_ask(question, {true, false, false}));
  CHECK_FALSE(can_ask({status, {}}, {true, true, false}));
  std::string text;
  json::Writer out(text);
  out.object([&] { write_input_requests(out, question); });
  CHECK(text.find(one.form) != std::string::npos);
  const std::string responses = R"({"q":{"action":"accept","content":)" + one.content + "}}";
  const auto document = json::Document::parse_view(responses);
  REQUIRE(document.has_value());
  const auto answer = read_input_response(document->root(), question);
  REQUIRE(answer.has_value());
  REQUIRE(answer->has_value());
  CHECK((*answer)->parts.front().content == one.answer);
}

TEST_CASE("MCP: a question is asked as a form of one level, and its answer is what the agent expects") {
  const std::string form = R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]})";
  const Asked all[] = {
      {"", R"("properties":{"answer":{"type":"string","title":"Answer"}})", R"({"answer":"blue"})", "blue"},
      {form, form, R"({"n":3})", R"({"n":3})"},
      {R"({"type":"boolean"})", R"("properties":{"answer":{"type":"boolean"}})", R"({"answer":true})",
       "true"},
      {R"({"type":"array","items":{"type":"string"}})",
       R"("description":"JSON that fits the schema {\"type\":\"array\")", R"({"answer":"[\"a\"]"})",
       R"(["a"])"},
      {R"({"type":"object","properties":{"s":{"type":"array","items":{"enum":["a","b"]}}}})",
       R"("properties":{"s":{"type":"array")", R"({"s":["a"]})", R"({"s":["a"]})"},
  };
  for (const Asked& one : all) check(one);
}

TEST_CASE("MCP: a form has only fields that the clients of the SDKs of TypeScript and C# take") {
  // They refuse a field without a type, an unknown format, and a list that is no choice of texts.
  const auto list_of = [](const std::string& items) {
    return R"({"type":"object","properties":{"s":{"type":"array","items":)" + items + "}}}";
  };
  const std::string as_json =
      R"("properties":{"answer":{"type":"string","title":"Answer","description":"JSON that fits)";
  const std::string titled = R"({"anyOf":[{"const":"a","title":"A"}]})";
  const Asked all[] = {
      {R"({"type":"object","properties":{"c":{"enum":["a","b"]},)"
       R"("id":{"type":"string","format":"uuid","minLength":1},"to":{"type":"string","format":"email"}}})",
       R"("properties":{"c":{"type":"string","enum":["a","b"]},"id":{"type":"string","minLength":1},)"
       R"("to":{"type":"string","format":"email"}})",
       R"({"c":"a"})", R"({"c":"a"})"},
      {R"({"enum":["a","b"]})", R"("properties":{"answer":{"type":"string","enum":["a","b"]}})",
       R"({"answer":"a"})", R"("a")"},
      {R"({"type":"string","format":"time"})", R"("properties":{"answer":{"type":"string"}})",
       R"({"answer":"12:00:00Z"})", R"("12:00:00Z")"},
      {list_of(R"({"enum":["a","b"]})"), R"("items":{"type":"string","enum":["a","b"]}}})", R"({"s":["a"]})",
       R"({"s":["a"]})"},
      {list_of(titled), R"("s":{"type":"array","items":)" + titled + "}", R"({"s":["a"]})", R"({"s":["a"]})"},
      {list_of(R"({"enum":[1,2]})"), as_json, R"({"answer":"{\"s\":[1]}"})", R"({"s":[1]})"},
      {list_of(R"({"anyOf":[{"type":"integer"}]})"), as_json, R"({"answer":"{\"s\":[1]}"})", R"({"s":[1]})"},
  };
  for (const Asked& one : all) check(one);
}

TEST_CASE("MCP: a declined question becomes a cancelled answer, and answers to other questions are none") {
  const task::Status status = asking({task::Part::of_text("What?")});
  const auto read = [&](std::string_view json) {
    const auto document = json::Document::parse_view(json);
    REQUIRE(document.has_value());
    return read_input_response(document->root(), {status, "q"});
  };
  CHECK((**read(R"({"q":{"action":"decline"}})")).parts.front().content == R"({"cancelled":true})");
  CHECK_FALSE(read(R"({"other":{"action":"decline"}})")->has_value());
  CHECK_FALSE(read(R"({"q":{"action":"maybe"}})").has_value());
  CHECK_FALSE(read(R"({"q":{"action":"accept"}})").has_value());
}

TEST_CASE("MCP: a login is asked at its URL of the web, and never in a form") {
  const Abilities all{true, true, true};
  const auto login = [](std::string url) {
    return asking({task::Part::of_data({R"({"url":")" + url + R"("})"})}, task::State::auth_required);
  };
  const task::Status good = login("https://h/login"), script = login("javascript:alert(1)");
  CHECK(can_ask({good, "q"}, all));
  CHECK_FALSE(can_ask({good, "q"}, {true, true, false}));
  CHECK_FALSE(can_ask({script, "q"}, all));
  std::string text;
  json::Writer out(text);
  out.object([&] { write_elicitation(out, {good, "q"}); });
  CHECK(text.find(R"("mode":"url")") != std::string::npos);
  CHECK(text.find(R"("url":"https://h/login","elicitationId":"q")") != std::string::npos);
}

TEST_CASE("MCP: a long schema in a form is cut between two characters") {
  std::string words;
  while (words.size() < 5'000) words += "\u00e4";
  const task::Status status =
      asking({task::Part::of_data({R"({"schema":{"type":"array","description":")" + words + R"("}})"})});
  std::string text;
  json::Writer out(text);
  out.object([&] { write_elicitation(out, {status, "q"}); });
  CHECK(json::Document::parse_view(text).has_value());
}

}  // namespace
}  // namespace baton::protocol::mcp::elicitation_test
