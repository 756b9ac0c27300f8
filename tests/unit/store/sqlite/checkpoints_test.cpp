#include "store/sqlite/checkpoints.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "support/temp_folder.h"

namespace checkpoints_test {

using namespace baton;
using store::sqlite::Checkpoints;
using store::sqlite::Connection;

namespace {

constexpr std::uintmax_t kMiB = 1 << 20;

struct Bench {
  test::TempFolder folder;
  std::string path = (folder.path() / "test.db").string();
  Connection writer{path, Connection::Mode::write};
  std::optional<Checkpoints> checkpoints;

  Bench() {
    writer.database().exec("PRAGMA journal_mode=WAL; CREATE TABLE pieces (piece BLOB)");
    checkpoints.emplace(path, writer);
  }

  void write(std::uintmax_t bytes) {
    constexpr std::uintmax_t kPiece = 64 << 10;
    for (std::uintmax_t written = 0; written < bytes; written += kPiece) {
      writer.run("INSERT INTO pieces VALUES (randomblob(65536))");
      checkpoints->after_commit();
    }
  }
  std::uintmax_t log_bytes() const { return std::filesystem::file_size(path + "-wal"); }
  std::uintmax_t database_bytes() const { return std::filesystem::file_size(path); }
};

}  // namespace

TEST_CASE("Checkpoints: the log stays small however much is written without a pause") {
  Bench bench;
  bench.write(200 * kMiB);
  CHECK(bench.log_bytes() < 80 * kMiB);
  CHECK(bench.database_bytes() > 100 * kMiB);
}

TEST_CASE("Checkpoints: a reader in the way makes the log grow, and once it is gone the log is used again") {
  Bench bench;
  bench.write(kMiB);
  {
    Connection reader(bench.path, Connection::Mode::read);
    reader.database().exec("BEGIN");
    CHECK(reader.database().execAndGet("SELECT count(*) FROM pieces").getInt() == 16);
    bench.write(80 * kMiB);
    CHECK(bench.log_bytes() > 80 * kMiB);
    CHECK(reader.database().execAndGet("SELECT count(*) FROM pieces").getInt() == 16);
  }
  const std::uintmax_t grown = bench.log_bytes();
  bench.write(160 * kMiB);
  CHECK(bench.log_bytes() < grown + 40 * kMiB);
  CHECK(bench.writer.database().execAndGet("PRAGMA integrity_check").getString() == "ok");
}

}  // namespace checkpoints_test
