// Reads tasks, events and turn inputs from a task's log. Each function reads in the caller's snapshot.
// Everything throws sql::Failure.
#pragma once

#include <optional>
#include <vector>

#include "base/error.h"
#include "store/sql/head_rows.h"
#include "store/task_store.h"

namespace baton::store::sql {

// Reads the task of this row. Fails with task_not_found if `row` is absent.
base::Result<task::Task> read_task(Connection& connection, std::optional<TaskRow> row,
                                   const task::Depth& depth, std::optional<task::EventNumber> as_of);

base::Result<std::vector<task::Event>> read_events(Connection& connection, task::TaskKey key,
                                                   task::EventNumber after, int limit);

base::Result<TurnInput> read_turn_input(Connection& connection, task::TaskKey key, task::EventNumber message);

base::Result<std::optional<Stop>> stop_after(Connection& connection, task::TaskKey key,
                                             task::EventNumber number);

base::Result<task::EventNumber> stop_before(Connection& connection, task::TaskKey key,
                                            task::EventNumber number);

// Fills in row.waiting.
base::Result<void> read_waiting(Connection& connection, TaskRow& row);

}  // namespace baton::store::sql
