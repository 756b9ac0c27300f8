#include "store/copy/copy.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/embedded.h"
#include "store/copy/row.h"
#include "store/sql/failure.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/copy_sides.h"
#include "store/sqlite/migrations.h"
#include "store/sqlite/send_index.h"
#include "store/sqlite/sqlite_store.h"
#include "support/temp_folder.h"

namespace copy_test {

using namespace baton;
using base::ErrorCode;
using store::copy::Compared;
using store::copy::Table;
using store::sqlite::Connection;

namespace {

// More than one batch.
constexpr int kEvents = 9'000;
constexpr int kSends = 70'000;  // more than two slices

struct Bench {
  Bench() {
    Connection connection(from, Connection::Mode::write);
    REQUIRE(store::sqlite::migrate(connection, base::embedded_files(), {}).has_value());
    connection.database().exec("PRAGMA journal_mode=WAL");
    connection.begin();
    for (int i = 1; i <= kEvents; ++i) {
      connection.run("INSERT INTO events (event_key, kind, at_ms, body) VALUES (?, 1, 7, ?)", i,
                     std::string("body ") + std::to_string(i) + std::string("\0\x01\xff\xc3\xa4", 5));
    }
    connection.run("INSERT INTO artifacts VALUES (1, ?, 0, 0)", std::string("\xff:1 "));
    connection.run("INSERT INTO artifacts VALUES (1, ?, 1, 0)", std::string());
    connection.run("INSERT INTO titles (agent, caller, context, title) VALUES ('echo', 'ann', 'c', 'Old')");
    connection.run("UPDATE server SET name = 'the source'");
    connection.commit();
  }

  // Copies; returns the comparison of all tables, or the error.
  base::Result<std::vector<Compared>> copy() {
    const auto source = store::sqlite::open_copy_source(from);
    if (!source) return base::fail(source.error());
    const auto target = store::sqlite::open_copy_target(to, clock);
    if (!target) return base::fail(target.error());
    return copy(**source, **target);
  }
  static base::Result<std::vector<Compared>> copy(store::copy::Source& source, store::copy::Target& target) {
    std::vector<Compared> tables;
    auto copied = store::copy::copy(source, target, [&](const Compared& table) { tables.push_back(table); });
    if (!copied) return base::fail(copied.error());
    return tables;
  }
  void change(const std::string& file, const char* sql) {
    Connection(file, Connection::Mode::write).database().exec(sql);
  }
  std::int64_t number(const std::string& sql) {
    return Connection(to, Connection::Mode::read).database().execAndGet(sql).getInt64();
  }

  base::SystemClock clock;
  test::TempFolder folder;
  std::string from = (folder.path() / "from.db").string(), to = (folder.path() / "to.db").string();
};

// A target that forwards to another one, except for `insert`.
class OtherTarget final : public store::copy::Target {
 public:
  using Insert = std::function<void(Target&, const Table&, std::span<const store::sql::Parameter>)>;
  OtherTarget(Target& target, Insert insert) : target_(target), insert_(std::move(insert)) {}

  store::sql::Connection& connection() override { return target_.connection(); }
  std::string rows_of(const Table& table) const override { return target_.rows_of(table); }
  bool is_begun() const override { return target_.is_begun(); }
  void insert(const Table& table, std::span<const store::sql::Parameter> row) override {
    insert_(target_, table, row);
  }
  void prepare_to_serve() override { target_.prepare_to_serve(); }
  base::Result<void> flush() override { return target_.flush(); }

 private:
  Target& target_;
  const Insert insert_;
};

// Copies until before the given row of the table events, as if the program had been killed there.
void copy_until(Bench& bench, int row) {
  const auto source = store::sqlite::open_copy_source(bench.from);
  REQUIRE(source.has_value());
  const auto target = store::sqlite::open_copy_target(bench.to, bench.clock);
  REQUIRE(target.has_value());
  int events = 0;
  OtherTarget dying(**target, [&](auto& real, const Table& table, auto columns) {
    if (table.name == "events" && ++events == row) throw std::runtime_error("killed");
    real.insert(table, columns);
  });
  CHECK_THROWS_AS((void)Bench::copy(**source, dying), std::runtime_error);
}

base::Error error_at_open(const std::string& database) {
  const base::SystemClock clock;
  const auto opened = store::SqliteStore::open({.path = database}, clock);
  REQUIRE(!opened);
  return opened.error();
}

}  // namespace

TEST_CASE("Copy: every column of the schema is copied or listed as belonging to one database only") {
  const std::set<std::string> own{
      "migrations.number",     "migrations.name",           "migrations.applied_ms",
      "sends.send_key",        "send_slices.last_key",      "send_slices.first_key",
      "send_slices.newest_ms", "send_slice_pages.page_key", "send_slice_pages.digests",
      "tasks.owner",           "deliveries.sender",         "bulk_jobs.node"};
  std::set<std::string> copied;
  for (const Table& table : store::copy::tables()) {
    for (const auto& column : table.columns) copied.insert(table.name + "." + column.name);
  }
  Bench bench;
  Connection connection(bench.from, Connection::Mode::read);
  auto columns = connection.query(
      "SELECT t.name || '.' || c.name, c.type = 'TEXT', c.\"notnull\" + c.pk > 0 FROM sqlite_schema t JOIN "
      "pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'");
  std::set<std::string> found;
  while (columns.step()) {
    const std::string name = columns.text(0);
    found.insert(name);
    CAPTURE(name);
    CHECK(own.contains(name) != copied.contains(name));
    for (const Table& table : store::copy::tables()) {
      for (const auto& column : table.columns) {
        if (table.name + "." + column.name != name) continue;
        CHECK(column.is_text == columns.truth(1));
        CHECK(column.may_be_null != columns.truth(2));
      }
    }
  }
  CHECK(std::ranges::includes(found, copied));
}

TEST_CASE("Copy: the copy has every row and can be used as a database") {
  Bench bench;
  const auto tables = bench.copy();
  REQUIRE(tables.has_value());
  CHECK(tables->size() == store::copy::tables().size());
  CHECK(std::ranges::all_of(*tables, &Compared::is_equal));
  const auto events = std::ranges::find(*tables, "events", &Compared::table);
  REQUIRE(events != tables->end());
  CHECK(events->rows == kEvents);
  const auto opened = store::SqliteStore::open({.path = bench.to}, bench.clock);
  REQUIRE(opened.has_value());
  CHECK((*opened)->server_name() == "the source");
}

TEST_CASE("Copy: an interrupted copy cannot be served, can be continued, and copies no row twice") {
  for (const int row : {1, 4'000, 4'001, 8'999}) {
    CAPTURE(row);
    Bench bench;
    copy_until(bench, row);
    CHECK(bench.number("SELECT count(*) FROM events") == (row - 1) / 4'000 * 4'000);
    const base::Error refused = error_at_open(bench.to);
    CHECK(refused.code == ErrorCode::conflict);
    CHECK(refused.for_log.find("an unfinished copy of " + bench.from) != std::string::npos);
    const auto source = store::sqlite::open_copy_source(bench.to);
    CHECK((!source && source.error().code == ErrorCode::conflict));
    const auto tables = bench.copy();
    REQUIRE(tables.has_value());
    CHECK(std::ranges::all_of(*tables, &Compared::is_equal));
    CHECK(bench.number("SELECT count(*) FROM events") == kEvents);
    CHECK(store::SqliteStore::open({.path = bench.to}, bench.clock).has_value());
  }
}

TEST_CASE("Copy: an interrupted copy is not continued from another or a changed database") {
  Bench bench;
  copy_until(bench, 1);
  SUBCASE("changed") {
    SUBCASE("a task") {
      bench.change(bench.from, "UPDATE retention SET last_task = 5");
    }
    SUBCASE("a title") {
      bench.change(bench.from, "UPDATE titles SET title = 'New'");
    }
    SUBCASE("the rest of a removed log") {
      bench.change(bench.from, "INSERT INTO removed_logs VALUES (1, 0)");
    }
    SUBCASE("an API key") {
      bench.change(
          bench.from,
          "INSERT INTO api_keys VALUES ('k', 'd', 'ann', 'caller', '', '', 0, 'olga', 1, 0, 0, 0, 0, 1)");
    }
    const auto copied = bench.copy();
    REQUIRE(!copied);
    CHECK(copied.error().code == ErrorCode::conflict);
    CHECK(copied.error().for_caller.find("since this copy") != std::string::npos);
  }
  SUBCASE("another") {
    bench.change(bench.from, "UPDATE server SET name = 'another'");
    const auto copied = bench.copy();
    REQUIRE(!copied);
    CHECK(copied.error().for_caller.find("an unfinished copy of " + bench.from) != std::string::npos);
  }
}

TEST_CASE("Copy: a row that differs is found, and the copy stays unfinished") {
  Bench bench;
  {
    const auto source = store::sqlite::open_copy_source(bench.from);
    REQUIRE(source.has_value());
    const auto target = store::sqlite::open_copy_target(bench.to, bench.clock);
    REQUIRE(target.has_value());
    OtherTarget wrong(**target, [](auto& real, const Table& table, auto row) {
      std::vector<store::sql::Parameter> columns(row.begin(), row.end());
      if (table.name == "events" && columns[0].number == 77) columns[2].number += 1;
      real.insert(table, columns);
    });
    const auto copied = Bench::copy(**source, wrong);
    REQUIRE(!copied);
    CHECK(copied.error().for_caller.find("differs from its source in events") != std::string::npos);
  }
  CHECK(error_at_open(bench.to).code == ErrorCode::conflict);
}

TEST_CASE("Copy: a target with rows, and a source of another version or in use, are refused") {
  Bench bench;
  SUBCASE("not empty") {
    {
      Connection connection(bench.to, Connection::Mode::write);
      REQUIRE(store::sqlite::migrate(connection, base::embedded_files(), {}).has_value());
    }
    SUBCASE("only the rows that migrations make") {
      CHECK(bench.copy().has_value());
    }
    SUBCASE("a row") {
      bench.change(bench.to, "INSERT INTO landmarks VALUES (1)");
      const auto copied = bench.copy();
      CHECK((!copied && copied.error().code == ErrorCode::already_exists));
    }
  }
  SUBCASE("in use") {
    const auto open = store::SqliteStore::open({.path = bench.from}, bench.clock);
    REQUIRE(open.has_value());
    const auto copied = bench.copy();
    REQUIRE(!copied);
    CHECK(copied.error().for_log.find("in use by another Baton") != std::string::npos);
  }
  SUBCASE("an earlier version's") {
    bench.change(bench.from, "PRAGMA user_version=3");
    const auto copied = bench.copy();
    REQUIRE(!copied);
    CHECK(copied.error().code == ErrorCode::unsupported);
    CHECK(copied.error().for_caller.find("starting and stopping this version") != std::string::npos);
  }
  SUBCASE("not there") {
    bench.from += "-none";
    const auto copied = bench.copy();
    CHECK((!copied && copied.error().code == ErrorCode::not_found));
  }
}

TEST_CASE("Copy: repeated sends are recognised in the copy, and its slices are built") {
  Bench bench;
  std::mt19937_64 random(7);
  std::vector<task::SendDigest> digests;
  for (int i = 0; i < kSends; ++i) digests.push_back({random(), random()});
  {
    Connection connection(bench.from, Connection::Mode::write);
    connection.begin();
    for (int i = 0; i < kSends; ++i) {
      connection.run("INSERT INTO sends VALUES (?, ?, ?, ?, ?, 3)", i + 1,
                     static_cast<std::int64_t>(digests[static_cast<std::size_t>(i)].high),
                     static_cast<std::int64_t>(digests[static_cast<std::size_t>(i)].low), 1'000 + i / 3,
                     i + 1);
    }
    // An expired send, and a newer one with the same digest.
    connection.run("INSERT INTO sends VALUES (99999999, 5, 5, 9000, 8, 1), (0, 5, 5, 1, 7, 1)");
    connection.commit();
  }
  REQUIRE(bench.copy().has_value());
  CHECK(bench.number("SELECT count(*) FROM send_slices") == 2);
  Connection connection(bench.to, Connection::Mode::write);
  store::sqlite::SendIndex index(std::chrono::hours(24), 32'768);
  index.refresh(connection);
  std::int64_t task = 0;
  int lost = 0;
  for (const task::SendDigest& digest : digests) {
    const auto found = index.find(connection, digest, base::from_ms(2'000));
    if (!found || found->task.value != ++task || found->before.value != 3) ++lost;
  }
  CHECK(lost == 0);
  CHECK(index.find(connection, {5, 5}, base::from_ms(9'000))->task.value == 8);
}

TEST_CASE("Copy: a key is read back from its text unchanged") {
  const Table table{"t", {{"a", true}, {"b"}, {"c", true}, {"d"}}, 3};
  Bench bench;
  Connection connection(bench.from, Connection::Mode::read);
  const std::string first("5:\0\xff 7 ", 8), last;
  auto query = connection.query("SELECT ?, ?, ?, 9", store::sql::Blob{first}, -42, last);
  REQUIRE(query.step());
  store::copy::Row row(table);
  row.read(query);
  const std::string key = row.key();
  const auto parameters = store::copy::Row::key_parameters(table, key);
  REQUIRE(parameters.size() == 3);
  CHECK(parameters[0].bytes == first);
  CHECK(parameters[1].number == -42);
  CHECK(parameters[2].bytes == last);
  CHECK_THROWS_AS((void)store::copy::Row::key_parameters(table, key.substr(0, 6)), store::sql::Failure);
}

}  // namespace copy_test
