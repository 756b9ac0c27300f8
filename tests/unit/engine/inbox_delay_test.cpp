// Decisions that may wait (Decision::may_wait), and streamed output, which makes them.
#include "support/engine_bench.h"
#include "unit/engine/inbox_bench.h"

namespace inbox_delay_test {

using namespace baton;
using namespace baton::test;
using engine::Decision;
using engine::InboxOptions;

namespace {

constexpr std::chrono::hours kLong{1};

InboxOptions delaying(std::chrono::microseconds delay) {
  InboxOptions options;
  options.delay = delay;
  return options;
}

Decision piece(InboxBench& bench, const std::string& name, task::TaskKey key) {
  Decision decision = bench.add_text(name, key);
  decision.may_wait = true;
  return decision;
}

}  // namespace

TEST_CASE(
    "Inbox: decisions that may wait are decided with the next one that may not, in the order of posting") {
  for (const bool is_quick : {true, false}) {
    InboxBench bench(delaying(kLong));
    bench.is_quick = is_quick;
    const Keys keys = bench.make_tasks(2);
    bench.start();
    bench.inbox->post(piece(bench, "alone", keys[0]));
    bench.inbox->settle();
    CHECK(bench.told == Texts{"alone: done"});  // nothing was committed lately
    bench.inbox->post(bench.add_text("other task", keys[1]));
    bench.inbox->settle();
    const int groups = bench.groups;
    bench.told.clear();
    bench.inbox->post(piece(bench, "a", keys[0]));
    bench.inbox->post(piece(bench, "b", keys[0]));
    give_way();
    CHECK(bench.groups == groups);
    CHECK(bench.live.is_changing(keys[0]));
    bench.inbox->post(bench.add_text("urgent", keys[1]));
    bench.inbox->post(piece(bench, "c", keys[0]));
    bench.inbox->hasten();
    bench.inbox->settle();
    CHECK(bench.told == Texts{"a: done", "b: done", "urgent: done", "c: done"});
    CHECK(bench.groups <= groups + 2);
    bench.inbox->post(piece(bench, "last", keys[0]));
    bench.stop();
    CHECK(bench.told.back() == "last: done");
  }
}

TEST_CASE("Inbox: the delay ends by itself, when asked to, or when much waits; and 0 is none") {
  const auto run = [](const InboxOptions& options, bool hastens, int count) {
    for (const bool is_quick : {true, false}) {
      InboxBench bench(options);
      bench.is_quick = is_quick;
      const task::TaskKey key = bench.make_tasks(1)[0];
      bench.start();
      bench.inbox->post(bench.add_text("first", key));
      bench.inbox->settle();
      for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < count; ++i) bench.inbox->post(piece(bench, "x", key));
        if (hastens) bench.inbox->hasten();
        bench.inbox->settle();
      }
      CHECK(bench.told.size() == static_cast<std::size_t>(3 * count + 1));
    }
  };
  run(delaying(std::chrono::milliseconds(1)), false, 2);
  run(delaying(std::chrono::milliseconds(0)), false, 2);
  run(delaying(kLong), true, 2);
  InboxOptions few = delaying(kLong);
  few.group_max = 2;
  run(few, false, 2);
}

TEST_CASE("Inbox: a decision that may wait is not left alone if it comes at the very end of the delay") {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds kDelay{100};
  InboxBench bench(delaying(kDelay));
  bench.is_quick = true;
  const task::TaskKey key = bench.make_tasks(1)[0];
  bench.start();
  bench.inbox->post(bench.add_text("first", key));
  bench.inbox->settle();
  for (std::chrono::nanoseconds early{4'000}; early.count() > 0; early -= std::chrono::nanoseconds(2)) {
    std::promise<void> told;
    Clock::time_point committed;
    Decision before = bench.add_text("before", key);
    before.committed = [&](const auto&) { committed = Clock::now(); };
    // The engine's thread looks for decisions after this, when the delay is just not over.
    before.done = [&](const auto&) {
      while (Clock::now() < committed + kDelay - early) {
      }
      Decision last = piece(bench, "last", key);
      last.done = [&](const auto&) { told.set_value(); };
      bench.inbox->post(std::move(last));
    };
    bench.inbox->post(std::move(before));
    const bool is_told = told.get_future().wait_for(patience()) == std::future_status::ready;
    CHECK(is_told);
    bench.inbox->hasten();
    bench.inbox->settle();
    if (!is_told) return;
  }
}

TEST_CASE("Inbox: a held beginning is flushed in time although decisions that may wait are queued") {
  InboxOptions options = delaying(kLong);
  options.hold = std::chrono::milliseconds(1);
  InboxBench bench(options);
  bench.is_quick = true;
  const Keys keys = bench.make_tasks(2);
  bench.start();
  bench.inbox->post(bench.add_text("first", keys[0]));
  bench.inbox->settle();
  std::promise<void> told;
  Decision begun = bench.add_text("begun", keys[0]);
  begun.is_awaited = false;
  begun.done = [&](const auto&) { told.set_value(); };
  bench.inbox->post(std::move(begun));
  bench.inbox->post(piece(bench, "waits", keys[1]));
  CHECK(told.get_future().wait_for(patience()) == std::future_status::ready);
  bench.inbox->hasten();
  bench.inbox->settle();
}

TEST_CASE(
    "Streamed output waits, but not with a tool call, at the turn's end, or once the task is canceled") {
  using task::TurnState;
  EngineBench::Options options;
  options.engine.output_delay = kLong;
  EngineBench bench(options);
  const auto count = [&](task::TaskKey key) { return bench.log(key).size(); };
  const auto begin = [&](const std::string& id) {
    const auto key = bench.submit(EngineBench::message("hi", id))->key;
    const auto turn = bench.scripted().next();
    REQUIRE(turn);
    while (bench.engine().reader().head(key)->turn_state != TurnState::running) std::this_thread::yield();
    return std::pair(key, turn);
  };
  const auto [key, turn] = begin("t1");
  const std::size_t before = count(key);
  turn->sink->text("a");
  turn->sink->reasoning("why");
  give_way();
  CHECK(count(key) == before);
  turn->sink->emit(task::ToolCall{"c1", "look", {}, false});
  while (count(key) < before + 3) std::this_thread::yield();
  turn->sink->text("b");
  turn->sink->finish(agents::Done{});
  REQUIRE(bench.wait(key));

  const auto [other, canceled] = begin("t2");
  canceled->sink->text("c");
  REQUIRE(bench.cancel({"t2"}));
  canceled->sink->text("d");
  canceled->sink->finish(agents::Canceled{});
  REQUIRE(bench.wait(other));
}

}  // namespace inbox_delay_test
