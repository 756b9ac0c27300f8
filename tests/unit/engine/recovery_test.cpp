#include "engine/upkeep/recovery.h"

#include <doctest/doctest.h>

#include <thread>

#include "support/engine_bench.h"

namespace recovery_test {

using namespace baton;
using task::State;
using test::EngineBench;

namespace {

EngineBench::Options without_grace() {
  EngineBench::Options options;
  options.engine.drain_grace = std::chrono::milliseconds(0);
  return options;
}

// Waits until the task's log has at least the given number of events.
void wait_for_events(EngineBench& bench, task::TaskKey key, std::size_t count) {
  while (bench.log(key).size() < count) std::this_thread::yield();
}

}  // namespace

TEST_CASE("Recovery: a broken-off turn runs again, and only the second attempt's output is shown") {
  EngineBench bench(without_grace());
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  const auto first = bench.scripted().next();
  REQUIRE(first);
  task::ArtifactChunk chunk;
  chunk.artifact.id.value = "made once";
  chunk.artifact.parts.push_back(task::Part::of_text("old"));
  first->sink->emit(chunk);
  first->sink->text("half an ans");
  wait_for_events(bench, accepted->key, 5);
  bench.restart();
  const auto second = bench.scripted().next();
  REQUIRE(second);
  CHECK(second->turn.attempt == 2);
  CHECK(second->turn.id == first->turn.id);
  CHECK(second->turn.artifacts.empty());
  CHECK(task::text_of(second->turn.message) == "x");
  second->sink->text("whole");
  second->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key)->state == State::completed);
  const auto task = bench.engine().reader().read(accepted->key, {});
  REQUIRE(task->artifacts.size() == 1);
  CHECK(task->artifacts[0].parts.at(0).content == "whole");
  const auto log = bench.log(accepted->key);
  for (std::size_t i = 0; i < log.size(); ++i) CHECK(log[i].number.value == static_cast<std::int64_t>(i) + 1);
}

TEST_CASE("Recovery: a broken-off turn fails with a reason if its agent's rule says so") {
  auto options = without_grace();
  options.settings.recovery = agents::AgentSettings::Recovery::fail;
  EngineBench bench(options);
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  REQUIRE(bench.scripted().next());
  bench.restart();
  CHECK(bench.wait(accepted->key)->state == State::failed);
  const auto task = bench.engine().reader().read(accepted->key, {});
  CHECK(task::text_of(*task->status.message) == "the agent was interrupted by a restart");
}

TEST_CASE("Recovery: a turn that is broken off repeatedly runs again and completes") {
  EngineBench bench(without_grace());
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  for (int attempt = 1; attempt <= 12; ++attempt) {
    const auto turn = bench.scripted().next();
    REQUIRE(turn);
    CHECK(turn->turn.attempt == attempt);
    bench.restart();
  }
  bench.scripted().next()->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
}

TEST_CASE("Recovery: queued turns are queued again, waiting tasks wait, ended ones stay ended") {
  auto options = without_grace();
  options.settings.concurrency = 1;
  EngineBench bench(options);
  const auto ended = bench.submit(EngineBench::message("ends", "t1"));
  bench.scripted().next()->sink->finish(agents::Done{});
  REQUIRE(bench.wait(ended->key));
  const auto waits = bench.submit(EngineBench::message("asks", "t2"));
  task::Message question;
  question.parts.push_back(task::Part::of_text("?"));
  bench.scripted().next()->sink->finish(agents::Asked{"a", false, question});
  REQUIRE(bench.wait(waits->key));
  const auto blocks = bench.submit(EngineBench::message("blocks", "t3"));
  REQUIRE(bench.scripted().next());
  const auto queued = bench.submit(EngineBench::message("queued", "t4"));
  bench.restart();
  for (const char* text : {"blocks", "queued"}) {
    const auto turn = bench.scripted().next();
    REQUIRE(turn);
    CHECK(task::text_of(turn->turn.message) == text);
    turn->sink->finish(agents::Done{});
  }
  CHECK(bench.wait(blocks->key)->state == State::completed);
  CHECK(bench.wait(queued->key)->state == State::completed);
  CHECK(bench.engine().reader().head(waits->key)->state == State::input_required);
  CHECK(bench.log(ended->key).size() == 4);
}

TEST_CASE("Recovery: a task whose cancel was stored is canceled, whatever its agent's rule") {
  EngineBench bench(without_grace());
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  const auto turn = bench.scripted().next();
  auto canceled = bench.cancel_later({"t1"});
  REQUIRE(bench.scripted().wait_for([&] { return turn->canceled; }));
  bench.restart();
  CHECK(bench.wait(accepted->key)->state == State::canceled);
  CHECK(bench.scripted().waiting() == 0);
}

TEST_CASE("Recovery: a parent whose child is working waits for it, then runs as the same attempt") {
  EngineBench bench(without_grace());
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const auto parent = bench.scripted().next();
  REQUIRE(parent);
  agents::DelegateRequest request;
  request.id = "d1";
  request.agent = "helper";
  request.message.parts.push_back(task::Part::of_text("work"));
  parent->sink->text("half an ans");
  parent->sink->delegate(request);
  REQUIRE(bench.helper().next());
  while (bench.engine().reader().head(accepted->key)->awaited == 0) std::this_thread::yield();
  bench.restart();
  const auto child = bench.helper().next();
  REQUIRE(child);
  CHECK(child->turn.attempt == 2);
  CHECK(bench.engine().reader().head(accepted->key)->turn_state == task::TurnState::waiting);
  CHECK(bench.scripted().waiting() == 0);
  child->sink->finish(agents::Done{});
  const auto again = bench.scripted().next();
  REQUIRE(again);
  CHECK(again->turn.attempt == 1);
  CHECK(again->turn.id == parent->turn.id);
  REQUIRE(again->turn.results.size() == 1);
  CHECK(again->turn.results[0].id == "d1");
  again->sink->delegate(request);
  REQUIRE(bench.scripted().wait_for([&] { return !again->delivered.empty(); }));
  REQUIRE(again->delivered[0].task);
  CHECK(again->delivered[0].task->id == child->turn.task);
  CHECK(bench.helper().waiting() == 0);
  again->sink->text("whole");
  again->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
  const auto task = bench.engine().reader().read(accepted->key, {});
  REQUIRE(task->artifacts.size() == 1);
  CHECK(task->artifacts[0].parts.at(0).content == "whole");
}

}  // namespace recovery_test
