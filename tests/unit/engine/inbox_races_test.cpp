// The inbox on a store shared with other nodes.
#include "support/fake_peers.h"
#include "unit/engine/inbox_bench.h"

namespace inbox_races_test {

using namespace baton;
using namespace baton::test;
using base::ErrorCode;
using store::FaultPlan;
using store::GroupFaults;

namespace {

// A plan in which each group that `loses` selects calls `meanwhile` at its commit and then fails with
// `raced`.
FaultPlan racing(std::function<bool(int group)> loses, std::function<void()> meanwhile) {
  FaultPlan plan;
  plan.group = [=](int group) {
    GroupFaults faults;
    if (!loses(group)) return faults;
    faults.commit_fails = true;
    faults.commit_failure = ErrorCode::raced;
    faults.before_commit = meanwhile;
    return faults;
  };
  return plan;
}

// Changes the task in the store, as another node would.
void change_behind(InboxBench& bench, task::TaskKey key) {
  auto row = bench.memory.row(key);
  succeed(row);
  auto change = StoreBench::change(row->head, {delta("other", "y")});
  succeed(bench.memory.apply(change, *row));
  succeed(bench.memory.commit());
}

// A decision that refuses with `conflict` until the task has event `last`.
engine::Decision wants(InboxBench& bench, const std::string& name, task::TaskKey key, std::int64_t last) {
  engine::Decision decision;
  decision.task = key;
  decision.decide = [&bench, key, last](const store::TaskRow& now) -> base::Result<task::Change> {
    ++bench.decided;
    bench.seen[key].push_back(now.head.last_event.value);
    if (now.head.last_event.value < last) return base::fail(ErrorCode::conflict, "not yet");
    return StoreBench::change(now.head, {delta("r", "x")});
  };
  decision.done = bench.recorder(name);
  return decision;
}

}  // namespace

TEST_CASE("Inbox: a group that loses a race is decided again on freshly read rows") {
  InboxBench* at = nullptr;
  task::TaskKey key;
  InboxBench bench({}, racing([](int group) { return group == 2; }, [&] { change_behind(*at, key); }));
  at = &bench;
  key = bench.make_tasks(1)[0];
  FakePeers peers;
  bench.options.peers = &peers;
  bench.start();
  bench.inbox->post(bench.add_text("first", key));
  bench.inbox->settle();
  bench.inbox->post(bench.add_text("second", key));
  bench.inbox->settle();
  CHECK(bench.told == Texts{"first: done", "second: done"});
  CHECK(bench.seen[key] == std::vector<std::int64_t>{1, 2, 3});
  CHECK(bench.last_event(key) == 4);
  CHECK(bench.inbox->store_is_writable());
}

TEST_CASE("Inbox: a shared store that does not answer counts as not writable until it does") {
  InboxBench bench;
  FakePeers peers;
  bench.options.peers = &peers;
  bench.start();
  peers.in_touch = false;
  CHECK_FALSE(bench.inbox->store_is_writable());
  peers.in_touch = true;
  CHECK(bench.inbox->store_is_writable());
}

TEST_CASE("Inbox: a group that loses every race fails with overloaded in the end") {
  InboxBench bench({}, racing([](int) { return true; }, nullptr));
  const task::TaskKey key = bench.make_tasks(1)[0];
  FakePeers peers;
  bench.options.peers = &peers;
  bench.options.races_max = 3;
  bench.start();
  bench.inbox->post(bench.add_text("it", key));
  bench.inbox->settle();
  CHECK(bench.told == Texts{"it: overloaded"});
  CHECK(bench.decided == 4);
  CHECK(bench.last_event(key) == 1);
}

TEST_CASE("Inbox: a refusal on a row that another node may have changed is decided again") {
  InboxBench bench;
  const task::TaskKey key = bench.make_tasks(1)[0];
  FakePeers peers;
  bench.options.peers = &peers;
  bench.start();
  bench.inbox->post(bench.add_text("first", key));
  bench.inbox->settle();
  SUBCASE("with other nodes the row is read again, and later decisions keep their order") {
    change_behind(bench, key);
    Gate gate;
    bench.hold(gate);
    bench.inbox->post(wants(bench, "second", key, 3));
    bench.inbox->post(wants(bench, "third", key, 4));
    gate.open();
    bench.inbox->settle();
    CHECK(bench.told == Texts{"first: done", "second: done", "third: done"});
    CHECK(bench.seen[key] == std::vector<std::int64_t>{1, 2, 3, 4});
  }
  SUBCASE("the refusal is final once the row was read again") {
    bench.inbox->post(wants(bench, "second", key, 9));
    bench.inbox->settle();
    CHECK(bench.told.back() == "second: conflict");
    CHECK(bench.seen[key] == std::vector<std::int64_t>{1, 2, 2});
  }
  SUBCASE("without other nodes the refusal is final at once") {
    peers.alone = true;
    bench.inbox->post(wants(bench, "second", key, 9));
    bench.inbox->settle();
    CHECK(bench.told.back() == "second: conflict");
    CHECK(bench.seen[key] == std::vector<std::int64_t>{1, 2});
  }
  SUBCASE("a row that the same group has written is not read from the store") {
    Gate gate;
    bench.hold(gate);
    bench.inbox->post(bench.add_text("second", key));
    bench.inbox->post(wants(bench, "third", key, 9));
    gate.open();
    bench.inbox->settle();
    CHECK(bench.told == Texts{"first: done", "second: done", "third: conflict"});
    CHECK(bench.seen[key] == std::vector<std::int64_t>{1, 2, 3});
  }
}

TEST_CASE("Inbox: other nodes are notified of every changed task, unless there are none") {
  InboxBench bench;
  const Keys keys = bench.make_tasks(2);
  FakePeers peers;
  bench.options.peers = &peers;
  bench.start();
  for (const task::TaskKey key : keys) {
    bench.inbox->post(bench.add_text("it", key));
    bench.inbox->settle();
  }
  REQUIRE(peers.told().size() == 2);
  CHECK(peers.told()[0].task == keys[0]);
  CHECK(peers.told()[0].last.value == 2);
  CHECK(peers.told_followers().empty());
  peers.alone = true;
  bench.inbox->post(bench.add_text("it", keys[0]));
  bench.inbox->settle();
  CHECK(peers.told().size() == 2);
}

TEST_CASE("Inbox: after forget_rows rows are read again, even without other nodes") {
  InboxBench bench;
  const task::TaskKey key = bench.make_tasks(1)[0];
  FakePeers peers;
  peers.alone = true;
  bench.options.peers = &peers;
  bench.start();
  bench.inbox->post(bench.add_text("first", key));
  bench.inbox->settle();
  change_behind(bench, key);
  bench.inbox->forget_rows();
  bench.inbox->post(wants(bench, "second", key, 3));
  bench.inbox->settle();
  CHECK(bench.told == Texts{"first: done", "second: done"});
}

}  // namespace inbox_races_test
