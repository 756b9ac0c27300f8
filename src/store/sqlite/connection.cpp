#include "store/sqlite/connection.h"

#include <sqlite3.h>

#include <algorithm>

#include "store/sqlite/errors.h"
#include "store/sqlite/log_writes.h"

namespace baton::store::sqlite {
namespace {

constexpr int kBusyMs = 5000;
// The most free pages that one group returns to the disk.
constexpr int kFreedPagesMax = 64;

int flags_of(Connection::Mode mode) {
  const int access =
      mode == Connection::Mode::write ? SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE : SQLite::OPEN_READONLY;
  return access | SQLite::OPEN_NOMUTEX;
}

}  // namespace

Statement::Statement(SQLite::Database& database, const char* sql) : database_(database) {
  if (sqlite3_prepare_v3(database.getHandle(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr) !=
      SQLITE_OK)
    fail();
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

void Statement::fail() const {
  throw failure_of(SQLite::Exception(database_.getHandle()));
}

void Statement::bind(std::span<const sql::Parameter> parameters, bool keeps) {
  const auto destructor = keeps ? SQLITE_STATIC : SQLITE_TRANSIENT;
  int place = 0;
  for (const sql::Parameter& parameter : parameters) {
    ++place;
    const auto size = static_cast<int>(parameter.bytes.size());
    int result = SQLITE_OK;
    switch (parameter.kind) {
      case sql::Parameter::Kind::integer:
        result = sqlite3_bind_int64(statement_, place, parameter.number);
        break;
      case sql::Parameter::Kind::text:
        result = sqlite3_bind_text(statement_, place, parameter.bytes.data(), size, destructor);
        break;
      case sql::Parameter::Kind::blob:
        result = sqlite3_bind_blob(statement_, place, parameter.bytes.data(), size, destructor);
        break;
    }
    if (result != SQLITE_OK) fail();
  }
}

bool Statement::step() {
  const int result = sqlite3_step(statement_);
  if (result == SQLITE_ROW) return true;
  if (result != SQLITE_DONE) fail();
  return false;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string Statement::text(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  return bytes == nullptr
             ? std::string()
             : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

void Statement::end() noexcept {
  sqlite3_reset(statement_);
}

Connection::Connection(const std::string& path, Mode mode)
    : database_(path, flags_of(mode), kBusyMs, mode == Mode::write ? log_writes_vfs() : "") {
  database_.exec("PRAGMA temp_store=MEMORY;");
  // Commits are not flushed. A checkpoint flushes the log first, and the database before the log starts over.
  if (mode == Mode::write) database_.exec("PRAGMA synchronous=NORMAL;");
}

std::string Connection::log_path() const {
  return sqlite3_filename_wal(sqlite3_db_filename(database_.getHandle(), "main"));
}

void Connection::rollback() noexcept {
  try {
    if (sqlite3_get_autocommit(database_.getHandle()) == 0) run("ROLLBACK");
  } catch (const sql::Failure&) {  // the next BEGIN will report the error
  }
}

void Connection::overwrite_deleted(bool on) {
  if (on) translating([&] { database_.exec("PRAGMA secure_delete=ON"); });
  if (!on) database_.tryExec("PRAGMA secure_delete=FAST");
}

bool Connection::give_back_pages(std::int64_t spare_pages) {
  return translating([&] {
    const std::int64_t free = database_.execAndGet("PRAGMA freelist_count").getInt64() - spare_pages;
    const std::int64_t pages = std::clamp<std::int64_t>(free, 0, kFreedPagesMax);
    if (pages > 0) database_.exec("PRAGMA incremental_vacuum(" + std::to_string(pages) + ")");
    return free > pages;
  });
}

sql::Cursor& Connection::start(const char* sql, Parameters parameters, bool) {
  Statement& statement = prepared(sql);
  statement.bind(parameters, false);
  return statement;
}

std::int64_t Connection::execute_counted(const char* sql, Parameters parameters) {
  Statement& statement = prepared(sql);
  const Query reset_afterwards(statement);
  statement.bind(parameters, true);
  statement.step();
  return sqlite3_changes(database_.getHandle());
}

Statement& Connection::prepared(const char* sql) {
  const auto found = statements_.find(sql);
  if (found != statements_.end()) return found->second;
  return statements_.try_emplace(sql, database_, sql).first->second;
}

}  // namespace baton::store::sqlite
