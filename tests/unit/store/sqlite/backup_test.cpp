#include "store/sqlite/backup.h"

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "store/sqlite/sqlite_store.h"
#include "support/manual_clock.h"
#include "support/sqlite_files.h"
#include "support/temp_folder.h"

namespace backup_test {

using namespace baton;

namespace {

// While one exists, another program seems to write to each database whose name ends with "copy.db".
class LockedCopies {
  test::SqliteFiles files_{[](const char* name, int, sqlite3_io_methods& methods) {
    methods.xLock = [](sqlite3_file* locked, int level) {
      return level > SQLITE_LOCK_SHARED ? SQLITE_BUSY : test::SqliteFiles::usual().xLock(locked, level);
    };
    return name != nullptr && std::string_view(name).ends_with("copy.db");
  }};
};

struct Bench {
  test::TempFolder folder;
  std::string database = (folder.path() / "test.db").string();
  std::string copy = (folder.path() / "copy.db").string();

  Bench() {
    const test::ManualClock clock;
    store::SqliteOptions options;
    options.path = database;
    REQUIRE(store::SqliteStore::open(options, clock));
  }
};

}  // namespace

TEST_CASE("back_up: a copy has everything, and replaces no file") {
  const Bench bench;
  const auto copied = store::sqlite::back_up(bench.database, bench.copy);
  REQUIRE(copied);
  CHECK(*copied > 0);
  const auto faults = store::sqlite::check(bench.copy);
  REQUIRE(faults);
  CHECK(faults->empty());
  CHECK(store::sqlite::back_up(bench.database, bench.copy).error().code == base::ErrorCode::already_exists);
}

TEST_CASE("back_up: a file that is locked gives an error, and no empty copy") {
  const Bench bench;
  const LockedCopies locked;
  const auto copied = store::sqlite::back_up(bench.database, bench.copy);
  REQUIRE(!copied);
  CHECK(copied.error().code == base::ErrorCode::unavailable);
  CHECK(!std::filesystem::exists(bench.copy));
}

}  // namespace backup_test
