// InboxBench: an inbox over a store in memory that fails as a plan says, and what it told. Gate: holds one of
// its threads.
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

// Holds the thread that enters until it is opened.
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

// Lets other threads run that have something to do.
inline void give_way() {
  for (int i = 0; i < 1'000; ++i) std::this_thread::yield();
}

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
  // `plan` begins to count when `start` is called.
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
    inbox.emplace(store, store, live, options, [this] { ++deliveries_written; });
    return *inbox;
  }
  void stop() { inbox.reset(); }

  // Tasks that are in the store, but whose rows no inbox has.
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

  // Adds one event to the task. The name goes to `told` with the outcome, the number before the event to
  // `seen`.
  engine::Decision add_text(const std::string& name, task::TaskKey key) {
    engine::Decision decision;
    decision.task = key;
    decision.decide = [this, key](const store::TaskRow& now) -> base::Result<task::Change> {
      ++decided;
      seen[key].push_back(now.head.last_event.value);
      return StoreBench::change(now.head, {delta("r", "x")});
    };
    decision.done = tell(name);
    return decision;
  }
  engine::Decision create(const std::string& name) {
    engine::Decision decision;
    decision.decide = [this, name](const store::TaskRow&) -> base::Result<task::Change> {
      ++decided;
      return StoreBench::creation(name, {status(task::State::submitted)}, "c-" + name);
    };
    decision.done = tell(name);
    return decision;
  }
  engine::Decision::Done tell(const std::string& name) {
    return [this, name](const base::Result<engine::Written>& written) {
      told.push_back(name + ": " + outcome(written));
    };
  }
  // What is posted until the gate is opened waits, and comes into this decision's group. It changes nothing.
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
  ManualClock clock;
  store::MemoryStore memory;
  store::FaultyStore store;
  engine::LiveTasks live;
  std::atomic<int> groups = 0, flushes = 0, deliveries_written = 0;
  int decided = 0;                                          // the engine's thread only
  std::map<task::TaskKey, std::vector<std::int64_t>> seen;  // likewise
  std::vector<std::string> told;                            // the flushing thread only
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
