// What every TaskStore promises of sends that are repeated, and of where a task stopped after one.
#include <atomic>
#include <latch>
#include <thread>

#include "contract/store_bench.h"

namespace repeated_send_test {

using namespace baton;
using namespace baton::test;
using base::Duration;
using base::ErrorCode;
using task::SendDigest;
using task::State;

namespace {

// The halves with their highest bits set are the ones that do not fit a signed column as they are.
constexpr SendDigest kSend{0xfedcba9876543210, 0x8000000000000001};

task::Change sent(const std::string& id, const SendDigest& digest = kSend) {
  task::Change change = StoreBench::creation(id, {status(State::submitted), user("m")});
  change.send = digest;
  return change;
}

}  // namespace

TEST_CASE("TaskStore: an earlier send is found with its task and its place, also after a restart") {
  StoreBench bench;
  CHECK(bench.store->earlier_send(kSend).error().code == ErrorCode::not_found);
  const task::TaskHead head = bench.must(sent("t1")).head;
  task::Change more = StoreBench::change(head, {user("m2")});
  more.send = SendDigest{kSend.high, 7};
  bench.must(std::move(more));
  for (int pass = 0; pass < 2; ++pass) {
    const auto first = bench.store->earlier_send(kSend);
    REQUIRE(first.has_value());
    CHECK(first->task == head.key);
    CHECK(first->before.value == 0);
    const auto second = bench.store->earlier_send({kSend.high, 7});
    REQUIRE(second.has_value());
    CHECK(second->task == head.key);
    CHECK(second->before.value == 2);
    CHECK(bench.store->earlier_send({kSend.low, kSend.high}).error().code == ErrorCode::not_found);
    bench.reopen();
  }
  CHECK(bench.commit(sent("t2")).error().code == ErrorCode::already_exists);
}

TEST_CASE("TaskStore: a repeated send leaves no trace, whatever has become of the task") {
  StoreBench bench;
  const task::TaskHead head = bench.must(sent("t1")).head;
  bench.must(head, {status(State::working), status(State::completed)});
  CHECK(bench.commit(sent("t2")).error().code == ErrorCode::already_exists);
  CHECK(bench.store->head({{"ann"}, {"echo"}, {"t2"}}).error().code == ErrorCode::task_not_found);
  task::Change again = StoreBench::change(head, {user("m2")});
  again.send = kSend;
  again.expected = head.version;
  CHECK(bench.commit(std::move(again)).error().code == ErrorCode::already_exists);
  CHECK(bench.log(head).size() == 4);
}

TEST_CASE("TaskStore: a send that was refused is not remembered") {
  StoreBench bench;
  const task::TaskHead head = bench.create("t1");
  CHECK(bench.commit(sent("t1")).error().code == ErrorCode::already_exists);
  task::Change stale = StoreBench::change(head, {user("m2")});
  stale.expected = task::Version{99};
  stale.send = kSend;
  CHECK(bench.commit(std::move(stale)).error().code == ErrorCode::conflict);
  CHECK(bench.store->earlier_send(kSend).error().code == ErrorCode::not_found);
  CHECK(bench.commit(sent("t2")).has_value());
}

TEST_CASE("TaskStore: a send is remembered for the retention and no longer") {
  StoreBench bench;
  bench.settings.send_retention = Duration(1000);
  bench.reopen();
  const task::TaskHead first = bench.must(sent("t1")).head;
  bench.clock.advance(Duration(999));
  CHECK(bench.store->earlier_send(kSend)->task == first.key);
  CHECK(bench.commit(sent("t2")).error().code == ErrorCode::already_exists);
  bench.clock.advance(Duration(1));
  CHECK(bench.store->earlier_send(kSend).error().code == ErrorCode::not_found);
  const task::TaskHead second = bench.must(sent("t2")).head;
  CHECK(bench.store->earlier_send(kSend)->task == second.key);
  CHECK(bench.commit(sent("t3")).error().code == ErrorCode::already_exists);
}

TEST_CASE("TaskStore: many sends after an old backlog are all remembered") {
  StoreBench bench;
  bench.settings.send_retention = Duration(1000);
  bench.reopen();
  constexpr std::uint64_t kOld = 300, kNew = 150;
  for (std::uint64_t i = 0; i < kOld; ++i) bench.must(sent("old" + std::to_string(i), {i, i}));
  bench.clock.advance(Duration(1000));
  for (std::uint64_t i = 0; i < kNew; ++i) bench.must(sent("new" + std::to_string(i), {i, i}));
  for (std::uint64_t i = 0; i < kNew; ++i) CHECK(bench.store->earlier_send({i, i}).has_value());
  for (std::uint64_t i = kNew; i < kOld; ++i) CHECK_FALSE(bench.store->earlier_send({i, i}).has_value());
}

TEST_CASE("TaskStore: of equal sends from many threads exactly one makes its task") {
  StoreBench bench;
  constexpr int kThreads = 16, kRounds = 50;
  std::atomic<int> made{0}, repeated{0};
  std::latch done(kThreads * kRounds);
  {
    std::latch ready(kThreads);
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        ready.arrive_and_wait();
        for (std::uint64_t round = 0; round < kRounds; ++round) {
          const std::string id = std::to_string(t) + "-" + std::to_string(round);
          bench.store->commit(sent(id, {round, ~round}), [&](auto result) {
            if (result) ++made;
            if (!result && result.error().code == ErrorCode::already_exists) ++repeated;
            done.count_down();
          });
        }
      });
    }
  }
  done.wait();
  CHECK(made == kRounds);
  CHECK(repeated == kRounds * (kThreads - 1));
  task::ListFilter filter;
  filter.caller = {"ann"};
  filter.agent = {"echo"};
  CHECK(bench.store->list(filter)->total == kRounds);
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    const auto send = bench.store->earlier_send({round, ~round});
    REQUIRE(send.has_value());
    const std::string id = bench.store->head(send->task)->id.value;
    CHECK(id.ends_with("-" + std::to_string(round)));
  }
}

TEST_CASE("TaskStore: the first stop after an event is the status with which the task waited or ended") {
  StoreBench bench;
  const task::TaskHead head = bench.create("t1");
  const auto stop = [&](std::int64_t after) { return bench.store->first_stop(head.key, {after}); };
  CHECK(stop(0).error().code == ErrorCode::not_found);
  bench.must(head, {status(State::working), delta("r", "x")});
  CHECK(stop(0).error().code == ErrorCode::not_found);
  bench.must(head, {status(State::input_required, message(task::Role::agent, "q", "which?"))});
  bench.must(head, {user("m2"), status(State::working), status(State::completed)});

  const auto first = stop(0);
  REQUIRE(first.has_value());
  CHECK(first->number.value == 5);
  const task::StatusChanged* asked = task::status_in(*first);
  REQUIRE(asked != nullptr);
  CHECK(asked->status.state == State::input_required);
  CHECK(task::text_of(*asked->status.message) == "which?");
  CHECK(stop(4)->number.value == 5);
  CHECK(stop(5)->number.value == 8);
  CHECK(stop(8).error().code == ErrorCode::not_found);
  CHECK(bench.store->first_stop({99}, {}).error().code == ErrorCode::not_found);
}

TEST_CASE("TaskStore: a clock that was a year ahead in an earlier run makes no send remembered for longer") {
  StoreBench bench;
  bench.settings.send_retention = std::chrono::hours(24);
  const Duration year = std::chrono::hours(24 * 365);
  bench.close();
  bench.clock.advance(year);
  bench.open();
  for (std::uint64_t i = 1; i <= 10; ++i) bench.must(sent("t" + std::to_string(i), {i, i}));
  bench.close();
  bench.clock.advance(-year);
  bench.open();
  CHECK(bench.store->earlier_send({1, 1}).has_value());
  bench.clock.advance(std::chrono::hours(25));
  CHECK(bench.store->earlier_send({1, 1}).error().code == ErrorCode::not_found);
}

}  // namespace repeated_send_test
