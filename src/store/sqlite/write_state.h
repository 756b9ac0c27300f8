// WriteState: what the committing thread writes through: its connection, and what it remembers of tasks and
// contexts so that the next change needs no look-up.
//
// Threads: the committing thread only. The memory is ahead of the disk while a transaction is open: when one
// is rolled back it must be forgotten.
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
  task::ArtifactPlaces artifacts;  // some of them; all, if there are as many as the head counts
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

  // Null if there is no such task. Good until another task is asked for.
  KnownTask* task(task::TaskKey key);
  void remember(KnownTask task) { tasks_.put(task.row.head.key, std::move(task)); }

  // Those of the task's artifacts that the change names, and perhaps more. Good until the task is remembered
  // anew.
  const task::ArtifactPlaces& artifacts(KnownTask& task, const task::Change& change);
  std::vector<KnownConfig>& configs(KnownTask& task);
  // Keys of configs and deliveries are not given twice while the program runs, even if their rows are
  // deleted: somebody may still be about to say what became of an old one.
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

  // The task's context; with the key 0 if there is none yet, which whoever makes it is to set. Good until
  // another is asked for.
  ContextRow& context(const task::TaskHead& head);

  // The task has come to rest, or goes on (-1): its caller's totals are written with the transaction.
  void count(const task::TaskHead& head, std::int64_t tasks);
  // The last thing of a transaction.
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
  // Not yet written. Looked up by references.
  std::map<std::tuple<task::AgentName, task::Caller, task::State>, std::int64_t, std::less<>> totals_;
  Lru<task::TaskKey, KnownTask> tasks_;
  Lru<std::string, ContextRow> contexts_;
};

}  // namespace baton::store::sqlite
