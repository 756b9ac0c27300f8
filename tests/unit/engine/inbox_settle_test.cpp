#include <thread>

#include "unit/engine/inbox_bench.h"

namespace inbox_settle_test {

using namespace baton;
using namespace baton::test;
using engine::Decision;
using engine::Inbox;
using engine::Written;

namespace {

store::FaultPlan in_first_flush(std::function<void()> before) {
  store::FaultPlan plan;
  plan.flush = [before = std::move(before)](int flush) {
    return store::FlushFaults{false, false, flush == 1 ? before : std::function<void()>()};
  };
  return plan;
}

}  // namespace

TEST_CASE("Inbox: settle_reads waits only for the flush of changes that reads can see") {
  Gate disk;
  InboxBench bench({}, in_first_flush([&] { disk.enter(); }));
  Inbox& inbox = bench.start();
  inbox.settle_reads();
  inbox.post(bench.create("new"));
  REQUIRE(disk.wait_until_entered());
  CHECK(bench.memory.row({1}).has_value());
  std::atomic<bool> flushed = false, settled_early = false;
  std::promise<void> begins;
  std::jthread reader([&] {
    begins.set_value();
    inbox.settle_reads();
    settled_early = !flushed;
  });
  begins.get_future().wait();
  give_way();  // long enough for a call that does not wait
  flushed = true;
  disk.open();
  reader.join();
  CHECK_FALSE(settled_early);
  inbox.settle_reads();
}

TEST_CASE("Inbox: settle_reads waits until the changes are published, not only flushed") {
  InboxBench bench;
  Inbox& inbox = bench.start();
  std::promise<task::TaskKey> made;
  Gate told;
  Decision decision = bench.create("new");
  decision.committed = [&](const store::Committed& change) {
    made.set_value(change.head.key);
    told.enter();  // meanwhile the group is flushed
  };
  inbox.post(std::move(decision));
  const task::TaskKey key = made.get_future().get();
  bool found = false;
  std::promise<void> begins;
  std::jthread reader([&] {
    begins.set_value();
    inbox.settle_reads();
    found = bench.live.log(key) != nullptr;
  });
  begins.get_future().wait();
  give_way();  // long enough for a call that does not wait
  told.open();
  reader.join();
  CHECK(found);
}

TEST_CASE("Inbox: settle waits for all callbacks, including those of decisions they post") {
  InboxBench bench;
  Inbox& inbox = bench.start();
  int left = 5;
  std::function<void()> next = [&] {
    Decision decision = bench.create("t-" + std::to_string(left));
    decision.done = [&](const auto&) {
      if (--left > 0) next();
    };
    inbox.post(std::move(decision));
  };
  next();
  inbox.settle();
  CHECK(left == 0);
}

TEST_CASE("Inbox: the destructor writes and reports all decisions, including those that callbacks post") {
  InboxBench bench;
  const Keys keys = bench.make_tasks(3);
  Gate gate;
  Inbox& inbox = bench.start();
  bench.hold(gate);
  Decision chain = bench.create("first");
  chain.committed = [&](const auto&) { inbox.post(bench.add_text("by committed", keys[1])); };
  chain.done = [&](const auto&) {
    Decision last = bench.add_text("by done", keys[2]);
    last.done = [&](const auto&) { inbox.post(bench.create("last")); };
    inbox.post(std::move(last));
  };
  inbox.post(bench.add_text("loaded", keys[0]));
  inbox.post(std::move(chain));
  std::jthread opens([&] { gate.open(); });
  bench.stop();
  CHECK(bench.told.size() == 3);
  CHECK(std::ranges::count(bench.told, "last: done") == 1);
  for (const task::TaskKey key : keys) CHECK(bench.last_event(key) == 2);
  CHECK(bench.flushes > 0);
}

}  // namespace inbox_settle_test
