// Applies one Change inside the committing thread's transaction.
#pragma once

#include "base/error.h"
#include "store/sqlite/write_state.h"
#include "store/task_store.h"

namespace baton::store::sqlite {

// A refused change has written nothing and keeps its events; an applied one moves them into the result. If it
// throws SQLite::Exception, roll back the transaction.
base::Result<Committed> apply_change(WriteState& state, task::Change& change);

}  // namespace baton::store::sqlite
