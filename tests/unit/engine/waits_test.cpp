// Turns that wait for some of their children, for a failed child, or for a time.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "agents/plan/plan.h"
#include "support/engine_bench.h"
#include "support/manual_clock.h"
#include "support/patience.h"

namespace waits_test {

using namespace baton;
using task::State;
using task::TurnState;
using test::EngineBench;

namespace {

agents::DelegateRequest call(const std::string& id) {
  agents::DelegateRequest request;
  request.id = id;
  request.agent = "helper";
  request.message.parts.push_back(task::Part::of_text("work"));
  return request;
}

base::Timestamp in(int ms) {
  return base::SystemClock().now() + base::Duration(ms);
}

// In ms: what a test does before a time so far ahead is over by then, also on a slow machine.
int soon() {
  return static_cast<int>(test::patience().count() / 60);
}

void await_turn_state(EngineBench& bench, task::TaskKey key, TurnState state) {
  while (bench.engine().reader().head(key)->turn_state != state) std::this_thread::yield();
}

void await_awaited(EngineBench& bench, task::TaskKey key, int children) {
  while (bench.engine().reader().head(key)->awaited != children) std::this_thread::yield();
}

using Children = std::vector<test::ScriptedExecutor::RunningPtr>;

// Lets the turn delegate `count` times and then wait.
Children delegate(EngineBench& bench, const test::ScriptedExecutor::RunningPtr& turn, int count,
                  agents::Waits waits) {
  Children children;
  for (int i = 1; i <= count; ++i) {
    turn->sink->delegate(call("d" + std::to_string(i)));
    children.push_back(bench.helper().next());
    REQUIRE(children.back());
  }
  turn->sink->finish(waits);
  return children;
}

EngineBench::Options quick_to_stop() {
  EngineBench::Options options;
  options.engine.drain_grace = std::chrono::milliseconds(0);
  return options;
}

std::vector<std::string> ids_of(const std::vector<agents::DelegateResult>& results) {
  std::vector<std::string> ids;
  for (const auto& one : results) ids.push_back(one.id);
  return ids;
}

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("Waits: a turn continues with the results it has, and again with later ones") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const Children children = delegate(bench, bench.scripted().next(), 4, {2});
  await_turn_state(bench, accepted->key, TurnState::waiting);
  children[3]->sink->finish(agents::Done{});
  await_awaited(bench, accepted->key, 3);
  CHECK(bench.engine().reader().head(accepted->key)->turn_state == TurnState::waiting);
  children[1]->sink->finish(agents::Failed{"no"});

  auto next = bench.scripted().next();
  REQUIRE(next);
  CHECK(ids_of(next->turn.results) == Ids{"d2", "d4"});
  CHECK_FALSE(children[0]->canceled);
  // A child stops while the turn runs. The turn then waits for one result, which it has already.
  children[0]->sink->finish(agents::Done{});
  await_awaited(bench, accepted->key, 1);
  next->sink->finish(agents::Waits{1});
  next = bench.scripted().next();
  REQUIRE(next);
  CHECK(ids_of(next->turn.results) == Ids{"d1", "d2", "d4"});
  next->sink->finish(agents::Waits{});
  await_turn_state(bench, accepted->key, TurnState::waiting);
  children[2]->sink->finish(agents::Done{});
  next = bench.scripted().next();
  REQUIRE(next);
  CHECK(next->turn.results.size() == 4);
  next->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
  int open = 0, unfinished = 0;
  for (const task::Event& event : bench.log(accepted->key)) {
    const auto* child = std::get_if<task::Subagent>(&event.body);
    if (child == nullptr) continue;
    open += child->phase == task::Subagent::Phase::started ? 1 : -1;
    unfinished += child->error == "left unfinished";
  }
  CHECK(open == 0);
  CHECK(unfinished == 0);
}

TEST_CASE("Waits: a child that stops while the woken turn waits for a slot is not lost") {
  EngineBench::Options options;
  options.settings.concurrency = 2;
  options.engine.slots = 3;
  EngineBench bench(options);
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const Children children = delegate(bench, bench.scripted().next(), 2, {1});
  await_turn_state(bench, accepted->key, TurnState::waiting);
  Children others;
  for (const char* id : {"t2", "t3"}) {
    (void)bench.submit(EngineBench::message("other", id));
    if (others.empty()) others.push_back(bench.scripted().next());
  }
  children[0]->sink->finish(agents::Done{});
  others.push_back(bench.scripted().next());  // has the slot that the child released
  await_turn_state(bench, accepted->key, TurnState::queued);
  children[1]->sink->finish(agents::Done{});
  await_awaited(bench, accepted->key, 0);
  for (const auto& other : others) other->sink->finish(agents::Done{});
  const auto next = bench.scripted().next();
  REQUIRE(next);
  CHECK(next->turn.results.size() == 2);
  next->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
}

TEST_CASE("Waits: a failed child wakes a turn that waits for failures, even if it failed just before") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const Children children = delegate(bench, bench.scripted().next(), 4, {0, true});
  await_turn_state(bench, accepted->key, TurnState::waiting);
  children[0]->sink->finish(agents::Done{});
  await_awaited(bench, accepted->key, 3);
  CHECK(bench.engine().reader().head(accepted->key)->turn_state == TurnState::waiting);
  children[1]->sink->finish(agents::Failed{"no"});
  auto next = bench.scripted().next();
  REQUIRE(next);
  CHECK(next->turn.results.size() == 2);
  children[2]->sink->finish(agents::Failed{"no"});
  await_awaited(bench, accepted->key, 1);
  next->sink->finish(agents::Waits{0, true});
  next = bench.scripted().next();
  REQUIRE(next);
  CHECK(next->turn.results.size() == 3);
  // Failures that the turn has seen do not wake it again. Its last child is canceled with it.
  next->sink->finish(agents::Waits{0, true});
  await_turn_state(bench, accepted->key, TurnState::waiting);
  CHECK(bench.cancel(accepted->id));
  CHECK(bench.helper().wait_for([&] { return children[3]->canceled; }));
}

TEST_CASE("Waits: a turn without children continues at its time, not earlier, also after a restart") {
  for (const bool restarts : {false, true}) {
    EngineBench bench(quick_to_stop());
    const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
    const auto turn = bench.scripted().next();
    turn->sink->text("before. ");
    const auto until = in(soon());
    turn->sink->finish(agents::Waits{0, false, until});
    await_turn_state(bench, accepted->key, TurnState::waiting);
    CHECK(bench.wait_running(0));
    CHECK(bench.engine().reader().head(accepted->key)->state == State::working);
    if (restarts) bench.restart();
    const auto next = bench.scripted().next();
    REQUIRE(next);
    CHECK(base::SystemClock().now() >= until);
    CHECK(next->turn.attempt == 1);
    CHECK(next->turn.id != turn->turn.id);
    next->sink->finish(agents::Done{});
    CHECK(bench.wait(accepted->key)->state == State::completed);
  }
}

TEST_CASE("Waits: the wait ends when the children stop or at its time, whichever is first") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const Children children = delegate(bench, bench.scripted().next(), 2, {1, false, in(3'600'000)});
  children[0]->sink->finish(agents::Done{});
  auto next = bench.scripted().next();
  REQUIRE(next);
  const auto until = in(50);
  next->sink->finish(agents::Waits{0, false, until});
  next = bench.scripted().next();
  REQUIRE(next);
  CHECK(base::SystemClock().now() >= until);
  CHECK(next->turn.results.size() == 1);
  next->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
  CHECK(bench.helper().wait_for([&] { return children[1]->canceled; }));
}

TEST_CASE("Waits: a turn that waits for a time can be canceled and accepts messages") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  bench.scripted().next()->sink->finish(agents::Waits{0, false, in(soon())});
  await_turn_state(bench, accepted->key, TurnState::waiting);
  auto more = EngineBench::message("more", "m2");
  more.task = accepted->id;
  CHECK(bench.submit(more));
  auto next = bench.scripted().next();
  REQUIRE(next);
  CHECK(task::text_of(next->turn.message) == "parent");
  next->sink->finish(agents::Done{});
  next = bench.scripted().next();
  REQUIRE(next);
  CHECK(task::text_of(next->turn.message) == "more");
  next->sink->finish(agents::Waits{0, false, in(3'600'000)});
  await_turn_state(bench, accepted->key, TurnState::waiting);
  CHECK(bench.cancel(accepted->id));
  CHECK(bench.engine().reader().head(accepted->key)->state == State::canceled);
}

TEST_CASE("Waits: a woken turn gets later results even if the program was killed meanwhile") {
  auto options = quick_to_stop();
  options.settings.resumes_beside_children = true;
  EngineBench bench(options);
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const auto turn = bench.scripted().next();
  turn->sink->delegate(call("d1"));
  turn->sink->delegate(call("d2"));
  REQUIRE(bench.helper().next());
  REQUIRE(bench.helper().next());
  turn->sink->finish(agents::Waits{1, false, in(20)});
  auto next = bench.scripted().next();
  REQUIRE(next);
  CHECK(next->turn.results.empty());
  bench.restart();
  next = bench.scripted().next();
  REQUIRE(next);
  CHECK(next->turn.attempt == 2);
  CHECK(next->turn.results.empty());
  next->sink->finish(agents::Waits{});
  for (int i = 0; i < 2; ++i) bench.helper().next()->sink->finish(agents::Done{});
  next = bench.scripted().next();
  REQUIRE(next);
  CHECK(next->turn.results.size() == 2);
  next->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
}

TEST_CASE("Waits: the number of children is bounded by the agent's settings, earlier turns included") {
  EngineBench::Options options;
  options.settings.children_max = 3;
  EngineBench bench(options);
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const Children children = delegate(bench, bench.scripted().next(), 3, {2});
  children[0]->sink->finish(agents::Done{});
  const auto next = bench.scripted().next();
  REQUIRE(next);
  next->sink->delegate(call("d4"));
  next->sink->delegate(call("d5"));
  REQUIRE(bench.helper().next());
  REQUIRE(bench.scripted().wait_for([&] { return next->delivered.size() == 1; }));
  CHECK(next->delivered[0].id == "d5");
  CHECK(next->delivered[0].error == "this turn has too many open child tasks");
  next->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
}

TEST_CASE("Wakes: each task is woken once, in order of time, when the clock has reached its time") {
  test::ManualClock clock;
  base::EventLoop timers("timers");
  std::mutex mutex;
  std::condition_variable news;
  std::vector<std::int64_t> woken;
  engine::Wakes wakes(timers, clock, 3, [&](task::TaskKey task, task::TurnNumber turn) {
    std::lock_guard lock(mutex);
    woken.push_back(task.value * 10 + turn.value);
    news.notify_all();
  });
  const base::Timestamp now = clock.now();
  wakes.at(now + base::Duration(30), {1}, {1}, "ann");
  wakes.at(now + base::Duration(20), {2}, {1}, "ann");
  wakes.at(now + base::Duration(10), {3}, {1}, "ann");
  wakes.at(now + base::Duration(5), {1}, {2}, "ann");
  wakes.at(now + base::Duration(6), {1}, {1}, "ann");  // late news of an earlier turn
  wakes.forget({1}, {1});
  CHECK_FALSE(wakes.has_room("bob"));
  wakes.forget({3}, {1});
  CHECK(wakes.has_room("ann"));
  wakes.set_caller_max(2);
  CHECK_FALSE(wakes.has_room("ann"));
  CHECK(wakes.has_room("bob"));
  wakes.forget({4}, {1});
  CHECK(wakes.count() == 2);
  clock.advance(base::Duration(20));
  timers.start();
  std::unique_lock lock(mutex);
  CHECK(news.wait_for(lock, test::patience(), [&] { return woken.size() == 2; }));
  CHECK(woken == std::vector<std::int64_t>{12, 21});
  CHECK(wakes.count() == 0);
  lock.unlock();
  timers.stop();
}

namespace {

EngineBench::Options plan_that_undoes() {
  EngineBench::Options options;
  std::vector<json::SchemaProblem> problems;
  options.settings.executor = agents::AgentSettings::Kind::workflow;
  options.settings.plan = agents::read_plan(
      R"({"id": "p", "agent": "helper", "compensate": {"id": "undo", "agent": "helper"}})", {}, problems);
  options.settings.cancel_grace = std::chrono::milliseconds(0);
  return options;
}

}  // namespace

TEST_CASE("Plan: all its turns begin on the plans' own threads") {
  EngineBench bench(plan_that_undoes());
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  const auto first = bench.scripted().next();
  REQUIRE(first);
  CHECK(first->thread == "plans");
  delegate(bench, first, 1, {}).front()->sink->finish(agents::Done{});
  const auto second = bench.scripted().next();
  REQUIRE(second);
  CHECK(second->thread == "plans");
  second->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
}

TEST_CASE("Plan: a canceled plan's turn may run until it has undone its steps") {
  EngineBench bench(plan_that_undoes());
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  CHECK(turn->sink->is_wanted());
  auto canceled = bench.cancel_later({"t1"});
  REQUIRE(bench.scripted().wait_for([&] { return turn->canceled; }));
  CHECK_FALSE(turn->sink->is_wanted());
  agents::Waits at_once;
  at_once.until = in(0);
  turn->sink->finish(at_once);
  const auto next = bench.scripted().next();
  REQUIRE(next);
  CHECK(next->turn.canceled);
  CHECK(next->sink->is_wanted());
  next->sink->finish(agents::Canceled{"undone"});
  CHECK(bench.wait(accepted->key)->state == State::canceled);
  CHECK(canceled.get());
}

TEST_CASE("Plan: while it is canceled without its knowledge, only children that undo its steps begin") {
  EngineBench bench(plan_that_undoes());
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  auto canceled = bench.cancel_later({"t1"});
  REQUIRE(bench.scripted().wait_for([&] { return turn->canceled; }));
  turn->sink->delegate(call("goes on"));
  agents::DelegateRequest undoes = call("undoes");
  undoes.undoes = true;
  turn->sink->delegate(undoes);
  const auto child = bench.helper().next();
  REQUIRE(child);
  CHECK(bench.scripted().wait_for([&] { return turn->delivered.size() == 1; }));
  CHECK(ids_of(turn->delivered) == Ids{"goes on"});
  agents::Waits at_once;
  at_once.until = in(0);
  turn->sink->finish(at_once);
  const auto next = bench.scripted().next();
  REQUIRE(next);
  CHECK(next->turn.canceled);
  CHECK_FALSE(child->canceled);
  child->sink->finish(agents::Done{});
  next->sink->finish(agents::Canceled{"undone"});
  CHECK(bench.wait(accepted->key)->state == State::canceled);
  CHECK(canceled.get());
}

TEST_CASE("Waits: a canceled task whose work is on another server has one more turn, which learns of it") {
  EngineBench::Options options;
  options.settings.ends_work_elsewhere = true;
  for (const bool asks : {false, true}) {
    CAPTURE(asks);
    EngineBench bench(options);
    const auto accepted = bench.submit(EngineBench::message("x", "t1"));
    const auto turn = bench.scripted().next();
    REQUIRE(turn);
    agents::Waits long_ahead;
    long_ahead.until = in(3'600'000);
    turn->sink->finish(asks ? agents::Outcome(agents::Asked{"q", false, {}}) : agents::Outcome(long_ahead));
    await_turn_state(bench, accepted->key, asks ? TurnState::none : TurnState::waiting);
    auto canceled = bench.cancel_later({"t1"});
    const auto next = bench.scripted().next();
    REQUIRE(next);
    CHECK(next->turn.canceled);
    next->sink->finish(agents::Canceled{});
    CHECK(canceled.get());
    CHECK(bench.engine().reader().head(accepted->key)->state == State::canceled);
  }
}

TEST_CASE("Plan: a child with its own budget begins although the task's budget is used up") {
  EngineBench bench(plan_that_undoes());
  auto submission = EngineBench::message("x", "t1");
  task::Budget none;
  none.children = 0;
  submission.budget = std::make_shared<const task::Budget>(none);
  REQUIRE(bench.submit(submission));
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  turn->sink->delegate(call("refused"));
  agents::DelegateRequest undoes = call("undoes");
  undoes.budget.emplace().tokens = 7;
  turn->sink->delegate(undoes);
  const auto child = bench.helper().next();
  REQUIRE(child);
  CHECK(child->turn.budget.tokens == 7);
  CHECK(bench.scripted().wait_for([&] { return turn->delivered.size() == 1; }));
  CHECK(ids_of(turn->delivered) == std::vector<std::string>{"refused"});
}

}  // namespace waits_test
