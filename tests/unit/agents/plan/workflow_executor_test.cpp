#include "agents/plan/workflow_executor.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/manual_clock.h"
#include "support/recording_sink.h"

namespace workflow_executor_test {
namespace {

using namespace baton;
using What = agents::PlanRecord::What;

const char* const kPlan = R"({"id": "p", "sequence": [
    {"id": "book", "agent": "a", "compensate": {"id": "undo", "agent": "a"}}, {"id": "then", "agent": "a"}]})";

std::unique_ptr<agents::Executor> executor_of(const std::string& plan, const base::Clock& clock) {
  std::vector<json::SchemaProblem> problems;
  agents::AgentSettings settings;
  settings.plan = agents::read_plan(plan, {}, problems);
  REQUIRE(problems.empty());
  return agents::workflow_executor(
      settings, clock, [](const std::string&, const std::string&) { return std::optional<std::string>(); },
      {}, std::make_shared<agents::PlanMemories>(1 << 20));
}

task::Task child_saying(const std::string& text) {
  task::Task child;
  child.status.state = task::State::completed;
  child.artifacts.emplace_back().parts.push_back(task::Part::of_text(text));
  return child;
}

}  // namespace

TEST_CASE("Plan: a canceled plan begins the lost child of a broken-off turn again, whose end it waits for") {
  test::ManualClock clock;
  const auto executor = executor_of(kPlan, clock);
  agents::Turn turn;
  turn.canceled = true;
  turn.states.push_back(agents::write_records(
      {{What::began, {}, 0, clock.now(), {}, kPlan}, {What::begin, "p/book", 1, clock.now()}}));
  const auto sink = std::make_shared<test::RecordingSink>();
  executor->start(std::move(turn), sink);
  REQUIRE(sink->delegates().size() == 1);
  CHECK(sink->delegates().front().id == "p/book#1");
  CHECK(sink->outcome_as<agents::Waits>() != nullptr);
}

TEST_CASE(
    "Plan: a child that a broken-off turn lost is begun again with the same input, whatever came since") {
  test::ManualClock clock;
  const std::string plan = R"({"id": "p", "parallel": [
      {"id": "s", "sequence": [{"id": "one", "agent": "a"},
                               {"id": "two", "agent": "a", "input": "b said {{/steps/b/text}}"}]},
      {"id": "b", "agent": "a"}]})";
  const auto executor = executor_of(plan, clock);
  agents::Turn turn;
  turn.attempt = 2;
  turn.states.push_back(agents::write_records({{What::began, {}, 0, clock.now(), {}, plan},
                                               {What::begin, "p/s/one", 1, clock.now()},
                                               {What::begin, "p/b", 1, clock.now()}}));
  turn.states.push_back(agents::write_records(
      {{What::end, "p/s/one", 1, clock.now()}, {What::begin, "p/s/two", 1, clock.now()}}));
  turn.children = {{"p/s/one#1", task::TaskKey{2}}, {"p/b#1", task::TaskKey{3}}};
  turn.results.push_back({"p/b#1", child_saying("hi"), "", 0, 0});
  turn.read_child = [](task::TaskKey) -> base::Result<task::Task> { return child_saying("hi"); };
  const auto sink = std::make_shared<test::RecordingSink>();
  executor->start(std::move(turn), sink);
  REQUIRE(sink->delegates().size() == 1);
  CHECK(sink->delegates().front().id == "p/s/two#1");
  CHECK(task::text_of(sink->delegates().front().message) == "b said ");
}

TEST_CASE("Plan: a turn that cannot read a result at the moment has no effect, and another turn follows") {
  test::ManualClock clock;
  const std::string plan = R"({"id": "p", "sequence": [
      {"id": "one", "agent": "a"}, {"id": "two", "agent": "a", "input": "{{/steps/one/text}}"}]})";
  const auto executor = executor_of(plan, clock);
  bool is_readable = false;
  const auto run = [&] {
    agents::Turn turn;
    turn.states.push_back(agents::write_records(
        {{What::began, {}, 0, clock.now(), {}, plan}, {What::begin, "p/one", 1, clock.now()}}));
    turn.children["p/one#1"] = task::TaskKey{2};
    turn.results.push_back({"p/one#1", child_saying("hello"), "", 0, 0});
    turn.read_child = [&](task::TaskKey) -> base::Result<task::Task> {
      if (!is_readable) return base::fail(base::ErrorCode::unavailable, "try again");
      return child_saying("hello");
    };
    const auto sink = std::make_shared<test::RecordingSink>();
    executor->start(std::move(turn), sink);
    return sink;
  };
  const auto left = run();
  CHECK(left->delegates().empty());
  CHECK(left->events().empty());
  const auto* waits = left->outcome_as<agents::Waits>();
  REQUIRE(waits != nullptr);
  REQUIRE(waits->until);
  CHECK(*waits->until > clock.now());
  is_readable = true;
  const auto next = run();
  REQUIRE(next->delegates().size() == 1);
  CHECK(task::text_of(next->delegates().front().message) == "hello");
}

TEST_CASE("Plan: a run that another node has begun with another card continues with that card's plan") {
  test::ManualClock clock;
  const auto executor = executor_of(kPlan, clock);
  // Begins the run here, but nothing of this is stored.
  executor->start(agents::Turn(), std::make_shared<test::RecordingSink>());
  const std::string other = R"({"id": "p", "sequence": [
      {"id": "first", "agent": "b"}, {"id": "second", "agent": "b"}]})";
  agents::Turn turn;
  turn.states.push_back(agents::write_records({{What::began, {}, 0, clock.now(), {}, other},
                                               {What::begin, "p/first", 1, clock.now()},
                                               {What::end, "p/first", 1, clock.now()}}));
  const auto sink = std::make_shared<test::RecordingSink>();
  executor->start(std::move(turn), sink);
  REQUIRE(sink->delegates().size() == 1);
  CHECK(sink->delegates().front().id == "p/second#1");
}

}  // namespace workflow_executor_test
