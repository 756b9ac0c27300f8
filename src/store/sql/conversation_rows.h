// The title, the beginning and the tasks of a caller's conversation. Everything throws sql::Failure.
#pragma once

#include <string>
#include <vector>

#include "store/sql/write_state.h"
#include "store/task_store.h"

namespace baton::store::sql {

// Implement TaskStore::opening and RetentionStore::in_context.
base::Result<Opening> read_opening(Connection& connection, const task::ContextRef& context);
std::vector<task::TaskHead> heads_in(Connection& connection, const task::ContextRef& context);

// Implements TaskStore::entitle.
base::Result<void> write_title(WriteState& state, const task::ContextRef& context, const std::string& title);
// Deletes the title of a context. `head`: the last task of the context.
void delete_title(Connection& connection, const task::TaskHead& head);

}  // namespace baton::store::sql
