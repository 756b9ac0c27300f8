// Applies one Change inside the open transaction.
#pragma once

#include "base/error.h"
#include "store/sqlite/write_state.h"
#include "store/task_store.h"

namespace baton::store::sqlite {

// Fails as TaskStore::apply does. After an exception (SQLite::Exception) or `internal` some of it may be
// written: roll back the transaction.
base::Result<Committed> apply_change(WriteState& state, task::Change& change, TaskRow& row);

}  // namespace baton::store::sqlite
