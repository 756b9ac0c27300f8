// Tasks whose turn begins at the time in their send (startAt).
#include <doctest/doctest.h>

#include <thread>

#include "support/engine_bench.h"
#include "support/patience.h"

namespace start_at_test {

using namespace baton;
using task::State;
using task::TurnState;
using test::EngineBench;

namespace {

constexpr int kHour = 3'600'000;

// In ms: what a test does before a time so far ahead is over by then, also on a slow machine.
int soon() {
  return static_cast<int>(test::patience().count() / 60);
}

base::Timestamp in(int ms) {
  return base::SystemClock().now() + base::Duration(ms);
}

task::Submission later(const std::string& text, const std::string& id, int ms) {
  auto submission = EngineBench::message(text, id);
  submission.start_at = in(ms);
  return submission;
}

}  // namespace

TEST_CASE("startAt: the task waits outside the queue and begins once at its time, also after restarts") {
  int delay = soon();
  for (int restarts = 0; restarts <= 2; ++restarts) {
    EngineBench::Options options;
    options.engine.queue_max = 1;
    EngineBench bench(options);
    const auto submission = later("work", "", delay);
    const auto accepted = bench.submit(submission);
    REQUIRE(accepted);
    CHECK(accepted->delayed);
    const auto head = bench.engine().reader().head(accepted->key);
    CHECK(head->state == State::submitted);
    CHECK(head->turn_state == TurnState::waiting);
    CHECK(bench.engine().counts().turns.queued == 0);
    CHECK(bench.engine().counts().waiting_for_time == 1);
    for (int i = 0; i < restarts; ++i) bench.restart();
    // The time came before the last restart: once more, with more of it.
    if (restarts > 0 && base::SystemClock().now() >= *submission.start_at) {
      delay *= 2;
      --restarts;
      continue;
    }
    const auto turn = bench.scripted().next();
    REQUIRE(turn);
    CHECK(base::SystemClock().now() >= *submission.start_at);
    CHECK(turn->turn.attempt == 1);
    CHECK(task::text_of(turn->turn.message) == "work");
    turn->sink->finish(agents::Done{});
    CHECK(bench.wait(accepted->key)->state == State::completed);
    CHECK(bench.scripted().waiting() == 0);
    CHECK(bench.engine().counts().waiting_for_time == 0);
  }
}

TEST_CASE("startAt: with a time in the past the task begins at once, one too far ahead is refused") {
  EngineBench bench;
  const auto accepted = bench.submit(later("work", "t1", -kHour));
  REQUIRE(accepted);
  CHECK_FALSE(accepted->delayed);
  REQUIRE(bench.scripted().next());
  auto far = EngineBench::message("work", "t2");
  far.start_at = base::SystemClock().now() + std::chrono::hours(24 * 366);
  const auto refused = bench.submit(far);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == base::ErrorCode::invalid_argument);
  CHECK(refused.error().for_caller == "a task may begin at most 31536000 seconds from now");
}

TEST_CASE("startAt: a repeated send finds the waiting task, and a message does not begin it earlier") {
  EngineBench bench;
  auto first = later("work", "", soon());
  first.message.id = {"m1"};
  const auto accepted = bench.submit(first);
  const auto again = bench.submit(first);
  REQUIRE(again);
  CHECK(again->repeated);
  CHECK(again->delayed);
  CHECK(again->key == accepted->key);
  auto more = EngineBench::message("more");
  more.task = accepted->id;
  CHECK(bench.submit(more));
  CHECK(bench.engine().reader().head(accepted->key)->turn_state == TurnState::waiting);
  auto later_still = later("and more", "", kHour);
  later_still.task = accepted->id;
  CHECK(bench.submit(later_still).error().code == base::ErrorCode::invalid_argument);
  for (const char* text : {"work", "more"}) {
    const auto turn = bench.scripted().next();
    REQUIRE(turn);
    CHECK(base::SystemClock().now() >= *first.start_at);
    CHECK(task::text_of(turn->turn.message) == text);
    turn->sink->finish(agents::Done{});
  }
  CHECK(bench.wait(accepted->key)->state == State::completed);
}

TEST_CASE("startAt: a canceled task never begins") {
  EngineBench bench;
  const auto accepted = bench.submit(later("work", "t1", kHour));
  CHECK(bench.cancel(accepted->id));
  CHECK(bench.engine().reader().head(accepted->key)->state == State::canceled);
  CHECK(bench.engine().counts().waiting_for_time == 0);
  bench.restart();
  CHECK(bench.engine().counts().waiting_for_time == 0);
  CHECK(bench.scripted().waiting() == 0);
}

TEST_CASE("startAt: the number of waiting tasks is bounded, also per caller") {
  EngineBench::Options options;
  options.engine.delayed_max = 3;
  EngineBench bench(options);
  bench.engine().set_caller_delayed_max(2);
  CHECK(bench.submit(later("work", "", kHour)));
  CHECK(bench.submit(later("work", "", kHour)));
  CHECK(bench.submit(later("work", "", kHour)).error().code == base::ErrorCode::overloaded);
  auto other = later("work", "", kHour);
  other.caller = {"bob"};
  CHECK(bench.submit(other));
  bench.engine().set_caller_delayed_max(0);
  CHECK(bench.submit(other).error().code == base::ErrorCode::overloaded);
}

}  // namespace start_at_test
