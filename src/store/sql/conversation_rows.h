// What a caller's conversation is called, how it began and which tasks it has. Everything throws
// sql::Failure.
#pragma once

#include <string>
#include <vector>

#include "store/sql/write_state.h"
#include "store/task_store.h"

namespace baton::store::sql {

// As TaskStore::opening and RetentionStore::in_context.
base::Result<Opening> read_opening(Connection& connection, const task::ContextRef& context);
std::vector<task::TaskHead> heads_in(Connection& connection, const task::ContextRef& context);

// As TaskStore::entitle.
base::Result<void> write_title(WriteState& state, const task::ContextRef& context, const std::string& title);
// Of the context that this was the last task of.
void delete_title(Connection& connection, const task::TaskHead& head);

}  // namespace baton::store::sql
