// A database that an earlier Baton wrote, opened by this one.
#include <doctest/doctest.h>

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "store/sqlite/migrations.h"
#include "store/sqlite/sqlite_store.h"
#include "support/manual_clock.h"
#include "support/temp_folder.h"
#include "wire/stored/event_codec.h"

namespace upgrade_test {

using namespace baton;
using store::sqlite::Connection;
using task::State;

namespace {

constexpr int kStatusKind = 1, kMessageKind = 2, kCallKind = 5;

std::vector<base::EmbeddedFile> first_migration() {
  std::vector<base::EmbeddedFile> files;
  for (const base::EmbeddedFile& file : base::embedded_files()) {
    if (file.name == "sqlite/0001_initial.sql") files.push_back(file);
  }
  REQUIRE(files.size() == 1);
  return files;
}

// A database of schema 1 with three tasks in context 1.
class OldDatabase {
 public:
  OldDatabase() {
    REQUIRE(migrate(connection_, first_migration(), base::from_ms(1)).has_value());
    exec("INSERT INTO contexts VALUES (1, 'echo', 'ann', 'c1', 100)");
  }

  void add_task(int key, const std::string& id, const std::string& state, int status_event, int last_event) {
    exec("INSERT INTO tasks VALUES (" + std::to_string(key) + ", 'echo', 'ann', '" + id +
         "', 1, NULL, 0, '', 100, 100, 1, '" + state + "', " + std::to_string(status_event) + ", " +
         std::to_string(last_event) + ", 1, 'none', 1, 1, 0, 0, '', 0, 0)");
  }
  void add_event(int task, int number, int kind, int at_ms, const std::string& body) {
    connection_.run("INSERT INTO events VALUES (?, ?, ?, ?, ?)", task, number, kind, at_ms, body);
  }
  void exec(const std::string& sql) { connection_.database().exec(sql); }

  std::string path() const { return path_; }

 private:
  test::TempFolder folder_;
  std::string path_ = (folder_.path() / "test.db").string();
  Connection connection_{path_, Connection::Mode::write};
};

std::string status_body(State state, std::int64_t at_ms) {
  return wire::stored::encode(task::StatusChanged{{state, std::nullopt, base::from_ms(at_ms)}, {}});
}

void fill(OldDatabase& old) {
  task::MessageAdded said;
  said.message.id = {"m1"};
  said.message.parts.push_back(task::Part::of_text("hi"));
  old.add_task(1, "told", "completed", 3, 3);
  old.add_event(1, 1, kMessageKind, 110, wire::stored::encode(said));
  old.add_event(1, 2, kStatusKind, 500, status_body(State::working, 500));
  old.add_event(1, 3, kStatusKind, 300, status_body(State::completed, 290));
  old.exec("INSERT INTO turn_requests VALUES (1, 1, '{\"k\":1}', '[]', '')");
  old.add_task(2, "none", "submitted", 0, 0);
  old.add_task(3, "damaged", "working", 1, 1);
  old.add_event(3, 1, kStatusKind, 200, "not JSON");
  old.exec("INSERT INTO push_configs VALUES (4, 1, 'p1', 'http://example.org/', '', '[]', '', '', 0)");
  old.exec("INSERT INTO deliveries VALUES (9, 4, 1, 3, 'waiting', 300, 300, 0, '')");
}

std::unique_ptr<store::SqliteStore> open(const std::string& path, const base::Clock& clock,
                                         store::SqliteOptions options = {}) {
  options.path = path;
  auto opened = store::SqliteStore::open(options, clock);
  if (!opened) FAIL(opened.error().for_log);
  return std::move(*opened);
}

}  // namespace

TEST_CASE("Upgrade: tasks of schema 1 are listed by the time that their status tells") {
  OldDatabase old;
  fill(old);
  const test::ManualClock clock;
  const auto store = open(old.path(), clock);
  task::ListFilter filter;
  filter.caller = {"ann"};
  filter.agent = {"echo"};
  for (const char* context : {"", "c1"}) {
    filter.context = {context};
    const auto page = store->list(filter);
    REQUIRE(page.has_value());
    CHECK(page->total == 3);
    REQUIRE(page->heads.size() == 3);
    CHECK(page->heads[0].id.value == "told");
    CHECK(page->heads[0].status_at == base::from_ms(290));
    CHECK(page->heads[0].state == State::completed);
    CHECK(page->heads[1].id.value == "damaged");
    CHECK(page->heads[1].status_at == base::from_ms(200));
    CHECK(page->heads[2].id.value == "none");
    CHECK(page->heads[2].status_at == base::from_ms(100));
  }
}

TEST_CASE("Upgrade: what schema 1 held reads as it did, and work goes on") {
  OldDatabase old;
  fill(old);
  const test::ManualClock clock;
  const auto store = open(old.path(), clock);
  const auto task = store->read({1}, {});
  REQUIRE(task.has_value());
  CHECK(task->status.at == base::from_ms(290));
  const auto input = store->turn_input({1}, {1});
  REQUIRE(input.has_value());
  CHECK(task::text_of(input->message) == "hi");
  CHECK(input->request.metadata.text == "{\"k\":1}");
  CHECK(input->request.tools.text == "[]");
  CHECK(input->request.extensions.empty());
  CHECK(store->first_stop({1}, {})->number.value == 3);
  const auto due = store->due_deliveries(clock.now(), 10);
  REQUIRE(due->size() == 1);
  CHECK(due->at(0).key.value == 9);

  task::Change change;
  change.task = {2};
  change.events = {task::StatusChanged{{State::working, std::nullopt, {}}, {}}};
  change.push.emplace();
  change.push->id = {"p2"};
  change.push_configs_max = 2;
  std::promise<base::Result<store::Committed>> promise;
  store->commit(std::move(change), [&](auto result) { promise.set_value(std::move(result)); });
  const auto committed = promise.get_future().get();
  REQUIRE(committed.has_value());
  CHECK(committed->head.status_at == clock.now());
  CHECK(committed->deliveries == 1);
  CHECK(store->due_deliveries(clock.now(), 10)->size() == 2);
}

TEST_CASE("Upgrade: what stopped before has its stops, and contexts of schema 1 are nobody's") {
  OldDatabase old;
  fill(old);
  old.add_task(4, "asked", "input-required", 3, 5);
  int number = 0;
  for (const State state : {State::submitted, State::auth_required, State::input_required}) {
    old.add_event(4, ++number, kStatusKind, 400, status_body(state, 400));
  }
  old.add_event(4, 4, kMessageKind, 400, R"({"s":"completed"})");
  old.add_event(4, 5, kCallKind, 400, wire::stored::encode(task::ToolCall{"call-1", "x", {}, false}));
  old.add_event(3, 2, kCallKind, 400, wire::stored::encode(task::ToolCall{"call-1", "x", {}, false}));
  old.add_event(3, 3, kCallKind, 400, "not JSON");
  const test::ManualClock clock;
  const auto store = open(old.path(), clock);
  CHECK(store->last_stop({1}, {100})->value == 3);
  CHECK(store->last_stop({1}, {3})->value == 0);
  CHECK(store->last_stop({2}, {100})->value == 0);
  CHECK(store->last_stop({3}, {100})->value == 0);
  CHECK(store->last_stop({4}, {100})->value == 3);
  CHECK(store->last_stop({4}, {3})->value == 2);
  CHECK(store->first_stop({4}, {})->number.value == 2);
  CHECK(*store->call_ids({1}) == std::vector<std::string>{"call-1"});
  CHECK_FALSE(store->turn_input({1}, {1})->request.history.has_value());

  task::Change change;
  change.task = {2};
  change.events = {task::StatusChanged{{State::working, std::nullopt, {}}, {}}};
  std::promise<base::Result<store::Committed>> promise;
  store->commit(std::move(change), [&](auto result) { promise.set_value(std::move(result)); });
  REQUIRE(promise.get_future().get().has_value());
}

TEST_CASE("Upgrade: a database is upgraded once, and its operator is told before") {
  OldDatabase old;
  fill(old);
  const test::ManualClock clock;
  std::vector<std::pair<int, int>> told;
  store::SqliteOptions options;
  options.on_upgrade = [&](int from, int to) { told.emplace_back(from, to); };
  for (int i = 0; i < 2; ++i)
    CHECK(open(old.path(), clock, options)->head(task::TaskKey{1})->status_at == base::from_ms(290));
  CHECK(told == std::vector<std::pair<int, int>>{{1, 9}});
  Connection connection(old.path(), Connection::Mode::read);
  CHECK(connection.database().execAndGet("PRAGMA user_version").getInt() == 9);
  CHECK(connection.database().execAndGet("PRAGMA integrity_check").getString() == "ok");
}

TEST_CASE("Upgrade: a database that the disk has no room to copy is refused and left as it was") {
  OldDatabase old;
  fill(old);
  const test::ManualClock clock;
  const std::uintmax_t size = std::filesystem::file_size(old.path());
  // As large as all that is free, and mostly a hole.
  std::filesystem::resize_file(old.path(), std::filesystem::space(old.path()).available + size);
  store::SqliteOptions options;
  options.path = old.path();
  const auto refused = store::SqliteStore::open(options, clock);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == base::ErrorCode::unavailable);
  CHECK(refused.error().for_log.find("cannot be upgraded") != std::string::npos);
  std::filesystem::resize_file(old.path(), size);
  {
    Connection connection(old.path(), Connection::Mode::read);
    CHECK(connection.database().execAndGet("PRAGMA user_version").getInt() == 1);
  }
  CHECK(open(old.path(), clock)->head(task::TaskKey{1}).has_value());
}

}  // namespace upgrade_test
