// The contract of every TaskStore about repeated sends, and about the stop of a task after a send.
#include "contract/store_bench.h"

namespace repeated_send_test {

using namespace baton;
using namespace baton::test;
using base::Duration;
using base::ErrorCode;
using task::SendDigest;
using task::State;

namespace {

// The halves have their highest bits set, so that they do not fit a signed column unchanged.
constexpr SendDigest kSend{0xfedcba9876543210, 0x8000000000000001};

task::Change sent(const std::string& id, const SendDigest& digest = kSend) {
  task::Change change = StoreBench::creation(id, {status(State::submitted), user("m")});
  change.send = digest;
  return change;
}

}  // namespace

STORE_TEST_CASE("TaskStore: an earlier send is found with its task and its position, also after a restart") {
  CHECK(bench.tasks->earlier_send(kSend).error().code == ErrorCode::not_found);
  const task::TaskHead head = bench.must(sent("t1")).head;
  task::Change more = StoreBench::change(head, {user("m2")});
  more.send = SendDigest{kSend.high, 7};
  bench.must(std::move(more));
  for (int pass = 0; pass < 2; ++pass) {
    const auto first = bench.tasks->earlier_send(kSend);
    REQUIRE(first.has_value());
    CHECK(first->task == head.key);
    CHECK(first->before.value == 0);
    const auto second = bench.tasks->earlier_send({kSend.high, 7});
    REQUIRE(second.has_value());
    CHECK(second->task == head.key);
    CHECK(second->before.value == 2);
    CHECK(bench.tasks->earlier_send({kSend.low, kSend.high}).error().code == ErrorCode::not_found);
    bench.reopen();
  }
  CHECK(bench.commit(sent("t2")).error().code == ErrorCode::already_exists);
}

STORE_TEST_CASE("TaskStore: a repeated send changes nothing, even after the task has ended") {
  const task::TaskHead head = bench.must(sent("t1")).head;
  bench.must(head, {status(State::working), status(State::completed)});
  CHECK(bench.commit(sent("t2")).error().code == ErrorCode::already_exists);
  CHECK(bench.tasks->find({{"ann"}, {"echo"}, {"t2"}}).error().code == ErrorCode::task_not_found);
  task::Change again = StoreBench::change(head, {user("m2")});
  again.send = kSend;
  again.expected = head.version;
  CHECK(bench.commit(std::move(again)).error().code == ErrorCode::already_exists);
  CHECK(bench.log(head).size() == 4);
}

STORE_TEST_CASE("TaskStore: a send that was refused is not remembered") {
  const task::TaskHead head = bench.create("t1");
  CHECK(bench.commit(sent("t1")).error().code == ErrorCode::already_exists);
  task::Change stale = StoreBench::change(head, {user("m2")});
  stale.expected = task::Version{99};
  stale.send = kSend;
  CHECK(bench.commit(std::move(stale)).error().code == ErrorCode::conflict);
  CHECK(bench.tasks->earlier_send(kSend).error().code == ErrorCode::not_found);
  CHECK(bench.commit(sent("t2")).has_value());
}

NEW_STORE_TEST_CASE("TaskStore: a send is remembered for the retention and no longer") {
  const auto made = new_bench(Duration(1000));
  StoreBench& bench = *made;
  const task::TaskHead first = bench.must(sent("t1")).head;
  bench.clock.advance(Duration(999));
  CHECK(bench.tasks->earlier_send(kSend)->task == first.key);
  CHECK(bench.commit(sent("t2")).error().code == ErrorCode::already_exists);
  bench.clock.advance(Duration(1));
  CHECK(bench.tasks->earlier_send(kSend).error().code == ErrorCode::not_found);
  const task::TaskHead second = bench.must(sent("t2")).head;
  CHECK(bench.tasks->earlier_send(kSend)->task == second.key);
  CHECK(bench.commit(sent("t3")).error().code == ErrorCode::already_exists);
}

NEW_STORE_TEST_CASE("TaskStore: many sends after an old backlog are all remembered") {
  const auto made = new_bench(Duration(1000));
  StoreBench& bench = *made;
  constexpr std::uint64_t kOld = 300, kNew = 150;
  for (std::uint64_t i = 0; i < kOld; ++i) bench.must(sent("old" + std::to_string(i), {i, i}));
  bench.clock.advance(Duration(1000));
  for (std::uint64_t i = 0; i < kNew; ++i) bench.must(sent("new" + std::to_string(i), {i, i}));
  for (std::uint64_t i = 0; i < kNew; ++i) CHECK(bench.tasks->earlier_send({i, i}).has_value());
  for (std::uint64_t i = kNew; i < kOld; ++i) CHECK_FALSE(bench.tasks->earlier_send({i, i}).has_value());
}

STORE_TEST_CASE("TaskStore: the first stop after an event is the next status that waits or ends") {
  const task::TaskHead head = bench.create("t1");
  const auto stop = [&](std::int64_t after) { return bench.tasks->stop_after(head.key, {after}).value(); };
  CHECK_FALSE(stop(0));
  bench.must(head, {status(State::working), delta("r", "x")});
  CHECK_FALSE(stop(0));
  bench.must(head, {status(State::input_required, message(task::Role::agent, "q", "which?"))});
  bench.must(head, {user("m2"), status(State::working), status(State::completed)});

  REQUIRE(stop(0));
  CHECK(stop(0)->number.value == 5);
  CHECK(stop(0)->state == State::input_required);
  CHECK(stop(4)->number.value == 5);
  REQUIRE(stop(5));
  CHECK(stop(5)->number.value == 8);
  CHECK(stop(5)->state == State::completed);
  CHECK_FALSE(stop(8));
  CHECK_FALSE(bench.tasks->stop_after({99}, {}).value());
}

}  // namespace repeated_send_test
