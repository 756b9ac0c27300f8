// Properties of the SqliteStore only: rows that it does not write, and clocks that differ from run to run.
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "contract/store_bench.h"
#include "store/own_context.h"
#include "store/sqlite/archive.h"
#include "store/sqlite/connection.h"

namespace sqlite_only_test {

using namespace baton;
using namespace baton::test;
using base::Duration;
using base::ErrorCode;
using task::State;

TEST_CASE("SqliteStore: a task alone in its context has no context rows until another task joins") {
  SqliteBench bench;
  task::Change alone = StoreBench::creation(base::make_uuid(), {status(State::submitted), user("m", "one")});
  alone.create->fresh_id = alone.create->fresh_context = true;
  alone.create->context = store::own_context(alone.create->id);
  const task::TaskHead first = bench.must(std::move(alone)).head;
  const auto rows = [&](const std::string& table) {
    store::sqlite::Connection connection(bench.path(), store::sqlite::Connection::Mode::read);
    return connection.database().execAndGet("SELECT count(*) FROM " + table).getInt();
  };
  CHECK(rows("contexts WHERE context_key <> 0") == 0);
  CHECK(rows("conversation") == 0);
  bench.must(StoreBench::creation("t2", {status(State::submitted), user("m", "two")}, first.context.value));
  CHECK(rows("contexts WHERE context_key <> 0") == 1);
  CHECK(rows("conversation") == 2);
}

TEST_CASE("export_tasks: a task that a schedule created is exported and imported with the schedule's name") {
  SqliteBench bench;
  task::Change timed = StoreBench::creation("timed", {status(State::submitted), user("m")});
  timed.create->schedule = "nightly";
  bench.must(std::move(timed));
  bench.create("sent", "c2");
  std::vector<std::string> lines;
  succeed(store::sqlite::export_tasks(bench.path(), {}, [&](const std::string& line) {
    lines.push_back(line);
    return true;
  }));
  const std::string moved = (bench.folder.path() / "moved.db").string();
  std::size_t next = 0;
  const auto imported = store::sqlite::import_tasks(moved, bench.clock, [&]() -> std::optional<std::string> {
    return next < lines.size() ? std::optional(lines[next++]) : std::nullopt;
  });
  succeed(imported);
  CHECK(imported->tasks == 2);
  store::sqlite::Connection connection(moved, store::sqlite::Connection::Mode::read);
  const std::string scheduled =
      connection.database()
          .execAndGet(
              "SELECT group_concat(public_id || ' ' || s.agent || ' ' || s.schedule) FROM scheduled_tasks s "
              "JOIN tasks USING (task_key)")
          .getString();
  CHECK(scheduled == "timed echo nightly");
}

TEST_CASE("SqliteStore: a database keeps its server name, which no other database has") {
  SqliteBench bench, other;
  const auto name = [](SqliteBench& of) { return static_cast<store::SqliteStore&>(*of.tasks).server_name(); };
  const std::string first = name(bench);
  bench.close();
  bench.open();
  CHECK(first.size() == 16);
  CHECK(name(bench) == first);
  CHECK(name(other) != first);
}

TEST_CASE("SqliteStore: a group whose only change was refused leaves no transaction open") {
  SqliteBench bench;
  bench.must(StoreBench::creation("t1", {status(State::submitted), user("m")}));
  task::Change again = StoreBench::creation("t1", {status(State::submitted), user("m")});
  REQUIRE(bench.apply(again).error().code == ErrorCode::already_exists);
  store::sqlite::Connection other(bench.path(), store::sqlite::Connection::Mode::write);
  CHECK_NOTHROW(other.begin());
}

TEST_CASE(
    "SqliteStore: a clock a year ahead in an earlier run does not extend how long sends are remembered") {
  SqliteBench bench(std::chrono::hours(24));
  const Duration year = std::chrono::hours(24 * 365);
  bench.close();
  bench.clock.advance(year);
  bench.open();
  for (std::uint64_t i = 1; i <= 10; ++i) {
    task::Change sent = StoreBench::creation("t" + std::to_string(i), {status(State::submitted), user("m")});
    sent.send = task::SendDigest{i, i};
    bench.must(std::move(sent));
  }
  bench.close();
  bench.clock.advance(-year);
  bench.open();
  CHECK(bench.tasks->earlier_send({1, 1}).has_value());
  bench.clock.advance(std::chrono::hours(25));
  CHECK(bench.tasks->earlier_send({1, 1}).error().code == ErrorCode::not_found);
}

TEST_CASE("SqliteStore: a clock a year ahead in an earlier run does not delay deliveries") {
  SqliteBench bench;
  const auto with_push = [&](const std::string& id) {
    task::Change change = StoreBench::creation(id, {status(State::submitted), user("m")});
    change.push.emplace();
    change.push->id = {"p"};
    change.push_configs_max = 1;
    return bench.must(std::move(change)).head;
  };
  const auto due = [&] { return bench.deliveries->due_deliveries(bench.clock.now(), 100).value(); };
  const Duration year = std::chrono::hours(24 * 365);
  const task::TaskHead before = with_push("t1");
  bench.close();
  bench.clock.advance(year);
  bench.open();
  with_push("t2");
  const store::Delivery tried = due().at(0);
  succeed(bench.record(
      {tried.key, store::DeliveryResult::Kind::retry, bench.clock.now() + Duration(1000), "no"}));
  bench.close();
  bench.clock.advance(-year);
  bench.open();
  const auto now_due = due();
  REQUIRE(now_due.size() == 2);
  for (const store::Delivery& delivery : now_due) CHECK(delivery.created_at <= bench.clock.now());
  CHECK(tried.task == before.key);
}

}  // namespace sqlite_only_test
