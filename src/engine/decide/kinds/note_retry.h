// NoteRetry: logs, in a task that an operator has retried, the new task that the retry created. Pure.
#pragma once

#include <string>

#include "store/task_store.h"
#include "task/change.h"

namespace baton::engine {

struct NoteRetry {
  task::TaskKey task;  // the one that was retried
  task::AuditEntry entry;
  task::TaskKey made;

  base::Result<task::Change> decide(const store::TaskRow& now) const {
    task::Change change;
    change.task = now.head.key;
    change.events.push_back(
        task::Intervention{entry.actor, entry.action, entry.reason, std::to_string(made.value)});
    return change;
  }
};

}  // namespace baton::engine
