// Recover: stores the change that Recovery made for a task, unless a turn of the task runs here. Pure.
#pragma once

#include "store/task_store.h"
#include "task/change.h"

namespace baton::engine {

struct Recover {
  task::TaskKey task;
  task::Change change;  // with the version on which it was made
  const std::function<bool(task::TaskKey)>& runs_here;

  // Refuses with not_found if a turn of the task runs here, because an operator has requeued it.
  base::Result<task::Change> decide(const store::TaskRow&) const {
    if (runs_here(task)) return base::fail(base::ErrorCode::not_found, "its turn is running here");
    return change;
  }
};

}  // namespace baton::engine
