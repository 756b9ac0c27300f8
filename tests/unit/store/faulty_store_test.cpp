#include "support/faulty_store.h"

#include "contract/store_bench.h"

namespace faulty_store_test {

using namespace baton;
using namespace baton::test;
using base::ErrorCode;
using store::FaultPlan;
using store::GroupFaults;
using task::State;

namespace {

// A plan with faults in group 2 only. Group 1 creates the task.
FaultPlan in_second_group(GroupFaults faults) {
  FaultPlan plan;
  plan.group = [faults = std::move(faults)](int group) { return group == 2 ? faults : GroupFaults(); };
  return plan;
}

task::Change output(const task::TaskHead& head) {
  return StoreBench::change(head, {delta("r", "x")});
}

}  // namespace

TEST_CASE("FaultyStore: a failed change fails its whole group, and the next group succeeds") {
  for (const ErrorCode failure : {ErrorCode::unavailable, ErrorCode::internal}) {
    GroupFaults faults;
    faults.applied_max = 2;
    faults.failure = failure;
    FaultyBench bench(in_second_group(faults));
    const task::TaskHead head = bench.create("t1");
    for (int i = 0; i < 2; ++i) {
      task::Change change = output(head);
      succeed(bench.apply(change));
    }
    task::Change stale = output(head);
    stale.expected = task::Version{99};
    task::Change last = output(head);
    CHECK(bench.apply(last).error().code == failure);
    CHECK(last.events.size() == 1);
    bench.rows.clear();
    // This is the third group.
    CHECK(bench.apply(stale).error().code == ErrorCode::conflict);
    CHECK(bench.must(std::move(last)).head.last_event.value == 3);
    CHECK(bench.log(head).size() == 3);
  }
}

TEST_CASE("FaultyStore: a refused change does not count towards a fault") {
  GroupFaults faults;
  faults.applied_max = 1;
  FaultyBench bench(in_second_group(faults));
  const task::TaskHead head = bench.create("t1");
  task::Change stale = output(head);
  stale.expected = task::Version{99};
  CHECK(bench.apply(stale).error().code == ErrorCode::conflict);
  task::Change change = output(head);
  succeed(bench.apply(change));
  CHECK(bench.deliveries->record({{1}, {}, {}, {}}).error().code == ErrorCode::unavailable);
}

TEST_CASE("FaultyStore: a removal has no effect if it or its commit fails") {
  GroupFaults faults;
  SUBCASE("the removal") {
    faults.applied_max = 0;
  }
  SUBCASE("its commit") {
    faults.commit_fails = true;
  }
  FaultPlan plan;
  plan.group = [&](int group) { return group == 3 ? faults : GroupFaults(); };
  FaultyBench bench(std::move(plan));
  task::Change end = StoreBench::change(bench.create("t1"), {status(State::completed)});
  end.turn.emplace();
  end.turn->state = task::TurnState::none;
  const task::TaskHead head = bench.must(std::move(end)).head;
  const store::Removal removal{{{head.key, head.version}}};
  const auto removed = bench.faulty.remove(removal);
  CHECK(removed.has_value() == faults.commit_fails);
  if (removed) CHECK(!bench.tasks->commit());
  CHECK(bench.tasks->row(head.key));
  succeed(bench.faulty.remove(removal));
  succeed(bench.tasks->commit());
  CHECK(!bench.tasks->row(head.key));
}

TEST_CASE("FaultyStore: a failed commit has no effect") {
  GroupFaults faults;
  faults.commit_fails = true;
  FaultyBench bench(in_second_group(faults));
  const task::TaskHead head = bench.create("t1");
  task::Change change = output(head);
  succeed(bench.apply(change));
  CHECK(bench.tasks->commit().error().code == ErrorCode::unavailable);
  succeed(bench.tasks->commit());
  CHECK(bench.log(head).size() == 2);
}

TEST_CASE("FaultyStore: an empty commit counts as a group and may have a fault") {
  GroupFaults faults;
  faults.commit_fails = true;
  FaultyBench bench(in_second_group(faults));
  succeed(bench.tasks->commit());
  CHECK(bench.tasks->commit().error().code == ErrorCode::unavailable);
  succeed(bench.tasks->commit());
}

TEST_CASE("FaultyStore: a late commit is not visible yet, one with a late answer is") {
  std::vector<std::size_t> seen;
  FaultyBench* looked_at = nullptr;
  task::TaskHead head;
  const auto look = [&] { seen.push_back(looked_at->log(head).size()); };
  GroupFaults faults;
  faults.before_commit = look;
  faults.after_commit = look;
  FaultyBench bench(in_second_group(faults));
  looked_at = &bench;
  head = bench.create("t1");
  bench.must(output(head));
  CHECK(seen == std::vector<std::size_t>{2, 3});
}

TEST_CASE("FaultyStore: a failed flush may or may not have made the data durable") {
  for (const bool happens : {false, true}) {
    FaultPlan plan;
    plan.flush = [happens](int flush) { return store::FlushFaults{flush == 1, happens, {}}; };
    FaultyBench bench(plan);
    const task::TaskHead head = bench.create("t1");
    CHECK(bench.tasks->flush().error().code == ErrorCode::unavailable);
    bench.memory.lose_unflushed();
    CHECK(bench.tasks->row(head.key).has_value() == happens);
    succeed(bench.tasks->flush());
  }
}

TEST_CASE("faults_by_chance: the same seed has the same faults, as often as the rates say") {
  store::FaultRates rates;
  rates.apply = 100;
  rates.commit = 200;
  rates.late_answer = 50;
  rates.flush = 300;
  const auto late = [] {};
  const FaultPlan plan = store::faults_by_chance(5, rates, late),
                  same = store::faults_by_chance(5, rates, late),
                  other = store::faults_by_chance(6, rates, late);
  int applies = 0, commits = 0, lates = 0, flushes = 0, differing = 0;
  for (int i = 1; i <= 1'000; ++i) {
    const GroupFaults faults = plan.group(i);
    CHECK(faults.applied_max == same.group(i).applied_max);
    CHECK(faults.commit_fails == same.group(i).commit_fails);
    differing += faults.commit_fails != other.group(i).commit_fails;
    applies += faults.applied_max.has_value();
    commits += faults.commit_fails;
    lates += faults.after_commit != nullptr;
    CHECK(faults.before_commit == nullptr);
    flushes += plan.flush(i).fails;
    CHECK(plan.flush(i).fails == same.flush(i).fails);
  }
  CHECK(std::abs(applies - 100) < 50);
  CHECK(std::abs(commits - 200) < 60);
  CHECK(std::abs(lates - 50) < 35);
  CHECK(std::abs(flushes - 300) < 70);
  CHECK(differing > 200);
}

// Whatever fails, the store has exactly the changes that were acknowledged.
TEST_CASE("FaultyStore: a writer that repeats uncommitted groups loses nothing and repeats nothing") {
  store::FaultRates rates;
  rates.apply = rates.apply_internal = rates.commit = 150;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    FaultyBench bench(store::faults_by_chance(seed, rates, [] {}));
    std::string expected;
    int failed = 0;
    const auto group = [&](int first, int count) -> base::Result<void> {
      for (int i = first; i < first + count; ++i) {
        task::Change change;
        if (i == 0) change = StoreBench::creation("t1", {status(State::submitted)});
        if (i > 0) {
          change.task = bench.tasks->find({{"ann"}, {"echo"}, {"t1"}})->key;
          change.events = {delta("r", std::to_string(i) + ";")};
        }
        if (auto applied = bench.apply(change); !applied) return base::fail(applied.error());
      }
      return bench.tasks->commit();
    };
    for (int first = 0, count = 1; first < 100; first += count, count = 1 + first % 5) {
      while (!group(first, count)) {
        bench.rows.clear();
        ++failed;
      }
      for (int i = std::max(first, 1); i < first + count; ++i) expected += std::to_string(i) + ";";
    }
    CHECK(failed > 0);
    const auto head = bench.tasks->find({{"ann"}, {"echo"}, {"t1"}});
    succeed(head);
    CHECK(texts(bench.read(*head).artifacts.at(0)) == Texts{expected});
  }
}

}  // namespace faulty_store_test
