#include "store/sqlite/set_up.h"

#include <string>

#include "base/embedded.h"
#include "store/copy/unfinished.h"
#include "store/sql/push_rows.h"
#include "store/sqlite/migrations.h"
#include "store/sqlite/send_index.h"

namespace baton::store::sqlite {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// A log that has grown is truncated to 64 MiB. A small page cache is fast because it fits into the
// processor's cache: most writes go to the same pages as the writes before, and the system caches the rest.
// Deleted data is overwritten in pages that are written anyway.
constexpr char kWriterPragmas[] =
    "PRAGMA journal_size_limit=67108864; PRAGMA cache_size=-2048; PRAGMA secure_delete=FAST;";

// Makes deliveries that are due too far in the future due now, and moves send times after `now` to now, in
// case the clock was ahead in an earlier run.
void forget_future(Connection& writer, base::Timestamp now) {
  constexpr std::chrono::hours kRetryMax(48);  // no pause between two attempts is longer
  writer.begin();
  sql::pull_in_deliveries(writer, now, now + kRetryMax);
  pull_in_sends(writer, now);
  writer.commit();
}

}  // namespace

Result<void> set_up(Connection& writer, const SqliteOptions& options, const base::Clock& clock) {
  SQLite::Database& database = writer.database();
  if (has_table(writer, copy::kUnfinishedTable)) return fail(copy::unfinished_error(writer));
  // `migrate` checks the file before anything is written, because it may be another program's.
  auto migrated = migrate(writer, base::embedded_files(), clock.now(), options.on_upgrade);
  if (!migrated) return migrated;
  if (database.execAndGet("PRAGMA journal_mode=WAL").getString() != "wal") {
    return fail(ErrorCode::unavailable, "the database cannot be opened",
                "no write-ahead log on this file system");
  }
  database.exec(kWriterPragmas);
  database.exec(options.checks_references ? "PRAGMA foreign_keys=ON" : "PRAGMA foreign_keys=OFF");
  // After a migration renamed a table, SQLite reads the schema while changing the journal mode, and keeps the
  // lock until the next read. Without this read a checkpoint would be refused.
  database.execAndGet("SELECT count(*) FROM sqlite_schema");
  // An earlier run's log may be only in the system's memory and not on disk. It is moved into the database
  // before readers see it and further commits depend on it.
  if (database.execAndGet("PRAGMA wal_checkpoint(TRUNCATE)").getInt() != 0) {
    return fail(ErrorCode::unavailable, "the database cannot be opened",
                "another program is reading it, which prevents recovering the log of an earlier run: stop "
                "that program");
  }
  forget_future(writer, clock.now());
  return {};
}

}  // namespace baton::store::sqlite
