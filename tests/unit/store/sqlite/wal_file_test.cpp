#include "store/sqlite/wal_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <string>

#include "support/temp_folder.h"

using namespace baton;
using store::sqlite::WalFile;

TEST_CASE("WalFile: a flush that fails is told") {
  const test::TempFolder folder;
  const std::string path = (folder.path() / "test.db").string();
  // A pipe cannot be flushed.
  REQUIRE(::mkfifo((path + "-wal").c_str(), 0600) == 0);
  const auto wal = WalFile::open(path);
  REQUIRE(wal.has_value());
  const auto flushed = wal->flush();
  REQUIRE_FALSE(flushed.has_value());
  CHECK(flushed.error().code == base::ErrorCode::unavailable);
}

TEST_CASE("WalFile: a log that can be flushed is") {
  const test::TempFolder folder;
  const auto wal = WalFile::open((folder.path() / "test.db").string());
  REQUIRE(wal.has_value());
  CHECK(wal->flush().has_value());
}

TEST_CASE("WalFile: of a folder that is not there it cannot be opened") {
  const auto wal = WalFile::open("/nowhere/test.db");
  REQUIRE_FALSE(wal.has_value());
  CHECK(wal.error().code == base::ErrorCode::unavailable);
}
