// WriteState: what the committing thread writes through: its connection, and what it remembers of tasks and
// contexts so that the next change needs no look-up.
//
// Threads: the committing thread only. The memory is ahead of the disk while a transaction is open: when one
// is rolled back it must be forgotten.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "store/sqlite/change_plan.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/head_rows.h"
#include "store/sqlite/lru.h"

namespace baton::store::sqlite {

struct KnownConfig {
  PushConfigKey key;
  task::PushConfigId id;
};

struct KnownTask {
  HeadRow row;
  KnownArtifacts artifacts;  // some of them; all, if there are as many as the head counts
  std::optional<std::vector<KnownConfig>> configs;
};

class WriteState {
 public:
  WriteState(Connection& connection, const base::Clock& clock, std::size_t tasks_max)
      : connection_(connection), clock_(clock), tasks_(tasks_max), contexts_(tasks_max) {}

  Connection& connection() { return connection_; }
  // Never goes back, so that the order of numbers and the order of times agree.
  base::Timestamp now() { return last_ = std::max(last_, clock_.now()); }

  // Null if there is no such task. Good until another task is asked for.
  KnownTask* task(task::TaskKey key);
  void remember(KnownTask task) { tasks_.put(task.row.head.key, std::move(task)); }

  std::optional<KnownArtifact> artifact(KnownTask& task, const task::ArtifactId& id);
  std::vector<KnownConfig>& configs(KnownTask& task);

  // The key of the task's context, made if there is none.
  task::ContextKey context(const NewTask& task);

  void forget() {
    tasks_.clear();
    contexts_.clear();
  }

 private:
  Connection& connection_;
  const base::Clock& clock_;
  base::Timestamp last_{};
  Lru<task::TaskKey, KnownTask> tasks_;
  Lru<std::string, task::ContextKey> contexts_;
};

}  // namespace baton::store::sqlite
