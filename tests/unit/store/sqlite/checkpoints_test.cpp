#include "store/sqlite/checkpoints.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sqlite3.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>

#include "base/unique_fd.h"
#include "support/sqlite_files.h"
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

// While one exists, `fail_once` makes the next flush of a database fail.
class FailingDisk {
 public:
  FailingDisk() { fails_ = false; }
  void fail_once() { fails_ = true; }

 private:
  static inline std::atomic<bool> fails_{false};
  test::SqliteFiles files_{[](const char*, int flags, sqlite3_io_methods& methods) {
    methods.xSync = [](sqlite3_file*, int) {
      return fails_.exchange(false) ? SQLITE_IOERR_FSYNC : SQLITE_OK;
    };
    return (flags & SQLITE_OPEN_MAIN_DB) != 0;
  }};
};

}  // namespace

TEST_CASE("Checkpoints: the log stays small during continuous writing") {
  Bench bench;
  bench.write(200 * kMiB);
  CHECK(bench.log_bytes() < 80 * kMiB);
  CHECK(bench.database_bytes() > 100 * kMiB);
}

TEST_CASE("Checkpoints: a long reader makes the log grow, and after it the log is reused") {
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

TEST_CASE("Checkpoints: destroying them keeps the locks of other connections") {
  Bench bench;
  bench.write(kMiB);
  bench.checkpoints.reset();
  const base::UniqueFd file(::open(bench.path.c_str(), O_RDWR | O_CLOEXEC));
  // SQLite's byte range for shared locks. A lock of the open file description conflicts with the process's
  // own locks, so F_OFD_GETLK reports them.
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = 0x40000002;
  lock.l_len = 510;
  REQUIRE(::fcntl(file.get(), F_OFD_GETLK, &lock) == 0);
  CHECK(lock.l_type == F_RDLCK);
}

TEST_CASE("Checkpoints: after a failed flush of the database the whole log is kept") {
  FailingDisk disk;
  Bench bench;
  bench.write(kMiB);
  disk.fail_once();
  bench.write(100 * kMiB);
  CHECK(bench.checkpoints->has_lost());
  CHECK(bench.log_bytes() > 100 * kMiB);
}

}  // namespace checkpoints_test
