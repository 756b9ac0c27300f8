#include "unit/engine/inbox_bench.h"

#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <thread>

namespace inbox_faults_test {

using namespace baton;
using namespace baton::test;
using base::ErrorCode;
using engine::Decision;
using engine::InboxOptions;
using engine::Written;
using store::FaultPlan;
using store::GroupFaults;
using task::State;

namespace {

FaultPlan in_groups(std::set<int> which, GroupFaults faults) {
  FaultPlan plan;
  plan.group = [=](int group) { return which.contains(group) ? faults : GroupFaults(); };
  return plan;
}

}  // namespace

TEST_CASE("Inbox: a change that cannot be written fails alone; its group is decided again without it") {
  GroupFaults faults;
  faults.applied_max = 2;
  faults.failure = ErrorCode::internal;
  FaultPlan plan;
  plan.group = [faults](int group) mutable {
    if (group == 3) faults.applied_max = 0;
    return group == 2 ? GroupFaults() : faults;
  };
  InboxBench bench({}, plan);
  const Keys keys = bench.make_tasks(2);
  Gate gate;
  bench.start();
  // Two existing rows, and one that the group creates.
  bench.hold(gate);
  bench.inbox->post(bench.create("new"));
  bench.inbox->post(bench.create("newer"));
  bench.inbox->post(bench.create("broken"));
  bench.inbox->post(bench.create("last"));
  gate.open();
  bench.inbox->settle();
  CHECK(bench.told == Texts{"new: done", "newer: done", "broken: internal", "last: done"});
  CHECK(bench.decided == 6);
  CHECK(bench.groups == 2);
  CHECK(bench.inbox->store_is_writable());
  CHECK(bench.stats.statuses(State::submitted) == 3);
  bench.inbox->post(bench.create("alone"));
  bench.inbox->settle();
  CHECK(bench.told.back() == "alone: internal");
  CHECK(bench.inbox->store_is_writable());
  const task::TaskRef broken{{"ann"}, {"echo"}, {"broken"}};
  CHECK(bench.memory.find(broken).error().code == ErrorCode::task_not_found);
}

TEST_CASE("Inbox: a decision that is made again sees the row without the changes of the failed group") {
  GroupFaults faults;
  faults.applied_max = 2;
  faults.failure = ErrorCode::internal;
  InboxBench bench({}, in_groups({2}, faults));
  const task::TaskKey key = bench.make_tasks(1)[0];
  Gate gate;
  bench.start();
  bench.inbox->post(bench.add_text("0", key));
  bench.inbox->settle();
  bench.hold(gate);
  for (const char* name : {"1", "2", "3", "4"}) bench.inbox->post(bench.add_text(name, key));
  gate.open();
  bench.stop();
  CHECK(bench.told == Texts{"0: done", "1: done", "2: done", "3: internal", "4: done"});
  CHECK(bench.seen[key] == std::vector<std::int64_t>{1, 2, 3, 4, 2, 3, 4});
  CHECK(bench.last_event(key) == 5);
  CHECK_FALSE(bench.live.is_changing(key));
}

TEST_CASE("Inbox: a change that cannot be written does not make a failed store writable again") {
  FaultPlan plan;
  plan.group = [](int group) {
    GroupFaults faults;
    faults.commit_fails = group == 1;
    if (group == 2) faults.applied_max = 0;
    faults.failure = ErrorCode::internal;
    return faults;
  };
  InboxBench bench({}, plan);
  bench.start();
  bench.inbox->post(bench.create("out"));
  bench.inbox->settle();
  bench.inbox->post(bench.create("broken"));
  bench.inbox->settle();
  CHECK(bench.told == Texts{"out: unavailable", "broken: internal"});
  CHECK_FALSE(bench.inbox->store_is_writable());
  bench.inbox->settle();
  CHECK(bench.inbox->store_is_writable());
}

TEST_CASE("Inbox: a refusal by the decision or by the store's rules does not affect other decisions") {
  InboxBench bench;
  const task::TaskKey key = bench.make_tasks(1)[0];
  Gate gate;
  bench.start();
  bench.inbox->post(bench.add_text("0", key));
  bench.inbox->settle();
  bench.hold(gate);
  bench.inbox->post(bench.add_text("1", key));
  Decision refuses = bench.add_text("refused", key);
  bool was_committed = false;
  refuses.decide = [](const auto&) -> base::Result<task::Change> {
    return base::fail(ErrorCode::conflict, "too late");
  };
  refuses.committed = [&](const auto&) { was_committed = true; };
  Decision stale = bench.add_text("stale", key);
  stale.decide = [](const store::TaskRow& now) -> base::Result<task::Change> {
    task::Change change = StoreBench::change(now.head, {delta("r", "x")});
    change.expected = task::Version{99};
    return change;
  };
  stale.committed = refuses.committed;
  bench.inbox->post(std::move(refuses));
  bench.inbox->post(std::move(stale));
  bench.inbox->post(bench.add_text("2", key));
  gate.open();
  bench.stop();
  CHECK(bench.told == Texts{"0: done", "1: done", "refused: conflict", "stale: conflict", "2: done"});
  CHECK_FALSE(was_committed);
  CHECK(bench.last_event(key) == 4);
  CHECK_FALSE(bench.live.is_changing(key));
}

TEST_CASE("Inbox: statuses and deliveries are counted once they are durable, and results are recorded") {
  GroupFaults refused;
  refused.applied_max = 0;
  InboxBench bench({}, in_groups({2}, refused));
  bench.start();
  Decision create = bench.create("new");
  create.decide = [](const auto&) -> base::Result<task::Change> {
    task::Change change = StoreBench::creation("new", {status(State::submitted), status(State::working)});
    task::PushConfig config;
    config.id = {"hook"};
    config.url = "http://127.0.0.1/";
    change.push = config;
    change.push_configs_max = 1;
    return change;
  };
  bench.inbox->post(std::move(create));
  bench.inbox->settle();
  CHECK(bench.stats.statuses(State::submitted) == 1);
  CHECK(bench.stats.statuses(State::working) == 1);
  CHECK(bench.stats.statuses(State::completed) == 0);
  CHECK(bench.deliveries_written == 1);
  const auto due = bench.memory.due_deliveries(bench.clock.now(), 10);
  REQUIRE(due.has_value());
  REQUIRE(due->size() == 1);
  std::vector<std::string> outcomes;
  const auto record = [&] {
    bench.inbox->record({due->front().key, store::DeliveryResult::Kind::delivered, {}, {}},
                        [&](const base::Result<void>& result) {
                          outcomes.push_back(result                                          ? "recorded"
                                             : result.error().code == ErrorCode::unavailable ? "unavailable"
                                             : result.error().code == ErrorCode::not_found   ? "not_found"
                                                                                           : "another error");
                        });
    bench.inbox->settle();
  };
  record();  // recorded in the group that fails
  record();
  record();
  CHECK(outcomes == Texts{"unavailable", "recorded", "not_found"});
  CHECK(bench.flushes == 2);  // a group of refusals only is not flushed
}

TEST_CASE("Inbox: a failed flush ends the program before any `done` is called") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    InboxOptions options;
    options.on_flush_failed = [&](const base::Error&) { (void)!write(ends[1], "failed", 6); };
    FaultPlan plan;
    plan.flush = [](int) { return store::FlushFaults{true, true, {}}; };
    InboxBench bench(options, plan);
    bench.start();
    Decision decision = bench.create("new");
    decision.done = [&](const auto&) { (void)!write(ends[1], "told", 4); };
    bench.inbox->post(std::move(decision));
    bench.stop();
    _exit(0);
  }
  close(ends[1]);
  std::string heard;
  char letter = 0;
  while (read(ends[0], &letter, 1) == 1) heard.push_back(letter);
  close(ends[0]);
  int result = 0;
  REQUIRE(waitpid(child, &result, 0) == child);
  CHECK(WIFEXITED(result));
  CHECK(WEXITSTATUS(result) == EXIT_FAILURE);
  CHECK(heard == "failed");
}

TEST_CASE("Inbox: with random faults, acknowledged changes are stored and failed ones are not") {
  store::FaultRates rates;
  rates.apply = 150;
  rates.apply_internal = 150;
  rates.commit = 150;
  rates.late_flush = 500;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    InboxOptions options;
    options.rows_max = 6;
    options.group_max = 5;
    options.hold = std::chrono::microseconds(0);
    InboxBench bench(options, store::faults_by_chance(seed, rates, [] { give_way(); }));
    const Keys keys = bench.make_tasks(10);
    bench.start();
    std::map<task::TaskKey, int> stored;  // on the flushing thread only
    const auto post_some = [&](int from) {
      for (int i = 0; i < 100; ++i) {
        const task::TaskKey key = keys[static_cast<std::size_t>(from + i) % keys.size()];
        Decision decision = bench.add_text("x", key);
        decision.is_awaited = i % 3 > 0;
        decision.done = [&stored, key](const base::Result<Written>& written) {
          if (!written) return;
          ++stored[key];
          CHECK(written->head.last_event.value == stored[key] + 1);
        };
        bench.inbox->post(std::move(decision));
      }
    };
    {
      std::jthread other([&] { post_some(5); });
      post_some(0);
    }
    bench.stop();
    int total = 0;
    for (const task::TaskKey key : keys) {
      CHECK(bench.last_event(key) == 1 + stored[key]);
      CHECK_FALSE(bench.live.is_changing(key));
      total += stored[key];
    }
    CHECK(total > 0);
    CHECK(total < 200);
  }
}

}  // namespace inbox_faults_test
