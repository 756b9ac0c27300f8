// A parent and its children in an engine, for tests of children's questions.
#pragma once

#include <doctest/doctest.h>

#include <thread>

#include "engine/delegate/delegation.h"
#include "support/engine_bench.h"

namespace family {

using namespace baton;
using task::State;
using task::TurnState;
using test::EngineBench;
using Running = test::ScriptedExecutor::RunningPtr;

inline agents::DelegateRequest call(const std::string& id, const std::string& agent = "helper") {
  agents::DelegateRequest request;
  request.id = id;
  request.agent = agent;
  request.message.parts.push_back(task::Part::of_text(id));
  return request;
}

inline agents::Asked question(const std::string& text, bool for_auth = false) {
  task::Message message;
  message.parts.push_back(task::Part::of_text(text));
  return {"its own id", for_auth, std::move(message)};
}

inline EngineBench::Options quick_to_stop() {
  EngineBench::Options options;
  options.engine.drain_grace = std::chrono::milliseconds(0);
  return options;
}

inline task::TaskHead head(EngineBench& bench, task::TaskKey key) {
  return *bench.engine().reader().head(key);
}

inline task::TaskKey key_of(EngineBench& bench, const Running& child, const std::string& agent = "helper") {
  return bench.engine().reader().head({task::kAnonymous, {agent}, child->turn.task})->key;
}

inline void await_state(EngineBench& bench, task::TaskKey key, State state) {
  while (head(bench, key).state != state) std::this_thread::yield();
}

// The question that the task shows, or an empty text.
inline std::string shown(EngineBench& bench, task::TaskKey key) {
  const auto task = bench.engine().reader().read(key, {});
  if (!task || !task::is_waiting(task->status.state)) return {};
  return task::text_of(*task->status.message);
}

inline void await_question(EngineBench& bench, task::TaskKey key, const std::string& text) {
  while (shown(bench, key) != text) std::this_thread::yield();
}

inline base::Result<engine::Accepted> answer(EngineBench& bench, const std::string& task,
                                             const std::string& text, const std::string& ask = {},
                                             const std::string& trace = {}) {
  auto message = EngineBench::message(text, task);
  message.ask = ask;
  message.trace = trace;
  return bench.submit(std::move(message));
}

// The parent's turn and its first child.
struct Family {
  explicit Family(EngineBench& all, bool waits = false, const std::string& id = "t1") : bench(all) {
    key = bench.submit(EngineBench::message("parent", id))->key;
    parent = bench.scripted().next();
    REQUIRE(parent);
    child = begin("d1");
    if (waits) wait();
  }
  Running begin(const std::string& name) {
    parent->sink->delegate(call(name));
    auto begun = bench.helper().next();
    REQUIRE(begun);
    return begun;
  }
  // Begins a second child and lets both ask. The task shows the first child's question.
  Running two_ask(bool waits) {
    const auto second = begin("d2");
    if (waits) wait();
    child->sink->finish(question("first?"));
    await_question(bench, key, "first?");
    second->sink->finish(question("second?"));
    await_state(bench, key_of(bench, second), State::input_required);
    return second;
  }
  void wait() {
    parent->sink->finish(agents::Waits{});
    while (head(bench, key).turn_state != TurnState::waiting) std::this_thread::yield();
  }

  EngineBench& bench;
  task::TaskKey key;
  Running parent, child;
};

}  // namespace family
