// Several PostgresStores on one database: they join, hear of each other's changes, and take over from those
// that are dead.
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "contract/postgres_bench.h"
#include "contract/store_bench.h"
#include "store/postgres/nodes.h"
#include "support/patience.h"

namespace postgres_nodes_test {

using namespace baton;
using namespace baton::test;
using base::ErrorCode;
using store::Peers;
using task::TaskKey;
using task::TurnState;

namespace {

// Whether it comes true in time.
template <class F>
bool comes(F&& condition) {
  const auto until = std::chrono::steady_clock::now() + patience();
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

class Ear final : public Peers::Listener {
 public:
  void heard(const std::vector<store::Grown>& tasks) override {
    std::lock_guard lock(mutex_);
    for (const store::Grown& grown : tasks) heard_[grown.task] = std::max(heard_[grown.task], grown.last);
  }
  void missed() override { ++misses; }
  void adopted(const std::vector<TaskKey>& tasks) override {
    std::lock_guard lock(mutex_);
    adopted_.insert(tasks.begin(), tasks.end());
  }
  void asked_to_drain() override { ++drains; }
  bool follows(TaskKey task) override { return task == followed; }

  std::int64_t last_of(TaskKey task) {
    std::lock_guard lock(mutex_);
    return heard_[task].value;
  }
  std::size_t heard() {
    std::lock_guard lock(mutex_);
    return heard_.size();
  }
  std::multiset<TaskKey> adopted() {
    std::lock_guard lock(mutex_);
    return adopted_;
  }

  std::atomic<int> misses = 0, drains = 0;
  std::atomic<TaskKey> followed{};

 private:
  std::mutex mutex_;
  std::map<TaskKey, task::EventNumber> heard_;
  std::multiset<TaskKey> adopted_;
};

// A node whose way to the database is through a gate.
class NodeBench : public GatedBench {
 public:
  explicit NodeBench(std::shared_ptr<const Schema> in, std::chrono::milliseconds lease = kLease,
                     const std::string& agent = "echo")
      : GatedBench(std::move(in), lease) {
    peers().announce({{{agent}, ""}}, nullptr);
    peers().listen(&ear);
  }
  ~NodeBench() override {
    gate.freeze(false);
    if (store) peers().listen(nullptr);
  }

  Peers& peers() const { return store->peers(); }
  std::int64_t number() const { return peers().self().value; }
  std::int64_t owner_of(const task::TaskHead& head) const { return tasks->row(head.key).value().owner.value; }
  // A task with a turn.
  task::TaskHead create_busy(const std::string& id, TurnState state = TurnState::queued,
                             const std::string& agent = "echo") {
    task::Change change = creation(id, {status(task::State::submitted), user("m-" + id)}, "c-" + id);
    change.create->agent = {agent};
    change.turn.emplace();
    change.turn->turn = task::TurnNumber{1};
    change.turn->state = state;
    change.turn->attempt = 1;
    change.turn->message_is_new = true;
    return must(std::move(change)).head;
  }
  // As a program that is killed: its sessions end, and it says nothing more.
  void kill() {
    gate.shut(true);
    gate.cut_all();
  }
  void end() {
    peers().listen(nullptr);
    store.reset();
  }

  static constexpr std::chrono::milliseconds kLease{5'000};

  Ear ear;
};

std::shared_ptr<const Schema> made_schema() {
  return std::make_shared<Schema>();
}

std::multiset<TaskKey> keys_of(const std::vector<task::TaskHead>& heads) {
  std::multiset<TaskKey> keys;
  for (const task::TaskHead& head : heads) keys.insert(head.key);
  return keys;
}

std::vector<task::TaskHead> some_busy(NodeBench& bench, int count, const std::string& prefix = "t") {
  std::vector<task::TaskHead> heads;
  for (int i = 0; i < count; ++i) heads.push_back(bench.create_busy(prefix + std::to_string(i)));
  return heads;
}

void end_all_sessions(const Schema& schema) {
  schema.ask(
      "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
      "WHERE application_name = 'baton' AND pid <> pg_backend_pid()");
}

}  // namespace

TEST_CASE("Peers: a node is alone until another one has joined, and again once it has left") {
  const auto schema = made_schema();
  NodeBench first(schema);
  CHECK(comes([&] { return first.peers().is_alone(); }));
  {
    NodeBench second(schema);
    CHECK_FALSE(first.peers().is_alone());
    CHECK_FALSE(second.peers().is_alone());
    CHECK(second.number() > first.number());
    CHECK(first.ear.misses == 0);
  }
  CHECK(comes([&] { return first.peers().is_alone(); }));
  CHECK(first.ear.misses == 1);
}

TEST_CASE("Peers: who joins sees all that another one has written while it took itself for alone") {
  const auto schema = made_schema();
  NodeBench first(schema);
  std::atomic<std::int64_t> alone_after = 0;
  std::atomic<bool> is_open = false, is_done = false;
  std::thread writer([&] {
    for (int i = 0; !is_done; ++i) {
      first.create("t" + std::to_string(i), "c" + std::to_string(i));
      if (is_open && first.peers().is_alone()) ++alone_after;
    }
  });
  for (int i = 0; i < 5; ++i) {
    NodeBench second(schema);
    is_open = true;
    const std::string there = first.count("tasks");
    CHECK(std::stoll(there) > 0);
    CHECK_FALSE(second.peers().is_alone());
    is_open = false;
  }
  is_done = true;
  writer.join();
  CHECK(alone_after == 0);
}

TEST_CASE("Peers: what a node tells the others hear, with the newest numbers, and it itself does not") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema), third(schema);
  CHECK(comes([&] { return !first.peers().is_alone(); }));
  std::vector<store::Grown> many;
  for (std::int64_t i = 1; i <= 5'000; ++i) many.push_back({{1'000'000 + i}, {1 + i % 7}});
  first.peers().tell(many);
  first.peers().tell({{{1'000'001}, {9}}});
  for (NodeBench* each : {&second, &third}) {
    CHECK(comes([&] { return each->ear.heard() == 5'000 && each->ear.last_of({1'000'001}) == 9; }));
    CHECK(each->ear.last_of({1'000'002}) == 3);
  }
  second.peers().tell({{{7}, {1}}});
  CHECK(comes([&] { return first.ear.last_of({7}) == 1; }));
  CHECK(first.ear.heard() == 1);
}

TEST_CASE(
    "Peers: a node whose sessions were ended is told that it may have missed something, and hears again") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema);
  end_all_sessions(*schema);
  CHECK(comes([&] { return second.ear.misses > 0 && first.ear.misses > 0; }));
  CHECK(comes([&] {
    first.peers().tell({{{7}, {1}}});
    return second.ear.last_of({7}) == 1;
  }));
  first.create("t1");
  second.create("t2");
  CHECK(first.count("nodes") == "2");
}

TEST_CASE("Peers: the ends of tasks are as another node has left them") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema);
  const task::TaskHead resting = first.create("t1");
  const task::TaskHead busy = second.create_busy("t2");
  auto ends = first.peers().ends({resting.key, {12'345'678}, busy.key}).value();
  std::ranges::sort(ends, {}, &store::TaskEnd::task);
  REQUIRE(ends.size() == 2);
  const bool is_first = ends[0].task == resting.key;
  const store::TaskEnd &of_resting = ends[is_first ? 0 : 1], &of_busy = ends[is_first ? 1 : 0];
  CHECK(of_resting.last == resting.last_event);
  CHECK(of_resting.owner.value == 0);
  CHECK(of_busy.version == busy.version);
  CHECK(of_busy.owner.value == second.number());
  CHECK(first.peers().ends({}).value().empty());
}

TEST_CASE("Peers: the unfinished tasks of a node that was killed are adopted once, and it writes no more") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema), third(schema);
  std::string told;
  first.end();
  first.settings.on_lost = [&told](const std::string& why) { told = why; };
  first.open();
  first.peers().listen(&first.ear);
  const auto heads = some_busy(first, 20);
  first.create("resting");
  const task::TaskHead others = second.create_busy("others");
  task::Change late = StoreBench::change(heads[0], {delta("r", "late")});
  first.kill();
  CHECK(comes([&] { return second.ear.adopted().size() + third.ear.adopted().size() >= heads.size(); }));
  auto adopted = second.ear.adopted();
  adopted.merge(third.ear.adopted());
  CHECK(adopted == keys_of(heads));
  for (const task::TaskHead& head : heads) {
    const auto row = second.tasks->row(head.key).value();
    CHECK((row.owner.value == second.number() || row.owner.value == third.number()));
    CHECK(row.head.version.value == head.version.value + 1);
  }
  CHECK(second.owner_of(others) == second.number());
  CHECK(second.count("nodes") == "2");
  CHECK(schema->ask("SELECT sum(tasks) FROM task_totals") == "1");

  first.gate.shut(false);
  const bool is_stored = first.apply(late) && first.tasks->commit();
  CHECK_FALSE(is_stored);
  CHECK(comes([&] { return !first.tasks->flush(); }));
  CHECK(told == "another Baton has taken over the database");
  CHECK(second.head(heads[0].key).last_event == heads[0].last_event);
}

TEST_CASE("Peers: a frozen node is replaced when its lease is over, and ends when it thaws") {
  const auto schema = made_schema();
  NodeBench first(schema, std::chrono::milliseconds(1'500)), second(schema);
  const auto heads = some_busy(first, 3);
  task::Change begun = StoreBench::change(heads[1], {delta("r", "half")});
  succeed(first.apply(begun));
  // Has what was written go to the server, which leaves the group open there.
  task::Change joins = StoreBench::creation("more", {status(task::State::submitted), user("m")}, "c-t0");
  succeed(first.apply(joins));
  first.gate.freeze(true);
  CHECK(comes([&] { return second.ear.adopted() == keys_of(heads); }));
  first.gate.freeze(false);
  CHECK(comes([&] { return !first.tasks->flush(); }));
  CHECK(first.tasks->flush().error().for_log.find("has taken over") != std::string::npos);
  CHECK_FALSE(first.tasks->commit());
  CHECK(second.head(heads[1].key).last_event == heads[1].last_event);
  CHECK(comes([&] { return second.peers().is_alone(); }));
}

TEST_CASE("Peers: nodes that were all frozen for longer than their leases all stay") {
  const auto schema = made_schema();
  constexpr std::chrono::milliseconds kShort(1'000);
  NodeBench first(schema, kShort), second(schema, kShort);
  const auto heads = some_busy(first, 3);
  first.gate.freeze(true);
  second.gate.freeze(true);
  CHECK(comes([&] {
    return schema->ask("SELECT max(lease_until) < clock_timestamp() - interval '1 second' FROM nodes") == "t";
  }));
  second.gate.freeze(false);
  first.gate.freeze(false);
  const std::string renewed = "SELECT min(lease_until) > clock_timestamp() FROM nodes";
  CHECK(comes([&] { return schema->ask(renewed) == "t"; }));
  CHECK(schema->ask("SELECT count(*) FROM nodes") == "2");
  first.create("t-first");
  second.create("t-second");
  CHECK(second.ear.adopted().empty());
  CHECK(first.owner_of(heads[0]) == first.number());
}

TEST_CASE("Peers: a node that leaves gives its unfinished tasks away at once") {
  const auto schema = made_schema();
  constexpr std::chrono::hours kLong(1);
  NodeBench first(schema, kLong), second(schema, kLong);
  const auto heads = some_busy(first, 5);
  first.peers().leave();
  CHECK(comes([&] { return second.ear.adopted() == keys_of(heads); }));
  CHECK(second.peers().nodes().value().size() == 1);
  CHECK_FALSE(first.peers().is_alone());
  CHECK_FALSE(first.peers().leads());
  task::Change late = StoreBench::change(heads[0], {delta("r", "late")});
  CHECK_FALSE((first.apply(late) && first.tasks->commit()));
}

TEST_CASE("Peers: what the last node leaves is the next one's that opens the database") {
  const auto schema = made_schema();
  NodeBench first(schema, std::chrono::hours(1));
  const auto heads = some_busy(first, 3);
  first.peers().leave();
  first.end();
  schema->ask("UPDATE tasks SET owner = 0 WHERE public_id = 't1'");
  const NodeBench next(schema);
  for (const task::TaskHead& head : heads) {
    CHECK(next.owner_of(head) == next.number());
    CHECK(next.head(head.key).version == head.version);
  }
  CHECK(next.ear.misses == 0);
  CHECK(next.count("nodes") == "1");
}

TEST_CASE("Peers: of two that take each other for dead one stays") {
  PostgresBench made;
  made.close();
  const Schema& schema = made.schema;
  const auto address = store::postgres::Address::read(schema.url());
  REQUIRE(address);
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    constexpr std::chrono::milliseconds kLease(60'000);
    store::postgres::Link one(*address), other(*address);
    const auto first = store::postgres::enter(one, {"a", "", {}, kLease}, true);
    const auto second = store::postgres::enter(other, {"b", "", {}, kLease}, false);
    const auto seen = [&](store::postgres::Link& by, std::int64_t node) {
      return store::postgres::renew(by, node, kLease, node, false)->others.at(0);
    };
    const auto of_second = seen(one, first);
    const auto of_first = seen(other, second);
    auto second_now = of_second;  // what it has just asked has renewed its lease
    second_now.lease = schema.ask("SELECT lease_until FROM nodes WHERE node_id = " + std::to_string(second));
    std::optional<std::vector<TaskKey>> by_first, by_second;
    std::thread beside(
        [&] { by_second = store::postgres::take_over(other, second, kLease, of_first, nullptr); });
    by_first = store::postgres::take_over(one, first, kLease, second_now, nullptr);
    beside.join();
    CHECK(by_first.has_value() != by_second.has_value());
    CHECK(schema.ask("SELECT count(*) FROM nodes") == "1");
  }
}

TEST_CASE("Peers: a dead node's task waits for a node that has its agent") {
  const auto schema = made_schema();
  NodeBench first(schema), other(schema, NodeBench::kLease, "other");
  const task::TaskHead mine = first.create_busy("t1");
  first.kill();
  CHECK(comes([&] { return schema->ask("SELECT count(*) FROM nodes") == "1"; }));
  CHECK(other.owner_of(mine) == first.number());
  CHECK(other.ear.adopted().empty());
  NodeBench third(schema);
  CHECK(comes([&] { return third.ear.adopted() == std::multiset<TaskKey>{mine.key}; }));
  CHECK(third.owner_of(mine) == third.number());
}

TEST_CASE("Peers: a node learns whether a task is followed on another one") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema), third(schema);
  const TaskKey task{7};
  CHECK_FALSE(first.peers().is_followed_elsewhere(task));
  third.ear.followed = task;
  CHECK(first.peers().is_followed_elsewhere(task));
  first.ear.followed = task;
  CHECK_FALSE(third.peers().is_followed_elsewhere(TaskKey{8}));
}

TEST_CASE("Peers: one node leads, and another one when it has gone") {
  const auto schema = made_schema();
  auto first = std::make_unique<NodeBench>(schema);
  auto second = std::make_unique<NodeBench>(schema);
  CHECK(comes([&] { return first->peers().leads(); }));
  CHECK_FALSE(second->peers().leads());
  first->kill();
  CHECK(comes([&] { return second->peers().leads(); }));
  CHECK_FALSE(first->peers().leads());
  const NodeBench third(schema);
  second.reset();
  CHECK(comes([&] { return third.peers().leads(); }));
}

TEST_CASE("Peers: nodes say what they are, what they do and which agents they have") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema);
  second.end();
  second.settings.name = "the second";
  second.settings.version = "1.2.3";
  second.open();
  std::atomic<int> running = 3;
  second.peers().announce({{{"writer"}, "ab"}, {{"editor\"s"}, "cd"}}, [&running] {
    return store::NodeReport{running, 2, true};
  });
  const auto of_second = [&] {
    const auto nodes = first.peers().nodes().value();
    return nodes.size() == 2 ? nodes[1] : store::Node();
  };
  CHECK(comes([&] { return of_second().report == store::NodeReport{3, 2, true}; }));
  const store::Node told = of_second();
  CHECK(told.id.value == second.number());
  CHECK(told.name == "the second");
  CHECK(told.version == "1.2.3");
  CHECK(told.started == second.clock.now());
  CHECK(told.lease > std::chrono::milliseconds(0));
  CHECK(told.lease <= second.settings.lease);
  REQUIRE(told.agents.size() == 2);
  CHECK(told.agents[0].name.value == "editor\"s");
  CHECK(told.agents[1].digest == "ab");
  running = 4;
  CHECK(comes([&] { return of_second().report.running == 4; }));
  CHECK_FALSE(first.peers().nodes().value()[0].name.empty());
  second.peers().announce({}, nullptr);
}

TEST_CASE("Peers: a node that is asked to drain is told so once, also if it listens later") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema);
  second.peers().listen(nullptr);
  succeed(first.peers().ask_to_drain(second.peers().self()));
  CHECK(comes([&] { return second.peers().nodes().value()[1].is_asked_to_drain; }));
  CHECK(second.ear.drains == 0);
  second.peers().listen(&second.ear);
  CHECK(comes([&] { return second.ear.drains == 1; }));
  succeed(first.peers().ask_to_drain(second.peers().self()));
  succeed(first.peers().ask_to_drain(first.peers().self()));
  CHECK(comes([&] { return first.ear.drains == 1; }));
  CHECK(second.ear.drains == 1);
  CHECK(first.peers().ask_to_drain({second.number() + 1}).error().code == ErrorCode::not_found);
}

TEST_CASE("Peers: turns that wait elsewhere are taken by one node each, and their former one lets go") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema), third(schema);
  const auto heads = some_busy(first, 6);
  const task::TaskHead running = first.create_busy("running", TurnState::running);
  const task::TaskHead strange = first.create_busy("strange", TurnState::queued, "another");
  const task::TaskHead own = third.create_busy("own");
  const auto by_second = second.peers().take_queued({{"echo"}, {"no\"ne"}}, 4);
  const auto by_third = third.peers().take_queued({{"echo"}}, 4);  // while the other's group is open
  succeed(by_second);
  succeed(by_third);
  succeed(second.tasks->commit());
  succeed(third.tasks->commit());
  CHECK(by_second->size() == 4);
  auto taken = keys_of(*by_second);
  taken.merge(keys_of(*by_third));
  CHECK(taken == keys_of(heads));
  for (const task::TaskHead& head : *by_third) {
    CHECK(first.owner_of(head) == third.number());
    CHECK(first.head(head.key).version == head.version);
  }
  CHECK(first.owner_of(running) == first.number());
  CHECK(first.owner_of(strange) == first.number());
  CHECK(first.owner_of(own) == third.number());

  task::Change begins = StoreBench::change(heads[0], {status(task::State::working)});
  begins.turn.emplace();
  begins.turn->state = TurnState::running;
  const auto applied = first.apply(begins);
  const auto committed = applied ? first.tasks->commit() : base::fail(applied.error());
  REQUIRE(!committed);
  CHECK(committed.error().code == ErrorCode::raced);
  CHECK(second.peers().take_queued({}, 4).value().empty());
  succeed(second.tasks->commit());
}

TEST_CASE("Peers: turns that were taken stay so if the connection is lost before they are committed") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema);
  const auto heads = some_busy(first, 3);
  const auto taken = second.peers().take_queued({{"echo"}}, 2);
  succeed(taken);
  second.gate.cut_answer_with("COMMIT");
  succeed(second.tasks->commit());
  CHECK(second.gate.cuts() == 1);
  for (const task::TaskHead& head : *taken) CHECK(first.owner_of(head) == second.number());
  const auto more = second.peers().take_queued({{"echo"}}, 2);
  succeed(more);
  end_all_sessions(*schema);
  succeed(second.tasks->commit());
  REQUIRE(more->size() == 1);
  CHECK(first.owner_of(more->at(0)) == second.number());
  CHECK(first.head(more->at(0).key).version.value == heads[2].version.value + 1);
}

TEST_CASE("PostgresStore: tables that another node has open are not upgraded") {
  PostgresBench bench;
  bench.schema.ask("DELETE FROM migrations WHERE number > 1");
  const ManualClock clock;
  const auto opened = store::PostgresStore::open(bench.settings, clock);
  REQUIRE(!opened);
  CHECK(opened.error().code == ErrorCode::already_exists);
  CHECK(opened.error().for_caller.find("stop all others first") != std::string::npos);
  bench.create("t1");
}

}  // namespace postgres_nodes_test
