// What `baton db` does to a SQLite database, also one that a server uses. Refuses a PostgreSQL database by
// naming the tool that does the same there, but for copies, which go from one kind to the other.
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

// A turn of a task that has run.
struct TurnChoice {
  std::string task, agent;  // its id or a part of it; the agent is empty if there is one such task
  int turn = 0;             // by its message, the first one is 1; 0: the last
};
struct PreparedTurn {
  std::string task, agent;   // the task's whole id
  std::int64_t message = 0;  // the number of the event after which it runs
  int turn = 0, turns = 0;
};
// Makes a new database with the task as it was when that turn's message came, of one that a server may be
// using: a server of `copy` alone runs the turn again.
base::Result<PreparedTurn> prepare_replay(const std::string& database, const std::string& copy,
                                          const TurnChoice& choice);

// A database as the command line says it, or as the first line of a file does, such as a URL with a password.
struct NamedDatabase {
  std::string database, file;
};

struct DatabaseCopy {
  NamedDatabase from, to;
  std::vector<std::string> postgres_allows;  // as `postgres.allow`, of what is copied to
};

struct CopiedTable {
  std::string name;
  std::int64_t rows = 0;
  bool is_equal = false;
};

// Copies all of a database that no server uses into one of the other kind, or goes on with such a copy, and
// calls `on_table` for each table that it has compared. Fails with invalid_request if the command line is
// wrong, and as store/copy/copy.h says.
base::Result<void> copy_database(const DatabaseCopy& copy,
                                 const std::function<void(const CopiedTable&)>& on_table);

}  // namespace baton::app
