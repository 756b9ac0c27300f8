// Reads a context's conversation and tool calls across its tasks. Both functions throw SQLite::Exception.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "store/sqlite/connection.h"
#include "store/task_store.h"

namespace baton::store::sqlite {

base::Result<std::vector<std::string>> call_ids(Connection& connection, task::ContextKey context);

base::Result<std::vector<task::Message>> read_conversation(Connection& connection, task::ContextKey context,
                                                           task::TaskKey task, task::EventNumber unanswered,
                                                           int limit);

}  // namespace baton::store::sqlite
