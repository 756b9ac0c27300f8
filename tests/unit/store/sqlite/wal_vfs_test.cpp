#include "store/sqlite/wal_vfs.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "store/sqlite/connection.h"
#include "support/temp_folder.h"

namespace wal_vfs_test {

using namespace baton;
using store::sqlite::Connection;

namespace {

struct Bench {
  Bench() {
    writer.database().exec(
        "PRAGMA journal_mode=WAL; "
        "CREATE TABLE bodies (id INTEGER PRIMARY KEY, body BLOB)");
  }
  std::string path() const { return (folder.path() / "test.db").string(); }
  void insert(int id, std::size_t size) {
    writer.run("INSERT INTO bodies (id, body) VALUES (?, ?)", id, std::string(size, 'x'));
  }
  // By another connection, which sees what is in the files.
  std::int64_t stored(int id) {
    Connection reader(path(), Connection::Mode::read);
    auto query = reader.query("SELECT length(body) FROM bodies WHERE id = ?", id);
    return query.step() ? query.integer(0) : -1;
  }

  test::TempFolder folder;
  Connection writer{path(), Connection::Mode::write};
};

}  // namespace

TEST_CASE("wal_vfs: a commit of any size is there for other connections once it is made") {
  Bench bench;
  // Around and past what is gathered for one call, and what SQLite's files take in one.
  int id = 0;
  for (std::size_t size = 1; size < 600'000; size += 7'919) {
    ++id;
    bench.writer.begin();
    bench.insert(id, size);
    CHECK(bench.stored(id) == -1);
    bench.writer.commit();
    CHECK(bench.stored(id) == static_cast<std::int64_t>(size));
  }
}

TEST_CASE("wal_vfs: what is rolled back leaves nothing, and the next commit is whole") {
  Bench bench;
  bench.writer.database().exec("PRAGMA cache_size=10");  // so that much is in the log before the commit
  bench.writer.begin();
  for (int id = 1; id <= 50; ++id) bench.insert(id, 30'000);
  bench.writer.rollback();
  bench.insert(51, 30'000);
  CHECK(bench.stored(1) == -1);
  CHECK(bench.stored(51) == 30'000);
}

TEST_CASE(
    "wal_vfs: a checkpoint moves all that was committed, and a log that begins anew is read as before") {
  Bench bench;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 20; ++i) bench.insert(round * 20 + i, 10'000);
    auto done = bench.writer.query("PRAGMA wal_checkpoint(TRUNCATE)");
    REQUIRE(done.step());
    CHECK(done.integer(0) == 0);
    CHECK(std::filesystem::file_size(bench.path() + "-wal") == 0);
    CHECK(bench.stored(round * 20) == 10'000);
    CHECK(bench.stored(round * 20 + 19) == 10'000);
  }
}

}  // namespace wal_vfs_test
