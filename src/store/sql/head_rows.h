// Reads and writes TaskHeads as rows of `tasks`. Everything throws sql::Failure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/sql/connection.h"
#include "store/task_store.h"

namespace baton::store::sql {

std::optional<TaskRow> find_head(Connection& connection, task::TaskKey key);
std::optional<TaskRow> find_head(Connection& connection, const task::TaskRef& ref);
bool task_exists(Connection& connection, task::TaskKey key);
// Implements TaskStore::open_tasks. `node`: the owner of unfinished turns.
std::vector<task::TaskHead> open_heads(Connection& connection, TaskStore::Open which, task::TaskKey key,
                                       int limit, NodeId node);
// At most `limit` of all tasks with keys above `after`, in order.
std::vector<task::TaskHead> heads_after(Connection& connection, task::TaskKey after, int limit);
ListPage list_heads(Connection& connection, const task::ListFilter& filter);
// A number that every change raises by at least one, so that a row with the same stamp is unchanged: the
// version plus the last event, plus one once its context has rows. Functions that take a stamp require that
// the row has it. If another node has changed the row since, they or a later call fail the group with raced.
inline std::int64_t stamp_of(const task::TaskHead& head, bool alone) {
  return head.version.value + head.last_event.value + (alone ? 0 : 1);
}
// Inserts a task with the key of `row.head`. `trace`: the trace of its first message's request.
void insert_task(Connection& connection, const TaskRow& row, const task::NewTask& task,
                 const std::string& trace);
// Updates all mutable columns except the status and those of update_waits.
void update_head(Connection& connection, const TaskRow& row, std::int64_t stamp);
// Also updates the status. Separate, because this rewrites an index used for listing tasks.
void update_head_and_status(Connection& connection, const TaskRow& row, std::int64_t stamp);
// Updates the conditions that the turn waits for, other than the end of all children. Few turns have such
// conditions, and the other updates are cheaper without them.
void update_waits(Connection& connection, const TaskRow& row);
// Updates the usage of the task and the tasks below it.
void update_usage(Connection& connection, const TaskRow& row);
// Updates the budget, which few tasks have; the head must have one.
void update_budget(Connection& connection, const TaskRow& row);
// Called once, when the task's log has grown long.
void set_indexed(Connection& connection, task::TaskKey key);
// Makes a hidden task visible.
void show_head(Connection& connection, task::TaskKey key);
// Updates only the columns that output changes: the end of the log and the artifacts.
void update_head_ends(Connection& connection, const TaskRow& row, std::int64_t stamp);
// Updates only the version and the owner.
void set_owner(Connection& connection, const TaskRow& row, std::int64_t stamp);
// Called once, when a task that was alone in its own context is no longer alone.
void set_context(Connection& connection, const task::TaskHead& head, std::int64_t stamp);
// Deletes the row, which must be unchanged since it was read.
void delete_head(Connection& connection, const TaskRow& row);

}  // namespace baton::store::sql
