#include "store/sqlite/wal_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "support/temp_folder.h"

namespace wal_file_test {

using namespace baton;
using store::sqlite::WalFile;

TEST_CASE("WalFile: a failed flush returns an error") {
  const test::TempFolder folder;
  const std::string path = (folder.path() / "test.db-wal").string();
  // A pipe cannot be flushed.
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const auto wal = WalFile::open(path);
  REQUIRE(wal.has_value());
  const auto flushed = wal->flush();
  REQUIRE_FALSE(flushed.has_value());
  CHECK(flushed.error().code == base::ErrorCode::unavailable);
}

TEST_CASE("WalFile: an existing log is flushed, and a missing one cannot be opened") {
  const test::TempFolder folder;
  const std::string path = (folder.path() / "test.db-wal").string();
  const auto missing = WalFile::open(path);
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().code == base::ErrorCode::unavailable);
  std::ofstream(path) << "x";
  const auto wal = WalFile::open(path);
  REQUIRE(wal.has_value());
  CHECK(wal->flush().has_value());
}

}  // namespace wal_file_test
