#include "store/sqlite/copy_sides.h"

#include <fcntl.h>

#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "base/embedded.h"
#include "base/unique_fd.h"
#include "store/copy/unfinished.h"
#include "store/sqlite/backup.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/errors.h"
#include "store/sqlite/file_lock.h"
#include "store/sqlite/migrations.h"
#include "store/sqlite/send_index.h"

namespace baton::store::sqlite {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using copy::Table;

constexpr std::string_view kSends = "sends";
constexpr char kSourcePragmas[] = "PRAGMA query_only=ON; PRAGMA cache_size=-16384;";
// Text keys come in random order, so a large cache keeps their indexes in memory. A checkpoint follows every
// 64 MiB.
constexpr char kTargetPragmas[] =
    "PRAGMA cache_size=-131072; PRAGMA wal_autocheckpoint=16384; PRAGMA journal_size_limit=67108864;";
// Sends are kept for as long as the source remembers them: none may expire while it is copied.
constexpr std::chrono::hours kSendsRemembered(24 * 365 * 100);
constexpr std::size_t kSendSlice = 32'768;

// An expired send may still exist together with a new one with the same digest. In a SELECT with max() SQLite
// returns the other columns from the row with the maximum.
std::string rows_for_copy(const Table& table) {
  if (table.name != kSends) return table.name;
  return "(SELECT at_ms, digest_high, digest_low, task_key, before, max(send_key) FROM sends GROUP BY "
         "digest_high, digest_low) AS latest";
}

class SqliteSource final : public copy::Source {
 public:
  SqliteSource(const std::string& path, FileLock lock)
      : path_(path), lock_(std::move(lock)), connection_(path, Connection::Mode::read) {}

  Result<void> prepare() {
    connection_.database().exec(kSourcePragmas);
    if (auto newest = check_newest(connection_, base::embedded_files()); !newest) return newest;
    snapshot_.emplace(connection_);
    if (has_table(connection_, copy::kUnfinishedTable)) return fail(copy::unfinished_error(connection_));
    return {};
  }

  sql::Connection& connection() override { return connection_; }
  std::string rows_of(const Table& table) const override { return rows_for_copy(table); }
  std::string name() const override { return path_; }

 private:
  const std::string path_;
  const FileLock lock_;
  Connection connection_;
  std::optional<Snapshot> snapshot_;
};

class SqliteTarget final : public copy::Target {
 public:
  SqliteTarget(const std::string& path, FileLock lock)
      : path_(path),
        lock_(std::move(lock)),
        connection_(path, Connection::Mode::write),
        sends_(kSendsRemembered, kSendSlice) {}

  Result<void> prepare(const base::Clock& clock) {
    if (is_new(connection_)) {
      if (auto made = migrate(connection_, base::embedded_files(), clock.now()); !made) return made;
    } else if (auto newest = check_newest(connection_, base::embedded_files()); !newest) {
      return newest;
    }
    is_begun_ = has_table(connection_, copy::kUnfinishedTable);
    if (!is_begun_ && copy::has_rows(connection_)) return fail(copy::not_empty());
    if (connection_.database().execAndGet("PRAGMA journal_mode=WAL").getString() != "wal") {
      return fail(ErrorCode::unavailable, "no write-ahead log on this file system");
    }
    connection_.database().exec(kTargetPragmas);
    return {};
  }

  sql::Connection& connection() override { return connection_; }
  std::string rows_of(const Table& table) const override { return rows_for_copy(table); }
  bool is_begun() const override { return is_begun_; }

  void insert(const Table& table, std::span<const sql::Parameter> row) override {
    if (table.name == kSends) return insert_send(row);
    auto& statement = statements_[&table];
    if (statement.empty()) statement = copy::insert_statement(table);
    connection_.run_with(statement.c_str(), row);
  }

  void prepare_to_serve() override {}

  Result<void> flush() override {
    return translating([&]() -> Result<void> {
      // The checkpoint flushes the log first, then the database.
      const bool is_whole =
          connection_.database().execAndGet("PRAGMA wal_checkpoint(TRUNCATE)").getInt() == 0;
      if (is_whole && flush_with_folder(path_)) return {};
      return fail(ErrorCode::unavailable, "the copy cannot be flushed to disk");
    });
  }

 private:
  // Inserts a send, and updates the slices that find it.
  void insert_send(std::span<const sql::Parameter> row) {
    const task::SendDigest digest{static_cast<std::uint64_t>(row[1].number),
                                  static_cast<std::uint64_t>(row[2].number)};
    sends_.refresh(connection_);
    sends_.add(connection_, digest, {{row[3].number}, {row[4].number}}, base::from_ms(row[0].number));
  }

  const std::string path_;
  const FileLock lock_;
  std::map<const Table*, std::string> statements_;  // they outlive the connection
  Connection connection_;
  SendIndex sends_;
  bool is_begun_ = false;
};

// Locks the file, creates its side and prepares it with `prepare`.
template <class Made, class F>
Result<std::unique_ptr<Made>> open_side(const std::string& database, F&& prepare) {
  auto lock = FileLock::acquire(database);
  if (!lock) return fail(sql::about(database, lock.error()));
  try {
    auto side = std::make_unique<Made>(database, std::move(*lock));
    if (auto ready = prepare(*side); !ready) return fail(sql::about(database, ready.error()));
    return side;
  } catch (const SQLite::Exception& exception) {
    return fail(sql::about(database, error_at_open(exception)));
  } catch (const sql::Failure& failure) {
    return fail(sql::about(database, sql::error_of(failure, "opening")));
  }
}

}  // namespace

Result<std::unique_ptr<copy::Source>> open_copy_source(const std::string& database) {
  if (!std::filesystem::exists(database)) {
    return fail(sql::about(database, {ErrorCode::not_found, "file not found", {}}));
  }
  return open_side<SqliteSource>(database, [](SqliteSource& side) { return side.prepare(); });
}

Result<std::unique_ptr<copy::Target>> open_copy_target(const std::string& database,
                                                       const base::Clock& clock) {
  // The file will contain credentials of webhooks, so only the owner may read it.
  { const base::UniqueFd made(::open(database.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)); }
  return open_side<SqliteTarget>(database, [&](SqliteTarget& side) { return side.prepare(clock); });
}

}  // namespace baton::store::sqlite
