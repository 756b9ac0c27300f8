#include "store/sqlite/sqlite_store.h"

#include <fcntl.h>
#include <sqlite3.h>

#include <utility>

#include "base/unique_fd.h"
#include "store/sql/connection_pool.h"
#include "store/sql/failure.h"
#include "store/sql/write_state.h"
#include "store/sqlite/checkpoints.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/dialect.h"
#include "store/sqlite/errors.h"
#include "store/sqlite/file_lock.h"
#include "store/sqlite/set_up.h"
#include "store/sqlite/wal_file.h"

namespace baton::store {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr char kReaderPragmas[] = "PRAGMA query_only=ON; PRAGMA cache_size=-16384;";

// SQLite's statistics take a lock per memory allocation. Takes effect only before the program's first
// connection.
void switch_statistics_off() {
  [[maybe_unused]] static const int once = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

// The file has webhook credentials: only the owner may read it. SQLite gives its side files the same mode.
void make_private(const std::string& path) {
  const base::UniqueFd created(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
}

// Writes to the disk without changing anything: the version is in the first page, which SQLite writes even if
// the value is unchanged.
void touch(SQLite::Database& database) {
  const int version = database.execAndGet("PRAGMA user_version").getInt();
  database.exec("PRAGMA user_version=" + std::to_string(version));
}

}  // namespace

struct SqliteStore::Parts {
  Parts(sqlite::FileLock held, const SqliteOptions& options, const base::Clock& clock)
      : lock(std::move(held)),
        writer(options.path, sqlite::Connection::Mode::write),
        dialect(writer, options.send_retention, options.send_slice_max),
        state(writer, clock, dialect, options.short_events_max) {}

  void start(const SqliteOptions& options) {
    kept_before = writer.database().execAndGet("SELECT kept_before FROM retention").getInt() != 0;
    server_name = writer.database().execAndGet("SELECT name FROM server").getString();
    dialect.start();
    state.start();
    checkpoints.emplace(options.path, writer);
    const auto open_reader = [&] {
      auto reader = std::make_unique<sqlite::Connection>(options.path, sqlite::Connection::Mode::read);
      reader->database().exec(kReaderPragmas);
      return reader;
    };
    readers.open(options.readers, open_reader);
    operators.open(sql::kOperatorReaders, open_reader);
  }

  sqlite::FileLock lock;
  sqlite::Connection writer;
  sqlite::Dialect dialect;
  sql::WriteState state;
  std::string server_name;
  bool kept_before = false;
  sql::ConnectionPool readers, operators;
  std::optional<sqlite::WalFile> wal;
  std::optional<sqlite::Checkpoints> checkpoints;
};

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const SqliteOptions& options,
                                                       const base::Clock& clock) {
  switch_statistics_off();
  make_private(options.path);
  auto lock = sqlite::FileLock::acquire(options.path);
  if (!lock) return fail(sql::about(options.path, lock.error()));
  try {
    auto parts = std::make_unique<Parts>(std::move(*lock), options, clock);
    if (auto ready = sqlite::set_up(parts->writer, options, clock); !ready) {
      return fail(sql::about(options.path, ready.error()));
    }
    auto wal = sqlite::WalFile::open(parts->writer.log_path());
    if (!wal) return fail(sql::about(options.path, wal.error()));
    parts->wal.emplace(std::move(*wal));
    parts->start(options);
    return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(parts)));
  } catch (const SQLite::Exception& exception) {
    return fail(sql::about(options.path, sqlite::error_at_open(exception)));
  } catch (const sql::Failure& failure) {
    return fail(sql::about(options.path, sql::error_of(failure, "opening")));
  }
}

SqliteStore::SqliteStore(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

SqliteStore::~SqliteStore() = default;

const std::string& SqliteStore::server_name() const {
  return parts_->server_name;
}

void SqliteStore::commit_group(bool is_empty) {
  if (is_empty) sqlite::translating([&] { touch(parts_->writer.database()); });
  parts_->writer.commit();
  parts_->checkpoints->after_commit();
}

Result<void> SqliteStore::flush() {
  if (parts_->checkpoints->has_lost()) {
    return fail(ErrorCode::unavailable, "the store is temporarily unavailable; try again",
                "the database cannot be flushed to disk");
  }
  return parts_->wal->flush();
}

bool SqliteStore::kept_before() const {
  return parts_->kept_before;
}

sql::WriteState& SqliteStore::state() const {
  return parts_->state;
}

const sql::RecentSends& SqliteStore::recent_sends() const {
  return parts_->dialect.sends();
}

sql::ConnectionPool& SqliteStore::readers() const {
  return parts_->readers;
}

sql::ConnectionPool& SqliteStore::operators() const {
  return parts_->operators;
}

}  // namespace baton::store
