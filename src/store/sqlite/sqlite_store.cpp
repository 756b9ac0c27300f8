#include "store/sqlite/sqlite_store.h"

#include <fcntl.h>
#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/unique_fd.h"
#include "store/sqlite/connection_pool.h"
#include "store/sqlite/context_reader.h"
#include "store/sqlite/context_rows.h"
#include "store/sqlite/errors.h"
#include "store/sqlite/file_lock.h"
#include "store/sqlite/migrations.h"
#include "store/sqlite/push_rows.h"
#include "store/sqlite/recent_tasks.h"
#include "store/sqlite/send_index.h"
#include "store/sqlite/task_reader.h"
#include "store/sqlite/wal_file.h"
#include "store/sqlite/writes.h"

namespace baton::store {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

// Checkpoints after 16 MiB of log, more than SQLite's default; a log that has grown is truncated to 64 MiB. A
// small page cache is fast because it fits the processor's cache: writes mostly go where the last ones went,
// and the system caches the rest.
constexpr char kWriterPragmas[] =
    "PRAGMA wal_autocheckpoint=4000; PRAGMA journal_size_limit=67108864; PRAGMA cache_size=-2048;";
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

// Adds the file's name to errors at start, for the operator.
base::Error at_start(const std::string& path, base::Error error) {
  error.for_log = path + ": " + error.for_caller + (error.for_log.empty() ? "" : " (" + error.for_log + ")");
  return error;
}

// An upgrade from before this schema copies all events: first into the write-ahead log, then into the
// database.
constexpr int kCopiesEvents = 8;

// Checked first: a copy that runs out of space could not be completed later without more room, and the older
// program could no longer read the database.
Result<void> check_room(const std::string& path, int from) {
  if (from >= kCopiesEvents) return {};
  std::error_code no_size, no_space;
  const std::uintmax_t needed = 2 * std::filesystem::file_size(path, no_size);
  const std::uintmax_t available = std::filesystem::space(path, no_space).available;
  if (no_size || no_space || available >= needed) return {};
  return fail(ErrorCode::unavailable, "the database cannot be upgraded",
              "this needs up to " + std::to_string(needed >> 20) + " MiB of the disk, which has " +
                  std::to_string(available >> 20) + " MiB; nothing was changed");
}

// If the clock was ahead in an earlier run, makes work scheduled in the future due now.
void forget_future(sqlite::Connection& writer, base::Timestamp now) {
  constexpr std::chrono::hours kRetryMax(48);  // no pause between two attempts is longer
  writer.begin();
  sqlite::pull_in_deliveries(writer, now, now + kRetryMax);
  sqlite::pull_in_sends(writer, now);
  writer.commit();
}

Result<void> set_up(sqlite::Connection& writer, const SqliteOptions& options, const base::Clock& clock) {
  SQLite::Database& database = writer.database();
  // Checked before anything is written: it may be another program's file.
  auto migrated = sqlite::migrate(writer, base::embedded_files(), clock.now(), [&](int from, int to) {
    options.on_upgrade(from, to);
    return check_room(options.path, from);
  });
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
  // An earlier run's log may be only in the system's memory and not on disk. Move it into the database before
  // readers show it and other commits follow it.
  if (database.execAndGet("PRAGMA wal_checkpoint(TRUNCATE)").getInt() != 0) {
    return fail(ErrorCode::unavailable, "the database cannot be opened",
                "another program reads it and keeps the log of an earlier run from being stored");
  }
  forget_future(writer, clock.now());
  return {};
}

Result<task::TaskHead> head_of(std::optional<sqlite::HeadRow> row) {
  if (!row) return fail(ErrorCode::task_not_found, "task not found");
  return std::move(row->head);
}

// Hides tasks that callers may not find by id.
Result<task::TaskHead> visible(task::TaskHead head) {
  if (head.hidden) return fail(ErrorCode::task_not_found, "task not found");
  return head;
}

}  // namespace

struct SqliteStore::Parts {
  Parts(sqlite::FileLock held, const SqliteOptions& options, const base::Clock& clock_used)
      : lock(std::move(held)),
        writer(options.path, sqlite::Connection::Mode::write),
        sends(options.send_retention, options.send_slice_max),
        state(writer, clock_used, options.remembered_tasks_max, sends, options.short_events_max),
        recent(options.recent_bytes_max),
        clock(clock_used),
        on_flush_failed(options.on_flush_failed) {}

  void start(const SqliteOptions& options) {
    // Writes an older database's sends as slices, in one transaction.
    writer.begin();
    sends.refresh(writer);
    writer.commit();
    readers.emplace(options.path, options.readers, kReaderPragmas);
    sqlite::CommitterLimits limits;
    limits.writes_max = options.queue_max;
    limits.bytes_max = options.queue_bytes_max;
    committer.emplace(state, limits, [this] { flush_or_end(); });
  }

  void flush_or_end() {
    const auto flushed = wal->flush();
    if (flushed) return;
    on_flush_failed(flushed.error());
    std::_Exit(EXIT_FAILURE);
  }

  sqlite::FileLock lock;
  sqlite::Connection writer;
  sqlite::SendIndex sends;
  sqlite::WriteState state;
  sqlite::RecentTasks recent;
  sqlite::ChangesUnderWay under_way;
  const base::Clock& clock;
  const std::function<void(const base::Error&)> on_flush_failed;
  std::optional<sqlite::ConnectionPool> readers;
  std::optional<sqlite::WalFile> wal;
  std::optional<sqlite::Committer> committer;
};

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const SqliteOptions& options,
                                                       const base::Clock& clock) {
  switch_statistics_off();
  make_private(options.path);
  auto lock = sqlite::FileLock::take(options.path);
  if (!lock) return fail(at_start(options.path, lock.error()));
  try {
    auto parts = std::make_unique<Parts>(std::move(*lock), options, clock);
    if (auto ready = set_up(parts->writer, options, clock); !ready) {
      return fail(at_start(options.path, ready.error()));
    }
    auto wal = sqlite::WalFile::open(parts->writer.log_path());
    if (!wal) return fail(at_start(options.path, wal.error()));
    parts->wal.emplace(std::move(*wal));
    parts->start(options);
    return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(parts)));
  } catch (const SQLite::Exception& exception) {
    return fail(at_start(options.path, sqlite::error_at_open(exception)));
  }
}

SqliteStore::SqliteStore(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

SqliteStore::~SqliteStore() = default;

// Runs `work` on a reader connection in one snapshot, which may include data not yet flushed. Enough for
// internal use: anything that follows from it is committed, and flushed, later.
template <class F>
auto SqliteStore::peeking(const char* doing, F&& work) const {
  return sqlite::catching(doing, [&] {
    auto lent = parts_->readers->lend();
    const sqlite::Snapshot snapshot(*lent);
    return work(*lent);
  });
}

// The same, then waits until everything read is on disk.
template <class F>
auto SqliteStore::reading(const char* doing, F&& work) const {
  auto result = peeking(doing, std::forward<F>(work));
  parts_->committer->settle();
  return result;
}

// The same for one task.
template <class F>
auto SqliteStore::reading(task::TaskKey key, const char* doing, F&& work) const {
  auto result = peeking(doing, std::forward<F>(work));
  settle(key);
  return result;
}

// Waits only if a change to this task is being committed.
void SqliteStore::settle(task::TaskKey key) const {
  if (parts_->recent.is_changing(key)) parts_->committer->settle();
}

void SqliteStore::commit(task::Change change, CommitCallback done, EarlyCallback early) {
  const std::size_t weight = sqlite::weight_of(change);
  parts_->committer->push(
      std::make_unique<sqlite::CommitChange>(std::move(change), parts_->recent, parts_->under_way,
                                             std::move(done), std::move(early)),
      weight);
}

void SqliteStore::set_push(task::TaskKey key, task::PushConfig config, int configs_max,
                           std::function<void(Result<task::PushConfig>)> done) {
  const std::size_t weight = sizeof(config) + config.url.size() + config.authentication_extra.text.size();
  parts_->committer->push(
      std::make_unique<sqlite::SetPush>(key, std::move(config), configs_max, std::move(done)), weight);
}

void SqliteStore::delete_push(task::TaskKey key, task::PushConfigId id,
                              std::function<void(Result<void>)> done) {
  const std::size_t weight = sizeof(sqlite::DeletePush) + id.value.size();
  parts_->committer->push(std::make_unique<sqlite::DeletePush>(key, std::move(id), std::move(done)), weight);
}

void SqliteStore::probe(std::function<void(Result<void>)> done) {
  parts_->committer->push(std::make_unique<sqlite::Probe>(std::move(done)), sizeof(sqlite::Probe));
}

void SqliteStore::record(DeliveryResult result, std::function<void(Result<void>)> done) {
  const std::size_t weight = sizeof(result) + result.error.size();
  parts_->committer->push(std::make_unique<sqlite::RecordDelivery>(std::move(result), std::move(done)),
                          weight);
}

Result<task::TaskHead> SqliteStore::head(const task::TaskRef& ref) const {
  if (auto known = parts_->recent.head(ref)) return visible(std::move(*known));
  auto head = peeking("finding a task", [&](sqlite::Connection& connection) {
    return head_of(sqlite::find_head(connection, ref));
  });
  if (!head) return head;
  settle(head->key);
  return visible(std::move(*head));
}

Result<task::TaskHead> SqliteStore::head(task::TaskKey key) const {
  if (auto known = parts_->recent.head(key)) return std::move(*known);
  return reading(key, "finding a task",
                 [&](sqlite::Connection& connection) { return head_of(sqlite::find_head(connection, key)); });
}

Result<task::Task> SqliteStore::read(task::TaskKey key, const task::Depth& depth,
                                     std::optional<task::EventNumber> as_of) const {
  if (auto known = parts_->recent.read(key, depth, as_of)) return std::move(*known);
  return reading(key, "reading a task", [&](auto& connection) {
    return sqlite::read_task(connection, sqlite::find_head(connection, key), depth, as_of);
  });
}

Result<task::Task> SqliteStore::read(const task::TaskRef& ref, const task::Depth& depth) const {
  if (const auto known = parts_->recent.head(ref); known && !known->hidden)
    return read(known->key, depth, {});
  task::TaskKey key;
  auto task = peeking("reading a task", [&](auto& connection) {
    auto row = sqlite::find_head(connection, ref);
    if (row && row->head.hidden) row.reset();
    if (row) key = row->head.key;
    return sqlite::read_task(connection, std::move(row), depth, {});
  });
  if (key) settle(key);
  return task;
}

Result<std::vector<task::Event>> SqliteStore::events(task::TaskKey key, task::EventNumber after,
                                                     int limit) const {
  if (auto known = parts_->recent.events(key, after, limit)) return std::move(*known);
  return reading(key, "reading events",
                 [&](auto& connection) { return sqlite::read_events(connection, key, after, limit); });
}

bool SqliteStore::after_change(task::TaskKey key, std::function<void()> then) {
  return parts_->under_way.after(key, std::move(then));
}

Result<TurnInput> SqliteStore::turn_input(task::TaskKey key, task::EventNumber message) const {
  if (auto known = parts_->recent.turn_input(key, message)) return std::move(*known);
  return peeking("reading a turn's input",
                 [&](auto& connection) { return sqlite::read_turn_input(connection, key, message); });
}

Result<task::EventNumber> SqliteStore::next_message(task::TaskKey key, task::EventNumber after) const {
  return peeking("finding a message",
                 [&](auto& connection) { return sqlite::next_user_message(connection, key, after); });
}

Result<std::vector<task::Message>> SqliteStore::conversation(task::ContextKey context,
                                                             task::TaskKey before_task,
                                                             task::EventNumber before, int limit) const {
  if (auto known = parts_->recent.conversation(context, before_task, before)) return std::move(*known);
  return peeking("reading a conversation", [&](auto& connection) {
    return sqlite::read_conversation(connection, context, before_task, before, limit);
  });
}

Result<std::vector<task::TaskHead>> SqliteStore::unfinished(task::TaskKey after, int limit) const {
  return peeking("finding unfinished tasks", [&](auto& connection) -> Result<std::vector<task::TaskHead>> {
    return sqlite::unfinished_heads(connection, after, limit);
  });
}

Result<std::vector<task::TaskHead>> SqliteStore::open_children(task::TaskKey parent) const {
  return peeking("finding child tasks", [&](auto& connection) -> Result<std::vector<task::TaskHead>> {
    return sqlite::open_child_heads(connection, parent);
  });
}

Result<std::vector<task::TaskHead>> SqliteStore::orphans() const {
  return peeking("finding orphans", [&](auto& connection) -> Result<std::vector<task::TaskHead>> {
    return sqlite::orphan_heads(connection);
  });
}

Result<EarlierSend> SqliteStore::earlier_send(const task::SendDigest& digest) const {
  return peeking("finding an earlier send", [&](sqlite::Connection& connection) -> Result<EarlierSend> {
    const auto send = parts_->sends.find(connection, digest, parts_->clock.now());
    if (!send) return fail(ErrorCode::not_found, "no earlier send");
    return *send;
  });
}

Result<task::Event> SqliteStore::first_stop(task::TaskKey key, task::EventNumber after) const {
  return reading(key, "finding where a task stopped",
                 [&](auto& connection) { return sqlite::first_stop(connection, key, after); });
}

Result<task::EventNumber> SqliteStore::last_stop(task::TaskKey key, task::EventNumber before) const {
  return reading(key, "finding where a task stopped",
                 [&](auto& connection) { return sqlite::last_stop(connection, key, before); });
}

Result<std::vector<std::string>> SqliteStore::call_ids(task::ContextKey context) const {
  if (auto known = parts_->recent.call_ids(context)) return std::move(*known);
  return peeking("finding tool calls",
                 [&](auto& connection) { return sqlite::call_ids(connection, context); });
}

Result<ListPage> SqliteStore::list(const task::ListFilter& filter) const {
  return reading("listing tasks", [&](auto& connection) -> Result<ListPage> {
    return sqlite::list_heads(connection, filter);
  });
}

Result<std::vector<task::PushConfig>> SqliteStore::push_configs(task::TaskKey key) const {
  return reading("reading push configs",
                 [&](auto& connection) { return sqlite::configs_of(connection, key); });
}

Result<std::vector<Delivery>> SqliteStore::due_deliveries(base::Timestamp now, int limit) const {
  return reading("finding due deliveries",
                 [&](auto& connection) { return sqlite::due_deliveries(connection, now, limit); });
}

Result<std::optional<base::Timestamp>> SqliteStore::next_due() const {
  return peeking("finding the next delivery",
                 [&](auto& connection) -> Result<std::optional<base::Timestamp>> {
                   return sqlite::next_due(connection);
                 });
}

Result<DeliveryStore::Counts> SqliteStore::delivery_counts() const {
  return peeking("counting deliveries",
                 [&](auto& connection) -> Result<Counts> { return sqlite::delivery_counts(connection); });
}

}  // namespace baton::store
