// Reads a context's conversation and tool calls across its tasks. Throws SQLite::Exception.
#pragma once

#include "base/error.h"
#include "store/sqlite/connection.h"
#include "store/task_store.h"

namespace baton::store::sqlite {

base::Result<ContextRecord> read_context(Connection& connection, task::ContextKey context, task::TaskKey task,
                                         task::EventNumber unanswered, int limit);

}  // namespace baton::store::sqlite
