// StoreBench: a new store for a test, and shorthands for the usual operations. A test of the contract runs on
// each kind. Its body is compiled once, and has `bench`, of a new store:
//   STORE_TEST_CASE("TaskStore: ...") { ...
// or `new_bench`, which makes one, with another retention of sends if given:
//   NEW_STORE_TEST_CASE("TaskStore: ...") { const auto made = new_bench(); ...
// A test of a single kind of store uses that store's bench.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"
#include "support/faulty_store.h"
#include "support/manual_clock.h"
#include "support/temp_folder.h"

namespace baton::test {

// Fails the test if the result is an error.
template <class T>
void succeed(const base::Result<T>& result) {
  if (!result) FAIL(result.error().for_caller, " / ", result.error().for_log);
}

inline task::Message message(task::Role role, const std::string& id, const std::string& text) {
  task::Message said;
  said.id = {id};
  said.role = role;
  said.parts.push_back(task::Part::of_text(text));
  return said;
}
inline task::MessageAdded user(const std::string& id, const std::string& text = "hello") {
  return {message(task::Role::user, id, text)};
}
inline task::StatusChanged status(task::State state, std::optional<task::Message> said = {}) {
  return {{state, std::move(said), {}}, {}};
}
inline task::TextDelta delta(const std::string& reply, const std::string& text) {
  return {{reply}, 0, text, false, false};
}
inline task::ArtifactChunk chunk(const std::string& id, const std::string& text, bool append) {
  task::ArtifactChunk made;
  made.artifact.id = {id};
  made.artifact.parts.push_back(task::Part::of_text(text));
  made.append = append;
  return made;
}
inline std::vector<std::string> texts(const std::vector<task::Message>& messages) {
  std::vector<std::string> found;
  for (const task::Message& said : messages) found.push_back(task::text_of(said));
  return found;
}
inline std::vector<std::string> texts(const task::Artifact& artifact) {
  std::vector<std::string> found;
  for (const task::Part& part : artifact.parts) found.push_back(part.content);
  return found;
}
using Texts = std::vector<std::string>;

inline std::vector<std::string> ids(const std::vector<task::TaskHead>& heads) {
  std::vector<std::string> found;
  for (const task::TaskHead& head : heads) found.push_back(head.id.value);
  return found;
}

class StoreBench {
 public:
  StoreBench() = default;
  virtual ~StoreBench() = default;
  StoreBench(const StoreBench&) = delete;
  StoreBench& operator=(const StoreBench&) = delete;

  // Has the same effect on the store as a restart of the program.
  virtual void reopen() { rows.clear(); }

  // Adds a change to the open group. Keeps the task's row for later changes, like a real writer.
  base::Result<store::Committed> apply(task::Change& change) {
    store::TaskRow fresh;
    if (change.task && !rows.contains(change.task)) {
      auto row = tasks->row(change.task);
      if (!row) return base::fail(row.error());
      fresh = std::move(*row);
    }
    const auto kept = rows.find(change.task);
    store::TaskRow& row = kept == rows.end() ? fresh : kept->second;
    auto applied = tasks->apply(change, row);
    if (applied && kept == rows.end()) rows[applied->head.key] = std::move(fresh);
    return applied;
  }
  base::Result<store::Committed> commit(task::Change change) {
    auto applied = apply(change);
    succeed(tasks->commit());
    return applied;
  }

  // Commit a change that must succeed.
  store::Committed must(task::Change change) {
    auto result = commit(std::move(change));
    succeed(result);
    return std::move(*result);
  }
  store::Committed must(const task::TaskHead& head, std::vector<task::EventBody> events) {
    return must(change(head, std::move(events)));
  }

  static task::Change change(const task::TaskHead& head, std::vector<task::EventBody> events) {
    task::Change made;
    made.task = head.key;
    made.events = std::move(events);
    return made;
  }

  static task::Change creation(const std::string& id, std::vector<task::EventBody> events,
                               const std::string& context = "c1") {
    task::Change made;
    made.create.emplace();
    made.create->id = {id};
    made.create->agent = {"echo"};
    made.create->caller = {"ann"};
    made.create->context = {context};
    made.events = std::move(events);
    return made;
  }
  // Creates a submitted task with one message: events 1 and 2.
  task::TaskHead create(const std::string& id, const std::string& context = "c1") {
    return must(creation(id, {status(task::State::submitted), user("m-" + id)}, context)).head;
  }

  base::Result<store::Committed> set_push(task::TaskKey key, task::PushConfig config, int configs_max) {
    task::Change change;
    change.task = key;
    change.push = std::move(config);
    change.push_configs_max = configs_max;
    return commit(std::move(change));
  }
  base::Result<store::Committed> drop_push(task::TaskKey key, const std::string& id) {
    task::Change change;
    change.task = key;
    change.drop_push = task::PushConfigId{id};
    return commit(std::move(change));
  }
  base::Result<void> record(const store::DeliveryResult& outcome) {
    auto recorded = deliveries->record(outcome);
    succeed(tasks->commit());
    return recorded;
  }

  // Return the results of reads, which must succeed.
  task::TaskHead head(task::TaskKey key) const {
    auto row = tasks->row(key);
    succeed(row);
    return std::move(row->head);
  }
  task::Task read(const task::TaskHead& head, std::optional<int> history = std::nullopt,
                  std::optional<std::int64_t> as_of = {}) const {
    std::optional<task::EventNumber> number;
    if (as_of) number = task::EventNumber{*as_of};
    auto task = tasks->read(head.key, {history, true}, number);
    succeed(task);
    return std::move(*task);
  }
  std::vector<task::Event> log(const task::TaskHead& head) const {
    auto events = tasks->events(head.key, {}, 1'000'000);
    succeed(events);
    return std::move(*events);
  }
  std::vector<task::PushConfig> configs(const task::TaskHead& head) const {
    auto configs = deliveries->configs(head.key);
    succeed(configs);
    return std::move(*configs);
  }
  // Returns the messages of a context, and its call ids sorted and without duplicates.
  store::ContextRecord context(task::ContextKey key) const {
    auto record = tasks->context(key, {}, {}, 1'000);
    succeed(record);
    std::ranges::sort(record->call_ids);
    const auto doubles = std::ranges::unique(record->call_ids);
    record->call_ids.erase(doubles.begin(), doubles.end());
    return std::move(*record);
  }

  ManualClock clock;
  store::TaskStore* tasks = nullptr;
  store::DeliveryStore* deliveries = nullptr;
  store::RetentionStore* retention = nullptr;
  store::OperatorStore* operators = nullptr;
  // Rows after their last change. The row of any other task is read for its next change.
  std::map<task::TaskKey, store::TaskRow> rows;

 protected:
  template <class Store>
  void use(Store& store) {
    tasks = &store;
    deliveries = &store;
    retention = &store;
    operators = &store;
  }
};

class SqliteBench : public StoreBench {
 public:
  explicit SqliteBench(base::Duration send_retention = std::chrono::hours(24))
      : SqliteBench(with_retention(send_retention)) {}
  explicit SqliteBench(store::SqliteOptions options) : settings(std::move(options)) {
    settings.checks_references = true;
    open();
  }

  void open() {
    settings.path = path();
    auto opened = store::SqliteStore::open(settings, clock);
    succeed(opened);
    store_ = std::move(*opened);
    use(*store_);
  }
  void close() {
    rows.clear();
    store_.reset();
  }
  void reopen() override {
    close();
    open();
  }
  std::string path() const { return (folder.path() / "test.db").string(); }

  const TempFolder folder;
  store::SqliteOptions settings;

 private:
  static store::SqliteOptions with_retention(base::Duration send_retention) {
    store::SqliteOptions options;
    options.send_retention = send_retention;
    return options;
  }

  std::unique_ptr<store::SqliteStore> store_;
};

class MemoryBench : public StoreBench {
 public:
  explicit MemoryBench(base::Duration send_retention = std::chrono::hours(24))
      : memory(clock, {.send_retention = send_retention, .keeps_flushed = true}) {
    use(memory);
  }

  store::MemoryStore memory;
};

// A FaultyStore. Without a plan it has no faults.
class FaultyBench : public MemoryBench {
 public:
  explicit FaultyBench(base::Duration send_retention = std::chrono::hours(24))
      : FaultyBench(store::FaultPlan(), send_retention) {}
  explicit FaultyBench(store::FaultPlan plan, base::Duration send_retention = std::chrono::hours(24))
      : MemoryBench(send_retention),
        faulty(
            memory, memory, memory, [this] { memory.roll_back(); }, std::move(plan)) {
    faulty.set_retention(memory);
    use(faulty);
  }

  store::FaultyStore faulty;
};

// The program for PostgreSQL has the same tests, see postgres_bench.h.
#ifdef BATON_CONTRACT_ON_POSTGRES
}  // namespace baton::test
#include "contract/postgres_bench.h"

namespace baton::test {
#define EACH_STORE baton::test::PostgresBench
#else
#define EACH_STORE baton::test::SqliteBench, baton::test::MemoryBench, baton::test::FaultyBench
#endif

// Makes benches of one kind.
class NewBench {
 public:
  template <class Bench>
  static NewBench of() {
    return NewBench([](base::Duration send_retention) -> std::unique_ptr<StoreBench> {
      return std::make_unique<Bench>(send_retention);
    });
  }
  std::unique_ptr<StoreBench> operator()(base::Duration send_retention = std::chrono::hours(24)) const {
    return make_(send_retention);
  }

 private:
  using Make = std::unique_ptr<StoreBench> (*)(base::Duration);
  explicit NewBench(Make make) : make_(make) {}

  Make make_;
};

#define STORE_TEST_CASE_AS(body, text, ...)         \
  static void body(baton::test::StoreBench& bench); \
  TEST_CASE_TEMPLATE(text, Bench, __VA_ARGS__) {    \
    body(*baton::test::NewBench::of<Bench>()());    \
  }                                                 \
  static void body([[maybe_unused]] baton::test::StoreBench& bench)
#define NEW_STORE_TEST_CASE_AS(body, text, ...)             \
  static void body(const baton::test::NewBench& new_bench); \
  TEST_CASE_TEMPLATE(text, Bench, __VA_ARGS__) {            \
    body(baton::test::NewBench::of<Bench>());               \
  }                                                         \
  static void body(const baton::test::NewBench& new_bench)
#define STORE_TEST_CASE_ON(text, ...) STORE_TEST_CASE_AS(DOCTEST_ANONYMOUS(store_test_), text, __VA_ARGS__)
#define STORE_TEST_CASE(text) STORE_TEST_CASE_ON(text, EACH_STORE)
#define NEW_STORE_TEST_CASE(text) NEW_STORE_TEST_CASE_AS(DOCTEST_ANONYMOUS(store_test_), text, EACH_STORE)

// Returns true if the log's numbers are 1, 2, 3, ...
inline bool consecutive(const std::vector<task::Event>& events) {
  std::int64_t expected = 0;
  for (const task::Event& event : events) {
    if (event.number.value != ++expected) return false;
  }
  return true;
}

}  // namespace baton::test

TYPE_TO_STRING(baton::test::SqliteBench);
TYPE_TO_STRING(baton::test::MemoryBench);
TYPE_TO_STRING(baton::test::FaultyBench);
