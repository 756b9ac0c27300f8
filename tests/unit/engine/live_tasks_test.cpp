#include "engine/live/live_tasks.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "unit/engine/live_log_writer.h"

namespace live_tasks_test {

using namespace baton;
using engine::LiveLogPtr;
using engine::LiveTasks;
using task::State;
using test::live::kNever;
using test::live::kTask;
using test::live::Log;
using test::live::status;
using test::live::text;

namespace {

bool covers(const LiveTasks& live, std::int64_t after) {
  const LiveLogPtr log = live.log(kTask);
  return log && log->covers({after});
}

std::size_t events_after(const LiveTasks& live, std::int64_t after, std::size_t most = 1'000) {
  return live.log(kTask)->after({after}, most).size();
}

}  // namespace

TEST_CASE("LiveTasks: a subscriber is notified of every publication until it unsubscribes") {
  LiveTasks live;
  Log log(live);
  int news = 0;
  {
    const auto subscription = live.subscribe(kTask, [&] { ++news; });
    log.create({text()});
    log.add({text()});
    CHECK(news == 2);
    CHECK(live.counts().subscriptions == 1);
  }
  log.add({text()});
  CHECK(news == 2);
  CHECK(live.counts().subscriptions == 0);
}

TEST_CASE(
    "LiveTasks: a wait for readers hears of each first one, and does not count as one or as following") {
  LiveTasks live;
  int readers = 0;
  {
    const auto waiting = live.await_readers(kTask, [&] { ++readers; });
    CHECK_FALSE(live.has_readers(kTask));
    CHECK_FALSE(live.is_followed(kTask));
    {
      const auto first = live.subscribe(kTask, [] {});
      const auto second = live.subscribe(kTask, [] {});
      CHECK(readers == 1);
      CHECK(live.has_readers(kTask));
    }
    CHECK_FALSE(live.has_readers(kTask));
    const auto third = live.subscribe(kTask, [] {});
    CHECK(readers == 2);
  }
  const auto fourth = live.subscribe(kTask, [] {});
  CHECK(readers == 2);
  CHECK(live.counts().tasks == 1);
}

TEST_CASE("LiveTasks: a new task's log is complete, and is found by key, name and context") {
  LiveTasks live;
  Log log(live);
  log.create({status(State::submitted), text()}, R"({"a":1})");
  log.add({status(State::completed)});
  const LiveLogPtr found = live.log(kTask);
  REQUIRE(found);
  CHECK(found->whole);
  CHECK(found->metadata.text == R"({"a":1})");
  CHECK(found->events.size() == 3);
  CHECK(live.log({{"ann"}, {"echo"}, {"task-7"}}) == found);
  CHECK(live.log({{"bob"}, {"echo"}, {"task-7"}}) == nullptr);
  CHECK(live.alone_in({-7}) == found);
  CHECK(live.alone_in({-8}) == nullptr);
}

TEST_CASE("LiveTasks: the log of an older task begins with the first event since it has a reader") {
  LiveTasks live;
  Log log(live);
  log.skip(4);
  log.add({text()});
  CHECK(live.log(kTask) == nullptr);
  CHECK(live.counts().tasks == 0);
  const auto subscription = live.subscribe(kTask, [] {});
  CHECK_FALSE(covers(live, 5));
  log.add({text(), text(), text()});
  CHECK_FALSE(covers(live, 4));
  REQUIRE(covers(live, 5));
  CHECK(events_after(live, 5) == 3);
  CHECK(events_after(live, 5, 2) == 2);
  CHECK(live.log(kTask)->after({7}, 10).front()->number.value == 8);
  CHECK(covers(live, 8));
  CHECK(events_after(live, 8) == 0);
}

TEST_CASE("LiveTasks: an older task that is only waited for has no log") {
  LiveTasks live;
  Log log(live);
  log.skip(4);
  live.await_stop(kTask, {0}, kNever, [](std::optional<engine::Stop>) {});
  log.add({text()});
  CHECK(live.log(kTask) == nullptr);
  {
    const auto reader = live.subscribe(kTask, [] {});
    log.add({text()});
    CHECK(events_after(live, 5) == 1);
  }
  CHECK(live.log(kTask) == nullptr);
}

TEST_CASE("LiveTasks: a log is bounded by number and bytes of events, and kept only for readers") {
  LiveTasks live;
  Log log(live);
  auto subscription = live.subscribe(kTask, [] {});
  log.create({text()});
  for (int i = 2; i <= 1'000; ++i) log.add({text()});
  CHECK_FALSE(covers(live, 0));
  CHECK(events_after(live, 990) == 10);
  log.add({text(std::string(1 << 20, 'y'))});
  CHECK_FALSE(covers(live, 1'000));
  log.add({text()});
  CHECK(events_after(live, 1'001) == 1);
  subscription = {};
  CHECK(live.log(kTask) == nullptr);
  CHECK(live.counts().tasks == 0);
}

TEST_CASE("LiveTasks: logs of young tasks are evicted for newer ones, oldest first") {
  LiveTasks live(10'000);
  for (std::int64_t key = 1; key <= 100; ++key) {
    Log(live, {key}).create({text(std::string(1'000, 'x'))});
  }
  CHECK(live.log(task::TaskKey{1}) == nullptr);
  CHECK(live.log({{"ann"}, {"echo"}, {"task-1"}}) == nullptr);
  CHECK(live.alone_in({-1}) == nullptr);
  CHECK(live.log(task::TaskKey{100}) != nullptr);
  CHECK(live.counts().tasks < 10);
}

TEST_CASE("LiveTasks: a log that needs most of the room is not kept") {
  LiveTasks live(10'000);
  Log small(live, {1});
  small.create({text()});
  Log(live, {2}).create({text(std::string(6'000, 'x'))});
  CHECK(live.log(task::TaskKey{2}) == nullptr);
  CHECK(live.log({{"ann"}, {"echo"}, {"task-2"}}) == nullptr);
  CHECK(live.log(task::TaskKey{1}) != nullptr);
}

TEST_CASE("LiveTasks: what a sender puts into names and ids takes room like content") {
  LiveTasks live(10'000);
  task::MessageAdded named;
  named.message.parts.emplace_back().filename = std::string(6'000, 'x');
  Log(live, {1}).create({named});
  CHECK(live.log(task::TaskKey{1}) == nullptr);
  Log(live, {2}).create({task::Custom{std::string(6'000, 'x'), {}}});
  CHECK(live.log(task::TaskKey{2}) == nullptr);
}

TEST_CASE("LiveTasks: a client's history is kept until its turn has ended") {
  LiveTasks live;
  Log log(live);
  log.request.emplace();
  log.request->metadata = {"{}"};
  log.request->history.emplace();
  log.create({status(State::submitted)});
  REQUIRE(live.log(kTask)->requests.size() == 1);
  CHECK_FALSE(live.log(kTask)->requests[0].request->history.has_value());
  CHECK(live.log(kTask)->requests[0].request->metadata.text == "{}");
}

TEST_CASE("LiveTasks: a wait reports one stop, the first after the given event number") {
  LiveTasks live;
  Log log(live);
  std::vector<std::int64_t> stops;
  log.create({status(State::submitted), text(), status(State::input_required)});
  const auto wait = live.await_stop(
      kTask, {3}, kNever, [&](std::optional<engine::Stop> stop) { stops.push_back(stop->number.value); });
  CHECK(wait.knows_past);
  log.add({status(State::working)});
  CHECK(stops.empty());
  log.add({text(), status(State::completed)});
  log.add({status(State::completed)});
  CHECK(stops == std::vector<std::int64_t>{6});
}

TEST_CASE("LiveTasks: a stop that is already in the log is reported at once") {
  LiveTasks live;
  Log log(live);
  log.create({status(State::submitted), text(), status(State::completed)});
  std::vector<std::int64_t> stops;
  const auto wait = live.await_stop(
      kTask, {0}, kNever, [&](std::optional<engine::Stop> stop) { stops.push_back(stop->number.value); });
  CHECK(wait.id == 0);
  CHECK(stops == std::vector<std::int64_t>{3});
  CHECK(live.counts().subscriptions == 0);
}

TEST_CASE(
    "LiveTasks: a wait on an unknown task reports a stop only once its past is known, earlier ones first") {
  for (const bool has_earlier : {false, true}) {
    LiveTasks live;
    Log log(live);
    log.skip(3);
    std::vector<std::int64_t> stops;
    const auto wait = live.await_stop(
        kTask, {0}, kNever, [&](std::optional<engine::Stop> stop) { stops.push_back(stop->number.value); });
    CHECK_FALSE(wait.knows_past);
    log.add({status(State::failed)});
    CHECK(stops.empty());
    live.resolve_past(wait,
                      has_earlier ? std::optional(engine::Stop{State::input_required, {2}}) : std::nullopt);
    CHECK(stops == std::vector<std::int64_t>{has_earlier ? 2 : 4});
    live.resolve_past(wait, std::nullopt);
    CHECK(stops.size() == 1);
    CHECK(live.counts().subscriptions == 0);
  }
}

TEST_CASE("LiveTasks: if the task's past has no stop, the next one is reported") {
  LiveTasks live;
  Log log(live);
  log.skip(3);
  std::vector<std::int64_t> stops;
  const auto wait = live.await_stop(
      kTask, {0}, kNever, [&](std::optional<engine::Stop> stop) { stops.push_back(stop->number.value); });
  live.resolve_past(wait, std::nullopt);
  log.add({text(), status(State::failed)});
  CHECK(stops == std::vector<std::int64_t>{5});
}

TEST_CASE("LiveTasks: expire_waits ends overdue waits without a stop and returns the next deadline") {
  LiveTasks live;
  Log log(live);
  log.create({text()});
  const auto now = base::SteadyTime::now();
  std::string told;
  const auto wait = [&](const std::string& name, base::SteadyTime::time_point deadline) {
    return live.await_stop(kTask, {0}, deadline, [&told, name](std::optional<engine::Stop> stop) {
      told += name + (stop ? " stop " : " nothing ");
    });
  };
  wait("b", now + std::chrono::seconds(2));
  wait("a", now + std::chrono::seconds(1));
  wait("c", now + std::chrono::seconds(3));
  CHECK(live.expire_waits(now) == now + std::chrono::seconds(1));
  CHECK(told.empty());
  CHECK(live.expire_waits(now + std::chrono::seconds(2)) == now + std::chrono::seconds(3));
  CHECK(told == "b nothing a nothing ");
  log.add({status(State::failed)});
  CHECK(told == "b nothing a nothing c stop ");
  CHECK_FALSE(live.expire_waits(now + std::chrono::seconds(9)));
}

TEST_CASE("LiveTasks: after end_waits, new waits end at once") {
  LiveTasks live;
  Log log(live);
  log.create({text()});
  int ended = 0;
  const auto wait = [&] {
    live.await_stop(kTask, {0}, kNever, [&](std::optional<engine::Stop> stop) { ended += stop ? 0 : 1; });
  };
  wait();
  live.end_waits();
  CHECK(ended == 1);
  wait();
  CHECK(ended == 2);
  CHECK(live.counts().subscriptions == 0);
}

TEST_CASE("LiveTasks: a task counts as changing until its change is published or refused") {
  LiveTasks live;
  Log log(live);
  log.create({text()});
  CHECK_FALSE(live.is_changing(kTask));
  live.changing(kTask);
  CHECK(live.is_changing(kTask));
  log.add({text()});
  CHECK(live.is_changing(kTask));
  live.unchanged(kTask);
  CHECK_FALSE(live.is_changing(kTask));
}

TEST_CASE("LiveTasks: after_change calls back once when a pending change is stored or refused") {
  LiveTasks live;
  Log log(live);
  int heard = 0;
  const auto count = [&] { ++heard; };
  CHECK_FALSE(live.after_change(kTask, count));
  log.create({text()});
  CHECK_FALSE(live.after_change(kTask, count));
  live.changing(kTask);
  CHECK(live.after_change(kTask, count));
  CHECK(heard == 0);
  log.add({text()});
  CHECK(heard == 1);
  CHECK(live.after_change(kTask, count));
  live.unchanged(kTask);
  CHECK(heard == 2);
  CHECK_FALSE(live.after_change(kTask, count));
}

TEST_CASE("LiveTasks: concurrent readers see every event number once and in order") {
  LiveTasks live;
  Log log(live);
  constexpr std::int64_t kLast = 2'000;
  std::atomic<std::int64_t> seen{0};
  const auto subscription = live.subscribe(kTask, [] {});
  std::jthread reader([&] {
    std::int64_t position = 0;
    while (position < kLast) {
      const LiveLogPtr found = live.log(kTask);
      if (!found || !found->covers({position})) continue;
      for (const auto& event : found->after({position}, 16)) {
        REQUIRE(event->number.value == position + 1);
        position = event->number.value;
      }
      seen = position;
    }
  });
  log.create({text()});
  for (std::int64_t i = 2; i <= kLast; ++i) {
    log.add({text()});
    // The reader stays within the log's bound, so it never sees a gap.
    while (i - seen > 100) std::this_thread::yield();
  }
}

TEST_CASE("LiveTasks: a task is followed while it has a reader or a wait, being young is not enough") {
  LiveTasks live;
  Log log(live);
  CHECK_FALSE(live.is_followed(kTask));
  log.create({text()});
  CHECK_FALSE(live.is_followed(kTask));
  {
    live.await_stop(kTask, {1}, kNever, [](std::optional<engine::Stop>) {});
    CHECK(live.is_followed(kTask));
    CHECK_FALSE(live.is_followed({8}));
    const auto reader = live.subscribe(kTask, [] {});
    CHECK(live.is_followed(kTask));
    live.end_waits();
    CHECK(live.is_followed(kTask));
  }
  CHECK_FALSE(live.is_followed(kTask));
}

}  // namespace live_tasks_test
