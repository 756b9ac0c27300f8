#include "store/sqlite/dialect.h"

#include <algorithm>
#include <string>

namespace baton::store::sqlite {
namespace {

std::int64_t largest_key(Connection& connection, const char* sql) {
  sql::Query query = connection.query(sql);
  return query.step() ? query.integer(0) : 0;
}

}  // namespace

void Dialect::start() {
  sends_.refresh(connection_);
  last_ = {std::max(largest_key(connection_, "SELECT max(task_key) FROM tasks"),
                    largest_key(connection_, "SELECT last_task FROM retention")),
           largest_key(connection_, "SELECT max(context_key) FROM contexts"),
           largest_key(connection_, "SELECT max(config_key) FROM push_configs"),
           largest_key(connection_, "SELECT max(delivery_key) FROM deliveries")};
}

void Dialect::add_to_total(const task::AgentName& agent, const task::Caller& caller, task::State state,
                           std::int64_t more) {
  const std::string name(task::name_of(state));
  connection_.run(
      "INSERT INTO task_totals (agent, caller, state, tasks) VALUES (?, ?, ?, ?) "
      "ON CONFLICT (agent, caller, state) DO UPDATE SET tasks = tasks + excluded.tasks",
      agent, caller, name, more);
  if (more < 0) {
    connection_.run("DELETE FROM task_totals WHERE agent = ? AND caller = ? AND state = ? AND tasks = 0",
                    agent, caller, name);
  }
}

}  // namespace baton::store::sqlite
