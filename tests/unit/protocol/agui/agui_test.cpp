#include "protocol/chat/protocol.h"

#include <doctest/doctest.h>

#include "client_rules.h"
#include "run.h"

namespace agui_test {

using namespace baton;
using protocol::chat::Question;
using task::Part;
using test::facts_of;
using test::message_of;

namespace {

std::vector<std::string> look(const protocol::chat::RunFacts& facts,
                              const std::vector<task::Message>* messages, const std::vector<Question>& open) {
  protocol::chat::Frames frames;
  protocol::chat::agui_protocol().show_conversation(facts, messages, open, frames);
  test::ClientRules rules(facts.newer);
  std::vector<std::string> data;
  for (const auto& frame : frames.all()) {
    CHECK(rules.take(frame) == "");
    data.push_back(frame.data);
  }
  CHECK(rules.end() == "");
  return data;
}

std::vector<std::string> conversation(const std::vector<task::Message>& messages, bool newer) {
  return look(facts_of(newer), &messages, {});
}

task::Message said(const char* id, std::vector<Part> parts) {
  task::Message message = message_of(id, std::move(parts));
  message.role = task::Role::user;
  return message;
}

}  // namespace

TEST_CASE("AG-UI: a refusal within the stream is shown as a failed run") {
  protocol::chat::Frames frames;
  const base::Error error{base::ErrorCode::conflict, "an answer is waited for", {}};
  CHECK(protocol::chat::agui_protocol().show_refusal(facts_of(false), error, frames));
  REQUIRE(frames.all().size() == 2);
  CHECK(frames.all()[0].data == R"({"type":"RUN_STARTED","threadId":"thread-1","runId":"run-1"})");
  CHECK(frames.all()[1].data ==
        R"({"type":"RUN_ERROR","message":"an answer is waited for","code":"conflict"})");
}

TEST_CASE("AG-UI: a conversation is shown as one snapshot of its messages") {
  const auto lines = conversation(
      {said("u1", {Part::of_text("Hi"), Part{Part::Kind::url, "https://example.org/a", {}, "image/png", {}}}),
       message_of("a1", {Part::of_text("Hello")}), said("", {Part::of_text("Again")})},
      false);
  REQUIRE(lines.size() == 3);
  CHECK(lines[1] == R"({"type":"MESSAGES_SNAPSHOT","messages":[{"id":"u1","role":"user","content":[)"
                    R"({"type":"text","text":"Hi"},)"
                    R"({"type":"binary","mimeType":"image/png","url":"https://example.org/a"}]},)"
                    R"({"id":"a1","role":"assistant","content":"Hello"},)"
                    R"({"id":"message-3","role":"user","content":"Again"}]})");
}

TEST_CASE("AG-UI: calls and results are separate messages in a snapshot") {
  const auto lines = conversation(
      {message_of("a1", {Part::of_text("Let me see."),
                         Part::of_data({R"({"toolCall":{"id":"c1","name":"look","arguments":{"q":1}}})"})}),
       said("u1", {Part::of_data({R"({"toolResult":{"id":"c1","content":"x"}})"}),
                   Part::of_data({R"({"toolResult":{"id":"c2","content":[1],"error":"no"}})"}),
                   Part::of_text("And?")}),
       said("u2", {Part::of_data({R"({"approved":true})"})}), message_of("a2", {Part::of_data({"1"})})},
      true);
  REQUIRE(lines.size() == 3);
  CHECK(lines[1] == R"({"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a1","role":"assistant",)"
                    R"("content":"Let me see.","toolCalls":[)"
                    R"({"id":"c1","type":"function","function":{"name":"look","arguments":"{\"q\":1}"}}]},)"
                    R"({"id":"u1","role":"tool","toolCallId":"c1","content":"x"},)"
                    R"({"id":"u1~2","role":"tool","toolCallId":"c2","content":"no","error":"no"},)"
                    R"({"id":"u1~3","role":"user","content":"And?"}]})");
}

TEST_CASE("AG-UI: the ids of a snapshot's messages are unique, whatever ids agents and clients chose") {
  const auto lines = conversation(
      {message_of("a1", {Part::of_text("one")}), message_of("a1", {Part::of_text("two")}),
       said("u1", {Part::of_data({R"({"toolResult":{"id":"c1","content":"x"}})"}), Part::of_text("And?")}),
       message_of("u1~2", {Part::of_text("three")}), message_of("a1~2", {Part::of_text("four")})},
      true);
  REQUIRE(lines.size() == 3);
  CHECK(lines[1] ==
        R"({"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a1","role":"assistant","content":"one"},)"
        R"({"id":"a1~2","role":"assistant","content":"two"},)"
        R"({"id":"u1","role":"tool","toolCallId":"c1","content":"x"},)"
        R"({"id":"u1~2","role":"user","content":"And?"},)"
        R"({"id":"u1~2~2","role":"assistant","content":"three"},)"
        R"({"id":"a1~2~2","role":"assistant","content":"four"}]})");
}

TEST_CASE("AG-UI: a client that has its messages gets only the open questions") {
  const std::string begin = R"({"type":"RUN_FINISHED","threadId":"thread-1","runId":"run-1")";
  const Question question{"q", false, false, "Sure?", {}, {}, {}},
      login{"a", false, true, "Log in", {}, {}, {}};
  const Question call{"c", true, false, {}, {}, {}, {}};
  const std::string interrupts = R"({"id":"q","reason":"confirmation","message":"Sure?"},)"
                                 R"({"id":"a","reason":"baton:auth","message":"Log in"})";
  for (const bool newer : {false, true}) {
    CHECK(look(facts_of(newer), nullptr, {}).size() == 2);
    CHECK(look(facts_of(newer), nullptr, {}).back() == begin + "}");
    const auto asked = look(facts_of(newer), nullptr, {call, question, login});
    REQUIRE(asked.size() == 2);
    CHECK(asked.back() == begin + R"(,"outcome":{"type":"interrupt","interrupts":[)" + interrupts + "]}}");
    CHECK(look(facts_of(newer), nullptr, {call}).back() == begin + "}");
  }
}

TEST_CASE("AG-UI: a question shown as a call of the client's tool is a call in the snapshot too") {
  protocol::chat::RunFacts facts = facts_of(true);
  facts.confirm_tool = "confirm";
  facts.tools = {R"([{"name":"confirm"}])"};
  const std::vector messages{message_of("a1", {Part::of_text("Sure?")})};
  const auto lines = look(facts, &messages, {{"q", false, false, "Sure?", {}, {}, {}}});
  REQUIRE(lines.size() == 3);
  CHECK(lines[1] == R"({"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a1","role":"assistant",)"
                    R"("content":"Sure?"},{"id":"q","role":"assistant","toolCalls":[{"id":"q",)"
                    R"("type":"function","function":{"name":"confirm",)"
                    R"("arguments":"{\"message\":\"Sure?\"}"}}]}]})");
  CHECK(lines[2] == R"({"type":"RUN_FINISHED","threadId":"thread-1","runId":"run-1",)"
                    R"("outcome":{"type":"success","pendingToolCallIds":["q"]}})");
}

}  // namespace agui_test
