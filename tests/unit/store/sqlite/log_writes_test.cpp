#include "store/sqlite/log_writes.h"

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <atomic>
#include <filesystem>
#include <string>

#include "store/sqlite/connection.h"
#include "support/sqlite_files.h"
#include "support/temp_folder.h"

namespace log_writes_test {

using namespace baton;
using store::sqlite::Connection;

namespace {

// While one exists, the writes to logs are counted, and `fail_once` makes the next one fail.
class CountingDisk {
 public:
  CountingDisk() {
    writes_ = 0;
    fails_ = false;
  }
  int take_writes() { return writes_.exchange(0); }
  void fail_once() { fails_ = true; }

 private:
  static inline std::atomic<int> writes_{0};
  static inline std::atomic<bool> fails_{false};
  test::SqliteFiles files_{[](const char*, int flags, sqlite3_io_methods& methods) {
    methods.xWrite = [](sqlite3_file* log, const void* bytes, int size, sqlite3_int64 offset) {
      ++writes_;
      return fails_.exchange(false) ? SQLITE_IOERR_WRITE
                                    : test::SqliteFiles::usual().xWrite(log, bytes, size, offset);
    };
    return (flags & SQLITE_OPEN_WAL) != 0;
  }};
};

struct Bench {
  CountingDisk disk;
  test::TempFolder folder;
  std::string path = (folder.path() / "test.db").string();
  Connection writer{path, Connection::Mode::write};

  Bench() {
    writer.database().exec(
        "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; CREATE TABLE pieces (piece BLOB)");
    insert();
    disk.take_writes();
  }

  void insert() { writer.run("INSERT INTO pieces VALUES (randomblob(80000))"); }
  // Returns what another connection sees.
  int pieces() {
    Connection reader(path, Connection::Mode::read);
    CHECK(reader.database().execAndGet("PRAGMA integrity_check").getString() == "ok");
    return reader.database().execAndGet("SELECT count(*) FROM pieces").getInt();
  }
};

}  // namespace

TEST_CASE("Log writes: a commit is one write for each 64 KiB") {
  Bench bench;
  bench.writer.run("CREATE TABLE numbers (number INTEGER)");
  bench.disk.take_writes();
  bench.writer.run("INSERT INTO numbers VALUES (1)");
  CHECK(bench.disk.take_writes() == 1);
  bench.insert();
  CHECK(bench.disk.take_writes() == 2);
  CHECK(bench.pieces() == 2);
}

TEST_CASE("Log writes: a transaction reads its own pages that did not fit into the cache") {
  Bench bench;
  bench.writer.database().exec("PRAGMA cache_size=2");
  bench.writer.begin();
  for (int i = 0; i < 9; ++i) bench.insert();
  CHECK(bench.writer.database().execAndGet("SELECT sum(length(piece)) FROM pieces").getInt() == 800000);
  bench.writer.database().exec("UPDATE pieces SET piece = randomblob(90000)");
  CHECK(bench.pieces() == 1);
  bench.writer.commit();
  CHECK(bench.pieces() == 10);
  CHECK(bench.writer.database().execAndGet("SELECT sum(length(piece)) FROM pieces").getInt() == 900000);
}

TEST_CASE("Log writes: nothing of a transaction that was rolled back is seen, and the next commit is whole") {
  Bench bench;
  bench.writer.database().exec("PRAGMA cache_size=2");
  bench.writer.begin();
  for (int i = 0; i < 9; ++i) bench.insert();
  bench.writer.rollback();
  CHECK(bench.pieces() == 1);
  bench.insert();
  CHECK(bench.pieces() == 2);
}

TEST_CASE("Log writes: a write that fails fails its commit and no other") {
  Bench bench;
  bench.disk.fail_once();
  CHECK_THROWS(bench.insert());
  bench.writer.rollback();
  CHECK(bench.pieces() == 1);
  bench.insert();
  CHECK(bench.pieces() == 2);
}

TEST_CASE("Log writes: after the log has started over, commits continue in it") {
  Bench bench;
  bench.writer.database().exec("PRAGMA wal_checkpoint(RESTART)");
  bench.insert();
  bench.insert();
  bench.disk.take_writes();
  bench.insert();
  CHECK(bench.disk.take_writes() == 2);
  CHECK(bench.pieces() == 4);
}

}  // namespace log_writes_test
