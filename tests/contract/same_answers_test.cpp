// The MemoryStore and the SqliteStore, or the PostgresStore, give the same answers after the same random
// changes, in all ways that a database stores them: logs with and without index rows, own contexts, sends in
// slices.
#include <array>

#include "contract/picture.h"
#include "contract/random_changes.h"
#include "contract/store_bench.h"

namespace same_answers_test {

using namespace baton;
using namespace baton::test;

namespace {

constexpr base::Duration kRetention(1'000);

#ifdef BATON_CONTRACT_ON_POSTGRES
constexpr unsigned kSeeds = 10;

class Database : public PostgresBench {
 public:
  explicit Database(RandomChanges& random) : PostgresBench(kRetention) {
    settings.short_events_max = random.one_of<int>({0, 2, 5, 9, 32});
    reopen();
  }
  // Resets the sequence of keys: with a new block, the keys would differ from the other store's.
  void reopen() override {
    close();
    schema.ask(
        "SELECT setval('task_keys', greatest((SELECT max(task_key) FROM tasks), (SELECT last_task FROM "
        "retention), 0)"
        " + 1, false)");
    open();
  }
};
#else
constexpr unsigned kSeeds = 150;

store::SqliteOptions sqlite_options(RandomChanges& random) {
  store::SqliteOptions options;
  options.send_retention = kRetention;
  options.short_events_max = random.one_of<int>({0, 2, 5, 9, 32});
  options.send_slice_max = static_cast<std::size_t>(1 + random.up_to(3));
  return options;
}

class Database : public SqliteBench {
 public:
  explicit Database(RandomChanges& random) : SqliteBench(sqlite_options(random)) {}
};
#endif

// Two stores that get the same changes.
class Pair {
 public:
  explicit Pair(unsigned seed) : random_(seed), database_(random_) {}

  void step() {
    if (random_.one_in(3)) advance(base::Duration(100 * random_.up_to(4)));
    if (random_.one_in(4)) return record();
    apply(random_.draw(heads_[0]));
    if (!random_.one_in(3)) commit();
    if (random_.one_in(20)) restart();
    if (random_.one_in(30)) compare();
  }

  void compare() {
    commit();
    REQUIRE(Picture(database_, heads_[0]).whole() == Picture(memory_, heads_[1]).whole());
  }

  int applied = 0, refused = 0, recorded = 0;

 private:
  void apply(const task::Change& change) {
    std::array<task::Change, 2> changes{change, change};
    const std::array results{database_.apply(changes[0]), memory_.apply(changes[1])};
    REQUIRE(results[0].has_value() == results[1].has_value());
    if (!results[0]) {
      REQUIRE(results[0].error().code == results[1].error().code);
      REQUIRE(results[0].error().for_caller == results[1].error().for_caller);
      ++refused;
      return;
    }
    ++applied;
    REQUIRE(Picture(database_, {}).of(*results[0]) == Picture(memory_, {}).of(*results[1]));
    for (std::size_t i = 0; i < 2; ++i) {
      const task::TaskHead& head = results[i]->head;
      if (change.create) heads_[i].push_back(head);
      heads_[i][static_cast<std::size_t>(head.key.value - 1)] = head;
    }
  }

  // Records the result of a delivery that is due, or was due at some time.
  void record() {
    const auto due = [&](const StoreBench& bench) {
      return bench.deliveries->due_deliveries(bench.clock.now(), 3).value();
    };
    const auto mine = due(database_), theirs = due(memory_);
    REQUIRE(mine.size() == theirs.size());
    for (std::size_t i = 0; i < mine.size(); ++i) seen_.push_back({mine[i].key, theirs[i].key});
    if (seen_.empty()) return;
    const std::size_t place =
        random_.one_in(3) || mine.empty()
            ? static_cast<std::size_t>(random_.up_to(static_cast<int>(seen_.size()) - 1))
            : seen_.size() - 1;
    store::DeliveryResult result;
    result.kind = static_cast<store::DeliveryResult::Kind>(random_.up_to(2));
    result.next_due = database_.clock.now() + base::Duration(100 * random_.up_to(5));
    result.error = result.kind == store::DeliveryResult::Kind::delivered ? "" : "no";
    result.key = seen_[place][0];
    const auto one = database_.deliveries->record(result);
    result.key = seen_[place][1];
    const auto other = memory_.deliveries->record(result);
    REQUIRE(one.has_value() == other.has_value());
    if (!one) REQUIRE(one.error().code == other.error().code);
    ++(one ? recorded : refused);
  }

  void commit() {
    succeed(database_.tasks->commit());
    succeed(memory_.tasks->commit());
  }

  void advance(base::Duration by) {
    database_.clock.advance(by);
    memory_.clock.advance(by);
  }

  void restart() {
    commit();
    if (random_.one_in(2)) {
      database_.reopen();
      seen_.clear();  // keys of removed deliveries are reused
    }
    database_.rows.clear();
    memory_.reopen();
  }

  RandomChanges random_;
  Database database_;
  MemoryBench memory_{kRetention};
  std::array<std::vector<task::TaskHead>, 2> heads_;  // by store; a task's key is its position
  std::vector<std::array<store::DeliveryKey, 2>> seen_;
};

}  // namespace

TEST_CASE("Stores: the memory store and the database store give the same answers after random changes") {
  int applied = 0, refused = 0, recorded = 0;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    Pair pair(seed);
    for (int i = 0; i < 60; ++i) pair.step();
    pair.compare();
    applied += pair.applied;
    refused += pair.refused;
    recorded += pair.recorded;
  }
  CHECK(applied > 2'500 * kSeeds / 150);
  CHECK(refused > 1'000 * kSeeds / 150);
  CHECK(recorded > 200 * kSeeds / 150);
}

}  // namespace same_answers_test
