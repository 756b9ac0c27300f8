// Which thread flushes, and when.
#include "unit/engine/inbox_bench.h"

namespace inbox_flush_test {

using namespace baton;
using namespace baton::test;
using engine::AnswerTimes;
using engine::Decision;
using engine::InboxOptions;

namespace {

// Notes the thread of each flush.
store::FaultPlan noting(std::vector<std::thread::id>& threads) {
  store::FaultPlan plan;
  plan.flush = [&threads](int) {
    return store::FlushFaults{false, false, [&threads] { threads.push_back(std::this_thread::get_id()); }};
  };
  return plan;
}

// A decision that nobody waits for, as the beginning of a turn, whose agent answers at once.
Decision begun_and_answered(InboxBench& bench, task::TaskKey key) {
  Decision decision = bench.add_text("begun", key);
  decision.is_awaited = false;
  decision.committed = [&bench, key](const auto&) { bench.inbox->post(bench.add_text("answered", key)); };
  return decision;
}

}  // namespace

TEST_CASE("Inbox: a quick disk is flushed by the engine's thread, which then calls back; a slow one is not") {
  for (const bool is_quick : {true, false}) {
    std::vector<std::thread::id> flushed, called;
    std::thread::id engine;
    InboxBench bench({}, noting(flushed));
    bench.is_quick = is_quick;
    const task::TaskKey key = bench.make_tasks(1)[0];
    bench.start();
    for (int i = 0; i < 3; ++i) {
      Decision decision = bench.add_text("x", key);
      decision.committed = [&](const auto&) { engine = std::this_thread::get_id(); };
      decision.done = [&, flushes = flushed.size()](const auto& written) {
        CHECK(written);
        CHECK(flushed.size() == flushes + 1);
        called.push_back(std::this_thread::get_id());
      };
      bench.inbox->post(std::move(decision));
      bench.inbox->settle();
    }
    bench.stop();
    CHECK(flushed == called);
    CHECK((flushed.front() != engine));  // nothing is known of the disk yet
    CHECK((flushed.back() == engine) == is_quick);
  }
}

TEST_CASE("Inbox: after a group of several callers' decisions, the second thread flushes for a while") {
  for (const bool is_over : {false, true}) {
    std::vector<std::thread::id> flushed;
    std::thread::id engine;
    InboxOptions options;
    options.group_crowded = 1;
    options.crowd = is_over ? std::chrono::hours(0) : std::chrono::hours(1);
    InboxBench bench(options, noting(flushed));
    bench.is_quick = true;
    const task::TaskKey key = bench.make_tasks(1)[0];
    bench.start();
    for (int i = 0; i < 3; ++i) {
      Decision decision = bench.add_text("x", key);
      decision.committed = [&](const auto&) { engine = std::this_thread::get_id(); };
      bench.inbox->post(std::move(decision));
      bench.inbox->settle();
    }
    bench.stop();
    CHECK((flushed.back() == engine) == is_over);
  }
}

TEST_CASE(
    "Inbox: a beginning that nobody waits for is flushed with its answer, or once it was held long enough") {
  for (const bool is_quick : {true, false}) {
    InboxOptions options;
    options.hold = std::chrono::hours(1);
    InboxBench bench(options);
    bench.is_quick = is_quick;
    const task::TaskKey key = bench.make_tasks(1)[0];
    bench.start();
    bench.inbox->post(bench.add_text("first", key));
    bench.inbox->settle();
    bench.inbox->post(begun_and_answered(bench, key));
    bench.inbox->settle();
    CHECK(bench.flushes == 2);
    bench.stop();
    CHECK(bench.told == Texts{"first: done", "begun: done", "answered: done"});
  }
  InboxOptions options;
  options.hold = options.long_hold = std::chrono::milliseconds(1);
  InboxBench bench(options);
  bench.is_quick = true;
  const task::TaskKey key = bench.make_tasks(1)[0];
  bench.start();
  for (int i = 0; i < 3; ++i) {
    Decision alone = bench.add_text("alone", key);
    alone.is_awaited = false;
    bench.inbox->post(std::move(alone));
    bench.inbox->settle();
    bench.inbox->settle_reads();
  }
  CHECK(bench.told.size() == 3);
}

TEST_CASE("Inbox: a flush is held for longer once the agent has often answered soon") {
  InboxOptions options;
  options.hold = std::chrono::microseconds(0);
  options.long_hold = std::chrono::hours(1);
  InboxBench bench(options);
  bench.is_quick = true;
  const task::TaskKey key = bench.make_tasks(1)[0];
  bench.start();
  bench.inbox->post(bench.add_text("first", key));
  bench.inbox->settle();
  std::vector<int> flushes;
  for (int i = 0; i < 8; ++i) {
    const int before = bench.flushes;
    bench.inbox->post(begun_and_answered(bench, key));
    bench.inbox->settle();
    flushes.push_back(bench.flushes - before);
  }
  CHECK(flushes.front() == 2);
  CHECK(flushes.back() == 1);
}

TEST_CASE("Inbox: what callbacks post while the inbox stops is flushed too, by either thread") {
  for (const bool is_quick : {true, false}) {
    InboxOptions options;
    options.hold = std::chrono::milliseconds(1);
    InboxBench bench(options);
    bench.is_quick = is_quick;
    const task::TaskKey key = bench.make_tasks(1)[0];
    bench.start();
    bench.inbox->post(bench.add_text("first", key));
    bench.inbox->settle();
    Decision last = bench.add_text("last", key);
    last.is_awaited = false;
    last.done = [&](const auto&) { bench.inbox->post(bench.add_text("posted late", key)); };
    bench.inbox->post(std::move(last));
    bench.stop();
    CHECK(bench.told == Texts{"first: done", "posted late: done"});
    CHECK(bench.last_event(key) == 4);
  }
}

TEST_CASE("AnswerTimes: an agent is prompt after several soon answers, and no longer after late ones") {
  using std::chrono::microseconds;
  AnswerTimes times(microseconds(100));
  const task::AgentName agent{"a"};
  const AnswerTimes::TimePoint now{};
  const auto turn = [&](microseconds time) {
    times.begun({1}, agent, now);
    times.answered({1}, now + time);
  };
  for (int i = 0; i < 3; ++i) turn(microseconds(100));
  CHECK_FALSE(times.is_prompt(agent));
  turn(microseconds(50));
  CHECK(times.is_prompt(agent));
  CHECK_FALSE(times.is_prompt({"b"}));
  times.answered({1}, now + microseconds(900));  // not of a turn that has begun
  CHECK(times.is_prompt(agent));
  turn(microseconds(101));
  CHECK_FALSE(times.is_prompt(agent));
}

}  // namespace inbox_flush_test
