// A barrier, which changes no task. When its refusal is reported, every earlier decision is in the store or
// was refused. Pure.
#pragma once

#include "store/task_store.h"
#include "task/change.h"

namespace baton::engine {

struct Nothing {
  task::TaskKey task = {};

  base::Result<task::Change> decide(const store::TaskRow&) const {
    return base::fail(base::ErrorCode::conflict, "there is nothing to change");
  }
};

}  // namespace baton::engine
