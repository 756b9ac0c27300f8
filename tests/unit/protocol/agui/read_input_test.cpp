#include "protocol/agui/read_input.h"

#include <doctest/doctest.h>

#include "protocol/chat/protocol.h"

namespace read_input_test {

using namespace baton;
using task::Part;
using task::Role;

namespace {

base::Result<protocol::chat::RunRequest> read(std::string body) {
  const auto document = json::Document::parse(std::move(body));
  REQUIRE(document);
  return protocol::chat::agui_protocol().read(document->root());
}

protocol::chat::RunRequest good(std::string body) {
  auto request = read(std::move(body));
  if (!request) FAIL(request.error().for_caller);
  return std::move(*request);
}

std::string complaint(std::string body) {
  const auto request = read(std::move(body));
  REQUIRE_FALSE(request);
  CHECK(request.error().code == base::ErrorCode::invalid_argument);
  return request.error().for_caller;
}

std::string with_messages(const std::string& messages) {
  return R"({"threadId":"t","runId":"r","messages":[)" + messages + "]}";
}

constexpr const char* kUser = R"({"id":"u1","role":"user","content":"Hello"})";
constexpr const char* kCalling = R"({"id":"a1","role":"assistant","toolCalls":[{"id":"c1","type":"function",)"
                                 R"("function":{"name":"look","arguments":"{\"q\":1}"}}]})";
constexpr const char* kResult = R"({"id":"t1","role":"tool","toolCallId":"c1","content":"sunny"})";

std::string list(std::initializer_list<const char*> messages) {
  std::string text;
  for (const char* message : messages) (text += text.empty() ? "" : ",") += message;
  return with_messages(text);
}

}  // namespace

TEST_CASE("RunAgentInput: the example of the protocol's document is read") {
  const auto request = good(R"({"threadId":"550e8400","runId":"run_001","parentRunId":"run_000",
    "messages":[{"id":"msg_1","role":"user","content":"How is the weather?"}],
    "tools":[{"name":"get_weather","description":"weather of a city","parameters":{"type":"object"}}],
    "context":[{"description":"place","value":"Beijing"}],"state":{"n":1},"forwardedProps":{"a":true}})");
  CHECK(request.conversation.value == "550e8400");
  CHECK(request.run == "run_001");
  CHECK(request.parent_run == "run_000");
  CHECK_FALSE(request.newer);
  CHECK(request.streams);
  CHECK(request.message.id.value == "msg_1");
  CHECK(request.message.parts == std::vector{Part::of_text("How is the weather?")});
  CHECK(request.state.text == R"({"n":1})");
  CHECK(request.tools.text ==
        R"([{"name":"get_weather","description":"weather of a city","parameters":{"type":"object"}}])");
  CHECK(request.metadata.text ==
        R"({"agui":{"context":[{"description":"place","value":"Beijing"}],"forwardedProps":{"a":true},)"
        R"("parentRunId":"run_000"}})");
  REQUIRE(request.history);
  CHECK(request.history->empty());
  CHECK(request.results.empty());
  CHECK(request.answers.empty());
}

TEST_CASE("RunAgentInput: another Baton's hops are read and hidden from the agent") {
  const auto request = good(R"({"messages":[],"forwardedProps":{"a":1,"urn:baton:a2a:1":{"hops":["n/x"]}}})");
  CHECK(request.hops == std::vector<std::string>{"n/x"});
  CHECK(request.metadata.text == R"({"agui":{"forwardedProps":{"a":1}}})");
  CHECK(good(R"({"messages":[],"forwardedProps":{"urn:baton:a2a:1":{"hops":["n/x"]}}})").metadata.empty());
  CHECK(good(R"({"messages":[],"forwardedProps":"text"})").hops.empty());
  CHECK(complaint(R"({"messages":[],"forwardedProps":{"urn:baton:a2a:1":{"hops":7}}})")
            .find("forwardedProps") != std::string::npos);
}

TEST_CASE("RunAgentInput: all members but the messages may be missing or null") {
  const auto request = good(R"({"messages":[{"role":"user","content":"Hi"}],"state":null,"tools":null,
    "context":[],"forwardedProps":{},"resume":null,"protocolVersion":null,"unknown":1})");
  CHECK(request.conversation.empty());
  CHECK(request.run.empty());
  CHECK(request.message.id.empty());
  CHECK(request.message.parts.size() == 1);
  CHECK(request.state.empty());
  CHECK(request.tools.empty());
  CHECK(request.metadata.empty());
}

TEST_CASE("RunAgentInput: a client of 1.0 or later is recognised") {
  const auto newer = [](const std::string& version) {
    return good(R"({"messages":[],"protocolVersion":")" + version + "\"}").newer;
  };
  CHECK(newer("1.0"));
  CHECK(newer("2.7"));
  CHECK_FALSE(newer("0.9"));
  CHECK_FALSE(newer("one"));
  CHECK_FALSE(newer("1"));
}

TEST_CASE("RunAgentInput: messages before the user's last one are history") {
  const auto request = good(
      list({R"({"id":"s","role":"system","content":"Be kind"})", kUser,
            R"({"id":"a","role":"assistant","content":"Hi"})",
            R"({"id":"v","role":"activity","activityType":"PLAN","content":{}})",
            R"({"id":"r","role":"reasoning","content":"Hm"})", R"({"id":"u2","role":"user","content":"One"})",
            R"({"id":"u3","role":"user","content":"Two","name":"Ann"})"}));
  CHECK(request.message.id.value == "u3");
  CHECK(request.message.metadata.text == R"({"name":"Ann"})");
  REQUIRE(request.history->size() == 5);
  const auto& history = *request.history;
  CHECK(history[0].metadata.text == R"({"role":"system"})");
  CHECK(history[0].role == Role::user);
  CHECK(history[2].role == Role::agent);
  CHECK(history[2].parts == std::vector{Part::of_text("Hi")});
  CHECK(history[3].metadata.text == R"({"role":"reasoning"})");
  CHECK(history[3].role == Role::agent);
  CHECK(history[4].id.value == "u2");
}

TEST_CASE("RunAgentInput: tool messages after the assistant's last are results") {
  const auto request = good(list({kUser, kCalling, kResult}));
  CHECK(request.message.parts.empty());
  REQUIRE(request.results.size() == 1);
  CHECK(request.results[0].call == "c1");
  CHECK(request.results[0].content.text == R"("sunny")");
  REQUIRE(request.history->size() == 2);
  const auto& calling = (*request.history)[1];
  CHECK(calling.parts ==
        std::vector{Part::of_data({R"({"toolCall":{"id":"c1","name":"look","arguments":{"q":1}}})"})});
}

TEST_CASE("RunAgentInput: results followed by a message are both new and history") {
  const auto request =
      good(list({kUser, kCalling, kResult, R"({"id":"u2","role":"user","content":"And?"})"}));
  CHECK(request.message.id.value == "u2");
  CHECK(request.results.size() == 1);
  REQUIRE(request.history->size() == 3);
  CHECK((*request.history)[2].parts ==
        std::vector{Part::of_data({R"({"toolResult":{"id":"c1","content":"sunny"}})"})});
  CHECK((*request.history)[2].metadata.text == R"({"role":"tool"})");
}

TEST_CASE("RunAgentInput: results that have been answered are only history") {
  const auto request =
      good(list({kUser, kCalling, kResult, R"({"id":"a2","role":"assistant","content":"So"})"}));
  CHECK(request.message.parts.empty());
  CHECK(request.results.empty());
  CHECK(request.history->size() == 4);
}

TEST_CASE("RunAgentInput: a failed tool and results in parts are read") {
  const auto request = good(list(
      {kCalling, R"({"id":"t1","role":"tool","toolCallId":"c1","content":"","error":"no network"})",
       R"({"id":"t2","role":"tool","toolCallId":"c2","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})",
       R"({"id":"t3","role":"tool","toolCallId":"c3","content":[{"type":"image","source":{"type":"url","value":"u"}}]})"}));
  REQUIRE(request.results.size() == 3);
  CHECK(request.results[0].error == "no network");
  CHECK(request.results[1].content.text == R"("a\nb")");
  CHECK(request.results[2].content.text == R"([{"type":"image","source":{"type":"url","value":"u"}}])");
}

TEST_CASE("RunAgentInput: arguments that are not JSON stay text") {
  const auto request = good(list(
      {R"({"id":"a","role":"assistant","content":"","toolCalls":[{"id":"c","function":{"name":"n","arguments":"{\"q"}}]})",
       kUser}));
  CHECK((*request.history)[0].parts ==
        std::vector{Part::of_data({R"({"toolCall":{"id":"c","name":"n","arguments":"{\"q"}})"})});
}

TEST_CASE("RunAgentInput: a result that is neither text nor parts stays JSON") {
  const auto content = [](const std::string& json) {
    return good(with_messages(R"({"id":"t","role":"tool","toolCallId":"c","content":)" + json + "}"))
        .results.at(0)
        .content.text;
  };
  CHECK(content(R"({"celsius":14})") == R"({"celsius":14})");
  CHECK(content("[14,15]") == "[14,15]");
  CHECK(content(R"([{"celsius":14}])") == R"([{"celsius":14}])");
  CHECK(content("14") == "14");
}

// agent_framework_ag_ui/_http_service.py writes the first two members so, _message_adapters.py the calls.
TEST_CASE("RunAgentInput: thread, run and calls are read by their names in the Agent Framework for Python") {
  const auto request = good(R"({"thread_id":"thread_1","run_id":"run_1","messages":[
    {"id":"u1","role":"user","content":"Weather?"},
    {"id":"a1","role":"assistant","content":"","tool_calls":[
      {"id":"c1","type":"function","function":{"name":"look","arguments":"{\"q\":1}"}}]},
    {"id":"t1","role":"tool","toolCallId":"c1","content":{"sky":"clear"}}],"state":{"n":1},"tools":[]})");
  CHECK(request.conversation.value == "thread_1");
  CHECK(request.run == "run_1");
  CHECK(request.state.text == R"({"n":1})");
  REQUIRE(request.history->size() == 2);
  CHECK((*request.history)[1].parts ==
        std::vector{Part::of_data({R"({"toolCall":{"id":"c1","name":"look","arguments":{"q":1}}})"})});
  REQUIRE(request.results.size() == 1);
  CHECK(request.results[0].content.text == R"({"sky":"clear"})");
}

TEST_CASE("RunAgentInput: every member is read by its name in the SDK for Python, too") {
  const auto request = good(R"({"thread_id":"t","run_id":"r","parent_run_id":"p","protocol_version":"1.0",
    "forwarded_props":{"a":1,"urn:baton:a2a:1":{"hops":["n/x"]}},"messages":[
    {"role":"assistant","encrypted_value":"e","content":"x"},
    {"role":"tool","tool_call_id":"c","content":"y"},
    {"role":"user","content":[{"type":"binary","mime_type":"image/png","data":"aGk="}]}],
    "resume":[{"interrupt_id":"i","status":"resolved"}]})");
  CHECK(request.parent_run == "p");
  CHECK(request.newer);
  CHECK(request.hops == std::vector<std::string>{"n/x"});
  CHECK(request.metadata.text == R"({"agui":{"forwardedProps":{"a":1},"parentRunId":"p"}})");
  CHECK(request.history->at(0).metadata.text == R"({"encryptedValue":"e"})");
  CHECK(request.results.at(0).call == "c");
  CHECK(request.message.parts.at(0).media_type == "image/png");
  CHECK(request.answers.at(0).ask == "i");
  CHECK(complaint(R"({"messages":[],"resume":[{"interrupt_id":"i","status":"resolved"},)"
                  R"({"interruptId":"i","status":"resolved"}]})") ==
        "resume[1].interruptId: is answered twice");
}

TEST_CASE("RunAgentInput: answers to interrupts are read") {
  const auto request = good(R"({"threadId":"t","messages":[],"resume":[
    {"interruptId":"i1","status":"resolved","payload":{"approved":true}},
    {"interruptId":"i2","status":"cancelled","payload":1},{"interruptId":"i3","status":"resolved"}]})");
  REQUIRE(request.answers.size() == 3);
  CHECK(request.answers[0].ask == "i1");
  CHECK(request.answers[0].payload.text == R"({"approved":true})");
  CHECK(request.answers[1].cancelled);
  CHECK(request.answers[1].payload.empty());
  CHECK_FALSE(request.answers[2].cancelled);
  CHECK(request.answers[2].payload.empty());
}

TEST_CASE("RunAgentInput: the ids of questions and calls may be as long as the server makes them") {
  const std::string ask(protocol::chat::kAskMax, 'x');
  const auto resume = [](const std::string& id) {
    return R"({"messages":[],"resume":[{"interruptId":")" + id + R"(","status":"resolved"}]})";
  };
  const auto result = [](const std::string& id) {
    return with_messages(R"({"role":"assistant","toolCalls":[{"id":")" + id +
                         R"(","function":{"name":"n","arguments":"{}"}}]},{"role":"tool","toolCallId":")" +
                         id + R"(","content":""})");
  };
  CHECK(good(resume(ask)).answers.at(0).ask == ask);
  CHECK(good(result(ask)).results.at(0).call == ask);
  CHECK(complaint(resume(ask + "x")) == "resume[0].interruptId: must not be longer than 2000 bytes");
  CHECK(complaint(result(ask + "x")) == "messages[0].toolCalls[0].id: must not be longer than 2000 bytes");
}

TEST_CASE("RunAgentInput: a message may come beside an answer") {
  const auto request = good(std::string(R"({"messages":[)") + kUser +
                            R"(],"resume":[{"interruptId":"i","status":"cancelled"}]})");
  CHECK(request.message.parts.size() == 1);
  CHECK(request.answers.size() == 1);
  CHECK(request.history->empty());
}

TEST_CASE("RunAgentInput: a tool's parameters may be the text of a schema") {
  const auto request =
      good(R"({"messages":[],"tools":[{"name":"a","parameters":"{\"type\":\"object\"}"},{"name":"b"}]})");
  CHECK(request.tools.text == R"([{"name":"a","parameters":{"type":"object"}},{"name":"b"}])");
}

TEST_CASE("RunAgentInput: errors name the wrong member") {
  CHECK(complaint("[]") == "the body must be an object");
  CHECK(complaint("{}") == "messages: must be a list");
  CHECK(complaint(R"({"messages":{}})") == "messages: must be a list");
  CHECK(complaint(R"({"messages":[],"threadId":1})") == "threadId: must be a string");
  CHECK(complaint(R"({"messages":[],"runId":")" + std::string(257, 'x') + "\"}") ==
        "runId: must not be longer than 256 bytes");
  CHECK(complaint(R"({"messages":[],"protocolVersion":1})") == "protocolVersion: must be a string");
  CHECK(complaint(R"({"messages":[],"context":"x"})") == "context: must be a list");
  CHECK(complaint(R"({"messages":[],"tools":{}})") == "tools: must be a list");
  CHECK(complaint(R"({"messages":[],"tools":[{"name":""}]})") == "tools[0].name: must be a non-empty string");
  CHECK(complaint(R"({"messages":[],"tools":[{"name":"a","parameters":"{"}]})") ==
        "tools[0].parameters: must be a JSON Schema object");
  CHECK(complaint(R"({"messages":[],"resume":{}})") == "resume: must be a list");
  CHECK(complaint(R"({"messages":[],"resume":[{"status":"resolved"}]})") ==
        "resume[0].interruptId: is missing");
  CHECK(complaint(R"({"messages":[],"resume":[{"interruptId":"i","status":"ok"}]})") ==
        "resume[0].status: must be \"resolved\" or \"cancelled\"");
  CHECK(complaint(R"({"messages":[],"resume":[{"interruptId":"i","status":"resolved"},)"
                  R"({"interruptId":"i","status":"resolved"}]})") ==
        "resume[1].interruptId: is answered twice");
  CHECK(complaint(with_messages("1")) == "messages[0]: must be an object");
  CHECK(complaint(with_messages(R"({"content":"x"})")) == "messages[0].role: must be a string");
  CHECK(complaint(with_messages(R"({"role":"human"})")) == "messages[0].role: is not an AG-UI role");
  CHECK(complaint(with_messages(R"({"role":"user","content":1})")) ==
        "messages[0].content: must be a string or a list of parts");
  CHECK(complaint(with_messages(R"({"role":"tool","content":""})")) == "messages[0].toolCallId: is missing");
  CHECK(complaint(with_messages(R"({"role":"assistant","toolCalls":[{"id":"c"}]})")) ==
        "messages[0].toolCalls[0].function.name: must be a string");
}

TEST_CASE("AG-UI: plain messages answer nothing, runs may be concurrent, and leaving cancels") {
  CHECK_FALSE(protocol::chat::agui_protocol().answers_in_words());
  CHECK_FALSE(protocol::chat::agui_protocol().one_run_at_a_time());
  CHECK(protocol::chat::agui_protocol().leaving_cancels());
}

}  // namespace read_input_test
