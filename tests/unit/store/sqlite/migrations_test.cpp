#include "store/sqlite/migrations.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "store/sqlite/errors.h"
#include "support/temp_folder.h"

namespace migrations_test {

using namespace baton;
using base::EmbeddedFile;
using base::ErrorCode;
using store::sqlite::Connection;
using store::sqlite::migrate;

namespace {

const EmbeddedFile kOther{"config.schema.json", "{}"};
const EmbeddedFile kFirst{
    "sqlite/0001_first.sql",
    "CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT, applied_ms INTEGER);"
    "CREATE TABLE a (x);"};
const EmbeddedFile kSecond{"sqlite/0002_second.sql",
                           "ALTER TABLE a ADD COLUMN y; INSERT INTO a VALUES (1, 2);"};
const EmbeddedFile kBroken{"sqlite/0002_broken.sql", "INSERT INTO a VALUES (7); SELECT nonsense;"};

struct Bench {
  test::TempFolder folder;
  std::string path = (folder.path() / "test.db").string();
  Connection connection{path, Connection::Mode::write};

  int number(const std::string& sql) { return connection.database().execAndGet(sql).getInt(); }
};

}  // namespace

TEST_CASE("Migrations: all missing ones are applied, in order, once") {
  Bench bench;
  REQUIRE(migrate(bench.connection, {kOther, kFirst}, base::from_ms(5)).has_value());
  CHECK(bench.number("PRAGMA user_version") == 1);
  REQUIRE(migrate(bench.connection, {kOther, kFirst, kSecond}, base::from_ms(6)).has_value());
  REQUIRE(migrate(bench.connection, {kOther, kFirst, kSecond}, base::from_ms(7)).has_value());
  CHECK(bench.number("PRAGMA user_version") == 2);
  CHECK(bench.number("SELECT count(*) FROM a") == 1);
  CHECK(bench.number("SELECT applied_ms FROM migrations WHERE number = 1") == 5);
  CHECK(bench.number("SELECT applied_ms FROM migrations WHERE name = '0002_second.sql'") == 6);
}

TEST_CASE("Migrations: a failed one is rolled back completely") {
  Bench bench;
  REQUIRE(migrate(bench.connection, {kFirst}, {}).has_value());
  CHECK_THROWS_AS((void)migrate(bench.connection, {kFirst, kBroken}, {}), SQLite::Exception);
  CHECK(bench.number("PRAGMA user_version") == 1);
  CHECK(bench.number("SELECT count(*) FROM a") == 0);
  CHECK(migrate(bench.connection, {kFirst, kSecond}, {}).has_value());
}

TEST_CASE("Migrations: a database of a newer version is refused and not changed") {
  Bench bench;
  REQUIRE(migrate(bench.connection, {kFirst, kSecond}, {}).has_value());
  const auto refused = migrate(bench.connection, {kFirst}, {});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::unsupported);
  CHECK(bench.number("PRAGMA user_version") == 2);
}

TEST_CASE("Migrations: another program's database is refused and not changed") {
  Bench bench;
  bench.connection.database().exec("CREATE TABLE theirs (x)");
  const auto refused = migrate(bench.connection, {kFirst}, {});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::invalid_argument);
  CHECK(bench.number("SELECT count(*) FROM sqlite_schema") == 1);
}

TEST_CASE("Migrations: a database from before the schema's restart is refused, with advice") {
  Bench bench;
  bench.connection.database().exec(
      "CREATE TABLE migrations (x); PRAGMA user_version=9; PRAGMA application_id=1113683055");
  const auto refused = migrate(bench.connection, {kFirst}, {});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::unsupported);
  CHECK(refused.error().for_caller.find("older Baton") != std::string::npos);
  CHECK(refused.error().for_log.find("--db") != std::string::npos);
  CHECK(refused.error().for_log.find("ab3e8b2") != std::string::npos);
  CHECK(bench.number("PRAGMA user_version") == 9);
  CHECK(bench.number("PRAGMA application_id") == 0x4261746f);
}

TEST_CASE("Migrations: an upgrade is announced, the creation of a database is not") {
  Bench bench;
  std::vector<std::pair<int, int>> upgrades;
  const auto note = [&](int from, int to) { upgrades.emplace_back(from, to); };
  REQUIRE(migrate(bench.connection, {kFirst}, {}, note).has_value());
  REQUIRE(migrate(bench.connection, {kFirst}, {}, note).has_value());
  CHECK(upgrades.empty());
  REQUIRE(migrate(bench.connection, {kFirst, kSecond}, {}, note).has_value());
  CHECK(upgrades == std::vector<std::pair<int, int>>{{1, 2}});
}

TEST_CASE("Migrations: a new database uses incremental vacuum") {
  Bench bench;
  REQUIRE(migrate(bench.connection, {kFirst}, {}).has_value());
  bench.connection.database().exec("PRAGMA journal_mode=WAL; INSERT INTO a VALUES (zeroblob(100000))");
  const int pages = bench.number("PRAGMA page_count");
  CHECK(bench.number("PRAGMA auto_vacuum") == 2);  // INCREMENTAL
  bench.connection.database().exec("DELETE FROM a; PRAGMA incremental_vacuum(20)");
  CHECK(bench.number("PRAGMA page_count") == pages - 20);
}

TEST_CASE("Migrations: the shipped ones create every table with consistent foreign keys") {
  Bench bench;
  REQUIRE(migrate(bench.connection, base::embedded_files(), {}).has_value());
  CHECK(bench.number("SELECT count(*) FROM sqlite_schema WHERE type = 'table'") == 27);
  bench.connection.database().exec("PRAGMA foreign_keys=ON");
  CHECK_THROWS_AS(bench.connection.run("INSERT INTO stops VALUES (1, 1)"), store::sql::Failure);
}

}  // namespace migrations_test
