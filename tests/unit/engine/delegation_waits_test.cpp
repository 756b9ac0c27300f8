// Turns that wait for their children without a process, by their own choice or because they were broken off.
#include <doctest/doctest.h>

#include <thread>

#include "engine/delegate/delegation.h"
#include "support/engine_bench.h"

namespace delegation_waits_test {

using namespace baton;
using task::State;
using task::TurnState;
using test::EngineBench;

namespace {

agents::DelegateRequest call(const std::string& id, const std::string& agent,
                             const std::string& text = "work") {
  agents::DelegateRequest request;
  request.id = id;
  request.agent = agent;
  request.message.parts.push_back(task::Part::of_text(text));
  return request;
}

agents::Asked question() {
  task::Message message;
  message.parts.push_back(task::Part::of_text("how?"));
  return {"a", false, std::move(message)};
}

EngineBench::Options quick_to_stop() {
  EngineBench::Options options;
  options.engine.drain_grace = std::chrono::milliseconds(0);
  return options;
}

void await_turn_state(EngineBench& bench, task::TaskKey key, TurnState state) {
  while (bench.engine().reader().head(key)->turn_state != state) std::this_thread::yield();
}

void await_awaited(EngineBench& bench, task::TaskKey key, int children) {
  while (bench.engine().reader().head(key)->awaited != children) std::this_thread::yield();
}

std::size_t children_of(EngineBench& bench, task::TaskKey parent) {
  return bench.store().open_tasks(store::TaskStore::Open::children, parent, 100)->size();
}

std::string whole_reply(EngineBench& bench, task::TaskKey key) {
  std::string text;
  const auto task = bench.engine().reader().read(key, {});
  for (const task::Artifact& artifact : task->artifacts) {
    text += artifact.parts.at(0).content;
  }
  return text;
}

}  // namespace

TEST_CASE("Delegation: a waiting turn continues in the next one, with the results and its earlier output") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const auto parent = bench.scripted().next();
  REQUIRE(parent);
  parent->sink->text("I ask. ");
  parent->sink->delegate(call("d1", "helper"));
  parent->sink->delegate(call("d2", "nobody"));
  parent->sink->finish(agents::Waits{});
  const auto child = bench.helper().next();
  REQUIRE(child);
  await_turn_state(bench, accepted->key, TurnState::waiting);
  REQUIRE(bench.scripted().wait_for([&] { return parent->let_go; }));
  CHECK(bench.wait_running(1));
  CHECK(bench.engine().reader().head(accepted->key)->state == State::working);
  child->sink->text("done that");
  child->sink->finish(agents::Done{});

  const auto next = bench.scripted().next();
  REQUIRE(next);
  CHECK(next->turn.attempt == 1);
  CHECK(next->turn.id != parent->turn.id);
  CHECK(task::text_of(next->turn.message) == "parent");
  REQUIRE(next->turn.history.size() == 1);
  CHECK(task::text_of(next->turn.history[0]) == "I ask. ");
  REQUIRE(next->turn.results.size() == 2);
  const bool in_order = next->turn.results[0].id == "d1";
  const auto& result = next->turn.results[in_order ? 0 : 1];
  CHECK(result.id == "d1");
  REQUIRE(result.task);
  CHECK(result.task->artifacts.at(0).parts.at(0).content == "done that");
  CHECK(next->turn.results[in_order ? 1 : 0].error == "agent not found: \"nobody\"");
  next->sink->text("It says yes.");
  next->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
  CHECK(whole_reply(bench, accepted->key) == "I ask. It says yes.");
}

TEST_CASE("Delegation: a turn that waits without requests fails, one with failed requests runs at once") {
  EngineBench bench;
  const auto idle = bench.submit(EngineBench::message("idle", "t1"));
  bench.scripted().next()->sink->finish(agents::Waits{});
  CHECK(bench.wait(idle->key)->state == State::failed);

  const auto accepted = bench.submit(EngineBench::message("parent", "t2"));
  const auto parent = bench.scripted().next();
  parent->sink->delegate(call("d1", "nobody"));
  parent->sink->finish(agents::Waits{});
  const auto next = bench.scripted().next();
  REQUIRE(next);
  REQUIRE(next->turn.results.size() == 1);
  CHECK(next->turn.results[0].error == "agent not found: \"nobody\"");
  next->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
}

TEST_CASE("Delegation: with one slot a waiting turn starves neither its children nor itself") {
  EngineBench::Options options;
  options.engine.slots = 1;
  options.settings.concurrency = 1;
  EngineBench bench(options);
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const auto parent = bench.scripted().next();
  parent->sink->delegate(call("d1", "scripted", "one"));
  parent->sink->delegate(call("d2", "scripted", "two"));
  parent->sink->finish(agents::Waits{});
  for (int i = 0; i < 2; ++i) {
    const auto child = bench.scripted().next();
    REQUIRE(child);
    CHECK(child->turn.results.empty());
    child->sink->finish(agents::Done{});
  }
  const auto next = bench.scripted().next();
  REQUIRE(next);
  CHECK(next->turn.results.size() == 2);
  next->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
}

TEST_CASE("Delegation: a waiting turn gets a child's question as a result, and can wait again") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  auto parent = bench.scripted().next();
  auto first = call("d1", "helper");
  first.takes_questions = true;
  parent->sink->delegate(first);
  parent->sink->finish(agents::Waits{});
  bench.helper().next()->sink->finish(question());
  parent = bench.scripted().next();
  REQUIRE(parent);
  REQUIRE(parent->turn.results.size() == 1);
  REQUIRE(parent->turn.results[0].task);
  CHECK(parent->turn.results[0].task->status.state == State::input_required);
  auto answer = call("d2", "helper", "so");
  answer.task = parent->turn.results[0].task->id;
  parent->sink->delegate(answer);
  parent->sink->finish(agents::Waits{});
  bench.helper().next()->sink->finish(agents::Done{});
  parent = bench.scripted().next();
  REQUIRE(parent);
  REQUIRE(parent->turn.results.size() == 2);
  CHECK(parent->turn.results[1].id == "d2");
  CHECK(parent->turn.results[1].task->status.state == State::completed);
  parent->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
  int begun = 0, ended = 0;
  for (const task::Event& event : bench.log(accepted->key)) {
    const auto* subagent = std::get_if<task::Subagent>(&event.body);
    if (subagent == nullptr) continue;
    begun += subagent->phase == task::Subagent::Phase::started;
    ended += subagent->phase == task::Subagent::Phase::finished;
    CHECK(subagent->phase != task::Subagent::Phase::failed);
  }
  CHECK(begun == 1);
  CHECK(ended == 1);
}

TEST_CASE("Delegation: a waiting task still waits after a restart, whenever its child ends") {
  // The child ends either after the restart, or during recovery, which stores its end.
  for (const bool child_fails_in_recovery : {false, true}) {
    auto options = quick_to_stop();
    if (child_fails_in_recovery) options.settings.recovery = agents::AgentSettings::Recovery::fail;
    EngineBench bench(options);
    const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
    const auto parent = bench.scripted().next();
    parent->sink->text("before. ");
    parent->sink->delegate(call("d1", "scripted", "child"));
    parent->sink->finish(agents::Waits{});
    REQUIRE(bench.scripted().next());
    await_turn_state(bench, accepted->key, TurnState::waiting);
    bench.restart();
    if (!child_fails_in_recovery) {
      const auto child = bench.scripted().next();
      REQUIRE(child);
      CHECK(task::text_of(child->turn.message) == "child");
      CHECK(child->turn.attempt == 2);
      CHECK(bench.engine().reader().head(accepted->key)->turn_state == TurnState::waiting);
      child->sink->finish(agents::Done{});
    }
    const auto next = bench.scripted().next();
    REQUIRE(next);
    CHECK(task::text_of(next->turn.message) == "parent");
    CHECK(next->turn.attempt == 1);
    REQUIRE(next->turn.results.size() == 1);
    CHECK(next->turn.results[0].task->status.state ==
          (child_fails_in_recovery ? State::failed : State::completed));
    next->sink->text("after.");
    next->sink->finish(agents::Done{});
    CHECK(bench.wait(accepted->key)->state == State::completed);
    CHECK(whole_reply(bench, accepted->key) == "before. after.");
  }
}

TEST_CASE("Delegation: a continued turn that is broken off loses only its own output") {
  EngineBench bench(quick_to_stop());
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const auto parent = bench.scripted().next();
  parent->sink->text("before. ");
  parent->sink->delegate(call("d1", "helper"));
  parent->sink->finish(agents::Waits{});
  bench.helper().next()->sink->finish(agents::Done{});
  const auto broken = bench.scripted().next();
  REQUIRE(broken);
  const std::size_t events = bench.log(accepted->key).size();
  broken->sink->text("half an ans");
  while (bench.log(accepted->key).size() == events) std::this_thread::yield();
  bench.restart();
  const auto next = bench.scripted().next();
  REQUIRE(next);
  CHECK(next->turn.attempt == 2);
  CHECK(next->turn.results.size() == 1);
  next->sink->text("answer.");
  next->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
  CHECK(whole_reply(bench, accepted->key) == "before. answer.");
}

TEST_CASE("Delegation: a turn that is broken off while it has a child runs again when the child stops") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const auto parent = bench.scripted().next();
  parent->sink->text("old. ");
  parent->sink->delegate(call("d1", "helper"));
  const auto child = bench.helper().next();
  REQUIRE(child);
  await_awaited(bench, accepted->key, 1);
  parent->sink->finish(agents::BrokenOff{});
  await_turn_state(bench, accepted->key, TurnState::waiting);
  CHECK_FALSE(child->canceled);
  child->sink->text("result");
  child->sink->finish(agents::Done{});
  const auto again = bench.scripted().next();
  REQUIRE(again);
  CHECK(again->turn.attempt == 1);
  CHECK(again->turn.id == parent->turn.id);
  CHECK(again->turn.results.size() == 1);
  // An agent that starts over and repeats its request gets the same child.
  again->sink->delegate(call("d1", "helper"));
  REQUIRE(bench.scripted().wait_for([&] { return again->delivered.size() == 1; }));
  REQUIRE(again->delivered[0].task);
  CHECK(again->delivered[0].task->id == child->turn.task);
  CHECK(bench.helper().waiting() == 0);
  // A second request with the same id, or a request with another message, gets a new child.
  again->sink->delegate(call("d1", "helper"));
  const auto other = bench.helper().next();
  REQUIRE(other);
  CHECK(other->turn.task != child->turn.task);
  other->sink->finish(agents::Done{});
  REQUIRE(bench.scripted().wait_for([&] { return again->delivered.size() == 2; }));
  again->sink->text("new.");
  again->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
  CHECK(whole_reply(bench, accepted->key) == "new.");
}

TEST_CASE("Delegation: the end of a child while its parent's turn begins to wait is never lost") {
  EngineBench bench;
  for (int i = 0; i < 50; ++i) {
    const auto accepted = bench.submit(EngineBench::message("parent", "t" + std::to_string(i)));
    const auto parent = bench.scripted().next();
    REQUIRE(parent);
    parent->sink->delegate(call("d1", "helper"));
    const auto child = bench.helper().next();
    REQUIRE(child);
    std::thread ends([&] { child->sink->finish(agents::Done{}); });
    i % 2 == 0 ? parent->sink->finish(agents::Waits{}) : parent->sink->finish(agents::BrokenOff{});
    ends.join();
    const auto next = bench.scripted().next();
    REQUIRE(next);
    REQUIRE(next->turn.attempt == 1);
    if (next->turn.results.empty()) {
      // The turn was broken off before the child was in the log. A repeated request gets that child.
      REQUIRE(i % 2 == 1);
      next->sink->delegate(call("d1", "helper"));
      REQUIRE(bench.scripted().wait_for([&] { return next->delivered.size() == 1; }));
      REQUIRE(next->delivered[0].task);
      CHECK(next->delivered[0].task->id == child->turn.task);
    }
    next->sink->finish(agents::Done{});
    REQUIRE(bench.wait(accepted->key)->state == State::completed);
  }
}

TEST_CASE("Delegation: canceling a waiting task cancels its children, and no further turn begins") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const auto parent = bench.scripted().next();
  parent->sink->delegate(call("d1", "helper"));
  parent->sink->finish(agents::Waits{});
  const auto child = bench.helper().next();
  REQUIRE(child);
  await_turn_state(bench, accepted->key, TurnState::waiting);
  CHECK(bench.cancel({"t1"}));
  CHECK(bench.engine().reader().head(accepted->key)->state == State::canceled);
  REQUIRE(bench.helper().wait_for([&] { return child->canceled; }));
  child->sink->finish(agents::Canceled{});
  while (children_of(bench, accepted->key) > 0) std::this_thread::yield();
  bench.engine().settle();
  CHECK(bench.scripted().waiting() == 0);
}

TEST_CASE("Delegation: an agent whose work must not be repeated is not rerun, but may wait") {
  auto options = quick_to_stop();
  options.settings.recovery = agents::AgentSettings::Recovery::fail;
  EngineBench bench(options);
  const auto keeps = bench.submit(EngineBench::message("keeps its process", "t1"));
  const auto parent = bench.scripted().next();
  parent->sink->delegate(call("d1", "helper"));
  REQUIRE(bench.helper().next());
  await_awaited(bench, keeps->key, 1);
  bench.restart();
  CHECK(bench.wait(keeps->key)->state == State::failed);
  CHECK(children_of(bench, keeps->key) == 0);
}

TEST_CASE("Delegation: a message to a waiting task is handled after the continued turn has ended") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("first", "t1"));
  const auto parent = bench.scripted().next();
  parent->sink->delegate(call("d1", "helper"));
  parent->sink->finish(agents::Waits{});
  const auto child = bench.helper().next();
  REQUIRE(child);
  await_turn_state(bench, accepted->key, TurnState::waiting);
  REQUIRE(bench.submit(EngineBench::message("second", "t1")));
  child->sink->finish(agents::Done{});
  const auto goes_on = bench.scripted().next();
  REQUIRE(goes_on);
  CHECK(task::text_of(goes_on->turn.message) == "first");
  CHECK(goes_on->turn.results.size() == 1);
  goes_on->sink->finish(agents::Done{});
  const auto second = bench.scripted().next();
  REQUIRE(second);
  CHECK(task::text_of(second->turn.message) == "second");
  CHECK(second->turn.results.empty());
  second->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
}

}  // namespace delegation_waits_test
