#include "app/database.h"

#include "app/database_url.h"
#include "base/clock.h"
#include "store/sqlite/archive.h"
#include "store/sqlite/backup.h"

namespace baton::app {
namespace {

base::Result<MovedTasks> moved(const base::Result<store::sqlite::Archived>& archived) {
  if (!archived) return base::fail(archived.error());
  return MovedTasks{archived->tasks, archived->unfinished};
}

tl::unexpected<base::Error> not_sqlite(std::string_view what_to_do) {
  return base::fail(
      base::ErrorCode::unsupported,
      "this is for SQLite databases, and the database is PostgreSQL's: " + std::string(what_to_do));
}

}  // namespace

base::Result<std::int64_t> back_up_database(const std::string& database, const std::string& copy) {
  if (is_postgres(database)) {
    return not_sqlite("pg_dump makes a copy of it while the server runs, and pg_restore reads it");
  }
  return store::sqlite::back_up(database, copy);
}

base::Result<std::vector<std::string>> check_database(const std::string& database) {
  if (is_postgres(database)) return not_sqlite("pg_amcheck looks for faults");
  return store::sqlite::check(database);
}

base::Result<std::vector<std::pair<std::string, std::int64_t>>> measure_database(
    const std::string& database) {
  if (is_postgres(database)) {
    return not_sqlite("psql counts rows, and SELECT pg_database_size(current_database()) tells its size");
  }
  return store::sqlite::measure(database);
}

base::Result<MovedTasks> export_tasks(const std::string& database, const TaskChoice& choice,
                                      const std::function<bool(const std::string&)>& write) {
  if (is_postgres(database)) return not_sqlite("pg_dump writes all of it");
  return moved(store::sqlite::export_tasks(
      database, {choice.task, choice.agent, choice.caller, choice.context}, write));
}

base::Result<MovedTasks> import_tasks(const std::string& database,
                                      const std::function<std::optional<std::string>()>& next_line) {
  if (is_postgres(database)) return not_sqlite("pg_restore reads what pg_dump wrote");
  const base::SystemClock clock;
  return moved(store::sqlite::import_tasks(database, clock, next_line));
}

}  // namespace baton::app
