#include "agents/caller_ask.h"

#include <doctest/doctest.h>

#include "agents/turn_output.h"
#include "support/recording_sink.h"

namespace caller_ask_test {

using namespace baton;
using agents::Asked;
using agents::Turn;

namespace {

task::Message said(const std::string& id, const std::string& text, task::Role role = task::Role::user) {
  task::Message message;
  message.id.value = id;
  message.role = role;
  message.parts.push_back(task::Part::of_text(text));
  return message;
}

Turn first_turn() {
  Turn turn;
  turn.account =
      "https://id\x01"
      "ann";
  turn.message = said("m?1/a", "book it");
  turn.history = {said("m0", "hello"), said("a0", "hi", task::Role::agent)};
  turn.resume_ask = "which/one?";
  return turn;
}

Asked ask(const Turn& turn, const std::string& url = "", const std::string& kept = "") {
  return std::get<Asked>(agents::ask_caller(turn, {"consent, please", url}, {kept}));
}

// The turn that brings the answer.
Turn answering(const Asked& asked) {
  Turn turn;
  turn.account = first_turn().account;
  turn.message = said("m2", "ok");
  turn.history = first_turn().history;
  turn.history.push_back(first_turn().message);
  turn.history.push_back(asked.message);
  turn.request = said("m0", "hello");
  turn.resume_ask = asked.id;
  return turn;
}

}  // namespace

TEST_CASE("take_up: the answer to a question of Baton's own begins the turn that asked again") {
  const Asked asked = ask(first_turn(), "https://id/consent", R"({"task":"t?1"})");
  CHECK(asked.for_auth);
  REQUIRE(asked.message.parts.size() == 2);
  CHECK(asked.message.parts[1].kind == task::Part::Kind::url);
  CHECK(asked.message.parts[1].content == "https://id/consent");
  Turn turn = answering(asked);
  agents::take_up(turn);
  CHECK(turn.message == first_turn().message);
  CHECK(turn.history == first_turn().history);
  CHECK(turn.resume_ask == "which/one?");
  CHECK(turn.kept.text == R"({"task":"t?1"})");
  CHECK(turn.request);
  // It may ask once more.
  CHECK(ask(turn).id == ask(first_turn()).id);
}

TEST_CASE("take_up: the task's first message is found in the request, too, and is then no later one") {
  Turn first;
  first.account = first_turn().account;
  first.message = said("m0", "hello");
  Turn turn = answering(ask(first));
  turn.kept.text = "newer";
  turn.history.clear();
  agents::take_up(turn);
  CHECK(turn.message == first.message);
  CHECK_FALSE(turn.request);
  CHECK(turn.kept.text == "newer");
}

TEST_CASE("ask_caller: a caller that cannot have an access token is not asked for one") {
  Turn turn = first_turn();
  turn.account = "shop";
  CHECK(std::holds_alternative<agents::Failed>(agents::ask_caller(turn, {"consent", ""})));
}

TEST_CASE("TurnOutput: a question fails if its id is longer than clients may send it back") {
  for (const std::size_t bytes : {100, 2'000}) {
    const auto sink = std::make_shared<test::RecordingSink>();
    agents::SinkGate gate(sink);
    agents::TurnOutput(gate, {}).finish(ask(first_turn(), "", std::string(bytes, 'x')));
    CHECK((sink->outcome_as<Asked>() != nullptr) == (bytes == 100));
    CHECK((sink->outcome_as<agents::Failed>() != nullptr) == (bytes > 100));
  }
}

TEST_CASE("take_up: answers to other questions stay as they are") {
  for (const char* id : {"", "which/one?", "~other?m0??"}) {
    Turn turn = answering({});
    turn.resume_ask = id;
    agents::take_up(turn);
    CHECK(turn.message == said("m2", "ok"));
    CHECK(turn.resume_ask == id);
  }
}

}  // namespace caller_ask_test
