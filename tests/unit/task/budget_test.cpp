#include "task/budget.h"

#include <doctest/doctest.h>

#include "task/apply.h"

namespace budget_test {

using namespace baton::task;
using baton::base::Duration;
using baton::base::from_ms;

TEST_CASE("Budget: the smaller value of each limit applies, or the only one") {
  Budget card, request;
  card.tokens = 10;
  card.children = 3;
  card.depth = 2;
  card.wall = Duration(5'000);
  request.tokens = 7;
  request.children = 4;
  request.rounds = 1;
  request.until = from_ms(9);
  const Budget both = smaller(card, request);
  CHECK(both == smaller(request, card));
  CHECK(both.tokens == 7);
  CHECK(both.children == 3);
  CHECK(both.depth == 2);
  CHECK(both.rounds == 1);
  CHECK(both.wall == Duration(5'000));
  CHECK(both.until == from_ms(9));
  CHECK(smaller({}, {}).empty());
}

TEST_CASE("Budget: delegation is limited to agents in every list, at all levels") {
  Budget one, other;
  one.agents = {"desk", "echo", "https://a.example/x"};
  CHECK(smaller(one, Budget()).agents == one.agents);
  CHECK(smaller(Budget(), one).agents == one.agents);
  other.agents = {"echo", "tools"};
  const Budget both = left_for_child(smaller(one, other), {});
  CHECK(both.agents == std::vector<std::string>{"echo"});
  CHECK(refusal_of_agent(both, "echo").empty());
  CHECK(refusal_of_agent(both, "desk") == "the caller's token is not for the agent \"desk\"");
  CHECK(refusal_of_agent(both, "~ask").empty());
  CHECK(refusal_of_agent(Budget(), "desk").empty());
  CHECK_FALSE(both.empty());
}

TEST_CASE("Budget: a task's time ends at the earlier of its parent's end and its own") {
  Budget limits;
  limits.wall = Duration(100);
  CHECK(begun(limits, from_ms(50)).until == from_ms(150));
  limits.until = from_ms(120);
  CHECK(begun(limits, from_ms(50)).until == from_ms(120));
  CHECK_FALSE(begun(limits, from_ms(50)).wall);
}

TEST_CASE("Budget: a reopened task has the full budget on top of its earlier usage") {
  Budget limits;
  limits.tokens = 10;
  limits.children = 2;
  const Budget again = begun(limits, from_ms(0), {100, 5});
  CHECK(again.tokens == 110);
  CHECK(again.children == 7);
  CHECK(refusal_of_child(again, {100, 6}).empty());
}

TEST_CASE("Budget: a child gets the rest and one level less, never below zero") {
  Budget budget;
  budget.tokens = 10;
  budget.children = 3;
  budget.depth = 1;
  budget.rounds = 4;
  budget.until = from_ms(7);
  const Budget left = left_for_child(budget, {4, 1});
  CHECK(left.tokens == 6);
  CHECK(left.children == 2);
  CHECK(left.depth == 0);
  CHECK(left.rounds == 4);
  CHECK(left.until == from_ms(7));
  const Budget none = left_for_child(left, {100, 100});
  CHECK(none.tokens == 0);
  CHECK(none.children == 0);
  CHECK(none.depth == 0);
  CHECK(left_of(budget, {4, 1}).depth == 1);
}

TEST_CASE("Budget: each limit refuses when it is reached, and the error has its name") {
  Budget budget;
  CHECK(refusal_of_child(budget, {1'000'000, 1'000'000}).empty());
  budget.children = 2;
  CHECK(refusal_of_child(budget, {0, 1}).empty());
  CHECK(refusal_of_child(budget, {0, 2}).find("max_children") != std::string::npos);
  budget = {};
  budget.depth = 1;
  CHECK(refusal_of_child(budget, {}).empty());
  budget.depth = 0;
  CHECK(refusal_of_child(budget, {}).find("max_depth") != std::string::npos);
  budget = {};
  budget.tokens = 5;
  CHECK(refusal_of_child(budget, {4, 0}).empty());
  CHECK(refusal_of_child(budget, {5, 0}).find("max_tokens") != std::string::npos);
  CHECK(refusal_of_tokens(budget, {4, 0}).empty());
  CHECK(refusal_of_tokens(budget, {5, 0}).find("max_tokens") != std::string::npos);
}

TEST_CASE("Budget: a used-up budget lets a task finish, an exceeded one ends it") {
  Budget budget;
  budget.tokens = 5;
  budget.until = from_ms(10);
  CHECK(excess(budget, {5, 0}, from_ms(9)).empty());
  CHECK(excess(budget, {6, 0}, from_ms(9)).find("max_tokens") != std::string::npos);
  CHECK(excess(budget, {5, 0}, from_ms(10)).find("max_wall_s") != std::string::npos);
}

namespace {

// A task with a budget that waits for its children.
TaskHead waiting(const Budget& budget) {
  TaskHead head;
  head.key = {1};
  head.state = State::working;
  head.turn_state = TurnState::waiting;
  head.awaited = 3;
  head.waits.open_max = 0;
  head.budget = std::make_shared<const Budget>(budget);
  return head;
}

TurnState after_end(const TaskHead& before, std::int64_t tokens) {
  Change change;
  change.task = before.key;
  Subagent end{"child", "child", Subagent::Phase::finished};
  end.tokens = tokens;
  change.events.emplace_back(end);
  return apply(before, change, from_ms(0), {})->head.turn_state;
}

}  // namespace

TEST_CASE("Budget: exceeding the budget wakes a waiting turn, but only once") {
  Budget budget;
  budget.tokens = 10;
  TaskHead head = waiting(budget);
  CHECK(after_end(head, 10) == TurnState::waiting);
  CHECK(after_end(head, 11) == TurnState::queued);
  head.tokens = 11;
  CHECK(after_end(head, 1) == TurnState::waiting);
}

TEST_CASE("Budget: a wait ends at the budget's time limit, unless that has passed") {
  Budget budget;
  budget.until = from_ms(100);
  TaskHead before = waiting(budget);
  before.turn_state = TurnState::running;
  const auto until = [&](std::optional<baton::base::Timestamp> own, std::int64_t now) {
    Change change;
    change.task = before.key;
    change.turn.emplace();
    change.turn->state = TurnState::waiting;
    change.turn->waits = {0, false, own};
    return apply(before, change, from_ms(now), {})->head.waits.until;
  };
  CHECK(until({}, 50) == from_ms(100));
  CHECK(until(from_ms(70), 50) == from_ms(70));
  CHECK(until(from_ms(170), 50) == from_ms(100));
  CHECK_FALSE(until({}, 100));
}

TEST_CASE("Budget: the status that ends a task has its usage") {
  TaskHead before = waiting({});
  before.turn_state = TurnState::running;
  before.tokens = 4;
  Change change;
  change.task = before.key;
  ExecutorState elsewhere;
  elsewhere.used = {7, 2};
  change.events.emplace_back(elsewhere);
  change.events.emplace_back(StatusChanged{{State::completed, std::nullopt, from_ms(1)}, {}});
  const auto applied = apply(before, change, from_ms(1), {});
  REQUIRE(applied);
  CHECK(applied->head.tokens == 11);
  const auto& ended = std::get<StatusChanged>(change.events.back());
  CHECK(ended.status.taken.tokens == 11);
  CHECK(ended.status.taken.children == 2);
}

}  // namespace budget_test
