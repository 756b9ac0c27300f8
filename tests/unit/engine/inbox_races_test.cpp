// The inbox on a store that other nodes share.
#include "support/fake_peers.h"
#include "unit/engine/inbox_bench.h"

namespace inbox_races_test {

using namespace baton;
using namespace baton::test;
using base::ErrorCode;
using store::FaultPlan;
using store::GroupFaults;

namespace {

// Loses the race in the groups for which `loses` says so, after what `meanwhile` does.
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

// As another node changes the task.
void change_behind(InboxBench& bench, task::TaskKey key) {
  auto row = bench.memory.row(key);
  succeed(row);
  auto change = StoreBench::change(row->head, {delta("other", "y")});
  succeed(bench.memory.apply(change, *row));
  succeed(bench.memory.commit());
}

// Takes the task only once it has had event `last`.
engine::Decision wants(InboxBench& bench, const std::string& name, task::TaskKey key, std::int64_t last) {
  engine::Decision decision;
  decision.task = key;
  decision.decide = [&bench, key, last](const store::TaskRow& now) -> base::Result<task::Change> {
    ++bench.decided;
    bench.seen[key].push_back(now.head.last_event.value);
    if (now.head.last_event.value < last) return base::fail(ErrorCode::conflict, "not yet");
    return StoreBench::change(now.head, {delta("r", "x")});
  };
  decision.done = bench.tell(name);
  return decision;
}

}  // namespace

TEST_CASE("Inbox: a group that loses a race is decided again on rows that are read anew") {
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

TEST_CASE("Inbox: a shared store that does not answer is not writable until it does") {
  InboxBench bench;
  FakePeers peers;
  bench.options.peers = &peers;
  bench.start();
  peers.in_touch = false;
  CHECK_FALSE(bench.inbox->store_is_writable());
  peers.in_touch = true;
  CHECK(bench.inbox->store_is_writable());
}

TEST_CASE("Inbox: a group that loses every race is overloaded in the end") {
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
  SUBCASE("with others it is read anew, and those after it keep their order") {
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
  SUBCASE("it is final once the row was read anew") {
    bench.inbox->post(wants(bench, "second", key, 9));
    bench.inbox->settle();
    CHECK(bench.told.back() == "second: conflict");
    CHECK(bench.seen[key] == std::vector<std::int64_t>{1, 2, 2});
  }
  SUBCASE("alone it is final at once") {
    peers.alone = true;
    bench.inbox->post(wants(bench, "second", key, 9));
    bench.inbox->settle();
    CHECK(bench.told.back() == "second: conflict");
    CHECK(bench.seen[key] == std::vector<std::int64_t>{1, 2});
  }
  SUBCASE("what the same group has written is not read from the store") {
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

TEST_CASE("Inbox: other nodes hear of every task that has changed, unless there are none") {
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

TEST_CASE("Inbox: rows that are forgotten are read anew, also alone") {
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
