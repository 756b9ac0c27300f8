#include "store/postgres/copy_sides.h"

#include <map>
#include <optional>
#include <utility>

#include "base/embedded.h"
#include "store/copy/unfinished.h"
#include "store/postgres/lane/locks.h"
#include "store/postgres/lane/nodes.h"
#include "store/postgres/lane/session.h"
#include "store/postgres/lane/writer.h"
#include "store/postgres/migrations.h"
#include "store/postgres/opening.h"

namespace baton::store::postgres {
namespace {

using base::fail;
using base::Result;
using copy::Table;

constexpr std::string_view kTotals = "task_totals", kAudit = "audit";
// Settings that may lose confirmed commits. They are allowed for a source, because nothing is committed
// there.
const std::vector<std::string> kAllowedToSources{"fsync=off", "full_page_writes=off",
                                                 "synchronous_commit=off"};
// Sets each sequence to continue after the largest key in use. Blocks of keys begin at the next value.
constexpr const char* kSequences[] = {
    "SELECT setval('task_keys', 1 + greatest((SELECT coalesce(max(task_key), 0) FROM tasks), (SELECT "
    "coalesce(max(task_key), 0) FROM removed_logs), (SELECT coalesce(max(last_task), 0) FROM retention)), "
    "false)",
    "SELECT setval('context_keys', 1 + greatest(0, (SELECT max(context_key) FROM contexts)), false)",
    "SELECT setval('config_keys', 1 + (SELECT coalesce(max(config_key), 0) FROM push_configs), false)",
    "SELECT setval('delivery_keys', 1 + (SELECT coalesce(max(delivery_key), 0) FROM deliveries), false)",
    "SELECT setval(pg_get_serial_sequence('audit', 'audit_key'), 1 + (SELECT coalesce(max(audit_key), 0) "
    "FROM audit), false)",
};

// Sums PostgreSQL's rows per node to one row for each key, as in SQLite.
std::string rows_for_copy(const Table& table) {
  if (table.name != kTotals) return table.name;
  return "(SELECT agent, caller, state, sum(tasks)::bigint AS tasks FROM task_totals GROUP BY agent, caller, "
         "state HAVING sum(tasks) <> 0) AS summed";
}

class PostgresSource final : public copy::Source {
 public:
  PostgresSource(Address address, std::string shown)
      : address_(std::move(address)), shown_(std::move(shown)), reader_(address_, [](Link&) {}) {}

  ~PostgresSource() override {
    snapshot_.reset();
    try {
      // Unlocks at once, because the server may take a while to notice that the connection is closed.
      unlock_all(reader_.link());
    } catch (const sql::Failure&) {  // It is gone with the connection.
    }
  }

  Result<void> prepare() {
    Link& link = reader_.link();
    if (auto locked = lock_checked(link, kAllowedToSources, address_); !locked) return locked;
    if (auto newest = check_newest(link, base::embedded_files()); !newest) return newest;
    if (has_table(link, copy::kUnfinishedTable)) return fail(unfinished_error(link));
    // The lock ends with the session. A session that is lost within a snapshot is not replaced, so checking
    // the lock once is enough.
    snapshot_.emplace(reader_);
    sql::Query locks =
        reader_.query("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()");
    if (locks.step() && locks.truth(0)) return {};
    return fail(base::ErrorCode::unavailable, "the connection to the database was lost");
  }

  sql::Connection& connection() override { return reader_; }
  std::string rows_of(const Table& table) const override { return rows_for_copy(table); }
  std::string name() const override { return shown_; }

 private:
  const Address address_;
  const std::string shown_;
  Reader reader_;
  std::optional<sql::Snapshot> snapshot_;
};

class PostgresTarget final : public copy::Target {
 public:
  explicit PostgresTarget(Address address)
      : address_(std::move(address)), writer_(address_, SchemaLock::alone, nullptr) {}

  Result<void> prepare(const base::Clock& clock, const std::vector<std::string>& allows) {
    Link& link = writer_.link();
    if (auto locked = lock_checked(link, allows, address_); !locked) return locked;
    if (is_new(link)) {
      const auto nothing = [](int, int) {};
      if (auto made = migrate(link, base::embedded_files(), clock.now(), nothing); !made) return made;
    } else if (auto newest = check_newest(link, base::embedded_files()); !newest) {
      return newest;
    }
    is_begun_ = has_table(link, copy::kUnfinishedTable);
    if (!is_begun_ && has_any()) return fail(copy::not_empty());
    // The lease is longer than any copy takes, so that a program which waits for the database does not end
    // this one.
    const NewNode node{"a copy", "", clock.now(), std::chrono::hours(1'000)};
    forget_nodes(link);
    writer_.adopt({enter(link, node), 1});
    return {};
  }

  sql::Connection& connection() override { return writer_; }
  std::string rows_of(const Table& table) const override { return rows_for_copy(table); }
  bool is_begun() const override { return is_begun_; }

  void insert(const Table& table, std::span<const sql::Parameter> row) override {
    auto& statement = statements_[&table];
    if (statement.empty()) {
      statement = table.name == kTotals  ? copy::insert_statement(table, "node_id, lane, ", "0, 0, ")
                  : table.name == kAudit ? copy::insert_statement(table, "", "", "OVERRIDING SYSTEM VALUE ")
                                         : copy::insert_statement(table);
    }
    writer_.run_with(statement.c_str(), row);
  }

  void prepare_to_serve() override {
    for (const char* sequence : kSequences) writer_.run(sequence);
    writer_.run("DELETE FROM nodes");
  }

  // Committed data is already on the disk. ANALYZE gives the planner statistics now that it would get a
  // minute later.
  Result<void> flush() override {
    for (const Table& table : copy::tables()) writer_.link().ask("ANALYZE " + table.name);
    return {};
  }

 private:
  // Uses a connection of its own, because the writer has no lane yet.
  bool has_any() {
    Reader reader(address_, [](Link&) {});
    const sql::Snapshot snapshot(reader);
    return copy::has_rows(reader);
  }

  const Address address_;
  std::map<const Table*, std::string> statements_;  // they outlive the writer
  Writer writer_;
  bool is_begun_ = false;
};

// Creates a side of the database with `make` and prepares it with `prepare`.
template <class Made, class Make, class F>
Result<std::unique_ptr<Made>> open_side(const std::string& url, Make&& make, F&& prepare) {
  auto address = Address::read(url);
  if (!address) return fail(address.error());
  const Address name = *address;
  try {
    std::unique_ptr<Made> side = make(std::move(*address));
    if (auto ready = prepare(*side); !ready) return fail(sql::about(name.name(), ready.error()));
    return side;
  } catch (const sql::Failure& failure) {
    return fail(sql::about(name.name(), error_at_open(failure)));
  }
}

}  // namespace

Result<std::unique_ptr<copy::Source>> open_copy_source(const std::string& url, const std::string& shown) {
  return open_side<PostgresSource>(
      url, [&](Address address) { return std::make_unique<PostgresSource>(std::move(address), shown); },
      [](PostgresSource& side) { return side.prepare(); });
}

Result<std::unique_ptr<copy::Target>> open_copy_target(const std::string& url, const base::Clock& clock,
                                                       const std::vector<std::string>& allows) {
  return open_side<PostgresTarget>(
      url, [](Address address) { return std::make_unique<PostgresTarget>(std::move(address)); },
      [&](PostgresTarget& side) { return side.prepare(clock, allows); });
}

}  // namespace baton::store::postgres
