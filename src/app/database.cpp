#include "app/database.h"

#include <memory>

#include "app/database_url.h"
#include "app/files.h"
#include "base/clock.h"
#include "store/copy/copy.h"
#include "store/postgres/copy_sides.h"
#include "store/sqlite/archive.h"
#include "store/sqlite/backup.h"
#include "store/sqlite/copy_sides.h"
#include "store/sqlite/replay.h"

namespace baton::app {
namespace {

base::Result<MovedTasks> moved(const base::Result<store::sqlite::Archived>& archived) {
  if (!archived) return base::fail(archived.error());
  return MovedTasks{archived->tasks, archived->unfinished};
}

tl::unexpected<base::Error> not_sqlite(std::string_view what_to_do) {
  return base::fail(
      base::ErrorCode::unsupported,
      "this command works on SQLite databases only, and this database is PostgreSQL. Instead, " +
          std::string(what_to_do));
}

tl::unexpected<base::Error> wrong_usage(std::string what) {
  return base::fail(base::ErrorCode::invalid_request, std::move(what));
}

// Returns the database that the file or the command line names, checked like the settings `db` and `db_file`.
base::Result<std::string> database_of(const NamedDatabase& named) {
  std::string database = named.database;
  if (!named.file.empty()) {
    auto text = database_in_file(named.file);
    if (!text) return wrong_usage(text.error().for_caller);
    database = std::move(*text);
  }
  const std::string where = named.file.empty() ? shown_database(database) : named.file;
  if (const std::string problem = database_problem(database); !problem.empty())
    return wrong_usage(where + ": " + problem);
  if (database == ":memory:") return wrong_usage("an in-memory database (:memory:) cannot be copied");
  if (!holds_password(database)) return database;
  if (named.file.empty()) {
    return wrong_usage(where +
                       " contains a password, which every user of this machine can see in the process list. "
                       "Put the URL into a file and name it with --from-file or --to-file, or put the "
                       "password into the file that PGPASSFILE names");
  }
  if (is_exposed(named.file)) {
    return wrong_usage(
        named.file +
        " contains a secret and can be read by every user of this machine. Make it private (chmod 600)");
  }
  return database;
}

}  // namespace

base::Result<std::int64_t> back_up_database(const std::string& database, const std::string& copy) {
  if (is_postgres(database)) {
    return not_sqlite("use pg_dump, also while the server runs, and pg_restore to restore the copy");
  }
  return store::sqlite::back_up(database, copy);
}

base::Result<std::vector<std::string>> check_database(const std::string& database) {
  if (is_postgres(database)) return not_sqlite("use pg_amcheck to check it");
  return store::sqlite::check(database);
}

base::Result<std::vector<std::pair<std::string, std::int64_t>>> measure_database(
    const std::string& database) {
  if (is_postgres(database)) {
    return not_sqlite("use psql to count rows; SELECT pg_database_size(current_database()) returns the size");
  }
  return store::sqlite::measure(database);
}

base::Result<PreparedTurn> prepare_replay(const std::string& database, const std::string& copy,
                                          const TurnChoice& choice) {
  if (is_postgres(database)) return not_sqlite("copy it to a SQLite database first (`baton db copy`)");
  if (const auto copied = store::sqlite::back_up(database, copy); !copied) return base::fail(copied.error());
  const auto turn =
      store::sqlite::prepare_replay(copy, {choice.task, choice.agent, choice.turn}, base::SystemClock());
  if (!turn) return base::fail(turn.error());
  return PreparedTurn{turn->task.value, turn->agent.value, turn->message.value, turn->turn, turn->turns};
}

base::Result<MovedTasks> export_tasks(const std::string& database, const TaskChoice& choice,
                                      const std::function<bool(const std::string&)>& write) {
  if (is_postgres(database)) return not_sqlite("use pg_dump to export all of it");
  return moved(store::sqlite::export_tasks(
      database, {choice.task, choice.agent, choice.caller, choice.context}, write));
}

base::Result<MovedTasks> import_tasks(const std::string& database,
                                      const std::function<std::optional<std::string>()>& next_line) {
  if (is_postgres(database)) return not_sqlite("use pg_restore to import what pg_dump wrote");
  const base::SystemClock clock;
  return moved(store::sqlite::import_tasks(database, clock, next_line));
}

base::Result<void> copy_database(const DatabaseCopy& copy,
                                 const std::function<void(const CopiedTable&)>& on_table) {
  const auto from = database_of(copy.from);
  if (!from) return base::fail(from.error());
  const auto to = database_of(copy.to);
  if (!to) return base::fail(to.error());
  const bool from_postgres = is_postgres(*from);
  if (from_postgres == is_postgres(*to)) {
    return wrong_usage(from_postgres ? "both databases are PostgreSQL: use pg_dump and pg_restore to copy one"
                                     : "both databases are SQLite: use `baton db backup` to copy one");
  }
  const base::SystemClock clock;
  const auto source = from_postgres ? store::postgres::open_copy_source(*from, shown_database(*from))
                                    : store::sqlite::open_copy_source(*from);
  if (!source) return base::fail(source.error());
  const auto target = from_postgres ? store::sqlite::open_copy_target(*to, clock)
                                    : store::postgres::open_copy_target(*to, clock, copy.postgres_allows);
  if (!target) return base::fail(target.error());
  return store::copy::copy(**source, **target, [&](const store::copy::Compared& table) {
    on_table({table.table, table.rows, table.is_equal});
  });
}

}  // namespace baton::app
