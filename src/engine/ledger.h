// Ledger: the only way the engine and its callers write to the store. Commits a change, then wakes the log's
// readers and the notifier. Nothing is shown before it is stored (promise 1).
//
// Threads: any. Callbacks run on the store's flushing thread, in the order in which changes were applied,
// after the change's readers were woken. Early callbacks run before that; see store::EarlyCallback.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>

#include "engine/feed.h"
#include "store/task_store.h"

namespace baton::engine {

class Ledger {
 public:
  // A stored change. Its events have been published.
  struct Written {
    task::TaskHead head;
    task::EventNumber before;  // the last number before this change's events
  };
  using Done = std::function<void(base::Result<Written>)>;
  using Early = store::EarlyCallback;

  // `deliveries_written` is called after a commit that wrote webhook deliveries; it must not block.
  Ledger(store::TaskStore& store, Feed& feed, std::function<void()> deliveries_written);

  void commit(task::Change change, Done done, Early early = nullptr);

  // Change a task's webhooks, as in store::TaskStore. Wake nobody.
  void set_push(task::TaskKey key, task::PushConfig config, int configs_max,
                std::function<void(base::Result<task::PushConfig>)> done);
  void delete_push(task::TaskKey key, task::PushConfigId id, std::function<void(base::Result<void>)> done);

  // See store::TaskStore.
  bool after_change(task::TaskKey key, std::function<void()> then);

  // False after a write failed, until one succeeds. While false, a call starts a probe write, so that the
  // answer recovers even if nobody else writes. Never blocks.
  bool store_is_writable();

  // Waits until none of the above is pending.
  void settle();

  // How many statuses with this state were stored since start.
  std::int64_t count(task::State state) const { return counts_[static_cast<std::size_t>(state)]; }

 private:
  // Wraps `done` so that the write counts as pending until it has run.
  template <class Answer>
  auto counted(Answer done);
  void one_less();
  template <class Answer>
  void note_outcome(const Answer& result);
  base::Result<Written> published(store::Committed committed);

  store::TaskStore& store_;
  Feed& feed_;
  const std::function<void()> deliveries_written_;
  std::array<std::atomic<std::int64_t>, 8> counts_{};
  std::atomic<std::int64_t> under_way_{0};
  std::atomic<bool> writable_{true};
  std::atomic<bool> probing_{false};
};

}  // namespace baton::engine
