// Pages of all callers' tasks, for operators. Everything throws sql::Failure.
//
// A page is read from the smallest source that contains all tasks that can pass: tasks at rest in
// order of time, those in one state other than completed, those of the selected callers and agents, or a
// set of keys (children, a schedule's, a context's). Tasks with a turn are few and are merged in. The time is
// checked between rows.
#pragma once

#include "base/error.h"
#include "store/operator_store.h"
#include "store/sql/connection.h"

namespace baton::store::sql {

TaskPage read_page(Connection& connection, const TaskQuery& query);
TaskCount count_tasks(Connection& connection, const TaskFilter& filter);
std::vector<OperatorStore::AgentCounts> counts_by_agent(Connection& connection);
base::Result<TaskLine> read_line(Connection& connection, task::TaskKey key);

}  // namespace baton::store::sql
