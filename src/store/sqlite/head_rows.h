// Rows of `tasks` to TaskHeads and back. Everything throws SQLite::Exception.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "store/sqlite/connection.h"
#include "store/task_store.h"

namespace baton::store::sqlite {

// What the committing thread must know of a task beside its head.
struct HeadRow {
  task::TaskHead head;
  base::Timestamp created{};  // 0 of a task that is being made
  bool indexed = false;       // it has rows in the tables of index_rows.h
  bool alone = false;         // in a context of its own that has no rows: context_rows.h
};

std::optional<HeadRow> find_head(Connection& connection, task::TaskKey key);
std::optional<HeadRow> find_head(Connection& connection, const task::TaskRef& ref);
bool task_exists(Connection& connection, task::TaskKey key);
std::vector<task::TaskHead> unfinished_heads(Connection& connection, task::TaskKey after, int limit);
std::vector<task::TaskHead> open_child_heads(Connection& connection, task::TaskKey parent);
std::vector<task::TaskHead> orphan_heads(Connection& connection);
ListPage list_heads(Connection& connection, const task::ListFilter& filter);
// So many more tasks of this caller are at rest in this state.
void add_to_total(Connection& connection, const task::AgentName& agent, const task::Caller& caller,
                  task::State state, std::int64_t more);

// `row.head` without key: returns the key.
task::TaskKey insert_task(Connection& connection, const HeadRow& row, const task::NewTask& task,
                          base::Timestamp now);
// Everything that changes of a head but its status.
void update_head(Connection& connection, const HeadRow& row, base::Timestamp now);
// Apart, because an index by which tasks are listed is rewritten with a status.
void update_head_and_status(Connection& connection, const HeadRow& row, base::Timestamp now);
// Once, when its log has grown long.
void set_indexed(Connection& connection, task::TaskKey key);
// A hidden task is hidden no more.
void show_head(Connection& connection, task::TaskKey key);
// What output alone changes: where the log and the artifacts end.
void update_head_ends(Connection& connection, const HeadRow& row, base::Timestamp now);

}  // namespace baton::store::sqlite
