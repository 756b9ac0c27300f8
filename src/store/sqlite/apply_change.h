// Applies one Change inside the committing thread's transaction.
#pragma once

#include "base/error.h"
#include "store/sqlite/write_state.h"
#include "store/task_store.h"

namespace baton::store::sqlite {

// A refused change has written nothing and keeps its events; an applied one has given them to the result.
// Throws SQLite::Exception: then the transaction must be rolled back.
base::Result<Committed> apply_change(WriteState& state, task::Change& change);

}  // namespace baton::store::sqlite
