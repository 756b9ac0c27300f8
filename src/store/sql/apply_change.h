// Applies one Change inside the open transaction.
#pragma once

#include "base/error.h"
#include "store/sql/write_state.h"
#include "store/task_store.h"

namespace baton::store::sql {

// Fails as TaskStore::apply does. After an exception (sql::Failure) or `internal` part of the change may be
// written: roll back the transaction.
base::Result<Committed> apply_change(WriteState& state, task::Change& change, TaskRow& row);

}  // namespace baton::store::sql
