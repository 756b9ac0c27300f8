// Ledger: the one way the engine and its callers write. A change is committed, then whoever it concerns is
// woken: readers of the log, the notifier. Nothing is shown before it is stored (promise 1).
//
// Threads: any. Callbacks run on the store's flushing thread, in the order in which changes were applied,
// after readers of the same change were woken. An early one runs before that, as store::EarlyCallback says.
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
  // A change as stored. Its events have gone to the readers.
  struct Written {
    task::TaskHead head;
    task::EventNumber before;  // the last number before this change's events
  };
  using Done = std::function<void(base::Result<Written>)>;
  using Early = store::EarlyCallback;

  // `deliveries_written` is called after a commit that wrote webhook deliveries; it must not block.
  Ledger(store::TaskStore& store, Feed& feed, std::function<void()> deliveries_written);

  void commit(task::Change change, Done done, Early early = nullptr);

  // A task's webhooks, as in store::TaskStore. Nobody is woken.
  void set_push(task::TaskKey key, task::PushConfig config, int configs_max,
                std::function<void(base::Result<task::PushConfig>)> done);
  void delete_push(task::TaskKey key, task::PushConfigId id, std::function<void(base::Result<void>)> done);

  // As in store::TaskStore.
  bool after_change(task::TaskKey key, std::function<void()> then);

  // False once the store could not be written, until a write works again. Being asked then makes it try, so
  // that the answer becomes true also where nobody else writes. Never waits.
  bool store_is_writable();

  // Waits until nothing of the above is under way.
  void settle();

  // How many statuses of this kind were stored since start.
  std::int64_t count(task::State state) const { return counts_[static_cast<std::size_t>(state)]; }

 private:
  // `done`, with the write counted as under way until it has run.
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
