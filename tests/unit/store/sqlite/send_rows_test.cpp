#include "store/sqlite/send_rows.h"

#include <doctest/doctest.h>

#include <string>

#include "store/sqlite/migrations.h"
#include "support/manual_clock.h"
#include "support/temp_folder.h"

using namespace baton;
using base::Duration;
using store::sqlite::Connection;
using store::sqlite::find_send;
using store::sqlite::WriteState;

namespace {

struct Bench {
  Bench() { REQUIRE(migrate(connection, base::embedded_files(), {}).has_value()); }

  void remember(std::uint64_t number) {
    remember_send(state, {number, number}, {{static_cast<std::int64_t>(number)}, {}}, state.now());
  }
  int rows() { return connection.database().execAndGet("SELECT count(*) FROM sends").getInt(); }

  test::TempFolder folder;
  test::ManualClock clock;
  Connection connection{(folder.path() / "test.db").string(), Connection::Mode::write};
  WriteState state{connection, clock, 10, Duration(1000), 32};
};

}  // namespace

TEST_CASE("SendRows: expired sends go as new ones come, and no others") {
  Bench bench;
  for (std::uint64_t i = 0; i < 1000; ++i) bench.remember(i);
  CHECK(bench.rows() == 1000);
  bench.clock.advance(Duration(500));
  for (std::uint64_t i = 1000; i < 1100; ++i) bench.remember(i);
  CHECK(bench.rows() == 1100);
  bench.clock.advance(Duration(500));
  for (std::uint64_t i = 2000; i < 2500; ++i) bench.remember(i);
  CHECK(bench.rows() == 600);
  CHECK_FALSE(find_send(bench.connection, {999, 999}, {}).has_value());
  CHECK(find_send(bench.connection, {1000, 1000}, {}).has_value());
}

TEST_CASE(
    "SendRows: sends that share half of their digest are told apart, and the last of equal ones counts") {
  Bench bench;
  remember_send(bench.state, {7, 1}, {{11}, {3}}, base::from_ms(100));
  remember_send(bench.state, {7, 2}, {{12}, {4}}, base::from_ms(100));
  remember_send(bench.state, {7, 1}, {{13}, {5}}, base::from_ms(200));
  CHECK(find_send(bench.connection, {7, 1}, {})->task.value == 13);
  CHECK(find_send(bench.connection, {7, 1}, {})->before.value == 5);
  CHECK(find_send(bench.connection, {7, 2}, {})->task.value == 12);
  CHECK_FALSE(find_send(bench.connection, {7, 3}, {}).has_value());
  CHECK_FALSE(find_send(bench.connection, {7, 1}, base::from_ms(200)).has_value());
  CHECK(find_send(bench.connection, {7, 1}, base::from_ms(199)).has_value());
}
