// Nothing: changes nothing. Once it is refused, all that was decided before it is in the store, or is not.
// Pure.
#pragma once

#include "store/task_store.h"
#include "task/change.h"

namespace baton::engine {

struct Nothing {
  task::TaskKey task = {};

  base::Result<task::Change> decide(const store::TaskRow&) const {
    return base::fail(base::ErrorCode::conflict, "nothing is to be changed");
  }
};

}  // namespace baton::engine
