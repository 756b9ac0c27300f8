#include <doctest/doctest.h>

#include "task/apply.h"

namespace apply_questions_test {

using namespace baton;
using task::State;
using task::TurnState;
using Phase = task::Subagent::Phase;

namespace {

task::TaskHead after(const task::TaskHead& before, std::vector<task::EventBody> events,
                     std::optional<task::TurnUpdate> turn = {}) {
  task::Change change;
  change.task = {1};
  change.events = std::move(events);
  change.turn = std::move(turn);
  const auto applied = task::apply(before, change, base::from_ms(1), {});
  REQUIRE(applied);
  return applied->head;
}

task::StatusChanged status(State state) {
  return {{state, std::nullopt, {}}, {}};
}

}  // namespace

TEST_CASE("apply: a child whose question is passed on stays awaited, a detached one never is") {
  task::TaskHead working;
  working.key = {1};
  working.state = State::working;
  task::Subagent detached{"b", "y"};
  detached.is_detached = true;
  task::TurnUpdate waits;
  waits.state = TurnState::waiting;
  waits.ask = "a.7";
  const auto asking =
      after(working, {task::Subagent{"a", "x"}, detached, status(State::input_required)}, waits);
  CHECK(asking.awaited == 1);
  CHECK(asking.turn_state == TurnState::waiting);
  CHECK(asking.ask == "a.7");
  const auto answered = after(asking, {status(State::working), task::Subagent{"a", {}, Phase::passed}});
  CHECK(answered.awaited == 1);
  CHECK(answered.turn_state == TurnState::waiting);
  detached.phase = Phase::failed;
  CHECK(after(answered, {detached}).awaited == 1);
  CHECK(after(answered, {task::Subagent{"a", "x", Phase::finished, {}}}).turn_state == TurnState::queued);
}

}  // namespace apply_questions_test
