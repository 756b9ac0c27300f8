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
// `node`: whose turns they are.
std::vector<task::TaskHead> open_heads(Connection& connection, TaskStore::Open which, task::TaskKey key,
                                       int limit, NodeId node);
// At most `limit` of all tasks with keys above `after`, in order.
std::vector<task::TaskHead> heads_after(Connection& connection, task::TaskKey after, int limit);
ListPage list_heads(Connection& connection, const task::ListFilter& filter);
// A number that every change raises by one at least, so that a row is as it was if it still has this one: the
// version, the last event, and one more once its context has rows. What is given a stamp expects it of the
// row, and fails the group with raced, then or later, if another node has changed the row since.
inline std::int64_t stamp_of(const task::TaskHead& head, bool alone) {
  return head.version.value + head.last_event.value + (alone ? 0 : 1);
}
// Inserts a task with the key of `row.head`. `trace`: what its first message came with.
void insert_task(Connection& connection, const TaskRow& row, const task::NewTask& task,
                 const std::string& trace);
// Updates all mutable columns except the status and those of update_waits.
void update_head(Connection& connection, const TaskRow& row, std::int64_t stamp);
// Also updates the status. Separate, because this rewrites an index used for listing tasks.
void update_head_and_status(Connection& connection, const TaskRow& row, std::int64_t stamp);
// Updates what the turn waits for besides all its children, which few turns do: the other updates are
// cheaper without it.
void update_waits(Connection& connection, const TaskRow& row);
// Updates what the task and those below it have used.
void update_usage(Connection& connection, const TaskRow& row);
// Updates what they may take, which few tasks say; the head must have it.
void update_budget(Connection& connection, const TaskRow& row);
// Called once, when the task's log has grown long.
void set_indexed(Connection& connection, task::TaskKey key);
// Makes a hidden task visible.
void show_head(Connection& connection, task::TaskKey key);
// Updates only what output changes: the ends of the log and the artifacts.
void update_head_ends(Connection& connection, const TaskRow& row, std::int64_t stamp);
// Updates only the version and the owner.
void set_owner(Connection& connection, const TaskRow& row, std::int64_t stamp);
// Called once, when a task that was alone in its own context is so no more.
void set_context(Connection& connection, const task::TaskHead& head, std::int64_t stamp);
// Deletes the row, which must be as it was read.
void delete_head(Connection& connection, const TaskRow& row);

}  // namespace baton::store::sql
