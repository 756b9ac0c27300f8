// WriteState: the committing thread's connection, and its cache of tasks and contexts, which saves the next
// change a look-up.
//
// Threads: the committing thread only. The cache is ahead of the disk while a transaction is open: call
// `forget` after a rollback.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/context_rows.h"
#include "store/sqlite/head_rows.h"
#include "store/sqlite/lru.h"
#include "store/sqlite/send_index.h"
#include "task/apply.h"

namespace baton::store::sqlite {

struct KnownConfig {
  PushConfigKey key;
  task::PushConfigId id;
  task::Generation generation;
};

struct KnownTask {
  HeadRow row;
  task::ArtifactPlaces artifacts;  // possibly not all; compare with the head's artifact_count
  std::optional<std::vector<KnownConfig>> configs;
};

class WriteState {
 public:
  WriteState(Connection& connection, const base::Clock& clock, std::size_t tasks_max, SendIndex& sends,
             int short_events_max)
      : connection_(connection),
        clock_(clock),
        sends_(sends),
        short_events_max_(short_events_max),
        tasks_(tasks_max),
        contexts_(std::max<std::size_t>(tasks_max / 4, 1)) {}

  Connection& connection() { return connection_; }
  // Never goes back, so that the order of numbers and the order of times agree.
  base::Timestamp now() { return last_ = std::max(last_, clock_.now()); }

  // Null if there is no such task. Valid until the next call or `remember`.
  KnownTask* task(task::TaskKey key);
  void remember(KnownTask task) { tasks_.put(task.row.head.key, std::move(task)); }

  // The task's artifacts that the change names, and perhaps more. Valid until the task's entry changes.
  const task::ArtifactPlaces& artifacts(KnownTask& task, const task::Change& change);
  std::vector<KnownConfig>& configs(KnownTask& task);
  // Keys of configs and deliveries are not reused while the program runs, even if their rows are deleted: the
  // result of an old delivery may still arrive.
  PushConfigKey new_config_key() {
    return {new_key(last_config_, "SELECT max(config_key) FROM push_configs")};
  }
  DeliveryKey new_delivery_key() {
    return {new_key(last_delivery_, "SELECT max(delivery_key) FROM deliveries")};
  }

  SendIndex& sends() {
    sends_.refresh(connection_);
    return sends_;
  }
  int short_events_max() const { return short_events_max_; }

  // The task's context; key 0 if it does not exist yet: set the key after creating it. Valid until the next
  // call.
  ContextRow& context(const task::TaskHead& head);

  // Counts a task that has come to rest (1) or goes on (-1); the totals are written with the transaction.
  void count(const task::TaskHead& head, std::int64_t tasks);
  // Call last in a transaction.
  void write_totals();

  void forget() {
    tasks_.clear();
    contexts_.clear();
    totals_.clear();
    sends_.forget();
  }

 private:
  void find_artifact(KnownTask& task, const task::ArtifactId& id);
  std::int64_t new_key(std::optional<std::int64_t>& last, const char* sql);

  Connection& connection_;
  const base::Clock& clock_;
  SendIndex& sends_;
  const int short_events_max_;
  base::Timestamp last_{};
  std::optional<std::int64_t> last_config_, last_delivery_;
  // Not yet written. std::less<> allows look-up by references.
  std::map<std::tuple<task::AgentName, task::Caller, task::State>, std::int64_t, std::less<>> totals_;
  Lru<task::TaskKey, KnownTask> tasks_;
  Lru<std::string, ContextRow> contexts_;
};

}  // namespace baton::store::sqlite
