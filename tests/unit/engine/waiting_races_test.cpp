// Races between a turn that waits for its children and changes that are not durable yet. Uses the parts of an
// engine on a store whose commits and flushes the test can block.
#include <doctest/doctest.h>

#include "engine/delegate/delegation.h"
#include "support/scripted_executor.h"
#include "unit/engine/inbox_bench.h"

namespace waiting_races_test {

using namespace baton;
using task::State;
using task::TurnState;
using test::Gate;

namespace {

agents::DelegateRequest work_for_helper(const std::string& id) {
  agents::DelegateRequest request;
  request.id = id;
  request.agent = "helper";
  request.message.parts.push_back(task::Part::of_text(id));
  return request;
}

class Bench {
 public:
  Bench() {
    inbox.start();
    parts.emplace(*this);
  }
  ~Bench() {
    parts->turns.drain(std::chrono::milliseconds(0));
    inbox.live.end_waits();
    background.stop();
    parts->inbox.settle();
  }

  task::TaskKey submit(const std::string& text) {
    task::Submission submission;
    submission.caller = task::kAnonymous;
    submission.agent = {"scripted"};
    submission.message.parts.push_back(task::Part::of_text(text));
    std::promise<task::TaskKey> accepted;
    parts->tasks.submit(std::move(submission), [&](const base::Result<engine::Accepted>& result) {
      accepted.set_value(result ? result->key : task::TaskKey());
    });
    return accepted.get_future().get();
  }

  task::TaskHead head(task::TaskKey key) { return inbox.memory.row(key)->head; }
  void await_awaited(task::TaskKey key, int children) {
    while (head(key).awaited != children) std::this_thread::yield();
  }
  void await_stop(task::TaskKey key) {
    std::promise<void> stopped;
    parts->reader.await_stop(key, {}, test::patience(), [&](const auto&) { stopped.set_value(); });
    stopped.get_future().wait();
  }
  // Waits until the background pool has run everything submitted before.
  void finish_background() {
    const std::vector threads{std::make_shared<Gate>(), std::make_shared<Gate>()};
    for (const auto& one : threads) background.run([one] { one->enter(); });
    for (const auto& one : threads) REQUIRE(one->wait_until_entered());
    for (const auto& one : threads) one->open();
  }
  // Waits until all decisions that follow from the durable changes have been made.
  void settle() {
    finish_background();
    parts->inbox.settle();
  }

  std::shared_ptr<test::ScriptedExecutor::Running> next_turn() { return scripted->next(); }
  std::shared_ptr<test::ScriptedExecutor::Running> next_child() { return helper->next(); }

  // The next flush or commit enters the gate set here, once.
  std::atomic<Gate*> flush_gate = nullptr, commit_gate = nullptr;

 private:
  static std::function<void()> into(std::atomic<Gate*>& where) {
    Gate* const gate = where.exchange(nullptr);
    if (gate == nullptr) return {};
    return [gate] { gate->enter(); };
  }
  store::FaultPlan plan() {
    store::FaultPlan held;
    held.group = [this](int) {
      store::GroupFaults late;
      late.before_commit = into(commit_gate);
      return late;
    };
    held.flush = [this](int) {
      store::FlushFaults late;
      late.before = into(flush_gate);
      return late;
    };
    return held;
  }
  static engine::EngineOptions quick_to_retry() {
    engine::EngineOptions options;
    options.disk_retry = std::chrono::milliseconds(1);
    return options;
  }
  agents::Catalogue two_agents() {
    std::vector<agents::Agent> all(2);
    const auto add = [](agents::Agent& agent, const std::string& name) {
      auto executor = std::make_unique<test::ScriptedExecutor>();
      auto* const kept = executor.get();
      agent.name = {name};
      agent.executor = std::move(executor);
      return kept;
    };
    scripted = add(all[0], "scripted");
    helper = add(all[1], "helper");
    return agents::Catalogue(std::move(all));
  }

  // Connected as in Engine.
  struct Parts {
    explicit Parts(Bench& bench)
        : inbox(*bench.inbox.inbox),
          reader(bench.inbox.store, bench.inbox.store, bench.inbox.live, inbox, bench.background),
          turns(reader, inbox, bench.catalogue, bench.background, bench.inbox.clock, bench.options,
                bench.wiring, bench.stats),
          push(reader, inbox, bench.options, bench.wiring),
          cancels(bench.inbox.store, reader, inbox, turns, bench.catalogue, bench.background,
                  bench.inbox.clock, bench.options),
          tasks(bench.inbox.store, reader, inbox, bench.inbox.live, turns, push, cancels, bench.catalogue,
                bench.background, bench.inbox.clock, bench.options, bench.wiring),
          delegation(reader, bench.inbox.live, tasks, cancels, turns, inbox, bench.background, bench.options,
                     nullptr) {}
    engine::Inbox& inbox;
    const engine::TaskReader reader;
    engine::TurnRunner turns;
    engine::PushConfigs push;
    engine::Cancels cancels;
    engine::TaskService tasks;
    engine::Delegation delegation;
  };

  const engine::EngineOptions options = quick_to_retry();
  const engine::EngineWiring wiring;
  engine::TurnStats stats;
  test::ScriptedExecutor* scripted = nullptr;
  test::ScriptedExecutor* helper = nullptr;
  agents::Catalogue catalogue = two_agents();

 public:
  test::InboxBench inbox{{}, plan()};
  engine::Background background{options.disk_retry};
  std::optional<Parts> parts;
};

}  // namespace

TEST_CASE("TurnRunner: a child's end that comes before its parent's wait is stored is not lost") {
  Bench bench;
  const auto parent = bench.submit("parent");
  const auto turn = bench.next_turn();
  REQUIRE(turn);
  turn->sink->delegate(work_for_helper("d1"));
  const auto child = bench.next_child();
  REQUIRE(child);
  bench.await_awaited(parent, 1);
  const task::Subagent end{child->turn.task.value, "helper", task::Subagent::Phase::finished, {}};
  bench.parts->turns.log_stop(parent, bench.head(parent).turn_message, end);
  bench.settle();
  CHECK(bench.head(parent).awaited == 0);  // the running turn has stored the child's end
  turn->sink->finish(agents::Waits{});
  const auto next = bench.next_turn();
  REQUIRE(next);
  CHECK(next->turn.id != turn->turn.id);
}

TEST_CASE("Delegation: a child stored while its parent is broken off does not end the wait for another") {
  Bench bench;
  const auto parent = bench.submit("parent");
  const auto turn = bench.next_turn();
  REQUIRE(turn);
  turn->sink->delegate(work_for_helper("d1"));
  const auto first = bench.next_child();
  REQUIRE(first);
  bench.await_awaited(parent, 1);
  bench.settle();

  // The second child is committed. After the flush the delegation is notified of it, and then `last` is.
  Gate engine, flush, commit;
  bench.inbox.hold(engine);
  turn->sink->delegate(work_for_helper("d2"));
  bench.finish_background();
  std::promise<void> told;
  engine::Decision last;
  last.task = parent;
  last.decide = [](const store::TaskRow&) { return base::fail(base::ErrorCode::conflict, "only asks"); };
  last.done = [&](const auto&) { told.set_value(); };
  bench.parts->inbox.post(std::move(last));
  bench.flush_gate = &flush;
  engine.open();
  const auto second = bench.next_child();
  REQUIRE(second);
  REQUIRE(flush.wait_until_entered());
  // The parent's change to broken off is decided but not committed.
  bench.commit_gate = &commit;
  turn->sink->finish(agents::BrokenOff{});
  while (bench.commit_gate != nullptr) std::this_thread::yield();
  flush.open();
  told.get_future().wait();
  REQUIRE(commit.wait_until_entered());
  commit.open();

  second->sink->finish(agents::Done{});
  const auto key = bench.parts->reader.head({task::kAnonymous, {"helper"}, second->turn.task})->key;
  bench.await_stop(key);
  bench.settle();
  CHECK(bench.head(parent).turn_state == TurnState::waiting);
  CHECK(bench.head(parent).awaited == 1);
  first->sink->finish(agents::Done{});
  const auto again = bench.next_turn();
  REQUIRE(again);
  CHECK(again->turn.id == turn->turn.id);
  CHECK(again->turn.results.size() == 1);
}

}  // namespace waiting_races_test
