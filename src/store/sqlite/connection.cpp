#include "store/sqlite/connection.h"

#include <sqlite3.h>

namespace baton::store::sqlite {
namespace {

constexpr int kBusyMs = 5000;

int flags_of(Connection::Mode mode) {
  const int access =
      mode == Connection::Mode::write ? SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE : SQLite::OPEN_READONLY;
  return access | SQLite::OPEN_NOMUTEX;
}

}  // namespace

Connection::Connection(const std::string& path, Mode mode) : database_(path, flags_of(mode), kBusyMs) {
  database_.exec("PRAGMA temp_store=MEMORY;");
  // Commits are not flushed; a checkpoint flushes the log first and the database before the log begins anew.
  if (mode == Mode::write) database_.exec("PRAGMA synchronous=NORMAL;");
}

std::string Connection::log_path() const {
  return sqlite3_filename_wal(sqlite3_db_filename(database_.getHandle(), "main"));
}

void Connection::rollback() noexcept {
  try {
    if (sqlite3_get_autocommit(database_.getHandle()) == 0) run("ROLLBACK");
  } catch (const SQLite::Exception&) {  // The next BEGIN will say what is wrong.
  }
}

SQLite::Statement& Connection::prepared(const char* sql) {
  const auto found = statements_.find(sql);
  if (found != statements_.end()) return found->second;
  return statements_.try_emplace(sql, database_, sql).first->second;
}

}  // namespace baton::store::sqlite
