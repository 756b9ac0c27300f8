// What `baton db` does to a SQLite database, also one that a server uses. Refuses a PostgreSQL database by
// naming the tool that does the same there.
//
// Threads: one. Each blocks until it is done. Errors are for whoever runs the command.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace baton::app {

// The copy's size in bytes. Never replaces a file.
base::Result<std::int64_t> back_up_database(const std::string& database, const std::string& copy);

// What is wrong with it; empty: nothing.
base::Result<std::vector<std::string>> check_database(const std::string& database);

base::Result<std::vector<std::pair<std::string, std::int64_t>>> measure_database(const std::string& database);

struct MovedTasks {
  std::int64_t tasks = 0;
  std::int64_t left_out = 0;  // that have not come to rest
};

// Which tasks; empty fields let all pass.
struct TaskChoice {
  std::string task, agent, caller, context;
};
// Writes JSON lines to `write`, which returns false to stop.
base::Result<MovedTasks> export_tasks(const std::string& database, const TaskChoice& choice,
                                      const std::function<bool(const std::string&)>& write);
// All or none of them; fails with already_exists if a server uses the database.
base::Result<MovedTasks> import_tasks(const std::string& database,
                                      const std::function<std::optional<std::string>()>& next_line);

}  // namespace baton::app
