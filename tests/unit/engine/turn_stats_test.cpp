#include "engine/shared/turn_stats.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "support/engine_bench.h"

namespace turn_stats_test {

using namespace baton;
using engine::TurnStats;
using task::State;
using test::EngineBench;

namespace {

engine::AgentTurns of_agent(EngineBench& bench, const std::string& name) {
  const auto all = bench.engine().agent_turns();
  const auto found = std::ranges::find(all, name, &engine::AgentTurns::agent);
  return found == all.end() ? engine::AgentTurns() : *found;
}

std::int64_t at(const std::array<std::int64_t, TurnStats::kStates>& counts, State state) {
  return counts[static_cast<std::size_t>(state)];
}

std::vector<task::EventPtr> one(task::EventBody body) {
  return {std::make_shared<const task::Event>(task::Event{{1}, {}, std::move(body)})};
}

}  // namespace

TEST_CASE("TurnStats: agents at URLs count as one, and so do agents beyond the limit") {
  TurnStats stats;
  CHECK(&stats.of({"https://a.example/agent"}) == &stats.of({"https://b.example/agent"}));
  for (std::size_t i = 0; i < TurnStats::kAgentsMax + 10; ++i) stats.of({"agent" + std::to_string(i)});
  CHECK(stats.all().size() == TurnStats::kAgentsMax + 1);
  CHECK(&stats.of({"one-more"}) == &stats.of({"another"}));
  CHECK(&stats.of({"agent1"}) != &stats.of({"agent2"}));
}

TEST_CASE("TurnStats: statuses and tokens of durable events are counted for their agent") {
  TurnStats stats;
  stats.note({"one"}, one(task::StatusChanged{{State::completed, {}, {}}, {}}));
  stats.note({"one"}, one(task::Usage{{}, 25}));
  task::ExecutorState elsewhere;
  elsewhere.used.tokens = 5;
  stats.note({"one"}, one(elsewhere));
  stats.note({"two"}, one(task::StatusChanged{{State::failed, {}, {}}, {}}));
  CHECK(stats.of({"one"}).tokens == 30);
  CHECK(stats.of({"two"}).tokens == 0);
  CHECK(stats.statuses(State::completed) == 1);
  CHECK(stats.statuses(State::failed) == 1);
}

TEST_CASE("Engine: an agent's turns are counted by the state they leave their task in, with their times") {
  EngineBench bench;
  const std::pair<const char*, agents::Outcome> turns_made[] = {{"one", agents::Done{}},
                                                                {"another", agents::Failed{"no"}}};
  for (const auto& [text, outcome] : turns_made) {
    const auto sent = bench.submit(EngineBench::message(text));
    REQUIRE(sent);
    const auto turn = bench.scripted().next();
    REQUIRE(turn);
    CHECK(of_agent(bench, "scripted").running == 1);
    turn->sink->finish(outcome);
    REQUIRE(bench.wait(sent->key));
  }
  const auto turns = of_agent(bench, "scripted");
  CHECK(at(turns.turns, State::completed) == 1);
  CHECK(at(turns.turns, State::failed) == 1);
  CHECK(at(turns.statuses, State::submitted) == 2);
  CHECK(turns.queue_time.count == 2);
  CHECK(turns.running == 0);
  CHECK(of_agent(bench, "helper").turn_time.count == 0);
  CHECK(bench.engine().flush_time().snapshot().count > 0);
}

}  // namespace turn_stats_test
