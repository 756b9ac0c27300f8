// Rows of `contexts`, `conversation` and `calls`: what the tasks of a context share. A task that is alone in
// a context made for it (own_context.h), with a short log, has none of them: its log tells the same. They are
// written when another task comes or when the log grows long.
//
// Threads: as the connection. Functions that take one throw SQLite::Exception.
#pragma once

#include <span>
#include <string>

#include "base/clock.h"
#include "store/sqlite/connection.h"
#include "task/apply.h"
#include "task/event.h"

namespace baton::store::sqlite {

// The key of a context that is, or began as, the task's own; and back.
inline task::ContextKey own_context_key(task::TaskKey key) {
  return {-key.value};
}
inline task::TaskKey task_of_own_key(task::ContextKey key) {
  return {-key.value};
}
// The task that is alone in this context, which has no rows; or none.
task::TaskKey find_alone(Connection& connection, task::ContextKey context);

struct ContextRow {
  task::ContextKey key;   // 0: there is none
  bool has_rows = false;  // else it is the own one of a task that is alone in it
};
ContextRow find_context(Connection& connection, const task::AgentName& agent, const task::Caller& caller,
                        const task::ContextId& id);
task::ContextKey insert_context(Connection& connection, const task::TaskHead& head, base::Timestamp now);

// What an event adds to the conversation and the calls of its task's context.
void insert_in_context(Connection& connection, const task::TaskHead& head, task::EventNumber number,
                       base::Timestamp at, const task::EventEffect& effect, const task::EventBody& body);

// All rows of the own context of a task that was alone in it, with this log.
void write_down_context(Connection& connection, const task::TaskHead& head,
                        std::span<const task::EventPtr> log);

}  // namespace baton::store::sqlite
