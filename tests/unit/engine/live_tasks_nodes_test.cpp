// LiveTasks when other nodes change tasks.
#include <doctest/doctest.h>

#include "engine/live/conversation_key.h"
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

TEST_CASE("LiveTasks: after another node's change the log is dropped and readers are notified") {
  LiveTasks live;
  Log log(live);
  log.create({status(State::submitted), status(State::working)});
  int news = 0;
  const auto subscription = live.subscribe(kTask, [&] { ++news; });
  REQUIRE(live.log(kTask));
  SUBCASE("an event that is already known changes nothing") {
    CHECK(live.changed_elsewhere(kTask, {2}).empty());
    CHECK(live.log(kTask));
    CHECK(news == 0);
  }
  SUBCASE("a new event does so once") {
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
  SUBCASE("a change here without events that follows one elsewhere leaves no events") {
    log.skip(2);
    log.add({});
    CHECK_FALSE(live.log(kTask)->covers({2}));
    CHECK(live.log(kTask)->after({2}, 10).empty());
    log.add({text()});
    CHECK(live.log(kTask)->covers({4}));
  }
}

TEST_CASE("LiveTasks: a wait reports a stop that another node has stored") {
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
    live.resolve_past(looking[0].wait, engine::Stop{State::canceled, {3}});
    REQUIRE(told);
    CHECK(told->state == State::canceled);
  }
  SUBCASE("a newer stop here is reported once the store has no earlier one") {
    log.skip(1);
    log.add({status(State::completed)});
    CHECK_FALSE(told);
    live.resolve_past(looking[0].wait, std::nullopt);
    REQUIRE(told);
    CHECK(told->state == State::completed);
  }
}

TEST_CASE("LiveTasks: after unseen events of another node, a stop here waits for the look at the store") {
  LiveTasks live;
  std::vector<LiveTasks::Looking> looking;
  live.share({{1}, [&](const LiveTasks::Looking& one) { looking.push_back(one); }, [](store::Grown) {}});
  Log log(live);
  log.create({status(State::submitted), status(State::working)});
  std::optional<engine::Stop> told;
  const auto wait = live.await_stop(kTask, {2}, kNever, [&](auto stop) { told = stop; });
  CHECK(wait.knows_past);
  SUBCASE("without unseen events it is reported at once") {
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
  SUBCASE("the store has an earlier one, which is reported") {
    live.resolve_past(looking[0].wait, engine::Stop{State::input_required, {3}});
    REQUIRE(told);
    CHECK(told->number.value == 3);
  }
  SUBCASE("the store has no earlier one") {
    live.resolve_past(looking[0].wait, std::nullopt);
    REQUIRE(told);
    CHECK(told->number.value == 5);
  }
}

TEST_CASE("LiveTasks: a change here that is published after a later one elsewhere leaves no log") {
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

TEST_CASE("LiveTasks: a stop is reported only after every pending look at the store found no earlier one") {
  LiveTasks live;
  live.share({{1}, [](const LiveTasks::Looking&) {}, [](store::Grown) {}});
  Log log(live);
  log.create({status(State::submitted), status(State::working)});
  std::optional<engine::Stop> told;
  const auto wait = live.await_stop(kTask, {2}, kNever, [&](auto stop) { told = stop; });
  live.changed_elsewhere(kTask, {3});
  log.skip(2);
  log.add({status(State::completed)});
  live.resolve_past(wait, std::nullopt);  // this look was before event 4
  CHECK_FALSE(told);
  live.resolve_past(wait, std::nullopt);
  CHECK(told);
}

TEST_CASE("LiveTasks: other nodes are asked once to report a followed task that may change there") {
  LiveTasks live;
  std::vector<store::Grown> asked;
  live.share({{1}, [](const LiveTasks::Looking&) {}, [&](store::Grown task) { asked.push_back(task); }});
  Log log(live);
  SUBCASE("a task that is not known here, once for all its followers") {
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
  SUBCASE("a task that began here and that another node changes") {
    live.changed_elsewhere(kTask, {3});
    live.changed_elsewhere(kTask, {4});
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].last.value == 3);
  }
  SUBCASE("a task whose turn belongs to another node when it changes here") {
    log.owned_by({2});
    log.add({text()});
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].last.value == 3);
  }
  SUBCASE("not a task whose turn belongs to this node") {
    log.owned_by({1});
    log.add({text()});
    CHECK(asked.empty());
  }
}

TEST_CASE("LiveTasks: forget_logs drops all logs and keeps their followers") {
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

TEST_CASE("LiveTasks: followers of a conversation get news where a status changed, and of other nodes") {
  LiveTasks live;
  int news = 0;
  const task::TaskKey key =
      engine::conversation_key(task::ContextRef{{"ann"}, {"echo"}, {}});  // as those of the log's task
  auto subscription = live.subscribe(key, [&] { ++news; });
  Log log(live);
  log.create({status(State::submitted), status(State::working)});
  CHECK(news == 1);
  log.add({text()});
  CHECK(news == 1);
  log.add({text(), status(State::completed)});
  CHECK(news == 2);
  // The number of a notification means nothing.
  for (const std::int64_t number : {5, 5, 1}) live.changed_elsewhere(key, {number});
  CHECK(news == 5);
  REQUIRE(live.followed().size() == 1);
  CHECK(engine::is_conversation(live.followed()[0].task));
  // Another caller's context of the same name is another conversation.
  CHECK(engine::conversation_key(task::ContextRef{{"bob"}, {"echo"}, {}}) != key);
  subscription = {};
  CHECK(live.followed().empty());
  log.add({status(State::working)});
  CHECK(news == 5);
}

}  // namespace live_tasks_nodes_test
