// Turns that crash the program, on an engine with scripted agents.
#include "engine/scheduling/quarantine.h"

#include <doctest/doctest.h>

#include <future>
#include <set>
#include <thread>

#include "support/engine_bench.h"

namespace quarantine_test {

using namespace baton;
using task::State;
using task::TurnState;
using test::EngineBench;

namespace {

EngineBench::Options at_once(int concurrency = 4) {
  EngineBench::Options options;
  options.engine.drain_grace = std::chrono::milliseconds(0);
  options.settings.concurrency = concurrency;
  return options;
}

// Lets the program die during the next turn, the given number of times.
void die_of_next(EngineBench& bench, int times) {
  for (int death = 0; death < times; ++death) {
    REQUIRE(bench.scripted().next());
    bench.die();
  }
}

task::TaskHead head_of(EngineBench& bench, task::TaskKey key) {
  return bench.store().row(key)->head;
}

std::string status_of(EngineBench& bench, task::TaskKey key) {
  const auto task = bench.engine().reader().read(key, {});
  return task->status.message ? task::text_of(*task->status.message) : std::string();
}

std::vector<store::CrashedTurn> crashed(EngineBench& bench) {
  return *bench.store().crashed_turns();
}

base::Result<task::TaskHead> requeue(EngineBench& bench, task::TaskKey key) {
  std::promise<base::Result<task::TaskHead>> promise;
  bench.engine().operator_actions().requeue(key, {"olga", "because"}, [&](base::Result<task::TaskHead> head) {
    promise.set_value(std::move(head));
  });
  return promise.get_future().get();
}

}  // namespace

TEST_CASE("Quarantine: a turn during which the program died five times does not run until it is requeued") {
  EngineBench bench(at_once());
  const auto poison = bench.submit(EngineBench::message("poison"));
  die_of_next(bench, 5);
  const auto other = bench.submit(EngineBench::message("other"));
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  CHECK(task::text_of(turn->turn.message) == "other");
  turn->sink->finish(agents::Done{});
  CHECK(bench.wait(other->key)->state == State::completed);

  CHECK(bench.scripted().waiting() == 0);
  CHECK(head_of(bench, poison->key).turn_state == TurnState::waiting);
  CHECK(head_of(bench, poison->key).state == State::working);
  CHECK(status_of(bench, poison->key) ==
        "quarantined: the server crashed 5 times while this turn ran; an operator must requeue it");
  CHECK(bench.engine().quarantined() == 1);
  bench.restart();
  CHECK(bench.engine().quarantined() == 1);
  REQUIRE(crashed(bench).size() == 1);
  CHECK(crashed(bench)[0].quarantined);

  REQUIRE(requeue(bench, poison->key));
  CHECK(bench.engine().quarantined() == 0);
  // The counter starts again.
  die_of_next(bench, 4);
  const auto again = bench.scripted().next();
  REQUIRE(again);
  again->sink->finish(agents::Done{});
  CHECK(bench.wait(poison->key)->state == State::completed);
  CHECK(crashed(bench).empty());
}

TEST_CASE("Quarantine: the task of a quarantined turn can be canceled") {
  EngineBench bench(at_once());
  bench.submit(EngineBench::message("poison", "t1"));
  die_of_next(bench, 5);
  REQUIRE(bench.engine().quarantined() == 1);
  REQUIRE(bench.cancel({"t1"}));
  CHECK(bench.engine().quarantined() == 0);
  bench.die();
  CHECK(bench.scripted().waiting() == 0);
  CHECK(bench.engine().quarantined() == 0);
}

TEST_CASE("Quarantine: orderly stops do not count as deaths, and output resets the count") {
  EngineBench bench(at_once());
  const auto accepted = bench.submit(EngineBench::message("work"));
  SUBCASE("stops") {
    for (int i = 0; i < 3; ++i) {
      die_of_next(bench, 1);
      REQUIRE(bench.scripted().next());
      bench.restart();
    }
    CHECK(crashed(bench).at(0).deaths == 3);
    CHECK(crashed(bench).at(0).alone == 0);
  }
  SUBCASE("output") {
    for (int i = 0; i < 8; ++i) {
      const auto turn = bench.scripted().next();
      REQUIRE(turn);
      const auto before = bench.log(accepted->key).size();
      turn->sink->text("half an answer");
      while (bench.log(accepted->key).size() == before) std::this_thread::yield();
      bench.die();
    }
    CHECK(crashed(bench).at(0).deaths == 1);
  }
  const auto last = bench.scripted().next();
  REQUIRE(last);
  last->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
}

TEST_CASE("Quarantine: suspects run one at a time, and other turns run as usual") {
  EngineBench bench(at_once());
  for (const char* text : {"one", "two"}) REQUIRE(bench.submit(EngineBench::message(text)));
  for (int death = 0; death < 3; ++death) {
    REQUIRE(bench.scripted().next());
    REQUIRE(bench.scripted().next());
    bench.die();
  }
  const auto first = bench.scripted().next();
  REQUIRE(first);
  const auto fresh = bench.submit(EngineBench::message("fresh"));
  const auto beside = bench.scripted().next();
  REQUIRE(beside);
  CHECK(task::text_of(beside->turn.message) == "fresh");
  CHECK(bench.scripted().waiting() == 0);
  SUBCASE("the next one begins when one has ended") {
    first->sink->finish(agents::Done{});
  }
  SUBCASE("the next one begins when one is canceled") {
    bench.cancel_later(first->turn.task);
    REQUIRE(bench.scripted().wait_for([&] { return first->canceled; }));
    first->sink->finish(agents::Canceled{});
  }
  SUBCASE("a suspect during which the program dies is quarantined, the other one is not") {
    bench.die();
    REQUIRE(bench.scripted().next());
    // The fresh turn and one of the two suspects ran.
    REQUIRE(bench.scripted().next());
    bench.die();
    std::multiset<int> alone;
    for (const store::CrashedTurn& turn : crashed(bench)) alone.insert(turn.alone);
    CHECK(*alone.rbegin() == 2);
    CHECK(alone.count(2) == 1);
    CHECK(bench.engine().quarantined() == 1);
    for (int i = 0; i < 2; ++i) {
      const auto left = bench.scripted().next();
      REQUIRE(left);
      left->sink->finish(agents::Done{});
    }
    CHECK(bench.wait(fresh->key)->state == State::completed);
    return;
  }
  const auto second = bench.scripted().next();
  REQUIRE(second);
  second->sink->finish(agents::Done{});
  beside->sink->finish(agents::Done{});
  CHECK(bench.wait(fresh->key)->state == State::completed);
}

TEST_CASE("Quarantine: the running child is quarantined, and its waiting parent is not") {
  EngineBench bench(at_once());
  bench.submit(EngineBench::message("parent"));
  const auto parent = bench.scripted().next();
  REQUIRE(parent);
  agents::DelegateRequest request;
  request.id = "d1";
  request.agent = "helper";
  request.message.parts.push_back(task::Part::of_text("work"));
  parent->sink->delegate(request);
  for (int death = 0; death < 5; ++death) {
    REQUIRE(bench.helper().next());
    bench.die();
  }
  CHECK(bench.helper().waiting() == 0);
  const auto blamed = crashed(bench);
  REQUIRE(blamed.size() == 1);
  CHECK(blamed[0].quarantined);
  CHECK(head_of(bench, blamed[0].task).agent.value == "helper");
}

TEST_CASE("Quarantine: if switched off, a turn runs again however often the program dies") {
  auto options = at_once();
  options.engine.quarantine = false;
  EngineBench bench(options);
  const auto accepted = bench.submit(EngineBench::message("work"));
  die_of_next(bench, 8);
  bench.scripted().next()->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
  CHECK(crashed(bench).empty());
}

}  // namespace quarantine_test
