#include "agents/agui/run_input.h"

#include <doctest/doctest.h>

#include <string>

#include "json/document.h"

namespace baton::agents::run_input_test {
namespace {

task::Message said(task::Role role, const std::string& id, std::vector<task::Part> parts) {
  task::Message message;
  message.id.value = id;
  message.role = role;
  message.parts = std::move(parts);
  return message;
}

task::Message user(const std::string& id, const std::string& text) {
  return said(task::Role::user, id, {task::Part::of_text(text)});
}

Turn turn_of(task::Message message) {
  Turn turn;
  turn.id = "t1";
  turn.conversation = "c";
  turn.message = std::move(message);
  return turn;
}

// The messages of the turn's run as they are sent to the endpoint.
std::string sent(const Turn& turn) {
  const auto run = run_input(turn);
  REQUIRE(run.has_value());
  const std::string text = protocol::agui::write_input(*run);
  const auto document = json::Document::view_of(text);
  return std::string(document.root()["messages"].raw());
}

}  // namespace

TEST_CASE("run_input: the context is the thread, and the run's id depends on the turn alone") {
  Turn turn = turn_of(user("m", "hi"));
  const auto first = run_input(turn);
  CHECK(first->thread == "c");
  CHECK(run_input(turn)->run == first->run);
  turn.id = "t2";
  CHECK(run_input(turn)->run != first->run);
}

TEST_CASE("run_input: history precedes the message, data is sent as text, and reasoning is left out") {
  Turn turn = turn_of(said(task::Role::user, "m2", {task::Part::of_data({R"({"n":1})"})}));
  turn.history = {user("m1", "hi"), said(task::Role::agent, "a1", {task::Part::of_text("ho")})};
  turn.history.push_back(said(task::Role::agent, "a2", {task::Part::of_text("hm")}));
  turn.history.back().metadata.text = R"({"role":"reasoning"})";
  CHECK(sent(turn) ==
        R"([{"id":"m1","role":"user","content":"hi"},{"id":"a1","role":"assistant","content":"ho"},)"
        R"({"id":"m2","role":"user","content":"{\"n\":1}"}])");
}

TEST_CASE("run_input: a client's call and its result are sent with the id that the endpoint gave") {
  Turn turn = turn_of(
      said(task::Role::user, "m2", {task::Part::of_data({R"({"toolResult":{"id":"k~2","content":"ok"}})"})}));
  turn.used_ids = std::make_shared<UsedIds>(std::vector<std::string>{"k", "k~2"});
  turn.resume_ask = "k~2";
  turn.history = {said(task::Role::agent, "a1",
                       {task::Part::of_text("The agent is waiting for the result of the tool f."),
                        task::Part::of_data({R"({"toolCall":{"id":"k~2","name":"f","arguments":{}}})"})})};
  CHECK(
      sent(turn) ==
      R"([{"id":"a1","role":"assistant","toolCalls":[{"id":"k","type":"function","function":{"name":"f","arguments":"{}"}}]},)"
      R"({"id":"m2","role":"tool","toolCallId":"k","content":"ok"}])");
}

TEST_CASE("run_input: a result is sent as one even if the call's id looks like a question's") {
  for (const char* id : {"a/b", "a?b"}) {
    const task::Json result{R"({"toolResult":{"id":")" + std::string(id) + R"(","content":"ok"}})"};
    Turn turn = turn_of(said(task::Role::user, "m", {task::Part::of_data(result)}));
    turn.resume_ask = id;
    CHECK_FALSE(is_about_resending(turn));
    CHECK(run_input(turn)->answers.empty());
    CHECK(sent(turn).find(R"("role":"tool")") != std::string::npos);
  }
}

TEST_CASE("run_input: the answer to several interrupts names each of them and is not sent as a message") {
  const std::string ask = ask_for("t0", {{"a,b", "", {}}, {"\xC3\xBC/?", "", {}}});
  for (const auto& [part, payload, cancelled] :
       {std::tuple{task::Part::of_text("yes"), R"("yes")", false},
        std::tuple{task::Part::of_data({R"({"approved":true})"}), R"({"approved":true})", false},
        std::tuple{task::Part::of_data({R"({"cancelled":true})"}), "", true}}) {
    Turn turn = turn_of(said(task::Role::user, "m", {part}));
    turn.resume_ask = ask;
    const auto run = run_input(turn);
    REQUIRE(run->answers.size() == 2);
    CHECK(run->messages.empty());
    CHECK(run->answers[0].ask == "a,b");
    CHECK(run->answers[1].ask == "\xC3\xBC/?");
    CHECK(run->answers[0].payload.text == payload);
    CHECK(run->answers[1].cancelled == cancelled);
  }
  Turn turn =
      turn_of(said(task::Role::user, "m", {task::Part::of_data({R"({"a,b":1,"\u00fc/?":{"x":2}})"})}));
  turn.resume_ask = ask;
  const auto run = run_input(turn);
  REQUIRE(run->answers.size() == 2);
  CHECK(run->answers[0].payload.text == "1");
  CHECK(run->answers[1].payload.text == R"({"x":2})");
  CHECK(ask_for("t0", {{std::string(300, 'x'), "", {}}}) == "t0/" + std::string(300, 'x'));
  CHECK(ask_for("t0", {{std::string(2'000, 'x'), "", {}}}).empty());
}

TEST_CASE("run_input: the answer to a question of LangGraph's adapter goes back as its command") {
  Turn turn = turn_of(said(task::Role::user, "m", {task::Part::of_text("yes")}));
  turn.resume_ask = ask_for("t0", {{"on_interrupt", "Delete?", {}}});
  const auto run = run_input(turn);
  CHECK(run->answers.empty());
  CHECK(run->messages.empty());
  CHECK(json::Document::view_of(run->forwarded_props.text).root()["command"]["resume"].string() == "yes");
}

TEST_CASE("run_input: the answer to our own question sends the first message again, in the same run") {
  Turn turn = turn_of(user("m1", "hi"));
  const auto first = run_input(turn);
  const std::string ask = ask_for_resending(turn);
  Turn again = turn_of(user("m2", "Resend!"));
  again.id = "t2";
  again.resume_ask = ask;
  again.history = {user("m1", "hi"), said(task::Role::agent, "q", {task::Part::of_text("may or may not")})};
  CHECK(is_about_resending(again));
  CHECK(says_resend(again));
  CHECK(run_input(again)->run == first->run);
  CHECK(sent(again) == sent(turn));
  again.history.clear();
  CHECK_FALSE(run_input(again).has_value());
}

TEST_CASE("run_input: the hops, the client's context and its forwarded properties are passed on") {
  Turn turn = turn_of(user("m", "hi"));
  turn.hops = {"n/agent"};
  turn.metadata.text = R"({"agui":{"context":[{"description":"d","value":"v"}],"forwardedProps":{"x":1}}})";
  CHECK(run_input(turn)->context.text == R"([{"description":"d","value":"v"}])");
  CHECK(run_input(turn)->forwarded_props.text == R"({"x":1,"urn:baton:a2a:1":{"hops":["n/agent"]}})");
  turn.metadata.text = R"({"priority":1})";
  CHECK(run_input(turn)->forwarded_props.text == R"({"priority":1,"urn:baton:a2a:1":{"hops":["n/agent"]}})");
}

}  // namespace baton::agents::run_input_test
