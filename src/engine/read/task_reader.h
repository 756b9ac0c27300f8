// TaskReader: reads tasks, from the live log if there is one, else from the store, and waits for their stops.
// Callers see only durable state. While other nodes share the store, memory only answers how a task was; its
// current state is read from the store.
//
// Threads: any. Every method but await_stop may block on the disk.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <vector>

#include "engine/decide/inbox.h"
#include "engine/live/live_tasks.h"
#include "engine/shared/background.h"
#include "store/task_store.h"

namespace baton::engine {

class TaskReader {
 public:
  TaskReader(const store::TaskStore& store, const store::DeliveryStore& deliveries, LiveTasks& live,
             const Inbox& inbox, Background& background, const store::Peers* peers = nullptr)
      : store_(store),
        deliveries_(deliveries),
        live_(live),
        inbox_(inbox),
        background_(background),
        peers_(peers) {}

  base::Result<task::TaskHead> head(task::TaskKey key) const;
  // task_not_found if the caller has no such task at this agent, or it is hidden.
  base::Result<task::TaskHead> head(const task::TaskRef& ref) const;
  // The task as it is now, or just after event `as_of`. Fails with too_large past depth.bytes_max.
  base::Result<task::Task> read(task::TaskKey key, const task::Depth& depth,
                                std::optional<task::EventNumber> as_of = {}) const;
  base::Result<task::Task> read(const task::TaskRef& ref, const task::Depth& depth) const;
  // Whether a read of this task, as it is now or just after event `as_of`, is cheap and needs no disk.
  bool is_quick_to_read(task::TaskKey key, std::optional<task::EventNumber> as_of) const;
  bool is_quick_to_read(const task::TaskRef& ref) const;
  // At most `limit` events with numbers above `after`, in order; fewer if they are large.
  base::Result<std::vector<task::Event>> events(task::TaskKey key, task::EventNumber after, int limit) const;
  base::Result<std::optional<Stop>> stop_after(task::TaskKey key, task::EventNumber number) const;
  // Returns the log position before the run that event `number` belongs to. A run goes from a message to the
  // next stop.
  base::Result<task::EventNumber> stop_before(task::TaskKey key, task::EventNumber number) const;
  // Calls `done` once: with the first stop after event `after`, whether it has already come or not; or with
  // nullopt, once `bound` has passed or waits are ended (LiveTasks::end_waits). `done` runs on any thread and
  // must not block.
  void await_stop(task::TaskKey key, task::EventNumber after, std::chrono::milliseconds bound,
                  LiveTasks::OnStop done) const;
  // Reads the first stop after event `after`, if there is one, and passes the result to the wait; tries again
  // if the read fails.
  void look_for_stop(const LiveTasks::Wait& wait, task::EventNumber after) const;
  // Another node has changed the task; see LiveTasks.
  void changed_elsewhere(task::TaskKey task, task::EventNumber last) const;
  base::Result<store::ListPage> list(const task::ListFilter& filter) const;
  base::Result<store::Opening> opening(const task::ContextRef& context) const;
  base::Result<std::vector<task::PushConfig>> configs(task::TaskKey task) const;
  base::Result<std::vector<store::Delivery>> due_deliveries(base::Timestamp now, int limit) const;

  // For the engine only: these may return state that is not durable yet. Otherwise as in store::TaskStore.
  base::Result<store::TurnInput> turn_input(task::TaskKey key, task::EventNumber message) const;
  base::Result<store::ContextRecord> context(const task::TaskHead& head, int limit) const;
  base::Result<task::Task> read_committed(task::TaskKey key, const task::Depth& depth,
                                          std::optional<task::EventNumber> as_of = {}) const {
    return live_.is_changing(key) ? store_.read(key, depth, as_of) : read(key, depth, as_of);
  }
  base::Result<std::vector<task::Event>> committed_events(task::TaskKey key, task::EventNumber after,
                                                          int limit) const {
    return live_.is_changing(key) ? store_.events(key, after, limit) : events(key, after, limit);
  }

 private:
  using TimePoint = base::SteadyTime::time_point;

  // Returns the log, or null if another node may have changed its task.
  LiveLogPtr current(LiveLogPtr log) const;
  void expire_at(TimePoint when) const;
  void expire() const;
  template <class T>
  base::Result<T> durable(task::TaskKey key, base::Result<T> read) const;

  const store::TaskStore& store_;
  const store::DeliveryStore& deliveries_;
  LiveTasks& live_;
  const Inbox& inbox_;
  Background& background_;
  const store::Peers* const peers_;  // null: the store is not shared
  // No wait is overdue before this time. One timer, set for it, serves all waits.
  mutable std::atomic<TimePoint> expires_at_ = TimePoint::max();
};

}  // namespace baton::engine
