// SetPush, DropPush: a caller sets or removes a webhook of a task. Pure.
#pragma once

#include "store/task_store.h"
#include "task/change.h"

namespace baton::engine {

struct SetPush {
  task::TaskKey task;
  task::PushConfig config;
  int configs_max = 0;  // of one task; past it the store refuses with too_large

  base::Result<task::Change> decide(const store::TaskRow&) const {
    task::Change change;
    change.task = task;
    change.push = config;
    change.push_configs_max = configs_max;
    return change;
  }
};

struct DropPush {
  task::TaskKey task;
  task::PushConfigId id;

  base::Result<task::Change> decide(const store::TaskRow&) const {
    task::Change change;
    change.task = task;
    change.drop_push = id;
    return change;
  }
};

}  // namespace baton::engine
