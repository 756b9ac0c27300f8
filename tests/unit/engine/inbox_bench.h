// InboxBench: an inbox on a memory store with planned faults; records the outcomes of decisions. Gate: blocks
// one of its threads.
#pragma once

#include <atomic>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "contract/store_bench.h"
#include "engine/decide/inbox.h"
#include "support/patience.h"

namespace baton::test {

using Keys = std::vector<task::TaskKey>;

// Blocks the thread that enters until the gate is opened.
class Gate {
 public:
  void enter() {
    reached_.set_value();
    open_.get_future().wait();
  }
  bool wait_until_entered() {
    return reached_.get_future().wait_for(patience()) == std::future_status::ready;
  }
  void open() { open_.set_value(); }

 private:
  std::promise<void> reached_, open_;
};

inline std::string outcome(const base::Result<engine::Written>& written) {
  if (written) return "done";
  if (written.error().code == base::ErrorCode::internal) return "internal";
  if (written.error().code == base::ErrorCode::unavailable) return "unavailable";
  if (written.error().code == base::ErrorCode::overloaded) return "overloaded";
  if (written.error().code == base::ErrorCode::task_not_found) return "task_not_found";
  return written.error().code == base::ErrorCode::conflict ? "conflict" : "another error";
}

class InboxBench {
 public:
  // The groups and flushes of `plan` are counted from `start`.
  explicit InboxBench(engine::InboxOptions settings = {}, store::FaultPlan plan = {})
      : options(std::move(settings)),
        memory(clock),
        store(
            memory, memory, memory, [this] { memory.roll_back(); }, counting(std::move(plan))) {}
  ~InboxBench() { stop(); }
  InboxBench(const InboxBench&) = delete;
  InboxBench& operator=(const InboxBench&) = delete;

  engine::Inbox& start() {
    options.stats = &stats;
    options.quick_flush = is_quick ? std::chrono::hours(1) : std::chrono::hours(0);
    inbox.emplace(store, store, live, options, [this] { ++deliveries_written; });
    return *inbox;
  }
  void stop() { inbox.reset(); }

  // Creates tasks in the store whose rows the inbox has not cached.
  Keys make_tasks(int count) {
    Keys keys;
    for (int i = 0; i < count; ++i) {
      store::TaskRow row;
      auto change = StoreBench::creation("t" + std::to_string(++made_), {status(task::State::submitted)});
      succeed(memory.apply(change, row));
      keys.push_back(row.head.key);
    }
    succeed(memory.commit());
    return keys;
  }

  // Adds one event to the task. Appends the name and the outcome to `told`, and the task's last event number
  // before the change to `seen`.
  engine::Decision add_text(const std::string& name, task::TaskKey key) {
    engine::Decision decision;
    decision.task = key;
    decision.decide = [this, key](const store::TaskRow& now) -> base::Result<task::Change> {
      ++decided;
      seen[key].push_back(now.head.last_event.value);
      return StoreBench::change(now.head, {delta("r", "x")});
    };
    decision.done = recorder(name);
    return decision;
  }
  engine::Decision create(const std::string& name) {
    engine::Decision decision;
    decision.decide = [this, name](const store::TaskRow&) -> base::Result<task::Change> {
      ++decided;
      return StoreBench::creation(name, {status(task::State::submitted)}, "c-" + name);
    };
    decision.done = recorder(name);
    return decision;
  }
  engine::Decision::Done recorder(const std::string& name) {
    return [this, name](const base::Result<engine::Written>& written) {
      told.push_back(name + ": " + outcome(written));
    };
  }
  // Blocks the engine's thread at the gate. Decisions posted meanwhile join this decision's group, which
  // itself changes nothing.
  void hold(Gate& gate) {
    engine::Decision decision;
    decision.decide = [&gate, held = false](const store::TaskRow&) mutable -> base::Result<task::Change> {
      if (!std::exchange(held, true)) gate.enter();
      return base::fail(base::ErrorCode::conflict, "nothing to do");
    };
    decision.done = [](const auto&) {};
    inbox->post(std::move(decision));
    REQUIRE(gate.wait_until_entered());
  }

  std::int64_t last_event(task::TaskKey key) const {
    const auto row = memory.row(key);
    return row ? row->head.last_event.value : 0;
  }

  engine::TurnStats stats;
  engine::InboxOptions options;
  bool is_quick = false;  // the engine's thread flushes, once a flush was measured
  ManualClock clock;
  store::MemoryStore memory;
  store::FaultyStore store;
  engine::LiveTasks live;
  std::atomic<int> groups = 0, flushes = 0, deliveries_written = 0;
  int decided = 0;                                          // on the engine's thread only
  std::map<task::TaskKey, std::vector<std::int64_t>> seen;  // on the engine's thread only
  std::vector<std::string> told;                            // on the thread that flushes only
  std::optional<engine::Inbox> inbox;

 private:
  store::FaultPlan counting(store::FaultPlan plan) {
    return {[this, of = std::move(plan.group)](int group) {
              ++groups;
              return of(group);
            },
            [this, of = std::move(plan.flush)](int flush) {
              auto faults = of(flush);
              faults.before = [this, before = std::move(faults.before)] {
                ++flushes;
                if (before) before();
              };
              return faults;
            }};
  }

  int made_ = 0;
};

}  // namespace baton::test
