#include "store/sqlite/send_index.h"

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "store/sqlite/migrations.h"
#include "support/temp_folder.h"

namespace send_index_test {

using namespace baton;
using base::Duration;
using store::sql::DigestFilter;
using store::sqlite::Connection;
using store::sqlite::SendIndex;
using task::SendDigest;

namespace {

base::Timestamp at(std::int64_t ms) {
  return base::from_ms(ms);
}

struct Bench {
  Bench() { REQUIRE(migrate(connection, base::embedded_files(), {}).has_value()); }

  void add(SendIndex& index, const SendDigest& digest, std::int64_t task, std::int64_t ms) {
    index.add(connection, digest, {{task}, {}}, at(ms));
  }
  // The task of the send found, or 0.
  std::int64_t find(const SendIndex& index, const SendDigest& digest, std::int64_t ms) {
    const auto send = index.find(connection, digest, at(ms));
    return send ? send->task.value : 0;
  }
  int count(const std::string& table) {
    return connection.database().execAndGet("SELECT count(*) FROM " + table).getInt();
  }
  void run(const char* sql) { connection.database().exec(sql); }

  test::TempFolder folder;
  Connection connection{(folder.path() / "test.db").string(), Connection::Mode::write};
};

std::vector<SendDigest> some_digests(int count) {
  std::mt19937_64 random(7);
  std::vector<SendDigest> digests;
  for (int i = 0; i < count; ++i) digests.push_back({random(), random()});
  return digests;
}

}  // namespace

TEST_CASE("SendIndex: every send is found in memory and in slices, in this run and the next") {
  Bench bench;
  const std::vector<SendDigest> digests = some_digests(1000), others = some_digests(2000);
  SendIndex index(Duration(1000), 64);
  for (int i = 0; i < 1000; ++i) bench.add(index, digests[static_cast<std::size_t>(i)], i + 1, 5);
  CHECK(bench.count("send_slices") == 15);
  SendIndex next(Duration(1000), 64);
  next.refresh(bench.connection);
  for (const SendIndex* one : {&index, &next}) {
    for (int i = 0; i < 1000; ++i) {
      CHECK(bench.find(*one, digests[static_cast<std::size_t>(i)], 10) == i + 1);
    }
    for (int i = 1000; i < 2000; ++i) CHECK(bench.find(*one, others[static_cast<std::size_t>(i)], 10) == 0);
  }
}

TEST_CASE("SendIndex: sends that share half a digest are distinguished, and the last of equal ones counts") {
  Bench bench;
  for (const std::size_t slice_max : {100u, 3u, 1u}) {
    SendIndex index(Duration(1000), slice_max);
    bench.run("DELETE FROM sends; DELETE FROM send_slices; DELETE FROM send_slice_pages");
    bench.add(index, {7, 1}, 11, 100);
    bench.add(index, {7, 2}, 12, 100);
    bench.add(index, {7, 1}, 13, 200);
    CHECK(bench.find(index, {7, 1}, 300) == 13);
    CHECK(bench.find(index, {7, 2}, 300) == 12);
    CHECK(bench.find(index, {7, 3}, 300) == 0);
    CHECK(bench.find(index, {7, 1}, 1199) == 13);
    CHECK(bench.find(index, {7, 1}, 1200) == 0);
  }
}

TEST_CASE("SendIndex: only expired sends and slices are removed as new ones are added") {
  Bench bench;
  SendIndex index(Duration(1000), 100);
  for (std::uint64_t i = 0; i < 1000; ++i) bench.add(index, {i, i}, 1, 0);
  CHECK(bench.count("sends") == 1000);
  for (std::uint64_t i = 1000; i < 1100; ++i) bench.add(index, {i, i}, 1, 500);
  CHECK(bench.count("sends") == 1100);
  CHECK(bench.count("send_slices") == 11);
  for (std::uint64_t i = 2000; i < 2500; ++i) bench.add(index, {i, i}, 1, 1000);
  CHECK(bench.count("sends") == 600);
  CHECK(bench.count("send_slices") == 6);
  CHECK(bench.count("send_slice_pages") == 6);
  CHECK(bench.find(index, {999, 999}, 1000) == 0);
  CHECK(bench.find(index, {1000, 1000}, 1000) == 1);
}

TEST_CASE("SendIndex: after a rollback its sends are not found, and earlier ones are") {
  Bench bench;
  SendIndex index(Duration(1000), 4);
  for (std::uint64_t i = 1; i <= 6; ++i) bench.add(index, {i, i}, 1, 0);
  bench.run("BEGIN");
  for (std::uint64_t i = 7; i <= 13; ++i) bench.add(index, {i, i}, 2, 0);
  bench.run("ROLLBACK");
  index.forget();
  index.refresh(bench.connection);
  for (std::uint64_t i = 1; i <= 6; ++i) CHECK(bench.find(index, {i, i}, 1) == 1);
  for (std::uint64_t i = 7; i <= 13; ++i) CHECK(bench.find(index, {i, i}, 1) == 0);
  // The keys of the rolled-back sends are assigned again, to other sends.
  for (std::uint64_t i = 21; i <= 27; ++i) bench.add(index, {i, i}, 3, 0);
  for (std::uint64_t i = 1; i <= 6; ++i) CHECK(bench.find(index, {i, i}, 1) == 1);
  for (std::uint64_t i = 7; i <= 13; ++i) CHECK(bench.find(index, {i, i}, 1) == 0);
  for (std::uint64_t i = 21; i <= 27; ++i) CHECK(bench.find(index, {i, i}, 1) == 3);
}

TEST_CASE("SendIndex: sends on every page of a slice are found, even if many share half a digest") {
  Bench bench;
  SendIndex index(Duration(1000), 1'000);
  for (std::uint64_t i = 1; i <= 1'000; ++i)
    bench.add(index, {i < 600 ? 7 : i, i}, static_cast<std::int64_t>(i), 0);
  CHECK(bench.count("send_slice_pages") == 4);
  SendIndex next(Duration(1000), 1'000);
  next.refresh(bench.connection);
  for (const SendIndex* one : {&index, &next}) {
    for (std::uint64_t i = 1; i <= 1'000; ++i) {
      CHECK(bench.find(*one, {i < 600 ? 7 : i, i}, 1) == static_cast<std::int64_t>(i));
    }
    CHECK(bench.find(*one, {7, 1'001}, 1) == 0);
    CHECK(bench.find(*one, {3, 3}, 1) == 0);
  }
}

TEST_CASE("SendIndex: a reader that does not see the last slice yet still finds its committed sends") {
  Bench bench;
  SendIndex index(Duration(1000), 4);
  bench.run("PRAGMA journal_mode=WAL");
  for (std::uint64_t i = 1; i <= 3; ++i) bench.add(index, {i, i}, 1, 0);
  Connection reader((bench.folder.path() / "test.db").string(), Connection::Mode::read);
  bench.run("BEGIN");
  bench.add(index, {4, 4}, 1, 0);
  REQUIRE(bench.count("send_slices") == 1);
  CHECK(index.find(reader, {2, 2}, at(1)).has_value());
  CHECK_FALSE(index.find(reader, {4, 4}, at(1)).has_value());
  bench.run("COMMIT");
  CHECK(index.find(reader, {4, 4}, at(1)).has_value());
}

TEST_CASE("SendIndex: the next run finds sends that filled no slice, even if older ones were removed") {
  Bench bench;
  for (int key = 50'000; key < 50'010; ++key) {
    bench.connection.run(
        "INSERT INTO sends (send_key, digest_high, digest_low, at_ms, task_key, before) "
        "VALUES (?1, ?1, ?1, 0, ?1, 0)",
        key);
  }
  SendIndex index(Duration(1000), 11);
  index.refresh(bench.connection);
  for (std::uint64_t key = 50'000; key < 50'010; ++key) {
    CHECK(bench.find(index, {key, key}, 1) == static_cast<std::int64_t>(key));
  }
  bench.add(index, {1, 1}, 7, 0);
  CHECK(bench.find(index, {1, 1}, 1) == 7);
  CHECK(bench.connection.database().execAndGet("SELECT max(send_key) FROM sends").getInt() == 50'010);
  CHECK(bench.count("send_slices") == 1);
  for (std::uint64_t key = 50'000; key < 50'010; ++key) {
    CHECK(bench.find(index, {key, key}, 1) == static_cast<std::int64_t>(key));
  }
}

TEST_CASE("DigestFilter: added digests are always found, and others hardly ever") {
  const std::vector<SendDigest> digests = some_digests(20'000);
  DigestFilter filter(8192);
  for (std::size_t i = 0; i < 8192; ++i) filter.add(digests[i].high);
  int wrong = 0;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    if (i < 8192) CHECK(filter.may_have(digests[i].high));
    if (i >= 8192 && filter.may_have(digests[i].high)) ++wrong;
  }
  CHECK(wrong < 30);  // of 11,808
}

}  // namespace send_index_test
