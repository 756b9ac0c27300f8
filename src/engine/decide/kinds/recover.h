// Recover: stores what Recovery has made of a task's log, unless a turn of the task runs here by now. Pure.
#pragma once

#include "store/task_store.h"
#include "task/change.h"

namespace baton::engine {

struct Recover {
  task::TaskKey task;
  task::Change change;  // with the version on which it was made
  const std::function<bool(task::TaskKey)>& runs_here;

  // Refuses with not_found if a turn of the task runs here: an operator has had it run again.
  base::Result<task::Change> decide(const store::TaskRow&) const {
    if (runs_here(task)) return base::fail(base::ErrorCode::not_found, "its turn runs here");
    return change;
  }
};

}  // namespace baton::engine
