#include "store/sqlite/backup.h"

#include <SQLiteCpp/Backup.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/embedded.h"
#include "base/unique_fd.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/errors.h"
#include "store/sqlite/migrations.h"

namespace baton::store::sqlite {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// The most faults of each kind that are reported.
constexpr int kFaultsMax = 5;
constexpr int kApplicationIdOfBaton = 0x4241544e;

tl::unexpected<base::Error> about(const std::string& file, base::Error error) {
  error.for_log = file + ": " + (error.for_log.empty() ? error.for_caller : error.for_log);
  return fail(std::move(error));
}

Result<std::unique_ptr<Connection>> open_to_read(const std::string& database) {
  if (!std::filesystem::exists(database)) {
    return about(database, {ErrorCode::not_found, "file not found", {}});
  }
  try {
    auto connection = std::make_unique<Connection>(database, Connection::Mode::read);
    if (connection->database().execAndGet("PRAGMA application_id").getInt() != kApplicationIdOfBaton) {
      return about(database, {ErrorCode::invalid_argument, "is not a Baton database", {}});
    }
    return connection;
  } catch (const SQLite::Exception& exception) {
    return about(database, error_at_open(exception));
  }
}

bool flush_file(const std::string& file, int flags) {
  const base::UniqueFd opened(::open(file.c_str(), flags | O_CLOEXEC));
  return opened.valid() && ::fsync(opened.get()) == 0;
}

void copy_pages(Connection& from, const std::string& to) {
  SQLite::Database target(to, SQLite::OPEN_READWRITE);
  // Copies all pages in one step, so in one snapshot. Between two steps, a write would make the backup start
  // over.
  SQLite::Backup backup(target, from.database());
  // Throws nothing if one of the files is locked.
  const int code = backup.executeStep(-1);
  if (code != SQLITE_DONE) throw SQLite::Exception(sqlite3_errstr(code), code);
}

std::vector<std::string> texts_of(Connection& connection, const char* sql) {
  std::vector<std::string> found;
  Query query = connection.query(sql);
  while (std::ssize(found) < kFaultsMax && query.step()) found.push_back(query.text(0));
  return found;
}

// A promise of the schema, and a statement that finds violations of it.
struct Promise {
  const char* broken;  // the description of each violation
  const char* sql;
};

constexpr Promise kPromises[] = {
    {"task: its events are not numbered from 1 to last_event",
     "SELECT task_key FROM tasks t WHERE last_event <> (SELECT count(*) FROM events WHERE event_key BETWEEN "
     "(t.task_key << 28) + 1 AND (t.task_key << 28) + t.last_event) OR EXISTS (SELECT 1 FROM events WHERE "
     "event_key > (t.task_key << 28) + t.last_event AND event_key < (t.task_key + 1) << 28)"},
    {"task: events without it",
     "SELECT DISTINCT event_key >> 28 FROM events WHERE event_key >> 28 NOT IN (SELECT task_key FROM tasks) "
     "AND event_key >> 28 NOT IN (SELECT task_key FROM removed_logs)"},
    {"task: bytes is not the size of its events",
     "SELECT task_key FROM tasks t WHERE bytes <> (SELECT coalesce(sum(length(CAST(body AS BLOB))), 0) FROM "
     "events WHERE event_key BETWEEN t.task_key << 28 AND (t.task_key << 28) + t.last_event)"},
    {"task: status_event is not its last status",
     "SELECT task_key FROM tasks t WHERE status_event <> (SELECT coalesce(max(event_key), t.task_key << 28) "
     "- "
     "(t.task_key << 28) FROM events WHERE kind = 1 AND event_key BETWEEN t.task_key << 28 AND "
     "(t.task_key << 28) + t.last_event)"},
    {"total of agent, caller and state: is not the number of tasks",
     "SELECT agent || ' ' || caller || ' ' || state FROM (SELECT agent, caller, state, tasks FROM "
     "task_totals "
     "UNION ALL SELECT agent, caller, state, -count(*) FROM tasks WHERE turn_state = 'none' AND hidden = 0 "
     "GROUP BY agent, caller, state) GROUP BY agent, caller, state HAVING sum(tasks) <> 0"},
    {"context: is empty",
     "SELECT context_key FROM contexts c WHERE context_key <> 0 AND NOT EXISTS (SELECT 1 FROM conversation v "
     "WHERE v.context_key = c.context_key) AND context_key NOT IN (SELECT context_key FROM tasks)"},
    {"title: its context is empty",
     "SELECT agent || ' ' || caller || ' ' || context FROM titles t WHERE NOT EXISTS (SELECT 1 FROM contexts "
     "c "
     "WHERE c.agent = t.agent AND c.caller = t.caller AND c.public_id = t.context) AND NOT EXISTS (SELECT 1 "
     "FROM tasks k WHERE k.agent = t.agent AND k.caller = t.caller AND k.context_key = 0 AND "
     // See own_context.h.
     "k.public_id = substr(t.context, 1, 14) || '7' || substr(t.context, 16))"},
    {"context: has a call that no task made",
     "SELECT DISTINCT context_key FROM conversation v WHERE NOT EXISTS (SELECT 1 FROM events WHERE event_key "
     "= "
     "(v.task_key << 28) + v.number)"},
    {"task: has unexpected index rows",
     "SELECT task_key FROM tasks t WHERE indexed = 0 AND (EXISTS (SELECT 1 FROM artifacts a WHERE a.task_key "
     "= "
     "t.task_key) OR EXISTS (SELECT 1 FROM landmarks WHERE event_key BETWEEN t.task_key << 28 AND "
     "(t.task_key << 28) + t.last_event))"},
    {"landmark: refers to no event",
     "SELECT event_key FROM landmarks WHERE event_key NOT IN (SELECT event_key FROM events)"},
    {"webhook config: does not have exactly one due delivery",
     "SELECT config_key FROM deliveries WHERE state = 'waiting' GROUP BY config_key HAVING count(due_ms) <> "
     "1"},
    {"delivery: is due although it is not waiting",
     "SELECT delivery_key FROM deliveries WHERE due_ms IS NOT NULL AND state <> 'waiting'"},
    {"task: has a key that could be reused",
     "SELECT task_key FROM removed_logs WHERE task_key > (SELECT last_task FROM retention)"},
};

void check_references(Connection& connection, std::vector<std::string>& faults) {
  Query query = connection.query("SELECT \"table\", rowid, parent FROM pragma_foreign_key_check LIMIT 20");
  while (query.step()) {
    faults.push_back("row " + query.text(1) + " of " + query.text(0) + ": refers to a row of " +
                     query.text(2) + " that does not exist");
  }
}

std::vector<std::string> faults_of(Connection& connection) {
  std::vector<std::string> faults = texts_of(connection, "PRAGMA integrity_check(20)");
  if (faults == std::vector<std::string>{"ok"}) faults.clear();
  if (!faults.empty()) return faults;  // the following checks need readable rows
  check_references(connection, faults);
  for (const Promise& promise : kPromises) {
    for (const std::string& key : texts_of(connection, promise.sql)) {
      faults.push_back(key + ", " + promise.broken);
    }
  }
  return faults;
}

std::int64_t count_by(Connection& connection, const char* sql) {
  Query query = connection.query(sql);
  return query.step() ? query.integer(0) : 0;
}

struct Figure {
  const char* name;
  const char* sql;
};
constexpr Figure kFigures[] = {
    {"schema", "SELECT user_version FROM pragma_user_version"},
    {"pages", "SELECT page_count FROM pragma_page_count"},
    {"page_bytes", "SELECT page_size FROM pragma_page_size"},
    {"free_pages", "SELECT freelist_count FROM pragma_freelist_count"},
    {"tasks", "SELECT count(*) FROM tasks"},
    {"tasks_hidden", "SELECT count(*) FROM tasks WHERE hidden = 1"},
    {"tasks_with_a_turn", "SELECT count(*) FROM tasks WHERE turn_state <> 'none'"},
    {"task_bytes", "SELECT coalesce(sum(bytes), 0) FROM tasks"},
    {"events", "SELECT coalesce(sum(last_event), 0) FROM tasks"},
    {"callers", "SELECT count(DISTINCT caller) FROM tasks"},
    {"contexts_with_rows", "SELECT count(*) - 1 FROM contexts"},
    {"sends_remembered", "SELECT count(*) FROM sends"},
    {"deliveries_waiting", "SELECT count(*) FROM deliveries WHERE state = 'waiting'"},
    {"deliveries_given_up", "SELECT count(*) FROM deliveries WHERE state = 'given-up'"},
    {"logs_to_remove", "SELECT count(*) FROM removed_logs"},
};

}  // namespace

Result<std::unique_ptr<Connection>> open_newest(const std::string& database) {
  auto connection = open_to_read(database);
  if (!connection) return connection;
  auto newest =
      catching("reading the database", [&] { return check_newest(**connection, base::embedded_files()); });
  if (!newest) return about(database, std::move(newest.error()));
  return connection;
}

bool flush_with_folder(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  return flush_file(file, O_RDWR) && flush_file(folder.string(), O_RDONLY | O_DIRECTORY);
}

Result<std::int64_t> back_up(const std::string& database, const std::string& copy) {
  auto from = open_to_read(database);
  if (!from) return fail(std::move(from.error()));
  const base::UniqueFd made(::open(copy.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!made.valid()) {
    const bool is_there = errno == EEXIST;
    return about(copy, {is_there ? ErrorCode::already_exists : ErrorCode::unavailable,
                        is_there ? "already exists and is not replaced"
                                 : "cannot be created: " + std::generic_category().message(errno),
                        {}});
  }
  const auto copied = catching("copying the database", [&]() -> Result<void> {
    copy_pages(**from, copy);
    if (flush_with_folder(copy)) return {};
    return fail(ErrorCode::unavailable, "the copy cannot be flushed to disk");
  });
  std::error_code error;
  const auto size = std::filesystem::file_size(copy, error);
  if (copied && !error) return static_cast<std::int64_t>(size);
  for (const char* rest : {"", "-journal", "-wal", "-shm"}) std::filesystem::remove(copy + rest, error);
  return copied ? about(copy, {ErrorCode::unavailable, "cannot be read", {}}) : about(copy, copied.error());
}

Result<std::vector<std::string>> check(const std::string& database) {
  auto connection = open_newest(database);
  if (!connection) return fail(std::move(connection.error()));
  return catching("checking the database", [&]() -> Result<std::vector<std::string>> {
    const Snapshot snapshot(**connection);
    return faults_of(**connection);
  });
}

Result<Figures> measure(const std::string& database) {
  auto connection = open_newest(database);
  if (!connection) return fail(std::move(connection.error()));
  return catching("measuring the database", [&]() -> Result<Figures> {
    const Snapshot snapshot(**connection);
    Figures figures;
    for (const Figure& figure : kFigures) {
      figures.emplace_back(figure.name, count_by(**connection, figure.sql));
    }
    Query states = (*connection)->query("SELECT state, count(*) FROM tasks GROUP BY state ORDER BY state");
    while (states.step()) figures.emplace_back("tasks_" + states.text(0), states.integer(1));
    return figures;
  });
}

}  // namespace baton::store::sqlite
