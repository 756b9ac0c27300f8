#include "agents/plan/plan_memory.h"

#include <doctest/doctest.h>

namespace plan_memory_test {
namespace {

using namespace baton;
using agents::PlanMemories;
using agents::PlanMemory;

agents::Turn turn_of(std::int64_t key, const std::string& message, std::vector<std::string> states) {
  agents::Turn turn;
  turn.key = task::TaskKey{key};
  turn.message.id.value = message;
  for (std::string& state : states) turn.states.push_back({std::move(state)});
  return turn;
}

std::unique_ptr<PlanMemory> taken(PlanMemories& memories, agents::Turn turn) {
  return memories.take(turn);
}

// A run that has begun and has two states, the later one being `last`.
std::unique_ptr<PlanMemory> begun(PlanMemories& memories, std::int64_t key, const std::string& last) {
  auto memory = taken(memories, turn_of(key, "m", {}));
  memory->plan = std::make_shared<agents::Plan>();
  memory->sources.made()["p text"];
  memory->facts.add({agents::PlanRecord::What::began, {}, 0, {}, {}, "{}"});
  memory->states = 2;
  memory->last_state = last;
  return memory;
}

}  // namespace

TEST_CASE("PlanMemories: the memory of a run is handed to its next turn, once") {
  PlanMemories memories(1 << 20);
  memories.keep(task::TaskKey{1}, begun(memories, 1, "b"));
  CHECK(taken(memories, turn_of(1, "m", {"a", "b", "c"}))->states == 2);
  CHECK(taken(memories, turn_of(1, "m", {"a", "b", "c"}))->states == 0);
}

TEST_CASE("PlanMemories: all that comes from states that the log does not have is dropped") {
  PlanMemories memories(1 << 20);
  for (const auto& states : {std::vector<std::string>{"a"}, {"a", "x"}, {"a", "x", "c"}}) {
    memories.keep(task::TaskKey{1}, begun(memories, 1, "b"));
    const auto memory = taken(memories, turn_of(1, "m", states));
    CHECK(memory->states == 0);
    CHECK(memory->facts.plan().empty());
    CHECK(memory->plan == nullptr);
    CHECK(memory->sources.made().empty());
  }
}

TEST_CASE("PlanMemories: a turn for another message of the same task finds no memory") {
  PlanMemories memories(1 << 20);
  memories.keep(task::TaskKey{1}, begun(memories, 1, "b"));
  CHECK(taken(memories, turn_of(1, "n", {"a", "b"}))->states == 0);
}

TEST_CASE("PlanFacts: the memory of a run counts the texts of its failures") {
  agents::PlanFacts facts;
  facts.add({agents::PlanRecord::What::begin, "p", 1});
  const std::size_t before = facts.bytes();
  facts.add({agents::PlanRecord::What::end, "p", 1, {}, "failed", std::string(5'000, 'x')});
  CHECK(facts.bytes() >= before + 4'900);
}

TEST_CASE("PlanMemories: when full, the memory kept longest is dropped") {
  PlanMemories memories(4'000);
  for (std::int64_t key = 1; key <= 3; ++key)
    memories.keep(task::TaskKey{key}, begun(memories, key, std::string(1'800, 'x')));
  const std::string last(1'800, 'x');
  CHECK(taken(memories, turn_of(1, "m", {"a", last}))->states == 0);
  CHECK(taken(memories, turn_of(3, "m", {"a", last}))->states == 2);
  // A memory larger than the limit is not kept.
  memories.keep(task::TaskKey{4}, begun(memories, 4, std::string(5'000, 'x')));
  CHECK(taken(memories, turn_of(4, "m", {"a", std::string(5'000, 'x')}))->states == 0);
}

}  // namespace plan_memory_test
