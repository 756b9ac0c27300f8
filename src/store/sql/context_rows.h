// Rows of `contexts`, `conversation` and `calls`: data shared by a context's tasks. A task alone in its own
// context (own_context.h) has no such rows while its log is short, because the log holds the same data. The
// rows are written when another task joins or the log grows long.
//
// Threads: as for Connection. Functions that take a connection throw sql::Failure.
#pragma once

#include <span>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "store/sql/connection.h"
#include "store/task_store.h"
#include "task/event.h"

namespace baton::store::sql {

// Converts a task's key to the key of its own context and back. Valid even if other tasks have joined the
// context.
inline task::ContextKey own_context_key(task::TaskKey key) {
  return {-key.value};
}
inline task::TaskKey task_of_own_key(task::ContextKey key) {
  return {-key.value};
}
// The task that is alone in this context without rows; key 0 if there is none.
task::TaskKey find_alone(Connection& connection, task::ContextKey context);

struct ContextRow {
  task::ContextKey key;   // 0: no such context
  bool has_rows = false;  // false: the own context of a task that is alone in it
};
// Whether the context has a row of its own.
bool has_rows(Connection& connection, task::ContextKey context);
ContextRow find_context(Connection& connection, const task::AgentName& agent, const task::Caller& caller,
                        const task::ContextId& id);
// Inserts the context's row with the key that is in the head.
void insert_context(Connection& connection, const task::TaskHead& head);

// Inserts an event's rows in the conversation and calls of its task's context.
void insert_in_context(Connection& connection, const task::TaskHead& head, task::EventNumber number,
                       base::Timestamp at, const task::EventBody& body);

// Writes all rows of the own context of a task that was alone in it, from the task's log. This raises the
// stamp of the task's row by one.
void write_down_context(Connection& connection, const task::TaskHead& head,
                        std::span<const task::EventPtr> log, std::int64_t stamp);

// Implements TaskStore::context.
base::Result<ContextRecord> read_context(Connection& connection, task::ContextKey context, task::TaskKey task,
                                         task::EventNumber unanswered, int limit);

}  // namespace baton::store::sql
