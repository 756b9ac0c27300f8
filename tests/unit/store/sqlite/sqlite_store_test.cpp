#include "store/sqlite/sqlite_store.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "store/sqlite/connection.h"
#include "support/manual_clock.h"
#include "support/temp_folder.h"

namespace sqlite_store_test {

using namespace baton;
using base::ErrorCode;
using store::SqliteStore;

namespace {

struct Bench {
  test::TempFolder folder;
  test::ManualClock clock;
  std::string path = (folder.path() / "test.db").string();

  base::Result<std::unique_ptr<SqliteStore>> open() {
    store::SqliteOptions options;
    options.path = path;
    return SqliteStore::open(options, clock);
  }
};

}  // namespace

TEST_CASE("SqliteStore: only one store can have a database open") {
  Bench bench;
  {
    const auto first = bench.open();
    REQUIRE(first.has_value());
    const auto second = bench.open();
    REQUIRE_FALSE(second.has_value());
    CHECK(second.error().code == ErrorCode::already_exists);
    CHECK(second.error().for_log.find(bench.path) != std::string::npos);
    CHECK(second.error().for_caller.find(bench.path) == std::string::npos);
  }
  CHECK(bench.open().has_value());
}

TEST_CASE("SqliteStore: only one store can have a database open, under any name") {
  Bench bench;
  Bench by_link;
  by_link.path = (bench.folder.path() / "link.db").string();
  std::filesystem::create_symlink(bench.path, by_link.path);
  const auto first = by_link.open();
  REQUIRE(first.has_value());
  const auto second = bench.open();
  REQUIRE_FALSE(second.has_value());
  CHECK(second.error().code == ErrorCode::already_exists);
}

TEST_CASE("SqliteStore: a hard link to a database is the same database") {
  Bench bench;
  Bench by_link;
  by_link.path = (bench.folder.path() / "link.db").string();
  {
    const auto first = bench.open();
    REQUIRE(first.has_value());
    std::filesystem::create_hard_link(bench.path, by_link.path);
    const auto second = by_link.open();
    REQUIRE_FALSE(second.has_value());
    CHECK(second.error().code == ErrorCode::already_exists);
  }
  CHECK(by_link.open().has_value());
}

TEST_CASE("SqliteStore: if the log cannot be moved into the database, open fails") {
  Bench bench;
  REQUIRE(bench.open().has_value());
  {
    store::sqlite::Connection writer(bench.path, store::sqlite::Connection::Mode::write);
    writer.database().exec("PRAGMA wal_autocheckpoint=0; CREATE TABLE more (a); INSERT INTO more VALUES (1)");
    store::sqlite::Connection reader(bench.path, store::sqlite::Connection::Mode::read);
    reader.database().exec("BEGIN");
    reader.database().execAndGet("SELECT count(*) FROM more");
    const auto refused = bench.open();
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == ErrorCode::unavailable);
    CHECK(refused.error().for_log.find("another program is reading it") != std::string::npos);
  }
  CHECK(bench.open().has_value());
}

TEST_CASE("SqliteStore: a file that is not a database is refused and not changed") {
  Bench bench;
  const std::string text(5000, 'x');
  bench.folder.write("test.db", text);
  const auto opened = bench.open();
  REQUIRE_FALSE(opened.has_value());
  CHECK(opened.error().code == ErrorCode::invalid_argument);
  CHECK(opened.error().for_log.find(bench.path) != std::string::npos);
  CHECK(test::TempFolder::read(bench.path) == text);
}

TEST_CASE("SqliteStore: a database of a newer version is refused") {
  Bench bench;
  REQUIRE(bench.open().has_value());
  store::sqlite::Connection(bench.path, store::sqlite::Connection::Mode::write)
      .database()
      .exec("PRAGMA user_version=9999");
  const auto opened = bench.open();
  REQUIRE_FALSE(opened.has_value());
  CHECK(opened.error().code == ErrorCode::unsupported);
}

TEST_CASE("SqliteStore: a new database uses incremental vacuum") {
  Bench bench;
  REQUIRE(bench.open().has_value());
  store::sqlite::Connection connection(bench.path, store::sqlite::Connection::Mode::write);
  CHECK(connection.database().execAndGet("PRAGMA auto_vacuum").getInt() == 2);  // INCREMENTAL
}

TEST_CASE("SqliteStore: a missing folder is an error") {
  Bench bench;
  bench.path = (bench.folder.path() / "none" / "test.db").string();
  const auto opened = bench.open();
  REQUIRE_FALSE(opened.has_value());
  CHECK(opened.error().code == ErrorCode::unavailable);
}

TEST_CASE("SqliteStore: only its owner can read the database") {
  Bench bench;
  const auto opened = bench.open();
  REQUIRE(opened.has_value());
  for (const char* suffix : {"", "-wal", "-shm", ".lock"}) {
    struct stat found {};
    REQUIRE(::stat((bench.path + suffix).c_str(), &found) == 0);
    CHECK((found.st_mode & 0077) == 0);
  }
}

TEST_CASE("SqliteStore: open moves an earlier run's log into the database") {
  Bench bench;
  {
    const auto store = bench.open();
    REQUIRE(store.has_value());
    store::sqlite::Connection writer(bench.path, store::sqlite::Connection::Mode::write);
    writer.run("INSERT INTO contexts (agent, caller, public_id) VALUES ('a', 'c', 'x')");
    std::filesystem::copy(bench.path, bench.path + ".2");
    std::filesystem::copy(bench.path + "-wal", bench.path + ".2-wal");
  }
  bench.path += ".2";
  REQUIRE(std::filesystem::file_size(bench.path + "-wal") > 0);
  const auto store = bench.open();
  REQUIRE(store.has_value());
  CHECK(std::filesystem::file_size(bench.path + "-wal") == 0);
  store::sqlite::Connection reader(bench.path, store::sqlite::Connection::Mode::read);
  CHECK(reader.query("SELECT 1 FROM contexts WHERE public_id = 'x'").step());
}

TEST_CASE("SqliteStore: the log of a linked database is beside the database") {
  Bench bench;
  const std::string link = (bench.folder.path() / "link.db").string();
  std::filesystem::create_symlink(bench.path, link);
  bench.path = link;
  const auto store = bench.open();
  REQUIRE(store.has_value());
  CHECK(std::filesystem::exists(bench.folder.path() / "test.db-wal"));
  CHECK_FALSE(std::filesystem::exists(bench.folder.path() / "link.db-wal"));
}

}  // namespace sqlite_store_test
