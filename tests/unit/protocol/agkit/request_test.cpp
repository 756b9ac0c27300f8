#include <doctest/doctest.h>

#include "protocol/chat/protocol.h"

namespace agkit_request_test {

using namespace baton;

namespace {

base::Result<protocol::chat::RunRequest> read(const std::string& body) {
  const auto document = json::Document::parse(body);
  REQUIRE_MESSAGE(document, body);
  return protocol::chat::agkit_protocol().read(document->root());
}

protocol::chat::RunRequest good(const std::string& body) {
  auto request = read(body);
  REQUIRE_MESSAGE(request, (request ? "" : request.error().for_caller));
  return std::move(*request);
}

std::string problem(const std::string& body) {
  const auto request = read(body);
  REQUIRE_MESSAGE(!request, body);
  CHECK(request.error().code == base::ErrorCode::invalid_argument);
  return request.error().for_caller;
}

}  // namespace

TEST_CASE("AG-Kit request: the seed's basic conversation is read as a message and its conversation") {
  const auto request = good(R"({
    "messages": [{"role": "user", "content": "hi"}],
    "conversationId": "2da2146d-9e7e-41f3-9515-b70557e4430c"})");
  CHECK(request.conversation.value == "2da2146d-9e7e-41f3-9515-b70557e4430c");
  CHECK(request.message.role == task::Role::user);
  CHECK(request.message.parts == std::vector{task::Part::of_text("hi")});
  CHECK(request.tools.empty());
  CHECK(request.metadata.empty());
  CHECK(request.results.empty());
  CHECK(request.answers.empty());
  CHECK_FALSE(request.history);
  CHECK(request.streams);
}

TEST_CASE("AG-Kit request: the seed's tools have their parameters parsed from JSON text") {
  const auto request = good(R"({
    "messages": [{"role": "user", "content": "Change background color to blue."}],
    "tools": [{"name": "change-background-color", "description": "Change the background color.",
      "parameters": "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\",\"properties\":{\"color\":{\"type\":\"string\"}},\"required\":[\"color\"],\"additionalProperties\":false}"}],
    "conversationId": "c7d334f7-d920-4dd3-91e0-53d695e79fc0"})");
  CHECK(
      request.tools.text ==
      R"([{"name":"change-background-color","description":"Change the background color.","parameters":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"color":{"type":"string"}},"required":["color"],"additionalProperties":false}}])");
}

TEST_CASE("AG-Kit request: parameters may be an object or missing, and other members are dropped") {
  const auto request = good(R"({"messages": [], "tools": [
    {"name": "a", "parameters": {"type": "object"}, "extra": 1}, {"name": "b", "description": null}]})");
  CHECK(request.tools.text == R"([{"name":"a","parameters":{"type": "object"}},{"name":"b"}])");
  CHECK(good(R"({"messages":[],"tools":[]})").tools.text == "[]");
  CHECK(good(R"({"messages":[],"tools":null})").tools.empty());
}

TEST_CASE("AG-Kit request: the seed's tool message is read as a result") {
  const auto request = good(R"({"messages": [{"role": "tool",
    "content": "Background color successfully changed to: blue", "toolCallId": "a_b_c"}],
    "conversationId": "c7d334f7-d920-4dd3-91e0-53d695e79fc0"})");
  REQUIRE(request.results.size() == 1);
  CHECK(request.results[0].call == "a_b_c");
  CHECK(request.results[0].content.text == R"("Background color successfully changed to: blue")");
  CHECK(request.results[0].error.empty());
  CHECK(request.message.parts.empty());
}

TEST_CASE("AG-Kit request: a result with an object or list as JSON text is parsed, other text stays text") {
  const auto content = [](const std::string& text) {
    return good(R"({"messages":[{"role":"tool","toolCallId":"x","content":")" + text + R"("}]})")
        .results.at(0)
        .content.text;
  };
  CHECK(content(R"({\"ok\": true})") == R"({"ok": true})");
  CHECK(content(R"([1])") == "[1]");
  CHECK(content("12") == R"("12")");
  CHECK(content("true") == R"("true")");
  CHECK(content("{broken") == R"("{broken")");
  CHECK(content("") == R"("")");
  // Deeper JSON could not be read inside the objects that pass it on.
  const auto nested = [](std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  CHECK(content(nested(90)) == nested(90));
  CHECK(content(nested(99)) == '"' + nested(99) + '"');
}

TEST_CASE("AG-Kit request: several results and user messages keep their order") {
  const auto request = good(R"({"messages": [
    {"role":"tool","toolCallId":"1","content":"a"},{"role":"user","content":"x"},
    {"role":"tool","toolCallId":"2","content":"b"},{"role":"user","content":"y"}]})");
  REQUIRE(request.results.size() == 2);
  CHECK(request.results[0].call == "1");
  CHECK(request.results[1].call == "2");
  CHECK(request.message.parts == std::vector{task::Part::of_text("x"), task::Part::of_text("y")});
}

TEST_CASE("AG-Kit request: system and assistant messages become metadata unchanged") {
  const auto request = good(R"({"messages": [{"role":"system","content":"Be kind."},
    {"role":"assistant","toolCalls":[{"id":"1"}]},{"role":"user","content":"x"},{"role":"developer"}]})");
  CHECK(
      request.metadata.text ==
      R"({"agkit":{"messages":[{"role":"system","content":"Be kind."},{"role":"assistant","toolCalls":[{"id":"1"}]},{"role":"developer"}]}})");
  CHECK(request.message.parts.size() == 1);
}

TEST_CASE("AG-Kit request: without messages there is nothing new") {
  const auto request = good(R"({"messages":[],"tools":[],"conversationId":"c","unknown":{"a":1}})");
  CHECK(request.message.parts.empty());
  CHECK(request.results.empty());
  CHECK(request.answers.empty());
  CHECK(request.metadata.empty());
}

TEST_CASE("AG-Kit request: a resume is an answer, with JSON text or plain text as payload") {
  const auto payload = [](const std::string& json) {
    const auto request = good(R"({"resume":{"interruptId":"int_1","payload":)" + json +
                              R"(},"tools":[],"conversationId":"c1"})");
    REQUIRE(request.answers.size() == 1);
    CHECK(request.answers[0].ask == "int_1");
    CHECK_FALSE(request.answers[0].cancelled);
    return request.answers[0].payload.text;
  };
  CHECK(payload(R"("{\"approved\":true}")") == R"({"approved":true})");
  CHECK(payload(R"("true")") == "true");
  CHECK(payload(R"("\"quoted\"")") == R"("quoted")");
  CHECK(payload(R"("yes, do it")") == R"("yes, do it")");
  CHECK(payload(R"("")") == R"("")");
  CHECK(payload(R"({"approved": false})") == R"({"approved": false})");
  CHECK(payload("null") == "null");
}

TEST_CASE("AG-Kit request: the ids of questions and calls may be as long as the server makes them") {
  const std::string ask(protocol::chat::kAskMax, 'x');
  const auto resume = [](const std::string& id) {
    return R"({"resume":{"interruptId":")" + id + R"(","payload":"x"}})";
  };
  const auto result = [](const std::string& id) {
    return R"({"messages":[{"role":"tool","content":"x","toolCallId":")" + id + R"("}]})";
  };
  CHECK(good(resume(ask)).answers.at(0).ask == ask);
  CHECK(good(result(ask)).results.at(0).call == ask);
  CHECK(problem(resume(ask + "x")) == "resume.interruptId: must not be longer than 2000 bytes");
  CHECK(problem(result(ask + "x")) == "messages[0].toolCallId: must not be longer than 2000 bytes");
}

TEST_CASE("AG-Kit request: errors name the wrong member") {
  const std::pair<const char*, const char*> cases[] = {
      {R"([])", "body: must be an object"},
      {R"({})", "messages: is missing"},
      {R"({"messages":null})", "messages: is missing"},
      {R"({"messages":{}})", "messages: must be a list of messages"},
      {R"({"messages":["hi"]})", "messages[0]: must be an object"},
      {R"({"messages":[{"content":"hi"}]})", "messages[0].role: must be a string"},
      {R"({"messages":[{"role":"user"}]})", "messages[0].content: must be a string"},
      {R"({"messages":[{"role":"user","content":"a"},{"role":"user","content":[1]}]})",
       "messages[1].content: must be a string"},
      {R"({"messages":[{"role":"tool","content":"x"}]})", "messages[0].toolCallId: must be a string"},
      {R"({"messages":[{"role":"tool","content":"x","toolCallId":""}]})",
       "messages[0].toolCallId: must not be empty"},
      {R"({"messages":[{"role":"tool","toolCallId":"x"}]})", "messages[0].content: must be a string"},
      {R"({"messages":[],"conversationId":1})", "conversationId: must be a string"},
      {R"({"messages":[],"tools":{}})", "tools: must be a list of tools"},
      {R"({"messages":[],"tools":[1]})", "tools[0]: must be an object"},
      {R"({"messages":[],"tools":[{}]})", "tools[0].name: must be a non-empty string"},
      {R"({"messages":[],"tools":[{"name":"a","description":1}]})", "tools[0].description: must be a string"},
      {R"({"messages":[],"tools":[{"name":"a"},{"name":"b","parameters":"no"}]})",
       "tools[1].parameters: must be a JSON Schema as JSON text or as an object"},
      {R"({"messages":[],"tools":[{"name":"a","parameters":"[]"}]})",
       "tools[0].parameters: must be a JSON Schema as JSON text or as an object"},
      {R"({"resume":"int_1"})", "resume: must be an object"},
      {R"({"resume":{"payload":"x"}})", "resume.interruptId: must be a string"},
      {R"({"resume":{"interruptId":"x"}})", "resume.payload: is missing"},
  };
  for (const auto& [body, why] : cases) CHECK(problem(body) == why);
  const std::string longest(protocol::chat::kIdMax, 'x');
  CHECK(good(R"({"messages":[],"conversationId":")" + longest + R"("})").conversation.value == longest);
  CHECK(problem(R"({"messages":[],"conversationId":"x)" + longest + R"("})") ==
        "conversationId: must not be longer than 256 bytes");
}

}  // namespace agkit_request_test
