#include "engine/decide/rules/turn_ending.h"

#include <doctest/doctest.h>

namespace turn_ending_test {

using namespace baton;
using engine::TurnEnding;
using task::State;

namespace {

task::Message said(const std::string& text) {
  task::Message message;
  message.parts.push_back(task::Part::of_text(text));
  return message;
}

task::Change ended_with(const agents::Outcome& outcome, const TurnEnding& ending = {}) {
  task::TaskHead head;
  head.turn = {3};
  head.waiting_messages = ending.waiting_messages;
  task::Change change;
  engine::add_ending(change, head, outcome, ending);
  return change;
}

State last_state(const task::Change& change) {
  return std::get<task::StatusChanged>(change.events.back()).status.state;
}

}  // namespace

TEST_CASE("Turn ending: each outcome has its state") {
  CHECK(last_state(ended_with(agents::Done{})) == State::completed);
  CHECK(last_state(ended_with(agents::Failed{"no"})) == State::failed);
  CHECK(last_state(ended_with(agents::Rejected{"no"})) == State::rejected);
  CHECK(last_state(ended_with(agents::Canceled{})) == State::canceled);
  CHECK(last_state(ended_with(agents::Asked{"q", false, said("?")})) == State::input_required);
  CHECK(last_state(ended_with(agents::Asked{"q", true, said("?")})) == State::auth_required);
}

TEST_CASE("Turn ending: a reason that is not UTF-8 is stored as text that can be read again") {
  const auto change = ended_with(agents::Failed{"nicht verf\xfcgbar"});
  const auto& message = std::get<task::StatusChanged>(change.events.back()).status.message;
  REQUIRE(message);
  CHECK(task::text_of(*message) == "nicht verf\xef\xbf\xbdgbar");
}

TEST_CASE("Turn ending: a broken-off turn runs again as the same attempt, and its output is withdrawn") {
  TurnEnding ending;
  ending.shown = {{"t-r1.1"}};
  task::TaskHead head;
  head.turn = {3};
  head.attempt = 2;
  task::Change change;
  engine::add_ending(change, head, agents::BrokenOff{}, ending);
  CHECK(change.turn->state == task::TurnState::waiting);  // queued at once if no child is awaited
  CHECK(change.turn->attempt == 1);                       // counted again when it begins
  REQUIRE(change.events.size() == 1);
  CHECK(std::get<task::Withdrawn>(change.events.back()).artifacts == ending.shown);
}

TEST_CASE("Turn ending: a waiting turn continues in the next one, and its output stays") {
  const task::Change change = ended_with(agents::Waits{});
  CHECK(change.events.empty());
  CHECK(change.turn->state == task::TurnState::waiting);
  CHECK(change.turn->turn == task::TurnNumber{4});
  CHECK(change.turn->attempt == 0);
  CHECK_FALSE(change.turn->message);
}

TEST_CASE("Turn ending: a turn that waits after a cancel is canceled") {
  TurnEnding ending;
  ending.cancel_requested = true;
  CHECK(last_state(ended_with(agents::Waits{}, ending)) == State::canceled);
}

TEST_CASE("Turn ending: a turn that was broken off after a cancel is canceled") {
  TurnEnding ending;
  ending.cancel_requested = true;
  CHECK(last_state(ended_with(agents::BrokenOff{}, ending)) == State::canceled);
}

TEST_CASE("Turn ending: an ask is stored, and any other ending removes it") {
  CHECK(ended_with(agents::Asked{"q1", false, said("?")}).turn->ask == "q1");
  CHECK(ended_with(agents::Done{}).turn->ask == "");
}

TEST_CASE("Turn ending: a waiting status has the question, others do not") {
  const auto asked = [](const task::Change& change) {
    return std::get<task::StatusChanged>(change.events.back()).ask;
  };
  CHECK(asked(ended_with(agents::Asked{"q1", false, said("?")})) == "q1");
  CHECK(asked(ended_with(agents::Asked{"q2", true, said("?")})) == "q2");
  CHECK(asked(ended_with(agents::Done{said("bye")})).empty());
  TurnEnding canceled;
  canceled.cancel_requested = true;
  CHECK(asked(ended_with(agents::Asked{"q3", false, said("?")}, canceled)).empty());
}

TEST_CASE("Turn ending: the agent's message gets an id and the agent's role") {
  const auto change = ended_with(agents::Done{said("bye")});
  const auto& message = std::get<task::StatusChanged>(change.events.back()).status.message;
  REQUIRE(message);
  CHECK(message->role == task::Role::agent);
  CHECK_FALSE(message->id.empty());
}

TEST_CASE("Turn ending: after a cancel everything but completed work is canceled") {
  TurnEnding canceled;
  canceled.cancel_requested = true;
  CHECK(last_state(ended_with(agents::Done{}, canceled)) == State::completed);
  CHECK(last_state(ended_with(agents::Failed{"killed"}, canceled)) == State::canceled);
  CHECK(last_state(ended_with(agents::Asked{"q", false, said("?")}, canceled)) == State::canceled);
}

TEST_CASE("Turn ending: if a message is waiting the task continues instead of completing") {
  TurnEnding more;
  more.next_message = task::EventNumber{9};
  more.waiting_messages = 2;
  const auto change = ended_with(agents::Done{said("first answer")}, more);
  REQUIRE(change.events.size() == 2);
  CHECK(std::holds_alternative<task::MessageAdded>(change.events[0]));
  CHECK(last_state(change) == State::submitted);
  CHECK(change.turn->state == task::TurnState::queued);
  CHECK(change.turn->turn == task::TurnNumber{4});
  CHECK(change.turn->message == task::EventNumber{9});
  CHECK(change.turn->waiting_messages == 1);
}

TEST_CASE("Turn ending: a message that was waiting when the agent asked is not the answer") {
  TurnEnding more;
  more.next_message = task::EventNumber{9};
  more.waiting_messages = 1;
  const auto change = ended_with(agents::Asked{"q", false, said("sure?")}, more);
  REQUIRE(change.events.size() == 2);
  CHECK(std::get<task::StatusChanged>(change.events[0]).status.state == State::input_required);
  CHECK(last_state(change) == State::submitted);
  CHECK(change.turn->ask == "");
}

TEST_CASE("Turn ending: a waiting message does not continue a task that failed or was canceled") {
  TurnEnding more;
  more.next_message = task::EventNumber{9};
  more.waiting_messages = 1;
  CHECK(last_state(ended_with(agents::Failed{"no"}, more)) == State::failed);
  more.cancel_requested = true;
  CHECK(last_state(ended_with(agents::Done{}, more)) == State::completed);
}

}  // namespace turn_ending_test
