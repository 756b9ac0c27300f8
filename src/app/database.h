// The operations of `baton db` on a SQLite database, which a server may be using. They refuse a PostgreSQL
// database with an error that names the equivalent tool, except `copy_database`, which copies between the
// two.
//
// Threads: one. Each function blocks until it is done. Errors are texts for the user of the command.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace baton::app {

// Returns the size of the copy in bytes. Never replaces a file.
base::Result<std::int64_t> back_up_database(const std::string& database, const std::string& copy);

// Returns the faults of the database; empty if it is sound.
base::Result<std::vector<std::string>> check_database(const std::string& database);

base::Result<std::vector<std::pair<std::string, std::int64_t>>> measure_database(const std::string& database);

struct MovedTasks {
  std::int64_t tasks = 0;
  std::int64_t left_out = 0;  // tasks that are not at rest
};

// Selects tasks. An empty field matches all.
struct TaskChoice {
  std::string task, agent, caller, context;
};
// Writes JSON lines to `write`, which returns false to stop.
base::Result<MovedTasks> export_tasks(const std::string& database, const TaskChoice& choice,
                                      const std::function<bool(const std::string&)>& write);
// Imports all of the tasks or none. Fails with already_exists if a server uses the database.
base::Result<MovedTasks> import_tasks(const std::string& database,
                                      const std::function<std::optional<std::string>()>& next_line);

// Selects a turn that a task has run.
struct TurnChoice {
  std::string task, agent;  // the id or a part of it; the agent may be empty if only one task matches
  int turn = 0;             // counted by the caller's messages, from 1; 0: the last
};
struct PreparedTurn {
  std::string task, agent;   // the task's whole id
  std::int64_t message = 0;  // the number of the event after which the turn runs
  int turn = 0, turns = 0;
};
// Creates the database `copy` with the task as it was when that turn's message arrived. A server that opens
// `copy` runs the turn again. Another server may be using `database`.
base::Result<PreparedTurn> prepare_replay(const std::string& database, const std::string& copy,
                                          const TurnChoice& choice);

// A database named on the command line or by the first line of a file, for example a URL with a password.
struct NamedDatabase {
  std::string database, file;
};

struct DatabaseCopy {
  NamedDatabase from, to;
  std::vector<std::string> postgres_allows;  // like `postgres.allow`, for the target
};

struct CopiedTable {
  std::string name;
  std::int64_t rows = 0;
  bool is_equal = false;
};

// Copies all of a database that no server uses into one of the other kind, or continues an interrupted copy.
// Calls `on_table` for each table after comparing it. Fails with invalid_request if the command line is
// wrong, and with the errors of store/copy/copy.h.
base::Result<void> copy_database(const DatabaseCopy& copy,
                                 const std::function<void(const CopiedTable&)>& on_table);

}  // namespace baton::app
