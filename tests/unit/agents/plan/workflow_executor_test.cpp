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

}  // namespace workflow_executor_test
