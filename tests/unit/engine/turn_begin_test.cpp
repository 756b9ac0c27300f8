// How a turn begins, and how output is held back to be stored together.
#include <doctest/doctest.h>

#include <atomic>
#include <future>

#include "engine/sends/task_service.h"
#include "support/engine_bench.h"
#include "support/patience.h"

namespace turn_begin_test {

using namespace baton;
using task::State;
using test::EngineBench;

namespace {

std::size_t outputs_in(const std::vector<task::Event>& log) {
  std::size_t count = 0;
  for (const task::Event& event : log) count += std::holds_alternative<task::TextDelta>(event.body) ? 1 : 0;
  return count;
}

// A message in a context. Its turn reads the earlier messages of the context.
task::Submission in_context(const std::string& text, const std::string& id) {
  task::Submission submission = EngineBench::message(text, id);
  submission.context = {"c"};
  return submission;
}

EngineBench::Options one_slot() {
  EngineBench::Options options;
  options.engine.slots = 1;
  return options;
}

void finish_first(EngineBench& bench) {
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  turn->sink->finish(agents::Done{});
}

// Ends the turn of "y", which begins after the first turn has ended.
void finish_second(EngineBench& bench, task::TaskKey task) {
  const auto next = bench.scripted().next();
  REQUIRE(next);
  CHECK(task::text_of(next->turn.message) == "y");
  CHECK(next->turn.attempt == 1);
  next->sink->finish(agents::Done{});
  CHECK(bench.wait(task)->state == State::completed);
}

}  // namespace

TEST_CASE("Turn: with a free slot the turn is stored as begun in the same change as its message") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  REQUIRE(accepted);
  const auto head = bench.engine().reader().head(accepted->key);
  REQUIRE(head);
  CHECK(head->state == State::working);
  CHECK(head->version.value == 1);
  CHECK(head->attempt == 1);
  // The answer to the submission shows the task before the turn began.
  CHECK(accepted->after.value == 2);
  const auto shown = bench.engine().reader().read(accepted->key, {10, true}, accepted->after);
  REQUIRE(shown);
  CHECK(shown->status.state == State::submitted);
  CHECK(shown->history.size() == 1);
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  turn->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
}

TEST_CASE("Turn: an answer to a question also begins its own turn at once") {
  EngineBench bench;
  const auto first = bench.submit(EngineBench::message("x", "t1"));
  const auto asking = bench.scripted().next();
  REQUIRE(asking);
  asking->sink->finish(agents::Asked{"ask-1", false, {}});
  REQUIRE(bench.wait(first->key)->state == State::input_required);
  REQUIRE(bench.scripted().wait_for([&] { return asking->let_go; }));
  const auto second = bench.submit(EngineBench::message("y", "t1"));
  REQUIRE(second);
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  CHECK(task::text_of(turn->turn.message) == "y");
  CHECK(turn->turn.resume_ask == "ask-1");
  CHECK(turn->turn.attempt == 1);
  turn->sink->finish(agents::Done{});
  CHECK(bench.wait(second->key, second->before.value)->state == State::completed);
}

TEST_CASE("Turn: without a free slot the turn is queued and begins when one is released") {
  EngineBench bench(one_slot());
  const auto first = bench.submit(EngineBench::message("x", "t1"));
  const auto second = bench.submit(EngineBench::message("y", "t2"));
  REQUIRE(second);
  CHECK(bench.engine().reader().head(second->key)->turn_state == task::TurnState::queued);
  finish_first(bench);
  finish_second(bench, second->key);
}

TEST_CASE("Turn: a turn whose input cannot be read is retried until the store works") {
  auto options = one_slot();
  options.engine.disk_retry = std::chrono::milliseconds(5);
  std::atomic<int> failures = 0;
  options.faults.context_fails = [&] { return ++failures <= 3; };
  EngineBench bench(std::move(options));
  bench.submit(in_context("x", "t1"));
  const auto second = bench.submit(in_context("y", "t2"));
  finish_first(bench);
  finish_second(bench, second->key);
  CHECK(failures == 4);
}

TEST_CASE("Turn: a turn whose input cannot be read can be canceled") {
  auto options = one_slot();
  options.engine.disk_retry = std::chrono::milliseconds(5);
  std::atomic<int> failures = 0;
  std::promise<void> twice;
  options.faults.context_fails = [&] {
    if (++failures == 2) twice.set_value();
    return true;
  };
  options.settings.cancel_grace = std::chrono::milliseconds(20);
  EngineBench bench(std::move(options));
  bench.submit(in_context("x", "t1"));
  const auto second = bench.submit(in_context("y", "t2"));
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  turn->sink->finish(agents::Done{});
  REQUIRE(twice.get_future().wait_for(test::patience()) == std::future_status::ready);
  REQUIRE(bench.cancel({"t2"}));
  CHECK(bench.wait(second->key)->state == State::canceled);
}

TEST_CASE("Turn: a repeated send releases the slot that was reserved for it") {
  EngineBench bench(one_slot());
  task::Submission submission = EngineBench::message("x");
  submission.message.id = {"m1"};
  const auto first = bench.submit(submission);
  REQUIRE(first);
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  turn->sink->finish(agents::Done{});
  REQUIRE(bench.wait(first->key)->state == State::completed);
  REQUIRE(bench.scripted().wait_for([&] { return turn->let_go; }));
  for (int i = 0; i < 3; ++i) {
    const auto again = bench.submit(submission);
    REQUIRE(again);
    CHECK(again->repeated);
    CHECK(again->key == first->key);
  }
  const auto other = bench.submit(EngineBench::message("y", "t2"));
  const auto next = bench.scripted().next();
  REQUIRE(next);
  next->sink->finish(agents::Done{});
  CHECK(bench.wait(other->key)->state == State::completed);
  CHECK(bench.engine().counts().turns.queued == 0);
}

TEST_CASE("Turn: output during a hold is stored at the release") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  std::promise<void> news;
  std::atomic<bool> told{false};
  const auto subscription = bench.engine().live().subscribe(accepted->key, [&] {
    if (!told.exchange(true)) news.set_value();
  });
  turn->sink->hold();
  turn->sink->text("held ");
  turn->sink->text("together");
  CHECK(outputs_in(bench.log(accepted->key)) == 0);
  turn->sink->release();
  REQUIRE(news.get_future().wait_for(test::patience()) == std::future_status::ready);
  CHECK(outputs_in(bench.log(accepted->key)) == 1);
  turn->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key)->state == State::completed);
  const auto task = bench.engine().reader().read(accepted->key, {0, true});
  REQUIRE(task);
  CHECK(task->artifacts.at(0).parts.at(0).content == "held together");
}

TEST_CASE("Turn: the end is stored together with held output, without waiting for the release") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  turn->sink->hold();
  turn->sink->text("all of it");
  CHECK(outputs_in(bench.log(accepted->key)) == 0);
  turn->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key)->state == State::completed);
  const auto log = bench.log(accepted->key);
  CHECK(outputs_in(log) == 1);
  CHECK(log.size() == 5);
}

}  // namespace turn_begin_test
