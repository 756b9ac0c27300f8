// Live tasks that other nodes change.
#include <doctest/doctest.h>

#include "engine/live/live_tasks.h"
#include "unit/engine/live_log_writer.h"

namespace live_tasks_nodes_test {

using namespace baton;
using engine::LiveTasks;
using task::State;
using test::live::kNever;
using test::live::kTask;
using test::live::Log;
using test::live::status;
using test::live::text;

TEST_CASE("LiveTasks: what another node has changed is read from the store, and its readers look again") {
  LiveTasks live;
  Log log(live);
  log.create({status(State::submitted), status(State::working)});
  int news = 0;
  const auto subscription = live.subscribe(kTask, [&] { ++news; });
  REQUIRE(live.log(kTask));
  SUBCASE("what is known here is no news") {
    CHECK(live.changed_elsewhere(kTask, {2}).empty());
    CHECK(live.log(kTask));
    CHECK(news == 0);
  }
  SUBCASE("what is new is, once") {
    CHECK(live.changed_elsewhere(kTask, {3}).empty());
    CHECK(live.changed_elsewhere(kTask, {3}).empty());
    CHECK_FALSE(live.log(kTask));
    CHECK(news == 1);
    REQUIRE(live.followed().size() == 1);
    CHECK(live.followed()[0].last.value == 3);
  }
  SUBCASE("a change here that follows one elsewhere leaves a gap in the log") {
    log.skip(2);
    log.add({text()});
    CHECK(news == 1);
    CHECK_FALSE(live.log(kTask)->covers({2}));
    CHECK(live.log(kTask)->covers({4}));
  }
}

TEST_CASE("LiveTasks: who waits for a stop is told of one that another node has stored") {
  LiveTasks live;
  Log log(live);
  log.create({status(State::submitted), status(State::working)});
  std::optional<engine::Stop> told;
  const auto wait = live.await_stop(kTask, {2}, kNever, [&](auto stop) { told = stop; });
  CHECK(wait.knows_past);
  const auto looking = live.changed_elsewhere(kTask, {3});
  REQUIRE(looking.size() == 1);
  CHECK(looking[0].after.value == 2);
  SUBCASE("from the store") {
    live.tell_past(looking[0].wait, engine::Stop{State::canceled, {3}});
    REQUIRE(told);
    CHECK(told->state == State::canceled);
  }
  SUBCASE("one that comes here meanwhile is told once the store has none before it") {
    log.skip(1);
    log.add({status(State::completed)});
    CHECK_FALSE(told);
    live.tell_past(looking[0].wait, std::nullopt);
    REQUIRE(told);
    CHECK(told->state == State::completed);
  }
}

TEST_CASE(
    "LiveTasks: a stop here that follows what another node has stored is told once the store has none "
    "before") {
  LiveTasks live;
  std::vector<LiveTasks::Looking> looking;
  live.share({{1}, [&](const LiveTasks::Looking& one) { looking.push_back(one); }, [](store::Grown) {}});
  Log log(live);
  log.create({status(State::submitted), status(State::working)});
  std::optional<engine::Stop> told;
  const auto wait = live.await_stop(kTask, {2}, kNever, [&](auto stop) { told = stop; });
  CHECK(wait.knows_past);
  SUBCASE("one that follows what is known here is told at once") {
    log.add({status(State::completed)});
    CHECK(told);
    CHECK(looking.empty());
    return;
  }
  log.skip(2);
  log.add({status(State::completed)});
  CHECK_FALSE(told);
  REQUIRE(looking.size() == 1);
  CHECK(looking[0].after.value == 2);
  SUBCASE("an earlier one comes first") {
    live.tell_past(looking[0].wait, engine::Stop{State::input_required, {3}});
    REQUIRE(told);
    CHECK(told->number.value == 3);
  }
  SUBCASE("there is no earlier one") {
    live.tell_past(looking[0].wait, std::nullopt);
    REQUIRE(told);
    CHECK(told->number.value == 5);
  }
}

TEST_CASE("LiveTasks: a change here that was heard of after a later one elsewhere leaves no log behind") {
  LiveTasks live;
  Log log(live);
  log.create({status(State::submitted), status(State::working)});
  live.changing(kTask);
  live.changed_elsewhere(kTask, {4});
  log.add({text()});
  CHECK_FALSE(live.log(kTask));
  CHECK_FALSE(live.await_stop(kTask, {2}, kNever, [](auto) {}).knows_past);
  live.unchanged(kTask);
}

TEST_CASE("LiveTasks: a stop is told only when every look at the store has found no earlier one") {
  LiveTasks live;
  live.share({{1}, [](const LiveTasks::Looking&) {}, [](store::Grown) {}});
  Log log(live);
  log.create({status(State::submitted), status(State::working)});
  std::optional<engine::Stop> told;
  const auto wait = live.await_stop(kTask, {2}, kNever, [&](auto stop) { told = stop; });
  live.changed_elsewhere(kTask, {3});
  log.skip(2);
  log.add({status(State::completed)});
  live.tell_past(wait, std::nullopt);  // it looked before event 4
  CHECK_FALSE(told);
  live.tell_past(wait, std::nullopt);
  CHECK(told);
}

TEST_CASE("LiveTasks: others are asked once to tell of a task that is followed here and may change there") {
  LiveTasks live;
  std::vector<store::Grown> asked;
  live.share({{1}, [](const LiveTasks::Looking&) {}, [&](store::Grown task) { asked.push_back(task); }});
  Log log(live);
  SUBCASE("one that is not known here, once for all its followers") {
    {
      const auto first = live.subscribe(kTask, [] {});
      const auto second = live.subscribe(kTask, [] {});
      live.await_stop(kTask, {}, kNever, [](auto) {});
      CHECK(asked.size() == 1);
    }
    live.forget(kTask);
    const auto later = live.subscribe(kTask, [] {});
    CHECK(asked.size() == 2);
  }
  log.create({status(State::submitted), status(State::working)});
  asked.clear();
  const auto follower = live.subscribe(kTask, [] {});
  CHECK(asked.empty());
  SUBCASE("one that was begun here and that another node changes") {
    live.changed_elsewhere(kTask, {3});
    live.changed_elsewhere(kTask, {4});
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].last.value == 3);
  }
  SUBCASE("one whose turn is another node's when it is changed here") {
    log.owned_by({2});
    log.add({text()});
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].last.value == 3);
  }
  SUBCASE("not one whose turn is this node's") {
    log.owned_by({1});
    log.add({text()});
    CHECK(asked.empty());
  }
}

TEST_CASE("LiveTasks: logs that are forgotten are read from the store, and followers stay") {
  LiveTasks live;
  Log log(live), other(live, {8});
  log.create({status(State::submitted)});
  other.create({status(State::submitted)});
  int news = 0;
  const auto subscription = live.subscribe(kTask, [&] { ++news; });
  live.forget_logs();
  CHECK_FALSE(live.log(kTask));
  CHECK_FALSE(live.log({8}));
  log.add({text()});
  CHECK(news == 1);
  CHECK(live.log(kTask));
}

}  // namespace live_tasks_nodes_test
