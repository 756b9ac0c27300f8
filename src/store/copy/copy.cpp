#include "store/copy/copy.h"

#include <algorithm>
#include <array>
#include <deque>
#include <string_view>
#include <utility>

#include "store/copy/row.h"
#include "store/copy/unfinished.h"
#include "store/sql/failure.h"

namespace baton::store::copy {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// A batch is kept in memory until it is committed.
constexpr int kBatchRowsMax = 4'000;
constexpr std::size_t kBatchBytesMax = 4 << 20;

// A server may change these tables without changing the other figures of the state. They are small, so all of
// their rows are read.
constexpr std::array<std::string_view, 4> kChangedAlone{"titles", "bulk_jobs", "api_keys", "removed_logs"};

// The progress of copying a table.
struct Progress {
  Tally tally;
  std::string reached;  // the key of the last row
  bool is_done = false;
};

class Copier {
 public:
  Copier(Source& source, Target& target)
      : source_(source), target_(target), from_(source.connection()), to_(target.connection()) {}

  Result<void> begin() {
    const std::string state = state_of_source();
    if (!target_.is_begun()) {
      make(state);
      return {};
    }
    to_.begin();
    Result<void> is_same;
    {
      sql::Query query = to_.query("SELECT state, source FROM unfinished_copy");
      const bool is_there = query.step();
      const std::string known = is_there ? query.text(0) : std::string();
      if (known.substr(0, known.find(' ')) != state.substr(0, state.find(' '))) {
        is_same = fail(unfinished_error(is_there ? query.text(1) : "another database"));
      } else if (known != state) {
        is_same = fail(ErrorCode::conflict,
                       "a server has changed the source database since this copy was started: remove the "
                       "copy and start again");
      }
    }
    to_.rollback();
    return is_same;
  }

  void copy_rows(const Table& table) {
    Progress progress = progress_of(table);
    if (progress.is_done) return;
    const std::string columns = "SELECT " + table.columns_listed() + " FROM " + source_.rows_of(table);
    const std::string key = table.columns_listed(table.key_columns);
    const std::string reached = progress.reached;
    sql::Query rows = from_.scan_with(
        kept(columns + (reached.empty() ? "" : " WHERE (" + key + ") > (" + places(table.key_columns) + ")") +
             " ORDER BY " + key),
        Row::key_parameters(table, reached));
    Row row(table);
    while (!progress.is_done) {
      to_.begin();
      copy_batch(table, rows, row, progress);
      save(table, progress);
      to_.commit();
    }
  }

  Compared compare(const Table& table) {
    const Progress progress = progress_of(table);
    to_.begin_reading();
    const Tally found = tally_of(target_, table);
    to_.rollback();
    return {table.name, progress.tally.rows, found == progress.tally};
  }

  Result<void> finish() {
    to_.begin();
    target_.prepare_to_serve();
    to_.run("DROP TABLE copied_tables");
    to_.run("DROP TABLE unfinished_copy");
    to_.commit();
    return target_.flush();
  }

 private:
  // Keeps a statement for good, because connections identify statements by their address.
  const char* kept(std::string statement) { return statements_.emplace_back(std::move(statement)).c_str(); }

  // Returns a text that changes whenever a server writes to the source.
  std::string state_of_source() {
    std::string state;
    {
      sql::Query query = from_.query(
          "SELECT (SELECT name FROM server), (SELECT count(*) FROM tasks), (SELECT coalesce(sum(version + "
          "last_event), 0) FROM tasks), (SELECT coalesce(sum(attempts), 0) FROM deliveries), (SELECT "
          "coalesce(max(audit_key), 0) FROM audit), (SELECT last_task FROM retention)");
      if (!query.step()) throw sql::damaged_row("no server");
      state = query.text(0);
      for (int i = 1; i <= 5; ++i) state += " " + query.text(i);
    }
    for (const Table& table : tables()) {
      if (std::ranges::find(kChangedAlone, table.name) == kChangedAlone.end()) continue;
      const Tally tally = tally_of(source_, table);
      state += " " + std::to_string(tally.rows) + " " + std::to_string(tally.high);
    }
    return state;
  }

  Tally tally_of(Side& side, const Table& table) {
    Tally tally;
    Row row(table);
    sql::Query rows = side.connection().scan_with(
        kept("SELECT " + table.columns_listed() + " FROM " + side.rows_of(table)), {});
    while (rows.step()) {
      row.read(rows);
      row.add_to(tally);
    }
    return tally;
  }

  static std::string places(std::size_t count) {
    std::string places = "?";
    for (std::size_t i = 1; i < count; ++i) places += ", ?";
    return places;
  }

  // Makes the target an unfinished copy, in one transaction.
  void make(const std::string& state) {
    to_.begin();
    to_.run("CREATE TABLE unfinished_copy (source text NOT NULL, state text NOT NULL)");
    to_.run(
        "CREATE TABLE copied_tables (name text PRIMARY KEY, table_rows bigint NOT NULL, digest_high bigint "
        "NOT NULL, digest_low bigint NOT NULL, reached text NOT NULL, is_done bigint NOT NULL)");
    to_.run("INSERT INTO unfinished_copy (source, state) VALUES (?, ?)", source_.name(), state);
    for (const Table& table : tables()) {
      to_.run(
          "INSERT INTO copied_tables (name, table_rows, digest_high, digest_low, reached, is_done) VALUES "
          "(?, 0, 0, 0, '', 0)",
          table.name);
      if (table.rows_at_start > 0) to_.run(kept("DELETE FROM " + table.name));
    }
    to_.commit();
  }

  Progress progress_of(const Table& table) {
    Progress progress;
    to_.begin_reading();
    {
      sql::Query query = to_.query(
          "SELECT table_rows, digest_high, digest_low, reached, is_done FROM copied_tables WHERE name = ?",
          table.name);
      if (!query.step()) throw sql::damaged_row("an unfinished copy without table " + table.name);
      progress.tally = {query.integer(0), static_cast<std::uint64_t>(query.integer(1)),
                        static_cast<std::uint64_t>(query.integer(2))};
      progress.reached = query.text(3);
      progress.is_done = query.truth(4);
    }
    to_.rollback();
    return progress;
  }

  void save(const Table& table, const Progress& progress) {
    to_.run(
        "UPDATE copied_tables SET table_rows = ?2, digest_high = ?3, digest_low = ?4, reached = ?5, is_done "
        "= ?6 WHERE name = ?1",
        table.name, progress.tally.rows, static_cast<std::int64_t>(progress.tally.high),
        static_cast<std::int64_t>(progress.tally.low), progress.reached, progress.is_done ? 1 : 0);
  }

  void copy_batch(const Table& table, sql::Query& rows, Row& row, Progress& progress) {
    std::size_t bytes = 0;
    for (int count = 0; count < kBatchRowsMax && bytes < kBatchBytesMax; ++count) {
      if (!rows.step()) {
        progress.is_done = true;
        return;
      }
      row.read(rows);
      target_.insert(table, row.parameters());
      row.add_to(progress.tally);
      progress.reached = row.key();
      bytes += row.bytes();
    }
  }

  Source& source_;
  Target& target_;
  sql::Connection& from_;
  sql::Connection& to_;
  std::deque<std::string> statements_;
};

}  // namespace

Result<void> copy(Source& source, Target& target, const std::function<void(const Compared&)>& on_table) {
  return sql::catching("copying the database", [&]() -> Result<void> {
    Copier copier(source, target);
    if (auto begun = copier.begin(); !begun) return begun;
    for (const Table& table : tables()) copier.copy_rows(table);
    std::string unequal;
    for (const Table& table : tables()) {
      const Compared compared = copier.compare(table);
      on_table(compared);
      if (!compared.is_equal) unequal += (unequal.empty() ? "" : ", ") + table.name;
    }
    if (unequal.empty()) return copier.finish();
    return fail(ErrorCode::internal, "the copy differs from its source in " + unequal +
                                         ": remove it and start again; the disk may be faulty");
  });
}

}  // namespace baton::store::copy
