#include "unit/engine/inbox_bench.h"

#include <thread>

namespace inbox_test {

using namespace baton;
using namespace baton::test;
using engine::Decision;
using engine::Inbox;
using engine::InboxOptions;
using engine::Written;
using store::FaultPlan;
using store::GroupFaults;

namespace {

FaultPlan in_first_flush(std::function<void()> before) {
  FaultPlan plan;
  plan.flush = [before = std::move(before)](int flush) {
    return store::FlushFaults{false, false, flush == 1 ? before : std::function<void()>()};
  };
  return plan;
}

}  // namespace

TEST_CASE("Inbox: when full, decisions are refused with overloaded, in queue order") {
  InboxOptions options;
  options.waiting_max = 3;
  InboxBench bench(options);
  const task::TaskKey key = bench.make_tasks(1)[0];
  Gate gate;
  bench.start();
  bench.hold(gate);
  for (int i = 1; i <= 5; ++i) bench.inbox->post(bench.create("t-" + std::to_string(i)));
  gate.open();
  bench.inbox->settle();
  CHECK(bench.told == Texts{"t-1: done", "t-2: done", "t-3: done", "t-4: overloaded", "t-5: overloaded"});
  // Decisions that were taken from the queue no longer count.
  for (int i = 0; i < 5; ++i) {
    bench.inbox->post(bench.add_text("later", key));
    bench.inbox->settle();
  }
  CHECK(bench.told.back() == "later: done");
}

TEST_CASE("Inbox: bytes are bounded too, but a single decision of any size is accepted") {
  InboxOptions options;
  options.waiting_bytes_max = 10'000;
  InboxBench bench(options);
  bench.start();
  const auto post = [&](const std::string& name, std::size_t bytes) {
    Decision decision = bench.create(name);
    decision.bytes = bytes;
    bench.inbox->post(std::move(decision));
  };
  Gate first, second;
  bench.hold(first);
  post("large", 100'000);
  post("small", 1);
  first.open();
  bench.inbox->settle();
  bench.hold(second);
  post("one", 1);
  post("two", 1);
  post("much", 9'999);
  second.open();
  bench.stop();
  CHECK(bench.told ==
        Texts{"large: done", "small: overloaded", "one: done", "two: done", "much: overloaded"});
}

TEST_CASE("Inbox: a group is bounded in number and bytes") {
  for (const bool by_bytes : {false, true}) {
    InboxOptions options;
    if (by_bytes) {
      options.group_bytes_max = 25'000;
    } else {
      options.group_max = 2;
    }
    InboxBench bench(options);
    Gate gate;
    bench.start();
    bench.hold(gate);  // the first decision of its group
    for (int i = 0; i < 5; ++i) {
      Decision decision = bench.create("t-" + std::to_string(i));
      decision.bytes = 10'000;
      bench.inbox->post(std::move(decision));
    }
    gate.open();
    bench.stop();
    CHECK(bench.told.size() == 5);
    CHECK(bench.groups == 3);
  }
}

TEST_CASE("Inbox: if the disk fails the group is unavailable, no row is stale, and a probe recovers") {
  GroupFaults at_apply, at_commit;
  at_apply.applied_max = 1;
  at_commit.commit_fails = true;
  for (const GroupFaults& faults : {at_apply, at_commit}) {
    // The disk fails for the group and for the first probe.
    FaultPlan plan;
    plan.group = [&](int group) {
      GroupFaults probe;
      probe.commit_fails = true;
      return group == 2 ? faults : group == 3 ? probe : GroupFaults();
    };
    InboxBench bench({}, plan);
    const Keys keys = bench.make_tasks(2);
    Gate gate;
    bench.start();
    bench.inbox->post(bench.add_text("before", keys[0]));
    bench.inbox->settle();
    CHECK(bench.inbox->store_is_writable());
    bench.hold(gate);
    bench.inbox->post(bench.add_text("a", keys[0]));
    bench.inbox->post(bench.create("new"));
    bench.inbox->post(bench.add_text("b", keys[0]));
    gate.open();
    bench.inbox->settle();
    CHECK(bench.told == Texts{"before: done", "a: unavailable", "new: unavailable", "b: unavailable"});
    CHECK(bench.last_event(keys[0]) == 2);
    CHECK_FALSE(bench.live.is_changing(keys[0]));

    CHECK_FALSE(bench.inbox->store_is_writable());
    bench.inbox->settle();
    CHECK_FALSE(bench.inbox->store_is_writable());
    bench.inbox->settle();
    CHECK(bench.inbox->store_is_writable());

    bench.seen.clear();
    bench.inbox->post(bench.add_text("after", keys[0]));
    bench.inbox->post(bench.create("new"));
    bench.stop();
    CHECK(bench.seen[keys[0]] == std::vector<std::int64_t>{2});
    CHECK(bench.last_event(keys[0]) == 3);
    CHECK(std::ranges::count(bench.told, "new: done") == 1);
  }
}

TEST_CASE("Inbox: decisions on a task run in order, each on the row left by the one before") {
  for (const std::size_t rows_max : {4u, 4'000u}) {
    InboxOptions options;
    options.rows_max = rows_max;
    options.group_max = 3;
    InboxBench bench(options);
    const Keys keys = bench.make_tasks(20);  // their rows have to be read
    Gate gate;
    bench.start();
    bench.hold(gate);
    for (int round = 0; round < 5; ++round) {
      for (const task::TaskKey key : keys) {
        // Two in a row, mostly in one group.
        const std::string name = std::to_string(key.value) + "." + std::to_string(round);
        bench.inbox->post(bench.add_text(name + "a", key));
        bench.inbox->post(bench.add_text(name + "b", key));
      }
    }
    gate.open();
    bench.stop();
    for (const task::TaskKey key : keys) {
      CHECK(bench.seen[key] == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
      CHECK(bench.last_event(key) == 11);
      Texts told;
      for (const std::string& one : bench.told) {
        if (one.starts_with(std::to_string(key.value) + ".")) told.push_back(one);
      }
      CHECK(told.size() == 10);
      CHECK(std::ranges::is_sorted(told));
    }
  }
}

TEST_CASE("Inbox: a change counts as pending from when it is posted until it is durable or refused") {
  InboxBench bench;
  const auto keys = bench.make_tasks(2);
  Gate gate;
  bench.start();
  bench.hold(gate);
  bench.inbox->post(bench.add_text("stored", keys[0]));
  Decision refused = bench.add_text("refused", keys[1]);
  refused.decide = [](const store::TaskRow&) -> base::Result<task::Change> {
    return base::fail(base::ErrorCode::conflict, "no");
  };
  bench.inbox->post(std::move(refused));
  std::atomic<int> over = 0;
  for (const task::TaskKey key : keys) REQUIRE(bench.live.after_change(key, [&] { ++over; }));
  CHECK(over == 0);
  gate.open();
  bench.inbox->settle();
  CHECK(over == 2);
  for (const task::TaskKey key : keys) CHECK_FALSE(bench.live.is_changing(key));
  CHECK(bench.live.counts().tasks == 0);
}

TEST_CASE("Inbox: a decision on a missing task gets task_not_found") {
  InboxBench bench;
  bench.start();
  bench.inbox->post(bench.add_text("lost", {99}));
  bench.inbox->post(bench.create("new"));
  bench.stop();
  CHECK(std::ranges::count(bench.told, "lost: task_not_found") == 1);
  CHECK(std::ranges::count(bench.told, "new: done") == 1);
  CHECK(bench.decided == 1);
}

TEST_CASE("Inbox: `done` gets what was written") {
  InboxBench bench;
  const task::TaskKey key = bench.make_tasks(1)[0];
  bench.start();
  Decision decision = bench.add_text("x", key);
  std::optional<Written> written;
  decision.done = [&](base::Result<Written> result) { written = *result; };
  bench.inbox->post(std::move(decision));
  bench.stop();
  REQUIRE(written);
  CHECK(written->head.key == key);
  CHECK(written->head.last_event.value == 2);
  CHECK(written->before.value == 1);
}

TEST_CASE("Inbox: `committed` is called while the group is flushed, and `done` after the flush") {
  std::promise<void> committed;
  std::atomic<bool> was_committed = false, flushed = false;
  // Fails by timeout if `committed` is called only after the flush.
  const auto flush = [&] {
    was_committed = committed.get_future().wait_for(patience()) == std::future_status::ready;
    flushed = true;
  };
  InboxBench bench({}, in_first_flush(flush));
  bench.start();
  Decision decision = bench.create("new");
  bool done_after_flush = false;
  decision.committed = [&](const store::Committed& change) {
    CHECK(change.events.size() == 1);
    CHECK(bench.memory.row(change.head.key).has_value());
    committed.set_value();
  };
  decision.done = [&](const auto&) { done_after_flush = flushed; };
  bench.inbox->post(std::move(decision));
  bench.stop();
  CHECK(was_committed);
  CHECK(done_after_flush);
}

TEST_CASE("Inbox: decisions posted during a flush become one group") {
  Gate disk;
  InboxBench bench({}, in_first_flush([&] { disk.enter(); }));
  bench.start();
  bench.inbox->post(bench.create("first"));
  REQUIRE(disk.wait_until_entered());
  CHECK(bench.told.empty());
  for (int i = 0; i < 9; ++i) {
    Decision decision = bench.create("t-" + std::to_string(i));
    std::promise<void> decided;
    decision.decide = [&decided, decide = std::move(decision.decide)](const store::TaskRow& now) {
      decided.set_value();
      return decide(now);
    };
    bench.inbox->post(std::move(decision));
    decided.get_future().wait();
    give_way();  // long enough to commit a group that does not wait for the disk
  }
  disk.open();
  bench.stop();
  CHECK(bench.told.size() == 10);
  CHECK(bench.groups == 2);
  CHECK(bench.flushes == 2);
}

TEST_CASE("Inbox: decisions without answers are committed during a flush, and one flush covers them all") {
  Gate disk;
  InboxOptions options;
  options.hold = std::chrono::hours(1);
  InboxBench bench(options, in_first_flush([&] { disk.enter(); }));
  bench.start();
  bench.inbox->post(bench.create("first"));
  REQUIRE(disk.wait_until_entered());
  for (int i = 0; i < 3; ++i) {
    std::promise<void> committed;
    Decision quiet = bench.create("quiet-" + std::to_string(i));
    quiet.is_awaited = false;
    quiet.committed = [&](const auto&) { committed.set_value(); };
    bench.inbox->post(std::move(quiet));
    REQUIRE(committed.get_future().wait_for(patience()) == std::future_status::ready);
  }
  CHECK(bench.told.empty());
  bench.inbox->post(bench.create("answer"));
  disk.open();
  bench.stop();
  CHECK(bench.told ==
        Texts{"first: done", "quiet-0: done", "quiet-1: done", "quiet-2: done", "answer: done"});
  CHECK(bench.groups > 3);
  CHECK(bench.flushes == 2);
}

TEST_CASE("Inbox: a group without answers waits for one with an answer, and one flush covers both") {
  InboxOptions options;
  options.hold = std::chrono::hours(1);
  InboxBench bench(options);
  bench.start();
  std::promise<void> committed;
  Decision quiet = bench.create("quiet");
  quiet.is_awaited = false;
  quiet.committed = [&](const auto&) { committed.set_value(); };
  bench.inbox->post(std::move(quiet));
  committed.get_future().wait();
  CHECK(bench.flushes == 0);
  bench.inbox->post(bench.create("answer"));
  bench.inbox->settle();
  CHECK(bench.groups == 2);
  CHECK(bench.flushes == 1);
  CHECK(bench.told == Texts{"quiet: done", "answer: done"});
}

TEST_CASE("Inbox: a refusal is reported without waiting for `hold`") {
  InboxOptions options;
  options.hold = std::chrono::hours(1);
  InboxBench bench(options);
  bench.start();
  Decision quiet = bench.add_text("lost", {99});
  quiet.is_awaited = false;
  bench.inbox->post(std::move(quiet));
  bench.inbox->settle();
  CHECK(bench.told == Texts{"lost: task_not_found"});
}

TEST_CASE("Inbox: a group whose changes are all refused is not flushed") {
  InboxBench bench;
  bench.start();
  bench.inbox->post(bench.create("one"));
  bench.inbox->settle();
  bench.inbox->post(bench.create("one"));
  bench.inbox->settle();
  CHECK(bench.told == Texts{"one: done", "one: another error"});
  CHECK(bench.flushes == 1);
}

TEST_CASE("Inbox: a group without answers is flushed after `hold` at the latest") {
  InboxOptions options;
  options.hold = std::chrono::microseconds(1);
  InboxBench bench(options);
  std::promise<void> done;
  bench.start();
  Decision quiet = bench.create("quiet");
  quiet.is_awaited = false;
  quiet.done = [&](const auto&) { done.set_value(); };
  bench.inbox->post(std::move(quiet));
  CHECK(done.get_future().wait_for(patience()) == std::future_status::ready);
  CHECK(bench.flushes == 1);
}

TEST_CASE("Inbox: all changes of a flush are published before the first `done`") {
  InboxOptions options;
  options.hold = std::chrono::hours(1);
  InboxBench bench(options);
  bench.start();
  std::promise<task::TaskKey> made;
  Decision quiet = bench.create("quiet");
  quiet.is_awaited = false;
  quiet.committed = [&](const store::Committed& change) { made.set_value(change.head.key); };
  std::vector<std::int64_t> found;
  std::atomic<std::int64_t> quiet_key = 0;
  quiet.done = [&](const base::Result<Written>& written) {
    const auto log = bench.live.log(written->head.key);
    found.push_back(log ? log->head.last_event.value : 0);
  };
  bench.inbox->post(std::move(quiet));
  const task::TaskKey key = made.get_future().get();
  CHECK_FALSE(bench.live.log(key));
  bench.inbox->post(bench.add_text("next", key));
  bench.stop();
  CHECK(found == std::vector<std::int64_t>{2});
}

}  // namespace inbox_test
