#include "store/sqlite/sqlite_store.h"

#include <fcntl.h>
#include <sqlite3.h>

#include <utility>

#include "base/unique_fd.h"
#include "store/sqlite/apply_change.h"
#include "store/sqlite/checkpoints.h"
#include "store/sqlite/connection_pool.h"
#include "store/sqlite/context_rows.h"
#include "store/sqlite/delivery_rows.h"
#include "store/sqlite/errors.h"
#include "store/sqlite/file_lock.h"
#include "store/sqlite/migrations.h"
#include "store/sqlite/operator_rows.h"
#include "store/sqlite/push_rows.h"
#include "store/sqlite/removed_rows.h"
#include "store/sqlite/send_index.h"
#include "store/sqlite/set_up.h"
#include "store/sqlite/task_pages.h"
#include "store/sqlite/task_reader.h"
#include "store/sqlite/wal_file.h"

namespace baton::store {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr int kOperatorReaders = 2;  // their reads are long: callers' do not wait for them
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

Result<TaskRow> found(std::optional<TaskRow> row) {
  if (!row) return fail(ErrorCode::task_not_found, "task not found");
  return std::move(*row);
}

// Writes to the disk without changing anything: the version is in the first page, which SQLite writes even if
// the value is unchanged.
void touch(SQLite::Database& database) {
  const int version = database.execAndGet("PRAGMA user_version").getInt();
  database.exec("PRAGMA user_version=" + std::to_string(version));
}

}  // namespace

struct SqliteStore::Parts {
  Parts(sqlite::FileLock held, const SqliteOptions& options, const base::Clock& clock_used)
      : lock(std::move(held)),
        writer(options.path, sqlite::Connection::Mode::write),
        sends(options.send_retention, options.send_slice_max),
        state(writer, clock_used, sends, options.short_events_max),
        clock(clock_used) {}

  void start(const SqliteOptions& options) {
    kept_before = writer.database().execAndGet("SELECT kept_before FROM retention").getInt() != 0;
    server_name = writer.database().execAndGet("SELECT name FROM server").getString();
    sends.refresh(writer);
    state.start();
    checkpoints.emplace(options.path, writer);
    readers.emplace(options.path, options.readers, kReaderPragmas);
    operators.emplace(options.path, kOperatorReaders, kReaderPragmas);
  }

  void begin() {
    if (!group_is_open) writer.begin();
    group_is_open = true;
  }

  // Of a group in which nothing was written.
  void end() {
    writer.rollback();
    group_is_open = false;
  }
  void take_back() {
    end();
    state.forget();
  }

  sqlite::FileLock lock;
  sqlite::Connection writer;
  sqlite::SendIndex sends;
  sqlite::WriteState state;
  const base::Clock& clock;
  std::string server_name;
  bool kept_before = false;
  bool group_is_open = false;
  std::optional<sqlite::ConnectionPool> readers, operators;
  std::optional<sqlite::WalFile> wal;
  std::optional<sqlite::Checkpoints> checkpoints;
};

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const SqliteOptions& options,
                                                       const base::Clock& clock) {
  switch_statistics_off();
  make_private(options.path);
  auto lock = sqlite::FileLock::take(options.path);
  if (!lock) return fail(at_start(options.path, lock.error()));
  try {
    auto parts = std::make_unique<Parts>(std::move(*lock), options, clock);
    if (auto ready = sqlite::set_up(parts->writer, options, clock); !ready) {
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

const std::string& SqliteStore::server_name() const {
  return parts_->server_name;
}

// Runs `work` in the open group. What is left half written ends the group, and so does a refusal if the group
// has nothing else.
template <class F>
auto SqliteStore::writing(const char* doing, F&& work) -> decltype(work()) {
  const bool is_first = !parts_->group_is_open;
  auto result = [&]() -> decltype(work()) {
    try {
      parts_->begin();
      return work();
    } catch (const SQLite::Exception& exception) {
      base::Error error = sqlite::error_of(exception, doing);
      if (error.code != ErrorCode::unavailable) error.code = ErrorCode::internal;
      return fail(std::move(error));
    }
  }();
  if (result) return result;
  const bool is_broken =
      result.error().code == ErrorCode::unavailable || result.error().code == ErrorCode::internal;
  if (is_broken) {
    parts_->take_back();
  } else if (is_first) {
    parts_->end();
  }
  return result;
}

Result<Committed> SqliteStore::apply(task::Change& change, TaskRow& row) {
  return writing("applying a change", [&] { return sqlite::apply_change(parts_->state, change, row); });
}

Result<void> SqliteStore::record(const DeliveryResult& result) {
  return writing("recording a delivery", [&] { return sqlite::record_result(parts_->state, result); });
}

Result<void> SqliteStore::commit() {
  const bool is_empty = !parts_->group_is_open;
  return writing("committing", [&]() -> Result<void> {
    if (is_empty) touch(parts_->writer.database());
    parts_->state.write_totals();
    parts_->writer.commit();
    parts_->group_is_open = false;
    parts_->checkpoints->after_commit();
    return {};
  });
}

Result<void> SqliteStore::flush() {
  if (parts_->checkpoints->has_lost()) {
    return fail(ErrorCode::unavailable, "the store is not available at the moment",
                "the database cannot be flushed to the disk");
  }
  return parts_->wal->flush();
}

// Runs `work` on a reader connection in one snapshot.
template <class F>
auto SqliteStore::reading(const char* doing, F&& work) const {
  return sqlite::catching(doing, [&] {
    auto lent = parts_->readers->lend();
    const sqlite::Snapshot snapshot(*lent);
    return work(*lent);
  });
}

Result<TaskRow> SqliteStore::row(task::TaskKey key) const {
  return reading("finding a task", [&](sqlite::Connection& connection) -> Result<TaskRow> {
    auto row = found(sqlite::find_head(connection, key));
    if (!row) return row;
    if (auto read = sqlite::read_waiting(connection, *row); !read) return fail(read.error());
    return row;
  });
}

Result<task::TaskHead> SqliteStore::find(const task::TaskRef& ref) const {
  return reading("finding a task", [&](sqlite::Connection& connection) -> Result<task::TaskHead> {
    auto row = found(sqlite::find_head(connection, ref));
    if (!row) return fail(row.error());
    return std::move(row->head);
  });
}

Result<task::Task> SqliteStore::read(task::TaskKey key, const task::Depth& depth,
                                     std::optional<task::EventNumber> as_of) const {
  return reading("reading a task", [&](auto& connection) {
    return sqlite::read_task(connection, sqlite::find_head(connection, key), depth, as_of);
  });
}

Result<std::vector<task::Event>> SqliteStore::events(task::TaskKey key, task::EventNumber after,
                                                     int limit) const {
  return reading("reading events",
                 [&](auto& connection) { return sqlite::read_events(connection, key, after, limit); });
}

Result<TurnInput> SqliteStore::turn_input(task::TaskKey key, task::EventNumber message) const {
  return reading("reading a turn's input",
                 [&](auto& connection) { return sqlite::read_turn_input(connection, key, message); });
}

Result<ContextRecord> SqliteStore::context(task::ContextKey context, task::TaskKey task,
                                           task::EventNumber unanswered, int limit) const {
  return reading("reading a conversation", [&](auto& connection) {
    return sqlite::read_context(connection, context, task, unanswered, limit);
  });
}

Result<std::optional<Stop>> SqliteStore::stop_after(task::TaskKey key, task::EventNumber number) const {
  return reading("finding where a task stopped",
                 [&](auto& connection) { return sqlite::stop_after(connection, key, number); });
}

Result<task::EventNumber> SqliteStore::stop_before(task::TaskKey key, task::EventNumber number) const {
  return reading("finding where a task stopped",
                 [&](auto& connection) { return sqlite::stop_before(connection, key, number); });
}

Result<EarlierSend> SqliteStore::earlier_send(const task::SendDigest& digest) const {
  return reading("finding an earlier send", [&](sqlite::Connection& connection) -> Result<EarlierSend> {
    const auto send = parts_->sends.find(connection, digest, parts_->clock.now());
    if (!send) return fail(ErrorCode::not_found, "no earlier send");
    return *send;
  });
}

Result<ListPage> SqliteStore::list(const task::ListFilter& filter) const {
  return reading("listing tasks", [&](auto& connection) -> Result<ListPage> {
    return sqlite::list_heads(connection, filter);
  });
}

Result<std::vector<task::TaskHead>> SqliteStore::open_tasks(Open which, task::TaskKey key, int limit) const {
  return reading("finding open tasks", [&](auto& connection) -> Result<std::vector<task::TaskHead>> {
    return sqlite::open_heads(connection, which, key, limit);
  });
}

Result<std::vector<task::PushConfig>> SqliteStore::configs(task::TaskKey task) const {
  return reading("reading push configs",
                 [&](auto& connection) { return sqlite::configs_of(connection, task); });
}

Result<std::vector<Delivery>> SqliteStore::due_deliveries(base::Timestamp now, int limit) const {
  return reading("finding due deliveries",
                 [&](auto& connection) { return sqlite::due_deliveries(connection, now, limit); });
}

Result<std::optional<base::Timestamp>> SqliteStore::next_due() const {
  return reading("finding the next delivery",
                 [&](auto& connection) -> Result<std::optional<base::Timestamp>> {
                   return sqlite::next_due(connection);
                 });
}

Result<DeliveryStore::Counts> SqliteStore::delivery_counts() const {
  return reading("counting deliveries",
                 [&](auto& connection) -> Result<Counts> { return sqlite::delivery_counts(connection); });
}

Result<std::vector<task::TaskHead>> SqliteStore::all_tasks(task::TaskKey after, int limit) const {
  return reading("reading tasks", [&](auto& connection) -> Result<std::vector<task::TaskHead>> {
    return sqlite::heads_after(connection, after, limit);
  });
}

Result<task::TaskKey> SqliteStore::last_made(base::Timestamp time) const {
  return reading("finding a time", [&](auto& connection) -> Result<task::TaskKey> {
    return sqlite::last_made(connection, time);
  });
}

Result<std::vector<TreeMember>> SqliteStore::tree(task::TaskKey root, int most) const {
  return reading("reading a tree",
                 [&](auto& connection) { return sqlite::read_tree(connection, root, most); });
}

bool SqliteStore::kept_before() const {
  return parts_->kept_before;
}

Result<std::vector<Removed>> SqliteStore::remove(const Removal& removal) {
  return writing("removing tasks", [&] { return sqlite::remove_tasks(parts_->state, removal); });
}

Result<bool> SqliteStore::tidy(std::int64_t spare_pages) {
  return writing("tidying", [&]() -> Result<bool> { return sqlite::tidy(parts_->state, spare_pages); });
}

// As `reading`, for an operator.
template <class T, class F>
Result<T> SqliteStore::looking(const char* doing, F&& work) const {
  return sqlite::catching(doing, [&]() -> Result<T> {
    auto lent = parts_->operators->lend();
    const sqlite::Snapshot snapshot(*lent);
    return work(*lent);
  });
}

Result<TaskPage> SqliteStore::page(const TaskQuery& query) const {
  return looking<TaskPage>("listing", [&](auto& on) { return sqlite::read_page(on, query); });
}

Result<TaskCount> SqliteStore::count(const TaskFilter& filter) const {
  return looking<TaskCount>("counting tasks", [&](auto& on) { return sqlite::count_tasks(on, filter); });
}

Result<std::vector<OperatorStore::AgentCounts>> SqliteStore::counts_by_agent() const {
  return looking<std::vector<AgentCounts>>("counting", [](auto& on) { return sqlite::counts_by_agent(on); });
}

Result<TaskLine> SqliteStore::line(task::TaskKey key) const {
  return looking<TaskLine>("reading a line", [&](auto& on) { return sqlite::read_line(on, key); });
}

Result<DeliveryPage> SqliteStore::deliveries(const DeliveryFilter& filter, std::int64_t before,
                                             int limit) const {
  return looking<DeliveryPage>("listing deliveries",
                               [&](auto& on) { return sqlite::read_deliveries(on, filter, before, limit); });
}

Result<DeliveryLine> SqliteStore::delivery(DeliveryKey key) const {
  return looking<DeliveryLine>("finding a delivery",
                               [&](auto& on) { return sqlite::read_delivery(on, key); });
}

Result<AuditPage> SqliteStore::audit(const AuditFilter& filter, std::int64_t before, int limit) const {
  return looking<AuditPage>("reading the audit",
                            [&](auto& on) { return sqlite::read_audit(on, filter, before, limit); });
}

Result<std::vector<AgentControl>> SqliteStore::agent_controls() const {
  return looking<std::vector<AgentControl>>("reading controls",
                                            [](auto& on) { return sqlite::read_controls(on); });
}

Result<std::vector<BulkJob>> SqliteStore::bulk_jobs(int limit) const {
  return looking<std::vector<BulkJob>>("listing jobs",
                                       [&](auto& on) { return sqlite::read_jobs(on, limit); });
}

Result<BulkJob> SqliteStore::bulk_job(task::BulkJobKey key) const {
  return looking<BulkJob>("finding a job", [&](auto& on) { return sqlite::read_job(on, key); });
}

Result<std::vector<BulkItem>> SqliteStore::bulk_items(task::BulkJobKey job, task::TaskKey after, int limit,
                                                      bool open) const {
  return looking<std::vector<BulkItem>>(
      "reading a job", [&](auto& on) { return sqlite::read_items(on, job, after, limit, open); });
}

Result<void> SqliteStore::write(const OperatorWrite& write) {
  return writing("writing for an operator",
                 [&] { return sqlite::write_for_operator(parts_->writer, write, parts_->state.now()); });
}

}  // namespace baton::store
