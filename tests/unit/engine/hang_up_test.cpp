// Runs whose client has hung up.
#include <doctest/doctest.h>

#include <thread>

#include "engine/sends/task_service.h"
#include "support/engine_bench.h"
#include "support/patience.h"

namespace hang_up_test {

using namespace baton;
using task::State;
using test::EngineBench;

namespace {

constexpr std::chrono::milliseconds kNow{0}, kSoon{1};

// Options with a short grace between a client's hang-up and the cancel of its run.
EngineBench::Options hasty(std::chrono::milliseconds grace = kSoon) {
  EngineBench::Options options;
  options.engine.hang_up_grace = grace;
  return options;
}

void leave(EngineBench& bench, const engine::Accepted& run) {
  bench.engine().tasks().client_left(run.key, {"scripted"}, run.before);
}

// A request as the handlers of the chat protocols make it.
task::Submission chat(const std::string& text, const std::string& name = {},
                      const std::string& context = "thread") {
  task::Submission submission = EngineBench::message(text);
  submission.context = {context};
  submission.name = name;
  submission.origin = task::ProtocolVersion::none;
  submission.leaving = task::Leaving::cancels;
  return submission;
}

agents::Asked asking() {
  return {"ask-1", false, {}};
}

bool wait_cancel(EngineBench& bench, task::TaskKey key) {
  return test::eventually([&] { return bench.engine().reader().head(key)->cancel_requested; });
}

}  // namespace

TEST_CASE("TaskService: an abandoned run is canceled after the grace with a reason, a followed one is not") {
  EngineBench bench(hasty());
  const auto left = bench.submit(chat("left"));
  const auto followed = bench.submit(chat("followed"));
  {
    const auto subscription = bench.engine().live().subscribe(followed->key, [] {});
    leave(bench, *followed);
    leave(bench, *left);
    // Graces end in order, so the followed run's grace has ended too.
    REQUIRE(wait_cancel(bench, left->key));
    CHECK_FALSE(bench.engine().reader().head(followed->key)->cancel_requested);
  }
  leave(bench, *followed);
  CHECK(wait_cancel(bench, followed->key));
  for (int i = 0; i < 2; ++i) bench.scripted().next()->sink->finish(agents::Canceled{});
  REQUIRE(bench.wait(left->key)->state == State::canceled);
  const auto status = bench.engine().reader().read(left->key, {})->status;
  REQUIRE(status.message);
  CHECK(task::text_of(*status.message) == "The client disconnected and nobody followed the run for 0.001 s.");
}

TEST_CASE("TaskService: a grace that the caller gives replaces the server's") {
  EngineBench bench(hasty(kNow));
  const auto left = bench.submit(chat("left"));
  leave(bench, *left);
  bench.engine().tasks().client_left(left->key, {"scripted"}, left->before, kSoon);
  CHECK(wait_cancel(bench, left->key));
}

TEST_CASE(
    "TaskService: a run of A2A, one that asks and one whose rule keeps it are not canceled when abandoned") {
  EngineBench bench(hasty());
  auto a2a = chat("A2A");
  a2a.origin = task::ProtocolVersion::v1_0;
  const auto of_a2a = bench.submit(a2a);
  REQUIRE(bench.scripted().next());
  auto stays = chat("stays");
  stays.leaving = task::Leaving::makes_way;
  const auto makes_way = bench.submit(stays);
  REQUIRE(bench.scripted().next());
  const auto asked = bench.submit(chat("asks"));
  bench.scripted().next()->sink->finish(asking());
  REQUIRE(bench.wait(asked->key)->state == State::input_required);
  const auto left = bench.submit(chat("left"));
  const auto leaves = bench.scripted().next();
  for (const auto& one : {of_a2a, makes_way, asked, left}) leave(bench, *one);
  REQUIRE(bench.scripted().wait_for([&] { return leaves->canceled; }));
  CHECK_FALSE(bench.engine().reader().head(of_a2a->key)->cancel_requested);
  CHECK_FALSE(bench.engine().reader().head(makes_way->key)->cancel_requested);
  CHECK(bench.engine().reader().head(asked->key)->state == State::input_required);
}

TEST_CASE("TaskService: a hang-up does not cancel the next run of the task") {
  EngineBench bench(hasty());
  const auto asked = bench.submit(chat("asks"));
  bench.scripted().next()->sink->finish(asking());
  const auto stop = bench.wait(asked->key);
  REQUIRE(stop);
  auto answer = EngineBench::message("yes", asked->id.value);
  REQUIRE(bench.submit(answer));
  const auto goes_on = bench.scripted().next();
  const auto left = bench.submit(chat("left", "", "elsewhere"));
  const auto leaves = bench.scripted().next();
  leave(bench, *asked);
  leave(bench, *left);
  REQUIRE(bench.scripted().wait_for([&] { return leaves->canceled; }));
  CHECK_FALSE(goes_on->canceled);
}

TEST_CASE("TaskService: a grace of 0 never cancels, and the agent's own grace overrides the server's") {
  auto options = hasty(kNow);
  SUBCASE("the server's") {
    EngineBench bench(options);
    const auto left = bench.submit(chat("left"));
    leave(bench, *left);
    bench.scripted().next()->sink->finish(agents::Done{});
    CHECK(bench.wait(left->key)->state == State::completed);
  }
  SUBCASE("the agent's") {
    options.settings.hang_up_grace = kSoon;
    EngineBench bench(options);
    const auto left = bench.submit(chat("left"));
    leave(bench, *left);
    CHECK(wait_cancel(bench, left->key));
  }
}

TEST_CASE("TaskService: after a restart a chat run is canceled unless its client comes back") {
  auto options = hasty();
  options.engine.drain_grace = kNow;
  EngineBench bench(options);
  const auto left = bench.submit(chat("left"));
  auto stays = chat("stays");
  stays.leaving = task::Leaving::goes_on;
  const auto kept = bench.submit(stays);
  REQUIRE(bench.scripted().next());
  REQUIRE(bench.scripted().next());
  bench.restart();
  CHECK(bench.engine().tasks().leaving(left->key, left->before).value() == task::Leaving::cancels);
  CHECK(wait_cancel(bench, left->key));
  CHECK_FALSE(bench.engine().reader().head(kept->key)->cancel_requested);
}

TEST_CASE("TaskService: a grace that has not ended when the program stops is dropped") {
  EngineBench bench(hasty(std::chrono::hours(1)));
  const auto accepted = bench.submit(chat("hello"));
  REQUIRE(bench.scripted().next());
  leave(bench, *accepted);
  bench.restart();
  const auto again = bench.scripted().next();
  REQUIRE(again);
  again->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
}

}  // namespace hang_up_test
